"""What all tests share."""

import asyncio
import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings
from warm_children import WarmChildren

# A deadline fails whichever example runs while the machine is busy.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")

# Files of over fifteen seconds, the longest first: one begun last leaves other cores
# without work. The files that are not here come in any order after them.
LONG_FILES = (
    "tests/crash/test_crash_documents.py",
    "tests/crash/test_crash_indexes.py",
    "tests/integration/test_gold.py",
    "tests/integration/test_main_job.py",
    "tests/unlike/test_unlike.py",
    "tests/integration/test_readme.py",
    "elt_llm_api/tests/test_mcp.py",
    "elt_llm_ingest/tests/test_interrupt.py",
    "tests/integration/test_ollama.py",
    "tests/crash/test_crash_processes.py",
    "elt_llm_query/tests/test_query_commands.py",
    "elt_llm_ingest/tests/test_reading_order.py",
    "elt_llm_api/tests/test_analyst_job.py",
    "elt_llm_core/tests/test_disk_full.py",
    "elt_llm_consumer/tests/test_demo.py",
    "tests/integration/test_python_examples.py",
    "elt_llm_ingest/tests/test_figure_descriptions.py",
    "tests/crash/test_crash_server.py",
    "elt_llm_api/tests/test_products.py",
    "elt_llm_api/tests/test_job_ends.py",
    "tests/docs/test_coverage_command.py",
    "elt_llm_core/tests/test_doctor.py",
    "tests/integration/test_languages.py",
    "elt_llm_api/tests/test_page.py",
    "elt_llm_core/tests/test_store_crash.py",
    "elt_llm_api/tests/test_poison.py",
    "elt_llm_api/tests/test_page_manners.py",
    "elt_llm_query/tests/test_eval_retrieval.py",
    "elt_llm_query/tests/test_library.py",
    "elt_llm_query/tests/test_follow_ups.py",
    "elt_llm_core/tests/test_models_embedded.py",
    "elt_llm_api/tests/test_serve.py",
    "elt_llm_consumer/tests/test_treatment.py",
    "tests/integration/test_presets_installed.py",
    "tests/docs/test_reference.py",
    "elt_llm_core/tests/test_keyword_recipes.py",
    "tests/integration/test_presets.py",
)

gc.disable()  # a quarter of the collection is the collector's scans of what stays


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first."""
    place = {name: number for number, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


def pytest_collection_finish() -> None:
    """Set what was imported and collected aside from the garbage collector."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _no_event_loop() -> None:
    """Let LlamaIndex's synchronous calls leave no event loop open.

    In a thread that never had one they make one and leave it; the next `asyncio.run`
    drops it, and whichever test runs then fails with its ResourceWarning. In a thread
    whose event loop was set, to none, they use `asyncio.run`.
    """
    asyncio.set_event_loop(None)


@pytest.fixture(scope="session", autouse=True)
def warm_children() -> Iterator[WarmChildren]:
    """Start the product's own processes with their imports done."""
    children = WarmChildren()
    with children.installed():
        yield children


@pytest.fixture
def cold_children(warm_children: WarmChildren) -> Iterator[None]:
    """Start the product's own processes as they start for a user."""
    with warm_children.cold():
        yield


@pytest.fixture
def warm_commands(warm_children: WarmChildren) -> Iterator[None]:
    """Start commands and scripts of Python too with the usual imports done."""
    warm_children.commands = True
    yield
    warm_children.commands = False

"""Files to read, made here; and one reading process for all tests of a module."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from warm_children import WarmChildren

from elt_llm_core.document import ParsedDocument
from elt_llm_core.store.writer import Writer
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.sandbox.client import ReadingProcess
from ingest_files import handbook_pdf

Read = Callable[[Path], list[ParsedDocument]]


@pytest.fixture(scope="session")
def reading(warm_children: WarmChildren) -> Iterator[ReadingProcess]:
    with ReadingProcess(Limits(timeout=60)) as process:
        with warm_children.cold():
            process.start()
        yield process


@pytest.fixture(scope="session")
def models() -> Models:
    return Models(embedder=HashEmbedding(max_tokens=60))


@pytest.fixture
def without_index(monkeypatch: pytest.MonkeyPatch) -> None:
    # Building an index is core's, takes two seconds, and searches do without.
    monkeypatch.setattr(Writer, "publish", lambda *_, **__: {})


@pytest.fixture
def read(reading: ReadingProcess) -> Read:
    return lambda path: reading.parse(path, path.read_bytes())


@pytest.fixture(scope="session")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return handbook_pdf(tmp_path_factory.mktemp("pdf") / "handbook.pdf")


@pytest.fixture(scope="session")
def parsed_handbook(handbook: Path, reading: ReadingProcess) -> ParsedDocument:
    (document,) = reading.parse(handbook, handbook.read_bytes())
    return document

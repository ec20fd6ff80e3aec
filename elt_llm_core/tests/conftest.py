"""A small store to test with."""

import shutil
from pathlib import Path

import pytest

from core_stores import SUBJECTS, new_document, put
from elt_llm_core.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty data root that does not exist yet."""
    return Store(tmp_path / "data")


@pytest.fixture(scope="session")
def many_sentences() -> list[str]:
    """Three hundred sentences that differ."""
    return [
        f"Rule {i}.{i % 7} says the {SUBJECTS[i % 8]} number {i} needs {i * 3} checks."
        for i in range(300)
    ]


@pytest.fixture(scope="session")
def _published_root(
    tmp_path_factory: pytest.TempPathFactory, many_sentences: list[str]
) -> Path:
    root = tmp_path_factory.mktemp("published") / "data"
    put(Store(root), "rules", new_document("a.txt", many_sentences))
    return root


@pytest.fixture
def published(tmp_path: Path, _published_root: Path) -> Store:
    """A data root of its own with three hundred published chunks in `rules`."""
    shutil.copytree(_published_root, tmp_path / "published")
    return Store(tmp_path / "published")

"""Stores to ask, made once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from query_world import CONTENT, World, fill
from step_world import book


@pytest.fixture(scope="session")
def hashed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world with vectors of hashed words: nothing is loaded."""
    store = Store(tmp_path_factory.mktemp("hashed"))
    models = Models(embedder=HashEmbedding())
    fill(store, models, CONTENT)
    yield World(store, models, RagConfig())
    store.close()


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world with the embedded model."""
    config = RagConfig()
    models = build_models(config)
    store = Store(tmp_path_factory.mktemp("world"))
    fill(store, models, CONTENT)
    yield World(store, models, config)
    store.close()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One rule book of sentences that know their parents, windows and rules."""
    store, models = Store(tmp_path_factory.mktemp("shelf")), Models(HashEmbedding())
    fill(store, models, {"shelf": [book()]})
    yield World(store, models, RagConfig())
    store.close()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"

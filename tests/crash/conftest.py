"""One warm server and one set of scenes for each process of the test run."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_root import Root, warm_server
from crash_scenes import Scenes
from crash_warm import Warm


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("crash")


@pytest.fixture(scope="session")
def warm(ground: Path) -> Iterator[Warm]:
    server = warm_server(ground)
    yield server
    server.close()


@pytest.fixture(scope="session")
def empty(warm: Warm, ground: Path) -> Root:
    """A root that nothing was put into; only to be copied."""
    (ground / "empty").mkdir()
    return Root(warm, ground / "empty", ground / "config.yaml")


@pytest.fixture(scope="session")
def scenes(empty: Root, ground: Path) -> Scenes:
    return Scenes(empty, ground / "scenes")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Where a copy of a root goes, gone after a test that passed through it."""
    yield tmp_path / "root"
    shutil.rmtree(tmp_path, ignore_errors=True)

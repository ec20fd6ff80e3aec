"""A real data root, a real server on loopback, a real browser."""

import io
import os
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from elt_llm_api import create_app
from elt_llm_api.api_context import build_context
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store

SENT = "GRADIO_TEMP_DIR"
CHROMIUM = "/usr/bin/chromium"
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HANDBOOK = {
    "1 Definitions": (
        '"Member Club" means a club admitted to the Association by the Board.',
        '"Player" means a person registered to play for a Member Club.',
        '"Season" means the period from 1 July to 31 May.',
    ),
    "2 Registration": (
        "A Member Club shall register each Player before 31 July.",
        "The registration fee is 25 pounds for each Player and is not refunded.",
        "A Player may be registered for one Member Club at a time.",
    ),
    "3 Discipline": (
        "The Board may suspend a Player for at most six matches.",
        "An appeal must reach the Secretary within 14 days in writing.",
        "The fine for late fixtures is 100 pounds.",
    ),
}
POOL = {
    "1 Opening Hours": (
        "The pool opens at 7:00 and closes at 21:30 on every working day.",
        "On Sundays the pool stays closed for cleaning.",
    ),
}


def make_pdf(chapters: dict[str, tuple[str, ...]]) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, A4, invariant=True)
    for title, sentences in chapters.items():
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(72, 770, title)
        canvas.setFont("Helvetica", 11)
        for line, sentence in enumerate(sentences):
            canvas.drawString(72, 730 - 40 * line, sentence)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


@pytest.fixture(scope="session")
def handbook_pdf() -> bytes:
    return make_pdf(HANDBOOK)


@pytest.fixture(scope="session")
def pool_pdf() -> bytes:
    return make_pdf(POOL)


@pytest.fixture(scope="session")
def filled_root(tmp_path_factory, handbook_pdf) -> Path:
    """A data root with one collection, taken in by the real ingest job.

    It is every test's: a server that asks a model keeps its answers, so it gets a copy.
    """
    folder = tmp_path_factory.mktemp("filled")
    path = folder / "handbook.pdf"
    path.write_bytes(handbook_pdf)
    store = Store(folder / "data")
    runner = build_context(RagConfig(), store).runner
    report = runner.ingest("handbook", [Upload(path.name, path)], silent)
    assert report.exit_code == 0
    store.close()
    return folder / "data"


@pytest.fixture
def root(filled_root, tmp_path) -> Path:
    """A copy of the filled data root that a test may change."""
    return Path(shutil.copytree(filled_root, tmp_path / "data"))


@contextmanager
def serving(config: RagConfig, root: Path) -> Iterator[str]:
    """The address of a real server over `root`."""
    store = Store(root)
    with socket.create_server(("127.0.0.1", 0)) as sock:
        before = os.environ.get(SENT)
        app = create_app(config, store)
        options = {"log_level": "error", "timeout_graceful_shutdown": 1}
        server = uvicorn.Server(uvicorn.Config(app, **options))
        thread = threading.Thread(target=server.run, args=([sock],))
        thread.start()
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        try:
            httpx.get(f"{url}/livez", timeout=20)
            yield url
        finally:
            server.should_exit = True
            thread.join(timeout=20)
            store.close()
            # It is of the process: servers that run beside this one want their own.
            os.environ.pop(SENT, None)
            os.environ.update({SENT: before} if before else {})


@pytest.fixture(scope="session")
def server(filled_root, tmp_path_factory) -> Iterator[str]:
    """A server whose data no test changes."""
    copy = tmp_path_factory.mktemp("served") / "data"
    shutil.copytree(filled_root, copy)
    with serving(RagConfig(), copy) as url:
        yield url


@pytest.fixture(scope="session")
def client(server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=30) as opened:
        yield opened


# For one file only: while it is open, its thread has a running event loop, in which no
# other test could run one of its own.
@pytest.fixture(scope="module")
def browser():
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not installed (Debian package chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=list(CHROMIUM_FLAGS)
        )
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def serve():
    """`serving`, for a test that wants a server of its own."""
    return serving


@pytest.fixture
def bare(monkeypatch):
    """As after a plain install: without the package of the cross-encoders."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    home = "elt_llm_query.rerankers.sentence_transformers"
    monkeypatch.delitem(sys.modules, home, raising=False)

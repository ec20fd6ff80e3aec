"""Work in parallel with the import of LlamaIndex, and pausing the garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.detection import sniff

GLANCE = 4_096  # bytes; the detector reads the first thousand characters of a text
PLAIN = ("markdown", "text")  # loaders of plain-text formats


def warm_up(path: Path) -> Thread:
    """Load the language detector in a thread if the file is plain text.

    The language detector takes half a second to load, most of it in library code that
    releases Python's lock. A text that function words show to be English does not load
    it. The result of the thread is not used, only the loaded detector.

    Args:
        path: The file that is read first.

    Returns:
        The thread. It ends by itself, and with the process.
    """
    thread = Thread(target=_glance, args=(path,), daemon=True)
    thread.start()
    return thread


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Disable the cyclic garbage collector in this block.

    A large import creates many objects and hardly any garbage, and the collector scans
    all of them repeatedly: a tenth of the import time of `llama_index.core`.
    """
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()


def _glance(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(GLANCE)
        loader, _ = sniff(path, head)
    except (OSError, LoadError):
        return  # the run reads the file itself and reports errors
    if loader in PLAIN:
        from elt_llm_core.language.detect import detect  # noqa: PLC0415  # in the thread

        detect(head.decode(errors="ignore"))

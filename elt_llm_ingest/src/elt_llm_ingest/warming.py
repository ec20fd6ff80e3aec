"""What goes on beside the import of LlamaIndex, and what rests meanwhile."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.detection import sniff

GLANCE = 4_096  # bytes; the detector reads the first thousand characters of a text
PLAIN = ("markdown", "text")  # loaders of files whose bytes are their text


def warm_up(path: Path) -> Thread:
    """Start to look at the language of a file, if it is plain text.

    The language detector takes half a second to load, most of it in library code that
    runs beside Python. A text that function words tell to be English does not load it.
    Nothing is returned of what the thread sees: only what it loads is of use.

    Args:
        path: The file that is read first.

    Returns:
        The thread. It ends by itself, and with the process.
    """
    thread = Thread(target=_glance, args=(path,), daemon=True)
    thread.start()
    return thread


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Leave cyclic garbage alone during the body.

    A large import makes many objects and hardly any garbage, and the collector looks
    through all of them again and again: a tenth of the time of `llama_index.core`.
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
        return  # the run reads the file itself, and tells what is wrong with it
    if loader in PLAIN:
        from elt_llm_core.language.detect import detect  # noqa: PLC0415  # in the thread

        detect(head.decode(errors="ignore"))

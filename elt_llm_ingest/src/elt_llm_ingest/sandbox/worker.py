"""The reading process: `python -m elt_llm_ingest.sandbox.worker`.

It reads a request and a file's bytes from standard input (for a large PDF the name of a
private copy) and writes documents or a reason to standard output, until its input ends.
Before the answer it may report finished pages. It has limits on memory, processor time
and files, no network, and does not know the data root.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest import quota
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.detection import sniff
from elt_llm_ingest.readers.registry import MODULES, Parse, parser_of
from elt_llm_ingest.readers.spool import MappedFile, map_file
from elt_llm_ingest.sandbox.framing import receive, send
from elt_llm_ingest.sandbox.protocol import messages
from elt_llm_ingest.sandbox.sanitize import clean_document

HEAD = 4096  # first bytes of a PDF
FORBIDDEN = (
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.system",
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
)


def main() -> None:
    """Answer requests until standard input ends."""
    source, sink = _streams()
    _confine()
    send(sink, b"ready")
    while True:
        try:
            request = json.loads(receive(source))
            data = receive(source)
        except EOFError:
            return
        for message in _answer(request, data, partial(_progress, sink)):
            send(sink, message)


def _progress(sink: BinaryIO, pages: int) -> None:
    """Report newly finished pages."""
    send(sink, json.dumps({"pages": pages}).encode())


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Return input and output; what libraries print is discarded."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    return source, sink


def _confine() -> None:
    """Forbid writing files, core dumps, processes and connections."""
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(kind, (0, 0))

    def refuse(event: str, _arguments: Sequence[Any]) -> None:
        if event in FORBIDDEN:
            raise PermissionError(f"the reading process may not use {event}")

    sys.addaudithook(refuse)


def _limit(limits: Limits, tell: Callable[[int], None]) -> None:
    memory = limits.memory_mb * 1_000_000
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or memory <= hard:
        resource.setrlimit(resource.RLIMIT_AS, (memory, hard))
    quota.limit_time(2 * limits.timeout, tell)


def _answer(
    request: dict[str, Any], data: bytes, tell: Callable[[int], None]
) -> Iterable[bytes]:
    """Return the documents as messages, or the reason of a failure."""
    # For its name only. Bytes that are not UTF-8 cannot be part of a title.
    path = Path(os.fsencode(request["name"]).decode(errors="replace"))
    try:
        limits = Limits.model_validate(request["limits"])
        _limit(limits, tell)
        given = map_file(Path(request["held"])) if request["held"] else data
        loader, documents = parse(
            path, given, limits, request["loader"], request["passwords"]
        )
        stream = messages(loader, documents)
        return chain([next(stream)], stream)
    except LoadError as error:
        return _refusal(error.reason, error.hint)
    except MemoryError:
        return _refusal(
            f"reading it needs more than {request['limits']['memory_mb']} MB",
            "raise ingest.parse_memory_mb if you trust the file",
        )
    except BaseException as error:  # noqa: BLE001 - process boundary: Rust panics too
        return _refusal(
            f"the parser failed on it ({type(error).__name__}: {str(error)[:200]})",
            "open it in the program that created it and save it again",
        )


def parse(
    path: Path,
    data: bytes | MappedFile,
    limits: Limits,
    loader: str = "",
    passwords: Sequence[str] = (),
) -> tuple[str, list[ParsedDocument]]:
    """Return the loader and the documents of a file's bytes. Raises LoadError.

    `loader` is a name of the stage `loaders`; by default it is detected from the bytes.
    `passwords` are tried on a protected PDF.
    """
    warnings: tuple[str, ...] = ()
    if not loader:
        loader, warnings = sniff(
            path, data[:HEAD] if isinstance(data, MappedFile) else data
        )
    if loader == "pdf" and passwords:
        data = _unlock(path, data, passwords)
    function = parser_of(loader) if loader in MODULES else _foreign(loader)
    if loader == "pdf":
        quota.begin(len(data))
    given = _bytes_for(loader, data)
    documents = [clean_document(document) for document in function(path, given, limits)]
    if not warnings:
        return loader, documents
    first = documents[0].model_copy(
        update={"warnings": (*warnings, *documents[0].warnings)}
    )
    return loader, [first, *documents[1:]]


def _bytes_for(loader: str, data: bytes | MappedFile) -> bytes:
    """Return the data for a loader; only the built-in PDF loader takes mapped files."""
    return (
        data[:]
        if isinstance(data, MappedFile) and loader != "pdf"
        else cast("bytes", data)
    )


def _unlock(
    path: Path, data: bytes | MappedFile, passwords: Sequence[str]
) -> bytes | MappedFile:
    from elt_llm_ingest.readers.pdf.liteparse import unlock  # noqa: PLC0415 - seldom

    return unlock(path, data, passwords)


def _foreign(name: str) -> Parse:
    """Return a third-party loader. The parent has checked that it is trusted."""
    from elt_llm_ingest.sandbox.plugins import foreign_parser  # noqa: PLC0415 - 2 s

    return foreign_parser(name)


def _refusal(reason: str, hint: str) -> list[bytes]:
    return [json.dumps({"reason": reason, "hint": hint}).encode()]


if __name__ == "__main__":
    main()

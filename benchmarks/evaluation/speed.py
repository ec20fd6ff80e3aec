"""How fast PDFs are read, and what ten thousand pages cost."""

import io
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pypdfium2
from liteparse import LiteParse

from elt_llm_core.errors import LoadError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.document import parse as parse_pdf
from elt_llm_ingest.readers.pdf.liteparse import layout_batches, open_pdf

TIMEOUT = 900
READ = (
    "import json, resource, sys, time\n"
    "from pathlib import Path\n"
    "from elt_llm_ingest.readers.pdf.document import parse\n"
    "from elt_llm_ingest.readers.spool import held\n"
    "from elt_llm_ingest.limits import Limits\n"
    "path = Path(sys.argv[1])\n"
    "began = time.monotonic()\n"
    "(document,) = parse(path, held(path), Limits())\n"
    "seconds = time.monotonic() - began\n"
    "used = resource.getrusage(resource.RUSAGE_SELF)\n"
    "print(json.dumps({'pages': len(document.pages), 'seconds': seconds,"
    " 'cpu_seconds': used.ru_utime + used.ru_stime,"
    " 'words': sum(len(p.words) for p in document.pages),"
    " 'rss_mb': used.ru_maxrss / 1024}))\n"
)


def pages_per_second(pdfs: Sequence[Path], repeats: int = 2) -> dict[str, Any]:
    """Pages a processor second over all files; of each file the best of `repeats`.

    `peers` is what parts of us and others reach on the same files in the same run.
    """
    pages = 0
    seconds = dict.fromkeys(("", *PEERS), 0.0)
    for pdf in pdfs:
        data = pdf.read_bytes()
        pages += len(parse_pdf(pdf, data, Limits())[0].pages)
        for name, read in (("", _ours), *PEERS.items()):
            times = []
            for _ in range(repeats):
                began = time.process_time()
                read(pdf, data)
                times.append(time.process_time() - began)
            seconds[name] += min(times)
    rates = {name: round(pages / max(s, 1e-9), 1) for name, s in seconds.items()}
    return {
        "pages": pages,
        "cpu_seconds": round(seconds[""], 2),
        "pages_per_cpu_second": rates.pop(""),
        "peers": rates,
    }


def _ours(pdf: Path, data: bytes) -> None:
    parse_pdf(pdf, data, Limits())


def _layout(pdf: Path, data: bytes) -> None:
    for _ in layout_batches(pdf, data, Limits(), 1):
        pass


def _plain_text(pdf: Path, data: bytes) -> None:
    with open_pdf(pdf, data) as file:
        for page in file.pdf:
            text = page.get_textpage()
            text.get_text_range()
            text.close()
            page.close()


def _liteparse(_: Path, data: bytes) -> None:
    LiteParse(ocr_enabled=False, quiet=True, max_pages=20_000).parse(data)


# What reads a PDF in our place, or does a part of our work.
PEERS: Mapping[str, Callable[[Path, bytes], None]] = {
    "liteparse, our options, words left where they are": _layout,
    "liteparse, its own options": _liteparse,
    "pypdfium2, plain text": _plain_text,
}


def measure_many_pages(pdfs: Sequence[Path], pages: int = 10_000) -> dict[str, Any]:
    """What one file of so many pages costs, read by a process of its own.

    The pages are those of the files in turn, again and again.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "many.pdf"
        write_atomic(path, _repeated(pdfs, pages))
        done = subprocess.run(
            [sys.executable, "-c", READ, str(path)],
            capture_output=True,
            check=False,
            timeout=TIMEOUT,
        )
    if done.returncode:
        raise LoadError(path.name, done.stderr.decode("utf-8", "replace")[-300:])
    costs: dict[str, Any] = json.loads(done.stdout)
    return {name: round(value, 1) for name, value in costs.items()}


def _repeated(pdfs: Sequence[Path], pages: int) -> bytes:
    """One PDF of the files' pages in turn, until there are enough."""
    once = pypdfium2.PdfDocument.new()
    whole = pypdfium2.PdfDocument.new()
    try:
        for pdf in pdfs:
            source = pypdfium2.PdfDocument(pdf)
            once.import_pages(source)
            source.close()
        while len(whole) < pages:
            left = min(len(once), pages - len(whole))
            whole.import_pages(once, list(range(left)))
        out = io.BytesIO()
        whole.save(out)
        return out.getvalue()
    finally:
        whole.close()
        once.close()

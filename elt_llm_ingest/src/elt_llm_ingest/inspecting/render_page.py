"""`python -m elt_llm_ingest.inspecting.render_page KIND PAGE PIXELS`: a page as PNG.

Standard input contains two messages: passwords as a JSON list, and the file. The
process writes no file and has limits on memory and processor time, because the files
are untrusted.
"""

import io
import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

from elt_llm_ingest.sandbox.framing import receive

# Limits of the process that draws one page; far above an ordinary page.
MEMORY = 4_000_000_000
SECONDS = 60


def main() -> None:
    """Draw one page of a PDF, or one frame of a picture."""
    kind, number, longest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    passwords = json.loads(receive(sys.stdin.buffer))
    data = receive(sys.stdin.buffer)
    for limit, value in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))
    if kind == "pdf":
        drawn = _pdf(data, number, longest, passwords)
    else:
        drawn = _frame(data, number, longest)
    sys.stdout.buffer.write(drawn)


def _pdf(data: bytes, number: int, longest: int, passwords: Sequence[str]) -> bytes:
    import pypdfium2  # noqa: PLC0415 - not needed for pictures

    if passwords:  # seldom; the import takes half a second
        from elt_llm_ingest.readers.pdf.liteparse import unlock  # noqa: PLC0415

        data = unlock(Path("file"), data, passwords)
    page = pypdfium2.PdfDocument(data)[number - 1]
    image = page.render(scale=longest / max(page.get_size())).to_pil()
    return _png(image)


def _frame(data: bytes, number: int, longest: int) -> bytes:
    from PIL import Image  # noqa: PLC0415 - not needed for PDFs

    frames = Image.open(io.BytesIO(data))
    frames.seek(number - 1)
    image = frames.convert("RGB")
    image.thumbnail((longest, longest))
    return _png(image)


def _png(image: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)  # type: ignore[attr-defined]
    return buffer.getvalue()


if __name__ == "__main__":
    main()

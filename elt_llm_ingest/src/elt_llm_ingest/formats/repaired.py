"""Whether a PDF was whole: what PDFium opens all the same may have lost text."""

import re
from mmap import mmap

TAIL = 4096
START = re.compile(rb"startxref\s+(\d{1,12})")
TABLE = re.compile(rb"\s*(?:xref\b|\d+\s+\d+\s+obj\b)")
WARNING = "the PDF is damaged and was repaired; pages or text may be missing"


def damage(data: bytes | mmap) -> tuple[str, ...]:
    """A warning where the file's end or its table of objects is not where it says."""
    found = START.findall(data[-TAIL:])
    if not found or b"%%EOF" not in data[-TAIL:]:
        return (WARNING,)
    place = int(found[-1])
    before = max(data.find(b"%PDF-"), 0)  # what stands before the file counts or not
    sound = any(TABLE.match(data, start) for start in (place, place + before))
    return () if sound else (WARNING,)

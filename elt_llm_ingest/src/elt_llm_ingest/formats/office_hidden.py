"""Word files without the passages that Word does not show."""

import io
import re
import zipfile
from typing import Any

from elt_llm_ingest.formats.office_parts import TEXT_PARTS

TINY = 4  # half points; smaller letters are for machines
# One look tells that an ordinary file has none of it.
SUSPECT = re.compile(rb"<w:(?:vanish)\b|<w:sz\s+w:val=\"[0-3]\"")
OFF = ("0", "false", "off")


def shown(data: bytes) -> tuple[bytes, int]:
    """The file without hidden runs and letters below 2 points, and how many there were.

    What a style hides stays. The archive was checked before.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    suspects = [
        n for n, p in parts.items() if TEXT_PARTS.search(n) and SUSPECT.search(p)
    ]
    count = 0
    for name in suspects:
        parts[name], gone = _without(parts[name])
        count += gone
    if not count:
        return data, 0
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return written.getvalue(), count


def _without(part: bytes) -> tuple[bytes, int]:
    from docx.opc.oxml import serialize_part_xml  # noqa: PLC0415 - takes a second
    from docx.oxml import parse_xml  # noqa: PLC0415
    from docx.oxml.ns import qn  # noqa: PLC0415

    root = parse_xml(part)
    hidden = [run for run in root.iter(qn("w:r")) if _is_hidden(run, qn)]
    for run in hidden:
        # Its words go; what else it holds, a note or a break, has its own place.
        for text in [*run.iter(qn("w:t"))]:
            text.getparent().remove(text)
    written: bytes = serialize_part_xml(root)
    return written, len(hidden)


def _is_hidden(run: Any, qn: Any) -> bool:
    told = run.find(qn("w:rPr"))
    if told is None or run.find(qn("w:t")) is None:
        return False
    vanish = told.find(qn("w:vanish"))
    if vanish is not None and vanish.get(qn("w:val"), "1") not in OFF:
        return True
    size = told.find(qn("w:sz"))
    height = size.get(qn("w:val"), "") if size is not None else ""
    return height.isdecimal() and int(height) < TINY

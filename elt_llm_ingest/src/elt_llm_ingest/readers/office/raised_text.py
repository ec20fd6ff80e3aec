"""Raised runs of Word files as plain text: powers as characters, marks of notes gone.

Word's own notes have no digit in the text; a mark typed by hand is a raised run.
"""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from elt_llm_ingest.readers.office.hidden_text import TEXT_PARTS, W
from elt_llm_ingest.readers.raised_text import raised, without_marks

SUSPECT = b'"superscript"'  # one look tells that an ordinary file has none of it


def lowered(data: bytes) -> bytes:
    """The file with its raised runs as plain text; the same bytes where it has none.

    The archive was checked before.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    suspects = [n for n, p in parts.items() if TEXT_PARTS.search(n) and SUSPECT in p]
    if not suspects:
        return data
    for name in suspects:
        parts[name] = _lowered(parts[name])
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return written.getvalue()


def _lowered(part: bytes) -> bytes:
    from docx.opc.oxml import serialize_part_xml  # noqa: PLC0415 - takes a second
    from docx.oxml import parse_xml  # noqa: PLC0415

    root = parse_xml(part)
    for paragraph in root.iter(f"{W}p"):
        before = ""
        for group in _groups(paragraph):
            text = "".join(t.text or "" for t in group)
            if _is_raised(group[0]):
                text = without_marks(raised(text, before))
                group[0].text = text
                for rest in group[1:]:
                    rest.text = ""
            before += text
    written: bytes = serialize_part_xml(root)
    return written


def _groups(paragraph: Any) -> Iterator[list[Any]]:
    """Texts of the paragraph; neighbours that are raised, and others, together."""
    group: list[Any] = []
    for text in paragraph.iter(f"{W}t"):
        if group and _is_raised(group[-1]) != _is_raised(text):
            yield group
            group = []
        group.append(text)
    if group:
        yield group


def _is_raised(text: Any) -> bool:
    found = text.getparent().find(f"{W}rPr/{W}vertAlign")
    return found is not None and found.get(f"{W}val") == "superscript"

"""Superscript runs of Office files as plain text: powers as characters, no note marks.

Word's own notes have no digit in the text; a mark typed by hand is a superscript run.
PowerPoint has no notes of that kind: every mark is a superscript run.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from elt_llm_ingest.readers.office.hidden_runs import TEXT_PARTS, W
from elt_llm_ingest.readers.raised_text import without_marks, write_raised

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


class _Dialect(NamedTuple):
    """The text elements of a kind of Office file.

    Attributes:
        parts: The parts of the archive that contain text.
        suspect: What a part with raised text contains; most parts need no parser.
        namespace: That of paragraphs and texts.
        is_raised: Whether a text element is raised.
    """

    parts: re.Pattern[str]
    suspect: bytes
    namespace: str
    is_raised: Callable[[Any], bool]


def _is_raised_in_word(text: Any) -> bool:
    style = text.getparent().find(f"{W}rPr/{W}vertAlign")
    return style is not None and style.get(f"{W}val") == "superscript"


def _is_raised_in_powerpoint(text: Any) -> bool:
    style = text.getparent().find(f"{A}rPr")
    # In thousandths of a per cent of the size; "30%" is the strict form of 30000.
    lift = (style.get("baseline") if style is not None else None) or "0"
    return lift[0].isdigit() and lift.rstrip("%") != "0"


_DIALECTS = {
    "docx": _Dialect(TEXT_PARTS, b'"superscript"', W, _is_raised_in_word),
    "pptx": _Dialect(
        re.compile(r"ppt/(?:slides|notesSlides)/[^/]+\.xml\Z"),
        b"baseline=",
        A,
        _is_raised_in_powerpoint,
    ),
}


def write_raised_as_text(data: bytes, kind: str) -> bytes:
    """Return the file with superscript runs as plain text; unchanged without any.

    The archive was checked before.

    Args:
        data: A file of Word or PowerPoint.
        kind: `docx` or `pptx`.
    """
    dialect = _DIALECTS[kind]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    suspects = [
        name
        for name, part in parts.items()
        if dialect.parts.search(name) and dialect.suspect in part
    ]
    if not suspects:
        return data
    for name in suspects:
        parts[name] = _rewrite_part(parts[name], dialect)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return written.getvalue()


def _rewrite_part(part: bytes, dialect: _Dialect) -> bytes:
    from docx.opc.oxml import serialize_part_xml  # noqa: PLC0415 - takes a second
    from docx.oxml import parse_xml  # noqa: PLC0415

    root = parse_xml(part)
    for paragraph in root.iter(f"{dialect.namespace}p"):
        before = ""
        for group in _groups(paragraph, dialect):
            text = "".join(t.text or "" for t in group)
            if dialect.is_raised(group[0]):
                text = without_marks(write_raised(text, before))
                group[0].text = text
                for rest in group[1:]:
                    rest.text = ""
            before += text
    written: bytes = serialize_part_xml(root)
    return written


def _groups(paragraph: Any, dialect: _Dialect) -> Iterator[list[Any]]:
    """Group the texts of the paragraph into adjacent superscript and other texts."""
    texts = paragraph.iter(f"{dialect.namespace}t")
    for _, group in groupby(texts, key=dialect.is_raised):
        yield list(group)

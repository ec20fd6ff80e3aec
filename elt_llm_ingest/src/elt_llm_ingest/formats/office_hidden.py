"""Word files without the passages that Word does not show."""

import io
import re
import zipfile
from typing import Any

from elt_llm_ingest.formats.office_parts import TEXT_PARTS
from elt_llm_ingest.formats.office_styles import Looks, Styles, W, shaded

TINY = 4  # half points; smaller letters are for machines
WHITE = 0xF5  # of each colour: nobody tells it from paper
# One look tells that an ordinary file has none of it.
SUSPECT = re.compile(
    rb"<w:(?:vanish)\b|<w:sz\s+w:val=\"[0-3]\"|<w:color\s[^>]*w:val=\"(?:[fF][5-9a-fA-F]){3}\""
)
STYLES = "word/styles.xml"
# The colour behind their text is told elsewhere.
APART = frozenset((f"{W}txbxContent",))


def shown(data: bytes) -> tuple[bytes, int]:
    """The file without hidden runs, and how many there were.

    Hidden, below 2 points or white on white, by their own word or by a style. The
    archive was checked before.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    written_in = {n: p for n, p in parts.items() if TEXT_PARTS.search(n)}
    by_style = SUSPECT.search(parts.get(STYLES, b"")) is not None
    suspects = [n for n, p in written_in.items() if by_style or SUSPECT.search(p)]
    styles = _styles(parts.get(STYLES, b"")) if suspects else Styles()
    count = 0
    for name in suspects:
        parts[name], gone = _without(parts[name], styles)
        count += gone
    if not count:
        return data, 0
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return written.getvalue(), count


def _styles(part: bytes) -> Styles:
    from docx.oxml import parse_xml  # noqa: PLC0415 - takes a second

    return Styles(parse_xml(part)) if part else Styles()


def _without(part: bytes, styles: Styles) -> tuple[bytes, int]:
    from docx.opc.oxml import serialize_part_xml  # noqa: PLC0415 - takes a second
    from docx.oxml import parse_xml  # noqa: PLC0415

    root = parse_xml(part)
    on_white = root.find(f"{W}background") is None
    hidden = [r for r in root.iter(f"{W}r") if _is_hidden(r, styles, on_white)]
    for run in hidden:
        # Its words go; what else it holds, a note or a break, has its own place.
        for text in [*run.iter(f"{W}t")]:
            text.getparent().remove(text)
    written: bytes = serialize_part_xml(root)
    return written, len(hidden)


def _is_hidden(run: Any, styles: Styles, on_white: bool) -> bool:
    if run.find(f"{W}t") is None:
        return False
    said = styles.of_run(run, next(run.iterancestors(f"{W}p"), None))
    if said.vanish or (said.size.isdecimal() and int(said.size) < TINY):
        return True
    return _is_white(said) and on_white and not _on_colour(run)


def _is_white(said: Looks) -> bool:
    if said.shaded or not re.fullmatch("[0-9a-f]{6}", said.colour):
        return False
    return min(bytes.fromhex(said.colour)) >= WHITE


def _on_colour(run: Any) -> bool:
    """Whether a cell, the style of a table or a drawn shape may colour the ground."""
    for around in run.iterancestors():
        if around.tag in APART:
            return True
        if around.tag == f"{W}tc":
            told = around.find(f"{W}tcPr")
            if told is not None and shaded(told):
                return True
        if around.tag == f"{W}tbl":
            told = around.find(f"{W}tblPr")
            if told is not None and (
                shaded(told) or told.find(f"{W}tblStyle") is not None
            ):
                return True
    return False

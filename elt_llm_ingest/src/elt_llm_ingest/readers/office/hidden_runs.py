"""Remove the runs of Word files that Word does not show."""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VAL = f"{W}val"
OFF = ("0", "false", "off")
PAPER = ("", "auto", "ffffff")  # fills that leave the background white


class RunStyle(NamedTuple):
    """Properties of a run; None if not set."""

    vanish: bool | None = None
    colour: str = ""
    size: str = ""  # half points
    shaded: bool = False

    def over(self, under: "RunStyle") -> "RunStyle":
        """Return these properties on top of those of the base style."""
        return RunStyle(
            under.vanish if self.vanish is None else self.vanish,
            self.colour or under.colour,
            self.size or under.size,
            self.shaded or under.shaded,
        )


def read_run_style(properties: Any) -> RunStyle:
    """Return the properties of a run, paragraph or cell; `told` may be None."""
    if properties is None:
        return RunStyle()
    vanish = properties.find(f"{W}vanish")
    return RunStyle(
        None if vanish is None else vanish.get(VAL, "1") not in OFF,
        _value(properties, "color").lower(),
        _value(properties, "sz"),
        is_shaded(properties)
        or _value(properties, "highlight").lower() not in ("", "none", "white"),
    )


def is_shaded(properties: Any) -> bool:
    """Return whether the properties set a colour behind the text."""
    shade = properties.find(f"{W}shd")
    if shade is None:
        return False
    pattern = shade.get(VAL, "clear") not in ("clear", "nil")
    return pattern or shade.get(f"{W}fill", "").lower() not in PAPER


def _value(properties: Any, name: str) -> str:
    element = properties.find(f"{W}{name}")
    return "" if element is None else str(element.get(VAL, ""))


class Styles:
    """The styles of paragraphs and runs, each resolved with its base styles."""

    def __init__(self, root: Any = None) -> None:
        """Read the root of `styles.xml`; without it there are no styles."""
        style_elements = () if root is None else tuple(root.iter(f"{W}style"))
        self._known = {style.get(f"{W}styleId", ""): style for style in style_elements}
        self._ready: dict[str, RunStyle] = {}
        self._usual = next(map(_id, filter(_is_usual, style_elements)), "")
        usual = None if root is None else root.find(f"{W}docDefaults/{W}rPrDefault")
        self._base = read_run_style(None if usual is None else usual.find(f"{W}rPr"))

    def of(self, name: str) -> RunStyle:
        """Return a style's properties, including its base styles; stops at cycles."""
        if name in self._ready:
            return self._ready[name]
        chain: list[str] = []
        while name in self._known and name not in chain:
            chain.append(name)
            name = _value(self._known[name], "basedOn")
        resolved = RunStyle()
        for one in reversed(chain):
            style = self._known[one]
            own = read_run_style(style.find(f"{W}rPr"))
            own = own.over(
                read_run_style(style.find(f"{W}pPr"))._replace(size="", colour="")
            )
            resolved = self._ready[one] = own.over(resolved)
        return resolved

    def of_run(self, run: Any, paragraph: Any) -> RunStyle:
        """Return the effective properties of a run, with its styles and paragraph."""
        own = run.find(f"{W}rPr")
        around = None if paragraph is None else paragraph.find(f"{W}pPr")
        named = "" if around is None else _value(around, "pStyle")
        by_run = self.of("" if own is None else _value(own, "rStyle"))
        by_block = self.of(named or self._usual).over(self._base)
        if by_run.vanish and by_block.vanish:
            by_run = by_run._replace(vanish=False)  # Word's rule: two of them cancel
        behind = RunStyle(shaded=around is not None and is_shaded(around))
        return read_run_style(own).over(by_run).over(by_block).over(behind)


def _id(style: Any) -> str:
    return str(style.get(f"{W}styleId", ""))


def _is_usual(style: Any) -> bool:
    on = style.get(f"{W}default", "0") not in OFF
    return on and style.get(f"{W}type") == "paragraph"


# Word writes these as elements around the runs; the text of a deletion is w:delText.
INSERTED = re.compile(rb"<w:ins\s[^>]*>(?!\s*</w:ins>)")
DELETED = re.compile(rb"<w:delText[\s>]")
CHARTS = re.compile(r"(?:word|ppt)/charts/chart[^/]*\.xml$")
DIAGRAMS = re.compile(r"(?:word|ppt)/diagrams/data[^/]*\.xml$")
SLIDE = re.compile(r"ppt/slides/slide\d+\.xml$")
HIDDEN_SLIDE = re.compile(rb"<p:sld\s[^>]*\bshow=\"(?:0|false)\"")
TEXT_PARTS = re.compile(
    r"word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml$"
)


def list_hidden_content(archive: zipfile.ZipFile) -> Iterator[str]:
    """Return a sentence for each kind of content that a reader should know about."""
    counts = dict.fromkeys(("inserted", "deleted", "slides"), 0)
    parts = archive.namelist()
    for part in parts:
        if TEXT_PARTS.search(part):
            data = archive.read(part)
            counts["inserted"] += len(INSERTED.findall(data))
            counts["deleted"] += len(DELETED.findall(data))
        elif SLIDE.match(part):
            counts["slides"] += bool(HIDDEN_SLIDE.search(archive.read(part)))
    charts = sum(1 for part in parts if CHARTS.match(part))
    diagrams = sum(1 for part in parts if DIAGRAMS.match(part))
    for count, what in (
        (counts["inserted"], "tracked insertions, which were read"),
        (counts["deleted"], "tracked deletions, which were left out"),
        (counts["slides"], "hidden slides, which were read"),
        (charts, "charts, which were not read"),
        (diagrams, "SmartArt diagrams, which were not read; export it as PDF for them"),
    ):
        if count:
            yield f"it has {what}: {count}"


TINY = 4  # half points; smaller letters are invisible to readers
WHITE = 0xF5  # minimum of each colour of white, as on paper
# One search clears most files.
SUSPECT = re.compile(
    rb"<w:(?:vanish)\b|<w:sz\s+w:val=\"[0-3]\"|<w:color\s[^>]*w:val=\"(?:[fF][5-9a-fA-F]){3}\""
)
STYLES = "word/styles.xml"
# The colour behind their text is set elsewhere.
APART = frozenset((f"{W}txbxContent",))


def remove_hidden_runs(data: bytes) -> tuple[bytes, int]:
    """Return the file without hidden runs, and their number.

    Runs are hidden if they are marked so, below 2 points or white on white, by their
    own properties or by a style. The archive was checked before.
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
        # Its words are removed; notes and breaks in it stay.
        for text in [*run.iter(f"{W}t")]:
            text.getparent().remove(text)
    written: bytes = serialize_part_xml(root)
    return written, len(hidden)


def _is_hidden(run: Any, styles: Styles, on_white: bool) -> bool:
    if run.find(f"{W}t") is None:
        return False
    looks = styles.of_run(run, next(run.iterancestors(f"{W}p"), None))
    if looks.vanish or (looks.size.isdecimal() and int(looks.size) < TINY):
        return True
    return _is_white(looks) and on_white and not _on_colour(run)


def _is_white(style: RunStyle) -> bool:
    if style.shaded or not re.fullmatch("[0-9a-f]{6}", style.colour):
        return False
    return min(bytes.fromhex(style.colour)) >= WHITE


def _on_colour(run: Any) -> bool:
    """Return whether a cell, table style or shape may colour the background."""
    for around in run.iterancestors():
        if around.tag in APART:
            return True
        if around.tag == f"{W}tc":
            properties = around.find(f"{W}tcPr")
            if properties is not None and is_shaded(properties):
                return True
        if around.tag == f"{W}tbl":
            properties = around.find(f"{W}tblPr")
            if properties is not None and (
                is_shaded(properties) or properties.find(f"{W}tblStyle") is not None
            ):
                return True
    return False

"""Split the lines of a page into headings, paragraphs and list items."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from elt_llm_core.document import Block, BlockKind
from elt_llm_core.language.figure_numbers import FIGURE_WORD
from elt_llm_core.language.rule_numbers import canonical, rule_grammar
from elt_llm_core.language.sentences import is_cut_reference
from elt_llm_core.records import replace_fields
from elt_llm_ingest.readers.pdf.geometry import Rectangle, Region, Table
from elt_llm_ingest.readers.pdf.words import FOLDED, Line

_GRAMMAR = rule_grammar()
# "3. SCOPE" and "2.1 FEES", but not a dose, a code or a name with initials.
SHOUT = re.compile(
    r"(?:[0-9]{1,3}(?:\.[0-9]{1,3})*[.)]|[0-9]{1,3}(?:\.[0-9]{1,3})+|[IVXL]{1,5}\.)\s+"
    r"(?P<title>[^\d.;,!?]*[^\W\d_]{4}[^\d.;,!?]*)$"
)
ADDRESSED = (BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)


def is_capitals_heading(text: str, below: str) -> bool:
    """Return whether a line is a single numbered heading in capitals."""
    if text.upper() != text or below.upper() == below:
        return False
    match = SHOUT.match(text)
    return match is not None and len(match["title"].split()[-1]) > 1


def add_rule_numbers(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Return the blocks, with `number` set on those that start with a rule number.

    A list item "(a)" extends the number of the rule above it in the section; numbers
    are normalised.
    """
    rule, section = "", ""
    for block in blocks:
        if block.kind is BlockKind.HEADING or block.section != section:
            rule, section = "", block.section
        if block.kind not in ADDRESSED:
            yield block
            continue
        is_heading = block.kind is BlockKind.HEADING
        pattern = _GRAMMAR.heading if is_heading else _GRAMMAR.paragraph
        match = pattern.match(text, block.start, block.end)
        below = _GRAMMAR.item.match(text, block.start, block.end)
        if match:
            rule = canonical(match.group())
            yield replace_fields(block, number=rule)
        elif below and rule:
            yield replace_fields(block, number=f"{rule}{below.group()}")
        else:
            yield block


MARKER = re.compile(
    r"^(?:[•●▪◦‣·○■□►➢✓\uf0b7\uf0a7]|[-\u2013—*](?=\s)"
    r"|\(?[0-9]{1,3}[.)](?=\s)|\([a-zA-Z0-9]{1,4}\)|[a-z][.)](?=\s)"
    r"|[0-9]{1,3}(?:\.[0-9]{1,3})+\.?(?=\s)|[ivxlc]{1,6}[.)](?=\s))"
)
RULE_NUMBER = re.compile(r"^[0-9]{1,3}(?:\.[0-9]{1,3})+\.?\s")
KEYWORD = re.compile(
    r"^(part|chapter|title|division|section|article|rule|schedule|annex|appendix)\s+"
    r"(?:[0-9]{1,3}|[ivxlc]{1,7}|[a-z])\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"^([0-9]{1,3}(?:\.[0-9]{1,3})*)"
    r"(?:[.)]?(?:\s+|\s*[-\u2013—:]\s*)(?=\S)|[.)](?=[A-Z][^\W\d_]{2}))"
)
CAPTION = re.compile(
    rf"^(?i:table|{FIGURE_WORD}|exhibit|chart|graph)\s+[0-9A-Z][0-9A-Z.\-]*\b"
    r"(?!,?\s+(?:[a-z]+s|is|are|was|were|and|of|in|to|below|above|has|have|can|may)\b)"
)
LEADERS = re.compile(
    r"(?:\.\s?){4,}\s*[0-9ivxlc]*\s*$|…{2,}|(?:^|\s)\.\s*[0-9ivxlc]{1,4}$"
)
MAX_HEADING = 160  # characters; longer text in bold is a paragraph
HEADING_LINES = 3  # a heading may wrap twice
MAX_RUN_IN = 80  # characters of a numbered heading that ends like a sentence
FULL_LINE = 70  # characters; a shorter bold line ends before the margin
COLUMNS = 3  # of text on a page, side by side
HEADING_PITCH = 1.4  # letter heights between the lines of a heading
SAME_LEFT = 1.0  # points; lines of one paragraph begin at the same place
SENTENCE_ENDS = (".", "!", "?", ".\u201d", ".)")
# Line distances: within a paragraph raised marks move lines by up to a fifth; a space
# of half a line between paragraphs makes 1.5.
SET_OFF = 1.35
RUNNING = 30  # characters of a line that is likely to go on in the next
APART = 1.4  # line distances from a heading in capitals to the text below it


@dataclass(eq=False)
class Draft:
    """A block before it is written. `text_size` is the height of its letters."""

    kind: BlockKind
    lines: list[Line] = field(default_factory=list)
    table: Table | None = None
    level: int = 0
    box: Rectangle | None = None  # of a figure
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the words of all lines on one line."""
        return " ".join(line.text for line in self.lines)

    @property
    def page(self) -> int:
        """Return the page on which it starts."""
        if self.table:
            return next(w.page for row in self.table.rows for c in row for w in c)
        return self.lines[0].page


@dataclass(frozen=True)
class Style:
    """The usual letter height and line distance of a document.

    `leading` is the most common distance below long lines; rows of tables enlarge the
    median, `pitch`.
    """

    size: float
    pitch: float
    leading: float = 0.0


def style_of(lines: Sequence[Line]) -> Style:
    """Return the usual letter height (by characters) and median line distance."""
    weights: dict[float, int] = {}
    for line in lines:
        weights[line.size] = weights.get(line.size, 0) + len(line.text)
    size = max(sorted(weights), key=lambda s: weights[s]) if weights else 10.0
    gaps = [gap for gap in _line_gaps(lines) if 0 < gap < 3 * size]
    pitch = median(gaps) if gaps else 1.2 * size
    running = _line_gaps(lines, RUNNING)
    common = Counter(round(gap) for gap in running if 0.8 * size <= gap < 3 * size)
    leading = max(common, key=lambda gap: (common[gap], -gap)) if common else pitch
    return Style(size=size, pitch=pitch, leading=leading)


def _line_gaps(lines: Sequence[Line], shortest: int = 0) -> Iterator[float]:
    """Return the distance of each line to the next one below it in its column.

    Lines of two columns alternate where their heights differ. Lines with fewer than
    `shortest` characters are left out.
    """
    for at, line in enumerate(lines):
        if len(line.text) < shortest:
            continue
        for below in lines[at + 1 : at + 1 + COLUMNS]:
            if below.page != line.page:
                break
            if below.left < line.right and line.left < below.right:
                yield below.top - line.top
                break


def make_drafts(regions: Sequence[Region], style: Style) -> list[Draft]:
    """Return the page's drafts in reading order."""
    drafts: list[Draft] = []
    before: Region | None = None
    for region in regions:
        if region.table:
            drafts.append(Draft(BlockKind.TABLE_ROW, table=region.table))
            before = None
            continue
        previous = drafts[-1] if drafts else None
        for draft in _cut(region, style):
            if previous is not None and _is_rest_of_heading(previous, draft, before):
                previous.lines.extend(draft.lines)
                continue
            if previous is not None and _is_cut_sentence(previous, draft, style):
                previous.kind = _line_kind(previous.lines[0])
            if previous is not None and _goes_on(previous, draft, style):
                previous.lines.extend(draft.lines)
                continue
            drafts.append(draft)
            previous = draft
        before = region
    return drafts


def _cut(region: Region, style: Style) -> Iterator[Draft]:
    """Split the region's lines into drafts at headings, markers and wide gaps."""
    lines = [part for line in region.lines for part in _split_run_in(line)]
    if region.kind in ("code", "grid_fallback"):
        yield Draft(BlockKind.CODE, lines)
        return
    current: list[Draft] = []
    above: Line | None = None
    after = 0
    for run in _runs(lines, style):
        after += len(run)
        below = lines[after] if after < len(lines) else None
        kind = _kind(run, above, below, region, style)
        above = run[-1]
        if kind in (BlockKind.HEADING, BlockKind.CAPTION):
            yield from current
            current = []
            yield Draft(kind, run)
        else:
            yield from _add_lines(current, run, style)
    yield from current


def _add_lines(
    current: list[Draft], run: Sequence[Line], style: Style
) -> Iterator[Draft]:
    """Add lines to the paragraph in `current`; yield finished paragraphs."""
    for line in run:
        kind = _line_kind(line)
        if current and is_cut_reference(current[0].lines[-1].text, line.text):
            kind = BlockKind.PARAGRAPH
        if current and _same_block(current[0], line, kind, style):
            current[0].lines.append(line)
            continue
        yield from current
        current[:] = [Draft(kind, [line])]


def _runs(lines: Sequence[Line], style: Style) -> list[list[Line]]:
    """Group adjacent lines with the same style: a heading may need two or three."""
    runs: list[list[Line]] = []
    for line in lines:
        last = runs[-1][-1] if runs else None
        if last is not None and _alike(last, line, style):
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def _alike(last: Line, line: Line, style: Style) -> bool:
    if not line.bold and not _is_larger(line, style):
        return False
    starts = NUMBER.match(line.text) or KEYWORD.match(line.text)
    gap = line.top - last.top
    return (
        not starts
        and not MARKER.match(line.text)
        and line.bold == last.bold
        and abs(line.size - last.size) <= 1
        and gap <= 1.6 * max(line.size, style.pitch)
    )


def _kind(
    run: list[Line],
    above: Line | None,
    below: Line | None,
    region: Region,
    style: Style,
) -> BlockKind:
    text = " ".join([line.text for line in run])
    if CAPTION.match(text) and len(text) <= MAX_HEADING:
        return BlockKind.CAPTION
    loud = text.upper() == text or _is_larger(run[0], style) or run[0].bold
    if not loud or len(run) > HEADING_LINES:
        return BlockKind.PARAGRAPH
    if above is not None and _mid_sentence(above, run[0], style):
        return BlockKind.PARAGRAPH
    if is_heading(run, below, region.kind == "heading", style):
        return BlockKind.HEADING
    return BlockKind.PARAGRAPH


def _is_larger(line: Line, style: Style) -> bool:
    return line.size >= 1.08 * style.size + 0.4


def _mid_sentence(above: Line, line: Line, style: Style) -> bool:
    """Return whether a heading-like line continues the sentence above it."""
    near = 0 <= line.top - above.top <= 1.35 * max(style.pitch, style.size)
    ended = above.text.rstrip().endswith((".", ":", ";", "!", "?"))
    starts = NUMBER.match(line.text) or KEYWORD.match(line.text)
    return near and not ended and not starts and abs(above.size - line.size) <= 1


def _line_kind(line: Line) -> BlockKind:
    if MARKER.match(line.text) and not RULE_NUMBER.match(line.text):
        return BlockKind.LIST_ITEM
    return BlockKind.PARAGRAPH


def is_heading(
    run: Sequence[Line], below: Line | None, is_seed: bool, style: Style
) -> bool:
    """Return whether a run of lines is a heading. `is_seed`: LiteParse's opinion.

    It must differ from the text around it (bold, larger, or capitals that LiteParse
    calls a heading), be short, contain words and not end like a sentence.
    """
    text = " ".join(line.text for line in run)
    bold = all(line.bold for line in run)
    larger = _is_larger(run[0], style)
    numbered = bool(NUMBER.match(text) or KEYWORD.match(text))
    words = [w for w in re.findall(r"[^\W\d_]+", text) if len(w) > 1]
    apart = below is None or below.top - run[-1].top >= APART * style.pitch
    shouted = text.upper() == text and (
        is_seed
        or (apart and len(words) > 1)
        or is_capitals_heading(text, below.text if below is not None else "a")
    )
    loud = bold or larger or shouted
    if not loud or len(text) > MAX_HEADING or text[0] in "•●▪◦‣":
        return False
    if not words or LEADERS.search(text):
        return False
    if text.endswith((";", ",")) or (
        text.endswith(".") and not (numbered and bold and len(text) < MAX_RUN_IN)
    ):
        return False
    if larger or below is None:
        return True
    goes_on = not below.bold and below.text[:1].islower()
    near = 0 <= below.top - run[-1].top <= 1.5 * style.pitch
    run_in = not below.bold and len(text) > FULL_LINE  # only its first words are bold
    return not (near and (goes_on or run_in))


def _split_run_in(line: Line) -> list[Line]:
    """Split a numbered bold heading from the sentence after it on its line.

    Only after a full stop, colon or dash: a bold term that begins a sentence stays.
    """
    words = line.words
    if line.bold or not words[0].bold:
        return [line]
    bold = next((i for i, w in enumerate(words) if not w.bold), len(words))
    head = Line(words[:bold])
    marked = NUMBER.match(head.text) or KEYWORD.match(head.text)
    ends = head.text.endswith((".", ":", "\u2013", "—"))
    if not marked or not ends or not re.search(r"[^\W\d_]{2}", head.text):
        return [line]
    return [head, Line(words[bold:])]


def _same_block(draft: Draft, line: Line, kind: BlockKind, style: Style) -> bool:
    last = draft.lines[-1]
    if kind is not BlockKind.PARAGRAPH:
        return False
    if is_cut_reference(last.text, line.text):
        return line.top - last.top <= 1.7 * style.pitch
    if RULE_NUMBER.match(line.text) and _sentence_ended(last, draft):
        return False
    bold = _begins_bold(line) and _ends_paragraph(last, line, draft)
    if bold or _is_set_off(draft, line, style):
        return False
    return line.top - last.top <= 1.7 * style.pitch


def _is_set_off(draft: Draft, line: Line, style: Style) -> bool:
    """Return whether a line below a finished sentence is farther off than lines are.

    Many layouts part paragraphs by half a line. The lines of the block say how far its
    lines are apart; a text that is set more widely throughout is one paragraph.
    """
    last = draft.lines[-1]
    if line.page != last.page or not last.text.rstrip().endswith(SENTENCE_ENDS):
        return False
    inner = [gap for gap in _line_gaps(draft.lines) if gap > 0]
    usual = max([style.leading or style.pitch, *inner])
    return line.top - last.top >= SET_OFF * usual


def _ends_paragraph(last: Line, line: Line, draft: Draft) -> bool:
    """Return whether a line that begins in bold starts a paragraph of its own."""
    apart = line.top - last.top >= HEADING_PITCH * line.size
    right = max(one.right for one in draft.lines)
    short = last.right < right - 0.15 * (right - draft.lines[0].left)
    return last.text.rstrip().endswith((".", ":", ";", "!", "?")) and (apart or short)


def _sentence_ended(last: Line, draft: Draft) -> bool:
    right = max(line.right for line in draft.lines)
    short = last.right < right - 0.15 * (right - draft.lines[0].left)
    return short or last.text.rstrip().endswith((".", ";", ":", "!", "?", "and", "or"))


def _is_cut_sentence(heading: Draft, draft: Draft, style: Style) -> bool:
    """Return whether a heading is the first line of the sentence that goes on below.

    LiteParse puts the first line of a list item and the others into two blocks.
    """
    if heading.kind is not BlockKind.HEADING or draft.kind is not BlockKind.PARAGRAPH:
        return False
    last, first = heading.lines[-1], draft.lines[0]
    full = len(last.text) > FULL_LINE and abs(last.size - first.size) <= 1
    return full and first.text[:1].islower() and _is_next_line(last, first, style)


def _is_rest_of_heading(heading: Draft, draft: Draft, region: Region | None) -> bool:
    """Return whether a heading is the next line of the one above it.

    The box of a block in LiteParse may end with its first line, while its text has
    all lines. `region` is that of the block above.
    """
    if heading.kind is not BlockKind.HEADING or draft.kind is not BlockKind.HEADING:
        return False
    first, text = draft.lines[0], f"{heading.text} {draft.text}"
    short = len(text) <= MAX_HEADING
    if not short or len(heading.lines) + len(draft.lines) > HEADING_LINES:
        return False
    if not _is_set_alike(heading.lines[-1], first):
        return False
    whole = "".join(text.split()).translate(FOLDED)
    block = region.block_text if region is not None and region.block else ""
    return whole in block.translate(FOLDED) or first.text[:1].islower()


def _is_set_alike(last: Line, first: Line) -> bool:
    """Return whether two lines have one style and distance, and no number begins."""
    return (
        last.page == first.page
        and last.bold == first.bold
        and last.size == first.size
        and 0 < first.top - last.top <= HEADING_PITCH * last.size
        and not NUMBER.match(first.text)
        and not KEYWORD.match(first.text)
    )


def _is_next_line(last: Line, first: Line, style: Style) -> bool:
    gap = first.top - last.top
    return first.page == last.page and 0 < gap <= 1.35 * max(style.pitch, style.size)


def _goes_on(before: Draft, draft: Draft, style: Style) -> bool:
    """Return whether LiteParse split one paragraph (mostly at a hanging indent)."""
    kinds = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
    if draft.kind is not BlockKind.PARAGRAPH or before.kind not in kinds:
        return False
    last, first = before.lines[-1], draft.lines[0]
    if RULE_NUMBER.match(first.text) or not _is_next_line(last, first, style):
        return False
    overlap = min(last.right, first.right) - max(last.left, first.left)
    ended = last.text.rstrip().endswith((".", ":", "!", "?"))
    if ended and _begins_bold(last) and not first.words[0].bold:
        return abs(last.left - first.left) <= SAME_LEFT
    return overlap > 0 and (first.text[:1].islower() or not ended)


def _begins_bold(line: Line) -> bool:
    """Return whether only the first words are bold: LiteParse ends a block there."""
    return line.words[0].bold and not line.bold


def goes_on_over_page(before: Draft, draft: Draft) -> bool:
    """Return whether a paragraph at the top continues that of the previous page."""
    kinds = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
    if draft.kind is not BlockKind.PARAGRAPH or before.kind not in kinds:
        return False
    last, first = before.lines[-1], draft.lines[0]
    if last.text.rstrip().endswith((".", ":", ";", "!", "?")):
        return False
    return first.text[:1].islower() or _has_no_room(before, first)


def _has_no_room(before: Draft, first: Line) -> bool:
    """Return whether a line ends only because the next word did not fit.

    Then a name or a number may begin the next page: "wireless internet on Marsh" and
    "Harrier only.". A paragraph of one line does not show where its lines end.
    """
    last, word = before.lines[-1], first.words[0]
    alike = last.size == first.size and last.bold == first.bold
    marked = any(mark.match(first.text) for mark in (NUMBER, MARKER, KEYWORD, CAPTION))
    if not alike or marked or len(before.lines) == 1:
        return False
    if before.kind is BlockKind.LIST_ITEM:  # few have a full stop, and few are full
        return False
    edge = max(line.right for line in before.lines[:-1])
    return last.right + word.right - word.left > edge

"""Tables without ruling lines: numbers that are aligned in several columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from elt_llm_ingest.readers.pdf.geometry import NUMBER, is_one_number, is_year
from elt_llm_ingest.readers.pdf.words import Line, Word, join_words

WIDE = 0.85  # of the letter height: the least gap between two pieces
BETWEEN_NUMBERS = (
    0.45  # the same between two numbers, because cells may be closer than words
)
SIGN_GAP = 80  # points from a currency sign to its number
TAIL_GAP = 14  # points from a number to its percent sign or parenthesis
SIGNS = frozenset("$€£¥")
TAILS = frozenset({"%", ")", ")%", "%)"})


@dataclass(slots=True, eq=False)
class LinePiece:
    """Adjacent words. `left` and `right` exclude a currency sign."""

    words: list[Word]
    text: str = field(init=False)
    left: float = field(init=False)
    right: float = field(init=False)
    is_number: bool = field(init=False)

    def __post_init__(self) -> None:
        own_words = self.words
        if len(own_words) == 1:
            self.text = own_words[0].text
        else:
            own_words = [w for w in own_words if w.text not in SIGNS] or own_words
            self.text = join_words(self.words)
        self.left = own_words[0].left
        self.right = max([w.right for w in own_words])
        self.is_number = is_one_number(self.text) and self.text not in SIGNS

    @property
    def middle(self) -> float:
        """Return the horizontal centre."""
        return (self.left + self.right) / 2


def header_pieces(line: Line) -> list[LinePiece]:
    """Return the pieces of a header; text runs also separate closely set names."""
    groups: list[list[Word]] = []
    for piece in pieces_of(line):
        groups.append(piece.words[:1])
        for word in piece.words[1:]:
            last = groups[-1][-1]
            gap = word.left - last.right
            if word.run != last.run and gap > BETWEEN_NUMBERS * (
                last.bottom - last.top
            ):
                groups.append([])
            groups[-1].append(word)
    return [LinePiece(group) for group in groups]


def pieces_of(line: Line) -> list[LinePiece]:
    """Return the pieces of a line from left to right; a sign joins its number."""
    group = [line.words[0]]
    groups = [group]
    for before, word in pairwise(line.words):
        gap = word.left - before.right
        near = gap <= TAIL_GAP and gap <= BETWEEN_NUMBERS * (word.bottom - word.top)
        if (near and word.text not in SIGNS) or not _are_apart(group, word):
            group.append(word)
        else:
            group = [word]
            groups.append(group)
    return [LinePiece(group) for group in groups]


def _are_apart(group: Sequence[Word], word: Word) -> bool:
    last = group[-1]
    gap = word.left - last.right
    height = max(word.bottom - word.top, last.bottom - last.top, 1.0)
    if gap <= TAIL_GAP and gap <= BETWEEN_NUMBERS * height and word.text not in SIGNS:
        return False  # close enough for any kind of words
    if last.text in SIGNS and len(group) == 1 and NUMBER.match(word.text):
        return gap > SIGN_GAP
    if word.text in TAILS and NUMBER.match(last.text):
        return gap > TAIL_GAP
    if word.text in SIGNS:
        return gap > 0.1 * height
    numbers = NUMBER.match(last.text) and NUMBER.match(word.text)
    return gap > (BETWEEN_NUMBERS if numbers else WIDE) * height


# The start of a possible number: a digit, or a dash by itself. A single character class
# at the start makes the search seven times as fast as two alternatives.
MARK = re.compile(r"[0-9\u2013\u2014-](?:(?<=[0-9])|(?!\S)(?<!\S.))")
FIGURES = re.compile(r"[0-9\u2013\u2014-]\S*")  # matches part of every possible number
LEAST_ROWS = 3  # two lines with aligned numbers also occur in running text
PROSE_WORDS = 14  # a piece with this many words is a sentence
FAR = 3.2  # a gap of this many line heights ends a table
SLACK = 1.5  # points; tolerated misalignment in a column
NO_VALUE = 4  # letters; for "n.a." and the like in place of a number
STEPS = 4  # this many equidistant numbers are the axis of a chart
Interval = tuple[float, float]


@dataclass(eq=False)
class TextRow:
    """A line of the page, split into its pieces."""

    line: Line
    _pieces: list[LinePiece] | None = None
    _numbers: list[LinePiece] | None = None

    @property
    def pieces(self) -> list[LinePiece]:
        """Return the pieces from left to right."""
        if self._pieces is None:
            self._pieces = pieces_of(self.line)
        return self._pieces

    @property
    def numbers(self) -> list[LinePiece]:
        """Return the pieces that are numbers."""
        if self._numbers is None:
            match = MARK.search(self.line.text)
            self._numbers = [p for p in self.pieces if p.is_number] if match else []
        return self._numbers

    def may_count(self, many: int) -> bool:
        """Return whether the row may have this many numbers, by a quick check."""
        text, words = self.line.text, self.line.words
        if not MARK.search(text):
            return False
        if text.count(" ") == len(words) - 1:  # all words are separated by blanks
            return len(FIGURES.findall(text)) >= many
        return sum([FIGURES.search(word.text) is not None for word in words]) >= many

    @property
    def is_prose(self) -> bool:
        """Return whether a piece is a sentence."""
        long = len(self.line.words) >= PROSE_WORDS
        return long and any(len(p.words) >= PROSE_WORDS for p in self.pieces)


@dataclass(eq=False)
class Run:
    """Adjacent lines whose numbers are in common columns."""

    first: int  # index of the line
    last: int
    rows: int  # rows with at least two numbers
    columns: list[Interval]


def runs_of(rows: Sequence[TextRow], *, surely: bool = False) -> list[Run]:
    """Return the runs of lines that form the body of a table, from the top.

    At least three lines need two numbers; with `surely`, two lines need one. The axis
    labels of a chart are not a table.
    """
    many = 1 if surely else 2
    least = LEAST_ROWS - surely
    runs = []
    at = 0
    while at < len(rows):
        run = _run(rows, at, many)
        if run is None:
            at += 1
            continue
        at = run.last + 1
        if run.rows >= least and len(run.columns) >= many and not _is_chart(rows, run):
            runs.append(run)
    return runs


def _run(rows: Sequence[TextRow], first: int, many: int) -> Run | None:
    row = rows[first]
    if not row.may_count(many) or len(row.numbers) < many or row.is_prose:
        return None
    if all(is_year(piece.text) for piece in rows[first].numbers):
        return None  # years are column headers
    columns = [(piece.left, piece.right) for piece in rows[first].numbers]
    run = Run(first, first, 1, columns)
    for index in range(first + 1, len(rows)):
        row, before = rows[index], rows[index - 1]
        if _gap(before.line, row.line) > FAR * _height(row.line) or row.is_prose:
            break
        if row.numbers:
            extended = _extend_columns(run.columns, row.numbers)
            if extended is None:
                break
            run.columns = extended
            run.last = index
            run.rows += len(row.numbers) >= many
        elif not _is_label(row, run.columns):
            break
    return run


def _height(line: Line) -> float:
    return max(line.bottom - line.top, 1.0)


def _gap(above: Line, below: Line) -> float:
    return below.top - above.bottom


def _extend_columns(
    columns: Sequence[Interval], numbers: Sequence[LinePiece]
) -> list[Interval] | None:
    """Return the columns with a line's numbers added; None if they do not fit."""
    spans = [(piece.left - SLACK, piece.right + SLACK) for piece in numbers]
    at = [[i for i, c in enumerate(columns) if _touch(c, span)] for span in spans]
    if any(len(touched) > 1 for touched in at):
        return None
    known = [touched[0] for touched in at if touched]
    if len(set(known)) < len(known) or 2 * len(known) < len(numbers) or not known:
        return None
    return merge_intervals([*columns, *((p.left, p.right) for p in numbers)])


def _touch(one: Interval, two: Interval) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def merge_intervals(intervals: Sequence[Interval]) -> list[Interval]:
    """Return the intervals from left to right, with overlapping ones merged."""
    done: list[Interval] = []
    for left, right in sorted(intervals):
        if done and left < done[-1][1]:
            done[-1] = (done[-1][0], max(done[-1][1], right))
        else:
            done.append((left, right))
    return done


def _is_label(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Return whether a line without numbers may be a label in the table.

    Its text is on the left only; words or dashes in a column of numbers are also
    accepted.
    """
    first = columns[0][0]
    if row.pieces[0].left > first and any(map(_is_name, row.pieces)):
        return False  # the header of another table
    for piece in row.pieces:
        touched = [c for c in columns if _touch(c, (piece.left, piece.right))]
        if piece.left < first - SLACK:
            if len(touched) > 1:
                return False
        elif len(touched) != 1:
            return False
    return True


def _is_name(piece: LinePiece) -> bool:
    return sum(map(str.isalpha, piece.text)) > NO_VALUE


def _is_chart(rows: Sequence[TextRow], run: Run) -> bool:
    """Return whether most columns count in equal steps, as an axis does."""
    axes = [_is_axis(list(_values(rows, run, column))) for column in run.columns]
    return 2 * sum(axes) >= len(axes)


def _values(rows: Sequence[TextRow], run: Run, column: Interval) -> Iterator[float]:
    for row in rows[run.first : run.last + 1]:
        for piece in row.numbers:
            if _touch(column, (piece.left, piece.right)) and not is_year(piece.text):
                digits = "".join([c for c in piece.text if c.isdigit() or c == "."])
                try:
                    yield float(digits)
                except ValueError:
                    continue


def _is_axis(values: Sequence[float]) -> bool:
    steps = [round(abs(b - a), 6) for a, b in pairwise(values)]
    if len(values) < STEPS or not any(steps):
        return False
    commonest = max(steps.count(step) for step in set(steps) if step)
    return commonest >= 0.75 * len(steps)

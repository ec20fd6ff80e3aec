"""Words and lines with their boxes, in points from the top left."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, repeat
from operator import attrgetter
from typing import Any

BOLD = re.compile(r"bold|black|heavy|semibd|demi(?!tal)", re.IGNORECASE)
# LiteParse writes typographic quotes and dashes as ASCII. These are the ones it folds,
# one character for one; \ufffe is how PDFium shows a hyphen at the end of a line.
FOLDED = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‟": '"',
        "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'",
        "\u2013": "-", "—": "-", "\u2212": "-", "\u2010": "-",
        "\u2011": "-", "\u2012": "-", "―": "-",
        "\ufffe": "-", "\x02": "-", "\xad": "-",
    }
)  # fmt: skip
HYPHENS = str.maketrans({"\ufffe": "-", "\x02": "-", "\xad": "-"})
FOLDABLE = frozenset("\"'-")
LETTER = re.compile(r"[^\W_]")
FORMULA = "$"  # LiteParse puts one before and one after the LaTeX of a formula
LEAST = 0.1  # points; least height of a word
LONG = 10  # letters; a run of this length is usually unique on a page
SHORT = 3  # letters; shorter runs (a bullet) may continue anywhere
COLUMNS = 4  # maximum number of parallel texts
LOWER = 0.4  # share of the height by which words are below others of a row
LEFT = attrgetter("left")


@dataclass(slots=True, eq=False)
class Word:
    """One word. `glued`: no space before it. `run`: its text run.

    `place`: where it begins in the file's own order, counted in characters without
    blanks; below 0 where that is not known. `mark`: that of a note, apart from the word
    before it though it touches it.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    page: int
    run: int
    bold: bool = False
    glued: bool = False
    rotated: bool = False
    furniture: bool = False
    place: int = -1
    mark: bool = False

    @property
    def middle(self) -> tuple[float, float]:
        """Return the centre."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@dataclass(slots=True, eq=False)
class Line:
    """Words at the same height, from left to right."""

    words: list[Word]
    top: float = field(init=False)
    bottom: float = field(init=False)
    left: float = field(init=False)
    right: float = field(init=False)
    _text: str = field(init=False, default="")
    _size: float = field(init=False, default=-1.0)

    def __post_init__(self) -> None:
        first = self.words[0]
        left, top, right, bottom = first.left, first.top, first.right, first.bottom
        for word in self.words:
            left = word.left if word.left < left else left  # noqa: FURB136 - millions
            top = word.top if word.top < top else top  # noqa: FURB136
            right = word.right if word.right > right else right  # noqa: FURB136
            bottom = word.bottom if word.bottom > bottom else bottom  # noqa: FURB136
        self.left, self.top, self.right, self.bottom = left, top, right, bottom

    @property
    def text(self) -> str:
        """Return the words with their spaces."""
        self._text = self._text or join_words(self.words)
        return self._text

    @property
    def page(self) -> int:
        """Return its page."""
        return self.words[0].page

    @property
    def size(self) -> float:
        """Return the height of its letters, rounded to half points."""
        if self._size < 0:
            heights = sorted([w.bottom - w.top for w in self.words])
            half = len(heights) // 2
            middle = heights[half]
            if len(heights) % 2 == 0:
                middle = (heights[half - 1] + middle) / 2
            self._size = round(middle * 2) / 2
        return self._size

    @property
    def bold(self) -> bool:
        """Return whether every word with a letter or digit is bold."""
        has_bold = False
        for word in self.words:
            if not word.bold and LETTER.search(word.text):
                return False
            has_bold = has_bold or (word.bold and LETTER.search(word.text) is not None)
        return has_bold


def join_words(words: Sequence[Word]) -> str:
    """Return the words with spaces as on the page."""
    text = "".join([w.text if w.glued else " " + w.text for w in words])
    return text[1:] if words and not words[0].glued else text


class Restorer:
    """Restores typographic characters from PDFium's text of the page."""

    def __init__(self, page_text: str) -> None:
        self._original = replace_marks("".join(page_text.split()), HYPHENS)
        self._folded = replace_marks(self._original, FOLDED)
        self._at = 0
        self._ends: list[int] = []  # ends of the last runs; each may continue
        self._used = bytearray(len(self._folded))
        self.place = -1  # end of the last requested run

    def restore(self, dense: str) -> str | None:
        """Return `dense` (without spaces) as on the page, or None if it is not found.

        Runs come row by row. Each usually continues where one of the last few ended,
        because every column has its own sequence. `leftover` finds a single mark after
        all longer runs have their positions.
        """
        self.place = -1
        if FOLDABLE.issuperset(dense):
            return None
        place, is_sure = self._find(dense)
        if place < 0:
            return None
        end = place + len(dense)
        self.place = place if is_sure else -1
        self._at = max(self._at, end)
        if is_sure:
            self._ends = [end, *[e for e in self._ends if e != place]][:COLUMNS]
        return self._take(place, len(dense))

    def _find(self, dense: str) -> tuple[int, bool]:
        """Return the position of a run, and whether it is unique."""
        folded = self._folded
        for end in self._ends:
            if folded.startswith(dense, end):
                return end, len(dense) >= SHORT
        place = folded.find(dense, self._at)
        if place < 0:
            place = folded.rfind(dense, 0, self._at)
        if len(dense) >= LONG:
            return place, True
        return place, folded.find(dense) == folded.rfind(dense)

    def find_at(self, text: str, place: int) -> int:
        """Return the position if the text is there, else -1."""
        return place if place >= 0 and self._original.startswith(text, place) else -1

    def leftover(self, mark: str) -> str:
        """Return the next unclaimed character of the page that folds to `mark`."""
        place = self._folded.find(mark)
        while place >= 0 and self._used[place]:
            place = self._folded.find(mark, place + 1)
        return self._take(place, len(mark)) if place >= 0 else mark

    def _take(self, start: int, length: int) -> str:
        self._used[start : start + length] = b"\x01" * length
        return self._original[start : start + length]


def replace_marks(text: str, table: Mapping[int, str]) -> str:
    """Return the text with its marks replaced, without a look-up per character."""
    for code, replacement in table.items():
        text = text.replace(chr(code), replacement)
    return text


def page_words(page: Any, restorer: Restorer) -> list[Word]:
    """Return the words of a LiteParse page in its order, with their printed text."""
    words: list[Word] = []
    bold: dict[str, bool] = {}
    number = page.page_num
    for run, item in enumerate(page.text_items):
        font = item.font_name or ""
        if font not in bold:
            bold[font] = bool(BOLD.search(font))
        rotated = abs(item.rotation) > 1
        item_words = _item_words(item, restorer)
        place = restorer.place
        for text, box, glued in item_words:
            x, y = box.x, box.y
            words.append(
                Word(
                    text, x, y, x + box.width, y + box.height, number, run,
                    bold[font], glued, rotated, False, place,
                )
            )  # fmt: skip
            if place >= 0:
                place += len(text)
    for word in words:
        if word.text[0] in FOLDABLE and FOLDABLE.issuperset(word.text):
            word.text = restorer.leftover(word.text)
    _place_short(words, restorer)
    return words


def _place_short(words: Sequence[Word], restorer: Restorer) -> None:
    """Give short runs a position if the previous or next word determines it."""
    unknown = [at for at, word in enumerate(words) if word.place < 0]
    for at in reversed(unknown):
        word = words[at]
        after = words[at + 1].place if at + 1 < len(words) else -1
        if after >= 0:
            word.place = restorer.find_at(word.text, after - len(word.text))
    for at in unknown:
        word, before = words[at], words[at - 1]
        if word.place < 0 <= before.place and at and len(word.text) > 1:
            word.place = restorer.find_at(word.text, before.place + len(before.text))


def has_formula(item: Any) -> bool:
    """Return whether the text of a LiteParse run contains more than its words."""
    words = "".join(["".join(word.text.split()) for word in item.words])
    return FORMULA in item.text and "".join(item.text.split()) != words


def _item_words(item: Any, restorer: Restorer) -> Iterable[tuple[str, Any, bool]]:
    """Return each word of a run: text, box, and whether it has no blank before.

    LaTeX that LiteParse wrote into the run's text is in none of its words.
    """
    text = item.text
    if FORMULA in text and has_formula(item):
        return [(restorer.restore(w.text) or w.text, w, False) for w in item.words]
    parts = text.split()
    dense = "".join(parts)
    restored = restorer.restore(dense)
    if restored is None:
        # PDFium returns a character of the run differently (for example a repaired
        # ligature), so its words are looked up one by one.
        restored = "".join([restorer.restore(part) or part for part in parts])
        if restorer.place >= 0:  # of the last of them
            restorer.place += len(parts[-1]) - len(restored)
    boxes = item.words or [item]
    if len(boxes) != len(parts):
        return _pieces(text, restored, boxes)
    if restored != dense:
        ends = list(accumulate(map(len, parts)))
        parts = [
            restored[end - len(p) : end] for p, end in zip(parts, ends, strict=True)
        ]
    return zip(parts, boxes, repeat(False), strict=False)


def _pieces(
    text: str, restored: str, boxes: Sequence[Any]
) -> Iterable[tuple[str, Any, bool]]:
    """Return the words of a run that LiteParse splits other than at blanks."""
    at = position = 0
    for box in boxes:
        word_text = box.text
        size = len(word_text)
        if not word_text or " " in word_text or word_text.isspace():
            size = len("".join(word_text.split()))
            if not size:
                continue
        word_start = text.find(word_text, position)
        glued = at > 0 and word_start == position
        position = word_start + len(word_text) if word_start >= 0 else position
        yield restored[at : at + size] or word_text, box, glued
        at += size


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Group the words into lines from top to bottom; rotated text keeps its runs."""
    if len(words) == 1:
        words[0].glued = words[0].glued and words[0].rotated
        return [Line([words[0]])]
    straight = [w for w in words if not w.rotated]
    rows = [straight] if is_row(straight) else _rows(straight)
    lines = [Line(_glue(sorted(row, key=LEFT))) for row in rows]
    if len(straight) == len(words):
        return lines
    turned: dict[int, list[Word]] = {}
    for word in words:
        if word.rotated:
            turned.setdefault(word.run, []).append(word)
    lines.extend(Line(run) for run in turned.values())
    return lines


def is_row(words: Sequence[Word]) -> bool:
    """Return whether all words are at the same height."""
    if not words:
        return False
    top, bottom = words[0].top, words[0].bottom
    if bottom - top < LEAST:
        return False
    for word in words:  # noqa: SIM110 - millions
        if word.top != top or word.bottom != bottom:
            return False
    return True


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Return groups of adjacent words that share half of the lower one's height."""
    levels: dict[tuple[float, float], list[Word]] = defaultdict(list)
    top = bottom = float("-inf")
    level: list[Word] = []
    for word in words:  # most words of a line have the same top and bottom
        if word.top != top or word.bottom != bottom:
            top, bottom = word.top, word.bottom
            level = levels[top, bottom]
        level.append(word)
    rows: list[list[Word]] = []
    known: list[tuple[float, float]] = []  # the levels of the last row
    top = bottom = float("-inf")  # of the tallest word of the last row
    for _, high, low in sorted([(high + low, high, low) for high, low in levels]):
        height, tallest = low - high, bottom - top
        shared = (low if low < bottom else bottom) - (high if high > top else top)  # noqa: FURB136
        least = height if height < tallest else tallest  # noqa: FURB136 - millions
        if (
            rows
            and shared >= 0.5 * (least if least > LEAST else LEAST)  # noqa: FURB136
            and not _is_below(high, low, levels, known)
        ):
            rows[-1] += levels[high, low]
            known.append((high, low))
            if height > tallest:
                top, bottom = high, low
        else:
            rows.append(levels[high, low])
            known = [(high, low)]
            top, bottom = high, low
    return rows


def _is_below(
    high: float,
    low: float,
    levels: Mapping[tuple[float, float], Sequence[Word]],
    row: Sequence[tuple[float, float]],
) -> bool:
    """Return whether words are below others of a row despite overlapping letters.

    A taller line of an adjacent column may reach from one line to the next.
    """
    for top, bottom in row:
        down = 0.5 * (high + low - top - bottom)
        if down <= LOWER * (low - high) or low - high < LOWER * (bottom - top):
            continue
        words, above = levels[high, low], levels[top, bottom]
        if sum([_is_under(word, above) for word in words]) > 1:
            return True
    return False


def _is_under(word: Word, above: Iterable[Word]) -> bool:
    """Return whether most of a word's width is under other words."""
    left, right = word.left, word.right
    shared = sum([max(min(right, w.right) - max(left, w.left), 0.0) for w in above])
    return shared > 0.5 * (right - left)


def _glue(row: list[Word]) -> list[Word]:
    """Mark adjacent words of different runs that touch."""
    row[0].glued = False
    for before, word in pairwise(row):
        if before.run == word.run:
            continue
        gap = word.left - before.right
        height = max(word.bottom - word.top, 1.0)
        word.glued = -height < gap < 0.1 * height and not word.mark
    return row

"""Words and lines with their boxes, in points from the top left."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
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
HYPHENS = str.maketrans("\ufffe\x02\xad", "---")
FOLDABLE = frozenset("\"'-")


@dataclass(slots=True, eq=False)
class Word:
    """One word. `glued`: no blank before it. `run`: the text run it is from."""

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

    @property
    def middle(self) -> tuple[float, float]:
        """The centre."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@dataclass(slots=True, eq=False)
class Line:
    """Words that stand beside each other, left to right."""

    words: list[Word]
    top: float = field(init=False)
    bottom: float = field(init=False)
    left: float = field(init=False)
    right: float = field(init=False)
    text: str = field(init=False)

    def __post_init__(self) -> None:
        self.top = min(w.top for w in self.words)
        self.bottom = max(w.bottom for w in self.words)
        self.left = min(w.left for w in self.words)
        self.right = max(w.right for w in self.words)
        self.text = joined(self.words)

    @property
    def page(self) -> int:
        """The page it stands on."""
        return self.words[0].page

    @property
    def size(self) -> float:
        """The height of its letters, rounded to half points."""
        return round(median(w.bottom - w.top for w in self.words) * 2) / 2

    @property
    def bold(self) -> bool:
        """Whether every word with a letter or digit is bold."""
        said = [w.bold for w in self.words if any(c.isalnum() for c in w.text)]
        return bool(said) and all(said)


def joined(words: Sequence[Word]) -> str:
    """The words with blanks where the page has them."""
    parts: list[str] = []
    for index, word in enumerate(words):
        if index and not word.glued:
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)


class Restorer:
    """Gives back the typographic characters, from PDFium's own text of the page."""

    def __init__(self, page_text: str) -> None:
        dense = re.sub(r"\s+", "", page_text)
        self._original = dense.translate(HYPHENS)
        self._folded = dense.translate(FOLDED)
        self._at = 0
        self._used: set[int] = set()

    def restore(self, dense: str) -> str | None:
        """`dense` (no blanks) as it stands on the page, None if it is not found.

        Runs come nearly in PDFium's order, so the next place is tried first. A lone
        mark is found by `leftover` when all longer runs have their places.
        """
        if not FOLDABLE.issuperset(dense):
            found = self._folded.find(dense, self._at)
            if found >= 0:
                self._at = found + len(dense)
            else:
                found = self._folded.rfind(dense, 0, self._at)
            return self._take(found, len(dense)) if found >= 0 else None
        return None

    def leftover(self, mark: str) -> str:
        """The next character of the page, not yet claimed, that folds to `mark`."""
        found = self._folded.find(mark)
        while found >= 0 and found in self._used:
            found = self._folded.find(mark, found + 1)
        return self._take(found, len(mark)) if found >= 0 else mark

    def _take(self, start: int, length: int) -> str:
        self._used.update(range(start, start + length))
        return self._original[start : start + length]


def page_words(page: Any, restorer: Restorer) -> list[Word]:
    """The words of a LiteParse page in its order, with their text as printed."""
    words: list[Word] = []
    for run, item in enumerate(page.text_items):
        words.extend(_item_words(item, run, page.page_num, restorer))
    for word in words:
        if FOLDABLE.issuperset(word.text):
            word.text = restorer.leftover(word.text)
    return words


def _item_words(item: Any, run: int, page: int, restorer: Restorer) -> Iterable[Word]:
    bold = bool(BOLD.search(item.font_name or ""))
    dense = re.sub(r"\s+", "", item.text)
    restored = restorer.restore(dense)
    if restored is None:
        # The run has a character PDFium shows otherwise (a repaired ligature, say):
        # its words are looked up one by one.
        parts = item.text.split()
        restored = "".join(restorer.restore(part) or part for part in parts)
    at = position = 0
    for box in item.words or [item]:
        size = len(re.sub(r"\s+", "", box.text))
        if not size:
            continue
        found = item.text.find(box.text, position)
        glued = at > 0 and found == position
        position = found + len(box.text) if found >= 0 else position
        yield Word(
            text=restored[at : at + size] or box.text,
            left=box.x,
            top=box.y,
            right=box.x + box.width,
            bottom=box.y + box.height,
            page=page,
            run=run,
            bold=bold,
            glued=glued,
            rotated=abs(item.rotation) > 1,
        )
        at += size


def lines_of(words: Sequence[Word]) -> list[Line]:
    """The words as lines from top to bottom; turned text keeps its own runs."""
    straight = [w for w in words if not w.rotated]
    rows: list[list[Word]] = []
    tall: list[tuple[float, float]] = []
    for word in sorted(straight, key=lambda w: (w.middle[1], w.left)):
        if rows and _beside(tall[-1], word):
            rows[-1].append(word)
            if word.bottom - word.top > tall[-1][1] - tall[-1][0]:
                tall[-1] = (word.top, word.bottom)
        else:
            rows.append([word])
            tall.append((word.top, word.bottom))
    lines = [Line(_glue(sorted(row, key=lambda w: w.left))) for row in rows]
    turned: dict[int, list[Word]] = {}
    for word in words:
        if word.rotated:
            turned.setdefault(word.run, []).append(word)
    lines.extend(Line(run) for run in turned.values())
    return lines


def _beside(tall: tuple[float, float], word: Word) -> bool:
    overlap = min(tall[1], word.bottom) - max(tall[0], word.top)
    least = min(tall[1] - tall[0], word.bottom - word.top)
    return overlap >= 0.5 * max(least, 0.1)


def _glue(row: list[Word]) -> list[Word]:
    """Mark words of neighbouring runs that touch."""
    row[0].glued = False
    for before, word in pairwise(row):
        if before.run == word.run:
            continue
        gap = word.left - before.right
        height = max(word.bottom - word.top, 1.0)
        word.glued = -height < gap < 0.1 * height
    return row

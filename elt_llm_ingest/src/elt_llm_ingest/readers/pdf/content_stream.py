"""The order of a page's text in the file, as evidence of its reading order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.geometry import Rectangle
from elt_llm_ingest.readers.pdf.words import Line, Word

APART = 0.3  # of the height of letters: words of two columns stand farther apart
WIDE = 1.2  # no two words of one line of justified text stand so far apart, mostly
CLOSE = 3  # characters that PDFium may have between two words, or we
TEXT = 4  # words of a line of running text
LETTERS = 12  # that stand for so many words, where blanks part none
STOPS = frozenset(".:;?!")
HYPHENS = frozenset("-\u2010\xad")
PLACE = attrgetter("place")


@dataclass(eq=False, slots=True)
class Fragment:
    """Words beside each other that no column can part. `row`: the page's line."""

    words: list[Word]
    row: int

    @property
    def box(self) -> Rectangle:
        """Left, top, right, bottom."""
        return (
            self.words[0].left,
            min([word.top for word in self.words]),
            max([word.right for word in self.words]),
            max([word.bottom for word in self.words]),
        )

    @property
    def place(self) -> int:
        """Where it begins in the file's order; below 0 if that is not known."""
        return self.words[0].place

    @property
    def is_text(self) -> bool:
        """Whether it is long enough for a line of running text."""
        return len(self.words) >= TEXT or _is_long(self.words)


def _is_long(words: Sequence[Word]) -> bool:
    letters = [c for word in words for c in word.text if c.isalpha()]
    return len(letters) >= LETTERS and not any(c.lower() != c.upper() for c in letters)


Join = tuple[Fragment, Fragment]


def fragments_of(lines: Sequence[Line]) -> list[Fragment]:
    """The lines in fragments: parted by wide gaps, and where the file goes elsewhere.

    Furniture and turned text are left out.
    """
    fragments: list[Fragment] = []
    for row, line in enumerate(lines):
        words = line.words
        if words[0].rotated:
            continue
        if words[0].furniture or words[-1].furniture:
            words = [word for word in words if not word.furniture]
            if not words:
                continue
        if words[0].run == words[-1].run:  # as most lines of a single column
            fragments.append(Fragment(words, row))
        else:
            fragments.extend(Fragment(part, row) for part in _split_runs(words))
    return fragments


def _split_runs(words: list[Word]) -> Iterator[list[Word]]:
    start = 0
    for at in range(1, len(words)):
        if words[at - 1].run != words[at].run and _is_end(words[at - 1], words[at]):
            yield words[start:at]
            start = at
    yield words[start:] if start else words


def _is_end(word: Word, after: Word) -> bool:
    gap = after.left - word.right
    height = max(word.bottom - word.top, after.bottom - after.top, 1.0)
    if gap > WIDE * height:
        return True
    known = word.place >= 0 and after.place >= 0
    return gap > APART * height and known and not follows(word, after)


def follows(word: Word, after: Word) -> bool:
    """Whether a word is known to come right after another in the file."""
    if word.place < 0 or after.place < 0:
        return False
    return -CLOSE <= after.place - word.place - len(word.text) <= CLOSE


def in_file_order(fragments: Iterable[Fragment]) -> list[Fragment]:
    """The fragments whose place in the file is known, as they come there."""
    return sorted([f for f in fragments if f.place >= 0], key=PLACE)


def joins_of(fragments: Iterable[Fragment]) -> list[Join]:
    """Neighbours in the file of which the second carries on the first's sentence.

    Both are lines of running text; the first ends in no stop, and the second begins
    with no capital.
    """
    return [
        (first, second)
        for first, second in pairwise(in_file_order(fragments))
        if first.is_text
        and second.is_text
        and (first.row != second.row or second.words[0].left < first.words[0].left)
        and carries_on(first.words[-1].text, second.words[0].text)
    ]


def carries_on(last: str, first: str) -> bool:
    """Whether a sentence goes on from a line's last word to the next line's first."""
    return last[-1] not in STOPS and first[0].isalpha() and not first[0].isupper()


def kept_joins(joins: Sequence[Join], drafts: Iterable[Draft]) -> list[bool]:
    """Of each join whether its two lines follow each other in the drafts."""
    if not joins:
        return []
    after = _followers(drafts)
    return [after.get(id(a.words[-1])) == id(b.words[0]) for a, b in joins]


def _followers(drafts: Iterable[Draft]) -> dict[int, int]:
    """The word after the last one of every line; in tables, after every word."""
    after: dict[int, int] = {}
    last = 0
    for draft in drafts:
        if draft.table is not None:
            for word in draft.table.words():
                after[last] = last = id(word)
            continue
        for line in draft.lines:
            after[last] = id(line.words[0])
            last = id(line.words[-1])
    return after

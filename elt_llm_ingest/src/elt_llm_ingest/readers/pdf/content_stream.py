"""The order of a page's text in the file, as evidence for its reading order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.geometry import Rectangle
from elt_llm_ingest.readers.pdf.words import Line, Word

APART = 0.3  # of the letter height: words of different columns are farther apart
WIDE = 1.2  # words of one line of justified text are rarely this far apart
CLOSE = 3  # extra characters between two words, in PDFium's text or ours
TEXT = 4  # words of a line of running text
LETTERS = 12  # that count as so many words if there are no spaces
STOPS = frozenset(".:;?!")
HYPHENS = frozenset("-\u2010\xad")
PLACE = attrgetter("place")


@dataclass(eq=False, slots=True)
class Fragment:
    """Adjacent words without a column border. `row`: the page's line."""

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
        """Return its position in the file's order; below 0 if unknown."""
        return self.words[0].place

    @property
    def is_text(self) -> bool:
        """Return whether it is long enough for a line of running text."""
        return len(self.words) >= TEXT or _is_long(self.words)


def _is_long(words: Sequence[Word]) -> bool:
    letters = [c for word in words for c in word.text if c.isalpha()]
    return len(letters) >= LETTERS and not any(c.lower() != c.upper() for c in letters)


Join = tuple[Fragment, Fragment]


def fragments_of(lines: Sequence[Line]) -> list[Fragment]:
    """Split the lines into fragments at wide gaps and at jumps in the file's order.

    Furniture and rotated text are left out.
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
        if words[0].run == words[-1].run:  # like most lines of a single column
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
    """Return whether a word is known to follow another directly in the file."""
    if word.place < 0 or after.place < 0:
        return False
    return -CLOSE <= after.place - word.place - len(word.text) <= CLOSE


def sort_in_file_order(fragments: Iterable[Fragment]) -> list[Fragment]:
    """Return the fragments with a known position, in the file's order."""
    return sorted([f for f in fragments if f.place >= 0], key=PLACE)


def pair_joins(fragments: Iterable[Fragment]) -> list[Join]:
    """Return adjacent fragments in the file that share a sentence.

    Both are lines of running text; the first ends without a full stop, and the second
    starts without a capital.
    """
    return [
        (first, second)
        for first, second in pairwise(sort_in_file_order(fragments))
        if first.is_text
        and second.is_text
        and (first.row != second.row or second.words[0].left < first.words[0].left)
        and continues_sentence(first.words[-1].text, second.words[0].text)
    ]


def continues_sentence(last: str, first: str) -> bool:
    """Return whether a sentence continues from a line's last word to the next line."""
    return last[-1] not in STOPS and first[0].isalpha() and not first[0].isupper()


def check_joins(joins: Sequence[Join], drafts: Iterable[Draft]) -> list[bool]:
    """Return for each join whether its lines are adjacent in the drafts."""
    if not joins:
        return []
    after = _followers(drafts)
    return [after.get(id(a.words[-1])) == id(b.words[0]) for a, b in joins]


def _followers(drafts: Iterable[Draft]) -> dict[int, int]:
    """Return the word after the last one of every line; in tables after every word."""
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

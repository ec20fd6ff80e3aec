"""Lines of a page in pieces, where wide gaps part them: what columns are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from elt_llm_ingest.formats.pdf.numerals import NUMBER, is_one_number
from elt_llm_ingest.formats.pdf.words import Line, Word, joined

WIDE = 0.85  # of the height of letters: so wide a gap parts two pieces
BETWEEN_NUMBERS = 0.45
SIGN_GAP = 80  # points from a currency sign to its number
TAIL_GAP = 14  # points from a number to its percent sign or parenthesis
SIGNS = frozenset("$€£¥")
TAILS = frozenset({"%", ")", ")%", "%)"})


@dataclass(slots=True, eq=False)
class Piece:
    """Words beside each other. `left` and `right` leave out a currency sign."""

    words: list[Word]
    text: str = field(init=False)
    left: float = field(init=False)
    right: float = field(init=False)
    is_number: bool = field(init=False)

    def __post_init__(self) -> None:
        said = self.words
        if len(said) == 1:
            self.text = said[0].text
        else:
            said = [w for w in said if w.text not in SIGNS] or said
            self.text = joined(self.words)
        self.left = said[0].left
        self.right = max([w.right for w in said])
        self.is_number = is_one_number(self.text) and self.text not in SIGNS

    @property
    def middle(self) -> float:
        """The centre across."""
        return (self.left + self.right) / 2


def header_pieces(line: Line) -> list[Piece]:
    """The pieces of a header: names may stand closer, so text runs part them too."""
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
    return [Piece(group) for group in groups]


def pieces_of(line: Line) -> list[Piece]:
    """The pieces of a line from left to right; a sign goes with its number."""
    group = [line.words[0]]
    groups = [group]
    for before, word in pairwise(line.words):
        gap = word.left - before.right
        near = gap <= TAIL_GAP and gap <= BETWEEN_NUMBERS * (word.bottom - word.top)
        if (near and word.text not in SIGNS) or not _parted(group, word):
            group.append(word)
        else:
            group = [word]
            groups.append(group)
    return [Piece(group) for group in groups]


def _parted(group: Sequence[Word], word: Word) -> bool:
    last = group[-1]
    gap = word.left - last.right
    height = max(word.bottom - word.top, last.bottom - last.top, 1.0)
    if gap <= TAIL_GAP and gap <= BETWEEN_NUMBERS * height and word.text not in SIGNS:
        return False  # near enough for whatever they are
    if last.text in SIGNS and len(group) == 1 and NUMBER.match(word.text):
        return gap > SIGN_GAP
    if word.text in TAILS and NUMBER.match(last.text):
        return gap > TAIL_GAP
    if word.text in SIGNS:
        return gap > 0.1 * height
    numbers = NUMBER.match(last.text) and NUMBER.match(word.text)
    return gap > (BETWEEN_NUMBERS if numbers else WIDE) * height

"""Quote the lead-in of a list with its items, from whichever source has it.

"(a) engage in trade;" permits what "No member shall, without consent, (a) engage in
trade;" forbids. An item without its lead-in in any source is not quoted if it is no
complete statement.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from elt_llm_core.language.languages import ENGLISH
from elt_llm_query.analysis.enumerations import EnumerationItem, SourceLine, read_lists
from elt_llm_query.analysis.read_sentence import Sentence, read, sentences
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage


class QuotedPiece(NamedTuple):
    """`passages[passage].text[start:end]`, in reading order of its document."""

    passage: int
    start: int
    end: int


class PlacedItem(NamedTuple):
    """A list item, the pieces it completes, and whether it is meaningless alone.

    `above` are the lead-ins of its list, whether or not it needs them.
    """

    stems: tuple[QuotedPiece, ...]
    fragment: bool
    above: tuple[QuotedPiece, ...] = ()


Items = Mapping[tuple[int, int], PlacedItem]  # by passage and start


def read_items(passages: Sequence[Passage]) -> Items:
    """Return the list items of the passages, by passage and start.

    Lists continue from a passage to the next one of its document and section.

    Args:
        passages: The sources, in any order.
    """
    items: dict[tuple[int, int], PlacedItem] = {}
    for run in _runs(passages):
        pieces: list[QuotedPiece] = []
        lines: list[SourceLine] = []
        for number in run:
            for sentence, line in _lines(passages[number]):
                pieces.append(QuotedPiece(number, sentence.start, sentence.end))
                lines.append(line)
        for piece, item in zip(pieces, read_lists(lines), strict=True):
            if item is not None:
                key = piece.passage, piece.start
                items[key] = _place(item, pieces)
    return items


def is_fragment(items: Items, passage: int, start: int) -> bool:
    """Return whether the piece at a position is meaningless without its lead-in."""
    item = items.get((passage, start))
    return item is not None and item.fragment


def drop_fragments(
    candidates: Sequence[Candidate], passages: Sequence[Passage]
) -> list[Candidate]:
    """Return the candidates without list items whose lead-in is in no source."""
    items = read_items(passages)
    return [c for c in candidates if not is_fragment(items, c.passage, c.start)]


def with_stems(claims: Sequence[Claim], passages: Sequence[Passage]) -> list[Claim]:
    """Return the claims, with list items after the lead-in that they complete.

    Items of one list are adjacent and in order, with one lead-in; adjacent text of the
    source is one claim.

    Args:
        claims: Quotes of the passages.
        passages: The sources.
    """
    items = read_items(passages)
    numbers = {passage.node_id: at for at, passage in enumerate(passages)}
    groups: dict[object, list[tuple[QuotedPiece, Claim]]] = {}
    for claim in claims:
        number = numbers[claim.node_id]
        item = items.get((number, _piece_start(passages[number], claim.start)))
        own = QuotedPiece(number, claim.start, claim.end), claim
        stems = item.stems if item else ()
        group = groups.setdefault(stems[0] if stems else own[0], [])
        for stem in stems:
            quote = _quote(passages[stem.passage], stem.start, stem.end)
            group.append((stem, quote))
        group.append(own)
    quoted: list[Claim] = []
    for group in groups.values():
        ordered = sorted(
            group, key=lambda each: _order(passages[each[0].passage], each[1])
        )
        first = len(quoted)
        for piece, claim in ordered:
            passage = passages[piece.passage]
            last = quoted[-1] if quoted else None
            if len(group) > 1 and last and _holds(last, claim):
                continue
            if len(quoted) > first and _adjoins(quoted[-1], claim, passage.text):
                quoted[-1] = _quote(passage, quoted[-1].start, claim.end)
            else:
                quoted.append(claim)
    return quoted


def _holds(claim: Claim, other: Claim) -> bool:
    same = claim.node_id == other.node_id
    return same and claim.start <= other.start and other.end <= claim.end


def _adjoins(claim: Claim, other: Claim, text: str) -> bool:
    """Return whether two verbatim quotes of one passage are adjacent."""
    if claim.node_id != other.node_id or claim.end > other.start:
        return False
    verbatim = all(
        _on_one_line(text[c.start : c.end]) == c.text for c in (claim, other)
    )
    return verbatim and not text[claim.end : other.start].strip()


def _order(passage: Passage, claim: Claim) -> tuple[int, int]:
    return (passage.place[1] if passage.place else 0), claim.start


def _quote(passage: Passage, start: int, end: int) -> Claim:
    wording = _on_one_line(passage.text[start:end])
    return Claim(passage.label, passage.node_id, start, end, wording)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _piece_start(passage: Passage, start: int) -> int:
    """Return the start of the sentence or item at a position."""
    if passage.whole:
        return start
    begins = [sentence.start for sentence in sentences(passage.text)]
    at = bisect_right(begins, start) - 1
    return begins[at] if at >= 0 else start


def _runs(passages: Sequence[Passage]) -> Iterator[list[int]]:
    """Return the passages of prose, grouped if they are consecutive in a section."""
    prose = [at for at, passage in enumerate(passages) if not passage.whole]
    run: list[int] = []
    for at in sorted(prose, key=lambda at: (passages[at].place or ("", 0), at)):
        if run and not _follow(passages[run[-1]], passages[at]):
            yield run
            run = []
        run.append(at)
    if run:
        yield run


def _follow(before: Passage, after: Passage) -> bool:
    if before.place is None or after.place is None:
        return False
    (document, number), (other, following) = before.place, after.place
    same = document == other and before.section == after.section
    return same and following == number + 1


def _lines(passage: Passage) -> Iterator[tuple[Sentence, SourceLine]]:
    heading = read(passage.heading).folded_line
    language = passage.language or ENGLISH
    end = 0
    for sentence in sentences(passage.text):
        begins = not end or "\n" in passage.text[end : sentence.start]
        line = SourceLine(
            sentence.text, begins, sentence.folded_line in heading, language
        )
        end = sentence.end
        yield sentence, line


def _place(item: EnumerationItem, pieces: Sequence[QuotedPiece]) -> PlacedItem:
    stems, above = (tuple(pieces[at] for at in p) for p in (item.stems, item.above))
    return PlacedItem(stems, item.fragment, above)

"""From a sentence that answers to what is quoted.

A list is quoted with its items, a sentence that leans on the one before with that one.
"""

import re
from collections.abc import Sequence

from elt_llm_query.analysis.definition import list_item
from elt_llm_query.analysis.rule_reference import is_contents, looked_up, stretches
from elt_llm_query.analysis.term_match import vocabulary
from elt_llm_query.analysis.text import Piece, leans, pieces
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage

_ITEM = re.compile(r"^\s*(?:[-*+\u2022\u00b7]|\(?\w{1,5}[.)])\s")
_LONGEST_LIST = 900
_SAME = 0.8


def claim_of(passage: Passage, candidate: Candidate) -> Claim:
    """What is quoted for a candidate."""
    start, end = candidate.start, candidate.end
    if passage.whole:
        said = candidate.said or passage.reading or passage.text
        said = re.sub(r"(?<![.;:,])\s*\n\s*", "; ", said.strip())
    elif item := list_item(passage.text[start:end]):
        # The term's line may carry marks in the file that are not in the text.
        start += item.start
        said = f"{item.term}: {passage.text[start:end]}"
    else:
        start, end = _widened(passage.text, candidate)
        said = passage.text[start:end]
    said = re.sub(r"\s+", " ", said.replace("\t", " | ")).strip()
    return Claim(passage.label, passage.node_id, start, end, said)


def rule_claims(asked: str, passages: Sequence[Passage]) -> list[Claim]:
    """The text of the rule that a question asks to be told, with those below it.

    Of the first form of its number that any passage has; nothing where none has.
    """
    for form in looked_up(asked):
        claims = [
            _rule_claim(passage, start, end)
            for passage in passages
            for start, end in stretches(passage.rules, form, below=True)
        ]
        if claims:
            return [c for c in claims if not is_contents(c.text)] or claims
    return []


def _rule_claim(passage: Passage, start: int, end: int) -> Claim:
    """The whole sentences of the stretch: a part of a rule would not be told as one."""
    inside = [p for p in pieces(passage.text) if start <= p.start < end]
    first, last = (inside[0].start, inside[-1].end) if inside else (start, end)
    said = re.sub(r"\s+", " ", passage.text[first:last]).strip()
    return Claim(passage.label, passage.node_id, first, last, said)


def same_matter(one: Candidate, other: Candidate, passages: Sequence[Passage]) -> bool:
    """True where two candidates overlap, or say nearly the same words."""
    if one.passage == other.passage:
        first, second = (_widened(passages[c.passage].text, c) for c in (one, other))
        if first[0] < second[1] and second[0] < first[1]:
            return True
    a, b = (vocabulary(passages[c.passage].text[c.start : c.end]) for c in (one, other))
    return len(a & b) >= _SAME * min(len(a), len(b))


def _widened(text: str, candidate: Candidate) -> tuple[int, int]:
    all_pieces = pieces(text)
    at = next((i for i, p in enumerate(all_pieces) if p.start == candidate.start), None)
    if at is None:
        return candidate.start, candidate.end
    start = candidate.start
    if at and leans(text[candidate.start : candidate.end]):
        start = all_pieces[at - 1].start
    return start, _list_end(text, all_pieces, at)


def _list_end(text: str, all_pieces: Sequence[Piece], at: int) -> int:
    """The end of the last item where the piece opens a list, else its own end."""
    here = all_pieces[at]
    end = here.end
    if not text[here.start : here.end].endswith(":"):
        return end
    for place, piece in enumerate(all_pieces[at + 1 :]):
        item = bool(_ITEM.match(text[piece.start : piece.end]))
        if piece.end - here.start > _LONGEST_LIST or (place and not item):
            break
        end = piece.end
    return end

"""Questions for what is in a thing: "What does the case contain?".

"The case is behind the stage" tells where it is, and "The van carries: a) a case" what
it is in itself.
"""

import re
from collections.abc import Sequence

from elt_llm_query.analysis.noun_phrases import DETERMINER, NOUNS, PREP
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    lead_text,
)

_VERBS = "contain|include|consist|comprise"
_THING = rf"(?:(?:{DETERMINER})\s+)?(?P<noun>{NOUNS})(?:\s+(?:{PREP})\s[^?]*?)?"
_ASKED = (
    re.compile(
        rf"^\W*what\s+(?:do|does|did|must|may|can|should|shall|will)\s+{_THING}\s+"
        rf"(?:{_VERBS})(?:\s+of)?\W*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\W*what(?:\s+(?:is|are)|['\u2019]s)\s+(?:kept\s+|there\s+)?"
        rf"(?:in|inside)\s+{_THING}\W*$",
        re.IGNORECASE,
    ),
)
# "It is behind the stage", "they are kept in the hall".
PLACED = re.compile(
    r"\b(?:is|are|was|were|lies?|stands?|hangs?)\s+(?:\w+(?:ed|ept|aid|ung)\s+|\w+ly\s+)?"
    r"(?:in|on|at|near|next\s+to|behind|beside|opposite|under|above|below|between"
    r"|inside|outside)\b",
    re.IGNORECASE,
)
# Verbs between a thing and its contents.
_CONTENT = re.compile(
    r"\b(?:(?:contain|includ|consist|compris|compos|hold|list|state|show|cover|mention"
    r"|accompan)\w*|(?:require|describe|give|name|bear|carrie|set)s|specifies"
    r"|carry|has|have|had|mad?e|formed|there\s+(?:is|are)|with)\b",
    re.IGNORECASE,
)
# "Bandages are kept in the case", "needles go into the box".
_INSIDE = re.compile(
    r"\b(?:is|are|was|were|be|goes|go|comes?|put|lies?|stands?|hangs?)\s+"
    r"(?:\w+(?:ed|ept|aid|ung|ut)\s+)?"
    rf"(?:in|into|inside)\s+(?:(?:{DETERMINER})\s+)?(?P<noun>{NOUNS})(?=\W|$)",
    re.IGNORECASE,
)


def drop_other_contents(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates without those that do not tell what is in a thing.

    Args:
        question: The question; only of one for the contents of a thing are any dropped.
        candidates: Pieces of the passages.
        passages: The sources.
    """
    asked = next((m for m in (p.match(question.text) for p in _ASKED) if m), None)
    if asked is None:
        return [*candidates]
    head = stem(words(asked["noun"].lower())[-1])
    return [
        c
        for c in candidates
        if passages[c.passage].whole or _may_tell(head, c, passages)
    ]


def _may_tell(head: str, candidate: Candidate, passages: Sequence[Passage]) -> bool:
    """Return whether a sentence may say what is in a thing with this noun.

    The noun stands before a verb of containing, in the lead-in or in the heading, or
    something is "in" it; "it" may stand for the noun.
    """
    text = candidate.text_in(passages)
    places = (read(m["noun"]).stems for m in _INSIDE.finditer(text))
    if any(match(head, stems) for stems in places):
        return True
    heading = passages[candidate.passage].section.rpartition(">")[2]
    lead = lead_text(candidate, passages)
    if lead and _opens_contents(head, lead, heading):
        return True
    if _CONTENT.search(text) and not lead and read(text).refers_back:
        return True
    return _opens_contents(head, text, heading)


def _opens_contents(head: str, opening: str, heading: str) -> bool:
    """Return whether a noun stands before a verb of containing, or alone in a lead-in.

    A heading may name it instead.
    """
    content = _CONTENT.search(opening)
    if content is None:
        return _is_bare(opening, head)
    before = f"{opening[: content.start()]}\n{heading}"
    return bool(match(head, read(before).stems))


def _is_bare(opening: str, head: str) -> bool:
    """Return whether a lead-in only names the thing: "The first-aid box:"."""
    return opening.rstrip().endswith(":") and bool(
        match(head, frozenset(read(opening).stem_list[-1:]))
    )

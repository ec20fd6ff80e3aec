"""The span to quote for an answering sentence.

A list is quoted with its items, and a sentence that refers back with the one before it.
"""

import re
from collections.abc import Sequence

from elt_llm_query.analysis.definition import list_item
from elt_llm_query.analysis.enumerations import opens_list
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import (
    Sentence,
    read,
    sentence_index,
    sentences,
)
from elt_llm_query.analysis.rule_reference import (
    bare_heading,
    is_contents,
    rule_stretches,
)
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage

_ITEM = re.compile(r"^\s*(?:[-*+\u2022\u00b7]|\(?\w{1,5}[.)])\s")
_LONGEST_LIST = 900  # characters; longer lists are cut after a whole item
_SAME = 0.8  # shared stems of the shorter sentence that make two equivalent


def claim_of(passage: Passage, candidate: Candidate) -> Claim:
    """Return the quote for a candidate."""
    start, end = candidate.start, candidate.end
    if passage.whole:
        wording = candidate.wording or passage.reading or passage.text
        wording = re.sub(r"(?<![.;:,])\s*\n\s*", "; ", wording.strip())
    elif item := list_item(passage.text[start:end]):
        # The line of a term may have markup in the file that the text lacks.
        start += item.start
        wording = f"{item.term}: {passage.text[start:end]}"
    else:
        start, end = _widen(passage.text, candidate)
        wording = passage.text[start:end]
    wording = re.sub(r"\s+", " ", wording.replace("\t", " | ")).strip()
    return Claim(passage.label, passage.node_id, start, end, wording)


def rule_claims(question: QuestionAnalysis, passages: Sequence[Passage]) -> list[Claim]:
    """Return the text of the requested rule, with the rules below it.

    The first form of its number that occurs in a passage is used; empty if none occurs.
    """
    for form in question.rule.whole:
        claims = [
            _rule_claim(passage, start, end)
            for passage in passages
            for start, end in rule_stretches(passage.rules, form, below=True)
        ]
        if claims:
            return [c for c in claims if not is_contents(c.text)] or claims
    return []


def section_claims(
    question: QuestionAnalysis, passages: Sequence[Passage], most: int
) -> list[Claim]:
    """Return the passages of the section that a question names.

    Args:
        question: The question.
        passages: The sources.
        most: Maximum number of passages.
    """
    name = question.section
    if not name:
        return []
    inside = [p for p in passages if bare_heading(p.section) == name and not p.sheet]
    claims = [_section_claim(passage, name) for passage in inside[:most]]
    return [claim for claim in claims if claim.text]


def _section_claim(passage: Passage, name: str) -> Claim:
    """Return a passage without a line that only repeats its heading."""
    first, _, _ = passage.text.partition("\n")
    start = len(first) if bare_heading(first) == name else 0
    text = passage.text[start:]
    start += len(text) - len(text.lstrip())
    wording = re.sub(r"\s+", " ", text).strip()
    return Claim(passage.label, passage.node_id, start, len(passage.text), wording)


def _rule_claim(passage: Passage, start: int, end: int) -> Claim:
    """Return the whole sentences of the span: a rule is not quoted in part."""
    inside = [s for s in sentences(passage.text) if start <= s.start < end]
    first, last = (inside[0].start, inside[-1].end) if inside else (start, end)
    wording = re.sub(r"\s+", " ", passage.text[first:last]).strip()
    return Claim(passage.label, passage.node_id, first, last, wording)


def say_the_same(one: Candidate, other: Candidate, passages: Sequence[Passage]) -> bool:
    """Return whether two candidates overlap or have nearly the same words."""
    if one.passage == other.passage:
        first, second = (_widen(passages[c.passage].text, c) for c in (one, other))
        if first[0] < second[1] and second[0] < first[1]:
            return True
    a, b = (read(c.text_in(passages)).stems for c in (one, other))
    return len(a & b) >= _SAME * min(len(a), len(b))


def drop_bare_leads(
    candidates: Sequence[Candidate], passages: Sequence[Passage]
) -> list[Candidate]:
    """Return the candidates without lead-ins whose list is in another passage.

    "The official events are:" is no answer without its items. A list that can be read
    from the document (`Candidate.below`) is quoted with them.
    """
    return [
        c for c in candidates if c.below or not _is_bare_lead(passages[c.passage], c)
    ]


def _is_bare_lead(passage: Passage, candidate: Candidate) -> bool:
    text = passage.text[candidate.start : candidate.end]
    if passage.whole or not text.rstrip().endswith(":"):
        return False
    return _widen(passage.text, candidate)[1] <= candidate.end


def _widen(text: str, candidate: Candidate) -> tuple[int, int]:
    """Return the span to quote for a sentence of prose."""
    if candidate.exact:
        return candidate.start, candidate.end
    all_sentences = sentences(text)
    at = sentence_index(text, candidate.start)
    if at is None:
        return candidate.start, candidate.end
    start = candidate.start
    if at and read(text[candidate.start : candidate.end]).refers_back:
        start = all_sentences[at - 1].start
    return start, max(candidate.end, _list_end(all_sentences, at))


def _list_end(all_sentences: Sequence[Sentence], at: int) -> int:
    """Return the end of the last item of a list, or of a plain sentence."""
    here = all_sentences[at]
    end = here.end
    after = all_sentences[at + 1].text if at + 1 < len(all_sentences) else ""
    if not here.text.endswith(":") and not opens_list(here.text, after):
        return end
    for place, sentence in enumerate(all_sentences[at + 1 :]):
        item = bool(_ITEM.match(sentence.text))
        if sentence.end - here.start > _LONGEST_LIST or (place and not item):
            break
        end = sentence.end
    return end

"""Find the passage of a source that supports a paraphrased claim."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elt_llm_core.results import Support
from elt_llm_query.analysis.foreign_guards import Languages, languages_of_sentences
from elt_llm_query.analysis.lexicon import EXEMPT
from elt_llm_query.analysis.read_sentence import Sentence, sentences
from elt_llm_query.grounding.agreement import compare
from elt_llm_query.grounding.claim_difference import (
    OPEN_DIFFERENCES,
    ClaimDifference,
    Disagreement,
)
from elt_llm_query.grounding.claim_words import (
    content_words,
    covered_words,
    needed_words,
    split_modal,
)
from elt_llm_query.grounding.left_out_conditions import find_left_out
from elt_llm_query.grounding.quote_match import QuoteMatch
from elt_llm_query.grounding.sources import Offered

LONGEST_PASSAGE = 3  # sentences
_SEMICOLON = re.compile(r";\s+(?=but\b)")
_COMPARED = 4  # passages of a source that are compared word by word
_ITEM = re.compile(r"(?:\(\w{1,4}\)|\w{1,2}[.)]|[-*+\u2022\u2013])\s")
_SAME_MATTER = 0.6  # share of common words from which a difference is a contradiction


def supporting(claim: str, where: Offered, asked: str = "") -> QuoteMatch:
    """Find the passage of one to three sentences that states the claim.

    Args:
        claim: One statement, without labels.
        where: The source that it cites.
        asked: The question, which may state a condition that the claim leaves out.

    Returns:
        `SUPPORTED` with the span of the passage, otherwise `CONTRADICTED` or
        `UNSUPPORTED` with the first difference from the nearest passage, and its
        `open_span` if only the wording differs.
    """
    if not content_words(claim, _languages(_sentences(where), where)):
        return QuoteMatch(Support.UNSUPPORTED, 0.0, reason="it has no content words")
    context = _context(where)
    nearest: _Nearest | None = None
    for share, covered, passage in _rank(claim, where)[:_COMPARED]:
        languages = _languages(passage, where)
        needed = needed_words(claim, context, languages)
        if nearest is not None and not needed <= covered:
            continue  # it lacks a word, and the nearest passage already gave the reason
        texts = [sentence.text for sentence in passage]
        differences = compare(claim, texts, context, languages, asked)
        span = passage[0].start, passage[-1].end
        if not differences:
            return QuoteMatch(Support.SUPPORTED, 1.0, *span)
        one = _Nearest(len(differences), -share, differences, span)
        nearest = min(nearest or one, one, key=lambda n: n[:2])
    if nearest is None:
        return QuoteMatch(Support.UNSUPPORTED, 0.0, reason="the source is empty")
    return _refuse(nearest)


def _refuse(nearest: "_Nearest") -> QuoteMatch:
    """Return the refusal of a claim, by its differences from the nearest passage."""
    is_open = all(d.what in OPEN_DIFFERENCES for d in nearest.differences)
    span = nearest.span if is_open else None
    against = [d for d in nearest.differences if d.kind is Disagreement.CONTRADICTED]
    if against and -nearest.uncovered >= _SAME_MATTER:
        reason, support = against[0].reason, Support.CONTRADICTED
    else:
        reason, support = nearest.differences[0].reason, Support.UNSUPPORTED
    return QuoteMatch(support, 0.0, reason=reason, open_span=span)


def may_support(claim: str, where: Offered) -> bool:
    """Return whether a source contains every word that a claim needs, anywhere."""
    parts = _sentences(where)
    covered = (
        covered_words(claim, one.text, _languages([one], where)) for one in parts
    )
    needed = needed_words(claim, _context(where), _languages(parts, where))
    return needed <= frozenset().union(*covered)


def left_out_condition(
    claim: str, span: tuple[int, int], where: Offered, asked: str
) -> str:
    """Return the opening word of a condition that a verbatim claim leaves out.

    Args:
        claim: One statement.
        span: Its place in the text of the source.
        where: The source.
        asked: The question, which may state the condition.
    """
    for one in _sentences(where):
        covers = span[0] <= one.start and one.end - 1 <= span[1]
        if not covers and one.start < span[1] and span[0] < one.end:
            languages = _languages([one], where)
            if opener := find_left_out(claim, one.text, asked, languages):
                return opener
    return ""


def _languages(passage: Sequence[Sentence], where: Offered) -> Languages:
    """Return the languages whose guards count in some sentences of a source."""
    texts = (one.text for one in passage)
    return languages_of_sentences(texts, where.source.text, where.language)


def verdict_on(question: str, where: Offered, *, says_yes: bool) -> QuoteMatch:
    """Return whether a source supports a bare "Yes" or "No" to a question.

    It supports "Yes" if a passage supports the question as a claim, and "No" if they
    differ only in a "not" of the passage, or in a "need not" if it asks for a duty.
    """
    modal, claim = split_modal(question)
    for _, _, passage in _rank(claim, where)[:1] if question else ():
        texts = [sentence.text for sentence in passage]
        compared = compare(claim, texts, languages=_languages(passage, where))
        differences = [d for d in compared if not d.key or d.key != modal]
        denials = {"not", EXEMPT} if modal == "must" else {"not"}
        denied = bool(differences) and all(d.key in denials for d in differences)
        span = passage[0].start, passage[-1].end
        if (says_yes and not differences) or (not says_yes and denied):
            return QuoteMatch(Support.SUPPORTED, 1.0, *span)
        if denied or not differences:
            reason = "the passage states the opposite"
            return QuoteMatch(Support.CONTRADICTED, 0.0, reason=reason)
    return QuoteMatch(
        Support.UNSUPPORTED, 0.0, reason="no passage supports or contradicts it"
    )


class _Nearest(NamedTuple):
    differing: int
    uncovered: float
    differences: list[ClaimDifference]
    span: tuple[int, int]


Ranked = tuple[float, frozenset[int], Sequence[Sentence]]


def _rank(claim: str, where: Offered) -> list[Ranked]:
    """Return passages with the claim's words in them and their share, highest first.

    A longer passage without further words of the claim is left out, because it could
    only contribute a "not" or a number of another sentence.
    """
    parts = _sentences(where)
    covered = [
        covered_words(claim, one.text, _languages([one], where)) for one in parts
    ]
    every = max(content_words(claim, _languages(parts, where)), 1)
    ranked: list[Ranked] = []
    for size in range(1, LONGEST_PASSAGE + 1):
        for i in range(len(parts) - size + 1):
            words = frozenset().union(*covered[i : i + size])
            inner = (covered[i + 1 : i + size], covered[i : i + size - 1])
            most = max(len(frozenset().union(*part)) for part in inner)
            if size == 1 or len(words) > most:
                ranked.append((len(words) / every, words, parts[i : i + size]))
    for one in _list_items(parts):
        words = covered_words(claim, one.text, _languages([one], where))
        ranked.append((len(words) / every, words, (one,)))
    return sorted(ranked, key=lambda one: (-one[0], len(one[2])))


def _list_items(parts: Sequence[Sentence]) -> Iterator[Sentence]:
    """Return each item of a list joined to its lead-in ("It must:") as one sentence."""
    lead = None
    for part in parts:
        if part.text.endswith(":"):
            lead = part
        elif lead is not None and _ITEM.match(part.text):
            yield Sentence(lead.start, part.end, f"{lead.text} {part.text}")
        else:
            lead = None


def _context(where: Offered) -> str:
    """Return the title, section and other shown context of a source."""
    return f"{where.source.document}. {where.source.section}"


def _sentences(where: Offered) -> Sequence[Sentence]:
    """The sentences of a source; a table row is one, read with its headers."""
    text = where.source.text
    if where.reading:
        return (Sentence(0, len(text), f"{where.reading} {text}"),)
    return tuple(part for one in sentences(text) for part in _clauses(one))


def _clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Split a sentence before "; but", where a new subject begins."""
    start = 0
    for stop in (*_SEMICOLON.finditer(sentence.text), None):
        end = stop.start() if stop else len(sentence.text)
        first, last = sentence.start + start, sentence.start + end
        if last > first:
            yield Sentence(first, last, sentence.text[start:end])
        start = stop.end() if stop else end

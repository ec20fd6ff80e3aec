"""Sentences that hold for a group only, which the question does not name.

"In this population, the maximum is 20" does not answer for everybody, nor does the duty
to appoint a deputy warden answer whether a warden must be appointed. If another
sentence has as many words of the question without the restriction, it is preferred.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from elt_llm_query.analysis.lexicon import NUMBER_WORDS, STOP_WORDS
from elt_llm_query.analysis.noun_phrases import PREP, telling_stems
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import opens_with_group, stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate

# Share of the probability of a restricted sentence that another one must have. The
# scorer does not see the restriction; set by hand, below `CLOSE_SENTENCE` (a half).
COMPARABLE = 1 / 3
_NOUN = re.compile(
    r"\ban?\s+(?P<noun>[^\W\d_][\w-]*)(?:\s+(?P<next>\w+))?", re.IGNORECASE
)

# "Assistance dogs travel free", "Guide dogs may enter"; not "Keep dogs on a lead",
# where a preposition follows.
_OPENING = re.compile(
    r"^\W*(?P<kind>[A-Z][a-z]{2,})\s+(?P<noun>[a-z]{3,}s)\s+"
    rf"(?!(?:{PREP}|and|or|the|an?|that|which|who|whose)\b)[a-z]"
)

# "The fine for dogs", at the end of a question; in a sentence up to the verb.
_ASKED_FOR = re.compile(
    r"\b(?P<noun>[a-z]{3,})\s+for\s+(?P<thing>[^?,;:]+)\?*\s*$", re.IGNORECASE
)
# "For all", "for each of them", "for 2024" cover the thing, or say when.
_FOR_ALL = re.compile(
    r"\s*(?:\d|(?:all|any|every|each|both|everyone|everybody|anyone)\b)", re.IGNORECASE
)
_MOST_WORDS = 4  # of the thing; longer ones are conditions that a sentence may reword


def tells_of_another(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """Return whether a sentence tells what is asked, but for another thing.

    "The fine for a late book is 20 cents" has no word of the dogs in "What is the fine
    for dogs?", nor has its heading.

    Args:
        question: The question.
        candidate: The sentence.
        passages: The sources.
    """
    asked = _ASKED_FOR.search(question.text)
    passage = passages[candidate.passage]
    if asked is None or passage.whole:
        return False
    text = candidate.text_in(passages)
    other = re.search(rf"\b{asked['noun']}\s+for\b", text, re.IGNORECASE)
    if other is None or _FOR_ALL.match(text, other.end()):
        return False
    thing = telling_stems(asked["thing"])
    known = read(f"{passage.section}. {text}").stems
    few = 0 < len(thing) <= _MOST_WORDS
    return few and not any(match(term, known) for term in thing)


def prefer_unrestricted(
    question: QuestionAnalysis,
    good: Sequence[ScoredCandidate],
    passages: Sequence[Passage],
) -> list[ScoredCandidate]:
    """Return the candidates, with a comparable one in place of a restricted first one.

    Args:
        question: The question.
        good: Candidates, best first.
        passages: The sources.
    """
    first = good[0] if good else None
    if first is None or first.sure is None or first.whole:
        return [*good]
    if not is_restricted(question, first.candidate, passages):
        return [*good]
    for other in good[1:]:
        if (
            (other.sure or 0.0) >= COMPARABLE * first.sure
            and other.candidate.own >= first.candidate.own
            and other.candidate.fit >= first.candidate.fit
            and not is_restricted(question, other.candidate, passages)
        ):
            return [other, *(s for s in good if s not in (first, other))]
    return [*good]


def is_restricted(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """Return whether a sentence holds for a kind that the question does not name.

    Args:
        question: The question.
        candidate: The sentence.
        passages: The sources.
    """
    text = candidate.text_in(passages)
    return is_for_some_only(question, candidate, passages) or any(
        _is_modified(noun, question, text) for noun in _nouns(question.text)
    )


def is_for_some_only(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """Return whether it is about a group, or some kind, that the question lacks.

    That is "In this population", or "Assistance dogs" if dogs are asked about.

    Args:
        question: The question.
        candidate: The sentence.
        passages: The sources.
    """
    if has_unnamed_group(question, candidate, passages):
        return True
    opening = _OPENING.match(candidate.text_in(passages))
    if passages[candidate.passage].whole or opening is None:
        return False
    kind, noun = opening["kind"].lower(), opening["noun"]
    # "Which toys are allowed?" asks for the kinds.
    of_kinds = rf"\b(?:which|what|kinds? of)\s+{noun}\b"
    if re.search(of_kinds, question.text, re.IGNORECASE):
        return False
    asked = question.read.lower_words
    return (
        kind not in STOP_WORDS | NUMBER_WORDS.keys()
        and question.weights.get(stem(noun)) == 1
        and noun in asked
        and kind not in asked
        and not match(stem(kind), frozenset(question.weights))
    )


def has_unnamed_group(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """Return whether it begins with "In this population", of another heading.

    Args:
        question: The question; it names the group if it has a word of the heading.
        candidate: The sentence.
        passages: The sources.
    """
    heading = read(passages[candidate.passage].section.rpartition(" > ")[2]).stems
    named = any(
        weight == 1 and match(term, heading)
        for term, weight in question.weights.items()
    )
    return not named and opens_with_group(candidate.text_in(passages))


@lru_cache(maxsize=64)
def _nouns(asked: str) -> tuple[str, ...]:
    """Return each noun that directly follows "a" or "an" and ends its phrase."""
    return tuple(
        phrase["noun"]
        for phrase in _NOUN.finditer(asked)
        if not phrase["next"] or phrase["next"].lower() in STOP_WORDS
    )


def _is_modified(noun: str, question: QuestionAnalysis, text: str) -> bool:
    """Return whether "a warden" of the question is only "a deputy warden" in a text."""
    name = re.escape(noun)
    plain = rf"\b(?:an?|any|each|every|as|as\s+the)\s+{name}s?\b"
    if re.search(plain, text, re.IGNORECASE):
        return False
    modified = rf"\ban?\s+(?P<word>[^\W\d_][\w-]*)\s+{name}\b"
    return any(
        phrase["word"].lower() not in STOP_WORDS
        and not match(stem(phrase["word"]), frozenset(question.weights))
        for phrase in re.finditer(modified, text, re.IGNORECASE)
    )

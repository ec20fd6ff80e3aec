"""Does a sentence negate what its question negates, and nothing else that it names?

"A rider who is insured" is not "a rider who is not insured", and "an unlicensed pilot"
is one "without a licence".
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from elt_llm_query.synthesizers.negations import (
    OPPOSITE,
    Sign,
    Signed,
    bases,
    denies,
    prefixed,
    signed,
    signs_of,
)
from elt_llm_query.synthesizers.question import Form, Question
from elt_llm_query.text import stem

# What is not done, or may not be, tells not who does it nor what may be done.
_AFFIRMED = re.compile(
    r"^\W*(?:(?:to|by|from|with|for)\s+)?(?:who|whom|whose|where)\b"
    r"|^\W*(?:what|which)\b.*\b(?:may|can|must|shall|should)\b"
    r"|^\W*which\b.*\b(?:is|are|was|were)\b"
    r"|^\W*what\s+(?:is|are|was|were)\s+(?!(?:the|an?|my|your|this|that)\b|\S+['\u2019]s\b)",
    re.IGNORECASE,
)
_OPPOSITES = {sign: {OPPOSITE[sign]} for sign in (Sign.PLAIN, Sign.NEGATED)}
_DENYING = {**_OPPOSITES, Sign.PLAIN: {Sign.NEGATED, Sign.OPEN}}


def agrees(question: Question, own: str, heading: str, near: str) -> bool:
    """Whether the words of a question are negated in a sentence as they are in it.

    A word that its own text does not hold is looked for in its heading, then near it;
    one that the question negates must stand there, negated.
    """
    asked = signed(question.text)
    told = [signed(own), signed(heading), signed(near)]
    denied = _denied(asked)
    plain = all(sign is Sign.PLAIN for _, sign in asked)
    affirmed = plain and bool(_AFFIRMED.match(question.text))
    wrong = _DENYING if affirmed else _OPPOSITES
    if not all(_stands(term, asked, told, wrong) for term in question.weights):
        return False
    if question.form is Form.YES_NO or not denied:
        return True
    negated = (s for t in question.weights for s in signs_of(t, told[0]))
    return _denied(told[0]) or Sign.NEGATED in negated


def said_otherwise(question: Question, text: str) -> frozenset[str]:
    """Terms of the question that the text has with a prefix, or without theirs."""
    asked, told = signed(question.text), signed(text)
    return frozenset(
        term
        for term in question.weights
        if prefixed(term, told)
        or any(signs_of(base, told) for base in _unprefixed(term, asked))
    )


def _stands(
    term: str, asked: Signed, told: Sequence[Signed], wrong: Mapping[Sign, set[Sign]]
) -> bool:
    """Whether a word of the question stands as it is asked for, or is not there.

    `wrong` tells of a sign in the question which alone may not answer it.
    """
    wanted = {sign for word, sign in asked if stem(word) == term}
    if len(wanted) != 1 or Sign.OPEN in wanted:
        return True
    (sign,) = wanted
    for layer in told:
        if have := signs_of(term, layer):
            return not have <= wrong[sign]
        for base in _unprefixed(term, asked):
            if have := signs_of(base, layer):
                return not have <= wrong[OPPOSITE[sign]]
    return sign is Sign.PLAIN


def _unprefixed(term: str, asked: Signed) -> Iterable[str]:
    """Stems of what a word of the question negates by how it begins."""
    return [base for word, _ in asked if stem(word) == term for _, base in bases(word)]


def _denied(told: Signed) -> bool:
    """True where a verb is denied."""
    return any(sign is Sign.OPEN and denies(word) for word, sign in told)

"""One form for phrases that mean the same: bounds, duties, permissions, negations.

Claim and passage are both rewritten before their words are compared, so a phrase that
is rewritten too freely costs nothing as long as it is rewritten in both.

A duty becomes "must", a permission "may", a prohibition "may not" and an exemption from
a duty `EXEMPT`, which is one word: "need not sign" and "must not sign" have the same
words otherwise.
"""

import re

from elt_llm_query.analysis.lexicon import (
    EXEMPT,
    LOWER_PHRASES,
    NUMBER_WORDS,
    PROVIDED,
    UPPER_PHRASES,
)
from elt_llm_query.analysis.term_match import phrases

_COUNTED = rf"(?:(?<![\d.,])\d[\d.,]*|{'|'.join(NUMBER_WORDS)})"
_TIME = r"(?:\w+ )?(?:minute|hour|day|week|month|year)s?"
_ABOVE = "(?:more|longer|older|greater|higher|above|over)"
_BELOW = "(?:less|fewer|shorter|younger|smaller|lower|below|under)"
_OF_NOUN = "(?:the|an?|that|this|such|his|her|its|their)"
_BE = r"(?:is|are|was|were|be|been)"
_AMID = r"((?:also |only |then |therefore |always |hereby |generally )?)"
_FREE = "allowed|permitted|entitled|eligible|able|free"
_MODALS = "may|shall|can|must|will"
_NOUN = r"(?!more|less|later|one\b|person\b)\w+"
_IF = r"provided(?: that)?(?= (?:the|an?|it|they|he|she|that)\b)"

_BOUNDS = (
    # "80 percent at most" is read as "at most 80 percent".
    (r"((?<![\d.,])\d[\d.,]*(?: ?%| [a-z]+)?) at (?:the )?most\b", r" maximum \1"),
    (r"((?<![\d.,])\d[\d.,]*(?: ?%| [a-z]+)?) at (?:the )?least\b", r" minimum \1"),
    # Elsewhere "over" and "under" denote a place.
    (rf"\b(?:over|above)(?= {_COUNTED}\b)", " more "),
    (rf"\b(?:under|below)(?= {_COUNTED}\b)", " less "),
    (rf"\b(?:{phrases(UPPER_PHRASES)})\b", " maximum "),
    (rf"\b(?:{phrases(LOWER_PHRASES)})\b", " minimum "),
    (rf"\b({_COUNTED}(?: {_TIME})?) or {_ABOVE}\b", r" minimum \1"),
    (rf"\b({_COUNTED}(?: {_TIME})?) or {_BELOW}\b", r" maximum \1"),
)
_NEGATIONS = (
    (r"\bcan\s?not\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"\bby no means\b|\b(?:in|at|under) no \w+\b(?=\W)", " not "),
    (r"\b(not|never|no|neither)\b([^.;]*?),? nor\b", r"\1\2 or"),
    (r"\bnon[- ](?=[a-z])", "not "),
)
_MODALITY = (
    (rf"\b(?:is|are) not {_AMID}(?:required|obliged|obligated) to\b", rf" {EXEMPT} \1"),
    (r"\b(?:do|does) not (?:have|need) to\b", f" {EXEMPT} "),
    (r"\bneed not\b(?! to)", f" {EXEMPT} "),
    (r"\b(?:have|has|need|needs) to\b", "must"),
    (rf"\b(?:is|are) {_AMID}(?:required|obliged|obligated) to\b", r"\1must"),
    (r"\b(?:is|are) to be\b", "must be"),
    (rf"\b(?:is|are) {_AMID}(?:recommended|advised) to\b", r"\1should"),
    (
        rf"\b(?:is|are) {_AMID}(?:prohibited|forbidden|banned|barred) from\b",
        r"may not \1",
    ),
    (rf"\b(?:is|are) {_AMID}(?:prohibited|forbidden) to\b", r"may not \1"),
    (
        rf"\b(?:is|are) (not |never )?{_AMID}(?:{_FREE}) to\b",
        r"\2may \1",
    ),
    (r"\b(?:has|have) the right to\b", "may"),
    (
        rf"\b({_BE}) (?:strictly |expressly )?(?:prohibited|forbidden|banned)\b",
        r"\1 not allowed",
    ),
    (rf"\b({_BE} (?:not )?)permitted\b", r"\1allowed"),
    # "No kite may be launched": "a kite may not be launched"
    (
        rf"\b(?:no ({_NOUN}(?: \w+)?)|no one|no person|nobody) ({_MODALS})\b",
        r"\1 \2 not",
    ),
    (r"\b(?:must|shall|can)(?= (?:not|never)\b)", "may"),
)
_WORDS = (
    (
        rf"\b(?:subject to|{_IF}|on condition that|as long as)(?=\W)",
        PROVIDED,
    ),
    (r"\bevery (?:other|second) (?=day|week|month|year)", "every 2 "),
    (r"\b(?:every|each) (\w+) years?\b", r"every \1 year"),
    (r"\b(?:at once|right away|straight away)\b", "immediately"),
    (r"\bprior to\b", "before"),
    (rf"\bpreceding(?= {_OF_NOUN}\b)", "before"),
    (rf"\bfollowing(?= {_OF_NOUN}\b)", "after"),
    (rf"\b(within {_COUNTED} {_TIME}) of\b", r"\1 after"),
    (r"\bper ?cent\b", "%"),
    (r"\bother than\b", "except"),
    (r"\bhow many\b", "the number of"),
    (r"\bhow much\b", "the amount of"),
    (r"\bin order to\b", "to"),
    (r"\byears old\b", "years of age"),
)
_REWRITES = tuple(
    (re.compile(pattern), by)
    for pattern, by in (*_BOUNDS, *_NEGATIONS, *_MODALITY, *_WORDS)
)


def unify_phrases(text: str) -> str:
    """Return a text with one form for each meaning.

    Args:
        text: A sentence in lower case, as `normalise` returns it.

    Returns:
        The rewritten sentence; it is compared, never shown.
    """
    for pattern, by in _REWRITES:
        text = pattern.sub(by, text)
    return text

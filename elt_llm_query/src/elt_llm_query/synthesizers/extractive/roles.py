"""Questions for the holder of a role: "Who is the chair of the trustees?".

"Above that, the chair of trustees signs as well" names nobody. An answer has a name, or
says what the role is or who has it.
"""

import re
from functools import lru_cache

from elt_llm_query.analysis.definition import TOLD, grade
from elt_llm_query.analysis.lexicon import DAYS, MONTHS, STOP_WORDS
from elt_llm_query.analysis.noun_phrases import AUX, PREP
from elt_llm_query.analysis.read_sentence import read

_NOUN = rf"(?!(?:{PREP}|{AUX}|that|which|who|and|or)\b)[^\W\d_][\w'\u2019-]*"
_NOUNS = rf"{_NOUN}(?:\s+{_NOUN}){{0,3}}"
# "Who is the rent paid to?" and "Who is the first to leave?" ask for no role.
_ROLE = re.compile(
    r"^\W*(?:who(?:\s+(?:is|are|was|were)|['\u2019]s)"
    r"|what(?:\s+(?:is|are|was|were)|['\u2019]s)\s+the\s+names?\s+of)\s+"
    r"(?:the|your|our|their|its)\s+"
    rf"(?P<role>{_NOUNS})(?:\s+(?:of|for|at|in)\s+(?:the\s+|an?\s+)?{_NOUNS})*\W*$",
    re.IGNORECASE,
)
# "the mayor acts as arbitrator", "Ms Lee is the chair", "chaired by"
_HELD = r"\b(?:is|are|was|were|be|as|become|becomes|called)\s+(?:also\s+)?"
_PARTICIPLES = ("ed", "paid", "sent", "given", "held", "made", "kept")


def names_no_holder(question: str, text: str) -> bool:
    """Return whether a question asks who has a role, and a text does not say it.

    Args:
        question: The question.
        text: A sentence, with the one before it if it refers back.
    """
    role = _role(question)
    if not role or grade(role, text) >= TOLD:
        return False
    held = rf"{_HELD}(?:the\s+|an?\s+|our\s+|its\s+)?{re.escape(role)}\b"
    return not (re.search(held, text, re.IGNORECASE) or _has_new_name(question, text))


@lru_cache(maxsize=64)
def _role(question: str) -> str:
    """Return the role whose holder is asked for; empty for other questions."""
    asked = _ROLE.match(question)
    if asked is None or asked["role"].lower().endswith(_PARTICIPLES):
        return ""
    return asked["role"]


def _has_new_name(question: str, text: str) -> bool:
    """Return whether a text has a name that the question lacks.

    The capital of its first word tells nothing, unless the next word has one too.
    """
    form = STOP_WORDS | DAYS | MONTHS
    known = read(question).lower_words | form
    capitals = [
        word[0].isupper() and word.lower() not in known for word in read(text).words
    ]
    return any(capitals[1:])

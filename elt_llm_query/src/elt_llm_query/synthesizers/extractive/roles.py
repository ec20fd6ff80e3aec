"""Questions for the holder of a role: "Who is the chair of the trustees?".

"Above that, the chair of trustees signs as well" names nobody. An answer has a name, or
says what the role is or who has it.
"""

import re
from functools import lru_cache

from elt_llm_query.analysis.definition import TOLD, grade
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    DAYS,
    DETERMINERS,
    MONTHS,
    STOP_WORDS,
)
from elt_llm_query.analysis.noun_phrases import AUX, PREP, PREPOSITIONS
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem

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
# "the mayor acts as arbitrator", "Ms Lee is the chair"
_HELD = r"\b(?:is|are|was|were|be|as|become|becomes|called)\s+(?:also\s+)?"
# "The owner of the process is the finance department"
_IS = (
    r"(?:\s+(?!(?:if|when|that|which|who|and|or)\b)[^\s,;:.]+){0,6}?"
    r"\s+(?:is|are|was|were|be)\s+(?:the|an?|any|one|our|its|their|whoever)\b"
)
# "The committee consists of the chair and the treasurer"
_LISTS = re.compile(r"\b(?:includes?|consists?|comprises?)\b", re.IGNORECASE)
_BELONGS = re.compile(r"\bbelongs?\s+to\b", re.IGNORECASE)
_AGENT = re.compile(r"(?:er|or)$")
_NO_SUBJECT = STOP_WORDS | AUXILIARIES | DETERMINERS | frozenset(PREPOSITIONS.split())
_PARTICIPLES = ("ed", "paid", "sent", "given", "held", "made", "kept")


def names_no_holder(question: str, text: str) -> bool:
    """Return whether a question asks who has a role, and a text does not say it.

    Args:
        question: The question.
        text: A sentence, with the one before it if it refers back.
    """
    role = _role(question)
    if not role or grade(role, text) >= TOLD or _BELONGS.search(text):
        return False
    if _is_plural(role) and not _is_only_subject(role, text):
        return False
    name = _pattern(role)
    held = (
        rf"{_HELD}(?:the\s+|an?\s+|our\s+|its\s+)?{name}\b"
        rf"|\b{name}(?:\s*:|\b{_IS})"
    )
    return not (
        re.search(held, text, re.IGNORECASE)
        or _is_done_by(role, text)
        or _has_new_name(question, text)
    )


def _pattern(role: str) -> str:
    return r"\s+".join(map(re.escape, role.split()))


def _is_plural(role: str) -> bool:
    return bool(re.search(r"[^s\W]s$", role))


def _is_only_subject(role: str, text: str) -> bool:
    """Return whether a text says what the holders do: "The auditors check it".

    Other sentences with a plural may well list the holders.
    """
    article = r"^\W*(?:(?:the|our|your|their|its)\s+)?"
    begins = re.match(rf"{article}{_pattern(role)}\s+(\w+)", text, re.IGNORECASE)
    if begins is None or begins[1].lower() in _NO_SUBJECT:
        return False
    return not _LISTS.search(text)


def _is_done_by(role: str, text: str) -> bool:
    """Return whether a text says who does what the role is named by.

    "The finance department owns the process" names the owner, and "managed by the
    town" the manager; "the chair signs" names nobody.
    """
    head = role.rsplit(maxsplit=1)[-1].lower()
    root = _AGENT.sub("", head)
    verbs = {stem(root), stem(f"{root}e")}
    written = [word.lower() for word in read(text).words]
    before = ["", *written]
    after = [*written[1:], ""]
    for earlier, word, later in zip(before, written, after, strict=False):
        if stem(word) not in verbs or word == head:
            continue
        is_verb = earlier and earlier not in _NO_SUBJECT
        if later == "by" or (is_verb and (root != head or word.endswith(("s", "ed")))):
            return True
    return False


@lru_cache(maxsize=64)
def _role(question: str) -> str:
    """Return the role whose holder is asked for; empty for other questions.

    A contact need not be called so: "Complaints go to the front office".
    """
    asked = _ROLE.match(question)
    role = asked["role"] if asked else ""
    if role.lower().endswith(_PARTICIPLES) or "contact" in role.lower().split():
        return ""
    return role


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

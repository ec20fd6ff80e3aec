"""Questions for the name of the person who has a role, and texts that state one."""

import re

_ROLES = (
    r"(?:head|chief|director|manager|officer|lead|leader|secretary|president|chair"
    r"|chairman|chairwoman|chairperson|minister|clerk|advis[eo]r|curator|warden|author"
    r"|treasurer|principal|dean|mayor|captain|inspector|auditor|editor|registrar"
    r"|supervisor|coordinator|administrator|deputy|bursar|librarian|holder|owner|steward"
    r"|keeper|custodian)"
)
_BY_NAME = re.compile(
    r"^\W*who\s+(?:is|are|was|were)\s+(?:the\s+)?(?P<role>.+?),?\s+by\s+name\W*$"
    r"|^\W*(?:what\s+(?:is|was)\s+)?(?:the\s+)?(?:full\s+|first\s+|last\s+)?name\s+of\s+"
    rf"(?:the\s+)?(?P<other>(?:[\w-]+\s+)*?{_ROLES}\b[^?]*?)\W*$",
    re.IGNORECASE,
)
_TITLE = r"(?:Mr|Mrs|Ms|Mx|Dr|Prof|Sir|Dame)\.?\s+"
_WORD = r"[A-Z][\w'\u2019-]+"
# "Anna Berg", "A. Berg", "Dr Berg", "Ana de la Cruz".
_NAME = (
    rf"(?:{_TITLE}(?:{_WORD}|[A-Z]\.)(?:\s+{_WORD})?"
    rf"|(?:[A-Z]\.\s?)+{_WORD}"
    rf"|{_WORD}(?:\s+(?:[A-Z]\.|de|la|van|von|der|den|bin|al))*\s+{_WORD})"
)
_FULL_NAME = re.compile(_NAME)
_OF_PERSONS = re.compile(
    r"\b(?:name|person|incumbent|contact|member|employee|who)\b", re.IGNORECASE
)


def asked_role(question: str) -> str:
    """Return the role whose holder's name a question asks for; empty for another one.

    "Who is the head of safety by name?", "the name of the treasurer".

    Args:
        question: The question.
    """
    asked = _BY_NAME.match(question)
    return (asked["role"] or asked["other"] or "").strip() if asked else ""


def names_holder(text: str, role: str) -> bool:
    """Return whether a sentence gives a name beside a role.

    "The treasurer is Ada Berg", "Ada Berg, the treasurer"; two roles beside each other
    are no name.

    Args:
        text: The sentence.
        role: The role.
    """
    holder = rf"(?i:{re.escape(role)})"
    after = (
        rf"{holder}(?:\s+(?:of|for)\s+[^.;,]{{1,60}}?)?"
        rf"\s*(?:(?:is|was)\b|[:,(\u2013-]|named|called)\s*{_NAME}"
    )
    before = (
        rf"{_NAME}\s*(?:[,(\u2013-]|(?:is|was|as)\b)\s*"
        rf"(?:(?:the|our|present|current|new)\s+)*{holder}"
    )
    return bool(re.search(after, text) or re.search(before, text))


def is_name_cell(header: str, value: str) -> bool:
    """Return whether a cell of a table has a person's name, by its header and form."""
    named = _OF_PERSONS.search(header) is not None
    return named and _FULL_NAME.fullmatch(value.strip()) is not None

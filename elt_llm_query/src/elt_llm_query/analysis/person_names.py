"""Questions for the name of the person who has a role, and texts that state one."""

import re

from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.noun_phrases import WORD
from elt_llm_query.analysis.stems import stem, words

_ROLES = (
    r"(?:head|chief|director|manager|officer|lead|leader|secretary|president|chair"
    r"|chairman|chairwoman|chairperson|minister|clerk|advis[eo]r|curator|warden|author"
    r"|treasurer|principal|dean|mayor|captain|inspector|auditor|editor|registrar"
    r"|supervisor|coordinator|administrator|deputy|bursar|librarian|holder|owner|steward"
    r"|keeper|custodian)"
)
_BY_NAME = re.compile(
    r"^\W*who\s+(?:is|are|was|were)\s+(?:the\s+)?(?P<role>.+?),?\s+by\s+name\W*$"
    r"|^\W*(?:what\s+(?:is|are|was|were)\s+)?(?:the\s+)?"
    r"(?:(?:full|first|last)\s+)?names?\s+of\s+(?:the\s+)?"
    # "The head office", "the warden's app" are no persons.
    rf"(?P<other>(?:[\w'\u2019-]+\s+)*?{_ROLES}s?"
    r"(?:\s*,[^?]*?|\s+(?:of|for|in|at)\b[^?]*?)?)\W*$",
    re.IGNORECASE,
)
_TITLE = r"(?:Mr|Mrs|Ms|Mx|Dr|Prof|Sir|Dame)\.?\s+"
_CAPITAL = f"[A-Z{''.join(c for c in map(chr, range(0xC0, 0x530)) if c.isupper())}]"
# "Finance Office" is no person.
_ORGANISATION = (
    r"(?!(?:Office|Department|Team|Board|Committee|Council|Desk|Unit|Group|Society"
    r"|Association|Club|Company|Bureau|Agency|Ministry|Division|Section|Service|Services"
    r"|School|University|Institute|Ltd|Limited|Inc|GmbH)\b)"
)
_WORD = rf"{_ORGANISATION}{_CAPITAL}[\w'\u2019-]+"
# "Anna Berg", "A. Berg", "Dr Berg", "Ana de la Cruz".
_NAME = (
    rf"(?:{_TITLE}(?:{_WORD}|{_CAPITAL}\.)(?:\s+{_WORD})?"
    rf"|(?:{_CAPITAL}\.\s?)+{_WORD}"
    rf"|{_WORD}(?:\s+(?:{_CAPITAL}\.|de|la|van|von|der|den|bin|al))*\s+{_WORD})"
)
_IS = r"(?:is|are|was|were|(?:has|have)\s+been)"
_HOLDER = "\0"  # stands for the role in a text
_NAMES_HOLDER = (
    re.compile(
        rf"{_HOLDER}(?:\s+(?:of|for)\s+[^.;,]{{1,60}}?)?\s*"
        rf"(?:{_IS}\b(?:\s+(?:called|named|currently|now)\b)?|[:,(\u2013-]|named|called)"
        rf"\s*{_NAME}"
    ),
    re.compile(
        rf"{_NAME}\s*(?:[,(\u2013-]|(?:{_IS}|as)\b)\s*"
        rf"(?:(?:the|our|present|current|new)\s+)*{_HOLDER}"
    ),
)
_TOKEN = re.compile(WORD)
_ROLE_WORD = re.compile(rf"\b{_ROLES}\b", re.IGNORECASE)
_OF = re.compile(r"\s*,|\s+(?:of|for|in|at)\b", re.IGNORECASE)
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
    marked = _mark_role(text, role)
    return any(pattern.search(marked) for pattern in _NAMES_HOLDER)


def _mark_role(text: str, role: str) -> str:
    """Return a text with a mark for the role, in any inflection: "head of school"."""
    wanted = role_stems(role)
    tokens = [
        (m.start(), m.end(), stem(m[0]))
        for m in _TOKEN.finditer(text)
        if m[0].lower() not in STOP_WORDS
    ]
    for i in range(len(tokens) - len(wanted), -1, -1):
        run = tokens[i : i + len(wanted)]
        if not wanted or [one[2] for one in run] != wanted:
            continue
        start, end = run[0][0], run[-1][1]
        if not re.search(r"[^\w\s'\u2019-]", text[start:end]):
            text = text[:start] + _HOLDER + text[end:]
    return text


def role_stems(role: str) -> list[str]:
    """Return the stems of the words of a role that are no stop words, in order."""
    return [stem(w) for w in words(role) if w.lower() not in STOP_WORDS]


def core_of(role: str) -> str:
    """Return "treasurer" of "treasurer of the club"."""
    return _OF.split(role)[0]


def is_name_cell(header: str, value: str, role: str) -> bool:
    """Return whether a cell has the name of a role's holder, by its header and form.

    Args:
        header: The header of its column: one of names, or with the role.
        value: The cell; below a role the name of another role is no person's.
        role: The role.
    """
    if _FULL_NAME.fullmatch(value.strip()) is None:
        return False
    if _OF_PERSONS.search(header):
        return True
    held = role_stems(core_of(role))
    below = bool(held) and {*held} <= {*role_stems(header)}
    return below and not _ROLE_WORD.search(value)

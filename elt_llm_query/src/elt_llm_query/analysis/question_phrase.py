"""Follow-ups that are only a question phrase: "By when?", "At what cost?".

They ask something else of what the question before says: its clause follows their
phrase. "May a member bring guests? How often?" asks "How often may a member bring
guests?".
"""

import re

from elt_llm_query.analysis.lexicon import AUXILIARIES, STOP_WORDS, TIME_UNITS
from elt_llm_query.analysis.message_form import without_lead
from elt_llm_query.analysis.noun_phrases import stems_of
from elt_llm_query.analysis.stems import words

LONGEST = 7  # words of a phrase; a longer one has a verb of its own
_AUX = "|".join(sorted(AUXILIARIES))
_BEFORE = """
    about after against at before between by during for from in of on since to under
    until upon with within without
    """.split()  # noqa: SIM905 - reads better
# "Who pays?" has a verb; "How come?" and "Why not?" ask for no part of the clause.
_PHRASE = re.compile(
    rf"(?:(?:{'|'.join(_BEFORE)})\s+(?:what|which|whom|whose|when|where|how)\b"
    r"|how\s+(?!come\b|so\b|about\b|to\b)\w+\b"
    rf"|(?:why|when|where)(?=\s*$|\s+(?:{'|'.join(_BEFORE)})\b(?!\s*$)))",
    re.IGNORECASE,
)
_REASON = re.compile(r"\W*why\b", re.IGNORECASE)
_AGENT = re.compile(r"\W*by\s+who(?:m|se)?\b", re.IGNORECASE)
_BE = re.compile(r"\b(?:is|are|was|were|be|been|being)\b", re.IGNORECASE)
_CLAUSE = re.compile(
    rf"\W*(?P<asked>[^,;]*?)\s*\b(?P<verb>{_AUX})\s+(?P<rest>.+?)\W*$", re.IGNORECASE
)
_CONTRACTED = {
    "are": "aren't",
    "can": "can't",
    "do": "don't",
    "does": "doesn't",
    "is": "isn't",
    "may": "can't",
    "must": "mustn't",
    "should": "shouldn't",
    "will": "won't",
}
_NOUN = re.compile(r"(?:how\s+(?:many|much)|what|which)\s+(?P<noun>.+)", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:an?|the|my|your|our|any|every|each|some|no|all|i|we|you|he|she|it|they)\b"
)


def continue_question(message: str, last: str) -> str | None:
    """Return the question of a question phrase about the clause of the question before.

    Args:
        message: The message as it was written, such as "And at what cost?".
        last: The complete question before it.

    Returns:
        A complete question; None if the message is no mere question phrase, asks the
        same again, or the clause cannot stand without what the last question asks for.
    """
    phrase, before = _bare(message), without_lead(last)
    if not is_question_phrase(message) or _opening(before) == _opening(phrase):
        return None
    counted = _NOUN.match(phrase)  # "How many days of leave?" names a thing of its own
    if counted and not stems_of(counted["noun"]) <= stems_of(before):
        return None
    clause = _CLAUSE.match(before)
    if clause is None or (asks_for_agent(phrase) and not _BE.search(clause[0])):
        # "May a member bring guests?" names its agent: "By whom?" is of something else.
        return None
    subject, rest = _complete(clause["asked"], clause["rest"])
    if rest is None:
        return None
    return " ".join(filter(None, (phrase, clause["verb"].lower(), subject, rest))) + "?"


def ask_why_not(last: str) -> str | None:
    """Return "Why are proxies not allowed?" as "Why aren't proxies allowed?", or None.

    Args:
        last: The complete question before, which asked whether something is so.
    """
    clause = re.match(
        rf"\W*(?P<verb>{'|'.join(_CONTRACTED)})\s+(?P<rest>.+?)\W*$",
        without_lead(last),
        re.IGNORECASE,
    )
    if clause is None:
        return None
    return f"Why {_CONTRACTED[clause['verb'].lower()]} {clause['rest']}?"


def is_question_phrase(message: str) -> bool:
    """Return whether a message is a question word with its phrase, without a verb."""
    phrase = _bare(message)
    several = words(phrase.lower())
    is_short = len(several) <= LONGEST and not AUXILIARIES & {*several}
    return bool(is_short and _PHRASE.match(phrase))


def asks_for_reason(question: str) -> bool:
    """Return whether a question begins with "why".

    Args:
        question: The question.
    """
    return bool(_REASON.match(question))


def asks_for_agent(question: str) -> bool:
    """Return whether a question begins with "by whom".

    Args:
        question: The question.
    """
    return bool(_AGENT.match(question))


def _bare(message: str) -> str:
    return without_lead(message).strip(" ?!.")


def _opening(question: str) -> tuple[str, ...]:
    """Return the first two words: "How long?" asks the same as "How long may …?"."""
    return tuple(words(question.lower())[:2])


def _complete(asked: str, rest: str) -> tuple[str, str | None]:
    """Return the subject and the rest of a clause without its question phrase.

    The noun that the question asked for is the subject or the object: "How many shares
    did X buy?". It goes back to its place, except for a measure such as "days".
    """
    several = words(asked.lower())
    noun = _NOUN.match(asked)
    if not several or several[0] in {"why", "when", "where", *_BEFORE}:
        return "", rest
    if noun is None:  # "How often may …?" needs none; "Who may …?" has no subject left
        alone = several[0] == "how" and not rest.endswith(" be")
        return "", rest if alone else None
    named = words(noun["noun"].lower())
    if {*named} <= TIME_UNITS:
        return "", rest
    is_noun = not {*named[:1]} & STOP_WORDS and "if" not in named
    if is_noun and (rest[:1].isupper() or _SUBJECT.match(rest)):
        return "", f"{rest} {noun['noun']}"
    article = "the " if several[0] in {"what", "which"} else ""
    return f"{article}{noun['noun']}", rest if is_noun else None

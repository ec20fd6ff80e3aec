"""Follow-ups that are only a question phrase: "By when?", "At what cost?".

They ask something else of what the question before says: its clause follows their
phrase. "May a member bring guests? How often?" asks "How often may a member bring
guests?".
"""

import re

from elt_llm_query.analysis.lexicon import AUXILIARIES, STOP_WORDS, TIME_UNITS
from elt_llm_query.analysis.message_form import without_lead
from elt_llm_query.analysis.noun_phrases import (
    DETERMINER,
    PREP,
    STOPS,
    WORD,
    stems_of,
)
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
# "Who must sign the form?" and "Who signs the form?"
_WHO_MAY = re.compile(rf"\W*who\s+(?P<verb>{_AUX})\s+(?P<rest>.+?)\W*$", re.IGNORECASE)
_WHO_DOES = re.compile(
    r"\W*who\s+(?P<verb>[a-z]+[^\Ws]s|[a-z]+sses)\s+(?P<rest>.+?)\W*$", re.IGNORECASE
)
# "What must I have signed first?"; "who comes first" and "first week" refer to nothing.
_FIRST = re.compile(
    r"(?P<part>\W*(?:\w+\s+)*?(?:must|have|has|should|need|needs|required)\b.*?)"
    r"\s+(?:first|beforehand|before\s+that)\W*$",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"(?P<part>\W*\w.*?)\s+(?:then|afterwards|after\s+that|next)\W*$", re.IGNORECASE
)
_DO = ("do", "does", "did")
# The subject of "I borrow", "a pupil take out", "the rescue boat refuelled": a pronoun,
# or the words up to one before the end, a particle or another phrase.
_SUBJECT_OF_CLAUSE = re.compile(
    rf"(?P<subject>(?:i|we|you|one|they|he|she|it|somebody|someone)(?=\s)"
    rf"|(?:(?:{DETERMINER})\s+)?(?:{STOPS}{WORD}\s+){{0,2}}?{STOPS}{WORD}"
    rf"(?=\s+{STOPS}{WORD}(?:\W*$|\s+(?:{DETERMINER}|{PREP}|up|out|off|back|down)\b)))",
    re.IGNORECASE,
)
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


def continue_for_actor(message: str, last: str) -> str | None:
    """Return "By when?" after "Who signs the form?" as a question, or None.

    Nothing names who does it, but within one message both ask about one act, so that
    "By when does somebody sign the form?" is meant.

    Args:
        message: A mere question phrase.
        last: The complete question before it, which asks who does something.
    """
    phrase = _bare(message)
    if not is_question_phrase(message) or asks_for_agent(phrase):
        return None
    before = without_lead(last)
    counted = _NOUN.match(phrase)
    if counted and not stems_of(counted["noun"]) <= stems_of(before):
        return None
    if clause := _WHO_MAY.match(before):
        return f"{phrase} {clause['verb'].lower()} somebody {clause['rest']}?"
    if clause := _WHO_DOES.match(before):
        return f"{phrase} does somebody {_infinitive(clause['verb'])} {clause['rest']}?"
    return None


def ask_before(part: str, last: str) -> str | None:
    """Return "What must I sign first?" with the act that it precedes, or None.

    After "How many maps may I borrow?" it asks "What must I sign before I may borrow
    maps?", and "What happens then?" asks for what is after that.

    Args:
        part: A question that ends in "first", "then" or the like.
        last: The complete question before it in the same message.

    Returns:
        A complete question; None if the part does not refer so, or the clause of the
        question before has no certain subject.
    """
    order = _FIRST.match(part) or _THEN.match(part)
    clause = _CLAUSE.match(without_lead(last))
    if order is None or clause is None:
        return None
    asked, rest = clause["asked"], clause["rest"]
    subject, whole = _complete(asked, rest)
    if whole is None:
        return None
    predicate = whole
    if not subject:
        split = _SUBJECT_OF_CLAUSE.match(rest)
        if split is None:
            return None
        subject, predicate = split["subject"], whole[split.end("subject") :].lstrip()
    verb = clause["verb"].lower()
    if verb == "does":
        predicate = re.sub(r"^\w+", lambda m: _third_person(m[0]), predicate)
    verb = "" if verb in _DO else f"{verb} "
    link = "before" if order.re is _FIRST else "after"
    return f"{order['part']} {link} {subject} {verb}{predicate}?"


def refers_to_order(part: str) -> bool:
    """Return whether a question ends in "first" or "then", without what that is."""
    return bool(_FIRST.match(part) or _THEN.match(part))


def _infinitive(verb: str) -> str:
    """Return "carry" of "carries", "pass" of "passes" and "sign" of "signs"."""
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    is_long = re.search(r"(?:ss|ch|sh|x|zz|o)es$", verb)
    return verb[:-2] if is_long else verb.removesuffix("s")


def _third_person(verb: str) -> str:
    """Return "carries" of "carry", "passes" of "pass" and "leaves" of "leave"."""
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|ch|sh|x|z|o)$", verb) else f"{verb}s"


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

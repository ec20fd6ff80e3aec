"""The form of a message: whether it asks, names a thing, has two parts, is English."""

import re
from functools import cache

from elt_llm_core.language.languages import ENGLISH, LANGUAGES
from elt_llm_core.language.stop_words import stop_words
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    INTERROGATIVES,
    QUESTION_WORDS,
    STOP_WORDS,
    TELLING,
)
from elt_llm_query.analysis.noun_phrases import AUX, PREP, telling_words
from elt_llm_query.analysis.stems import words

# "Compare the fees of boats and rafts": these ask without a question word.
_IMPERATIVES = TELLING | frozenset(
    ["give", "compare", "summarise", "summarize", "describe", "explain", "list", "show"]
)
_ASKING = (
    AUXILIARIES | INTERROGATIVES | QUESTION_WORDS | _IMPERATIVES | frozenset(["won't"])
)
_NOT_ENGLISH = re.compile(r"[^\W\d_a-zA-Z]")  # a letter with an accent, another script
# "Who decides?", "When do I pay?": a verb without an object. "Who is eligible?" and
# "Who is Ada?" lack nothing, nor does what one may do: "When can I vote?".
_ONLY_VERB = re.compile(
    rf"^\W*(?:(?:and|but|so|or|then)\b[\s,]*)*(?:"
    r"who(?!\s+(?:is|are|was|were)\s+\w+(?<!ed)(?<!ing)\W*$)"
    rf"(?:\s+(?:{AUX}))?(?:\s+to)?|(?:how|when|where|why)\s+(?!(?:can|could|may)\b)"
    rf"(?:{AUX})\s+(?:i|we|you|one))\s+(?!(?:is|are|was|were)\b)(?-i:[a-z]+)\W*$",
    re.IGNORECASE,
)
_NEXT_PART = re.compile(
    rf"(?:[\s,;]+and|\?|;)\s+(?:also\s+)?(?=(?:(?:{PREP})\s+)?"
    r"(?:what|how|when|where|who|whom|which|why)\b)",
    re.IGNORECASE,
)
# "Is oak heavy, and does it split?": after a question for yes or no, a verb before its
# subject begins another one.
_NEXT_POLAR = re.compile(
    rf"[\s,;]+and\s+(?:also\s+)?(?=(?:{AUX})\s+(?!not\b)\w+\s+\w)", re.IGNORECASE
)
_POLAR = re.compile(rf"^\W*(?:{AUX})\b", re.IGNORECASE)
# "When and where does the committee meet?" asks two things of one clause.
_TWO_WORDS = re.compile(
    r"^\W*(when|where|why|how)\s+and\s+(when|where|why|how)\s+"
    rf"(?P<rest>(?:{AUX})\b(?!.*\s(?:and|;)\s+(?:what|how|when|where|who|which|why)\b).+)$",
    re.IGNORECASE,
)
# "No, I meant the fee.", "Sorry, the fee.", "I meant the fee.", "No, not A but B".
_CORRECTION = re.compile(
    r"^\W*(?:(?:(?:no|sorry|oh|actually|wait|pardon)\b[\s]*[,.;:!\u2013-]\s*)+"
    r"(?:i\s+(?:really\s+|actually\s+)?meant?\b[\s,:]*)?"
    r"|i\s+(?:really\s+|actually\s+)?meant?\b[\s,:]*)"
    r"(?!(?:thanks?|thank\s+you|i\s+see|got\s+it|forget|never\s+mind|ok|okay|fine|right"
    r"|good|great|that['\u2019]s|it['\u2019]s)\b)"
    r"(?:not\s[^,;?]{1,60}?[\s,]+but\s+)?(?P<new>\S.*)$",
    re.IGNORECASE,
)
_ENDS_IN_THAT = re.compile(r"\b(?!so\b)\w+\s+(?:that|this)\W*$", re.IGNORECASE)
_WHY_NOT = re.compile(r"^\W*(?:(?:and|but|so)\b[\s,]*)?why\s+not\W*$", re.IGNORECASE)
_THE_REASON = re.compile(
    r"^\W*(?:(?:and|but|so)\b[\s,]*)?(?:what(?:['\u2019]s|\s+is)\s+the|for\s+what|for"
    r"\s+which)\s+reason(?:\s+for\s+(?:that|this|it))?\W*$",
    re.IGNORECASE,
)
_AND_WORD = re.compile(r"^[\s,;?]*(?:and\s+)?(?:also\s+)?", re.IGNORECASE)
_JOINING = re.compile(
    r"^\W*(?:(?:and|but|so|also|then|ok|okay)\b[\s,]*)+", re.IGNORECASE
)


def asks(message: str) -> bool:
    """Return whether a message has an English verb or other word of questions."""
    written = words(message.lower().replace("\u2019", "'"))
    # "what's", "can't", "don't"
    parts = [p for w in written for p in (*w.split("'"), w.removesuffix("n't"))]
    return bool(_ASKING & {*written, *parts})


def names_nothing(message: str) -> bool:
    """Return whether a question names no thing: "How many are there?", "Who decides?".

    Alone it is complete; after another question it is about what was spoken of.

    Args:
        message: The question.
    """
    telling = telling_words(message)
    verbal = _ONLY_VERB.match(message)
    return asks(message) and (not telling or (len(telling) == 1 and verbal is not None))


def may_be_foreign(message: str) -> bool:
    """Return whether a message has words or letters of another language than English.

    Whether it has a verb is then unknown.
    """
    if _NOT_ENGLISH.search(message):
        return True
    return bool(_foreign_stop_words() & {*words(message.lower())})


@cache
def _foreign_stop_words() -> frozenset[str]:
    lists = (stop_words(code) for code in LANGUAGES if code != ENGLISH)
    foreign = frozenset().union(*lists) - STOP_WORDS
    return frozenset(word for word in foreign if len(word) > 1)  # "class C"


def find_correction(message: str) -> str:
    """Return the thing by which a message corrects the question before.

    Args:
        message: Such as "No, I meant the annual fee." or "Sorry, the day ticket.".

    Returns:
        The thing, "the annual fee"; empty if the message is no correction.
    """
    match = _CORRECTION.match(message)
    return match["new"].strip(" ?!.") if match else ""


def ends_in_that(message: str) -> bool:
    """Return whether the object of a question is "that": "Who decides that?"."""
    return bool(_ENDS_IN_THAT.search(message))


def asks_why_not(message: str) -> bool:
    """Return whether a message only asks for the reason of a refusal: "Why not?"."""
    return bool(_WHY_NOT.match(message))


def asks_for_the_reason(message: str) -> bool:
    """Return whether a message only asks "What is the reason?"."""
    return bool(_THE_REASON.match(message))


def without_lead(question: str) -> str:
    """Return a question without a leading "And" or "But"."""
    lead = _JOINING.match(question)
    rest = question[lead.end() :] if lead else question
    return f"{rest[:1].upper()}{rest[1:]}" if lead and rest else question


def split_parts(question: str) -> tuple[str, ...]:
    """Split a question with two parts, each with its own question word or verb.

    Args:
        question: The question.

    Returns:
        Its parts, each as a question; the question itself if it has one part.
    """
    if both := _TWO_WORDS.match(question):
        return tuple(f"{word.capitalize()} {both['rest']}" for word in both.group(1, 2))
    joints = list(_NEXT_PART.finditer(question))
    if _POLAR.match(question):
        joints += _NEXT_POLAR.finditer(question)
    cuts = sorted({match.start() for match in joints})
    cuts = [cut for cut in cuts if telling_words(question[:cut])][:2]
    if not cuts:
        return (question,)
    edges = zip([0, *cuts], [*cuts, len(question)], strict=True)
    parts = [
        _AND_WORD.sub("", question[start:end]).strip(" ,;?.!") for start, end in edges
    ]
    return tuple(f"{part[:1].upper()}{part[1:]}?" for part in parts)

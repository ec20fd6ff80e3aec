"""Kinds of questions that one sentence cannot answer, and how to rephrase them."""

import re

from elt_llm_query.analysis.lexicon import (
    ATTRIBUTES,
    AUXILIARIES,
    INTERROGATIVES,
    STOP_WORDS,
)
from elt_llm_query.analysis.message_form import may_be_foreign
from elt_llm_query.analysis.noun_phrases import PREP
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.stems import stem, words

# "Is it pro-rated if I join late?": nothing before "it" names what it is. "Is it
# allowed to ..." and "Is it true that ..." name it afterwards.
_NO_REFERENT = re.compile(
    r"^\W*(?:(?:what|when|where|why|who|how)(?:\s+\w+)?\s+)?"
    r"(?:is|are|was|were|does|do|did|can|may|must|shall|should|will|would|has|have)\s+"
    # "Does it snow", "does it take": this "it" refers to nothing.
    r"it\b(?!\s+(?:\w+\s+){1,3}(?:to|that)\b|\s+(?:rain|snow|get|take|matter)\b)",
    re.IGNORECASE,
)
_COMPARING = re.compile(
    r"\bdifferences?\s+between\b|\bin\s+common\b|\bdiffers?\b"
    r"|^\W*compare\b|\bhow\b.*\bcompares?\b|\bcompared\s+(?:to|with)\b"
    r"|\b(?:\w{3,}er|more|less|fewer)\b.*,.*\bor\b",
    re.IGNORECASE,
)
_TWO_PARTS = re.compile(
    r"\band\s+(?:(?:for|in|at|by|to|from)\s+)?(?:what|how|when|where|who|which|why)\b",
    re.IGNORECASE,
)
# Words of a sentence that itself makes a comparison.
_COMPARES = re.compile(
    r"\b(?:differ\w*|than|whereas|while|unlike|both|common|same|compar\w+|contrast)\b",
    re.IGNORECASE,
)
_LISTS = re.compile(r":\s|[;,]\s.*[;,]\s|[;,]\s.*\b(?:and|or)\s")
_LISTING = re.compile(r"^\W*(?:list|name|enumerate)\b", re.IGNORECASE)
# "And for juniors?", "In winter?": a continuation without a verb, of a question that
# is not there.
_JOINED = re.compile(r"^\W*(?:and|but|or)\b(?=.*\w)", re.IGNORECASE)
_PREPOSED = re.compile(rf"^\W*(?:{PREP})\s+(?P<rest>[^?]*)\?\W*$", re.IGNORECASE)
_LONGEST_FRAGMENT = 6  # words
# "Per diem rate?", "Over 60s discount?" name what is asked for: they are keywords.
_LONGEST_REST = 2  # telling words after a preposition
_ATTRIBUTES = frozenset(
    map(stem, [*ATTRIBUTES, *words("rate discount limit charge penalty refund")])
)

NO_REFERENT = 'The question does not say what "it" is; name it.'
FRAGMENT = "The question is a part of a question; ask it in full."
COMPARING = "The question compares things; ask about each by itself."
TWO_PARTS = "The question has two parts; ask each by itself."
LISTING = "The question asks for a list, and no one sentence here gives it."
WHICH_ROW = "Rows of a table may answer; say which row is meant."
COUNTING = "The question asks for a count, and no one sentence here states it."


def lacks_referent(question: QuestionAnalysis) -> bool:
    """Return whether the question contains an "it" without an antecedent."""
    return bool(_NO_REFERENT.match(question.text))


def is_fragment(question: QuestionAnalysis) -> bool:
    """Return whether it continues a question that is not there: "And for juniors?"."""
    asked = question.read
    whole = asked.lower_words & (AUXILIARIES | INTERROGATIVES)
    short = len(asked.words) <= _LONGEST_FRAGMENT
    if not short or whole or may_be_foreign(question.text):
        return False
    if _JOINED.match(question.text):
        return True
    preposed = _PREPOSED.match(question.text)
    return preposed is not None and _names_no_attribute(preposed["rest"])


def _names_no_attribute(rest: str) -> bool:
    telling = [word for word in words(rest.lower()) if word not in STOP_WORDS]
    return len(telling) <= _LONGEST_REST and not _ATTRIBUTES & {*map(stem, telling)}


def why_not_enough(question: QuestionAnalysis, quoted: str) -> str:
    """Return why matching sentences still do not answer a question.

    Args:
        question: The question.
        quoted: The text that would be quoted.

    Returns:
        The reason, as from `why_unanswered`, if the question has two parts, compares
        things that the quote does not compare, or wants a list and gets none.
    """
    reason = why_unanswered(question)
    if reason == COMPARING:
        return "" if _COMPARES.search(quoted) else reason
    if reason == LISTING:
        return "" if _LISTS.search(quoted) else reason
    return reason if reason == TWO_PARTS else ""


def why_unanswered(question: QuestionAnalysis) -> str:
    """Return why one sentence rarely answers a question of its kind.

    Returns:
        A sentence that also suggests a better question, if possible; empty for a
        question that one sentence may answer.
    """
    if lacks_referent(question):
        return NO_REFERENT
    if is_fragment(question):
        return FRAGMENT
    for kind, reason in (
        (_COMPARING, COMPARING),
        (_TWO_PARTS, TWO_PARTS),
        (_LISTING, LISTING),
    ):
        if kind.search(question.text):
            return reason
    counting = question.form is Form.NUMBER and question.counted
    return COUNTING if counting and "how many" in question.text.lower() else ""

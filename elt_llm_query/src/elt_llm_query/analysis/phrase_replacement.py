"""Replaces a phrase of a question; article, verb and unit agree with the new one."""

import re
from dataclasses import dataclass, replace

from elt_llm_query.analysis.named_phrases import CODE, DETERMINER, MORE, PLURAL, Phrase

_BE = "is|are|was|were"
# The auxiliary before a subject, singular and plural; "have" may be the verb: "May I
# have guests?".
_PLURALS = {"is": "are", "was": "were", "does": "do"}
_AUX_BEFORE = re.compile(
    rf"\b(?P<aux>{'|'.join([*_PLURALS, *_PLURALS.values()])})\s+$", re.IGNORECASE
)
Fit = tuple[Phrase, str]
"""A phrase of the question, and its replacement."""


@dataclass(frozen=True)
class FollowUpReading:
    """One reading of a follow-up: the whole question, and its subject.

    `replaced` is the phrase of the question before that the subject replaces.
    """

    question: str
    subject: str
    replaced: str = ""


def replace_phrase(question: str, fit: Fit, named: Phrase) -> FollowUpReading | None:
    """Return the question with one of its phrases replaced.

    Args:
        question: The previous question.
        fit: Its phrase, and the text that takes its place. The article and the verb
            before it agree with the text.
        named: What the follow-up names.

    Returns:
        The reading; None where the text does not fit: "how many" needs a plural.
    """
    slot, text = fit
    many = bool(PLURAL.search(text) or named.unit is not None)
    start, end = slot.start, _end_of_compound(question, slot)
    before = question[:start]
    if re.search(r"\bhow\s+many\s+$", before, re.IGNORECASE) and not many:
        return None
    if slot.article:
        start -= len(slot.article) + 1
        before = question[:start]
    subject = (
        named.text
        if named.text in text and text.startswith(f"{named.preposition} ")
        else DETERMINER.sub("", text, count=1)
    )
    whole = f"{before}{_with_article(slot, text, named, many=many)}{question[end:]}"
    if slot.code or slot.unit is not None or slot.text[:1].isupper():
        was_many = many  # "N3" has no number
    else:
        was_many = bool(PLURAL.search(slot.text))
    if was_many != many:
        whole = _with_auxiliary(whole, before, many=many)
    return FollowUpReading(f"{whole[:1].upper()}{whole[1:]}", subject, slot.text)


def _end_of_compound(question: str, slot: Phrase) -> int:
    """Return the end of a name of which the documents have only a part.

    "Is a rowing boat", "to join the garden club": no verb follows there.
    """
    before = question[: slot.start].lower()
    after = re.match(r"\s+(?-i:[a-z]{3,})(?=\W*$)", question[slot.end :])
    is_noun = re.search(rf"\b(?:{_BE})\s+an?\s+$|\bto\s+\w+\s+(?:an?|the)\s+$", before)
    if after is None or not is_noun or re.search(r"(?:ed|en|t)$", after[0]):
        return slot.end
    return slot.end + after.end()


def _with_article(slot: Phrase, text: str, named: Phrase, *, many: bool) -> str:
    """Return a text with the article that it needs in the place of a phrase."""
    is_indefinite = slot.article in {"a", "an"}
    is_plain = named.article in {"a", "an", "the"} and not text[:1].isupper()
    if named.article and (slot.article or is_plain):
        article = named.article
    elif slot.article in {"a", "an", "the"} and many and named.unit is None:
        article = ""  # "the readings": "And photos?"
    elif is_indefinite and (many or text[:1].isupper()):
        article = ""
    else:
        article = slot.article
    if article in {"a", "an"}:
        article = "an" if text[:1].lower() in "aeiou" else "a"
    return f"{article} {text}" if article else text


def _with_auxiliary(question: str, before: str, *, many: bool) -> str:
    """Return a question in which the auxiliary at the end of `before` agrees."""
    auxiliary = _AUX_BEFORE.search(before)
    if auxiliary is None:
        return question
    pairs = _PLURALS if many else {v: k for k, v in _PLURALS.items()}
    verb = pairs.get(auxiliary["aux"].lower(), auxiliary["aux"])
    at = auxiliary.start()
    return f"{question[:at]}{verb}{question[at + len(auxiliary['aux']) :]}"


def complete_number(named: Phrase, slot: Phrase) -> Fit:
    """Return a number with the limit and unit of the number that it replaces."""
    number = re.search(r"\d+(?:[.,]\d+)*", slot.text)
    if number is None:
        return slot, named.text
    has_limit = re.search(rf"^\D|\b(?:or|and)\s+{MORE}$", named.text, re.IGNORECASE)
    start = slot.start + (0 if has_limit else number.start())
    after = "" if named.unit or not slot.unit else slot.text[number.end() :]
    of = re.search(r"\s+of\s+\w+$", slot.text)
    if of and not after and " of " not in named.text:
        after = of[0]
    return replace(slot, start=start), f"{named.text}{after}"


def complete_code(named: Phrase, slot: Phrase) -> str:
    """Return a code with the noun of the code it replaces: "Grade N4" for "N4"."""
    noun = slot.text.split()[0]
    has_noun = not re.match(CODE, named.text)
    return named.text if has_noun or re.match(CODE, noun) else f"{noun} {named.text}"

"""Follow-ups that name one thing only: "And for Grade N4?", "What about cats?".

The thing replaces the phrase of the same kind in the previous question. The same kind
is determined in three steps, from the most to the least certain:

1. by form: the same last noun ("marriage leave", "compassionate leave"), a number of
   the same unit, a code with the same pattern ("N3", "N4"), another day;
2. by the documents: both are headings of one section or items of one list;
3. by position: the only phrase after the same preposition, or the only one of the same
   number and article. "And the fee?" may ask for an attribute instead, so the documents
   must say of the fee what the question asks.

If a step finds several positions, the reading is uncertain.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from elt_llm_query.analysis.lexicon import AUXILIARIES, DAYS
from elt_llm_query.analysis.named_phrases import (
    NUMBERED,
    Phrase,
    PhraseEvidence,
    find_phrases,
    make_phrase,
)
from elt_llm_query.analysis.noun_phrases import stems_of, telling_stems
from elt_llm_query.analysis.phrase_replacement import (
    Fit,
    FollowUpReading,
    complete_code,
    complete_number,
    replace_phrase,
)

_AUX = "|".join(sorted(AUXILIARIES))
# "How many days of leave", "Which notation": what a question asks for.
_ASKED = re.compile(
    rf"\W*(?:\w+\s+)?(?:how\s+(?:many|much)|which|what|whose)\s+(?!(?:{_AUX})\b)"
    rf"(?:(?!(?:{_AUX})\b)\S+\s+)+",
    re.IGNORECASE,
)
_MEASURES = re.compile(rf"\bhow\s+(?!(?:to|{_AUX})\b)\w", re.IGNORECASE)
_ANY_ROLE = {"", "for", "of", "about"}


def read_follow_up(
    named: Phrase,
    question: str,
    evidence: PhraseEvidence,
    *,
    weak: bool = True,
    parallel: Callable[[str, str], bool] | None = None,
) -> tuple[FollowUpReading, ...]:
    """Insert the thing that a follow-up names into the previous question.

    Args:
        named: What the follow-up names.
        question: The previous question, which is complete.
        evidence: Evidence from the documents that answered it.
        weak: Whether the position alone may determine the kind.
        parallel: Whether the answer said the same of two phrases, given both.

    Returns:
        All readings: one if it is certain, none if nothing fits.
    """
    if named.owned and f"{named.owned} of ".lower() not in question.lower():
        return ()
    slots = find_phrases(question, evidence)
    named = _without_repeated(named, question, slots)
    # "And on Sunday?" replaces what follows "on", if anything does.
    after = [s for s in slots if s.preposition == named.preposition != ""]
    slots = after or slots
    if parallel and (fitting := _by_answer(named, question, slots, parallel)):
        return _fill(question, fitting, named)
    # "And with the chair?" is no other "treasurer"; "for" and "of" say no role.
    if named.preposition not in _ANY_ROLE and not after and not named.is_value:
        return ()
    fits = [_by_form(named, slots, evidence), _by_documents(named, slots, evidence)]
    if weak:
        fits.append(_by_place(named, question, slots, evidence))
    for fitting in fits:
        if fitting:
            return _fill(question, fitting, named)
    return ()


def _fill(
    question: str, fits: Sequence[Fit], named: Phrase
) -> tuple[FollowUpReading, ...]:
    """Return the distinct readings of a question with one of its phrases replaced."""
    readings = (replace_phrase(question, fit, named) for fit in fits)
    return tuple(dict.fromkeys(one for one in readings if one))


def _without_repeated(named: Phrase, question: str, slots: Sequence[Phrase]) -> Phrase:
    """Return "Class 3" of "Class 3 Boat" if the question repeats the rest."""
    match = NUMBERED.match(named.text)
    rest = named.text[match.end() :] if match else ""
    if match is None or not rest:
        return named
    follows = any(question[s.end :].startswith(rest) for s in slots if s.code)
    text = match[0] if follows else named.text
    short = make_phrase(text, 0, len(text), "", named.preposition)
    return replace(short, article=named.article)


def _by_answer(
    named: Phrase,
    question: str,
    slots: Sequence[Phrase],
    parallel: Callable[[str, str], bool],
) -> list[Fit]:
    """Return the phrases of which the answer says the same as of the named one.

    "£8 for the drill, £6 for the saw". A day may follow another preposition, "on
    weekdays", "at weekends", which it then brings along.
    """
    asked = _ASKED.match(question)
    fitting = []
    for slot in slots:
        is_asked = asked is not None and slot.start < asked.end()
        same = slot.preposition == named.preposition
        days = {named.text.lower(), slot.text.lower()} <= DAYS
        if is_asked or slot.kind != named.kind or not (same or days):
            continue
        if not parallel(slot.text, named.text):
            continue
        if same:
            fitting.append((slot, named.text))
            continue
        before = question[: slot.start].rstrip()
        start = slot.start - len(slot.preposition) - 1
        if named.preposition and before.lower().endswith(f" {slot.preposition}"):
            text = f"{named.preposition} {named.text}"
            fitting.append((replace(slot, start=start), text))
    return fitting


def _by_form(
    named: Phrase, slots: Sequence[Phrase], evidence: PhraseEvidence
) -> list[Fit]:
    """Return the phrases with the same form as the named one."""
    if named.unit is not None:
        units = {named.unit, ""}
        numbers = [s for s in slots if s.unit is not None]
        same = [s for s in numbers if s.unit == named.unit]
        loose = [s for s in numbers if named.unit == "" or s.unit in units]
        return [complete_number(named, s) for s in same or loose]
    if named.code:
        return [(s, complete_code(named, s)) for s in slots if s.code == named.code]
    plain = [s for s in slots if not s.kind[0]]
    if " " in named.text:
        fitting = [(s, named.text) for s in plain if s.head == named.head]
        if fitting:
            return fitting
    completed = []
    for slot in plain:
        head = slot.text.split()[-1]
        whole = f"{named.text} {head}"
        if " " in slot.text and named.head != slot.head and evidence.knows(whole):
            completed.append((slot, whole))
    return completed


def _by_documents(
    named: Phrase, slots: Sequence[Phrase], evidence: PhraseEvidence
) -> list[Fit]:
    """Return the phrases that the documents list side by side with the named one."""
    return [(s, named.text) for s in slots if evidence.are_alike(s.text, named.text)]


def _by_place(
    named: Phrase, question: str, slots: Sequence[Phrase], evidence: PhraseEvidence
) -> list[Fit]:
    """Return the phrases after the same preposition, or of the same number and article.

    What the question asks for ("How many days ...") keeps its place. "And the colour?"
    may ask for an attribute of a phrase instead of something like it, so a sentence of
    the documents must say of it what the question asks.
    """
    asked = _ASKED.match(question)
    free = [s for s in slots if asked is None or s.start >= asked.end()]
    alike = [(s, named.text) for s in free if s.kind == named.kind]
    if named.preposition:
        return [fit for fit in alike if fit[0].preposition == named.preposition]
    agreeing = [fit for fit in alike if fit[0].agreement == named.agreement]
    if not agreeing and len(free) == 1:
        agreeing = alike  # "look-up secrets", "the binding code"
    if named.article == "the" and not named.kind[1]:
        agreeing = [fit for fit in agreeing if _has_sentence(fit, question, evidence)]
    # "And children?" after "adults have colds per year" is no other year.
    bare = [fit for fit in agreeing if not fit[0].preposition]
    return (bare or agreeing) if evidence.knows(named.text) else []


def _has_sentence(fit: Fit, question: str, evidence: PhraseEvidence) -> bool:
    """Return whether a sentence says of a phrase what the question asks."""
    slot, text = fit
    others = telling_stems(question) - stems_of(slot.text)
    return evidence.tells(
        text,
        others,
        number=bool(_MEASURES.search(question)),
        first=bool(others) and _is_subject(question, slot),
    )


def _is_subject(question: str, slot: Phrase) -> bool:
    """Return whether a phrase is the subject: it follows the auxiliary verb."""
    before = question[: slot.start].lower().split()
    if slot.article:
        before.pop()
    return bool(before) and before[-1] in AUXILIARIES

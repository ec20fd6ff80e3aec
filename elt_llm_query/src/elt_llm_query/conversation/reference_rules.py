"""Rules that complete a message by what the conversation spoke of before.

If the subject of a message is uncertain, nothing is searched and the reply asks back. A
wrong guess would be answered with quotes that prove something else.
"""

from collections.abc import Sequence
from functools import partial

from elt_llm_core.results import Status
from elt_llm_query.analysis.ellipsis import read_follow_up
from elt_llm_query.analysis.follow_up import (
    Dependence,
    Pointer,
    find_dependence,
    put_referent,
)
from elt_llm_query.analysis.message_form import (
    asks,
    asks_for_the_reason,
    asks_why_not,
    ends_in_that,
    find_correction,
    may_be_foreign,
    names_nothing,
    split_parts,
    without_lead,
)
from elt_llm_query.analysis.named_phrases import find_named
from elt_llm_query.analysis.noun_phrases import stems_of
from elt_llm_query.analysis.phrase_replacement import FollowUpReading
from elt_llm_query.analysis.question_phrase import (
    ask_why_not,
    continue_question,
    is_question_phrase,
)
from elt_llm_query.analysis.referents import (
    NamedThing,
    choose_referent,
    find_candidates,
    has_rival,
)
from elt_llm_query.conversation.asked_check import tells_value_of
from elt_llm_query.conversation.clarifying_reply import as_fragment, ask_back, ask_which
from elt_llm_query.conversation.exchanges import Exchange, last_asked, named_things
from elt_llm_query.conversation.spoken_of import SpokenOf
from elt_llm_query.conversation.understood_message import Understood

_ANSWERED = {Status.ANSWERED, Status.PARTIAL}


def understand_by_rules(message: str, exchanges: Sequence[Exchange]) -> Understood:
    """Return a message with what its words refer to, if that is certain.

    Args:
        message: The message as it was written.
        exchanges: The questions and answers before it, oldest first.
    """
    dependence = find_dependence(message)
    last = last_asked(exchanges)
    if exchanges and (special := _of_special_form(message, last)):
        return special
    if dependence.kind is Pointer.NONE:
        return _of_one_thing(message, exchanges) or _as_written(message, last)
    if not exchanges and dependence.kind is Pointer.PRONOUN and dependence.rival:
        return Understood(message)  # "Where does the Board have its seat?"
    sure = _read(message, dependence, last, weak=False)
    if len(sure) == 1:
        return _take_over(sure[0], last)
    return _refer(message, dependence, last) or _take(
        message,
        dependence,
        last,
        sure or _read(message, dependence, last, weak=True),
    )


def _of_special_form(message: str, last: Exchange | None) -> Understood | None:
    """Return a correction, "Why not?" or a mere question phrase, or None."""
    if last and (thing := find_correction(message)) and not asks(thing):
        return _correct(message, thing, last)
    if last and (asks_why_not(message) or asks_for_the_reason(message)):
        return _ask_reason(message, last)
    if is_question_phrase(message):
        fragment = as_fragment(message)
        return _continue(message, last) or ask_back(message, fragment, ())
    return None


def _correct(message: str, thing: str, last: Exchange) -> Understood:
    """Return the last question about the thing that was meant, if that is certain."""
    fragment = as_fragment(message)
    readings = _read(f"And {thing}?", fragment, last, weak=False)
    readings = readings or _read(f"And {thing}?", fragment, last, weak=True)
    if len(readings) == 1:
        return _take_over(readings[0], last)
    return ask_back(message, fragment, ())


def _ask_reason(message: str, last: Exchange) -> Understood:
    """Return "Why not?" or "What is the reason?" with the clause of the last one."""
    if asks_why_not(message) and len(split_parts(last.question)) == 1:
        question = ask_why_not(last.question)
        if question and _is_whole(last.question):
            things = find_candidates(last.question, last.titles)
            return about_all(question, things)
    fragment = as_fragment(message)
    is_why = asks_for_the_reason(message)
    return (_continue("Why?", last) if is_why else None) or ask_back(
        message, fragment, ()
    )


def _continue(message: str, last: Exchange | None) -> Understood | None:
    """Return "By when?" with the clause of the last question, or None."""
    if last is None or len(split_parts(last.question)) > 1:
        return None
    if not _is_whole(last.question):
        return None
    question = continue_question(message, last.question)
    if question is None:
        return None
    return about_all(question, find_candidates(last.question, last.titles))


def about_all(question: str, things: Sequence[NamedThing]) -> Understood:
    """Return a continued question, the answer to which must be about the things.

    Args:
        question: The question.
        things: What the question before names, the subject first.
    """
    subject, *others = [thing.text for thing in things] or [""]
    return Understood(question, subject=subject, kept=tuple(others), continued=True)


def _as_written(message: str, last: Exchange | None) -> Understood:
    """Return a message that refers to nothing; a mere noun phrase is asked back."""
    if last is None:
        return Understood(without_lead(message))
    if ends_in_that(message) and last.status not in _ANSWERED:
        return ask_back(message, as_fragment(message), ())
    # Only of English, after a question in English, is it known that it asks nothing.
    is_phrase = names_nothing(message) or (
        not asks(message) and not may_be_foreign(message)
    )
    if asks(last.question) and is_phrase:
        return ask_back(message, as_fragment(message), ())
    return Understood(without_lead(message))


def _of_one_thing(message: str, exchanges: Sequence[Exchange]) -> Understood | None:
    """Return the question behind "N5?" or "Compassionate leave?", or None.

    None if the message is complete. A number or code after an earlier question is not.
    """
    named = find_named(message) if exchanges else None
    if named is None:
        return None
    fragment = as_fragment(message)
    last = last_asked(exchanges)
    readings = _read(message, fragment, last, weak=False)
    if not readings and not named.is_value:
        return None
    return _take(message, fragment, last, readings)


def _read(
    message: str, dependence: Dependence, last: Exchange | None, *, weak: bool
) -> tuple[FollowUpReading, ...]:
    """Return the ways to insert the only name of a message into the last question."""
    if last is None:
        return ()
    named = find_named(message)
    question = last.question
    # "its annual return": "And its quarterly return?" means the same owner.
    owner = f" {dependence.words} ".lower()
    again = dependence.possessive and owner in question.lower()
    if not again and dependence.kind not in {Pointer.FRAGMENT, Pointer.BARE_NOUN}:
        return ()
    if named is None or len(split_parts(question)) > 1 or not _is_whole(question):
        return ()
    return read_follow_up(
        named,
        last.question,
        last.evidence(),
        weak=weak,
        parallel=partial(_is_parallel, last),
    )


def _is_parallel(last: Exchange, old: str, new: str) -> bool:
    """Return whether a quote of the last answer says the same of two things.

    It names both, in one list or each beside a value.
    """
    if last.status not in _ANSWERED:
        return False
    return any(
        stems_of(f"{old} {new}") <= stems_of(citation.quote)
        and (
            SpokenOf((citation.quote,)).are_alike(old, new)
            or tells_value_of(last.question, old, new, citation.quote)
        )
        for citation in last.citations
    )


def _is_whole(question: str) -> bool:
    """Return whether a searched question is complete and not itself a follow-up."""
    is_joined = without_lead(question) != question
    return not is_joined and find_dependence(question).kind is not Pointer.FRAGMENT


def _take(
    message: str,
    dependence: Dependence,
    last: Exchange | None,
    readings: Sequence[FollowUpReading],
) -> Understood:
    """Return the only reading of a message; with several, the reply asks back."""
    if len(readings) == 1:
        return _take_over(readings[0], last)
    if readings:
        return ask_which(message, dependence, readings)
    return ask_back(message, dependence, named_things(last))


def _take_over(reading: FollowUpReading, last: Exchange | None) -> Understood:
    """Return a question with one name replaced; its other names stay."""
    question = reading.question.lower()
    things = find_candidates(last.question, last.titles) if last else ()
    kept = [thing.text for thing in things if not thing.owner]
    return Understood(
        reading.question,
        subject=reading.subject,
        in_quote=True,
        kept=tuple(text for text in kept if text.lower() in question),
        replaced=reading.replaced,
    )


def _refer(
    message: str, dependence: Dependence, last: Exchange | None
) -> Understood | None:
    """Return the message with its referents, if they are certain."""
    if dependence.kind is Pointer.FRAGMENT:
        return None
    named = find_candidates(last.question, last.titles) if last else ()
    # Which of several names is a person's is not known.
    unsure = dependence.personal and len(named) > 1
    referent = None if unsure else choose_referent(dependence, named_things(last))
    if dependence.kind is Pointer.BARE_NOUN:
        if not dependence.elliptic and _is_new(dependence, last, referent):
            return Understood(message)
        if referent and not (last and _has_attribute(last, referent, dependence)):
            return None
    if referent is None or (last and _is_doubtful(dependence, last, referent)):
        return None
    question = put_referent(message, dependence, referent.text)
    return Understood(question, subject=referent.text)


def _is_doubtful(words: Dependence, last: Exchange, referent: NamedThing) -> bool:
    """Return whether a pronoun hardly stands for a thing.

    It may stand for the object of the question, or is "it" of "a member who ...".
    """
    if has_rival(words, last.question, referent):
        return True
    noun = referent.text.removeprefix("the ")
    is_it = words.kind is Pointer.PRONOUN and not (words.plural or words.personal)
    return is_it and noun == noun.lower() and last.evidence().has(f"{noun} who")


def _has_attribute(last: Exchange, thing: NamedThing, words: Dependence) -> bool:
    """Return whether the documents speak of "the fee" of a thing.

    If not, "the fee of the thing" would be a guess.
    """
    return last.evidence().is_attribute(
        words.noun, thing.stems, placed=not words.elliptic
    )


def _is_new(
    dependence: Dependence, last: Exchange | None, referent: NamedThing | None
) -> bool:
    """Return whether "the loan period" is a new subject.

    "The fee" occurs in many questions, so one word does not begin a subject.
    """
    if last is None or not all(map(last.mentions, stems_of(dependence.noun))):
        return True
    return referent is None and " " in dependence.noun

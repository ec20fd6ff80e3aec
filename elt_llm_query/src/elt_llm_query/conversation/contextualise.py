"""Turns a message of a conversation into a question that can be understood alone.

If the subject of a message is uncertain, nothing is searched and the reply asks back. A
wrong guess would be answered with quotes that prove something else.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from llama_index.core.llms import LLM
from pydantic import Field
from typing_extensions import override

from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.errors import ModelError
from elt_llm_core.results import Degradation, DegradationKind, Status
from elt_llm_core.strategy import Models, Stage, Strategy
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
from elt_llm_query.conversation.courtesy import find_courtesy
from elt_llm_query.conversation.exchanges import (
    Exchange,
    last_asked,
    named_things,
    write_message,
)
from elt_llm_query.conversation.spoken_of import SpokenOf
from elt_llm_query.grounding.statements import LABEL
from elt_llm_query.llm_calls import (
    Prompted,
    faithful_lines,
    predict_text,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import CONTEXTUALISE

SHORTEST = 3  # characters; shorter rewrites are useless and the message is kept
_ANSWERED = {Status.ANSWERED, Status.PARTIAL}
_SHOWN = 2  # example questions; more would be a long list


@dataclass(frozen=True)
class Understood:
    """The meaning of a message.

    Attributes:
        question: The message as a question that can be understood alone.
        subject: The replacement for words that refer back; the answer must be about it.
            Empty if the message was complete.
        in_quote: Whether each quote, its heading or its title must name the subject;
            otherwise its passage suffices.
        kept: The subject that the question before and this one share; each passage must
            be about it.
        replaced: The phrase of the question before in the place of which it is.
        continued: Whether it asks something else of the clause of the question before.
        unclear: The question that the reply asks back; empty if the message is clear.
        words: The unclear words.
        degradations: Failures on the way.
    """

    question: str
    subject: str = ""
    unclear: str = ""
    words: str = ""
    in_quote: bool = False
    kept: tuple[str, ...] = ()
    replaced: str = ""
    continued: bool = False
    degradations: tuple[Degradation, ...] = ()

    @property
    def is_resolved(self) -> bool:
        """Whether the conversation completed the message."""
        return bool(self.subject) or self.continued


class Contextualiser(ABC):
    """Turns a message and its history into a self-contained question."""

    @abstractmethod
    def contextualise(
        self, message: str, history: Sequence[Message], exchanges: Sequence[Exchange]
    ) -> Understood:
        """Return the meaning of a message.

        Args:
            message: The message as it was written.
            history: The messages before it, oldest first.
            exchanges: The same as questions with the evidence of their answers.
        """


class AsWritten(Contextualiser):
    """Uses every message as it is."""

    @override
    def contextualise(
        self, message: str, history: Sequence[Message], exchanges: Sequence[Exchange]
    ) -> Understood:
        return Understood(message)


class ByRules(Contextualiser):
    """Replaces words that refer back, if their referent is certain."""

    @override
    def contextualise(
        self, message: str, history: Sequence[Message], exchanges: Sequence[Exchange]
    ) -> Understood:
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


class ByModel(Prompted, Contextualiser):
    """Lets a model restate the message; if it fails or invents, rules are used.

    They are also used if the model only repeats an earlier question.
    """

    def __init__(self, llm: LLM, exchanges: int = 0) -> None:
        super().__init__(llm, CONTEXTUALISE)
        self._rules = ByRules()
        self._exchanges = exchanges

    @override
    def contextualise(
        self, message: str, history: Sequence[Message], exchanges: Sequence[Exchange]
    ) -> Understood:
        if not history:
            return self._rules.contextualise(message, history, exchanges)
        kept = history[-2 * self._exchanges :] if self._exchanges else history
        spoken = "\n".join(map(write_message, kept))
        try:
            answer = predict_text(
                self._llm, self._prompt, history=spoken, question=message
            )
        except ModelError as error:
            understood = self._rules.contextualise(message, history, exchanges)
            kind = DegradationKind.STAGE_LEFT_OUT
            note = Degradation(kind=kind, detail=f"contextualise: by rules: {error}")
            return _with(understood, note)
        lines = faithful_lines(f"{spoken}\n{message}", answer, 1)
        question = lines[0] if lines and len(lines[0]) >= SHORTEST else message
        depends = find_dependence(question).kind not in {
            Pointer.NONE,
            Pointer.BARE_NOUN,
        }
        if depends or _repeats(question, message, exchanges):
            return self._rules.contextualise(message, history, exchanges)
        return Understood(question, subject=_new_words(message, question, spoken))


class NoContextualiserOptions(Strategy[Contextualiser]):
    """Messages are searched as they are written."""

    @override
    def build(self, models: Models) -> Contextualiser:
        return AsWritten()


class RulesContextualiserOptions(Strategy[Contextualiser]):
    """Resolve what is certain by rules, and ask back otherwise."""

    @override
    def build(self, models: Models) -> Contextualiser:
        return ByRules()


class ModelContextualiserOptions(Strategy[Contextualiser]):
    """Let a model restate the message from the conversation."""

    exchanges: int = Field(
        default=0, ge=0, le=1000, description="newest ones it reads; 0: all"
    )
    tokens: int = Field(default=120, ge=16, le=1024, description="most of the answer")

    @override
    def build(self, models: Models) -> Contextualiser:
        llm = require_llm(models, "the contextualiser 'model'")
        return ByModel(with_short_answers(llm, self.tokens), self.exchanges)


class AutoContextualiserOptions(ModelContextualiserOptions):
    """By a model where one is configured, else by rules."""

    @override
    def build(self, models: Models) -> Contextualiser:
        return ByRules() if models.llm_for("rewrite") is None else super().build(models)


CONTEXTUALISERS: Stage[Contextualiser] = Stage("contextualisers")


def pairs_of(turns: Sequence[tuple[str, str]]) -> tuple[list[Message], list[Exchange]]:
    """Return the exchanges of a conversation of which only the texts are known.

    Args:
        turns: Questions and answers, oldest first. An answer without a label such as
            [S1] does not count: it is a refusal, or a question that was asked back.
    """
    messages: list[Message] = []
    exchanges: list[Exchange] = []
    for question, text in turns:
        # Its self-contained form is not stored, so it is derived again.
        understood = ByRules().contextualise(question, messages, exchanges)
        is_answered = LABEL.search(text) and not understood.unclear
        status = Status.ANSWERED if is_answered else Status.INSUFFICIENT
        is_courtesy = find_courtesy(question) is not None
        messages += [
            Message(role=Speaker.USER, text=question),
            Message(role=Speaker.ASSISTANT, text=text, status=status),
        ]
        exchanges.append(
            Exchange(
                question=understood.question,
                status=status,
                text=text,
                asked_back=is_courtesy,
                evidence=cache(partial(SpokenOf, (text,))),
            )
        )
    return messages, exchanges


def understand_part(text: str, before: str) -> Understood:
    """Return the meaning of a later part of a message.

    Args:
        text: The part.
        before: The question before it in the same message. It is not answered yet, so
            the part may refer to anything it names.
    """
    if continued := continue_question(text, before):
        return _about_all(continued, find_candidates(before, ()))
    dependence = find_dependence(text)
    if dependence.kind is Pointer.NONE:
        return Understood(text)
    candidates = find_candidates(before, ())
    referent = choose_referent(dependence, candidates)
    if dependence.kind is Pointer.BARE_NOUN and referent is None:
        return Understood(text)
    if dependence.kind is Pointer.FRAGMENT or referent is None:
        return _ask_back(text, dependence, candidates)
    question = put_referent(text, dependence, referent.text)
    return Understood(question, subject=referent.text)


def _continue(message: str, last: Exchange | None) -> Understood | None:
    """Return "By when?" with the clause of the last question, or None."""
    if last is None or len(split_parts(last.question)) > 1:
        return None
    if not _is_whole(last.question):
        return None
    question = continue_question(message, last.question)
    if question is None:
        return None
    return _about_all(question, find_candidates(last.question, last.titles))


def _of_special_form(message: str, last: Exchange | None) -> Understood | None:
    """Return a correction, "Why not?" or a mere question phrase, or None."""
    if last and (thing := find_correction(message)) and not asks(thing):
        return _correct(message, thing, last)
    if last and (asks_why_not(message) or asks_for_the_reason(message)):
        return _ask_reason(message, last)
    if is_question_phrase(message):
        fragment = Dependence(Pointer.FRAGMENT, message.strip().rstrip("?!. "))
        return _continue(message, last) or _ask_back(message, fragment, ())
    return None


def _correct(message: str, thing: str, last: Exchange) -> Understood:
    """Return the last question about the thing that was meant, if that is certain."""
    fragment = Dependence(Pointer.FRAGMENT, message.strip().rstrip("?!. "))
    readings = _read(f"And {thing}?", fragment, last, weak=False)
    readings = readings or _read(f"And {thing}?", fragment, last, weak=True)
    if len(readings) == 1:
        return _take_over(readings[0], last)
    return _ask_back(message, fragment, ())


def _ask_reason(message: str, last: Exchange) -> Understood:
    """Return "Why not?" or "What is the reason?" with the clause of the last one."""
    if asks_why_not(message) and len(split_parts(last.question)) == 1:
        question = ask_why_not(last.question)
        if question and _is_whole(last.question):
            things = find_candidates(last.question, last.titles)
            return _about_all(question, things)
    fragment = Dependence(Pointer.FRAGMENT, message.strip().rstrip("?!. "))
    is_why = asks_for_the_reason(message)
    return (_continue("Why?", last) if is_why else None) or _ask_back(
        message, fragment, ()
    )


def _about_all(question: str, things: Sequence[NamedThing]) -> Understood:
    """Return a continued question, the answer to which must be about the things."""
    subject, *others = [thing.text for thing in things] or [""]
    return Understood(question, subject=subject, kept=tuple(others), continued=True)


def _as_written(message: str, last: Exchange | None) -> Understood:
    """Return a message that refers to nothing; a mere noun phrase is asked back."""
    if last is None:
        return Understood(without_lead(message))
    if ends_in_that(message) and last.status not in _ANSWERED:
        words = message.strip().rstrip("?!. ")
        return _ask_back(message, Dependence(Pointer.FRAGMENT, words), ())
    # Only of English, after a question in English, is it known that it asks nothing.
    is_phrase = names_nothing(message) or (
        not asks(message) and not may_be_foreign(message)
    )
    if asks(last.question) and is_phrase:
        words = message.strip().rstrip("?!. ")
        return _ask_back(message, Dependence(Pointer.FRAGMENT, words), ())
    return Understood(without_lead(message))


def _of_one_thing(message: str, exchanges: Sequence[Exchange]) -> Understood | None:
    """Return the question behind "N5?" or "Compassionate leave?", or None.

    None if the message is complete. A number or code after an earlier question is not.
    """
    named = find_named(message) if exchanges else None
    if named is None:
        return None
    fragment = Dependence(Pointer.FRAGMENT, message.strip().rstrip("?!. "))
    last = last_asked(exchanges)
    readings = _read(message, fragment, last, weak=False)
    if not readings and not named.is_value:
        return None
    return _take(message, fragment, last, readings)


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
        return _ask_which(message, dependence, readings)
    return _ask_back(message, dependence, named_things(last))


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


def _ask_which(
    message: str, dependence: Dependence, readings: Sequence[FollowUpReading]
) -> Understood:
    """Return the reply to a message with several possible meanings."""
    shown = " Or: ".join(reading.question for reading in readings[:_SHOWN])
    reply = f'It is not certain what "{dependence.words}" asks about here. {shown}'
    return Understood(message, "", reply, dependence.words)


def _is_new(
    dependence: Dependence, last: Exchange | None, referent: NamedThing | None
) -> bool:
    """Return whether "the loan period" is a new subject.

    "The fee" occurs in many questions, so one word does not begin a subject.
    """
    if last is None or not all(map(last.mentions, stems_of(dependence.noun))):
        return True
    return referent is None and " " in dependence.noun


def _ask_back(
    message: str, dependence: Dependence, candidates: Sequence[NamedThing]
) -> Understood:
    """Return the reply to a message with uncertain meaning."""
    if dependence.kind is Pointer.FRAGMENT:
        reply = f'It is not certain what "{dependence.words}" asks about here.'
        return Understood(message, "", f"{reply} Ask in full.", dependence.words)
    reply = f'The question does not say what "{dependence.words}" stands for; name it.'
    if dependence.kind is Pointer.BARE_NOUN:  # of nothing that was spoken of
        verb = "are" if dependence.plural else "is"
        examples = [f"What {verb} the {dependence.noun}?"]
    else:
        fitting = [c for c in candidates if c.plural == dependence.plural]
        whole = [c for c in fitting if c.plural or _may_stand_alone(c.text)]
        names = [] if dependence.personal else [c.text for c in whole[:_SHOWN]]
        examples = [put_referent(message, dependence, name) for name in names]
    if examples:
        reply += f" For example: {' Or: '.join(examples)}"
    return Understood(message, "", reply, dependence.words)


def _may_stand_alone(name: str) -> bool:
    """Return whether a singular name needs no article: "the loan", "Acme"."""
    return name.startswith("the ") or name != name.lower()


def _repeats(question: str, message: str, exchanges: Sequence[Exchange]) -> bool:
    """Return whether the rewrite of "And larch?" repeats a question without larch.

    A message without a name ("And how long for that?") may repeat a question.
    """
    if find_named(message) is None:
        return False
    rewritten, asked = stems_of(question), stems_of(message)
    earlier = (stems_of(exchange.question) for exchange in exchanges)
    return bool(asked) and not asked & rewritten and rewritten in earlier


def _new_words(message: str, question: str, spoken: str) -> str:
    """Return the conversation's words that a rewrite has and the message lacks."""
    new = stems_of(question) - stems_of(message)
    added = [
        word
        for word in re.findall(r"[^\W_][\w'\u2019-]*", question)
        if stems_of(word) & new & stems_of(spoken)
    ]
    return " ".join(dict.fromkeys(added))


def _with(understood: Understood, note: Degradation) -> Understood:
    changes: Mapping[str, object] = {"degradations": (*understood.degradations, note)}
    return Understood(**{**understood.__dict__, **changes})

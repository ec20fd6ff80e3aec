"""Turns a message of a conversation into a question that can be understood alone.

The strategies: as it is written, by rules (`reference_rules.py`), or by a model.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from llama_index.core.llms import LLM
from pydantic import Field
from typing_extensions import override

from elt_llm_core.conversation import Message
from elt_llm_core.errors import ModelError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_query.analysis.follow_up import Pointer, find_dependence
from elt_llm_query.analysis.named_phrases import find_named
from elt_llm_query.analysis.noun_phrases import stems_of
from elt_llm_query.conversation.exchanges import Exchange, write_message
from elt_llm_query.conversation.reference_rules import understand_by_rules
from elt_llm_query.conversation.understood_message import Understood
from elt_llm_query.llm_calls import (
    Prompted,
    faithful_lines,
    predict_text,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import CONTEXTUALISE

SHORTEST = 3  # characters; shorter rewrites are useless and the message is kept


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
        return understand_by_rules(message, exchanges)


class ByModel(Prompted, Contextualiser):
    """Lets a model restate the message; if it fails or invents, rules are used.

    They are also used if the model only repeats an earlier question.

    Args:
        llm: The model.
        exchanges: The number of newest ones that it reads; 0 for all.
    """

    def __init__(self, llm: LLM, exchanges: int = 0) -> None:
        super().__init__(llm, CONTEXTUALISE)
        self._exchanges = exchanges

    @override
    def contextualise(
        self, message: str, history: Sequence[Message], exchanges: Sequence[Exchange]
    ) -> Understood:
        if not history:
            return understand_by_rules(message, exchanges)
        kept = history[-2 * self._exchanges :] if self._exchanges else history
        spoken = "\n".join(map(write_message, kept))
        try:
            answer = predict_text(
                self._llm, self._prompt, history=spoken, question=message
            )
        except ModelError as error:
            return _note_failure(understand_by_rules(message, exchanges), error)
        lines = faithful_lines(f"{spoken}\n{message}", answer, 1)
        question = lines[0] if lines and len(lines[0]) >= SHORTEST else message
        depends = find_dependence(question).kind not in {
            Pointer.NONE,
            Pointer.BARE_NOUN,
        }
        if depends or _repeats(question, message, exchanges):
            return understand_by_rules(message, exchanges)
        return Understood(question, subject=_new_words(message, question, spoken))


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


def _note_failure(understood: Understood, error: ModelError) -> Understood:
    """Return what rules understood, with the reason why the model did not."""
    kind = DegradationKind.STAGE_LEFT_OUT
    note = Degradation(kind=kind, detail=f"contextualise: by rules: {error}")
    return replace(understood, degradations=(*understood.degradations, note))


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

"""Steps of a turn that a model takes: summary, clarification, follow-up questions.

Each is off by default. If it fails, its result is left out and a degradation is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.llms import LLM
from llama_index.core.prompts import PromptTemplate

from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.results import QueryResult
from elt_llm_query.analysis.marks import find_invented
from elt_llm_query.analysis.noun_phrases import stems_of
from elt_llm_query.conversation.exchanges import write_message
from elt_llm_query.llm_calls import (
    answer_lines,
    faithful_lines,
    predict_text,
    prose,
    with_short_answers,
)
from elt_llm_query.prompts import CLARIFY, FOLLOW_UPS, SUMMARISE

SUMMARY_TOKENS = 200  # the prompt asks for 120 words
QUESTION_TOKENS = 60  # one short question
# Passages for follow-up questions: enough to mention other subjects of the documents,
# and few for a short prompt.
PASSAGES, PASSAGE_LENGTH = 6, 300


@dataclass(frozen=True)
class ModelSteps:
    """The calls of a conversation to the model of the role `rewrite`."""

    llm: LLM

    def summarise(self, older: Sequence[Message]) -> Message:
        """Return one message that replaces older ones.

        Args:
            older: The older messages, the oldest first.

        Raises:
            ModelError: If the model fails.
        """
        spoken = write_history(older)
        llm = with_short_answers(self.llm, SUMMARY_TOKENS)
        text = prose(predict_text(llm, PromptTemplate(SUMMARISE), history=spoken))
        return Message(role=Speaker.ASSISTANT, text=f"What was said before: {text}")

    def clarify(self, question: str, history: Sequence[Message]) -> str:
        """Return a clarification request; empty if the question is clear.

        Args:
            question: The resolved question.
            history: The messages before it, the oldest first.

        Raises:
            ModelError: If the model fails.
        """
        llm = with_short_answers(self.llm, QUESTION_TOKENS)
        prompt, spoken = PromptTemplate(CLARIFY), write_history(history)
        answer = predict_text(llm, prompt, history=spoken, question=question)
        lines = faithful_lines(f"{spoken}\n{question}", answer, 1)
        return lines[0] if lines and lines[0].endswith("?") else ""

    def follow_ups(
        self, result: QueryResult, history: Sequence[Message], count: int
    ) -> tuple[str, ...]:
        """Return suggested follow-up questions.

        Questions that were already asked, and those with an unknown number or
        identifier, are left out.

        Args:
            result: The answer.
            history: The messages before its question.
            count: Maximum number of questions.

        Raises:
            ModelError: If the model fails.
        """
        spoken = write_history(history)
        passages = "\n".join(
            " ".join(source.text.split())[:PASSAGE_LENGTH]
            for source in result.sources[:PASSAGES]
        )
        values = {"history": spoken, "passages": passages, "answer": result.answer}
        answer = predict_text(
            with_short_answers(self.llm, QUESTION_TOKENS * count),
            PromptTemplate(FOLLOW_UPS),
            question=result.question,
            count=str(count),
            **values,
        )
        shown = "\n".join([result.question, *values.values()])
        asked = {_key(m.text) for m in history} | {_key(result.question)}
        return tuple(
            one
            for one in answer_lines(answer, count)
            if one.endswith("?")
            and _key(one) not in asked
            and not find_invented(shown, one)
        )


def write_history(history: Sequence[Message]) -> str:
    """Return messages in the form for a prompt."""
    return "\n".join(map(write_message, history))


def _key(text: str) -> frozenset[str]:
    """Return the same key for questions with the same words."""
    return stems_of(text)

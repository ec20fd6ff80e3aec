"""The exchanges of a conversation of which only the texts are known."""

from collections.abc import Sequence
from functools import cache, partial

from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.results import Status
from elt_llm_query.conversation.courtesy import find_courtesy
from elt_llm_query.conversation.exchanges import Exchange
from elt_llm_query.conversation.reference_rules import understand_by_rules
from elt_llm_query.conversation.spoken_of import SpokenOf
from elt_llm_query.grounding.statements import LABEL


def exchanges_of(
    turns: Sequence[tuple[str, str]],
) -> tuple[list[Message], list[Exchange]]:
    """Return the exchanges of a conversation of which only the texts are known.

    Args:
        turns: Questions and answers, oldest first. An answer without a label such as
            [S1] does not count: it is a refusal, or a question that was asked back.

    Returns:
        The messages, and the questions with their answers.
    """
    messages: list[Message] = []
    exchanges: list[Exchange] = []
    for question, text in turns:
        # Its self-contained form is not stored, so it is derived again.
        understood = understand_by_rules(question, exchanges)
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

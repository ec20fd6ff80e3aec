"""Answer a question with several parts: each by itself, then joined.

A conversation does the same in the steps of its turn (`workflow.py`), after it has
resolved the message by its history.
"""

from collections.abc import Callable, Sequence

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import QueryResult, ReplyKind
from elt_llm_core.store import Store
from elt_llm_query.conversation.join import join_results
from elt_llm_query.conversation.later_parts import (
    understand_first,
    understand_part,
    with_owner,
)
from elt_llm_query.conversation.subject_check import SubjectCheck
from elt_llm_query.conversation.turn_outcome import refuse, without_search
from elt_llm_query.conversation.understood_message import Understood


def answer_parts(
    question: str,
    parts: Sequence[str],
    ask: Callable[[str], QueryResult],
    store: Store,
    config: RagConfig,
) -> QueryResult:
    """Answer each part of a question, the later ones in the light of those before.

    Args:
        question: The question.
        parts: Its parts, each as a question; see `split_parts`.
        ask: Answers a question that can be understood alone.
        store: The data root.
        config: The settings of the run.

    Returns:
        One result. A part that is refused says so with its question, and a part whose
        pronoun has no certain meaning is refused without a search.

    Raises:
        EltLlmError: The error of `ask`.
    """
    subjects = SubjectCheck(store, (), config.conversation.sure)
    understood = [understand_first(parts[0])]
    for text in parts[1:]:
        understood.append(understand_part(text, understood[-1].question))
    results: list[QueryResult] = []
    for part in understood:
        if part.unclear:
            settings = config.hash("models", "query")
            kind = ReplyKind.CLARIFICATION
            results.append(without_search(part.question, part.unclear, kind, settings))
        else:
            results.append(_answer_part(part, results[-1:], ask, subjects))
    return join_results(results).model_copy(update={"question": question})


def _answer_part(
    part: Understood,
    before: Sequence[QueryResult],
    ask: Callable[[str], QueryResult],
    subjects: SubjectCheck,
) -> QueryResult:
    """Return the answer to a part, or its refusal if it is about something else."""
    result = ask(part.question)
    reply, words = subjects.find_fault(part, result, *before)
    if reply and part.fuller:
        fuller = with_owner(part)
        other = ask(fuller.question)
        again, words = subjects.find_fault(fuller, other, *before)
        return refuse(other, again, words) if again else other
    return refuse(result, reply, words) if reply else result

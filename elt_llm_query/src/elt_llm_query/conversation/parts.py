"""Answer a question with several parts: each by itself, then joined.

A conversation does the same in the steps of its turn (`workflow.py`), after it has
resolved the message by its history.
"""

from collections.abc import Callable, Sequence

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import QueryResult, ReplyKind
from elt_llm_core.store import Store
from elt_llm_query.conversation.join import join_results
from elt_llm_query.conversation.reference_rules import understand_part
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
    """Answer each part of a question by itself.

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
    understood = [Understood(parts[0])]
    for text in parts[1:]:
        understood.append(understand_part(text, understood[-1].question))
    results = []
    for part in understood:
        if part.unclear:
            settings = config.hash("models", "query")
            kind = ReplyKind.CLARIFICATION
            result = without_search(part.question, part.unclear, kind, settings)
        else:
            result = ask(part.question)
            reply, words = subjects.find_fault(part, result)
            result = refuse(result, reply, words) if reply else result
        results.append(result)
    return join_results(results).model_copy(update={"question": question})

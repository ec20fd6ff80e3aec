"""Questions about an enterprise model, answered exactly from its graph, or refused.

A question is answered if every word of it is understood: names of elements and types,
and words of one intent. An unknown word would be a condition that the answer ignores,
so the question is refused and left to the document search.
"""

from elt_llm_core.graph.graph_records import GraphAnswer
from elt_llm_core.graph.model_graph import ModelGraph
from elt_llm_core.graph.question_intents import Attempt
from elt_llm_core.graph.question_reader import QuestionReader

REFUSAL = "This question cannot be answered exactly from the model."


class GraphQuestions:
    """Answers questions about one model.

    Args:
        graph: The model.
    """

    def __init__(self, graph: ModelGraph) -> None:
        self._graph = graph
        self._reader = QuestionReader(graph.model)

    def answer(self, question: str) -> GraphAnswer:
        """Answer a question, or refuse it.

        Args:
            question: In English.

        Returns:
            The answer with its elements and relations; `status` is "refused" if a word
            of the question is not understood.
        """
        for reading in self._reader.read(question):
            attempt = Attempt(self._graph, reading)
            for rule in attempt.rules():
                answer = rule()
                if answer is not None:
                    return answer
        return GraphAnswer(question=question, status="refused", text=REFUSAL)

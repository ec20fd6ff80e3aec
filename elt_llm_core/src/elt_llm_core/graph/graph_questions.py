"""Questions about an enterprise model, answered exactly from its graph, or refused.

A question is answered if every word of it is understood: names of elements and types,
and words of one intent. An unknown word would be a condition that the answer ignores,
so the question is refused and left to the document search.
"""

import re
from collections.abc import Sequence

from elt_llm_core.graph.graph_records import GraphAnswer
from elt_llm_core.graph.model_graph import ModelGraph
from elt_llm_core.graph.question_intents import Attempt
from elt_llm_core.graph.question_reader import QuestionReader

_MOST_CANDIDATES = 8
_CAPITALISED = re.compile(r"(?<=\s)[A-Z]\w+")  # the first word has a capital anyway
REFUSAL = "This question cannot be answered exactly from the model."


class GraphQuestions:
    """Answers questions about one model.

    Args:
        graph: The model.
    """

    def __init__(self, graph: ModelGraph) -> None:
        self._graph = graph
        self._reader = QuestionReader(graph.model)
        self._elements = {element.id: element for element in graph.model.elements}

    def answer(self, question: str) -> GraphAnswer:
        """Answer a question, or refuse it.

        Args:
            question: In English.

        Returns:
            The answer with its elements and relations; `status` is "refused" if a word
            of the question is not understood.
        """
        several: dict[tuple[str, ...], None] = {}
        for reading in self._reader.read(question):
            several |= {m.ids: None for m in reading.mentions if len(m.ids) > 1}
            attempt = Attempt(self._graph, reading)
            for rule in attempt.rules():
                answer = rule()
                if answer is not None:
                    return answer
        causes = [*map(self._name_candidates, several)] or self._name_parts(question)
        text = " ".join([REFUSAL, *causes])
        return GraphAnswer(question=question, status="refused", text=text)

    def _name_parts(self, question: str) -> list[str]:
        """Return the longer names, and the domain, that a capitalised word is in."""
        causes = []
        for word in _CAPITALISED.findall(question):
            key = word.casefold()
            names = [
                e.name
                for e in self._elements.values()
                if e.type != "Folder" and key in e.name.casefold().split()
            ]
            in_domain = any(e.domain.casefold() == key for e in self._elements.values())
            if not names and not in_domain:
                continue
            shown = ", ".join(list(dict.fromkeys(names))[:_MOST_CANDIDATES])
            more = ", …" if len(set(names)) > _MOST_CANDIDATES else ""
            domain = (
                f"; it is also a domain: elt-llm graph list --domain {word}"
                if in_domain
                else ""
            )
            part = (
                f"is part of other names: {shown}{more}" if names else "is no element"
            )
            causes.append(f"{word!r} {part}{domain}.")
        return causes

    def _name_candidates(self, ids: Sequence[str]) -> str:
        """Return what a name that several elements share may mean."""
        elements = [self._elements[key] for key in ids]
        listed = [f"{e.type} in {e.domain}" if e.domain else e.type for e in elements]
        shown = ", ".join(dict.fromkeys(listed[:_MOST_CANDIDATES]))
        more = ", …" if len(listed) > _MOST_CANDIDATES else ""
        return (
            f"{elements[0].name!r} is the name of {len(elements)} elements: {shown}"
            f"{more}; write the type before the name."
        )

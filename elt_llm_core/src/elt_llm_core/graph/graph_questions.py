"""Questions about an enterprise model, answered exactly from its graph, or refused.

A question is answered if every word of it is understood: names of elements and types,
labels of relations, names of properties, and words of one intent. An unknown word would
be a condition that the answer ignores, so the question is refused and left to the
document search.
"""

from collections.abc import Iterator, Sequence

from elt_llm_core.graph.graph_records import GraphAnswer
from elt_llm_core.graph.label_intents import LabelAttempt, describe_words
from elt_llm_core.graph.label_words import BE, PREPOSITIONS, LabelVocabulary
from elt_llm_core.graph.model_graph import ModelGraph
from elt_llm_core.graph.question_intents import Attempt, Intent
from elt_llm_core.graph.question_reader import QuestionReader, QuestionReading
from elt_llm_core.graph.question_words import FUNCTION_WORDS, INTENT_WORDS, base_form
from elt_llm_core.graph.shared_elements import group_shared

_MOST_CANDIDATES = 8
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
        self._vocabulary = LabelVocabulary(graph.model.elements, graph.model.relations)

    def answer(self, question: str) -> GraphAnswer:
        """Answer a question, or refuse it.

        Labels and properties of the model come first where they give an answer: what it
        draws as "holds" is meant by "hold", not the contents of a group.

        Args:
            question: In English.

        Returns:
            The answer with its elements and relations; `status` is "refused" if a word
            of the question is not understood, or the model has nothing of what is asked
            for. In that case `kind` is the kind of the question, and `text` says what
            the model has instead.
        """
        readings = list(self._reader.read(question))
        without: GraphAnswer | None = None
        for intent in self._intents(question, readings):
            answer = intent()
            if answer is not None and answer.status == "answered":
                return answer
            without = without or answer
        if without is not None:
            return without
        text = " ".join([REFUSAL, *self._causes(readings)])
        return GraphAnswer(question=question, status="refused", text=text)

    def _intents(
        self, question: str, readings: Sequence[QuestionReading]
    ) -> Iterator[Intent]:
        labelled = [*self._reader.read_labels(question, self._vocabulary.knows)]
        attempts = [
            attempt
            for reading in (*labelled, *readings)
            for attempt in (LabelAttempt(self._graph, reading, self._vocabulary),)
            if attempt.is_possible
        ]
        for attempt in attempts:
            yield from (attempt.by_label, attempt.by_property)
        for reading in readings:
            yield from Attempt(self._graph, reading).rules()
        yield from (attempt.by_column for attempt in attempts)
        yield from (attempt.no_relation for attempt in attempts)

    def _causes(self, readings: Sequence[QuestionReading]) -> list[str]:
        """Return what of a question is not understood, and what the model has."""
        reading = max(
            readings, key=lambda r: sum(m.end - m.start for m in r.mentions if m.ids)
        )
        words = self._words(reading)
        parts = {w: part for w in words if (part := self._name_part(w))}
        unknown = [w for w in words if not self._is_known(w) and w not in parts]
        causes = []
        if unknown:
            causes.append(f"Not understood: {', '.join(map(repr, unknown))}.")
        elif words and not parts:
            listed = ", ".join(map(repr, words))
            causes.append(f"No kind of question has these words like this: {listed}.")
        several = {
            m.ids: None
            for r in readings
            for m in r.mentions
            if len(group_shared(map(self._graph.reference, m.ids))) > 1
        }
        causes += map(self._name_candidates, several)
        for mention in reading.mentions:
            elements = [self._elements[key] for key in mention.ids]
            if elements:
                words_of_it = describe_words(self._graph, elements, self._vocabulary)
                causes.append(words_of_it)
        return [*causes, *parts.values()]

    def _words(self, reading: QuestionReading) -> list[str]:
        """Return the words, as written, that are no name, type or function word."""
        inside = {i for m in reading.mentions for i in range(m.start, m.end)}
        return [
            word
            for i, word in enumerate(reading.written)
            if i not in inside | reading.typed
            and word.casefold() not in FUNCTION_WORDS | BE | PREPOSITIONS
        ]

    def _is_known(self, word: str) -> bool:
        plain = word.casefold()
        return (
            plain in INTENT_WORDS
            or base_form(plain) in INTENT_WORDS
            or self._vocabulary.knows(plain)
        )

    def _name_part(self, word: str) -> str:
        """Return the longer names, and the domain, that a capitalised word is in."""
        key = word.casefold()
        if not word[:1].isupper():
            return ""
        elements = self._elements.values()
        names = [
            e.name
            for e in elements
            if e.type != "Folder" and key in e.name.casefold().split()
        ]
        in_domain = any(e.domain.casefold() == key for e in elements)
        if not names and not in_domain:
            return ""
        shown = ", ".join(list(dict.fromkeys(names))[:_MOST_CANDIDATES])
        more = ", …" if len(set(names)) > _MOST_CANDIDATES else ""
        domain = (
            f"; it is also a domain: elt-llm graph list --domain {word}"
            if in_domain
            else ""
        )
        part = f"is part of other names: {shown}{more}" if names else "is no element"
        return f"{word!r} {part}{domain}."

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

"""Builds the answers of one reading of a question about a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from elt_llm_core.enterprise.element_names import UNTYPED
from elt_llm_core.enterprise.model import ModelElement, ModelRelation
from elt_llm_core.graph.graph_records import (
    ElementRef,
    GraphAnswer,
    Neighbor,
    RelationRef,
)
from elt_llm_core.graph.model_graph import ModelGraph
from elt_llm_core.graph.question_reader import CAMEL, QuestionReading
from elt_llm_core.graph.question_words import COUNT_WORDS
from elt_llm_core.graph.shared_elements import group_shared, state_names, state_shared


@dataclass(frozen=True)
class AnswerBuilder:
    """States elements and relations of a model as the answer to a question.

    Args:
        graph: The model.
        reading: The parsed question.
    """

    graph: ModelGraph
    reading: QuestionReading

    @property
    def _subjects(self) -> tuple[ElementRef, ...]:
        ids = (key for mention in self.reading.mentions for key in mention.ids)
        return tuple(map(self.graph.reference, ids))

    @cached_property
    def _elements(self) -> list[ModelElement]:
        """The elements of the first name."""
        return [self.graph.index.elements[i] for i in self.reading.mentions[0].ids]

    @property
    def _name(self) -> str:
        return self._elements[0].name

    @cached_property
    def _direct(self) -> list[ModelRelation]:
        direct = self.graph.index.direct_relations
        return list({x.id: x for e in self._elements for x in direct(e.id)}.values())

    def _of_types(self, among: Iterable[ModelElement]) -> list[ModelElement] | None:
        """Return the elements of the requested types; None without a type."""
        r = self.reading
        if r.types:
            return [e for e in among if e.type in r.types and e.role == "entity"]
        if r.domain:
            return [e for e in among if e.role == "domain"]
        if r.any_type:
            return [e for e in among if e.role == "entity"]
        return None

    def _other_ends(
        self, relations: Sequence[ModelRelation], own: set[str]
    ) -> list[ElementRef]:
        """Return the ends of relations except the element itself, unless both are."""
        ids: dict[str, None] = {}
        for x in relations:
            ends = [x.source.element_id, x.target.element_id]
            ids.update(dict.fromkeys([e for e in ends if e not in own] or ends[:1]))
        return [self.graph.reference(i) for i in ids]

    def _keep_asked(self, refs: Iterable[ElementRef]) -> list[ElementRef]:
        """Return those of the requested types; all without a type."""
        r = self.reading
        return unique_refs(
            ref
            for ref in refs
            if (not r.types or ref.type in r.types)
            and (not r.domain or ref.role == "domain")
        )

    def _relate(
        self,
        kind: str,
        refs: Iterable[ElementRef],
        relations: Sequence[ModelRelation],
        none: str,
        head: str = "",
    ) -> GraphAnswer | None:
        """Return elements of the requested types with the relations to them.

        Returns None if a domain was requested and is not among them.
        """
        r = self.reading
        every = list(refs)
        elements = self._keep_asked(every)
        if r.domain and not elements:
            return None
        if every and not elements:
            return self._only_other_types(kind, every)
        if r.types or r.domain:
            kept = {e.id for e in elements}
            relations = [
                x
                for x in relations
                if {x.source.element_id, x.target.element_id} & kept
            ]
        sentences = " ".join(RelationRef.of(x).text for x in relations)
        if not sentences:
            return self._state_none(kind, none)
        return self._answer(
            kind, head + sentences, elements=elements, relations=relations
        )

    def _neighbors_answer(
        self, kind: str, sentence: str, near: Sequence[Neighbor], none: str
    ) -> GraphAnswer | None:
        every = [n.element for n in near]
        elements = self._keep_asked(every)
        if not elements:
            if self.reading.domain:
                return None
            if every:
                return self._only_other_types(kind, every)
            return self._state_none(kind, none)
        kept = {e.id for e in elements}
        ids = [x.id for n in near if n.element.id in kept for x in n.relations]
        relations = [self.graph.index.relations[key] for key in ids]
        text = sentence.format(state_refs(elements))
        return self._answer(kind, text, elements=elements, relations=relations)

    def _state_none(self, kind: str, text: str) -> GraphAnswer:
        """Return that the model has nothing of what is asked for: no answer.

        A model is not complete. That it has no such relation does not answer a question
        that other sources may answer. Of a count its number is 0.
        """
        number = 0 if self.reading.has(COUNT_WORDS) else None
        answer = self._answer(kind, text, number=number)
        return answer.model_copy(update={"status": "refused"})

    def _only_other_types(self, kind: str, refs: Iterable[ElementRef]) -> GraphAnswer:
        """Return that the related elements have other types than those asked for."""
        names = [CAMEL.sub(" ", kind) for kind in sorted(self.reading.types)]
        asked = " or ".join(names) or ("domain" if self.reading.domain else "element")
        others = ", ".join(dict.fromkeys(ref.label for ref in refs))
        return self._state_none(
            kind, f"In the model this is true of no {asked}, but of others: {others}."
        )

    def _list(self, elements: Sequence[ModelElement], where: str) -> GraphAnswer:
        """Return the number and the names of things, those of several files once."""
        things = group_shared(map(ElementRef.of, elements))
        kind = "count" if self.reading.has(COUNT_WORDS) else "list"
        text = f"{len(things)} {where}: {state_names(things)}.{state_shared(things)}"
        refs = [thing.first for thing in things]
        return self._answer(kind, text, number=len(refs), elements=refs)

    def _list_of_types(
        self, elements: Sequence[ModelElement], where: str
    ) -> GraphAnswer:
        """Return those of the requested types, or that there are only others.

        Where some are drawn without a type, no list of a type is complete.
        """
        asked = self._of_types(elements) or []
        if not asked and elements:
            return self._only_other_types("list", map(ElementRef.of, elements))
        answer = self._list(asked, where)
        untyped = [
            e for e in elements if e.role == "entity" and e.type.casefold() in UNTYPED
        ]
        if not self.reading.types or not untyped or untyped[0] in asked:
            return answer
        names = ", ".join(e.name for e in untyped)
        text = f"{answer.text} Without a type {where}: {names}."
        return answer.model_copy(update={"status": "refused", "text": text})

    def count_answer(self, answer: GraphAnswer) -> GraphAnswer:
        """Return the number of the elements of an answer before its sentences."""
        things = group_shared(answer.elements)
        text = f"{len(things)}: {state_names(things)}.{state_shared(things)}"
        return answer.model_copy(
            update={
                "kind": "count",
                "number": len(things),
                "elements": tuple(thing.first for thing in things),
                "text": f"{text} {answer.text}",
            }
        )

    def _count_relations(
        self,
        what: str,
        *,
        subject: str = "The model",
        relations: Sequence[ModelRelation] = (),
    ) -> GraphAnswer:
        text = f"{subject} has {len(relations)} {what}."
        return self._answer("count", text, number=len(relations), relations=relations)

    def _answer(
        self,
        kind: str,
        text: str,
        *,
        number: int | None = None,
        elements: Iterable[ElementRef] = (),
        relations: Iterable[ModelRelation] = (),
        views: Sequence[str] = (),
    ) -> GraphAnswer:
        return GraphAnswer(
            question=self.reading.text,
            status="answered",
            kind=kind,
            text=text,
            number=number,
            subjects=self._subjects,
            elements=tuple(elements),
            relations=tuple(map(RelationRef.of, {x.id: x for x in relations}.values())),
            views=tuple(views),
        )


def unique_refs(refs: Iterable[ElementRef]) -> list[ElementRef]:
    """Return references to elements, each once.

    Args:
        refs: References in order.
    """
    return list({ref.id: ref for ref in refs}.values())


def state_refs(refs: Iterable[ElementRef]) -> str:
    """Return the names of elements for a sentence, those of several files once.

    Args:
        refs: The elements.
    """
    return state_names(group_shared(refs))

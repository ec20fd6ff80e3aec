"""Results of graph queries: references to elements, and relations as sentences."""

from typing import Literal

from pydantic import Field

from elt_llm_core.enterprise.model import (
    ElementRole,
    ModelElement,
    ModelLocation,
    ModelRelation,
    RelationDirection,
)
from elt_llm_core.enterprise.relation_words import state_relation, words_of
from elt_llm_core.records import Record


class ElementRef(Record):
    """The names of an element, and its location in its file."""

    id: str
    name: str
    type: str = ""
    role: ElementRole = "entity"
    domain: str = ""
    subtype: str = ""
    fact_sheet_id: str = ""
    location: ModelLocation = ModelLocation()

    @classmethod
    def of(cls, element: ModelElement) -> "ElementRef":
        """Return the reference to an element."""
        return cls(**{name: getattr(element, name) for name in cls.model_fields})

    @property
    def label(self) -> str:
        """The name with its type and domain."""
        beside = ", ".join(
            part for part in (self.type, self.domain) if part and part != self.name
        )
        return f"{self.name} ({beside})" if beside else self.name


class RelationRef(Record):
    """A relation with its ends, in words."""

    id: str
    source_id: str
    source: str
    target_id: str
    target: str
    verb: str = Field(description="from source to target")
    inverse: str = Field(description="from target to source")
    name: str = ""
    type: str = ""
    direction: RelationDirection = "none"
    source_cardinality: str = ""
    target_cardinality: str = ""
    source_role: str = ""
    target_role: str = ""
    qualifiers: dict[str, str] = Field(
        default_factory=dict, description="such as accessType: Read"
    )
    text: str = Field(description="the relation as a sentence")
    location: ModelLocation = ModelLocation()

    @classmethod
    def of(cls, relation: ModelRelation) -> "RelationRef":
        """Return the reference to a relation."""
        words = words_of(relation)
        return cls(
            id=relation.id,
            source_id=relation.source.element_id,
            source=relation.source.name,
            target_id=relation.target.element_id,
            target=relation.target.name,
            verb=words.forward,
            inverse=words.inverse,
            name=relation.name,
            type=relation.type,
            direction=relation.direction,
            source_cardinality=relation.source.cardinality,
            target_cardinality=relation.target.cardinality,
            source_role=relation.source.role,
            target_role=relation.target.role,
            qualifiers=relation.properties,
            text=state_relation(relation),
            location=relation.location,
        )

    @property
    def label(self) -> str:
        """The relation as a sentence, its counts and its qualifiers."""
        beside = [self.cardinality] if self.cardinality else []
        beside += [f"{key}: {value}" for key, value in self.qualifiers.items()]
        return f"{self.text} [{'; '.join(beside)}]" if beside else self.text

    @property
    def cardinality(self) -> str:
        """Both counts, source first, `?` for one not stated; empty for neither."""
        counts = (self.source_cardinality, self.target_cardinality)
        return "-".join(c or "?" for c in counts) if any(counts) else ""


class Neighbor(Record):
    """An element some steps away, and the relations of the last step."""

    element: ElementRef
    distance: int = Field(ge=1)
    relations: tuple[RelationRef, ...]


class PathStep(Record):
    """A step to the next element: by relations, or by containment."""

    source: ElementRef
    target: ElementRef
    relations: tuple[RelationRef, ...] = ()
    contained: bool = Field(default=False, description="one contains the other")

    @property
    def text(self) -> str:
        """Return the connection of the two, in sentences."""
        if self.relations:
            return " ".join(r.text for r in self.relations)
        inner, outer = self.source, self.target
        if outer.role == "entity":
            inner, outer = outer, inner
        return f"{inner.name} is in {outer.name}."


class GraphPath(Record):
    """A path from one element to another."""

    steps: tuple[PathStep, ...]

    @property
    def elements(self) -> tuple[ElementRef, ...]:
        """Return every element of the path, both ends included."""
        return (
            *(step.source for step in self.steps[:1]),
            *(step.target for step in self.steps),
        )


class ElementDetail(Record):
    """An element with all of its data."""

    element: ModelElement
    above: tuple[ElementRef, ...] = Field(
        description="the groups around it, innermost first"
    )
    children: tuple[ElementRef, ...]
    relations: tuple[RelationRef, ...] = Field(description="of the element itself")
    inherited: tuple[RelationRef, ...] = Field(
        description="relations of the groups above it"
    )
    views: tuple[str, ...]


class GraphSummary(Record):
    """The number of elements and relations of each type."""

    name: str
    files: tuple[str, ...]
    organisation: str = Field(default="", description="whose the model is")
    elements: int = Field(description="without notes")
    relations: int
    views: int
    skips: int = Field(description="what the files have and the model has not")
    types: dict[str, int]
    roles: dict[str, int]
    domains: dict[str, int] = Field(description="entities in each")
    relation_types: dict[str, int]


class GraphAnswer(Record):
    """An exact answer with its proof in the model, or a refusal."""

    question: str
    status: Literal["answered", "refused"]
    kind: str = Field(default="", description="count, list, relations, path, …")
    text: str
    number: int | None = Field(default=None, description="what a count comes to")
    subjects: tuple[ElementRef, ...] = Field(
        default=(), description="elements that the question names"
    )
    elements: tuple[ElementRef, ...] = Field(default=(), description="the answer")
    relations: tuple[RelationRef, ...] = ()
    views: tuple[str, ...] = Field(default=(), description="names of diagrams")
    paths: tuple[GraphPath, ...] = ()

    @property
    def has_nothing(self) -> bool:
        """Return whether the model has nothing of what is asked for."""
        things = self.elements or self.relations or self.views or self.paths
        uncounted = self.number is None or self.status == "refused"
        return bool(self.kind) and uncounted and not things

    @property
    def proof(self) -> tuple[ElementRef | RelationRef, ...]:
        """Return the proof: relations, and elements that none of them names."""
        ends = {end for r in self.relations for end in (r.source_id, r.target_id)}
        named = (*self.subjects, *self.elements)
        elements = {(e.id, e.location): e for e in named}
        return (*self.relations, *(e for e in elements.values() if e.id not in ends))

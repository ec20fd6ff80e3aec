"""A model with all its pages, and how it is handed to consumers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elt_llm_core.document import Page
from elt_llm_core.results import Box
from elt_llm_ingest.readers.leanix.domains import Domain, Role
from elt_llm_ingest.readers.leanix.xml import Canvas, DrawioCell

ARROWS = {
    "ERzeroToMany": "0..*",
    "ERoneToMany": "1..*",
    "ERmandOne": "1..1",
    "ERzeroToOne": "0..1",
    "ERone": "1..1",
    "ERmany": "0..*",
    "ERoneToOne": "1..1",
}
WORDS = {
    "0..*": "zero or more",
    "1..*": "one or more",
    "1..1": "exactly one",
    "0..1": "at most one",
}
TYPES = {
    "entityRelationEdgeStyle": "Entity Relationship",
    "orthogonalEdgeStyle": "Orthogonal",
    "elbowEdgeStyle": "Elbow",
}


@dataclass(frozen=True)
class End:
    """What an edge is tied to: an entity of a domain, of none, or a domain itself."""

    entity: str
    domain: str


@dataclass(frozen=True)
class Relationship:
    """One edge. `start` and `finish` say how many stand at source and target."""

    cell: DrawioCell
    source: End
    target: End
    start: str
    finish: str
    kind: str
    label: str

    @property
    def cardinality(self) -> str:
        """Both ends, joined by a hyphen; empty where neither is drawn."""
        return f"{self.start}-{self.finish}" if self.start or self.finish else ""

    @property
    def statement(self) -> str:
        """That the two are related, in one sentence."""
        verb = self.label or "is related to"
        return f"{self.source.entity} {verb} {self.target.entity}."

    def sentences(self) -> str:
        """The relationship in words, each direction by itself."""
        one, other = self.source.entity, self.target.entity
        sentences = [self.statement]
        if self.finish:
            sentences.append(
                f"Each {one} has {WORDS[self.finish]} {other} ({self.finish})."
            )
        if self.start:
            sentences.append(
                f"Each {other} has {WORDS[self.start]} {one} ({self.start})."
            )
        return " ".join(sentences)


def relationship(
    canvas: Canvas, edge: DrawioCell, ends: Mapping[str, End | str]
) -> Relationship | str:
    """The relationship an edge draws, or the reason why there is none.

    `ends` maps the id of a shape to what it stands for, or to why it was left out.
    """
    known_ends: list[End] = []
    for name, cell_id in (("start", edge.source), ("end", edge.target)):
        if not cell_id:
            return f"its {name} is tied to nothing"
        end = ends.get(cell_id)
        if end is None:
            return f"its {name} is tied to a shape that is no fact sheet"
        if isinstance(end, str):
            return f"its {name} is tied to a shape that was left out ({end})"
        known_ends.append(end)
    return Relationship(
        cell=edge,
        source=known_ends[0],
        target=known_ends[1],
        start=ARROWS.get(edge.style.get("startArrow", ""), ""),
        finish=ARROWS.get(edge.style.get("endArrow", ""), ""),
        kind=TYPES.get(edge.style.get("edgeStyle", ""), ""),
        label=_label(canvas, edge),
    )


def _label(canvas: Canvas, edge: DrawioCell) -> str:
    """The edge's own label, else the texts of the shapes tied to it."""
    texts = [
        cell.label
        for cell in canvas.diagram.cells
        if cell.parent == edge.id and cell.label and not cell.edge
    ]
    return edge.label or " ".join(texts)


@dataclass(frozen=True)
class ModelEntity:
    """An entity and where it is drawn."""

    cell: DrawioCell
    role: Role
    page: int
    box: Box

    @property
    def domain(self) -> str:
        """The name of its domain."""
        return self.role.domain.name if self.role.domain else ""


@dataclass
class Model:
    """Everything found, over all pages."""

    entities: list[ModelEntity] = field(default_factory=list)
    domains: list[tuple[Domain, int]] = field(default_factory=list)
    subtypes: list[tuple[DrawioCell, Role]] = field(default_factory=list)
    relationships: list[tuple[Relationship, int]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)


def type_of(cell: DrawioCell) -> str:
    """The fact sheet type of a shape."""
    return cell.attributes.get("factSheetType") or "Unknown"


def content(path: Path, model: Model) -> dict[str, Any]:
    """What consumers read: metadata, entities, relationships, domains, skips."""
    return {
        "metadata": {
            "model_name": path.stem,
            "source_file": path.name,
            "entity_count": len(model.entities),
            "relationship_count": len(model.relationships),
        },
        "entities": [_entity_row(entity, model) for entity in model.entities],
        "relationships": [
            {
                "source_entity": relationship.source.entity,
                "source_domain": relationship.source.domain,
                "target_entity": relationship.target.entity,
                "target_domain": relationship.target.domain,
                "cardinality": relationship.cardinality,
                "relationship_type": relationship.kind,
                "label": relationship.label,
            }
            for relationship, _ in model.relationships
        ],
        "domains": [_domain_row(domain, page, model) for domain, page in model.domains],
        "skipped": model.skipped,
    }


def _entity_row(entity: ModelEntity, model: Model) -> dict[str, str]:
    domain = entity.role.domain
    label = domain.cell if domain else None
    return {
        "domain": entity.domain,
        "domain_fact_sheet_id": _fact_sheet_id(label),
        "subtype": entity.role.subtype,
        "subtype_fact_sheet_id": _subtype_id(entity, model),
        "entity_name": entity.cell.label,
        "fact_sheet_id": _fact_sheet_id(entity.cell),
        "fact_sheet_type": type_of(entity.cell),
    }


def _fact_sheet_id(cell: DrawioCell | None) -> str:
    return cell.attributes.get("factSheetId", "") if cell else ""


def _subtype_id(entity: ModelEntity, model: Model) -> str:
    for cell, role in model.subtypes:
        same_place = role.domain is entity.role.domain
        if same_place and role.subtype == entity.role.subtype:
            return _fact_sheet_id(cell)
    return ""


def _domain_row(domain: Domain, page: int, model: Model) -> dict[str, Any]:
    return {
        "name": domain.name,
        "fact_sheet_id": _fact_sheet_id(domain.cell),
        "page": page,
        "entities": sum(1 for e in model.entities if e.role.domain is domain),
        "subtypes": [
            {"name": role.subtype, "fact_sheet_id": _fact_sheet_id(cell)}
            for cell, role in model.subtypes
            if role.domain is domain
        ],
    }

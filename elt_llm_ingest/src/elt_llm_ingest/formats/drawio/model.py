"""A model with all its pages, and how it is handed to consumers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elt_llm_core.document import Page
from elt_llm_core.results import Box
from elt_llm_ingest.formats.drawio.domains import Domain, Role
from elt_llm_ingest.formats.drawio.edges import Relationship
from elt_llm_ingest.formats.drawio.xml import Cell


@dataclass(frozen=True)
class Entity:
    """An entity and where it is drawn."""

    cell: Cell
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

    entities: list[Entity] = field(default_factory=list)
    domains: list[tuple[Domain, int]] = field(default_factory=list)
    subtypes: list[tuple[Cell, Role]] = field(default_factory=list)
    relationships: list[tuple[Relationship, int]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)


def type_of(cell: Cell) -> str:
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
                "source_entity": found.source.entity,
                "source_domain": found.source.domain,
                "target_entity": found.target.entity,
                "target_domain": found.target.domain,
                "cardinality": found.cardinality,
                "relationship_type": found.kind,
                "label": found.label,
            }
            for found, _ in model.relationships
        ],
        "domains": [_domain_row(domain, page, model) for domain, page in model.domains],
        "skipped": model.skipped,
    }


def _entity_row(entity: Entity, model: Model) -> dict[str, str]:
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


def _fact_sheet_id(cell: Cell | None) -> str:
    return cell.attributes.get("factSheetId", "") if cell else ""


def _subtype_id(entity: Entity, model: Model) -> str:
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

"""The hierarchy of the catalogue: domain, subtype, entity."""

from collections.abc import Mapping, Sequence
from typing import Any

from elt_llm_consumer.entity import Entity
from elt_llm_consumer.model import Model
from elt_llm_consumer.placement import UNASSIGNED


def assemble(model: Model, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Domains to their subtypes, entities and handbook terms, records in their order.

    Every domain of the model is there, also where all its entities failed.
    """
    found: dict[str, Any] = {}
    for entity in model.entities:
        domain = found.setdefault(entity.domain or UNASSIGNED, _domain(model, entity))
        if entity.subtype:
            domain["subtypes"].setdefault(entity.subtype, _subtype(model, entity))
    for row in rows:
        name = row["domain"] or UNASSIGNED
        domain = found.setdefault(name, _domain(model, Entity(name="", domain=name)))
        record = row["record"]
        if record["source"] == "HANDBOOK_ONLY":
            domain["handbook_only"].append(record)
        elif row["subtype"]:
            domain["subtypes"][row["subtype"]]["entities"].append(record)
        else:
            domain["entities"].append(record)
    return {name: found[name] for name in sorted(found)}


def _domain(model: Model, entity: Entity) -> dict[str, Any]:
    sheet = entity.domain_fact_sheet_id
    return {
        "fact_sheet_id": sheet,
        "description": model.descriptions.get(sheet, ""),
        "subtypes": {},
        "entities": [],
        "handbook_only": [],
    }


def _subtype(model: Model, entity: Entity) -> dict[str, Any]:
    sheet = entity.subtype_fact_sheet_id
    return {
        "fact_sheet_id": sheet,
        "description": model.descriptions.get(sheet, ""),
        "entities": [],
    }

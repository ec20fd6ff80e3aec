"""What inventories and drawings say of the entities of a model."""

from collections.abc import Mapping, Sequence
from typing import Any

from elt_llm_consumer.definitions.terms import clean
from elt_llm_consumer.linking.model_entities import Entity, EntityKey
from elt_llm_consumer.linking.source_entities import element_key, row_text
from elt_llm_core.enterprise.model import (
    INVENTORY_FORMAT,
    EnterpriseModel,
    ModelElement,
)


def describe_entity(
    entity: Entity, descriptions: Mapping[str, str], documented: Mapping[EntityKey, str]
) -> Entity:
    """Return an entity with the inventory's description, else the drawing's."""
    text = descriptions.get(entity.fact_sheet_id or _drawn_key(entity.order))
    text = text or documented.get(entity.order, "")
    return entity.model_copy(update={"description": text})


def inventory_descriptions(
    inventories: Sequence[Mapping[str, Any]],
    matches: Mapping[str, Sequence[ModelElement]],
) -> dict[str, str]:
    """Return descriptions by id of the fact sheet, of the inventory and as drawn."""
    descriptions: dict[str, str] = {}
    for inventory in inventories:
        for sheet, row in sorted(inventory.get("fact_sheets", {}).items()):
            if text := row_text(row, "description"):
                descriptions.setdefault(sheet, text)
    for sheet, elements in matches.items():
        for one in elements if sheet in descriptions else ():
            key = clean(one.fact_sheet_id) or _drawn_key(element_key(one))
            descriptions.setdefault(key, descriptions[sheet])
    return descriptions


def drawn_documentation(models: Sequence[EnterpriseModel]) -> dict[EntityKey, str]:
    """Return what drawings say of their elements, by `Entity.order`."""
    texts: dict[EntityKey, str] = {}
    for model in models:
        for one in model.elements:
            text = clean(one.documentation)
            if text and one.role == "entity" and model.format != INVENTORY_FORMAT:
                texts.setdefault(element_key(one), text)
    return texts


def _drawn_key(key: EntityKey) -> str:
    """Return what stands for the id of an element that is drawn without one."""
    return "\n".join(key)

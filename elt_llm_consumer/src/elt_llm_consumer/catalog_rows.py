"""The rows of a catalogue: the place of each, and its reviewed fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from elt_llm_consumer.context_fields import FIELDS
from elt_llm_consumer.linking.model_entities import Entity, EntityModel
from elt_llm_consumer.linking.similarity import UNASSIGNED
from elt_llm_consumer.reviewed import ReviewedProduct

REVIEWED = ReviewedProduct(
    job="catalog",
    label="entity_name",
    scope=("fact_sheet_id",),
    fields=tuple(FIELDS),
    quotes=lambda row: [row["source"], row["handbook_term"] or ""],
)
# The place of a record: columns of a flat row in addition to those of the record.
PLACE = (
    *("domain", "domain_fact_sheet_id", "domain_description"),
    *("subtype", "subtype_fact_sheet_id", "subtype_description"),
)


def assemble(model: EntityModel, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return domains with subtypes, entities and handbook terms, in record order.

    Every domain of the model is a key, even if all its entities failed.
    """
    return nest_rows(rows, [place_of(model, entity) for entity in model.entities])


def nest_rows(
    rows: Sequence[Mapping[str, Any]], places: Sequence[Mapping[str, str]] = ()
) -> dict[str, Any]:
    """Return flat rows nested by domain and subtype, with entities and terms.

    Args:
        rows: Records with the columns of `PLACE`.
        places: Domains and subtypes to include even without a record.
    """
    domains: dict[str, Any] = {}
    for place in places:
        _group(domains, place)
    for row in rows:
        domain, subtype = _group(domains, row)
        record = {name: value for name, value in row.items() if name not in PLACE}
        if record["source"] == "HANDBOOK_ONLY":
            domain["handbook_only"].append(record)
        else:
            (subtype or domain)["entities"].append(record)
    return {name: domains[name] for name in sorted(domains)}


def place_of(model: EntityModel, entity: Entity) -> dict[str, str]:
    """Return the place columns of an entity."""
    domain, subtype = entity.domain_fact_sheet_id, entity.subtype_fact_sheet_id
    return {
        "domain": entity.domain or UNASSIGNED,
        "domain_fact_sheet_id": domain,
        "domain_description": model.descriptions.get(domain, ""),
        "subtype": entity.subtype,
        "subtype_fact_sheet_id": subtype,
        "subtype_description": model.descriptions.get(subtype, ""),
    }


def _group(
    domains: dict[str, Any], place: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the domain and the subtype of a place, created at first use."""
    domain = domains.setdefault(
        place["domain"],
        {
            "fact_sheet_id": place["domain_fact_sheet_id"],
            "description": place["domain_description"],
            "subtypes": {},
            "entities": [],
            "handbook_only": [],
        },
    )
    if not place["subtype"]:
        return domain, None
    subtype = domain["subtypes"].setdefault(
        place["subtype"],
        {
            "fact_sheet_id": place["subtype_fact_sheet_id"],
            "description": place["subtype_description"],
            "entities": [],
        },
    )
    return domain, subtype

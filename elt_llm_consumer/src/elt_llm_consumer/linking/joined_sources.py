"""Joins the entities of drawings, exchange files and inventories.

Elements of several files with one name and a compatible type are one entity.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, NamedTuple

from elt_llm_consumer.definitions.terms import normalise
from elt_llm_consumer.linking.model_entities import Entity, EntityKey
from elt_llm_consumer.linking.source_entities import (
    element_key,
    inventory_entities,
    row_text,
)
from elt_llm_core.enterprise.element_names import DATA_TYPES
from elt_llm_core.enterprise.model import ARCHIMATE_FORMATS, ModelElement


class JoinedSources(NamedTuple):
    """The entities of all files.

    Attributes:
        entities: Each thing once.
        of_sheet: The entities of fact sheets that are drawn with another id, or without
            one, by the id in the inventory.
        merged_into: The entity into which an entry of another file was merged, by the
            `order` of that entry.
        left_out: A sentence for each kind of fact sheets that are no entities.
    """

    entities: list[Entity]
    of_sheet: Mapping[str, Entity] = MappingProxyType({})
    merged_into: Mapping[EntityKey, Entity] = MappingProxyType({})
    left_out: tuple[str, ...] = ()


def join_sources(
    drawn: Sequence[Entity],
    contents: Sequence[Mapping[str, Any]],
    inventories: Sequence[Mapping[str, Any]],
    matches: Mapping[str, Sequence[ModelElement]],
) -> JoinedSources:
    """Return the entities of drawings, completed by those of inventories.

    Args:
        drawn: The entities of all drawings and exchange files.
        contents: The drawings and exchange files themselves.
        inventories: The inventories.
        matches: The drawn elements of each fact sheet, as `match_inventories` has them.
    """
    listed = _sort_fact_sheets(
        inventory_entities(inventories), drawn, contents, matches
    )
    undrawn = [e.model_copy(update={"is_drawn": False}) for e in listed.added]
    entities, merged_into = _merge_files([*drawn, *undrawn], _exchange_files(contents))
    of_order = {e.order: e for e in entities} | merged_into
    of_sheet = {
        sheet: of_order[key]
        for sheet, elements in matches.items()
        for key in reversed([element_key(one) for one in elements])
        if key in of_order
    }
    left_out = (
        *_count_left_out(listed.other, "no drawing has an element of this type"),
        *_count_left_out(listed.unclear, "several elements of a drawing have the name"),
        *_count_left_out(
            listed.skipped, "a drawing has the shape, but not as an entity"
        ),
    )
    return JoinedSources(entities, of_sheet, merged_into, left_out)


class _FactSheets(NamedTuple):
    """The fact sheets that no drawing has as an entity.

    Attributes:
        added: Those that belong to the model.
        other: Those of a type that is not drawn.
        unclear: Those of which several drawn elements have the name.
        skipped: Those whose shape a drawing has, but not as an entity.
    """

    added: list[Entity]
    other: list[Entity]
    unclear: list[Entity]
    skipped: list[Entity]


def _sort_fact_sheets(
    listed: Sequence[Entity],
    drawn: Sequence[Entity],
    contents: Sequence[Mapping[str, Any]],
    matches: Mapping[str, Sequence[ModelElement]],
) -> _FactSheets:
    """Return the fact sheets that are not drawn, by what becomes of them.

    Things that data are kept about belong to a model whether they are drawn or not;
    of another type, such as applications, only if drawings have elements of it.
    """
    ids = _drawn_sheet_ids(contents)
    known = ids | {sheet for sheet, elements in matches.items() if elements}
    skips = _skipped_elements(contents)
    skipped = [
        e
        for e in listed
        if e.fact_sheet_id not in known
        and (e.fact_sheet_id, normalise(e.name)) in skips
    ]
    known |= {e.fact_sheet_id for e in skipped}
    rest = [e for e in listed if e.fact_sheet_id not in known]
    unclear: list[Entity] = []
    if ids.isdisjoint(e.fact_sheet_id for e in listed):  # only names can join
        names = {(normalise(e.name), _family(e)) for e in drawn}
        unclear = [e for e in rest if (normalise(e.name), _family(e)) in names]
    on_drawings = (*drawn, *(e for e in listed if e.fact_sheet_id in known))
    kinds = DATA_TYPES | {e.kind for e in on_drawings} - {""}
    several = {e.fact_sheet_id for e in unclear}
    clear = [e for e in rest if e.fact_sheet_id not in several]
    added = [e for e in clear if e.kind in kinds]
    other = [e for e in clear if e.kind not in kinds]
    return _FactSheets(added, other, unclear, skipped)


def _drawn_sheet_ids(contents: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the fact sheet ids of all drawn entities and of their groups."""
    keys = ("fact_sheet_id", "domain_fact_sheet_id", "subtype_fact_sheet_id")
    rows = [row for content in contents for row in content.get("entities", [])]
    return {sheet for row in rows for key in keys if (sheet := row_text(row, key))}


def _skipped_elements(contents: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return id and name of what drawings leave out, such as the label of a group.

    An id alone is not enough: a shape without a fact sheet has a number, as the rows of
    many registers have.
    """
    return {
        (row_text(skip, "id"), normalise(row_text(skip, "name")))
        for content in contents
        for skip in content.get("skipped", [])
        if row_text(skip, "kind") == "element"
    }


def _family(entity: Entity) -> str:
    """Return its kind, one for all things that data are kept about."""
    return "dataobject" if entity.kind in DATA_TYPES else entity.kind


def _exchange_files(contents: Sequence[Mapping[str, Any]]) -> set[str]:
    heads = [content.get("metadata", {}) for content in contents]
    return {
        row_text(head, "source_file")
        for head in heads
        if row_text(head, "format") in ARCHIMATE_FORMATS
    }


def _count_left_out(entities: Sequence[Entity], reason: str) -> tuple[str, ...]:
    """Return a sentence for each type of fact sheets that are no entities here."""
    counts = Counter((e.type, e.files) for e in entities)
    return tuple(
        f"{count} {'fact sheet' if count == 1 else 'fact sheets'} of the type "
        f"{kind or 'unknown'} in {' and '.join(files) or 'the inventory'} "
        f"{'is' if count == 1 else 'are'} left out: {reason}"
        for (kind, files), count in sorted(counts.items())
    )


def _merge_files(
    entities: Sequence[Entity], archimate: Set[str]
) -> tuple[list[Entity], dict[EntityKey, Entity]]:
    """Merge entities of one name and kind in several files; the others stay.

    Args:
        entities: The entities of all files.
        archimate: Exchange files, whose groups are no domains of a drawing.

    Returns:
        The entities, and as `JoinedSources.merged_into` what was merged.
    """
    groups: dict[str, list[list[Entity]]] = {}
    ordered: list[list[Entity]] = []
    # Typed ones first: what has no type joins the only thing of its name.
    for entity in sorted(entities, key=lambda e: not e.kind):
        same_name = groups.setdefault(normalise(entity.name), [])
        fits = [g for g in same_name if _is_same_thing(g, entity, archimate)]
        if fits and (entity.kind or len(fits) == 1):
            fits[0].append(entity)
        else:
            same_name.append([entity])
            ordered.append(same_name[-1])
    merged = [_merge_group(group, archimate) for group in ordered]
    pairs = zip(ordered, merged, strict=True)
    merged_into = {
        e.order: one for group, one in pairs for e in group if e.order != one.order
    }
    kept = {one.order for one in merged}
    return merged, {key: one for key, one in merged_into.items() if key not in kept}


def _is_same_thing(
    group: Sequence[Entity], entity: Entity, archimate: Set[str]
) -> bool:
    """Return whether an entity of another file is the thing of a group."""
    first = group[0]
    sheets = {e.fact_sheet_id for e in (*group, entity) if e.fact_sheet_id}
    domains = {e.domain for e in (*group, entity) if e.domain}
    files = {file for e in group for file in e.files}
    return (
        bool(files and entity.files)
        and files.isdisjoint(entity.files)
        and len(sheets) < 2  # noqa: PLR2004 - two ids are two fact sheets
        and (len(domains) < 2 or bool(archimate & {*files, *entity.files}))  # noqa: PLR2004
        and entity.is_drawn
        and first.is_drawn
        and (
            first.kind == entity.kind
            or not entity.kind
            or {first.kind, entity.kind} <= DATA_TYPES
        )
    )


def _merge_group(group: Sequence[Entity], archimate: Set[str]) -> Entity:
    """Return the entry with an id and a domain, completed by the others.

    The domain of a drawing precedes that of an exchange file, which may be a layer.
    """
    if len(group) == 1:
        return group[0]

    def rank(entity: Entity) -> tuple[bool, bool, bool]:
        is_drawing = archimate.isdisjoint(entity.files)
        has_domain = bool(entity.domain)
        return bool(entity.fact_sheet_id), has_domain and is_drawing, has_domain

    best = max(group, key=rank)
    others = [best, *(e for e in group if e is not best)]
    text = next((e.description for e in others if e.description), "")
    files = dict.fromkeys(file for e in group for file in e.files)
    return best.model_copy(
        update={
            "description": text,
            "type": best.type if best.kind else group[0].type,
            "files": tuple(files),
        }
    )

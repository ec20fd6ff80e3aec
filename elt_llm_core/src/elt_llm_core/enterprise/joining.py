"""Join the drawings, inventories and exchange files of a data root to one model."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from elt_llm_core.enterprise.element_names import (
    UNTYPED,
    DrawnNames,
    GroupNames,
    fold_name,
    name_and_type,
)
from elt_llm_core.enterprise.model import (
    INVENTORY_FORMAT,
    SIDECAR_KIND,
    EnterpriseModel,
    ModelElement,
    ModelRelation,
    ModelSkip,
    ModelView,
    RelationEnd,
)
from elt_llm_core.enterprise.unread import find_unread, read_unread_sheets
from elt_llm_core.errors import UsageError
from elt_llm_core.records import replace_fields
from elt_llm_core.store import Store

FILLED = (
    "type", "fact_sheet_id", "domain", "subtype", "parent_id", "level", "status",
    "documentation", "attributes",
)  # fmt: skip


def read_models(store: Store, collection: str) -> list[EnterpriseModel]:
    """Read the models of a collection, in the order of their documents.

    Args:
        store: The data root.
        collection: Name of the collection.

    Returns:
        A model for each drawing, inventory or exchange file; possibly none.

    Raises:
        CollectionNotFoundError: If the collection does not exist.
    """
    sidecars = store.sidecars(collection, SIDECAR_KIND)
    return [EnterpriseModel.model_validate(s.content) for s in sidecars]


def read_joined_model(store: Store, collections: Sequence[str]) -> EnterpriseModel:
    """Read the models of several collections as one.

    Args:
        store: The data root.
        collections: Names of collections, in order of precedence.

    Returns:
        The joined model (see `join_models`). Sheets that list its elements but are no
        inventory are skips of it.

    Raises:
        UsageError: If none of them contains a model.
        CollectionNotFoundError: If a collection does not exist.
    """
    names = list(dict.fromkeys(collections))
    models = [model for name in names for model in read_models(store, name)]
    if not models:
        shown = ", ".join(map(repr, names)) or "no collection"
        raise UsageError(
            f"there is no enterprise model in {shown}",
            "add a drawing, an inventory or an exchange file: "
            f"elt-llm ingest MODEL.drawio --collection {names[0] if names else 'NAME'}",
        )
    joined = join_models(models)
    sheets = [sheet for name in names for sheet in read_unread_sheets(store, name)]
    unread = find_unread(joined, sheets)
    return replace_fields(joined, skips=(*joined.skips, *unread)) if unread else joined


def join_models(models: Sequence[EnterpriseModel]) -> EnterpriseModel:
    """Join models: their entries for one fact sheet become one element.

    Elements are one if they have the same fact sheet id, or the same id and name. A
    fact sheet of an inventory that no drawing has by id is one with the only element of
    its name and type, or of its name if that has no type; with a fact sheet of a
    drawing only if the inventory has no ids of the same register. The values of an
    earlier model take precedence; later ones fill empty fields. Spellings of a domain
    that differ in case or white space are one domain, spelt as in the first model; so
    are its subtypes. Inventories come last, because drawings define the domains and
    their members, and inventories only describe. A relation of an inventory that only
    names one of its ends, such as the flow of an interface "A to B", ends at the only
    element of that name and type. If an id is already taken, the name of the file is
    put before it. A relation with an end in no model is skipped.

    Args:
        models: At least one model; a repeated model adds nothing.

    Returns:
        One model; the model itself if it is the only one and lacks nothing.
    """
    distinct = _order_models(models)
    return _add_all(distinct).build(distinct)


def match_inventories(
    models: Sequence[EnterpriseModel],
) -> dict[str, tuple[ModelElement, ...]]:
    """Return the drawn elements that each fact sheet of the inventories is one with.

    Args:
        models: Drawings, exchange files and inventories.

    Returns:
        The elements as their drawings state them, by id of the fact sheet; none for a
        fact sheet that is not drawn.
    """
    return _add_all(_order_models(models)).drawn_of


class NamedEnd(NamedTuple):
    """A relation of which its inventory only names one end, and what that is.

    Attributes:
        relation: The relation; the named end has no `element_id`.
        element_id: The element of the joined model at this end.
        drawn: This element as drawings state it; none if only another inventory has it.
    """

    relation: ModelRelation
    element_id: str
    drawn: tuple[ModelElement, ...]


def find_named_ends(models: Sequence[EnterpriseModel]) -> list[NamedEnd]:
    """Return the relations of inventories that end at what another file has.

    Args:
        models: Drawings, exchange files and inventories.
    """
    joiner = _add_all(_order_models(models))
    names = joiner.names()
    ends = []
    for skip in (skip for model in models for skip in model.skips):
        relation = skip.relation and names.end(skip.relation, skip.target_type)
        if skip.relation and relation:
            is_source = not skip.relation.source.element_id
            end = relation.source if is_source else relation.target
            drawn = joiner.drawn_as(end.element_id)
            ends.append(NamedEnd(skip.relation, end.element_id, drawn))
    return ends


def _order_models(models: Sequence[EnterpriseModel]) -> list[EnterpriseModel]:
    """Return each model once, inventories last."""
    ordered = sorted(models, key=lambda model: model.format == INVENTORY_FORMAT)
    return list({model.model_dump_json(): model for model in ordered}.values())


def _add_all(models: Sequence[EnterpriseModel]) -> "_Joiner":
    joiner = _Joiner()
    for model in models:
        joiner.add(model)
    return joiner


class _Joiner:
    """Collects models; `drawn_of` is the result of `match_inventories`."""

    def __init__(self) -> None:
        self.drawn_of: dict[str, tuple[ModelElement, ...]] = {}
        self._drawn: dict[str, list[ModelElement]] = {}
        self._elements: dict[str, ModelElement] = {}
        self._of_fact_sheet: dict[str, list[str]] = {}
        self._relations: dict[str, ModelRelation] = {}
        self._views: dict[str, ModelView] = {}
        self._skips: list[ModelSkip] = []
        self._counts: Counter[str] = Counter()  # domains of a name in the added model

    def add(self, model: EnterpriseModel) -> None:
        """Add a model: first the ids, then their references."""
        file = model.source_file
        sheets = {sheet: tuple(ids) for sheet, ids in self._of_fact_sheet.items()}
        self._counts = Counter(
            fold_name(one.name) for one in model.elements if one.role == "domain"
        )
        before = dict(self._elements)
        twins = {e.id: self._twins(e, sheets, before) for e in model.elements}
        is_listed = model.format == INVENTORY_FORMAT
        if is_listed:
            drawn = [before[key] for key in self._drawn]
            twins.update(_namesakes(model, twins, drawn))
        new_id: dict[str, str] = {}
        for element in model.elements:
            same = twins[element.id]
            new_id[element.id] = (
                same[0] if same else self._free_id(element.id, self._elements, file)
            )
            self._elements.setdefault(new_id[element.id], element)
            if not is_listed:
                self._drawn.setdefault(new_id[element.id], []).append(element)
            elif not self.drawn_of.get(element.id):
                places = [d for key in same for d in self._drawn.get(key, ())]
                self.drawn_of[element.id] = tuple(places)
        for relation in model.relations:
            key = self._free_id(relation.id, self._relations, file)
            self._relations[key] = relation
            new_id[relation.id] = key
        for element in model.elements:
            parent = new_id.get(element.parent_id, element.parent_id)
            self._put(
                replace_fields(element, id=new_id[element.id], parent_id=parent),
                twins[element.id],
            )
        self._point_at_new_ids(model, new_id)

    def _twins(
        self,
        element: ModelElement,
        sheets: Mapping[str, Sequence[str]],
        before: Mapping[str, ModelElement],
    ) -> Sequence[str]:
        """Return the ids of the same element in earlier models."""
        if element.fact_sheet_id and element.fact_sheet_id in sheets:
            return sheets[element.fact_sheet_id]
        other = before.get(element.id)
        if other is not None and _is_same(other, element):
            return (other.id,)
        return self._twin_domains(element, before) if element.role == "domain" else ()

    def _twin_domains(
        self, element: ModelElement, before: Mapping[str, ModelElement]
    ) -> Sequence[str]:
        """Return the only domain of its name in earlier models, if it may be the same.

        Two ids are two fact sheets, and of two groups in a file none is chosen.
        """
        named = [
            one
            for one in before.values()
            if one.role == "domain" and fold_name(one.name) == fold_name(element.name)
        ]
        is_only = len(named) == 1 and self._counts[fold_name(element.name)] == 1
        return (named[0].id,) if is_only and _is_same(named[0], element) else ()

    def _put(self, element: ModelElement, twins: Sequence[str]) -> None:
        if not twins:
            self._elements[element.id] = element
        for twin in twins:
            self._elements[twin] = _merge(self._elements[twin], element)
        if element.fact_sheet_id:
            ids = self._of_fact_sheet.setdefault(element.fact_sheet_id, [])
            ids.extend(i for i in twins or (element.id,) if i not in ids)

    def _free_id(self, wanted: str, taken: Mapping[str, Any], file: str) -> str:
        candidate, number = wanted, 1
        while candidate in taken:
            candidate = f"{file}#{wanted}" + (f"~{number}" if number > 1 else "")
            number += 1
        return candidate

    def _point_at_new_ids(
        self, model: EnterpriseModel, new_id: Mapping[str, str]
    ) -> None:
        for relation in model.relations:
            key = new_id[relation.id]
            self._relations[key] = replace_fields(
                relation,
                id=key,
                source=_moved_end(relation.source, new_id),
                target=_moved_end(relation.target, new_id),
            )
        for view in model.views:
            key = self._free_id(view.id, self._views, model.source_file)
            self._views[key] = replace_fields(
                view,
                id=key,
                element_ids=tuple(new_id.get(i, i) for i in view.element_ids),
                relation_ids=tuple(new_id.get(i, i) for i in view.relation_ids),
            )
        for skip in model.skips:
            if skip.relation is not None:
                moved = replace_fields(
                    skip.relation,
                    source=_moved_end(skip.relation.source, new_id),
                    target=_moved_end(skip.relation.target, new_id),
                )
                self._skips.append(replace_fields(skip, relation=moved))
            else:
                self._skips.append(skip)

    def names(self) -> DrawnNames:
        """Return the elements by name and type."""
        return DrawnNames(self._elements.values())

    def drawn_as(self, key: str) -> tuple[ModelElement, ...]:
        """Return an element as its drawings state it; none if no drawing has it."""
        return tuple(self._drawn.get(key, ()))

    def _relate_named(self) -> None:
        """Add the relations to elements that an inventory only names."""
        if not any(skip.relation for skip in self._skips):
            return
        names = self.names()
        left = []
        for skip in self._skips:
            relation = skip.relation
            ended = relation and names.end(relation, skip.target_type)
            if not ended:
                left.append(skip)
                continue
            key = self._free_id(ended.id, self._relations, ended.location.file)
            self._relations[key] = replace_fields(ended, id=key)
        self._skips = left

    def build(self, models: Sequence[EnterpriseModel]) -> EnterpriseModel:
        self._relate_named()
        relations, skips = self._known_relations()
        groups = GroupNames(self._elements.values())
        return EnterpriseModel(
            name=" + ".join(dict.fromkeys(m.name for m in models)),
            source_file=", ".join(dict.fromkeys(m.source_file for m in models)),
            format=", ".join(dict.fromkeys(m.format for m in models)),
            documentation="\n\n".join(_distinct(m.documentation for m in models)),
            properties={
                k: v for m in reversed(models) for k, v in m.properties.items()
            },
            elements=tuple(map(groups.respell, self._elements.values())),
            relations=tuple(map(groups.respell_ends, relations)),
            views=tuple(self._views.values()),
            skips=(*self._skips, *skips),
        )

    def _known_relations(self) -> tuple[tuple[ModelRelation, ...], list[ModelSkip]]:
        """Return the relations between known ends; the others become skips.

        A relation may end at a relation, so one removal can cause another.
        """
        left = dict(self._relations)
        skips: list[ModelSkip] = []
        while lost := [r for r in left.values() if self._lost_end(r, left) is not None]:
            for relation in lost:
                end = self._lost_end(relation, self._relations)
                named = (end or relation.source).name or (
                    end or relation.source
                ).element_id
                skips.append(
                    ModelSkip(
                        kind="relation",
                        id=relation.id,
                        name=f"{relation.source.name} -> {relation.target.name}",
                        reason=f"none of the joined models has its end {named!r}",
                    )
                )
            for relation in lost:
                del left[relation.id]
        return tuple(left.values()), skips

    def _lost_end(
        self, relation: ModelRelation, relations: Mapping[str, ModelRelation]
    ) -> RelationEnd | None:
        for end in (relation.source, relation.target):
            if end.element_id not in self._elements and end.element_id not in relations:
                return end
        return None


def _namesakes(
    model: EnterpriseModel,
    twins: Mapping[str, Sequence[str]],
    drawn: Sequence[ModelElement],
) -> dict[str, Sequence[str]]:
    """Return the drawn elements of the name and the type of each fact sheet.

    Only the one element of a name in a file counts, and the one fact sheet of a name:
    others may be different things. One without a type counts if neither drawings nor
    inventory have a namesake. Where an inventory has ids of a drawing, its other ids
    are other fact sheets than those drawn; where it has none, its ids are of another
    register, or of none, and only names can join.
    """
    drawn_ids = {one.id for one in drawn}
    has_drawn_ids = any(drawn_ids.intersection(keys) for keys in twins.values())
    named_drawn = DrawnNames(drawn)
    taken = {key for keys in twins.values() for key in keys}
    listed = Counter(name_and_type(one) for one in model.elements)
    named = Counter(name for name, _ in listed.elements())
    joined: dict[str, Sequence[str]] = {}
    for one in model.elements:
        name, kind = key = name_and_type(one)
        same = named_drawn.of_type(name, kind) if listed[key] == 1 and kind else []
        if not same and named[name] == named_drawn.counts[name] == 1:
            same = named_drawn.of_type(name, "")
        if has_drawn_ids and _has_own_id(one):
            same = [other for other in same if not other.fact_sheet_id]
        ids = [other.id for other in same]
        if _is_one_thing(same) and not taken.intersection(ids) and not twins[one.id]:
            joined[one.id] = tuple(ids)
    return joined


def _has_own_id(element: ModelElement) -> bool:
    """Return whether the id of a fact sheet is more than its name."""
    names = (element.name, f"{element.type}:{element.name}")
    return element.fact_sheet_id not in names


def _is_one_thing(elements: Sequence[ModelElement]) -> bool:
    """Return whether elements are one: one in each file, or all of one fact sheet."""
    sheets = {one.fact_sheet_id for one in elements}
    files = [one.location.file for one in elements]
    is_one_sheet = len(sheets) == 1 and "" not in sheets
    return bool(elements) and (is_one_sheet or len(set(files)) == len(files))


def _is_same(one: ModelElement, other: ModelElement) -> bool:
    return fold_name(one.name) == fold_name(other.name) and (
        not one.fact_sheet_id or not other.fact_sheet_id
    )


def _merge(one: ModelElement, other: ModelElement) -> ModelElement:
    """Return the first element, completed by the second one."""
    empty = {key: getattr(other, key) for key in FILLED if not getattr(one, key)}
    if one.type.casefold() in UNTYPED and other.type:
        empty["type"] = other.type
    added = [name for name in other.properties if name not in one.properties]
    added += [name for name in ("level", "status") if empty.get(name)]
    places = {name: other.stated_at.get(name, other.location) for name in added}
    return replace_fields(
        one,
        **empty,
        properties={**other.properties, **one.properties},
        occurrences=(*one.occurrences, other.location, *other.occurrences),
        stated_at={**places, **one.stated_at},
    )


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _moved_end(end: RelationEnd, new_id: Mapping[str, str]) -> RelationEnd:
    return replace_fields(end, element_id=new_id.get(end.element_id, end.element_id))

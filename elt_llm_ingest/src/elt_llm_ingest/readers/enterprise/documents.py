"""An enterprise model as two documents, elements and relations, and as sidecars."""

import re
from collections.abc import Sequence
from typing import Any

from elt_llm_core.document import BlockKind, Page, ParsedDocument, Sidecar
from elt_llm_core.enterprise.index import ModelIndex
from elt_llm_core.enterprise.model import (
    ARCHIMATE_FORMATS,
    LEANIX_FORMAT,
    SIDECAR_KIND,
    EnterpriseModel,
    ModelElement,
    ModelRelation,
    ModelSkip,
    ModelView,
)
from elt_llm_core.enterprise.relation_words import state_relation
from elt_llm_ingest.readers.enterprise.edges import cardinality_words
from elt_llm_ingest.readers.text_builder import TextBuilder, one_line

WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


def model_documents(
    model: EnterpriseModel, pages: Sequence[Page], parser: str
) -> list[ParsedDocument]:
    """Return the documents of a model.

    Args:
        model: The model.
        pages: Its pages; the locations of the model refer to them.
        parser: Name and version of the reader.

    Returns:
        The elements with the sidecars and a warning for each skip; then the relations,
        if there are any.
    """
    documents = [_elements(model, pages, parser)]
    if model.relations:
        documents.append(_relations(model, pages, parser))
    return documents


def _elements(
    model: EnterpriseModel, pages: Sequence[Page], parser: str
) -> ParsedDocument:
    index = ModelIndex(model)
    builder = TextBuilder()
    if model.documentation or model.properties:
        _add_model(builder, model)
    for element in _shown_elements(model):
        builder.add(
            BlockKind.FACT_SHEET,
            "\n".join(_element_lines(element, index)),
            page=element.location.page,
            end_page=element.location.page,
            section=" > ".join(p for p in (element.domain, element.subtype) if p),
            boxes=(element.location.box,) if element.location.box else (),
            attributes={
                "id": element.fact_sheet_id,
                "name": element.name,
                "type": element.type,
                "domain": element.domain,
                "subtype": element.subtype,
            },
        )
    for number, view in enumerate(model.views, start=1):
        lines = _view_lines(view, index) if _has_views(model) else []
        builder.add(
            BlockKind.FACT_SHEET,
            "\n".join(lines),
            page=number,
            end_page=number,
            attributes={"id": "", "name": view.name, "type": "View"},
        )
    return ParsedDocument(
        title=model.name,
        text=builder.text,
        blocks=builder.blocks,
        pages=list(pages),
        parser=parser,
        warnings=tuple(map(_warning, model.skips)),
        sidecars=sidecars(model),
    )


def _shown_elements(model: EnterpriseModel) -> list[ModelElement]:
    """Return the elements with a fact sheet, sorted; not groups of a LeanIX model."""
    shown = [
        e for e in model.elements if e.role == "entity" or model.format != LEANIX_FORMAT
    ]
    return sorted(
        shown, key=lambda e: (e.domain, e.subtype, e.name, e.location.page or 0)
    )


def _add_model(builder: TextBuilder, model: EnterpriseModel) -> None:
    """Add the documentation of the model."""
    lines = [model.name, "Type: Model"]
    lines += [f"{k}: {one_line(v)}" for k, v in sorted(model.properties.items())]
    lines += model.documentation.splitlines()
    builder.add(
        BlockKind.FACT_SHEET,
        "\n".join(lines),
        attributes={"id": "", "name": model.name, "type": "Model"},
    )


def _has_views(model: EnterpriseModel) -> bool:
    """Return whether its views have names of their own, unlike pages of a drawing."""
    return model.format in ARCHIMATE_FORMATS


def _view_lines(view: ModelView, index: ModelIndex) -> list[str]:
    """Return name, viewpoint and documentation of a view, and its elements."""
    shown = [index.elements[i] for i in view.element_ids if i in index.elements]
    names = dict.fromkeys(e.name for e in shown if e.role != "note")
    labelled = (
        ("Type", "View"),
        ("Viewpoint", view.viewpoint),
        *sorted(view.properties.items()),
        ("Shows", ", ".join(names)),
    )
    lines = [f"{one_line(k)}: {one_line(v)}" for k, v in labelled if v.strip()]
    return [view.name, *lines, *view.documentation.splitlines()]


def split_words(name: str) -> str:
    """Return a type as words: "BusinessActor" is "Business Actor".

    Args:
        name: The type as in the file.
    """
    return WORD_START.sub(" ", name)


def _element_lines(element: ModelElement, index: ModelIndex) -> list[str]:
    """Return name, attributes, documentation; own and inherited relations."""
    lines = [element.name]
    is_archimate = index.model.format in ARCHIMATE_FORMATS
    labelled = (
        ("Domain", element.domain if element.domain != element.name else ""),
        ("Subtype", element.subtype),
        ("Type", split_words(element.type) if is_archimate else element.type),
        ("Fact sheet", element.fact_sheet_id),
        ("Attributes", ", ".join(element.attributes)),
        *sorted(element.properties.items()),
    )
    lines += [f"{one_line(k)}: {one_line(v)}" for k, v in labelled if v.strip()]
    lines += [one_line(line) for line in element.documentation.splitlines()]
    direct = index.direct_relations(element.id)
    inherited = [i.relation for i in index.inherited_relations(element.id)]
    lines += dict.fromkeys(state_relation(r) for r in (*direct, *inherited))
    return [line for line in lines if line]


def _sentences(relation: ModelRelation) -> str:
    """Return sentences for each direction of the relation."""
    sentences = [state_relation(relation)]
    for one, other in (
        (relation.source, relation.target),
        (relation.target, relation.source),
    ):
        if count := other.cardinality:
            words = cardinality_words(count)
            sentences.append(f"Each {one.name} has {words} {other.name} ({count}).")
    return " ".join(sentences)


def _relations(
    model: EnterpriseModel, pages: Sequence[Page], parser: str
) -> ParsedDocument:
    builder = TextBuilder()
    for relation in model.relations:
        builder.add(
            BlockKind.RELATIONSHIP,
            "\n".join(_relation_lines(relation)),
            page=relation.location.page,
            end_page=relation.location.page,
            section=relation.source.domain,
            attributes={
                "source": relation.source.name,
                "target": relation.target.name,
                "cardinality": relation.cardinality,
            },
        )
    return ParsedDocument(
        title=f"{model.name}: relationships",
        text=builder.text,
        blocks=builder.blocks,
        pages=list(pages),
        parser=parser,
        part="relationships",
    )


def _relation_lines(relation: ModelRelation) -> list[str]:
    lines = [_sentences(relation)]
    for name, end in (("Source", relation.source), ("Target", relation.target)):
        lines.append(f"{name} domain: {end.domain}" if end.domain else "")
        lines.append(f"{name} role: {end.role}" if end.role else "")
    labelled = (
        ("Cardinality", relation.cardinality),
        ("Type", relation.type),
        *sorted(relation.properties.items()),
    )
    lines += [f"{one_line(k)}: {one_line(v)}" for k, v in labelled if v.strip()]
    lines += [one_line(line) for line in relation.documentation.splitlines()]
    return [line for line in lines if line]


def _warning(skip: ModelSkip) -> str:
    named = skip.name or skip.id
    return f"{skip.kind} {named!r} was left out: {skip.reason}"


def sidecars(model: EnterpriseModel) -> tuple[Sidecar, ...]:
    """Return the sidecars for consumers: the typed model and its tables.

    Args:
        model: The model.
    """
    typed = model.model_dump(mode="json", exclude_defaults=True)
    return (
        Sidecar(kind="model", name=model.name, content=model_tables(model)),
        Sidecar(kind=SIDECAR_KIND, name=model.name, content=typed),
    )


def model_tables(model: EnterpriseModel) -> dict[str, Any]:
    """Return a model as tables: metadata, entities, relationships, domains, skipped.

    Args:
        model: The model.
    """
    entities = sorted(
        (e for e in model.elements if e.role == "entity"),
        key=lambda e: (e.domain, e.subtype, e.name, e.location.page or 0),
    )
    nameless = [e for e in entities if not any(map(str.isalnum, e.name))]
    entities = [e for e in entities if e not in nameless]
    skips = (*model.skips, *map(_skip_nameless, nameless))
    return {
        "metadata": {
            "model_name": model.name,
            "source_file": model.source_file,
            "format": model.format,
            "entity_count": len(entities),
            "relationship_count": len(model.relations),
        },
        "entities": _entity_rows(entities, model),
        "relationships": [_relationship_row(r) for r in model.relations],
        "domains": _domain_rows(model),
        "skipped": [
            s.model_dump(exclude_none=True, exclude={"relation", "target_type"})
            for s in skips
        ],
    }


def _skip_nameless(entity: ModelElement) -> ModelSkip:
    return ModelSkip(
        kind="element",
        id=entity.id,
        name=entity.name,
        reason="its name has no letter and no digit",
        page=entity.location.page,
    )


def _entity_rows(
    entities: Sequence[ModelElement], model: EnterpriseModel
) -> list[dict[str, str]]:
    index = ModelIndex(model)
    rows = []
    for entity in entities:
        above = {e.role: e for e in reversed(index.ancestors(entity.id))}
        rows.append(
            {
                "domain": entity.domain,
                "domain_fact_sheet_id": _fact_sheet_id(above.get("domain")),
                "subtype": entity.subtype,
                "subtype_fact_sheet_id": _fact_sheet_id(above.get("subtype")),
                "entity_name": entity.name,
                "fact_sheet_id": entity.fact_sheet_id,
                "fact_sheet_type": entity.type,
            }
        )
    return rows


def _fact_sheet_id(element: ModelElement | None) -> str:
    return element.fact_sheet_id if element else ""


def _relationship_row(relation: ModelRelation) -> dict[str, str]:
    return {
        "source_entity": relation.source.name,
        "source_domain": relation.source.domain,
        "target_entity": relation.target.name,
        "target_domain": relation.target.domain,
        "cardinality": relation.cardinality,
        "source_cardinality": relation.source.cardinality,
        "target_cardinality": relation.target.cardinality,
        "relationship_type": relation.type,
        "label": relation.name,
        "direction": relation.direction,
    }


def _domain_rows(model: EnterpriseModel) -> list[dict[str, Any]]:
    index = ModelIndex(model)
    inside: dict[str, list[ModelElement]] = {}
    for element in model.elements:
        for above in index.ancestors(element.id):
            inside.setdefault(above.id, []).append(element)
    return [
        {
            "name": domain.name,
            "fact_sheet_id": domain.fact_sheet_id,
            "page": domain.location.page,
            "entities": sum(e.role == "entity" for e in inside.get(domain.id, ())),
            "subtypes": [
                {"name": e.name, "fact_sheet_id": e.fact_sheet_id}
                for e in inside.get(domain.id, ())
                if e.role == "subtype"
            ],
        }
        for domain in sorted(model.elements, key=lambda e: e.name)
        if domain.role == "domain"
    ]

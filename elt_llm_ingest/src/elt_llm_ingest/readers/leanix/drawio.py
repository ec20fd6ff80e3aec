"""A model as two documents, entities and relationships, and as a sidecar."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from elt_llm_core.document import BlockKind, Page, ParsedDocument, Sidecar
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.leanix.domains import Sorter
from elt_llm_ingest.readers.leanix.model import (
    End,
    Model,
    ModelEntity,
    content,
    relationship,
    type_of,
)
from elt_llm_ingest.readers.leanix.xml import Canvas, DrawioCell, Rectangle, diagrams
from elt_llm_ingest.readers.text_builder import TextBuilder

PARSER = "drawio 2"


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The entities and, if there are any, the relationships of a draw.io model.

    Every fact sheet is a domain, a subtype, an entity or a reported skip; every edge a
    relationship or a reported skip. Raises LoadError for a drawing without fact sheets.
    """
    model = Model()
    canvases = [Canvas(diagram) for diagram in diagrams(path.name, data)]
    if not any(canvas.facts() for canvas in canvases):
        shapes = sum(len(canvas.diagram.cells) for canvas in canvases)
        raise LoadError(
            path.name,
            f"the drawing has no fact sheets: none of its {shapes} shapes has a "
            "factSheetId or the type factSheet, and generic draw.io is not read",
            "export the diagram from LeanIX, or ingest a PDF of the drawing",
        )
    for canvas in canvases:
        _read_page(canvas, model)
    model.entities.sort(key=lambda e: (e.domain, e.role.subtype, e.cell.label, e.page))
    documents = [_entities(path, model)]
    if model.relationships:
        documents.append(_relationships(path, model))
    return documents


def _read_page(canvas: Canvas, model: Model) -> None:
    sorter = Sorter(canvas)
    sorter.sort()
    bounds = canvas.bounds(canvas.facts())
    number = canvas.diagram.number
    model.pages.append(
        Page(
            number=number,
            width=bounds.width,
            height=bounds.height,
            label=canvas.diagram.name,
        )
    )
    known = {_identity(e.cell, e.domain) for e in model.entities}
    model.domains.extend((domain, number) for domain in sorter.domains)
    for cell in canvas.facts():
        role = sorter.roles[cell.id]
        if role.kind == "skipped":
            _skip(model, cell, "fact_sheet", number, role.reason)
        elif role.kind == "subtype":
            model.subtypes.append((cell, role))
        elif role.kind == "entity":
            domain = role.domain.name if role.domain else ""
            if _identity(cell, domain) in known:
                _skip(
                    model,
                    cell,
                    "fact_sheet",
                    number,
                    "it is drawn twice, and read once",
                )
                continue
            known.add(_identity(cell, domain))
            box = _box(number, canvas.place(cell), bounds)
            model.entities.append(ModelEntity(cell, role, number, box))
    _read_edges(canvas, sorter, model)


def _identity(cell: DrawioCell, domain: str) -> tuple[str, str, str]:
    fact_sheet = cell.attributes.get("factSheetId", "")
    return fact_sheet, domain, cell.label.casefold()


def _read_edges(canvas: Canvas, sorter: Sorter, model: Model) -> None:
    ends: dict[str, End | str] = {
        cell_id: End(domain.name, domain.name)
        for cell_id, domain in sorter.frames.items()
    }
    for cell in canvas.facts():
        role = sorter.roles[cell.id]
        if role.kind == "entity" and role.domain is None:
            ends[cell.id] = End(cell.label, "")
        elif role.domain is None:
            ends.setdefault(cell.id, role.reason)
        else:
            name = role.domain.name
            entity = name if role.kind == "domain" else cell.label
            ends[cell.id] = End(entity, name)
    for edge in canvas.edges():
        outcome = relationship(canvas, edge, ends)
        if isinstance(outcome, str):
            named = [canvas.cells.get(i) for i in (edge.source, edge.target)]
            name = " -> ".join(cell.label if cell else "?" for cell in named)
            _skip(model, edge, "edge", canvas.diagram.number, outcome, name)
        else:
            model.relationships.append((outcome, canvas.diagram.number))


def _skip(
    model: Model, cell: DrawioCell, kind: str, page: int, reason: str, name: str = ""
) -> None:
    model.skipped.append(
        {
            "kind": kind,
            "id": cell.attributes.get("factSheetId") or cell.id,
            "name": name or cell.label,
            "page": page,
            "reason": reason,
        }
    )


def _box(page: int, place: Rectangle, bounds: Rectangle) -> Box:
    def fraction(value: float) -> float:
        return round(min(max(value, 0.0), 1.0), 5)

    return Box(
        page=page,
        left=fraction((place.left - bounds.left) / bounds.width),
        top=fraction((place.top - bounds.top) / bounds.height),
        right=fraction((place.right - bounds.left) / bounds.width),
        bottom=fraction((place.bottom - bounds.top) / bounds.height),
    )


def _entities(path: Path, model: Model) -> ParsedDocument:
    statements: dict[End, list[str]] = {}
    for relation, _ in model.relationships:
        for end in dict.fromkeys(
            _subject(end.entity, end.domain)
            for end in (relation.source, relation.target)
        ):
            statements.setdefault(end, []).append(relation.statement)
    builder = TextBuilder()
    for entity in model.entities:
        lines = _entity_lines(entity, statements)
        builder.add(
            BlockKind.FACT_SHEET,
            "\n".join(lines),
            page=entity.page,
            end_page=entity.page,
            section=" > ".join(p for p in (entity.domain, entity.role.subtype) if p),
            boxes=(entity.box,),
            attributes={
                "id": entity.cell.attributes.get("factSheetId", ""),
                "name": entity.cell.label,
                "type": type_of(entity.cell),
                "domain": entity.domain,
                "subtype": entity.role.subtype,
            },
        )
    warnings = tuple(
        f"{s['kind'].replace('_', ' ')} {s['name'] or s['id']!r} was left out: "
        f"{s['reason']}"
        for s in model.skipped
    )
    return ParsedDocument(
        title=path.stem,
        text=builder.text,
        blocks=builder.blocks,
        pages=model.pages,
        parser=PARSER,
        warnings=warnings,
        sidecars=(Sidecar(kind="model", name=path.stem, content=content(path, model)),),
    )


def _subject(entity: str, domain: str) -> End:
    """Whom a relationship is told of: all of a domain, or an entity without one."""
    return End("" if domain else entity, domain)


def _entity_lines(
    entity: ModelEntity, relations: Mapping[End, Sequence[str]]
) -> list[str]:
    lines = [entity.cell.label]
    if entity.domain:
        lines.append(f"Domain: {entity.domain}")
    if entity.role.subtype:
        lines.append(f"Subtype: {entity.role.subtype}")
    lines.append(f"Type: {type_of(entity.cell)}")
    if fact_sheet := entity.cell.attributes.get("factSheetId"):
        lines.append(f"Fact sheet: {fact_sheet}")
    subject = _subject(entity.cell.label, entity.domain)
    lines.extend(dict.fromkeys(relations.get(subject, ())))
    return lines


def _relationships(path: Path, model: Model) -> ParsedDocument:
    builder = TextBuilder()
    for relation, page in model.relationships:
        lines = [relation.sentences()]
        for name, end in (
            ("Source", relation.source),
            ("Target", relation.target),
        ):
            if end.domain:
                lines.append(f"{name} domain: {end.domain}")
        if relation.cardinality:
            lines.append(f"Cardinality: {relation.cardinality}")
        if relation.kind:
            lines.append(f"Type: {relation.kind}")
        builder.add(
            BlockKind.RELATIONSHIP,
            "\n".join(lines),
            page=page,
            end_page=page,
            section=relation.source.domain,
            attributes={
                "source": relation.source.entity,
                "target": relation.target.entity,
                "cardinality": relation.cardinality,
            },
        )
    return ParsedDocument(
        title=f"{path.stem}: relationships",
        text=builder.text,
        blocks=builder.blocks,
        pages=model.pages,
        parser=PARSER,
        part="relationships",
    )

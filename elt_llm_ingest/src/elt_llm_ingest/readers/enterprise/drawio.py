"""A draw.io file as an enterprise model: every shape and edge of every page.

drawio_cells (file to cells) -> canvas (cells with positions) -> domains and shapes
(roles of the shapes) and edges (relations) -> here, one model of all pages.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from elt_llm_core.document import Page, ParsedDocument
from elt_llm_core.enterprise.element_names import fold_name
from elt_llm_core.enterprise.model import (
    LEANIX_FORMAT,
    EnterpriseModel,
    ModelElement,
    ModelLocation,
    ModelRelation,
    ModelSkip,
    ModelView,
    RelationEnd,
)
from elt_llm_core.errors import LoadError
from elt_llm_core.records import replace_fields
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.enterprise.canvas import Canvas, Rectangle
from elt_llm_ingest.readers.enterprise.documents import model_documents
from elt_llm_ingest.readers.enterprise.drawio_cells import DrawioCell, diagrams
from elt_llm_ingest.readers.enterprise.edges import EdgeEnd, EdgeReading, read_edge
from elt_llm_ingest.readers.enterprise.shapes import PageShapes, Shape, read_pages

PARSER = "drawio 6"
FORMAT = "drawio"
DOCUMENTATION = ("documentation", "description", "tooltip")
TYPE_NAMES = ("relationType", "relationshipType")
OWN_ATTRIBUTES = frozenset(
    {
        "id", "label", "value", "type", "factSheetType", "factSheetId", "placeholders",
        "parent", "style", "vertex", "edge", "source", "target", "connectable",
        "visible", "as", *DOCUMENTATION, *TYPE_NAMES,
    }
)  # fmt: skip
# How a shape looks or behaves on the canvas, which says nothing of the thing: in small
# letters without separators, since tools write "autoSize", "autosize" and "auto-size".
# "shape", "width", "editable" and other words that can describe a thing are not here,
# although they are also keys of styles.
# LeanIX, of a fact sheet on a diagram: its size, its layout, its folding.
_LEANIX_LAYOUT = """
autosize autolayout layouttype collapsed collapsible expanded lxsettings lxxmlversion
"""
# diagrams.net, of the objects around cells.
_DIAGRAMS_LAYOUT = "placeholder backgroundimage treefolding treemoving"
# The keys of mxGraph's styles, where a tool repeats them as attributes.
_STYLE_KEYS = """
absolutearcsize arcsize autoheight autowidth bendable childlayout cloneable dashed
dashpattern edgestyle endarrow endfill endsize entryx entryy exitx exity fillcolor
fillopacity flexheight flexwidth fliph flipv foldable fontcolor fontfamily fontsize
fontstyle gradientcolor gradientdirection horizontalstack imagealign imagebackground
imageborder imageheight imageverticalalign imagewidth indicatorshape jettysize
labelbackgroundcolor labelbordercolor labelheight labelposition labelwidth linecolor
linestyle movablelabel noedgestyle nolabel orthogonalloop parentpadding
perimeterspacing pointerevents recursiveresize resizable resizeheight resizelast
resizeparent resizewidth rotatable rounded routingcenterx routingcentery
separatorcolor sourceport stackborder stackfill stackspacing startarrow startfill
startsize strokecolor strokeopacity strokewidth swimlanefillcolor swimlaneline
targetport textcolor textdirection textopacity verticalalign verticallabelposition
whitespace zindex zorder
"""
PRESENTATION = frozenset(f"{_LEANIX_LAYOUT} {_DIAGRAMS_LAYOUT} {_STYLE_KEYS}".split())


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """Return the elements and, if there are any, the relations of a drawing.

    Raises LoadError for other files and for drawings without a named shape.
    """
    model, pages = read_model(path, data)
    return model_documents(model, pages, PARSER)


def read_model(path: Path, data: bytes) -> tuple[EnterpriseModel, list[Page]]:
    """Return the model that a file draws, and its pages.

    Args:
        path: For the name of the file only.
        data: The bytes of the file.

    Returns:
        Every labelled or related shape as an element, an occurrence or an attribute of
        one, or a skip; every edge as a relation, an occurrence of one, or a skip.

    Raises:
        LoadError: If it is not a drawing, hostile, or has no named shape.
    """
    reader = _Reader(path)
    canvases = [Canvas(diagram) for diagram in diagrams(path.name, data)]
    for canvas, page in zip(canvases, read_pages(canvases), strict=True):
        reader.read_page(canvas, page)
    if not reader.elements and not reader.skips:
        raise LoadError(
            path.name,
            "the drawing has no shape with a name",
            "add names to the shapes, or ingest a picture of the drawing",
        )
    has_facts = any(canvas.facts() for canvas in canvases)
    return reader.model(LEANIX_FORMAT if has_facts else FORMAT), reader.pages


@dataclass(frozen=True)
class _PagePlace:
    """The frame of reference for positions on a page."""

    file: str
    number: int
    name: str
    canvas: Canvas
    bounds: Rectangle

    def location(self, cell: DrawioCell) -> ModelLocation:
        return ModelLocation(
            file=self.file,
            page=self.number,
            page_name=self.name,
            key=cell.id,
            box=None
            if cell.edge
            else self.canvas.place(cell).as_box(self.number, self.bounds),
        )


class _Reader:
    """Collects the model over the pages of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.pages: list[Page] = []
        self.elements: dict[str, ModelElement] = {}
        self.relations: dict[tuple[str, ...], ModelRelation] = {}
        self.views: list[ModelView] = []
        self.skips: list[ModelSkip] = []
        self._known: dict[tuple[str, ...], str] = {}

    def model(self, kind: str) -> EnterpriseModel:
        """Return the model of all pages read so far."""
        return EnterpriseModel(
            name=self._path.stem,
            source_file=self._path.name,
            format=kind,
            elements=tuple(self.elements.values()),
            relations=tuple(self.relations.values()),
            views=tuple(self.views),
            skips=tuple(self.skips),
        )

    def read_page(self, canvas: Canvas, page: PageShapes) -> None:
        """Add the elements, the relations and the view of a page."""
        number, name = canvas.diagram.number, canvas.diagram.name
        cells = [shape.cell for shape in page.shapes.values()]
        bounds = canvas.bounds(cells or canvas.facts())
        self.pages.append(
            Page(number=number, width=bounds.width, height=bounds.height, label=name)
        )
        place = _PagePlace(self._path.name, number, name, canvas, bounds)
        ids = self._add_elements(page, place)
        relation_ids = self._add_relations(page, place, ids)
        self.views.append(
            ModelView(
                id=f"{self._path.name}#{number}",
                name=name or f"Page {number}",
                element_ids=tuple(dict.fromkeys(ids.values())),
                relation_ids=tuple(dict.fromkeys(relation_ids)),
            )
        )
        for cell_id, reason in page.skips.items():
            cell = canvas.cells[cell_id]
            sheet = cell.attributes.get("factSheetId") or cell.id
            self._skip("element", sheet, cell.label, reason, number)

    def _add_elements(self, page: PageShapes, place: _PagePlace) -> dict[str, str]:
        """Add the elements of a page and return their ids by cell id."""
        attributes = _rows_of(page)
        ids: dict[str, str] = {}
        counts: Counter[tuple[str, ...]] = Counter()
        for cell_id, shape in page.shapes.items():
            identity = _identity(shape)
            counts[identity] += 1
            # Boxes with one name on one page are different elements unless an id joins
            # them.
            if not shape.cell.is_fact_sheet:
                identity = (*identity, str(counts[identity]))
            ids[cell_id] = self._known.setdefault(
                identity, self._new_id(shape.cell, place.number)
            )
            if ids[cell_id] not in self.elements:
                element = _element(shape, ids[cell_id], place.location(shape.cell))
                rows = tuple(attributes.get(cell_id, ()))
                self.elements[element.id] = replace_fields(element, attributes=rows)
            else:
                self._add_occurrence(ids[cell_id], place.location(shape.cell))
        for cell_id, shape in page.shapes.items():
            element = self.elements[ids[cell_id]]
            parent = ids.get(shape.parent, "")
            if parent not in ("", element.id) and not element.parent_id:
                self.elements[element.id] = replace_fields(element, parent_id=parent)
        return ids

    def _new_id(self, cell: DrawioCell, page: int) -> str:
        own = f"{self._path.name}#{page}.{cell.id}"
        sheet = cell.attributes.get("factSheetId", "")
        if not sheet:
            return own
        return f"{sheet}@{page}.{cell.id}" if sheet in self.elements else sheet

    def _add_occurrence(self, element_id: str, location: ModelLocation) -> None:
        element = self.elements[element_id]
        self.elements[element_id] = replace_fields(
            element, occurrences=(*element.occurrences, location)
        )

    def _add_relations(
        self, page: PageShapes, place: _PagePlace, ids: dict[str, str]
    ) -> list[str]:
        shown = []
        for edge in place.canvas.edges():
            outcome = read_edge(place.canvas, edge, page)
            if isinstance(outcome, str):
                cells = [place.canvas.cells.get(i) for i in (edge.source, edge.target)]
                name = " -> ".join(cell.label if cell else "?" for cell in cells)
                self._skip("relation", edge.id, name, outcome, place.number)
                continue
            shown.append(self._add_relation(edge, outcome, place, ids))
        return shown

    def _add_relation(
        self,
        edge: DrawioCell,
        reading: EdgeReading,
        place: _PagePlace,
        ids: dict[str, str],
    ) -> str:
        source, target = self._end(reading.source, ids), self._end(reading.target, ids)
        stated = (edge.attributes.get(key, "") for key in TYPE_NAMES)
        kind = next(filter(None, stated), reading.type)
        key = (
            *(source.element_id, source.cardinality, source.role),
            *(target.element_id, target.cardinality, target.role),
            *(reading.name, reading.direction, kind),
        )
        if known := self.relations.get(key):
            again = (*known.occurrences, place.location(edge))
            self.relations[key] = replace_fields(known, occurrences=again)
            return known.id
        self.relations[key] = ModelRelation(
            id=f"{self._path.name}#{place.number}.{edge.id}",
            source=source,
            target=target,
            name=reading.name,
            type=kind,
            direction=reading.direction,
            documentation=_documentation(edge),
            properties=_properties(edge),
            location=place.location(edge),
        )
        return self.relations[key].id

    def _end(self, end: EdgeEnd, ids: dict[str, str]) -> RelationEnd:
        element = self.elements[ids[end.cell]]
        return RelationEnd(
            element_id=element.id,
            name=element.name,
            domain=element.domain,
            cardinality=end.cardinality,
            role=end.role,
        )

    def _skip(self, kind: str, key: str, name: str, reason: str, page: int) -> None:
        self.skips.append(
            ModelSkip.model_validate(
                {"kind": kind, "id": key, "name": name, "reason": reason, "page": page}
            )
        )


def _identity(shape: Shape) -> tuple[str, ...]:
    """Return the key that two drawings of one element share."""
    sheet = shape.cell.attributes.get("factSheetId", "")
    domain = fold_name(shape.domain)
    where = (domain,) if sheet else (shape.role, domain, fold_name(shape.subtype))
    return (sheet, fold_name(shape.cell.label), *where)


def _element(shape: Shape, element_id: str, location: ModelLocation) -> ModelElement:
    cell = shape.cell
    return ModelElement(
        id=element_id,
        name=cell.label,
        type=type_of(cell),
        role=shape.role,
        fact_sheet_id=cell.attributes.get("factSheetId", ""),
        domain=shape.domain,
        subtype=shape.subtype,
        documentation=_documentation(cell),
        properties=_properties(cell),
        location=location,
    )


def type_of(cell: DrawioCell) -> str:
    """Return the type of a fact sheet, or the one stated by a shape's object."""
    if cell.is_fact_sheet:
        return cell.attributes.get("factSheetType") or "Unknown"
    return cell.attributes.get("type") or "Shape"


def _rows_of(page: PageShapes) -> dict[str, list[str]]:
    """Return the texts of the rows of each table or class, in document order."""
    rows: dict[str, list[str]] = {}
    for row, text in page.rows.items():
        rows.setdefault(page.stands_for[row], []).append(text)
    return rows


def _documentation(cell: DrawioCell) -> str:
    return next((v for k in DOCUMENTATION if (v := cell.attributes.get(k, ""))), "")


def _properties(cell: DrawioCell) -> dict[str, str]:
    return {
        key: value
        for key, value in sorted(cell.attributes.items())
        if key not in OWN_ATTRIBUTES and value and not _is_presentation(key)
    }


def _is_presentation(key: str) -> bool:
    return re.sub(r"[\W_]", "", key).casefold() in PRESENTATION

"""The roles of the shapes of a page: by domains on a LeanIX page, else by boxes.

A page with fact sheets is read in LeanIX's layout. On any other page every shape with
text is an element: the content of a box belongs to it, rows of a table or a class are
its attributes, and free text is a note.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from elt_llm_core.enterprise.model import ElementRole
from elt_llm_ingest.readers.enterprise.canvas import Canvas, Rectangle, is_group
from elt_llm_ingest.readers.enterprise.domains import NO_DOMAIN, Sorter
from elt_llm_ingest.readers.enterprise.drawio_cells import DrawioCell

NO_NAME = "it has no name"
NO_FACT_SHEET = "it is not a fact sheet, and no edge is connected to it"
STACKED = frozenset({"stackLayout", "tableLayout"})
ROW_SHAPES = frozenset({"partialRectangle", "tableRow", "tableCell"})


@dataclass
class Shape:
    """A shape that becomes an element; `parent` is its parent shape."""

    cell: DrawioCell
    role: ElementRole = "entity"
    domain: str = ""
    subtype: str = ""
    parent: str = ""
    attributes: list[str] = field(default_factory=list)


@dataclass
class PageShapes:
    """The shapes of a page.

    `stands_for` maps a shape that is no element to the element that it is part of,
    `skips` maps a skipped shape to the reason. Both use cell ids.
    """

    shapes: dict[str, Shape] = field(default_factory=dict)
    stands_for: dict[str, str] = field(default_factory=dict)
    skips: dict[str, str] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)  # id of a row to its text

    def add(self, shape: Shape) -> None:
        """Add a shape; the first one of a cell counts."""
        self.shapes.setdefault(shape.cell.id, shape)


# A fact sheet by id and name, with its first shape in each domain; "" is none.
_Homes = dict[tuple[str, str], dict[str, Shape]]


def read_shapes(canvas: Canvas) -> PageShapes:
    """Return the roles of the shapes of a page.

    Args:
        canvas: The page.

    Returns:
        Every fact sheet, every other shape with text and every shape with an edge: as
        an element, as a part of one, or as a skip.
    """
    return _leanix_page(canvas) if canvas.facts() else _GenericPage(canvas).read()


def read_pages(canvases: Sequence[Canvas]) -> list[PageShapes]:
    """Return the roles of the shapes of each page of a file.

    A diagram often repeats a fact sheet of another page beside its own domains, as the
    end of a relation. It is the one of its id and name, and stands in the domain that
    the other page has it in, unless pages disagree on that.

    Args:
        canvases: The pages of a file.
    """
    pages = [read_shapes(canvas) for canvas in canvases]
    homes: _Homes = defaultdict(dict)
    for page in pages:
        for shape in page.shapes.values():
            if key := _sheet_of(shape.cell):
                homes[key].setdefault(shape.domain, shape)
    for canvas, page in zip(canvases, pages, strict=True):
        _place_strays(canvas, page, homes)
    return pages


def _place_strays(canvas: Canvas, page: PageShapes, homes: _Homes) -> None:
    strays = [i for i, reason in page.skips.items() if reason == NO_DOMAIN]
    for cell in (canvas.cells[i] for i in strays):
        if home := _only_home(homes, cell):
            del page.skips[cell.id]
            page.add(Shape(cell, home.role, home.domain, home.subtype))
    for shape in page.shapes.values():
        home = None if shape.domain else _only_home(homes, shape.cell)
        if home is not None:
            shape.role, shape.domain = home.role, home.domain
            shape.subtype = home.subtype


def _sheet_of(cell: DrawioCell) -> tuple[str, str] | None:
    sheet = cell.attributes.get("factSheetId", "")
    return (sheet, cell.label.casefold()) if sheet else None


def _only_home(homes: _Homes, cell: DrawioCell) -> Shape | None:
    """Return the shape of a fact sheet in its only domain, or in none at all."""
    key = _sheet_of(cell)
    by_domain = homes.get(key, {}) if key else {}
    placed = [shape for domain, shape in by_domain.items() if domain]
    if len(placed) > 1:
        return None
    return placed[0] if placed else by_domain.get("")


def _leanix_page(canvas: Canvas) -> PageShapes:
    sorter = Sorter(canvas)
    sorter.sort()
    page = PageShapes()
    roles = [(cell, sorter.roles[cell.id]) for cell in canvas.facts()]
    for cell, role in [*roles, *sorter.titled]:
        if role.kind == "skipped":
            page.skips[cell.id] = role.reason
            continue
        parent = role.parent
        if parent is None and role.domain and role.kind != "domain":
            parent = role.domain.named_by
        page.add(
            Shape(
                cell,
                _ROLES[role.kind],
                role.domain.name if role.domain else "",
                role.subtype,
                parent.id if parent else "",
            )
        )
    for frame, named in sorter.named_by.items():
        if frame != named.id:
            page.stands_for[frame] = named.id
    _add_plain_shapes(canvas, page)
    return page


_ROLES: dict[str, ElementRole] = {
    "domain": "domain",
    "subtype": "subtype",
    "entity": "entity",
}


def _add_plain_shapes(canvas: Canvas, page: PageShapes) -> None:
    """Add other shapes: related ones are elements, the rest is decoration."""
    tied = canvas.tied_ids()
    for cell in canvas.plain_shapes():
        if cell.id in page.shapes or cell.id in page.stands_for:
            continue
        if cell.id not in tied:
            if cell.label:
                page.skips[cell.id] = NO_FACT_SHEET
        elif not cell.label:
            page.skips[cell.id] = NO_NAME
        else:
            around = [page.stands_for.get(c.id, c.id) for c in canvas.above(cell)]
            parent = next((page.shapes[i] for i in around if i in page.shapes), None)
            page.add(_below(cell, parent))


def _below(cell: DrawioCell, parent: Shape | None) -> Shape:
    """Return an entity directly below a shape, with the names of its groups."""
    if parent is None:
        return Shape(cell)
    if parent.role == "domain":
        return Shape(cell, "entity", parent.cell.label, "", parent.cell.id)
    subtype = parent.cell.label if parent.role == "subtype" else parent.subtype
    return Shape(cell, "entity", parent.domain, subtype, parent.cell.id)


class _GenericPage:
    """A page without fact sheets."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._tied = canvas.tied_ids()
        self._page = PageShapes()
        self._cells = canvas.plain_shapes()

    def read(self) -> PageShapes:
        named = [cell for cell in self._cells if self._is_element(cell)]
        parents = self._parents(named)
        holding = {parent.id for parent in parents.values() if parent is not None}
        depths: dict[str, Shape] = {}
        for cell in sorted(named, key=lambda c: len(_chain(c, parents))):
            shape = _below(cell, depths.get(_id_of(parents[cell.id])))
            if cell.id in holding:
                shape.role = "subtype" if shape.parent else "domain"
                shape.domain = shape.domain or ("" if shape.parent else cell.label)
            elif _is_text(cell) and cell.id not in self._tied:
                shape.role = "note"
            depths[cell.id] = shape
        for cell in named:
            self._page.add(depths[cell.id])
        return self._page

    def _is_element(self, cell: DrawioCell) -> bool:
        """Return whether a shape is an element; record rows, skips and parts."""
        owner = self._row_owner(cell)
        if owner is not None:
            self._page.stands_for[cell.id] = owner.id
            if cell.label:
                self._page.rows[cell.id] = cell.label
            return False
        if cell.label:
            return True
        if cell.id in self._tied:
            named = self._only_name_in(cell)
            if named is not None:
                self._page.stands_for[cell.id] = named.id
            else:
                self._page.skips[cell.id] = NO_NAME
        return False

    def _row_owner(self, cell: DrawioCell) -> DrawioCell | None:
        """Return the table or class of a row or of a cell of a row."""
        above = self._canvas.above(cell)
        if not above or not _is_row(cell, above[0]):
            return None
        return next(
            (c for c in above if c.vertex and c.label and not _is_row_shape(c)), None
        )

    def _only_name_in(self, cell: DrawioCell) -> DrawioCell | None:
        """Return the only shape with text in a group, which names the group."""
        inside = [
            c
            for c in self._cells
            if c.label and any(a.id == cell.id for a in self._canvas.above(c))
        ]
        return inside[0] if len(inside) == 1 and is_group(cell) else None

    def _parents(self, named: list[DrawioCell]) -> dict[str, DrawioCell | None]:
        """Return the parent of each shape: by the file, or the smallest box around."""
        names = {cell.id for cell in named}
        places = {cell.id: self._canvas.place(cell) for cell in named}
        boxes = sorted(
            (c for c in named if not _is_text(c) and places[c.id].area > 0),
            key=lambda c: places[c.id].area,
        )
        parents: dict[str, DrawioCell | None] = {}
        for cell in named:
            above = [c for c in self._canvas.above(cell) if c.id in names]
            parents[cell.id] = above[0] if above else _drawn_around(cell, boxes, places)
        return parents


def _drawn_around(
    cell: DrawioCell, boxes: list[DrawioCell], places: dict[str, Rectangle]
) -> DrawioCell | None:
    """Return the smallest box that is drawn around all of a shape."""
    own = places[cell.id]
    if own.area <= 0:
        return None
    for box in boxes:
        place = places[box.id]
        if box.id != cell.id and place.area > own.area and place.holds(own):
            return box
    return None


def _chain(cell: DrawioCell, parents: dict[str, DrawioCell | None]) -> list[str]:
    chain: list[str] = []
    current: DrawioCell | None = cell
    while current is not None and current.id not in chain:
        chain.append(current.id)
        current = parents[current.id]
    return chain


def _id_of(cell: DrawioCell | None) -> str:
    return cell.id if cell is not None else ""


def _is_text(cell: DrawioCell) -> bool:
    return "text" in cell.style or cell.style.get("shape") in {"note", "note2"}


def _is_row(cell: DrawioCell, parent: DrawioCell) -> bool:
    """Return whether a shape is a row of its parent table or class."""
    stacked = parent.style.get("childLayout") in STACKED or _is_row_shape(parent)
    container = "swimlane" in cell.style or cell.style.get("container") == "1"
    return _is_row_shape(cell) or (stacked and not container)


def _is_row_shape(cell: DrawioCell) -> bool:
    return cell.style.get("shape") in ROW_SHAPES or "line" in cell.style

"""A draw.io file as pages of cells. Entities and document types are refused."""

import base64
import binascii
import re
import urllib.parse
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.text_builder import one_line

MAX_INFLATED = 50_000_000  # bytes of one page of a drawing; chosen, not measured
TAG = re.compile(r"<[^<>]*>")
WRAPPERS = ("object", "UserObject")


@dataclass(frozen=True)
class DrawioCell:
    """An mxCell with the attributes of the object around it."""

    id: str
    parent: str
    style: Mapping[str, str]
    vertex: bool
    edge: bool
    source: str
    target: str
    label: str
    attributes: Mapping[str, str]
    geometry: Mapping[str, float] | None
    relative: bool

    @property
    def is_fact_sheet(self) -> bool:
        """Whether the shape stands for a fact sheet of the inventory."""
        attributes = self.attributes
        return not self.edge and (
            attributes.get("type") == "factSheet"
            or "factSheetId" in attributes
            or "factSheetType" in attributes
        )


@dataclass(frozen=True)
class Diagram:
    """One page: its cells in document order."""

    number: int
    name: str
    cells: list[DrawioCell] = field(repr=False)


def diagrams(name: str, data: bytes) -> list[Diagram]:
    """The pages of a file. Raises LoadError for what is no diagram, or hostile."""
    root = _parse(name, data)
    if root.tag == "mxGraphModel":
        return [Diagram(1, "", list(_cells(root)))]
    if root.tag != "mxfile":
        raise LoadError(
            name,
            f"the XML is no draw.io diagram (its root is <{root.tag[:40]}>)",
            "export the diagram from draw.io as XML",
        )
    pages = []
    for number, element in enumerate(root.iter("diagram"), start=1):
        model = element.find("mxGraphModel")
        if model is None:
            model = _parse(name, _inflate(name, element.text or ""))
        pages.append(Diagram(number, element.get("name", ""), list(_cells(model))))
    if not pages:
        raise LoadError(name, "the draw.io file has no page")
    return pages


def _parse(name: str, data: bytes) -> Any:
    try:
        return fromstring(data, forbid_dtd=True)
    except DefusedXmlException as error:
        raise LoadError(
            name,
            "its XML declares a document type or entities, which can hide other files",
            "export it again from draw.io",
        ) from error
    except (ParseError, ValueError) as error:
        raise LoadError(
            name, f"the XML is damaged ({error})", "export it again from draw.io"
        ) from error


def _inflate(name: str, text: str) -> bytes:
    """The XML of a compressed page: base64 of raw deflate of URL-quoted text."""
    try:
        packed = base64.b64decode(text.strip(), validate=False)
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        unpacked = unpacker.decompress(packed, MAX_INFLATED)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise LoadError(
            name, "a compressed page is damaged", "save it uncompressed in draw.io"
        ) from error
    if unpacker.unconsumed_tail:
        raise LoadError(
            name,
            f"a compressed page unpacks to more than {MAX_INFLATED / 1e6:.0f} MB",
            "if you trust the file, save it uncompressed in draw.io",
        )
    return urllib.parse.unquote_to_bytes(unpacked)


def _cells(model: Any) -> Iterator[DrawioCell]:
    root = model.find("root")
    for element in root if root is not None else ():
        if element.tag == "mxCell":
            yield _cell(element, element.attrib, element.get("value", ""))
        elif element.tag in WRAPPERS:
            inner = element.find("mxCell")
            if inner is not None:
                yield _cell(inner, element.attrib, element.get("label", ""))


def _cell(element: Any, attributes: Mapping[str, str], label: str) -> DrawioCell:
    geometry = element.find("mxGeometry")
    return DrawioCell(
        id=attributes.get("id") or element.get("id", ""),
        parent=element.get("parent", ""),
        style=_style(element.get("style", "")),
        vertex=element.get("vertex") == "1",
        edge=element.get("edge") == "1",
        source=element.get("source", ""),
        target=element.get("target", ""),
        label=clean_label(label),
        attributes=dict(attributes),
        geometry=_geometry(geometry),
        relative=geometry is not None and geometry.get("relative") == "1",
    )


def _style(text: str) -> dict[str, str]:
    """`a=1;group;` as {"a": "1", "group": ""}."""
    parts = (part.partition("=") for part in text.split(";") if part.strip())
    return {key.strip(): value.strip() for key, _, value in parts}


def _geometry(element: Any) -> dict[str, float] | None:
    if element is None:
        return None
    numbers = {}
    for key in ("x", "y", "width", "height"):
        try:
            numbers[key] = float(element.get(key) or 0.0)
        except ValueError:
            numbers[key] = 0.0
    return numbers


def clean_label(label: str) -> str:
    """A label's words: tags out, entities decoded (some are encoded twice)."""
    text = TAG.sub(" ", label)
    return one_line(TAG.sub(" ", unescape(unescape(text))).replace("\xa0", " "))


@dataclass(frozen=True)
class Rectangle:
    """A place on the canvas, in draw.io's pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Its size."""
        return self.width * self.height

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    def holds_centre(self, other: "Rectangle") -> bool:
        """Whether the other's centre is inside, edges included."""
        x, y = other.left + other.width / 2, other.top + other.height / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def holds(self, other: "Rectangle") -> bool:
        """Whether all of the other is inside, edges included."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


class Canvas:
    """The cells of one page and where they stand."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.cells = {cell.id: cell for cell in diagram.cells}
        roots = {
            c.id for c in diagram.cells if not c.parent or c.parent not in self.cells
        }
        self.layers = roots | {
            c.id
            for c in diagram.cells
            if c.parent in roots and not c.vertex and not c.edge
        }

    def facts(self) -> list[DrawioCell]:
        """The fact sheets in document order."""
        return [cell for cell in self.diagram.cells if cell.is_fact_sheet]

    def edges(self) -> list[DrawioCell]:
        """The edges in document order."""
        return [cell for cell in self.diagram.cells if cell.edge]

    def above(self, cell: DrawioCell) -> list[DrawioCell]:
        """The cells around one, innermost first, without layers."""
        ancestors: list[DrawioCell] = []
        seen = {cell.id}
        parent = self.cells.get(cell.parent)
        while parent and parent.id not in self.layers and parent.id not in seen:
            ancestors.append(parent)
            seen.add(parent.id)
            parent = self.cells.get(parent.parent)
        return ancestors

    def place(self, cell: DrawioCell) -> Rectangle:
        """Where a shape stands on the canvas."""
        own = cell.geometry or {}
        left, top = own.get("x", 0.0), own.get("y", 0.0)
        for parent in self.above(cell):
            if parent.geometry and not parent.edge:
                left += parent.geometry["x"]
                top += parent.geometry["y"]
        return Rectangle(left, top, own.get("width", 0.0), own.get("height", 0.0))

    def bounds(self, cells: Sequence[DrawioCell]) -> Rectangle:
        """The rectangle around shapes."""
        places = [self.place(cell) for cell in cells]
        if not places:
            return Rectangle(0, 0, 1, 1)
        left, top = min(p.left for p in places), min(p.top for p in places)
        right, bottom = max(p.right for p in places), max(p.bottom for p in places)
        return Rectangle(left, top, max(right - left, 1), max(bottom - top, 1))


def is_group(cell: DrawioCell) -> bool:
    """Whether a shape is one that draw.io made by grouping others."""
    return cell.vertex and "group" in cell.style

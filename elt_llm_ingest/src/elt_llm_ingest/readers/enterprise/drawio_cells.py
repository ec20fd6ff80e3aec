"""A draw.io file as pages of cells. XML entities and document types are refused.

A page is XML, XML as text, or compressed text. A cell is an `mxCell`, or one in an
`object` or `UserObject` with its label and attributes, or one with an object as its
value, as in early versions.
"""

import base64
import binascii
import re
import urllib.parse
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.text_builder import one_line

MAX_INFLATED = 50_000_000  # bytes of one page of a drawing; chosen, not measured
# Known tags only: "List<String>" contains none.
INLINE = "a|b|code|em|font|i|s|small|span|strike|strong|sub|sup|tt|u"
BREAKING = "blockquote|br|center|div|h[1-6]|hr|img|li|ol|p|pre|table|tbody|td|th|tr|ul"
INLINE_TAG = re.compile(rf"</?(?:{INLINE})(?:\s[^<>]*)?/?>", re.IGNORECASE)
BREAKING_TAG = re.compile(rf"</?(?:{BREAKING})(?:\s[^<>]*)?/?>", re.IGNORECASE)
LOST_CELL = '<mxCell vertex="1" parent="1"/>'
FAR = 1e9  # pixels; larger values, infinity and NaN are damaged numbers
PLACEHOLDER = re.compile(r"%([^%\s]+)%")
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
        """Return whether the shape represents a fact sheet of the inventory."""
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
    """Return the pages of a file. Raises LoadError for invalid or hostile files."""
    root = _parse(name, data)
    if root.tag == "mxGraphModel":
        return [Diagram(1, "", list(_cells(root)))]
    if root.tag != "mxfile":
        raise LoadError(
            name,
            f"the XML is not a draw.io diagram (its root is <{root.tag[:40]}>)",
            "export the diagram from draw.io as XML",
        )
    pages = []
    for number, element in enumerate(root.iter("diagram"), start=1):
        model = element.find("mxGraphModel")
        if model is None:
            model = _parse(name, _page_xml(name, element.text or ""))
        pages.append(Diagram(number, element.get("name", ""), list(_cells(model))))
    if not pages:
        raise LoadError(name, "the draw.io file has no page")
    return pages


def _page_xml(name: str, text: str) -> bytes:
    """Return the XML of a page from text: plain, URL-quoted or compressed."""
    packed = text.strip()
    if packed.startswith("<"):
        return packed.encode()
    if packed[:3].casefold() == "%3c":
        return urllib.parse.unquote_to_bytes(packed)
    return _inflate(name, packed)


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
    """Return the XML of a compressed page: base64 of raw deflate of URL-quoted text."""
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
    """Return the cells in document order, each with a unique id."""
    root = model if model.tag == "root" else model.find("root")
    seen: set[str] = set()
    for number, element in enumerate(root if root is not None else (), start=1):
        cell = _read_cell(element)
        if cell is None:
            continue
        name = cell.id or f"cell {number}"
        if name in seen:
            name = f"{name}~{number}"
        seen.add(name)
        yield cell if cell.id == name else replace(cell, id=name)


def _read_cell(element: Any) -> DrawioCell | None:
    """Return the cell of an element, or None if it is none."""
    if element.tag == "mxCell":
        value = next((e for e in element if e.get("as") == "value"), None)
        attributes = dict(element.attrib)
        if value is not None:
            attributes = {**value.attrib, "id": element.get("id", "")}
        return _cell(
            element, attributes, attributes.get("label") or element.get("value", "")
        )
    if element.tag in WRAPPERS:
        inner = element.find("mxCell")
        # A wrapper whose cell is missing is still a drawn shape.
        inner = inner if inner is not None else fromstring(LOST_CELL)
        return _cell(inner, element.attrib, element.get("label", ""))
    return None


def _cell(element: Any, attributes: Mapping[str, str], label: str) -> DrawioCell:
    geometry = element.find("mxGeometry")
    if attributes.get("placeholders") == "1":
        label = PLACEHOLDER.sub(lambda m: attributes.get(m[1], m[0]), label)
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
    """Parse `a=1;group;` to {"a": "1", "group": ""}."""
    parts = (part.partition("=") for part in text.split(";") if part.strip())
    return {key.strip(): value.strip() for key, _, value in parts}


def _geometry(element: Any) -> dict[str, float] | None:
    if element is None:
        return None
    numbers = {}
    for key in ("x", "y", "width", "height"):
        try:
            number = float(element.get(key) or 0.0)
        except ValueError:
            number = 0.0
        numbers[key] = number if abs(number) < FAR else 0.0
    return numbers


def clean_label(label: str) -> str:
    """Return a label without tags, entities decoded (some are encoded twice)."""
    text = _without_tags(unescape(unescape(_without_tags(label))))
    return one_line(text.replace("\xa0", " "))


def _without_tags(text: str) -> str:
    return BREAKING_TAG.sub(" ", INLINE_TAG.sub("", text))

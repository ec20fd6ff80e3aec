"""Entries of both formats of ArchiMate, before they become a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from elt_llm_ingest.readers.enterprise.canvas import Rectangle
from elt_llm_ingest.readers.text_builder import one_line

XML_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass
class ModelEntry:
    """An element, a relation, a folder or a view as in the file."""

    key: str
    type: str = ""
    name: str = ""
    documentation: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    folder: str = ""  # key of its folder
    source: str = ""  # both for relations only
    target: str = ""


@dataclass
class ViewNode:
    """A shape of a view: an element, a text, or a link to another view."""

    key: str
    element: str = ""
    name: str = ""
    text: str = ""
    linked_view: str = ""
    place: Rectangle | None = None


@dataclass
class ViewEntry(ModelEntry):
    """A view with its shapes, and the relations that it shows."""

    viewpoint: str = ""
    nodes: list[ViewNode] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)


@dataclass
class FileEntries:
    """All entries of a file, in its order."""

    name: str = ""
    documentation: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    folders: list[ModelEntry] = field(default_factory=list)
    elements: list[ModelEntry] = field(default_factory=list)
    relations: list[ModelEntry] = field(default_factory=list)
    views: list[ViewEntry] = field(default_factory=list)


def type_name(element: Any) -> str:
    """Return the type of an XML element without prefix or the suffix of relations.

    Args:
        element: Such as `<element xsi:type="archimate:FlowRelationship">`.
    """
    name = (element.get(XML_TYPE) or "").rpartition(":")[2]
    return name.removesuffix("Relationship") or name


def join_lines(texts: Iterable[str | None]) -> str:
    """Return texts as lines, each with single spaces, without empty ones.

    Args:
        texts: Texts of XML elements.
    """
    lines = [line for text in texts for line in (text or "").splitlines()]
    return "\n".join(line for line in map(one_line, lines) if line)


def collect_properties(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return properties by key; several values of one key are joined.

    Args:
        pairs: Keys and values in the order of the file.
    """
    properties: dict[str, list[str]] = {}
    for key, value in pairs:
        if key or value:
            properties.setdefault(one_line(key) or "Property", []).append(value)
    return {key: "; ".join(values) for key, values in sorted(properties.items())}

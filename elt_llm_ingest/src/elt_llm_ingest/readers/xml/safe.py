"""Parse XML safely: no entities, no external access, no declarations."""

import re
from collections.abc import Iterator
from typing import Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from elt_llm_core.errors import LoadError

# A document type with a name only is harmless; one with declarations is not.
DECLARES = re.compile(rb"<!DOCTYPE[^>\[]*\[|<!ENTITY", re.IGNORECASE)


def parse_xml(name: str, data: bytes) -> Any:
    """Return the root element. Raises LoadError for damaged and hostile XML."""
    if DECLARES.search(data.replace(b"\x00", b"")):
        raise hostile_xml_error(name)
    try:
        return fromstring(data, forbid_dtd=False)
    except DefusedXmlException as error:
        raise hostile_xml_error(name) from error
    except (ParseError, ValueError, LookupError) as error:
        raise LoadError(
            name,
            f"its XML is damaged ({str(error)[:80]})",
            "export or download it again",
        ) from error


def hostile_xml_error(name: str) -> LoadError:
    """Return the error for XML with entities or an internal document type."""
    return LoadError(
        name,
        "its XML declares a document type or entities, which can hide other files",
        "export it again without them",
    )


def tag(element: Any) -> str:
    """Return the name without its namespace; empty for comments."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child_elements(element: Any, *names: str) -> Iterator[Any]:
    """Return the child elements with these names, or all, in order."""
    return (child for child in element if not names or tag(child) in names)


def first(element: Any, *path: str) -> Any:
    """Return the first element along a path of names, or None."""
    for name in path:
        element = next(child_elements(element, name), None)
        if element is None:
            return None
    return element

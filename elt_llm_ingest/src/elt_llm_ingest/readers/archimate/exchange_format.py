"""The ArchiMate Model Exchange File Format of The Open Group, versions 2.1 to 3.2.

The schemas are at https://www.opengroup.org/xsd/archimate/.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from elt_llm_ingest.readers.archimate.entries import (
    XML_LANGUAGE,
    FileEntries,
    ModelEntry,
    ViewEntry,
    ViewNode,
    collect_properties,
    join_lines,
    type_name,
)
from elt_llm_ingest.readers.enterprise.canvas import Rectangle
from elt_llm_ingest.readers.text_builder import one_line
from elt_llm_ingest.readers.xml import safe

NAMES = ("name", "label")  # version 2.1 writes label
EXTRA = ("accessType", "isDirected", "modifier")  # qualifiers of a relation


def read_exchange(root: Any) -> FileEntries:
    """Return the entries of an exchange file.

    Args:
        root: Its root element.
    """
    definitions = _definitions(root)
    entries = FileEntries(
        name=_name(root),
        documentation=_documentation(root),
        properties=_properties(root, definitions),
    )
    for number, element in enumerate(_each_entry(root, "elements"), start=1):
        entries.elements.append(_entry(element, f"element {number}", definitions))
    for number, element in enumerate(_each_entry(root, "relationships"), start=1):
        entry = _entry(element, f"relationship {number}", definitions)
        entry.source, entry.target = (
            element.get("source", ""),
            element.get("target", ""),
        )
        entry.properties |= {k: v for k in EXTRA if (v := element.get(k))}
        entries.relations.append(entry)
    for number, view in enumerate(_views(root), start=1):
        entries.views.append(_view(view, f"view {number}", definitions))
    _add_folders(root, entries)
    return entries


def _each_entry(root: Any, name: str) -> Iterator[Any]:
    for group in safe.child_elements(root, name):
        yield from safe.child_elements(group)


def _views(root: Any) -> Iterator[Any]:
    for views in safe.child_elements(root, "views"):
        for child in safe.child_elements(views, "diagrams", "view"):
            if safe.tag(child) == "view":  # version 2.1
                yield child
            else:
                yield from safe.child_elements(child, "view")


def _definitions(root: Any) -> dict[str, str]:
    """Return names of properties by identifier, for all versions."""
    return {
        element.get("identifier", ""): _name(element) or element.get("name", "")
        for element in root.iter()
        if safe.tag(element) in {"propertyDefinition", "propertydef"}
    }


def _name(element: Any) -> str:
    """Return the first name; names in further languages are properties."""
    names = list(safe.child_elements(element, *NAMES))
    return one_line(names[0].text or "") if names else ""


def _documentation(element: Any) -> str:
    texts = safe.child_elements(element, "documentation", "purpose")
    return join_lines(child.text for child in texts)


def _properties(element: Any, definitions: dict[str, str]) -> dict[str, str]:
    pairs = [
        (f"Name ({child.get(XML_LANGUAGE, '')})", one_line(child.text or ""))
        for child in list(safe.child_elements(element, *NAMES))[1:]
    ]
    for group in safe.child_elements(element, "properties"):
        for item in safe.child_elements(group, "property"):
            key = item.get("propertyDefinitionRef") or item.get("identifierref") or ""
            values = [v.text for v in safe.child_elements(item, "value")]
            value = join_lines(values).replace("\n", " ")
            pairs.append((definitions.get(key) or key, value))
    return collect_properties(pairs)


def _entry(element: Any, key: str, definitions: dict[str, str]) -> ModelEntry:
    return ModelEntry(
        key=element.get("identifier") or key,
        type=type_name(element),
        name=_name(element),
        documentation=_documentation(element),
        properties=_properties(element, definitions),
    )


def _view(element: Any, key: str, definitions: dict[str, str]) -> ViewEntry:
    entry = _entry(element, key, definitions)
    view = ViewEntry(**vars(entry), viewpoint=element.get("viewpoint", ""))
    for node in element.iter():
        if safe.tag(node) == "node":
            view.nodes.append(_node(node))
        elif safe.tag(node) == "connection":
            relation = node.get("relationshipRef") or node.get("relationshipref")
            view.relations += [relation] if relation else []
    return view


def _node(node: Any) -> ViewNode:
    links = [child.get("ref", "") for child in safe.child_elements(node, "viewRef")]
    lines = join_lines(
        c.text for c in safe.child_elements(node, *NAMES, "documentation")
    )
    return ViewNode(
        key=node.get("identifier", ""),
        element=node.get("elementRef") or node.get("elementref") or "",
        name=lines.partition("\n")[0],
        text=lines,
        linked_view=links[0] if links else "",
        place=_place(node),
    )


def _place(node: Any) -> Rectangle | None:
    try:
        numbers = [float(node.get(key, "")) for key in ("x", "y", "w", "h")]
    except ValueError:
        return None
    return Rectangle(*numbers)


def _add_folders(root: Any, entries: FileEntries) -> None:
    """Add folders: items with a label; the elements they list are put into them."""
    listed: Sequence[ModelEntry] = (
        *entries.elements, *entries.relations, *entries.views,
    )  # fmt: skip
    known = {entry.key: entry for entry in listed}
    groups = safe.child_elements(root, "organizations", "organization")
    waiting = [
        (item, "") for group in groups for item in safe.child_elements(group, "item")
    ]
    waiting.reverse()
    while waiting:
        item, folder = waiting.pop()
        reference = item.get("identifierRef") or item.get("identifierref")
        if reference:
            if reference in known:
                known[reference].folder = folder
            continue
        name = _name(item)
        if name:
            key = item.get("identifier") or f"folder {len(entries.folders) + 1}"
            text = _documentation(item)
            entries.folders.append(
                ModelEntry(key, name=name, documentation=text, folder=folder)
            )
            folder = key
        inner = list(safe.child_elements(item, "item"))
        waiting += [(child, folder) for child in reversed(inner)]

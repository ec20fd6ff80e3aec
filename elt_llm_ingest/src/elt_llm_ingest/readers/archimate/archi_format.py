"""The files of the modelling tool Archi (`.archimate`), plain or with their pictures.

See https://www.archimatetool.com. A file with pictures is an archive with `model.xml`.
"""

import zipfile
from pathlib import Path
from typing import Any

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import BROKEN, check_zip
from elt_llm_ingest.readers.archimate.entries import (
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

MODEL_FILE = "model.xml"
VIEWS = ("ArchimateDiagramModel", "DiagramModel", "SketchModel", "CanvasModel")
WIDTH, HEIGHT = 120.0, 55.0  # default size if the file has -1
ACCESS = {
    "": "write",
    "0": "write",
    "1": "read",
    "2": "unspecified",
    "3": "read and write",
}
EXTRA = ("directed", "strength", "viewpoint")
Waiting = list[tuple[Any, str]]


def unpack_archi(path: Path, data: bytes) -> bytes:
    """Return the XML of a file, unpacked if it is an archive.

    Args:
        path: For its name only.
        data: The bytes of the file.

    Raises:
        LoadError: If the archive is damaged, a bomb, or contains no model.
    """
    if not data.startswith(b"PK"):
        return data
    with check_zip(path.name, data) as archive:
        try:
            return archive.read(MODEL_FILE)
        except (KeyError, *BROKEN, zipfile.LargeZipFile) as error:
            raise LoadError(
                path.name,
                f"its archive has no readable {MODEL_FILE}",
                "save the model again in Archi",
            ) from error


def read_archi(root: Any) -> FileEntries:
    """Return the entries of a file of Archi.

    Args:
        root: Its root element.
    """
    entries = FileEntries(
        name=one_line(root.get("name", "")),
        documentation=_documentation(root),
        properties=_properties(root),
    )
    waiting: Waiting = _inner(root, "")
    while waiting:
        element, folder = waiting.pop()
        key = element.get("id") or f"{safe.tag(element)} {len(waiting)}"
        if safe.tag(element) == "folder":
            entries.folders.append(_entry(element, key, folder))
            waiting += _inner(element, key)
        else:
            _add_element(element, key, folder, entries)
    return entries


def _inner(element: Any, folder: str) -> Waiting:
    """Return the contents of a folder in reverse, for use as a stack."""
    return [(e, folder) for e in safe.child_elements(element, "folder", "element")][
        ::-1
    ]


def _add_element(element: Any, key: str, folder: str, entries: FileEntries) -> None:
    kind = type_name(element)
    entry = _entry(element, key, folder)
    if element.get("source") is not None or element.get("target") is not None:
        entry.source, entry.target = (
            element.get("source", ""),
            element.get("target", ""),
        )
        if kind == "Access":
            entry.properties["access"] = ACCESS.get(
                element.get("accessType", ""), "unspecified"
            )
        entries.relations.append(entry)
    elif kind in VIEWS:
        entries.views.append(_view(element, entry))
    else:
        if kind == "Junction" and element.get("type"):
            entry.type = f"{element.get('type', '').capitalize()}Junction"
        entries.elements.append(entry)


def _entry(element: Any, key: str, folder: str) -> ModelEntry:
    extra = {name: value for name in EXTRA if (value := element.get(name))}
    return ModelEntry(
        key=key,
        type=type_name(element),
        name=one_line(element.get("name", "")),
        documentation=_documentation(element),
        properties=extra | _properties(element),
        folder=folder,
    )


def _documentation(element: Any) -> str:
    return join_lines(
        child.text for child in safe.child_elements(element, "documentation", "purpose")
    )


def _properties(element: Any) -> dict[str, str]:
    return collect_properties(
        [
            (item.get("key", ""), one_line(item.get("value", "")))
            for item in safe.child_elements(element, "property")
        ]
    )


def _view(element: Any, entry: ModelEntry) -> ViewEntry:
    view = ViewEntry(**vars(entry), viewpoint=element.get("viewpoint", ""))
    view.properties.pop("viewpoint", None)
    waiting = [(child, 0.0, 0.0) for child in _children(element)]
    while waiting:
        child, left, top = waiting.pop()
        node = _node(child, left, top)
        view.nodes.append(node)
        for line in safe.child_elements(child, "sourceConnection"):
            relation = line.get("archimateRelationship") or line.get("relationship")
            view.relations += [relation] if relation else []
        if node.place:
            left, top = node.place.left, node.place.top
        waiting += [(inner, left, top) for inner in _children(child)]
    return view


def _children(element: Any) -> list[Any]:
    """Return the shapes in a view or a shape in reverse, for use as a stack."""
    return list(safe.child_elements(element, "child"))[::-1]


def _node(child: Any, left: float, top: float) -> ViewNode:
    """Return a shape; its position in the file is relative to its parent."""
    texts = [child.get("name"), child.get("content"), child.get("notes")]
    texts += [
        e.text for e in safe.child_elements(child, "content", "documentation", "notes")
    ]
    text = join_lines(texts)
    return ViewNode(
        key=child.get("id", ""),
        element=child.get("archimateElement", ""),
        name=text.partition("\n")[0],
        text=text,
        linked_view=child.get("model", ""),
        place=_place(child, left, top),
    )


def _place(child: Any, left: float, top: float) -> Rectangle | None:
    bounds = safe.first(child, "bounds")
    if bounds is None:
        return None
    try:
        x, y, width, height = (
            float(bounds.get(key, start))
            for key, start in (
                ("x", "0"),
                ("y", "0"),
                ("width", "-1"),
                ("height", "-1"),
            )
        )
    except ValueError:
        return None
    width, height = (width if width > 0 else WIDTH), (height if height > 0 else HEIGHT)
    return Rectangle(left + x, top + y, width, height)

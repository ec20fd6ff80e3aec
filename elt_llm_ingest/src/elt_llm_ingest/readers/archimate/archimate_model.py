"""An ArchiMate file as an enterprise model: elements, relations, folders, views."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from elt_llm_core.document import Page, ParsedDocument
from elt_llm_core.enterprise.model import (
    ARCHIMATE_FORMATS,
    ElementRole,
    EnterpriseModel,
    ModelElement,
    ModelLocation,
    ModelRelation,
    ModelSkip,
    ModelView,
    RelationDirection,
    RelationEnd,
)
from elt_llm_core.errors import LoadError
from elt_llm_core.records import replace_fields
from elt_llm_core.results import Box
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.archimate.archi_format import read_archi, unpack_archi
from elt_llm_ingest.readers.archimate.entries import (
    FileEntries,
    ModelEntry,
    ViewEntry,
    ViewNode,
)
from elt_llm_ingest.readers.archimate.exchange_format import read_exchange
from elt_llm_ingest.readers.archimate.unfiled import UnfiledPlaces
from elt_llm_ingest.readers.enterprise.canvas import Rectangle, rectangle_around
from elt_llm_ingest.readers.enterprise.documents import model_documents, split_words
from elt_llm_ingest.readers.xml import safe

PARSER = "archimate 2"
ARCHI_SPACE = "http://www.archimatetool.com/archimate"
EXCHANGE_SPACE = "http://www.opengroup.org/xsd/archimate"
FAR = 1e9  # pixels; coordinates beyond this, infinite or NaN are ignored


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """Return the elements, the relations and the views of an ArchiMate model.

    Raises LoadError for any other file, and for hostile or damaged XML.
    """
    model, pages = read_model(path, data)
    return model_documents(model, pages, PARSER)


def read_model(path: Path, data: bytes) -> tuple[EnterpriseModel, list[Page]]:
    """Return the model of a file, and a page for each non-empty view.

    Args:
        path: For its name only.
        data: The bytes of the file: Open Exchange XML or a file of Archi.

    Returns:
        Every element, relation and text of a view as an element, a relation or a skip.

    Raises:
        LoadError: If it is not an ArchiMate model, damaged, hostile, or empty.
    """
    root = safe.parse_xml(path.name, unpack_archi(path, data))
    space = root.tag.rpartition("}")[0].lstrip("{")
    if space.startswith(ARCHI_SPACE):
        entries, kind = read_archi(root), ARCHIMATE_FORMATS[1]
    elif space.startswith(EXCHANGE_SPACE) and safe.tag(root) == "model":
        entries, kind = read_exchange(root), ARCHIMATE_FORMATS[0]
    else:
        raise LoadError(
            path.name,
            f"the XML is not an ArchiMate model (its root is <{safe.tag(root)[:40]}>)",
            "export it as Open Exchange XML, or save it in Archi",
        )
    if not entries.elements:
        raise LoadError(
            path.name, "the model has no element", "export the whole model again"
        )
    builder = _Builder(path, entries)
    return builder.build(kind), builder.pages


class _Builder:
    """Builds the model of one file."""

    def __init__(self, path: Path, entries: FileEntries) -> None:
        self._path = path
        self._entries = entries
        self._folders = {folder.key: folder for folder in entries.folders}
        self._unfiled = UnfiledPlaces(entries)
        self._elements: dict[str, ModelElement] = {}
        self._relations: dict[str, ModelRelation] = {}
        self._views: list[ModelView] = []
        self._skips: list[ModelSkip] = []
        self.pages: list[Page] = []

    def build(self, kind: str) -> EnterpriseModel:
        """Return the model and fill `pages`."""
        for entry in self._entries.elements:
            self._add_element(entry)
        self._add_folders()
        names = {r.key: r.name for r in self._entries.relations}
        for entry in self._entries.relations:
            self._add_relation(entry, names)
        self._drop_lost_relations()
        for view in self._entries.views:
            self._add_view(view)
        return EnterpriseModel(
            name=self._entries.name or self._path.stem,
            source_file=self._path.name,
            format=kind,
            documentation=self._entries.documentation,
            properties=self._entries.properties,
            elements=tuple(self._elements.values()),
            relations=tuple(self._relations.values()),
            views=tuple(self._views),
            skips=tuple(self._skips),
        )

    def _add_element(self, entry: ModelEntry) -> None:
        if entry.key in self._elements:
            self._skip("element", entry, "another element has its identifier")
            return
        names = [folder.name for folder in self._above(entry)]
        role: ElementRole = "entity" if names else self._unfiled.role(entry)
        names = names or list(self._unfiled.place(entry))
        self._elements[entry.key] = ModelElement(
            id=entry.key,
            name=entry.name or f"({split_words(entry.type).lower() or 'element'})",
            type=entry.type,
            role=role,
            domain=names[0] if names else "",
            subtype=names[1] if len(names) > 1 else "",
            parent_id=entry.folder,
            documentation=entry.documentation,
            properties=entry.properties,
            location=self._location(entry.key),
        )

    def _location(self, key: str, page: int | None = None) -> ModelLocation:
        return ModelLocation(file=self._path.name, page=page, key=key)

    def _above(self, entry: ModelEntry) -> list[ModelEntry]:
        """Return the folders around an entry, outermost first, stopping at a cycle."""
        chain: dict[str, ModelEntry] = {}
        folder = self._folders.get(entry.folder)
        while folder is not None and folder.key not in chain:
            chain[folder.key] = folder
            folder = self._folders.get(folder.folder)
        return list(chain.values())[::-1]

    def _add_folders(self) -> None:
        """Add folders with elements or documentation as groups of the model."""
        elements = list(self._elements.values())
        used = {f.key for e in self._entries.elements for f in self._above(e)}
        for folder in self._entries.folders:
            has_text = folder.documentation or folder.properties
            if folder.key not in used and not has_text:
                continue
            if folder.key in self._elements:
                self._skip("element", folder, "another element has its identifier")
                continue
            names = [f.name for f in self._above(folder)]
            self._elements[folder.key] = ModelElement(
                id=folder.key,
                name=folder.name or "(folder)",
                type="Folder",
                role="subtype" if names else "domain",
                domain=names[0] if names else folder.name,
                subtype=names[1] if len(names) > 1 else "",
                parent_id=folder.folder,
                documentation=folder.documentation,
                properties=folder.properties,
                location=self._location(folder.key),
            )
        for element in elements:
            if element.parent_id not in self._elements:
                self._elements[element.id] = replace_fields(element, parent_id="")

    def _add_relation(self, entry: ModelEntry, names: Mapping[str, str]) -> None:
        if entry.key in self._relations or entry.key in self._elements:
            self._skip("relation", entry, "something else has its identifier")
            return
        self._relations[entry.key] = ModelRelation(
            id=entry.key,
            source=self._end(entry.source, names),
            target=self._end(entry.target, names),
            name=entry.name,
            type=entry.type,
            direction=_direction(entry),
            documentation=entry.documentation,
            properties=entry.properties,
            location=self._location(entry.key),
        )

    def _end(self, key: str, names: Mapping[str, str]) -> RelationEnd:
        element = self._elements.get(key)
        if element is None:
            return RelationEnd(element_id=key, name=names.get(key) or key)
        return RelationEnd(element_id=key, name=element.name, domain=element.domain)

    def _drop_lost_relations(self) -> None:
        """Drop relations with a missing end, and relations to these."""
        lost = True
        while lost:
            known = self._elements.keys() | self._relations.keys()
            lost = False
            for relation in list(self._relations.values()):
                ends = (("start", relation.source), ("end", relation.target))
                for side, end in ends:
                    if end.element_id not in known:
                        missing = repr(end.element_id)
                        reason = f"its {side} refers to {missing}, which does not exist"
                        self._skip_relation(relation, reason)
                        del self._relations[relation.id]
                        lost = True
                        break

    def _skip_relation(self, relation: ModelRelation, reason: str) -> None:
        name = f"{relation.source.name} -> {relation.target.name}"
        self._skips.append(
            ModelSkip(kind="relation", id=relation.id, name=name, reason=reason)
        )

    def _skip(self, kind: str, entry: ModelEntry, reason: str) -> None:
        self._skips.append(
            ModelSkip.model_validate(
                {"kind": kind, "id": entry.key, "name": entry.name, "reason": reason}
            )
        )

    def _add_view(self, view: ViewEntry) -> None:
        number = len(self._views) + 1
        frame = _frame(node.place for node in view.nodes)
        self.pages.append(
            Page(number=number, width=frame.width, height=frame.height, label=view.name)
        )
        shown: list[str] = []
        for node in view.nodes:
            shown += self._add_node(node, view, number, frame)
        self._views.append(
            ModelView(
                id=view.key,
                name=view.name or f"View {number}",
                viewpoint=view.viewpoint,
                documentation=view.documentation,
                properties=view.properties,
                element_ids=tuple(dict.fromkeys(shown)),
                relation_ids=tuple(
                    dict.fromkeys(r for r in view.relations if r in self._relations)
                ),
                view_ids=tuple(
                    dict.fromkeys(n.linked_view for n in view.nodes if n.linked_view)
                ),
            )
        )

    def _add_node(
        self, node: ViewNode, view: ViewEntry, number: int, frame: Rectangle
    ) -> list[str]:
        """Return the element that a shape shows; a text of this view becomes a note."""
        location = replace_fields(
            self._location(node.key, number),
            page_name=view.name,
            box=_box(number, node.place, frame),
        )
        if node.element:
            return self._show_element(node, location)
        if not node.text:
            return []
        key = f"{view.key}.{node.key}"
        if key in self._elements:
            key = f"{key}~{len(self._elements)}"
        self._elements[key] = ModelElement(
            id=key,
            name=node.name,
            type="Note",
            role="note",
            documentation=node.text if node.text != node.name else "",
            location=location,
        )
        return [key]

    def _show_element(self, node: ViewNode, location: ModelLocation) -> list[str]:
        element = self._elements.get(node.element)
        if element is None:
            self._skips.append(
                ModelSkip(
                    kind="element",
                    id=node.key,
                    name=node.name,
                    reason=f"the view shows {node.element!r}, which does not exist",
                    page=location.page,
                )
            )
            return []
        if element.location.page is None:
            place = replace_fields(location, key=element.location.key)
            self._elements[element.id] = replace_fields(element, location=place)
        else:
            seen = (*element.occurrences, location)
            self._elements[element.id] = replace_fields(element, occurrences=seen)
        return [element.id]


def _direction(entry: ModelEntry) -> RelationDirection:
    """Return the direction: only undirected associations have none."""
    directed = entry.properties.get("isDirected") or entry.properties.get("directed")
    return "none" if entry.type == "Association" and directed != "true" else "forward"


def _frame(places: Iterable[Rectangle | None]) -> Rectangle:
    return rectangle_around([p for p in places if p is not None and _is_near(p)])


def _is_near(place: Rectangle) -> bool:
    return all(abs(n) < FAR for n in (place.left, place.top, place.width, place.height))


def _box(page: int, place: Rectangle | None, frame: Rectangle) -> Box | None:
    if place is None or not _is_near(place):
        return None
    return place.as_box(page, frame)

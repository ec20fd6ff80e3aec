"""Literature in JATS XML: title, abstract, sections, tables, figures and references."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.cell_grid import (
    GridCell,
    marked_headers,
    place_cells,
    span,
    write_table,
)
from elt_llm_ingest.readers.raised_text import (
    REMOVED,
    is_mark,
    without_marks,
    write_raised,
)
from elt_llm_ingest.readers.text_builder import (
    TextBuilder,
    one_line,
    title_of,
    with_sections,
)
from elt_llm_ingest.readers.xml import safe
from elt_llm_ingest.readers.xml.article_attributes import attributes_of

PARSER = "jats 4"
SECTIONS = ("abstract", "ack", "app", "glossary", "notes", "sec", "trans-abstract")
NAMES = {
    "abstract": "Abstract",
    "ack": "Acknowledgements",
    "app": "Appendix",
    "fn-group": "Footnotes",
    "glossary": "Glossary",
    "ref-list": "References",
    "trans-abstract": "Abstract",
}
PARAGRAPHS = ("p", "disp-formula", "verse-line", "attrib", "speech", "statement")
KINDS = {"code": BlockKind.CODE, "preformat": BlockKind.CODE}
# Their text belongs to another block, or is not for readers.
APART = frozenset(
    ("table-wrap", "fig", "fig-group", "list", "def-list", "disp-quote", "boxed-text",
     "tex-math", "object-id", "alternatives")
)  # fmt: skip
SPACED = frozenset(("break", "label", "td", "th", "name", "string-name"))
# Their contents are separated by elements only, not by spaces.
PACKED = frozenset(
    ("contrib", "date", "element-citation", "name", "pub-date", "ref", "string-name")
)
NOTES = frozenset(
    ("aff", "author-notes", "bibr", "corresp", "fn", "table-fn")
)  # targets of marks in the text
# Nesting depth: far beyond articles, and far below Python's recursion limit.
MAX_DEPTH = 60
REACH = 8  # pieces of text before a superscript that determine its meaning


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of an article; identifiers are attributes of their blocks.

    Raises LoadError for damaged and hostile XML and for an article without text.
    """
    root = safe.parse_xml(path.name, data)
    article = root if safe.tag(root) == "article" else next(_all(root, "article"), None)
    if article is None:
        raise LoadError(
            path.name, "its XML is not an article", "export it as JATS or PDF"
        )
    writer = _ArticleWriter(path)
    writer.write(article)
    builder = writer.builder
    if not builder.blocks:
        raise LoadError(path.name, "no text: the article is empty", "export it again")
    blocks = with_sections(builder.text, builder.blocks)
    others = sum(1 for _ in _all(root, "article")) - 1 if article is not root else 0
    note = f"{others} more articles in the file were not read; only the first is"
    return [
        ParsedDocument(
            title=title_of(builder.text, blocks[:1], path.stem),
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            attributes=attributes_of(article, _text),
            warnings=(note,) if others > 0 else (),
        )
    ]


def _all(element: Any, name: str) -> Iterator[Any]:
    return (descendant for descendant in element.iter() if safe.tag(descendant) == name)


def _people(group: Any) -> Iterator[Any]:
    return (e for e in group.iter() if safe.tag(e) in ("collab", "name", "string-name"))


class _ArticleWriter:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._tables = 0
        self.builder = TextBuilder()

    def write(self, article: Any) -> None:
        """Write front, body and back in reading order."""
        meta = safe.first(article, "front", "article-meta")
        if meta is not None:
            self._front(meta)
        for part in ("body", "back"):
            if (child := safe.first(article, part)) is not None:
                self._content(child, 2, 0)
        for group in safe.child_elements(article, "floats-group"):
            self._content(group, 2, 0)

    def _front(self, meta: Any) -> None:
        title = safe.first(meta, "title-group", "article-title")
        ids = {
            element.get("pub-id-type", "id"): one_line(_text(element))
            for element in safe.child_elements(meta, "article-id")
        }
        if title is not None:
            self.builder.add(
                BlockKind.HEADING, one_line(_text(title)), level=1, attributes=ids
            )
        for group in safe.child_elements(meta, "contrib-group"):
            names = [one_line(_text(n)) for n in _people(group)]
            self.builder.add(BlockKind.PARAGRAPH, ", ".join(filter(None, names)))
        for group in safe.child_elements(meta, "kwd-group"):
            words = [one_line(_text(word)) for word in _all(group, "kwd")]
            self.builder.add(BlockKind.PARAGRAPH, "Keywords: " + ", ".join(words))
        for abstract in safe.child_elements(meta, "abstract", "trans-abstract"):
            self._section(abstract, 2, 0)

    def _section(self, element: Any, level: int, depth: int) -> None:
        label, title = safe.first(element, "label"), safe.first(element, "title")
        words = [one_line(_text(part)) for part in (label, title) if part is not None]
        heading = " ".join(filter(None, words)) or NAMES.get(safe.tag(element), "")
        attributes = {"id": element.get("id")} if element.get("id") else {}
        self.builder.add(
            BlockKind.HEADING, heading, level=min(level, 9), attributes=attributes
        )
        self._content(element, level + bool(heading), depth)

    def _content(self, element: Any, level: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise LoadError(
                self._path.name, "its sections are nested too deeply", "export it again"
            )
        for child in safe.child_elements(element):
            self._block(child, level, depth + 1)

    def _block(self, element: Any, level: int, depth: int) -> None:
        name = safe.tag(element)
        if name in ("", "title", "label", "sec-meta", "object-id"):
            return
        if name in SECTIONS or name in ("ref-list", "fn-group"):
            self._section(element, level, depth)
        elif name in ("table-wrap", "fig"):
            self._float(element, name)
        elif name in ("list-item", "def-item", "ref", "fn"):
            self._item(element, name, level, depth)
        elif name in PARAGRAPHS or name in KINDS:
            self._paragraph(element, name, level, depth)
        else:  # groups, boxes, quotes, lists: their contents are written
            self._content(element, level, depth)

    def _paragraph(self, element: Any, name: str, level: int, depth: int) -> None:
        kind = KINDS.get(name, BlockKind.PARAGRAPH)
        text = _text(element)
        attributes = {"id": element.get("id")} if element.get("id") else {}
        self.builder.add(
            kind,
            text if kind is BlockKind.CODE else one_line(text),
            attributes=attributes,
        )
        for child in safe.child_elements(element, *APART):
            self._block(child, level, depth + 1)

    def _item(self, element: Any, name: str, level: int, depth: int) -> None:
        attributes = {"type": "reference" if name == "ref" else name}
        if element.get("id"):
            attributes["id"] = element.get("id")
        self.builder.add(
            BlockKind.LIST_ITEM, one_line(_text(element)), attributes=attributes
        )
        for inner in element.iter():
            if inner is not element and safe.tag(inner) in ("table-wrap", "fig"):
                self._block(inner, level, depth + 1)
        for child in safe.child_elements(element, "list"):
            self._content(child, level, depth + 1)

    def _float(self, element: Any, name: str) -> None:
        """Write a table or a figure, after its label and caption."""
        parts = [safe.first(element, part) for part in ("label", "caption")]
        words = [one_line(_text(part)) for part in parts if part is not None]
        caption = " ".join(filter(None, words))
        attributes = {"id": element.get("id")} if element.get("id") else {}
        kind = BlockKind.FIGURE if name == "fig" else BlockKind.CAPTION
        self.builder.add(kind, caption, attributes=attributes)
        for table in _all(element, "table"):
            self._tables += 1
            rows = place_cells(
                [[_cell(c) for c in _cells(r)] for r in _all(table, "tr")]
            )
            heads = sum(1 for head in _all(table, "thead") for _ in _all(head, "tr"))
            header = heads if 0 < heads < len(rows) else marked_headers(rows)
            write_table(
                self.builder, rows, header, f"{self._tables}", table=caption,
                attributes=attributes,
            )  # fmt: skip
        for foot in safe.child_elements(element, "table-wrap-foot"):
            self.builder.add(BlockKind.PARAGRAPH, one_line(_text(foot)))


def _cells(row: Any) -> Iterator[Any]:
    return safe.child_elements(row, "td", "th")


def _cell(element: Any) -> GridCell:
    return GridCell(
        _text(element),
        rows=span(element.get("rowspan")),
        columns=span(element.get("colspan")),
        header=safe.tag(element) == "th",
        id=element.get("id", ""),
    )


def _text(element: Any) -> str:
    """Return all text below, without note marks and separate blocks.

    Not recursive, because elements may be nested deeply.
    """
    parts: list[str] = [element.text or ""]
    waiting = [iter(element)]
    owners = [element]
    begins = [0]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
            owner, begin = owners.pop(), begins.pop()
            if waiting:
                parts[begin:] = _text_of_end(owner, parts, begin)
                apart = safe.tag(owner) in SPACED or safe.tag(owners[-1]) in PACKED
                parts += [" " if apart else "", owner.tail or ""]
            continue
        if safe.tag(child) in APART or not safe.tag(child):
            parts.append(" " + (child.tail or ""))
            continue
        begins.append(len(parts))
        parts.append(child.text or "")
        waiting.append(iter(child))
        owners.append(child)
    return without_marks("".join(parts))


def _text_of_end(element: Any, parts: list[str], begin: int) -> list[str]:
    """Return the text for an element that ends."""
    name, text = safe.tag(element), "".join(parts[begin:])
    if name == "xref" and element.get("ref-type") in NOTES and is_mark(text):
        return [REMOVED]
    if name == "sup":
        return [write_raised(text, "".join(parts[max(0, begin - REACH) : begin]))]
    return parts[begin:]

"""EPUB books: the pages in reading order, through the HTML reader."""

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits, check_zip
from elt_llm_ingest.readers.detection import decode_text
from elt_llm_ingest.readers.text_builder import (
    TextBuilder,
    one_line,
    title_of,
    with_sections,
)
from elt_llm_ingest.readers.web.html import HtmlReader
from elt_llm_ingest.readers.xml import safe

PARSER = "epub 2"
CONTAINER = "META-INF/container.xml"
LOCKS = ("META-INF/encryption.xml", "META-INF/rights.xml")
PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of a book. Raises LoadError for damaged, locked and hostile ones."""
    with check_zip(path.name, data, pages=True) as archive:
        names = frozenset(archive.namelist())
        package, folder = _package(path, archive, names)
        builder = TextBuilder()
        warnings: list[str] = []
        for name in _spine(package, folder):
            if name not in names:
                warnings.append(f"the page {name[:80]!r} is missing from the file")
                continue
            text, decode_warnings = decode_text(path, archive.read(name))
            reader = HtmlReader(builder, key=name)
            reader.read(text)
            warnings += [
                f"{name[:80]}: {one}" for one in (*decode_warnings, *reader.warnings())
            ]
    if not any(b.kind is not BlockKind.FURNITURE for b in builder.blocks):
        locked = any(name in names for name in LOCKS)
        reason = "it is protected by DRM" if locked else "no text: it has no pages"
        raise LoadError(
            path.name, reason, "export it without protection, as EPUB or PDF"
        )
    blocks = with_sections(builder.text, builder.blocks)
    return [
        ParsedDocument(
            title=_title(package) or title_of(builder.text, blocks, path.stem),
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            warnings=tuple(warnings),
        )
    ]


def _package(
    path: Path, archive: zipfile.ZipFile, names: frozenset[str]
) -> tuple[Any, str]:
    """Return the book's package document, and the folder of its relative names."""
    if CONTAINER not in names:
        raise LoadError(path.name, "the archive is not a book", "unpack it first")
    root = safe.parse_xml(path.name, archive.read(CONTAINER))
    packages = [
        e.get("full-path", "") for e in root.iter() if safe.tag(e) == "rootfile"
    ]
    name = next((name for name in packages if name in names), None)
    if name is None:
        raise LoadError(
            path.name, "the book does not list its pages", "download it again"
        )
    return safe.parse_xml(path.name, archive.read(name)), posixpath.dirname(name)


def _spine(package: Any, folder: str) -> Iterator[str]:
    """Return names of the pages in reading order; none outside the archive."""
    pages = {
        item.get("id"): item.get("href", "")
        for item in package.iter()
        if safe.tag(item) == "item" and item.get("media-type", PAGES[0]) in PAGES
    }
    for entry in package.iter():
        if safe.tag(entry) != "itemref" or entry.get("idref") not in pages:
            continue
        href = unquote(pages[entry.get("idref")]).partition("#")[0]
        yield posixpath.normpath(posixpath.join(folder, href))


def _title(package: Any) -> str:
    titles = (e for e in package.iter() if safe.tag(e) == "title")
    return one_line(next((e.text or "" for e in titles), ""))[:200]

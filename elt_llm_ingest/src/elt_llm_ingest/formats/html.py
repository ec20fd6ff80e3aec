"""Web pages: blocks by their tags, with the text as a browser shows it."""

from pathlib import Path

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.formats.build import TextBuilder, title_of, with_sections
from elt_llm_ingest.formats.decode import decoded
from elt_llm_ingest.formats.html_reader import HtmlReader
from elt_llm_ingest.safety import Limits

PARSER = "html 5"


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of an HTML page. Raises LoadError where there is no text."""
    source, warnings = decoded(path, data)
    builder = TextBuilder()
    reader = HtmlReader(builder)
    reader.read(source)
    if not any(b.kind is not BlockKind.FURNITURE for b in builder.blocks):
        raise LoadError(
            path.name,
            "no text: the page is written by a script, perhaps",
            "save it from the browser as PDF",
        )
    blocks = with_sections(builder.text, builder.blocks)
    return [
        ParsedDocument(
            title=reader.title or title_of(builder.text, blocks, path.stem),
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            warnings=(*warnings, *reader.warnings()),
        )
    ]

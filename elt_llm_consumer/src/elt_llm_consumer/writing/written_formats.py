"""A written text as JSON, Markdown, HTML and Word, with its sources.

Titles, statements and quotes come from people, models and documents. They are escaped,
so that they cannot become markup, links or fields.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator

from docx import Document
from docx.document import Document as DocxDocument
from jinja2 import Environment, PackageLoader, StrictUndefined

from elt_llm_consumer.exchange.table_files import fix_times
from elt_llm_consumer.product import dump_json
from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.written import (
    NO_DATA,
    CitedSource,
    SectionState,
    WrittenSection,
    WrittenText,
)
from elt_llm_query.conversation.export import escape_markdown

ENDINGS = {"json": ".json", "markdown": ".md", "html": ".html", "docx": ".docx"}
DEEPEST = 6  # levels of headings; Word has more
# Characters that XML 1.0 excludes: Word refuses the whole file for one of them.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_text(text: WrittenText, form: str) -> str | bytes:
    """Write a text in one of the formats; the same text gives the same bytes.

    Args:
        text: The text.
        form: A key of `ENDINGS`.

    Raises:
        UsageError: If there is no such format.
    """
    formats: dict[str, Callable[[WrittenText], str | bytes]] = {
        "json": lambda one: dump_json(one.model_dump(mode="json")),
        "markdown": format_markdown,
        "html": format_html,
        "docx": format_docx,
    }
    if form not in formats:
        raise UsageError(f"no format {form!r}", suggest(form, formats))
    return formats[form](text)


def format_markdown(text: WrittenText) -> str:
    """Write headings, statements with the numbers of their sources, gaps, sources."""
    lines = [f"# {_line(text.title)}", ""]
    lines += [_line(text.description), ""] if text.description else []
    for section in text.sections:
        mark = "#" * min(section.level + 1, DEEPEST)
        if section.heading != text.title:
            lines += [f"{mark} {_line(section.heading)}", ""]
        for statement in section.statements:
            numbers = "".join(f" \\[{number}\\]" for number in statement.sources)
            lines += [f"{_line(statement.text)}{numbers}", ""]
        lines += [f"{_line(missing_text(section))}", ""] * (not section.statements)
    if text.gaps:
        lines += ["## What is missing", "", *(f"- {_line(g)}" for g in text.gaps), ""]
    if text.sources:
        lines += ["## Sources", ""]
        for source in text.sources:
            lines += [f"\\[{source.number}\\] {_line(source_place(source))}", ""]
            lines += [f"> {_line(quote)}\n" for quote in quotes_of(source)]
    return "\n".join(lines).rstrip() + "\n"


def format_html(text: WrittenText) -> str:
    """Write one self-contained page without scripts."""
    environment = Environment(
        loader=PackageLoader("elt_llm_consumer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["place"] = source_place
    template = environment.get_template("written.html")
    return template.render(text=text, no_data=NO_DATA)


def format_docx(text: WrittenText) -> bytes:
    """Write a Word document."""
    document = Document()
    document.core_properties.title = _xml(text.title)[:255]
    document.core_properties.author = "elt_llm"
    document.add_heading(_xml(text.title), 0)
    if text.description:
        document.add_paragraph(_xml(text.description))
    for section in text.sections:
        if section.heading != text.title:
            level = min(section.level, DEEPEST)
            document.add_heading(_xml(section.heading), level)
        _add_section(document, section)
    if text.gaps:
        document.add_heading("What is missing", 1)
        for gap in text.gaps:
            document.add_paragraph(_xml(gap), style="List Bullet")
    if text.sources:
        document.add_heading("Sources", 1)
        for source in text.sources:
            _add_source(document, source)
    buffer = io.BytesIO()
    document.save(buffer)
    return fix_times(buffer.getvalue())


def _add_section(document: DocxDocument, section: WrittenSection) -> None:
    for statement in section.statements:
        paragraph = document.add_paragraph(_xml(statement.text))
        for number in statement.sources:
            paragraph.add_run(f" [{number}]").font.superscript = True
    if not section.statements:
        document.add_paragraph().add_run(_xml(missing_text(section))).bold = True


def _add_source(document: DocxDocument, source: CitedSource) -> None:
    document.add_paragraph(_xml(f"[{source.number}] {source_place(source)}"))
    for quote in quotes_of(source):
        document.add_paragraph(_xml(quote), style="Quote")


def missing_text(section: WrittenSection) -> str:
    """Return the text in the place of a section without statements."""
    if section.state is SectionState.FAILED:
        return f"Not written: {section.guidance}"
    return NO_DATA


def source_place(source: CitedSource) -> str:
    """Return document, page and section of a source on one line."""
    page = f"page {source.page}" if source.page is not None else ""
    parts = (source.document, page, source.section)
    return " ".join(", ".join(part for part in parts if part).split())


def quotes_of(source: CitedSource) -> list[str]:
    """Return the quotes of a source without duplicates."""
    return list(dict.fromkeys(_quotes(source)))


def _quotes(source: CitedSource) -> Iterator[str]:
    for citation in source.citations:
        yield " ".join(citation.quote.split())


def _line(text: str) -> str:
    return escape_markdown(" ".join(text.split()))


def _xml(text: str) -> str:
    return _NO_XML.sub(" ", " ".join(text.split()))


def check_formats(names: Iterable[str]) -> tuple[str, ...]:
    """Return the formats without duplicates. Raises UsageError for an unknown one."""
    for name in names:
        if name not in ENDINGS:
            raise UsageError(f"no format {name!r}", suggest(name, ENDINGS))
    return tuple(dict.fromkeys(names))

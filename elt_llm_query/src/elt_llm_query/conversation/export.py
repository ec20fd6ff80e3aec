"""A conversation as a file: Markdown, HTML or BibTeX.

Questions, answers and titles come from people, models and documents. They are escaped,
so that they cannot become markup, links or macros of the file.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from elt_llm_core.conversation import MARK, Conversation, Speaker
from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.provenance import STATED_TITLE
from elt_llm_query.conversation.source_numbers import (
    NumberedSource,
    number_sources,
    numbered_sources,
)

ENDINGS = {".md": "markdown", ".html": "html", ".bib": "bibtex"}
_MARKDOWN = re.compile(r"[\\`*_\[\]<>|~$&]")
_LINE_START = re.compile(r"^(\s*\d*)([#+=.)-])", re.MULTILINE)
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "^": r"\textasciicircum{}",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "%": r"\%",
}
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_FIELDS = (("journal", "journal"), ("doi", "doi"), ("pmid", "pmid"))


def format_of(path: Path) -> str:
    """Return the format for a file extension.

    Raises:
        UsageError: If it is not .md, .html or .bib.
    """
    try:
        return ENDINGS[path.suffix.lower()]
    except KeyError:
        raise UsageError(
            f"{path.name!r} names no format of a conversation",
            f"end it with {', '.join(ENDINGS)}",
        ) from None


def export_conversation(conversation: Conversation, form: str) -> str:
    """Write a conversation in one of the formats.

    Args:
        conversation: The conversation.
        form: `markdown`, `html` or `bibtex`.

    Returns:
        The text of the file; the same conversation gives the same text.

    Raises:
        UsageError: If there is no such format.
    """
    formats: dict[str, Callable[[Conversation], str]] = {
        "markdown": export_markdown,
        "html": export_html,
        "bibtex": export_bibtex,
    }
    if form not in formats:
        raise UsageError(f"no export format {form!r}", suggest(form, formats))
    return formats[form](conversation)


def export_markdown(conversation: Conversation) -> str:
    """Write the messages with numbers, then the numbered sources with their quotes."""
    numbers = number_sources(conversation.messages)
    lines = [f"# {escape_markdown(_line(conversation.label))}", ""]
    for message in conversation.messages:
        if message.role is Speaker.USER:
            lines += [f"**{escape_markdown(_line(message.text))}**", ""]
            continue
        if message.searched:
            lines += [f"Understood as: {escape_markdown(_line(message.searched))}", ""]
        lines += [_replace_marks(message.text, numbers, escape_markdown), ""]
    sources = numbered_sources(conversation)
    lines += ["## Sources", ""] if sources else []
    for source in sources:
        lines += [f"\\[{source.number}\\] {escape_markdown(_place(source))}", ""]
        lines += [f"> {escape_markdown(_line(quote))}\n" for quote in source.quotes]
    return "\n".join(lines).rstrip() + "\n"


def export_html(conversation: Conversation) -> str:
    """Write one self-contained page without scripts."""
    numbers = number_sources(conversation.messages)
    environment = Environment(
        loader=PackageLoader("elt_llm_query"),
        autoescape=True,
        undefined=StrictUndefined,
    )

    def link_numbers(text: str) -> Markup:
        parts = MARK.split(text)  # text, id, text, id, text
        links = ["", *(_link(numbers.get(chunk)) for chunk in parts[1::2])]
        pairs = zip(links, parts[::2], strict=True)
        return Markup("").join(link + escape(part) for link, part in pairs)

    environment.filters["numbered"] = link_numbers
    return environment.get_template("conversation.html").render(
        conversation=conversation, sources=numbered_sources(conversation)
    )


def export_bibtex(conversation: Conversation) -> str:
    """Write an entry for each cited document, with its metadata."""
    documents: dict[str, list[NumberedSource]] = {}
    for source in numbered_sources(conversation):
        documents.setdefault(source.document_id, []).append(source)
    return "\n".join(_entry(sources) for sources in documents.values())


def _entry(sources: Sequence[NumberedSource]) -> str:
    first = sources[0]
    known = {key: str(value) for key, value in first.attributes.items()}
    numbers = ", ".join(f"[{source.number}]" for source in sources)
    pages = sorted({source.page for source in sources if source.page is not None})
    at = f", page {', '.join(map(str, pages))}" if pages else ""
    year = _YEAR.search(known.get("date", ""))
    fields = {
        "title": known.get("title") or known.get(STATED_TITLE) or first.document,
        "author": " and ".join(
            filter(None, re.split(r";\s*", known.get("authors", "")))
        ),
        "year": year[0] if year else "",
        **{field: known.get(key, "") for field, key in _FIELDS},
        "note": f"cited as {numbers}{at}",
    }
    slug = re.sub(r"[^a-z0-9]+", "-", first.document.lower()).strip("-")[:40]
    kind = "article" if known.get("journal") else "misc"
    lines = [f"  {key} = {{{_tex(value)}}}," for key, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{slug or 'source'}-{first.number},", *lines, "}\n"])


def _place(source: NumberedSource) -> str:
    page = f"page {source.page}" if source.page is not None else ""
    return _line(", ".join(p for p in (source.document, page, source.section) if p))


def _line(text: str) -> str:
    return " ".join(text.split())


def _replace_marks(
    text: str, numbers: Mapping[str, int], write: Callable[[str], str]
) -> str:
    """Return the text with numbers for its marks, the rest passed through `write`."""
    parts = MARK.split(text)
    plain = [write(part) for part in parts[::2]]
    marks = [f"\\[{numbers[c]}\\]" if c in numbers else "" for c in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*marks, ""], strict=True))


def _link(number: int | None) -> Markup:
    if number is None:
        return Markup("")
    return Markup('<a href="#source-{0}">[{0}]</a>').format(number)


def escape_markdown(text: str) -> str:
    """Return text that Markdown renders unchanged: no markup, no link."""
    plain = _MARKDOWN.sub(lambda m: f"\\{m[0]}", text)
    return _LINE_START.sub(r"\1\\\2", plain)


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in _line(text))

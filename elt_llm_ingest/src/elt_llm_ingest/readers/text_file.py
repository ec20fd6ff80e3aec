"""Plain text: paragraphs between blank lines; numbered or capital lines as headings."""

import re
from collections.abc import Iterator
from pathlib import Path

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.detection import decode_text
from elt_llm_ingest.readers.text_builder import TextBuilder, title_of, with_sections

PARSER = "text 1"
KEYWORD = re.compile(
    r"^(?:part|chapter|section|article|rule|schedule|annex|appendix|app)\s+"
    r"(\d{1,3}(?:\.\d{1,3})*|\S{1,8})",
    re.IGNORECASE,
)
NUMBER = re.compile(r"^(?:PART\s+|RULE\s+)?(\d{1,3}(?:\.\d{1,3})*)[.)]?\s+[A-Z]")
RULE = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})+\.?|[A-Z]{2,8}\s\d[\w.()]*)\s")
LIST_ITEM = re.compile(r"^\s*(?:[-*•]\s|\(?[a-z0-9]{1,4}[.)]\s)")
MAX_HEADING, MAX_WORDS = 100, 12
WRAPPED = 160  # longer lines are not wrapped: each is a paragraph


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of a text file. Raises LoadError where there is no text."""
    text, warnings = decode_text(path, data)
    builder = TextBuilder()
    for paragraph in paragraphs(text):
        level = heading_level(paragraph)
        if level:
            builder.add(BlockKind.HEADING, paragraph, level=level)
        elif LIST_ITEM.match(paragraph):
            builder.add(BlockKind.LIST_ITEM, paragraph)
        else:
            builder.add(BlockKind.PARAGRAPH, paragraph)
    if not builder.blocks:
        raise LoadError(
            path.name, "no text: it contains only whitespace", "check the export"
        )
    blocks = with_sections(builder.text, builder.blocks)
    return [
        ParsedDocument(
            title=title_of(builder.text, blocks[:3], path.stem),
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            warnings=warnings,
        )
    ]


def paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs in order: between blank lines, or each unwrapped line.

    A wrapped paragraph is split before a line that starts with a rule number.
    """
    lengths = sorted(len(line) for line in text.split("\n") if line.strip())
    by_line = bool(lengths) and lengths[len(lengths) * 9 // 10] > WRAPPED
    for lines in _runs(text):
        start = 0
        for at in range(1, len(lines)):
            if by_line or RULE.match(lines[at]) or heading_level(lines[start]):
                yield "\n".join(lines[start:at])
                start = at
        yield "\n".join(lines[start:])


def _runs(text: str) -> Iterator[list[str]]:
    """Yield the lines between blank lines and form feeds.

    Split line by line, because a regular expression would search from each space of a
    run, which takes hours for a file of many.
    """
    for page in text.split("\f"):
        run: list[str] = []
        for line in page.split("\n"):
            if line.strip():
                run.append(line)
            elif run:
                yield run
                run = []
        if run:
            yield run


def heading_level(paragraph: str) -> int:
    """Return the level of a heading, or 0.

    A heading is one short line without a full stop that is numbered or in capitals.
    """
    line = paragraph.strip()
    words = re.findall(r"[^\W\d_]{2,}", line)
    if "\n" in line or len(line) > MAX_HEADING or not 0 < len(words) <= MAX_WORDS:
        return 0
    if line.endswith((".", ",", ";", ":")) or LIST_ITEM.match(line):
        return 0
    if match := NUMBER.match(line):
        return min(match.group(1).count(".") + 1, 6)
    if match := KEYWORD.match(line):
        return min(match.group(1).count(".") + 1, 6)
    return int(line.upper() == line and len(words) > 1)

"""Markdown: CommonMark blocks whose texts are slices of the file.

What is not prose is taken out: front matter, Liquid tags, attribute lists, HTML tags.
Emphasis, links and entities stay as they are written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.formats.build import TextBuilder, title_of, with_sections
from elt_llm_ingest.formats.decode import decoded
from elt_llm_ingest.safety import Limits

PARSER = f"markdown-it-py {version('markdown-it-py')}, layer 1"
FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
NOISE = re.compile(
    r"\{%.*?%\}|\{\{.*?\}\}"  # Liquid
    r"|\{:[^{}\n]*\}|(?<=\s)\{#[\w:.-]+\}|(?<=\s)\{\.[\w\s.-]+\}"  # attribute lists
    r"|\[\]\(#[^()\n]*\)"  # empty anchors
    r"|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>",  # HTML tags, not <https://links>
    re.DOTALL,
)
MAX_CAPTION = 200
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s\"[^\"]*\")?\)")
EMPHASIS = re.compile(r"(\*\*|__|`)(.+?)\1")


@dataclass
class _Table:
    key: str
    headers: list[str]
    title: str


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of a Markdown file. Raises LoadError where there is no text."""
    source, warnings = decoded(path, data)
    body, declared = _without_front_matter(source)
    body = COMMENT.sub("", body)
    builder = TextBuilder()
    _Blocks(builder).write(_parser().parse(body))
    if not builder.blocks:
        raise LoadError(path.name, "no text: it holds only markup", "check the export")
    blocks = with_sections(builder.text, builder.blocks, plain)
    return [
        ParsedDocument(
            title=declared or plain(title_of(builder.text, blocks, path.stem)),
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            warnings=warnings,
        )
    ]


def plain(text: str) -> str:
    """A heading's words without link and emphasis marks."""
    return EMPHASIS.sub(r"\2", LINK.sub(r"\1", text)).strip()


def clean(text: str) -> str:
    """`text` without Liquid, attribute lists and HTML tags; code spans stay whole."""
    parts: list[str] = []
    at = 0
    for span in CODE_SPAN.finditer(text):
        parts += [_strip(text[at : span.start()]), span.group()]
        at = span.end()
    parts.append(_strip(text[at:]))
    lines = (line.rstrip() for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line.strip()).strip()


def _strip(text: str) -> str:
    return NOISE.sub("", BREAK.sub(" ", text))


def _without_front_matter(source: str) -> tuple[str, str]:
    found = FRONT_MATTER.match(source)
    if not found:
        return source, ""
    title = TITLE.search(found.group(1))
    return source[found.end() :], title.group(1) if title else ""


def _parser() -> MarkdownIt:
    # Without these rules link definitions, footnotes, HTML and indented text stay text.
    parser = MarkdownIt("commonmark").enable("table")
    return parser.disable(["reference", "html_block", "html_inline", "code"])


class _Blocks:
    """Writes block tokens; knows the list item and the table it is in."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._marker: str | None = None
        self._tables = 0
        self._caption = ""

    def write(self, tokens: Sequence[Token]) -> None:
        """Write every block in order."""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                end = _closing(tokens, position)
                self._table(tokens[position:end])
                position = end
            elif token.type == "heading_open":
                self._heading(tokens[position + 1], int(token.tag[1:]))
                position += 2
            else:
                self._other(token)
            position += 1

    def _heading(self, inline: Token, level: int) -> None:
        text = clean(inline.content)
        self._builder.add(BlockKind.HEADING, text, level=level)
        self._caption = ""

    def _other(self, token: Token) -> None:
        if token.type == "list_item_open":
            numbered = token.info and token.markup in (".", ")")
            self._marker = f"{token.info}{token.markup} " if numbered else ""
        elif token.type == "fence":
            self._builder.add(BlockKind.CODE, token.content.strip("\n"))
        elif token.type == "inline":
            self._paragraph(clean(token.content))

    def _paragraph(self, text: str) -> None:
        kind = BlockKind.PARAGRAPH
        if self._marker is not None:
            text, kind = f"{self._marker}{text}", BlockKind.LIST_ITEM
            self._marker = None
        is_caption = re.match(r"\W{0,3}table\s+[\w.-]+", text, re.IGNORECASE)
        if is_caption and len(text) <= MAX_CAPTION:
            kind, self._caption = BlockKind.CAPTION, plain(text)
        else:
            self._caption = ""
        self._builder.add(kind, text)

    def _table(self, tokens: Sequence[Token]) -> None:
        self._tables += 1
        rows = list(_rows(tokens))
        headers = [plain(cell) for cell in rows[0]] if rows else []
        for index, row in enumerate(rows):
            self._builder.add_row(
                row,
                headers,
                str(self._tables),
                table=self._caption,
                attributes={"row": "header"} if index == 0 else {},
            )


def _rows(tokens: Sequence[Token]) -> Iterator[list[str]]:
    row: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(clean(token.content))
        elif token.type == "tr_close":
            yield row


def _closing(tokens: Sequence[Token], opening: int) -> int:
    return next(
        i for i in range(opening, len(tokens)) if tokens[i].type == "table_close"
    )

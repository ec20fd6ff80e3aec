"""Markdown: CommonMark blocks with the text as rendered.

Front matter, Liquid tags, attribute lists and HTML tags are removed.
"""

import re
from collections.abc import Collection, Iterator, MutableMapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.reference import reference
from markdown_it.token import Token

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.detection import decode_text
from elt_llm_ingest.readers.front_matter import split_front_matter
from elt_llm_ingest.readers.raised_text import REMOVED, without_marks, write_raised
from elt_llm_ingest.readers.text_builder import TextBuilder, title_of, with_sections

NOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]*", re.MULTILINE)
_NOISE = re.compile(
    r"\{%.*?%\}|\{\{.*?\}\}"  # Liquid
    r"|\{:[^{}\n]*\}|(?<=\s)\{#[\w:.-]+\}|(?<=\s)\{\.[\w\s.-]+\}"  # attribute lists
    r"|(?<!\\)</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>",  # HTML tags, not <https://links>
    re.DOTALL,
)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_RAISED = re.compile(r"<sup\b[^<>]*>(.*?)</sup\s*>", re.IGNORECASE | re.DOTALL)
_NOTE_MARK = re.compile(r"\[\^([^\]\s]+)\]")
_NUMBER_LINK = re.compile(r"\[\\?\[\d{1,3}\\?\]\]\(#[^()\s]*\)")
_TARGET = re.compile(r" {0,3}\[(?!\^)[^\]]+\]:\s*(?:<[^<>]*>|\S*(?:[/#@]|\.\w|:\w))")


def block_parser() -> MarkdownIt:
    """Return a block parser. HTML and indented text stay text, notes paragraphs."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.block.ruler.at("reference", _reference)
    return parser.disable(["html_block", "code", "inline", "text_join"])


class Inline:
    """Renders the inline source of blocks as plain text."""

    def __init__(self, env: MutableMapping[str, Any], notes: Collection[str]) -> None:
        """`env` has the targets of the page's links, `notes` the names of its notes."""
        self._parser = MarkdownIt("commonmark").disable("html_inline")
        self._env = env
        self._notes = frozenset(notes)

    def text(self, source: str) -> str:
        """Return the rendered text, without empty lines."""
        parts: list[str] = []
        at = 0
        for span in _CODE_SPAN.finditer(source):
            parts += [self._without_noise(source[at : span.start()]), span.group()]
            at = span.end()
        parts.append(self._without_noise(source[at:]))
        (inline,) = self._parser.parseInline("".join(parts), self._env)
        shown = without_marks(_render_tokens(inline.children or []))
        lines = (line.rstrip() for line in shown.split("\n"))
        return "\n".join(line for line in lines if line.strip()).strip()

    def _without_noise(self, text: str) -> str:
        text = _RAISED.sub(_write_raised, _BREAK.sub(" ", text))
        text = _NOTE_MARK.sub(self._note_mark, _NUMBER_LINK.sub(REMOVED, text))
        return re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", _NOISE.sub("", text))

    def _note_mark(self, match: re.Match[str]) -> str:
        return REMOVED if match[1] in self._notes else match[0]


def _write_raised(match: re.Match[str]) -> str:
    before = re.sub(r"[*_]+\Z", "", match.string[: match.start()][-40:])
    if "](#" in match[1]:
        return REMOVED
    return write_raised(re.sub(r"<[^<>]*>|\\(?=[\[\]])", "", match[1]), before)


def _render_tokens(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    kept: list[bool] = []
    for index, token in enumerate(tokens):
        if token.type == "em_open":
            kept.append(_is_product(tokens, index))
        if token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "image":
            parts.append(_render_tokens(token.children or []))
        elif token.nesting == 0:
            parts.append(token.content)
        elif token.type in ("em_open", "em_close") and kept[-1]:
            parts.append(token.markup)
        if token.type == "em_close":
            kept.pop()
    return "".join(parts)


def _is_product(tokens: Sequence[Token], opening: int) -> bool:
    """Return whether "emphasis" is inside words, as in 2*3*4 and 5*x + 6*y."""
    level = tokens[opening].level
    closing = next(
        index
        for index in range(opening + 1, len(tokens))
        if tokens[index].type == "em_close" and tokens[index].level == level
    )
    before = tokens[opening - 1].content[-1:] if opening else ""
    after = tokens[closing + 1].content[:1] if closing + 1 < len(tokens) else ""
    return before.isalnum() and after.isalnum()


def _reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse the target of a link, but not a note or a word after a colon."""
    line = state.src[state.bMarks[first] : state.eMarks[first]]
    return bool(_TARGET.match(line)) and reference(state, first, last, silent)


PARSER = f"markdown-it-py {version('markdown-it-py')}, layer 4"
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
MAX_CAPTION = 200  # characters; a longer paragraph above a table is text


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of a Markdown file. Raises LoadError if there is no text."""
    source, warnings = decode_text(path, data)
    body, declared, attributes = split_front_matter(source)
    body = COMMENT.sub("", body)
    builder = TextBuilder()
    env: dict[str, Any] = {}
    tokens = block_parser().parse(body, env)
    notes = {note[1] for note in NOTE.finditer(body)}
    _Blocks(builder, Inline(env, notes)).write(tokens)
    if not builder.blocks:
        raise LoadError(
            path.name, "no text: it contains only markup", "check the export"
        )
    blocks = with_sections(builder.text, builder.blocks)
    return [
        ParsedDocument(
            title=declared or title_of(builder.text, blocks, path.stem),
            text=builder.text,
            blocks=blocks,
            parser=PARSER,
            warnings=warnings,
            attributes=attributes,
        )
    ]


class _Blocks:
    """Writes block tokens and tracks the current list item and table."""

    def __init__(self, builder: TextBuilder, inline: Inline) -> None:
        self._builder = builder
        self._inline = inline
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
        text = self._inline.text(inline.content)
        self._builder.add(BlockKind.HEADING, text, level=level)
        self._caption = ""

    def _other(self, token: Token) -> None:
        if token.type == "list_item_open":
            numbered = token.info and token.markup in (".", ")")
            self._marker = f"{token.info}{token.markup} " if numbered else ""
        elif token.type == "fence":
            self._builder.add(BlockKind.CODE, token.content.strip("\n"))
        elif token.type == "inline":
            self._note_paragraph(token.content)

    def _note_paragraph(self, source: str) -> None:
        """Write a paragraph, and the notes directly below it."""
        starts = [*NOTE.finditer(source)]
        before = source[: starts[0].start()] if starts else source
        if before.strip():
            self._paragraph(self._inline.text(before))
        for index, note in enumerate(starts):
            end = starts[index + 1].start() if starts[index + 1 :] else len(source)
            text = self._inline.text(source[note.end() : end])
            attributes = {"type": "footnote", "id": note[1]}
            self._builder.add(BlockKind.PARAGRAPH, text, attributes=attributes)

    def _paragraph(self, text: str) -> None:
        kind = BlockKind.PARAGRAPH
        if self._marker is not None:
            text, kind = f"{self._marker}{text}", BlockKind.LIST_ITEM
            self._marker = None
        is_caption = re.match(r"\W{0,3}table\s+[\w.-]+", text, re.IGNORECASE)
        if is_caption and len(text) <= MAX_CAPTION:
            kind, self._caption = BlockKind.CAPTION, text
        else:
            self._caption = ""
        self._builder.add(kind, text)

    def _table(self, tokens: Sequence[Token]) -> None:
        self._tables += 1
        rows = list(self._rows(tokens))
        headers = rows[0] if rows else []
        for index, row in enumerate(rows):
            self._builder.add_row(
                row,
                headers,
                str(self._tables),
                table=self._caption,
                attributes={"row": "header"} if index == 0 else {},
            )

    def _rows(self, tokens: Sequence[Token]) -> Iterator[list[str]]:
        row: list[str] = []
        for token in tokens:
            if token.type == "tr_open":
                row = []
            elif token.type == "inline":
                row.append(self._inline.text(token.content))
            elif token.type == "tr_close":
                yield row


def _closing(tokens: Sequence[Token], opening: int) -> int:
    return next(
        i for i in range(opening, len(tokens)) if tokens[i].type == "table_close"
    )

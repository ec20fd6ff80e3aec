"""The text that a reader of a Markdown page sees: no link targets, emphasis or escapes.

Code spans are kept verbatim. Marks of notes are left out.
"""

import re
from collections.abc import Collection, MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.reference import reference
from markdown_it.token import Token

from elt_llm_ingest.formats.raised import REMOVED, raised, without_marks

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
    """A parser of blocks. HTML and indented text stay text, notes stay paragraphs."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.block.ruler.at("reference", _reference)
    return parser.disable(["html_block", "code", "inline", "text_join"])


class Inline:
    """Renders the inline source of blocks as plain text."""

    def __init__(self, env: MutableMapping[str, Any], notes: Collection[str]) -> None:
        """`env` holds the targets of the page's links, `notes` its notes' names."""
        self._parser = MarkdownIt("commonmark").disable("html_inline")
        self._env = env
        self._notes = frozenset(notes)

    def text(self, source: str) -> str:
        """What the inline source shows, without empty lines."""
        parts: list[str] = []
        at = 0
        for span in _CODE_SPAN.finditer(source):
            parts += [self._without_noise(source[at : span.start()]), span.group()]
            at = span.end()
        parts.append(self._without_noise(source[at:]))
        (inline,) = self._parser.parseInline("".join(parts), self._env)
        shown = without_marks(_shown(inline.children or []))
        lines = (line.rstrip() for line in shown.split("\n"))
        return "\n".join(line for line in lines if line.strip()).strip()

    def _without_noise(self, text: str) -> str:
        text = _RAISED.sub(_raised, _BREAK.sub(" ", text))
        text = _NOTE_MARK.sub(self._note_mark, _NUMBER_LINK.sub(REMOVED, text))
        return re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", _NOISE.sub("", text))

    def _note_mark(self, found: re.Match[str]) -> str:
        return REMOVED if found[1] in self._notes else found[0]


def _raised(found: re.Match[str]) -> str:
    before = re.sub(r"[*_]+\Z", "", found.string[: found.start()][-40:])
    if "](#" in found[1]:
        return REMOVED
    return raised(re.sub(r"<[^<>]*>|\\(?=[\[\]])", "", found[1]), before)


def _shown(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    kept: list[bool] = []
    for index, token in enumerate(tokens):
        if token.type == "em_open":
            kept.append(_is_product(tokens, index))
        if token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "image":
            parts.append(_shown(token.children or []))
        elif token.nesting == 0:
            parts.append(token.content)
        elif token.type in ("em_open", "em_close") and kept[-1]:
            parts.append(token.markup)
        if token.type == "em_close":
            kept.pop()
    return "".join(parts)


def _is_product(tokens: Sequence[Token], opening: int) -> bool:
    """Whether "emphasis" is within a word on both sides, as in 2*3*4 and 5*x + 6*y."""
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
    """Take the target of a link; a note or a word behind a colon is none."""
    line = state.src[state.bMarks[first] : state.eMarks[first]]
    return bool(_TARGET.match(line)) and reference(state, first, last, silent)

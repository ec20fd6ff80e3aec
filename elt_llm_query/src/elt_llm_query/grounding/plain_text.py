"""What a model wrote as plain text: no emphasis, no headings, nothing that is not seen.

An answer is plain text. Marks of Markdown that a model puts around words are taken out,
so that what is shown is what was looked up; other characters stay as they are.
"""

import re
import unicodedata

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*(?:\n|$)", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE)
_STRONG = re.compile(r"(\*\*|__|`+)(?=\S)([^\n]*?\S)\1")
# Joiners shape letters of many scripts; next to a Latin one they hide something.
_JOINER = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
_KEPT = frozenset("\n\t")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]")  # every mark of ASCII may be escaped
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
# What a renderer acts on anywhere: code, emphasis, links, tags, formulas, entities and
# addresses; and what makes a heading, rule, list, quotation or table of a line.
_ACTIVE = re.compile(
    r"[\\`*\[\]<~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=\S)@(?=\S)|:(?=//)"
    r"|(?<=\bwww)\.",
    re.IGNORECASE,
)
_LINE_START = re.compile(r"^([ \t]*)([-+=#>|:]|\d+(?=[.)](?:\s|$)))", re.MULTILINE)
_LABEL = re.compile(r"\\\[([SF]\d+)\\\](?![(\[:])")
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})


def plain_text(text: str) -> str:
    """The text of a model as plain text.

    Args:
        text: What the model wrote.

    Returns:
        The text without code fences, heading marks, emphasis, control characters and
        characters that are not seen (zero width, turned direction, tags).
    """
    text = remove_unseen(text.replace("\r\n", "\n"))
    text = _HEADING.sub("", _FENCE.sub("", text))
    return _STRONG.sub(r"\2", text).strip()


def remove_unseen(text: str) -> str:
    """The text without control characters and characters that are not seen."""
    joiners = {joiner.start() for joiner in _JOINER.finditer(text)}
    return "".join(
        char
        for place, char in enumerate(text)
        if char in _KEPT
        or place in joiners
        or unicodedata.category(char) not in _UNSEEN
    )


def as_markdown(text: str) -> str:
    """Plain text as Markdown that shows just that text.

    Args:
        text: Plain text, for example `QueryResult.answer` or a quote.

    Returns:
        Markdown in which every mark is escaped: no link, image, address, list, code or
        HTML of the text becomes active in a renderer of CommonMark or GitHub's variant.
    """
    return _keep_lines(_MARKS.sub(r"\\\g<0>", text), "\\")


def readable_markdown(text: str) -> str:
    """Plain text as Markdown that shows just that text, with few marks escaped.

    It reads well where it is shown as it is, too: a sentence mostly stays as it was,
    and labels such as `[S1]` do.

    Args:
        text: Plain text, for example `QueryResult.answer` or a quote.

    Returns:
        As `as_markdown`; formulas and footnotes are not active either.
    """
    escaped = _ACTIVE.sub(r"\\\g<0>", text)
    escaped = _LINE_START.sub(_escape_start, escaped)
    return _LABEL.sub(r"[\1]", _keep_lines(escaped, "  "))


def _escape_start(start: re.Match[str]) -> str:
    """Escape the mark that makes a heading, a rule or a list of a line."""
    indent, mark = start.groups()
    return f"{indent}{mark}\\" if mark.isdigit() else f"{indent}\\{mark}"


def _keep_lines(escaped: str, ending: str) -> str:
    """Keep indents, and line breaks by an ending, which Markdown would join."""
    indented = _INDENT.sub(lambda indent: "&nbsp;" * len(indent[0]), escaped)
    lines = indented.split("\n")
    kept = [
        f"{line}{ending}" if line and after else line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    ]
    return "\n".join(kept)

"""Convert a model's text to plain text, without markup or hidden characters.

An answer is plain text. Markdown that a model puts around words is removed, so that the
shown text is the text that was looked up; other characters are unchanged.
"""

import re
import unicodedata

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*(?:\n|$)", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE)
_STRONG = re.compile(r"(\*\*|__|`+)(?=\S)([^\n]*?\S)\1")
# Joiners shape letters of many scripts; next to Latin letters they only hide text.
_JOINER = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
_KEPT = frozenset("\n\t")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]")  # all ASCII punctuation may be escaped
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
# Markup that is active anywhere (code, emphasis, links, tags, formulas, entities,
# addresses) and at the start of a line (headings, rules, lists, quotations, tables).
_ACTIVE = re.compile(
    r"[\\`*\[\]<~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=\S)@(?=\S)|:(?=//)"
    r"|(?<=\bwww)\.",
    re.IGNORECASE,
)
_LINE_START = re.compile(r"^([ \t]*)([-+=#>|:]|\d+(?=[.)](?:\s|$)))", re.MULTILINE)
_LABEL = re.compile(r"\\\[([SF]\d+)\\\](?![(\[:])")
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})


def plain_text(text: str) -> str:
    """Return a model's text as plain text.

    Args:
        text: The model's text.

    Returns:
        The text without code fences, heading marks, emphasis, control characters and
        invisible characters (zero width, direction, tags).
    """
    text = remove_unseen(text.replace("\r\n", "\n"))
    text = _HEADING.sub("", _FENCE.sub("", text))
    return _STRONG.sub(r"\2", text).strip()


def remove_unseen(text: str) -> str:
    """Return the text without control characters and invisible characters."""
    joiners = {joiner.start() for joiner in _JOINER.finditer(text)}
    return "".join(
        char
        for place, char in enumerate(text)
        if char in _KEPT
        or place in joiners
        or unicodedata.category(char) not in _UNSEEN
    )


def as_markdown(text: str) -> str:
    """Return Markdown that renders as exactly this plain text.

    Args:
        text: Plain text, for example `QueryResult.answer` or a quote.

    Returns:
        Markdown in which every mark is escaped: no link, image, address, list, code or
        HTML of the text becomes active in a renderer of CommonMark or GitHub's variant.
    """
    return _keep_lines(_MARKS.sub(r"\\\g<0>", text), "\\")


def readable_markdown(text: str) -> str:
    """Return Markdown that renders as exactly this plain text, with few escapes.

    It is also readable unrendered: most sentences, and labels such as `[S1]`, are
    unchanged.

    Args:
        text: Plain text, for example `QueryResult.answer` or a quote.

    Returns:
        As `as_markdown`; formulas and footnotes are not active either.
    """
    escaped = _ACTIVE.sub(r"\\\g<0>", text)
    escaped = _LINE_START.sub(_escape_start, escaped)
    return _LABEL.sub(r"[\1]", _keep_lines(escaped, "  "))


def _escape_start(start: re.Match[str]) -> str:
    """Escape the mark that would make a heading, a rule or a list of a line."""
    indent, mark = start.groups()
    return f"{indent}{mark}\\" if mark.isdigit() else f"{indent}\\{mark}"


def _keep_lines(escaped: str, ending: str) -> str:
    """Keep indentation, and line breaks, which Markdown would join."""
    indented = _INDENT.sub(lambda indent: "&nbsp;" * len(indent[0]), escaped)
    lines = indented.split("\n")
    kept = [
        f"{line}{ending}" if line and after else line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    ]
    return "\n".join(kept)

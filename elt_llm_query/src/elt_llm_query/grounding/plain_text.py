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
    escaped = _MARKS.sub(r"\\\g<0>", text)
    indented = _INDENT.sub(lambda indent: "&nbsp;" * len(indent[0]), escaped)
    lines = indented.split("\n")
    kept = [
        f"{line}\\" if line and after else line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    ]
    return "\n".join(kept)

"""An answer cut into statements, each with its labels and quotations."""

import re
from dataclasses import dataclass

from elt_llm_query.text import pieces, words

LABEL = re.compile(r"\[([SF]\d+)\]")

_AFTER_STOP = re.compile(r"([.!?][\"'\u201d\u2019)]*)((?:\s*\[[SF]\d+\])+)")
_QUOTED = re.compile(
    r"\"([^\"]{3,}?)\"|\u201c([^\u201d]{3,}?)\u201d|\u00ab([^\u00bb]{3,}?)\u00bb"
)
_FRAME_WORDS = 3


@dataclass(frozen=True)
class Statement:
    """One sentence or list item.

    `gap` is the white space before it, `text` its words with labels. A `frame` (a
    heading, "The rules say:") claims nothing itself.
    """

    gap: str
    text: str

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in order, once each."""
        return tuple(dict.fromkeys(LABEL.findall(self.text)))

    @property
    def plain(self) -> str:
        """The text without labels and list marks."""
        bare = re.sub(r"\s*\[[SF]\d+\]", "", self.text)
        return re.sub(r"^\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+|[*_`#]+", "", bare).strip()

    @property
    def quotes(self) -> tuple[str, ...]:
        """What stands in quotation marks, two words or more."""
        found = (next(g for g in m if g) for m in _QUOTED.findall(self.plain))
        return tuple(q.strip() for q in found if len(words(q)) > 1)

    @property
    def frame(self) -> bool:
        """True for a lead-in, a heading or a word or two."""
        plain = self.plain
        if self.labels:
            return False
        few = len(words(plain)) <= _FRAME_WORDS
        return self.text.startswith("#") or plain.endswith(":") or few


def statements(answer: str) -> list[Statement]:
    """The statements in order; a label after a full stop belongs to what it follows."""
    text = _AFTER_STOP.sub(_before_stop, answer)
    found: list[Statement] = []
    position = 0
    for start, end in pieces(text):
        found.append(Statement(text[position:start], text[start:end]))
        position = end
    return found


def _before_stop(found: re.Match[str]) -> str:
    labels = "".join(f"[{label}]" for label in LABEL.findall(found[2]))
    stop = found[1]
    if len(stop) > 1:  # the quotation closes before the label
        return f"{stop} {labels}"
    return f" {labels}{stop}"

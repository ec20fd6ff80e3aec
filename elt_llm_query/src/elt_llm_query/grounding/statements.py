"""Split an answer into statements, each with its labels and quotations."""

import re
from dataclasses import dataclass
from functools import cached_property

from elt_llm_query.analysis.stems import pieces, words

LABEL = re.compile(r"\[([SF]\d+)\]")

_AFTER_STOP = re.compile(r"([.!?][\"'\u201d\u2019)]*)((?:\s*\[[SF]\d+\])+)")
_LABELS_ONLY = re.compile(r"(?:\s*\[[SF]\d+\])+[.!?]?")
_QUOTED = re.compile(
    r"\"([^\"]{3,}?)\"|\u201c([^\u201d]{3,}?)\u201d|\u00ab([^\u00bb]{3,}?)\u00bb"
)


@dataclass(frozen=True)
class GivenQuote:
    """A quotation that a model gave for a statement, separate from its text."""

    label: str
    quote: str


@dataclass(frozen=True)
class DraftStatement:
    """One sentence or list item as it was written, not yet checked.

    `gap` is the white space before it, `text` its words with labels.
    """

    gap: str
    text: str
    evidence: tuple[GivenQuote, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in order, once each."""
        return tuple(dict.fromkeys(LABEL.findall(self.text)))

    @cached_property
    def plain(self) -> str:
        """Return the text without labels and list marks."""
        bare = re.sub(r"\s*\[[SF]\d+\]", "", self.text)
        return re.sub(r"^\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+|[*_`#]+", "", bare).strip()

    @cached_property
    def quotes(self) -> tuple[str, ...]:
        """Return the text in quotation marks of two words or more."""
        groups = (next(g for g in m if g) for m in _QUOTED.findall(self.plain))
        return tuple(q.strip() for q in groups if len(words(q)) > 1)

    @property
    def may_lead(self) -> bool:
        """Return True for a possible heading or lead-in: no label and no full stop."""
        if self.labels:
            return False
        return self.text.startswith("#") or not re.search(r"[.!?]\W*$", self.plain)


def split_statements(answer: str) -> list[DraftStatement]:
    """Return the statements in order; joined with their gaps they are the answer.

    A label after a full stop belongs to the sentence before it.
    """
    text = _AFTER_STOP.sub(_before_stop, answer)
    cut: list[DraftStatement] = []
    position = 0
    for start, end in pieces(text):
        if cut and _LABELS_ONLY.fullmatch(text, start, end):
            last = cut.pop()
            cut.append(DraftStatement(last.gap, last.text + text[position:end]))
        else:
            cut.append(DraftStatement(text[position:start], text[start:end]))
        position = end
    return cut


def _before_stop(match: re.Match[str]) -> str:
    labels = "".join(f"[{label}]" for label in LABEL.findall(match[2]))
    stop = match[1]
    if len(stop) > 1:  # the quotation closes before the label
        return f"{stop} {labels}"
    return f" {labels}{stop}"

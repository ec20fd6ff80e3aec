"""The one line of a fact sheet that answers, and the row of a table that does.

A fact sheet is its name, then lines "Label: value", a description without a label, and
sentences on how it is related to others.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from elt_llm_query.analysis.question import Form, Question
from elt_llm_query.analysis.term_match import SYNONYM, match, vocabulary
from elt_llm_query.analysis.text import stem, words

_LABELLED = re.compile(r"(?P<label>[A-Z][^:.\n]{0,40}): (?P<value>\S.*)")
_DESCRIPTION = frozenset(map(stem, ["describe", "description", "definition", "define"]))
_RELATED = frozenset(map(stem, ["related", "connected", "linked"]))
_RELATIONS = _RELATED | frozenset(map(stem, ["relationship", "connection", "link"]))

ASKED = 1.0
DESCRIBED = 0.9
OTHER_NAME = 0.8  # from this fit on the line is the one asked for


class Line(NamedTuple):
    """`text[start:end]`; `label` is empty where the line has none."""

    start: int
    end: int
    label: str
    value: str


class Pick(NamedTuple):
    """What is quoted of a sheet, how it is said, and how well it fits, 0 to 1."""

    start: int
    end: int
    said: str
    fit: float


def pick(question: Question, text: str) -> Pick | None:
    """The line asked for, or None where the question is for none in particular."""
    name, *rest = _lines(text)
    asked = _asked(question, name.value)
    relations = [x for x in (name, *rest) if _relates(x, name, rest)]
    about = [x for x in relations if question.names <= vocabulary(x.value)]
    found = _labelled(question, rest, asked)
    if about and (_RELATED & asked.keys() or (not found and _RELATIONS & asked.keys())):
        return _span(text, about)
    if found:
        fit = ASKED if _names(question, name.value) else OTHER_NAME
        return _picked(text, name, found, fit)
    described = [x for x in rest if not x.label and x not in relations]
    if question.form is Form.DEFINITION or _DESCRIPTION & asked.keys():
        labelled = [x for x in rest if x.label]
        return _described(question, text, name, described or labelled)
    if question.form is Form.PERSON:  # a status or label is no one
        rest = [x for x in rest if not x.label]
    return _by_value(question, text, name, rest)


def _described(
    question: Question, text: str, name: Line, found: Sequence[Line]
) -> Pick | None:
    """The description; without one a label tells a little of what the thing is."""
    if not found:
        return None
    fit = DESCRIBED if _names(question, name.value) else 0.5
    if found[0].label:
        fit = 0.5 if question.form is Form.DEFINITION else 0.0
    return _picked(text, name, found[0], fit)


def _names(question: Question, name: str) -> bool:
    """True where the question holds the name, word for word."""
    asked, wanted = (words(t.casefold()) for t in (question.text, name))
    return f" {' '.join(wanted)} " in f" {' '.join(asked)} "


def asks_for_cell(question: Question, reading: str) -> bool:
    """True where the row of a table has a cell that is asked for.

    The question holds the whole of the row's first cell, and the header of another
    whose value it does not give.
    """
    cells = [c.partition(": ") for c in reading.split(" - ", 1)[-1].split(" | ")]
    known = vocabulary(question.text)
    named = all(value for _, _, value in cells) and _names(question, cells[0][2])
    return named and any(
        all(match(stem(w), known) for w in words(header))
        and not vocabulary(value) <= known
        for header, _, value in cells[1:]
    )


def _lines(text: str) -> list[Line]:
    found: list[Line] = []
    for line in re.finditer(r"\S[^\n]*", text):
        said = line[0].rstrip()
        labelled = _LABELLED.fullmatch(said) if found else None
        label, value = labelled.groups() if labelled else ("", said)
        found.append(Line(line.start(), line.start() + len(said), label, value))
    return found or [Line(0, len(text), "", text)]


def _asked(question: Question, name: str) -> dict[str, int]:
    """Stems of the question without the sheet's name, and where they first stand."""
    left = re.sub(re.escape(name), " ", question.text, flags=re.IGNORECASE)
    found: dict[str, int] = {}
    for place, word in enumerate(words(left)):
        found.setdefault(stem(word), place)
    return found


def _labelled(
    question: Question, rest: Sequence[Line], asked: Mapping[str, int]
) -> Line | None:
    """The line whose label is asked for: the first that the question names.

    A label whose value stands in the question is given, not asked for.
    """
    known = frozenset(asked)
    found = []
    for line in rest:
        label = [stem(w) for w in words(line.label)]
        if label and all(match(x, known) >= SYNONYM for x in label):
            given = vocabulary(line.value) <= vocabulary(question.text)
            place = min((asked[x] for x in label if x in asked), default=len(asked))
            found.append((given, -len(label), place, line.start, line))
    return min(found)[-1] if found else None


def _relates(line: Line, name: Line, rest: Sequence[Line]) -> bool:
    """True for a sentence that begins or ends with the name or a value of the sheet."""
    if line.label:
        return False
    if line is name:
        return line.value.endswith(".")
    ends = [name.value, *(x.value for x in rest if x.label)]
    bare = line.value.rstrip(".")
    return any(bare.startswith(f"{e} ") or bare.endswith(f" {e}") for e in ends)


def _by_value(
    question: Question, text: str, name: Line, rest: Sequence[Line]
) -> Pick | None:
    """The line that has most of the words that the name leaves open."""
    wanted = question.weights.keys() - vocabulary(name.value)
    common = [(len(vocabulary(x.value) & wanted), -x.start, x) for x in rest]
    shared, _, line = max(common, default=(0, 0, name))
    return _picked(text, name, line, 0.7) if shared else None


def _picked(text: str, name: Line, line: Line, fit: float) -> Pick:
    adjacent = not text[name.end : line.start].strip()
    start = name.start if adjacent else line.start
    subject = name.value.split(". ")[0].rstrip(".")
    said = f"{subject} - {text[line.start : line.end]}"
    return Pick(start, line.end, said, fit)


def _span(text: str, found: Sequence[Line]) -> Pick:
    """Lines that follow each other, as one quote; the more they tell the better."""
    last = found[0]
    count = 1
    for line in found[1:]:
        if text[last.end : line.start].strip():
            break
        last, count = line, count + 1
    quote = text[found[0].start : last.end]
    said = " ".join(quote.split("\n"))
    return Pick(found[0].start, last.end, said, ASKED - 0.5 / count)

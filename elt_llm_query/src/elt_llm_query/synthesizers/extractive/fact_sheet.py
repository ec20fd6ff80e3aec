"""The answering line of a fact sheet, and the answering row of a table.

A fact sheet consists of its name, lines "Label: value", a description without a label,
and sentences about its relations.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import SYNONYM, match
from elt_llm_query.synthesizers.extractive.relation_lines import (
    Ends,
    count_of_ends,
    may_describe,
    relation_of,
    states_relation,
)

# A label is a heading or the key of an attribute: "autoSize", "business owner".
_LABELLED = re.compile(
    r"(?P<label>[A-Z][^:.\n]{0,40}|[^\W\d_A-Z][^\s:.]{0,40}(?: [^\s:.]{1,20}){0,2})"
    r": (?P<value>\S.*)"
)
_DESCRIPTION = frozenset(map(stem, ["describe", "description", "definition", "define"]))
# The labels whose value says what a thing is; every other value is one thing about it.
_MEANING = _DESCRIPTION | frozenset(
    map(stem, ["documentation", "explanation", "meaning", "purpose"])
)
_RELATED = frozenset(map(stem, ["related", "connected", "linked"]))
_RELATIONS = _RELATED | frozenset(map(stem, ["relationship", "connection", "link"]))

# Fits of a line. Their order matters, not their values: the requested line of the named
# sheet, then the description, then the line of a sheet of another name, then a line
# that only contains some of the words.
ASKED = 1.0
DESCRIBED = 0.9
OTHER_NAME = 0.8  # the least fit of a requested line
SOME_WORDS = 0.7
# A relation has no advantage over a sentence of a document, which has this fit where no
# form is requested.
STATED = 0.5


class SheetLine(NamedTuple):
    """`text[start:end]`; `label` is empty if the line has none."""

    start: int
    end: int
    label: str
    value: str

    @property
    def read(self) -> Sentence:
        """Return its value with its analysis."""
        return read(self.value)


class Pick(NamedTuple):
    """The quoted part of a sheet, its wording in an answer, and its fit, 0 to 1."""

    start: int
    end: int
    wording: str
    fit: float


def pick_line(
    question: QuestionAnalysis, text: str, ends: Ends | None = None
) -> Pick | None:
    """Return the requested line, or None if the question asks for none in particular.

    Args:
        question: The question.
        text: The text of the fact sheet.
        ends: Of the text of a relation, the names of its ends, if known.
    """
    name, *rest = _read_lines(text)
    asked = _stems_beside(question, name.value)
    relations = [x for x in (name, *rest) if _relates(x, name, rest)]
    if (count := count_of_ends(question, text)) is not None:
        return Pick(*count, text[slice(*count)], ASKED)
    about = [x for x in relations if question.names <= x.read.stems]
    line = _labelled_line(question, rest, asked)
    if about and (_RELATED & asked.keys() or (not line and _RELATIONS & asked.keys())):
        return _pick_relations(text, about)
    if line:
        return _pick_value(question, text, name, line)
    if question.form is Form.DEFINITION or _DESCRIPTION & asked.keys():
        described = [
            x
            for x in rest
            if x not in relations and (not x.label or read(x.label).stems & _MEANING)
        ]
        labelled = [x for x in rest if x.label]
        return _pick_description(question, text, name, described or labelled)
    return _pick_statement(question, text, (name, *rest), ends)


def _pick_value(
    question: QuestionAnalysis, text: str, name: SheetLine, line: SheetLine
) -> Pick | None:
    """Return the line of a label, unless it is one of many that are asked for.

    "Which entities are in LENDING?" asks for all sheets with the value.
    """
    is_named = _is_named(question, name.value)
    given = line.read.stems <= question.read.stems
    several = question.several or question.form is Form.NUMBER
    if given and several and not is_named:
        return None
    return _pick(text, name, line, ASKED if is_named else OTHER_NAME)


def _pick_statement(
    question: QuestionAnalysis,
    text: str,
    lines: Sequence[SheetLine],
    ends: Ends | None,
) -> Pick | None:
    """Return the relation, the description or the value that a question is about."""
    name, *rest = lines
    relations = [x for x in (name, *rest) if _relates(x, name, rest)]
    stated = next((x for x in relations if _states(question, lines, x, ends)), None)
    if stated is not None:
        return _pick_relation(text, name, stated)
    kind = _kind(rest)
    answering = [
        x
        for x in rest
        if (x.label and _values(question, name, x))
        or (
            not x.label
            and x not in relations
            and may_describe(question, x.value, name.value, kind)
        )
    ]
    return _pick_by_value(question, text, name, answering)


def _pick_relation(text: str, name: SheetLine, line: SheetLine) -> Pick:
    """Return a relation; of the text of one its first sentence, without the counts."""
    if line is not name:
        return _pick(text, name, line, STATED)
    end = line.start + relation_of(line.value).end
    return Pick(line.start, end, text[line.start : end], STATED)


def _states(
    question: QuestionAnalysis,
    lines: Sequence[SheetLine],
    x: SheetLine,
    ends: Ends | None,
) -> bool:
    """Return whether a relation may answer; see `states_relation`."""
    name, *rest = lines
    if x is name:  # the text of a relation, not a sheet
        return states_relation(question, relation_of(x.value), "", "", ends)
    return states_relation(question, x.read, name.value, _kind(rest))


def _kind(rest: Sequence[SheetLine]) -> str:
    """Return the type of the sheet's element; empty if it is not stated."""
    return next((line.value for line in rest if line.label == "Type"), "")


def _values(question: QuestionAnalysis, name: SheetLine, line: SheetLine) -> bool:
    """Return whether a value may answer: "Is the card approved?", not who or when.

    Every word of the question is in the name or in the line.
    """
    known = name.read.stems | read(line.label).stems | line.read.stems
    return (
        question.form in {Form.OPEN, Form.YES_NO}
        and _is_named(question, name.value)
        and all(match(x, known) >= SYNONYM for x in question.weights)
    )


def _pick_description(
    question: QuestionAnalysis, text: str, name: SheetLine, lines: Sequence[SheetLine]
) -> Pick | None:
    """Return the description; only without a question for a meaning, the first label.

    A domain or a type is no meaning.
    """
    means = lines and (not lines[0].label or read(lines[0].label).stems & _MEANING)
    if not lines or (not means and question.form is Form.DEFINITION):
        return None
    fit = DESCRIBED if _is_named(question, name.value) else 0.5
    if not means:
        fit = 0.0
    return _pick(text, name, lines[0], fit)


def _is_named(question: QuestionAnalysis, name: str) -> bool:
    """Return True if the question contains the name literally."""
    return read(name).folded_line in question.read.folded_line


def asks_for_cell(question: QuestionAnalysis, reading: str) -> bool:
    """Return whether the question asks for a cell of the row of a table.

    The question contains the whole first cell of the row, and the header of another
    cell whose value it does not give.
    """
    cells = [c.partition(": ") for c in reading.split(" - ", 1)[-1].split(" | ")]
    known = question.read.stems
    named = all(value for _, _, value in cells) and _is_named(question, cells[0][2])
    return named and any(
        all(match(s, known) for s in read(header).stem_list)
        and not read(value).stems <= known
        for header, _, value in cells[1:]
    )


@lru_cache(maxsize=1024)
def _read_lines(text: str) -> tuple[SheetLine, ...]:
    """Return the non-empty lines of a sheet; the first is its name."""
    lines: list[SheetLine] = []
    for line in re.finditer(r"\S[^\n]*", text):
        written = line[0].rstrip()
        labelled = _LABELLED.fullmatch(written) if lines else None
        label, value = labelled.groups() if labelled else ("", written)
        # Sentences: "a person who: ...", "checks two items: the badge and the bag."
        is_key = label[:1].isupper() or " " not in label or not value.endswith(".")
        if label.split(" ")[0] in STOP_WORDS or not is_key:
            label, value = "", written
        lines.append(SheetLine(line.start(), line.start() + len(written), label, value))
    return tuple(lines) or (SheetLine(0, len(text), "", text),)


def _stems_beside(question: QuestionAnalysis, name: str) -> dict[str, int]:
    """Return the question's stems without the sheet's name, with their positions."""
    left = re.sub(re.escape(name), " ", question.text, flags=re.IGNORECASE)
    places: dict[str, int] = {}
    for place, word_stem in enumerate(read(left).stem_list):
        places.setdefault(word_stem, place)
    return places


def _labelled_line(
    question: QuestionAnalysis, rest: Sequence[SheetLine], asked: Mapping[str, int]
) -> SheetLine | None:
    """Return the line of the first label that the question names.

    A label whose value is in the question is given, not requested.
    """
    known = frozenset(asked)
    fitting = []
    for line in rest:
        label = read(line.label).stem_list
        if label and all(match(x, known) >= SYNONYM for x in label):
            given = line.read.stems <= question.read.stems
            place = min((asked[x] for x in label if x in asked), default=len(asked))
            fitting.append((given, -len(label), place, line.start, line))
    return min(fitting)[-1] if fitting else None


def _relates(line: SheetLine, name: SheetLine, rest: Sequence[SheetLine]) -> bool:
    """Return True for a sentence that begins or ends with the name or a value."""
    if line.label:
        return False
    if line is name:
        return line.value.endswith(".")
    ends = [name.value, *(x.value for x in rest if x.label)]
    bare = line.value.rstrip(".")
    return any(bare.startswith(f"{e} ") or bare.endswith(f" {e}") for e in ends)


def _pick_by_value(
    question: QuestionAnalysis, text: str, name: SheetLine, rest: Sequence[SheetLine]
) -> Pick | None:
    """Return the line with most of the question's words besides the name."""
    wanted = question.weights.keys() - name.read.stems
    common = [(len(x.read.stems & wanted), -x.start, x) for x in rest]
    shared, _, line = max(common, default=(0, 0, name))
    return _pick(text, name, line, SOME_WORDS) if shared else None


def _pick(text: str, name: SheetLine, line: SheetLine, fit: float) -> Pick:
    adjacent = not text[name.end : line.start].strip()
    start = name.start if adjacent else line.start
    subject = name.value.split(". ")[0].rstrip(".")
    wording = f"{subject} - {text[line.start : line.end]}"
    return Pick(start, line.end, wording, fit)


def _pick_relations(text: str, lines: Sequence[SheetLine]) -> Pick:
    """Return consecutive lines as one quote; more lines are better."""
    last = lines[0]
    count = 1
    for line in lines[1:]:
        if text[last.end : line.start].strip():
            break
        last, count = line, count + 1
    quote = text[lines[0].start : last.end]
    wording = " ".join(quote.split("\n"))
    return Pick(lines[0].start, last.end, wording, ASKED - 0.5 / count)

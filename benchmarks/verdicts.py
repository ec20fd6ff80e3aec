"""How often the verdict on a statement is the one that a reader gave it.

    uv run python benchmarks/verdicts.py [--half development|held_out] [--list] [--json]

The answers of `written_answers/` are written as language models write, and each
statement's verdict was decided by reading (see its README). Each answer is checked over
all sources of its document. Printed for both halves, with 95 % Wilson intervals: how
often proven and not proven are told apart, how often a statement that is not so is
shown as proven, and both by kind; then again for statements near the words of
their sources, and for free paraphrases. `--list` prints the wrong ones. The exit code
is 1 if a bar is missed.
"""

import argparse
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import yaml

from claims import interval
from elt_llm_core.results import Source, Span, Statement, Support
from elt_llm_query.grounding.citations import UNVERIFIED, cite_answer
from elt_llm_query.grounding.sources import Offered, QuotePlace
from elt_llm_query.grounding.statements import LABEL

FOLDER = Path(__file__).parent / "written_answers"
HALVES = ("development", "held_out")
LEAST_ACCURACY = 0.9
MOST_FALSE_PROVEN = 0.02
PROVEN = "proven"
# The documents whose statements are near the words of their sources; those of the
# others are free paraphrases.
NEAR = (
    "Aravel 9 Heat Pump",
    "Halcyon Kite Regatta",
    "Fact Sheet 28",
    "14 CFR Part 107",
    "Carbon Monoxide",
    "The Constitution",
    "Mellow Bicycles",
    "The Barque Solveig",
)
_FEWEST_LETTERS = 8  # of a statement that is looked for further on in the answer
_PROOFS = (Support.VERIFIED, Support.NORMALISED, Support.FUZZY, Support.SUPPORTED)


@dataclass(frozen=True)
class WrittenStatement:
    """A statement of a written answer: what a reader decided, and what kind it is."""

    text: str
    verdict: str
    kind: str


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer over the sources of one document."""

    document: str
    question: str
    statements: tuple[WrittenStatement, ...]
    sources: tuple[Offered, ...]


@dataclass(frozen=True)
class Outcome:
    """A statement, the verdict that it got, and the reason where it is not proven."""

    answer: WrittenAnswer
    statement: WrittenStatement
    verdict: str
    reason: str = ""

    @property
    def right(self) -> bool:
        """True if proven and not proven are told apart as the reader did."""
        return (self.verdict == PROVEN) == (self.statement.verdict == PROVEN)


def read_answers(half: str) -> list[WrittenAnswer]:
    """Return the answers of one half, by document."""
    return [
        answer
        for path in sorted((FOLDER / half).glob("*.yaml"))
        for answer in _parse_document(yaml.safe_load(path.read_text("utf-8")))
    ]


def wording_of(answer: WrittenAnswer) -> str:
    """Return "near" or "free", by the document of an answer."""
    return "near" if answer.document.startswith(NEAR) else "free"


def _parse_document(document: dict) -> Iterator[WrittenAnswer]:
    name = document["document"]
    sources = tuple(_parse_source(name, row) for row in document["sources"])
    for row in document["answers"]:
        statements = tuple(WrittenStatement(**one) for one in row["statements"])
        yield WrittenAnswer(name, row["question"], statements, sources)


def _parse_source(document: str, row: dict[str, str]) -> Offered:
    span = Span(start=0, end=len(row["text"]))
    return Offered(
        Source(
            node_id=row["label"],
            document_id="d",
            collection="c",
            document=document,
            score=1.0,
            span=span,
            **row,
        )
    )


def check(answer: WrittenAnswer) -> list[Outcome]:
    """Return the verdict on each statement of an answer.

    A statement that the program takes apart is proven if every part of it is; one that
    is not in the answer any more, such as a refusal, is a notice.
    """
    text = "\n".join(one.text for one in answer.statements)
    sources, question = answer.sources, answer.question
    checked = cite_answer(text, sources, _locate, "flag", question).statements
    letters = [_letters(one.text) for one in checked]
    ends = list(accumulate(map(len, letters)))
    stream = "".join(letters)
    outcomes = []
    position = 0
    for one in answer.statements:
        wanted = _letters(one.text)
        start = stream.find(wanted, position)
        if start < 0 or (start > position and len(wanted) < _FEWEST_LETTERS):
            outcomes.append(Outcome(answer, one, Support.NOTICE.value))
            continue
        position = start + len(wanted)
        parts = checked[bisect_right(ends, start) : bisect_left(ends, position) + 1]
        outcomes.append(_outcome(answer, one, parts))
    return outcomes


def _outcome(
    answer: WrittenAnswer, one: WrittenStatement, parts: Sequence[Statement]
) -> Outcome:
    failed = next((part for part in parts if part.verdict not in _PROOFS), None)
    if failed is None:
        return Outcome(answer, one, PROVEN)
    return Outcome(answer, one, failed.verdict.value, failed.reason)


def _letters(text: str) -> str:
    """A statement without marks, labels and what the policy adds."""
    bare = LABEL.sub("", text.replace(UNVERIFIED, ""))
    return "".join(c for c in bare.casefold() if c.isalnum())


def _locate(_: Offered, _start: int, _end: int) -> QuotePlace:
    return QuotePlace(None, ())


def summarise(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Return each figure as hits and cases: the bars, then the errors by kind."""
    real = [o for o in outcomes if o.statement.kind != "lead-in"]
    true = [o for o in real if o.statement.verdict == PROVEN]
    false = [o for o in real if o.statement.verdict != PROVEN]
    figures = {
        "proven or not, right": _count(o.right for o in real),
        "not so, shown as proven": _count(not o.right for o in false),
        "true, not shown": _count(not o.right for o in true),
        "the same verdict": _count(o.verdict == o.statement.verdict for o in real),
    }
    for group, label in ((false, "shown as proven"), (true, "not shown")):
        kinds = dict.fromkeys(o.statement.kind for o in group)
        for kind in sorted(kinds):
            of_kind = (not o.right for o in group if o.statement.kind == kind)
            figures[f"- {kind}, {label}"] = _count(of_kind)
    return figures


def _count(hits: Iterable[bool]) -> tuple[int, int]:
    every = list(hits)
    return sum(every), len(every)


def misses(figures: dict[str, tuple[int, int]]) -> list[str]:
    """Return the bars that the figures miss."""
    right, cases = figures["proven or not, right"]
    shown, false = figures["not so, shown as proven"]
    found = []
    if right / cases < LEAST_ACCURACY:
        found.append(f"accuracy is below {LEAST_ACCURACY}")
    if shown / false > MOST_FALSE_PROVEN:
        found.append(f"false proven is above {MOST_FALSE_PROVEN}")
    return found


def _print_half(half: str, outcomes: Sequence[Outcome], *, lists: bool) -> None:
    answers = len({id(o.answer) for o in outcomes})
    print(f"{half}: {answers} answers, {len(outcomes)} statements")
    figures = summarise(outcomes)
    for name, (hits, of) in figures.items():
        print(f"  {name:42} {interval(hits, of)}")
    for line in misses(figures):
        print(f"  missed: {line}")
    for o in outcomes if lists else ():
        if not o.right:
            print(f"  - [{o.statement.kind}] {o.statement.text}")
            print(f"    read as {o.statement.verdict}, is {o.verdict}: {o.reason}")


def main() -> None:
    """Check the answers of both halves, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=HALVES, help="one half only")
    parser.add_argument("--list", action="store_true", help="print the wrong ones")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    halves = (options.half,) if options.half else HALVES
    outcomes = {
        half: [one for answer in read_answers(half) for one in check(answer)]
        for half in halves
    }
    if options.json:
        print(json.dumps({half: summarise(of) for half, of in outcomes.items()}))
    else:
        for half, of in outcomes.items():
            _print_half(half, of, lists=options.list)
            for wording in ("near", "free"):
                group = [o for o in of if wording_of(o.answer) == wording]
                _print_half(f"{half}, {wording}", group, lists=False)
    if any(misses(summarise(of)) for of in outcomes.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""What a configuration reached once, question by question, to hold it against later.

A baseline names questions by a digest and holds no text of the data.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from elt_llm_core.atomicio import write_atomic
from elt_llm_core.errors import UsageError
from elt_llm_core.names import digest
from elt_llm_core.results import Record
from elt_llm_query.evaluation.beir import Question
from elt_llm_query.evaluation.measures import MEASURES, Difference, Interval, difference
from elt_llm_query.evaluation.report import Asked
from elt_llm_query.evaluation.retrieval import Evaluation, Outcome
from elt_llm_query.evaluation.tables import NAMES, table

DIGITS = 4
KEY = 12
FELL = 1


class Baseline(Record):
    """Values of every question, in the order of `names`."""

    asked: Asked
    configuration: str
    changed: dict[str, object]
    measures: dict[str, Interval]
    names: tuple[str, ...]
    questions: dict[str, tuple[float, ...]]


class Held(Record):
    """One measure then and now over the same questions."""

    was: float
    now: float
    difference: Difference
    fell: bool = Field(description="the whole interval of the difference is below 0")


class GateReport(Record):
    """Whether what was reached is still reached.

    `gone` and `new` count questions that only the baseline or only the data has.
    """

    configuration: str
    compared: int
    gone: int
    new: int
    measures: dict[str, Held]

    @property
    def exit_code(self) -> int:
        """1 where a measure fell, else 0."""
        return FELL if any(one.fell for one in self.measures.values()) else 0


def baseline_of(found: Evaluation, name: str) -> Baseline:
    """The baseline of one configuration that was evaluated."""
    outcome = found.outcomes[name]
    return Baseline(
        asked=found.report.asked,
        configuration=name,
        changed=outcome.figures.changed,
        measures=outcome.figures.measures,
        names=MEASURES,
        questions=_rows(outcome),
    )


def write_baseline(path: Path, made: Baseline) -> None:
    """A question a line, so that a change is seen in a diff."""
    told = made.model_dump(mode="json")
    questions = told.pop("questions")
    head = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True)
    rows = ",\n".join(
        f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in questions.items()
    )
    body = head.removesuffix("\n}") + f',\n "questions": {{\n{rows}\n }}\n}}\n'
    write_atomic(path, body)


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file. Raises UsageError for one that cannot be used."""
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is none"
        raise UsageError(
            f"cannot use the baseline {path}: {reason}",
            "write one with: elt-llm eval retrieval --baseline FILE",
        ) from error


def gate(was: Baseline, now: Outcome) -> GateReport:
    """The same questions then and now, pair by pair.

    Raises UsageError where no question is the same.
    """
    rows = _rows(now)
    common = [key for key in was.questions if key in rows]
    if not common:
        raise UsageError(
            f"none of the {len(was.questions)} questions of the baseline was asked",
            f"it was made of {was.asked.data!r}, {was.asked.split!r}",
        )
    names = [name for name in was.names if name in MEASURES]
    return GateReport(
        configuration=now.figures.name,
        compared=len(common),
        gone=len(was.questions) - len(common),
        new=len(rows) - len(common),
        measures={
            name: _held(
                [was.questions[key][was.names.index(name)] for key in common],
                [rows[key][MEASURES.index(name)] for key in common],
            )
            for name in names
        },
    )


def gate_text(found: GateReport) -> str:
    """A line a measure, and the verdict."""
    rows = [["", "was", "now", "difference", "interval", ""]]
    for name, one in found.measures.items():
        gap = one.difference
        rows.append(
            [
                NAMES[name],
                f"{one.was:.4f}",
                f"{one.now:.4f}",
                f"{gap.difference:+.4f}",
                f"[{gap.low:+.4f}, {gap.high:+.4f}]",
                "fell" if one.fell else "held",
            ]
        )
    told = f"{found.compared} questions compared"
    if found.gone or found.new:
        told += f"; {found.gone} are gone, {found.new} are new"
    return f"{table(rows)}\n\n{told}"


def _held(was: list[float], now: list[float]) -> Held:
    gap = difference(now, was)
    return Held(
        was=round(sum(was) / len(was), DIGITS),
        now=round(sum(now) / len(now), DIGITS),
        difference=gap,
        fell=gap.high < 0,
    )


def _rows(outcome: Outcome) -> dict[str, tuple[float, ...]]:
    return {
        _key(a.question): _row(outcome.values, a.question.id)
        for a in outcome.run.answered
    }


def _key(question: Question) -> str:
    return digest(question.id, question.text)[:KEY]


def _row(values: Mapping[str, Mapping[str, float]], question: str) -> tuple[float, ...]:
    return tuple(round(values[name][question], DIGITS) for name in MEASURES)

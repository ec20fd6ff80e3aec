"""What a configuration reached once, question by question, to hold it against later.

A baseline names questions by a digest and holds no text of the data.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation
from elt_llm_query.evaluation.beir import Question
from elt_llm_query.evaluation.beir import told as problem
from elt_llm_query.evaluation.measures import Difference, Interval, difference
from elt_llm_query.evaluation.names import MEASURES, NAMES
from elt_llm_query.evaluation.report import Asked
from elt_llm_query.evaluation.retrieval import Evaluation, Outcome
from elt_llm_query.evaluation.tables import noted, table

ALLOW = "where that is meant: --allow-missing, or write a new baseline"
DIGITS = 4
KEY = 12
FELL = 1
OTHER = 2


class Baseline(Record):
    """Values of every question, in the order of `names`, and what it was judged by.

    `gold` is empty in baselines of before there was one.
    """

    asked: Asked
    configuration: str
    changed: dict[str, object]
    measures: dict[str, Interval]
    names: tuple[str, ...]
    questions: dict[str, tuple[float, ...]]
    gold: dict[str, str] = Field(default_factory=dict)


class Held(Record):
    """One measure then and now over the same questions."""

    was: float
    now: float
    difference: Difference
    fell: bool = Field(description="the whole interval of the difference is below 0")


class GateReport(Record):
    """Whether what was reached is still reached.

    `gone` and `new` count questions that only the baseline or only the data has,
    `changed` those that are judged by other gold now. `problems` tells what of the data
    could not be used and what made the searches poorer.
    """

    configuration: str
    compared: int
    gone: int
    new: int
    changed: int
    allowed: bool = Field(description="gone and changed questions do not matter")
    measures: dict[str, Held]
    problems: tuple[Degradation, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 where a measure fell, 2 where the questions are not the same, else 0."""
        if any(one.fell for one in self.measures.values()):
            return FELL
        return OTHER if self.differs else 0

    @property
    def differs(self) -> bool:
        """Whether questions are gone or judged otherwise, though they may not be."""
        return bool(self.gone or self.changed) and not self.allowed


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
        gold=_gold(outcome),
    )


def write_baseline(path: Path, made: Baseline) -> None:
    """A question a line, so that a change is seen in a diff."""
    told = made.model_dump(mode="json")
    each = {name: told.pop(name) for name in ("gold", "questions")}
    head = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True)
    parts = [head.removesuffix("\n}")]
    for name, of in each.items():
        rows = (f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in of.items())
        parts.append(f' "{name}": {{\n' + ",\n".join(rows) + "\n }")
    body = ",\n".join(parts) + "\n}\n"
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


def gate(was: Baseline, found: Evaluation, *, allowed: bool = False) -> GateReport:
    """The same questions then and now, pair by pair; now is the first configuration.

    `allowed` lets questions be gone or judged otherwise. Raises UsageError where no
    question is the same.
    """
    now = next(iter(found.outcomes.values()))
    rows, gold = _rows(now), _gold(now)
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
        changed=sum(was.gold.get(key, gold[key]) != gold[key] for key in common),
        allowed=allowed,
        measures={
            name: _held(
                [was.questions[key][was.names.index(name)] for key in common],
                [rows[key][MEASURES.index(name)] for key in common],
            )
            for name in names
        },
        problems=_problems(was, found),
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
    if found.changed:
        told += f"; {found.changed} are judged by other gold"
    if found.differs:
        told += f"\nnot the questions of the baseline; {ALLOW}"
    return "\n\n".join([table(rows), told, *noted(found.problems)])


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
        question_key(a.question): _row(outcome.values, a.question.id)
        for a in outcome.run.answered
    }


def _gold(outcome: Outcome) -> dict[str, str]:
    asked = (a.question for a in outcome.run.answered)
    return {question_key(question): gold_key(question) for question in asked}


def gold_key(question: Question) -> str:
    """A digest of what the question is judged by."""
    grades = (f"{passage}={g}" for passage, g in sorted(question.gold.items()))
    return digest(*question.judged, *grades)[:KEY]


def _problems(was: Baseline, found: Evaluation) -> tuple[Degradation, ...]:
    old = "the baseline does not tell its gold, so changes of it are not seen; "
    lacking = [] if was.gold else [problem(f"{old}write it again with --baseline")]
    return (*lacking, *found.report.all_problems)


def question_key(question: Question) -> str:
    """A digest of its name and its text."""
    return digest(question.id, question.text)[:KEY]


def _row(values: Mapping[str, Mapping[str, float]], question: str) -> tuple[float, ...]:
    return tuple(round(values[name][question], DIGITS) for name in MEASURES)

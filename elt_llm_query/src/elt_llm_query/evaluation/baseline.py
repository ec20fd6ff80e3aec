"""Baselines: the scores of a configuration, question by question, for later checks.

A baseline identifies questions by a digest and contains no text of the data.
"""

import json
from pathlib import Path

from pydantic import Field, ValidationError

from elt_llm_core.cli.terminal import text_table
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_named_file
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation
from elt_llm_query.evaluation.beir import JudgedQuestion, data_problem
from elt_llm_query.evaluation.measures import difference
from elt_llm_query.evaluation.retrieval_evaluation import (
    ConfigurationOutcome,
    Evaluation,
)
from elt_llm_query.evaluation.retrieval_report import (
    MEASURES,
    NAME_OF,
    Difference,
    EvaluatedData,
    Interval,
    problem_lines,
)

_ALLOW_HINT = "if that is intended, pass --allow-missing or save a new baseline"
_DIGITS = 4  # as in the report
_KEY = 12  # hex digits of a digest: 48 bits
DROPPED = 1
OTHER_QUESTIONS = 2


class Baseline(Record):
    """Values of every question, in the order of `names`, and a digest of its gold.

    `gold` is empty in baselines of versions that did not record it.
    """

    asked: EvaluatedData
    configuration: str
    changed: dict[str, object]
    measures: dict[str, Interval]
    names: tuple[str, ...]
    questions: dict[str, tuple[float, ...]]
    gold: dict[str, str] = Field(default_factory=dict)


class MeasureChange(Record):
    """One measure before and now, over the same questions."""

    was: float
    now: float
    difference: Difference
    fell: bool = Field(description="the whole interval of the difference is below 0")


class GateReport(Record):
    """A comparison of the current configuration with a baseline.

    `gone` and `new` count questions that are only in the baseline or only in the data,
    `changed` those whose gold has changed. `problems` lists data that could not be used
    and degradations of the searches.
    """

    configuration: str
    compared: int
    gone: int
    new: int
    changed: int
    allowed: bool = Field(description="gone and changed questions are ignored")
    measures: dict[str, MeasureChange]
    problems: tuple[Degradation, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 1 if a measure dropped, 2 if the questions differ, else 0."""
        if any(one.fell for one in self.measures.values()):
            return DROPPED
        return OTHER_QUESTIONS if self.differs else 0

    @property
    def differs(self) -> bool:
        """Return whether questions are missing or changed without permission."""
        return bool(self.gone or self.changed) and not self.allowed


def baseline_of(evaluation: Evaluation, name: str) -> Baseline:
    """Return the baseline of one evaluated configuration."""
    outcome = evaluation.outcomes[name]
    return Baseline(
        asked=evaluation.report.asked,
        configuration=name,
        changed=outcome.figures.changed,
        measures=outcome.figures.measures,
        names=MEASURES,
        questions=_values_by_question(outcome),
        gold=_gold_by_question(outcome),
    )


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the baseline with a line per question, so that diffs are readable."""
    fields = baseline.model_dump(mode="json")
    by_question = {name: fields.pop(name) for name in ("gold", "questions")}
    head = json.dumps(fields, ensure_ascii=False, indent=1, sort_keys=True)
    parts = [head.removesuffix("\n}")]
    for name, values in by_question.items():
        rows = (f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in values.items())
        parts.append(f' "{name}": {{\n' + ",\n".join(rows) + "\n }")
    body = ",\n".join(parts) + "\n}\n"
    write_named_file(path, body)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline. Raises UsageError if the file is missing or not a baseline."""
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a baseline file"
        raise UsageError(
            f"cannot use the baseline {path}: {reason}",
            "create one with: elt-llm eval retrieval --baseline FILE",
        ) from error


def check_gate(
    before: Baseline, evaluation: Evaluation, *, allow_missing: bool = False
) -> GateReport:
    """Compare the first configuration with a baseline, question by question.

    With `allow_missing`, questions may be gone or have other gold. Raises UsageError if
    no question is the same.
    """
    now = next(iter(evaluation.outcomes.values()))
    rows, gold = _values_by_question(now), _gold_by_question(now)
    common = [key for key in before.questions if key in rows]
    if not common:
        raise UsageError(
            f"none of the {len(before.questions)} questions of the baseline was asked",
            f"it was made from {before.asked.data!r}, {before.asked.split!r}",
        )
    names = [name for name in before.names if name in MEASURES]
    return GateReport(
        configuration=now.figures.name,
        compared=len(common),
        gone=len(before.questions) - len(common),
        new=len(rows) - len(common),
        changed=sum(before.gold.get(key, gold[key]) != gold[key] for key in common),
        allowed=allow_missing,
        measures={
            name: _compare(
                [before.questions[key][before.names.index(name)] for key in common],
                [rows[key][MEASURES.index(name)] for key in common],
            )
            for name in names
        },
        problems=_problems(before, evaluation),
    )


def gate_text(report: GateReport) -> str:
    """Format a line per measure, and the verdict."""
    rows = [
        [
            NAME_OF[name],
            f"{one.was:.4f}",
            f"{one.now:.4f}",
            f"{one.difference.difference:+.4f}",
            f"[{one.difference.low:+.4f}, {one.difference.high:+.4f}]",
            "dropped" if one.fell else "held",
        ]
        for name, one in report.measures.items()
    ]
    header = ("measure", "baseline", "now", "difference", "95 % interval", "verdict")
    summary = f"{report.compared} questions compared"
    if report.gone or report.new:
        summary += f"; {report.gone} missing, {report.new} new"
    if report.changed:
        summary += f"; {report.changed} with other gold"
    if report.differs:
        summary += f"\nthe questions differ from the baseline's; {_ALLOW_HINT}"
    problems = problem_lines(report.problems)
    return "\n\n".join([text_table(header, rows), summary, *problems])


def _compare(before: list[float], now: list[float]) -> MeasureChange:
    change = difference(now, before)
    return MeasureChange(
        was=round(sum(before) / len(before), _DIGITS),
        now=round(sum(now) / len(now), _DIGITS),
        difference=change,
        fell=change.high < 0,
    )


def _values_by_question(outcome: ConfigurationOutcome) -> dict[str, tuple[float, ...]]:
    return {
        question_key(r.question): tuple(
            round(outcome.values[name][r.question.id], _DIGITS) for name in MEASURES
        )
        for r in outcome.run.ranked
    }


def _gold_by_question(outcome: ConfigurationOutcome) -> dict[str, str]:
    return {question_key(r.question): gold_key(r.question) for r in outcome.run.ranked}


def gold_key(question: JudgedQuestion) -> str:
    """Return a digest of the question's gold."""
    grades = (f"{passage}={g}" for passage, g in sorted(question.gold.items()))
    return digest(*question.judged, *grades)[:_KEY]


def _problems(before: Baseline, evaluation: Evaluation) -> tuple[Degradation, ...]:
    if before.gold:
        return evaluation.report.all_problems
    old = data_problem(
        "the baseline does not record its gold, so changes of it are not noticed; "
        "save it again with --baseline"
    )
    return (old, *evaluation.report.all_problems)


def question_key(question: JudgedQuestion) -> str:
    """Return a digest of the question's id and text."""
    return digest(question.id, question.text)[:_KEY]

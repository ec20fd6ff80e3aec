"""The report of a retrieval evaluation: its records, metric names and text."""

from collections.abc import Sequence

from pydantic import Field

from elt_llm_core.cli.terminal import text_table
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation

# trec_eval calls them AP@10 and RR for one question; their means are MAP@10 and MRR.
MEASURES = ("nDCG@10", "R@10", "R@100", "AP@10", "RR")
DISPLAY_NAMES = ("nDCG@10", "Recall@10", "Recall@100", "MAP@10", "MRR")
NAME_OF = dict(zip(MEASURES, DISPLAY_NAMES, strict=True))
LEVEL = 0.05  # significance: the usual 5 %
_MOST_PROBLEMS = 5  # printed; --json has all
_MOST_STAGES = 3  # configurations whose stages are printed; --json has all


class Interval(Record):
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


class Difference(Record):
    """A configuration's mean minus the first one's, over the same questions.

    `p` is the two-sided p-value of a paired permutation test.
    """

    difference: float
    low: float
    high: float
    p: float = Field(gt=0, le=1)


class EvaluatedData(Record):
    """The test data. `gold` counts relevance judgements above 0."""

    data: str
    split: str
    passages: int
    questions: int
    gold: int
    embedder: str
    embedder_digest: str
    text: dict[str, bool | int | str | None] = Field(
        description="what was indexed of a passage"
    )


class ModelUse(Record):
    """Calls and tokens of models while the questions ran.

    The embedding of the questions themselves is not counted. `llm_tokens_*` are 0 if
    the server does not report tokens.
    """

    llm_calls: int = 0
    llm_tokens_read: int = 0
    llm_tokens_written: int = 0
    embedded_texts: int = 0
    embedded_tokens: int = 0


class StageRecall(Record):
    """What one stage does to the gold passages of all questions together.

    `lost` counts gold passages that entered the stage and were dropped; `alone` those
    that only this search found.
    """

    stage: str
    recall_at_10: float = Field(ge=0, le=1)
    recall: float = Field(ge=0, le=1, description="of all passages it passes on")
    passed: float = Field(ge=0, description="mean number of passages it passes on")
    lost: int | None = Field(default=None, ge=0)
    alone: int | None = Field(default=None, ge=0)


class ConfigurationResult(Record):
    """One configuration's figures. `changed` maps non-default settings to values."""

    name: str
    config_hash: str
    changed: dict[str, object]
    measures: dict[str, Interval]
    stages: tuple[StageRecall, ...]
    use: ModelUse
    degradations: tuple[Degradation, ...] = ()


class Comparison(Record):
    """A configuration compared with the first one, by measure."""

    name: str
    against: str
    measures: dict[str, Difference]


class Milliseconds(Record):
    """Median and 95th percentile of wall time, and mean CPU time, in milliseconds."""

    p50: float
    p95: float
    cpu: float

    @classmethod
    def of(cls, values: Sequence[float], cpu: float) -> "Milliseconds":
        """Summarise at least one wall time; `cpu` is the CPU time of all together."""
        import numpy as np  # noqa: PLC0415 - `--help` reads the measures' names here

        p50, p95 = np.percentile(values, [50, 95])
        return cls(
            p50=round(float(p50), 2),
            p95=round(float(p95), 2),
            cpu=round(cpu / len(values), 2),
        )


class Timings(Record):
    """What differs between runs. Search times exclude embedding the question."""

    search: dict[str, Milliseconds]
    embedding: Milliseconds
    seconds: float
    cpu_seconds: float
    peak_megabytes: float
    indexed_now: bool


class RetrievalReport(Record):
    """The result of `elt-llm eval retrieval`; only `measured` differs between runs."""

    asked: EvaluatedData
    configurations: tuple[ConfigurationResult, ...]
    comparisons: tuple[Comparison, ...]
    problems: tuple[Degradation, ...] = ()
    measured: Timings

    @property
    def all_problems(self) -> tuple[Degradation, ...]:
        """Problems of the data, then degradations of configurations, each once."""
        degraded = [d for one in self.configurations for d in one.degradations]
        return tuple(dict.fromkeys((*self.problems, *degraded)))


def find_measure(name: str) -> str | None:
    """Return the trec_eval name of a measure given by either name in any case."""
    folded = name.casefold()
    return next(
        (m for m, n in NAME_OF.items() if folded in {m.casefold(), n.casefold()}), None
    )


def report_text(report: RetrievalReport) -> str:
    """Format measures with intervals, comparisons, stages, times and problems."""
    data, first = report.asked, report.configurations[0].name
    head = (
        f"{data.data} {data.split}: {data.questions} questions, {data.gold} gold "
        f"passages of {data.passages}; {data.embedder}"
    )
    parts = [head, _measures_table(report)]
    if report.comparisons:
        table = _comparisons_table(report.comparisons)
        parts.append(f"against {first}; * is p < {LEVEL}\n{table}")
    parts += [_stages_table(one) for one in report.configurations[:_MOST_STAGES]]
    parts.append(_times_line(report.measured))
    parts += problem_lines(report.all_problems)
    return "\n\n".join(parts)


def problem_lines(problems: Sequence[Degradation]) -> list[str]:
    """Return one text with a line for each of the first five; empty without any."""
    lines = [f"! {problem.detail}" for problem in problems]
    if len(lines) > _MOST_PROBLEMS:
        more = len(lines) - _MOST_PROBLEMS
        lines = [*lines[:_MOST_PROBLEMS], f"! and {more} more (see --json)"]
    return ["\n".join(lines)] if lines else []


def _measures_table(report: RetrievalReport) -> str:
    times = ("p50 ms", "p95 ms", "CPU ms")
    rows = []
    for one in report.configurations:
        search = report.measured.search[one.name]
        rows.append(
            [
                one.name,
                *(_format_interval(one.measures[m]) for m in MEASURES),
                f"{search.p50:.1f}",
                f"{search.p95:.1f}",
                f"{search.cpu:.1f}",
                str(one.use.llm_calls),
            ]
        )
    return text_table(["configuration", *DISPLAY_NAMES, *times, "model calls"], rows)


def _format_interval(interval: Interval) -> str:
    half = max(interval.high - interval.mean, interval.mean - interval.low)
    return f"{_format_share(interval.mean)} ±{_format_share(half)}"


def _format_share(number: float) -> str:
    return f"{number:.4f}".replace("0.", ".", 1)


def _comparisons_table(comparisons: Sequence[Comparison]) -> str:
    rows = [
        [one.name, *(_format_difference(one.measures[m]) for m in MEASURES)]
        for one in comparisons
    ]
    return text_table(["configuration", *DISPLAY_NAMES], rows)


def _format_difference(change: Difference) -> str:
    mark = "*" if change.p < LEVEL else " "
    return f"{change.difference:+.4f} [{change.low:+.4f}, {change.high:+.4f}]{mark}"


def _stages_table(result: ConfigurationResult) -> str:
    rows = [
        [
            stage.stage,
            _format_share(stage.recall_at_10),
            _format_share(stage.recall),
            f"{stage.passed:.1f}",
            "" if stage.lost is None else str(stage.lost),
            "" if stage.alone is None else str(stage.alone),
        ]
        for stage in result.stages
    ]
    header = ("stage", "Recall@10", "Recall", "passages", "gold lost", "gold alone")
    return f"stages of {result.name}\n{text_table(header, rows)}"


def _times_line(timings: Timings) -> str:
    indexed = ", index built in this run" if timings.indexed_now else ""
    embedding = f"{timings.embedding.p50:.1f} / {timings.embedding.p95:.1f}"
    return (
        f"embedding a question: {embedding} ms (p50 / p95), not part of the times "
        f"above; total {timings.seconds:.1f} s ({timings.cpu_seconds:.1f} s CPU), "
        f"peak {timings.peak_megabytes:.0f} MB{indexed}"
    )

"""The report for people: tables as text."""

from collections.abc import Sequence

from elt_llm_core.results import Degradation
from elt_llm_query.evaluation.measures import Difference, Interval
from elt_llm_query.evaluation.names import MEASURES, NAMES
from elt_llm_query.evaluation.report import Configured, RetrievalReport

SHOWN = 5
MOST_STAGES = 3  # configurations whose stages are printed; --json tells all
LEVEL = 0.05


def report_text(report: RetrievalReport) -> str:
    """Measures with intervals, comparisons, stages, times, and what went wrong."""
    asked, first = report.asked, report.configurations[0].name
    head = (
        f"{asked.data} {asked.split}: {asked.questions} questions, {asked.gold} gold "
        f"passages of {asked.passages}; {asked.embedder}"
    )
    parts = [head, _measures(report)]
    if report.comparisons:
        parts.append(f"against {first}; * is p < {LEVEL}\n{_comparisons(report)}")
    shown = report.configurations[:MOST_STAGES]
    parts += [_stages(one) for one in shown]
    parts.append(_times(report))
    parts += noted(report.all_problems)
    return "\n\n".join(parts)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the first to the left, others right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _measures(report: RetrievalReport) -> str:
    rows = [
        ["configuration", *NAMES.values(), "p50 ms", "p95 ms", "CPU ms", "model calls"]
    ]
    for one in report.configurations:
        times = report.measured.search[one.name]
        rows.append(
            [
                one.name,
                *(_interval(one.measures[m]) for m in MEASURES),
                f"{times.p50:.1f}",
                f"{times.p95:.1f}",
                f"{times.cpu:.1f}",
                str(one.use.llm_calls),
            ]
        )
    return table(rows)


def _interval(found: Interval) -> str:
    half = max(found.high - found.mean, found.mean - found.low)
    return f"{_short(found.mean)} ±{_short(half)}"


def _short(number: float) -> str:
    return f"{number:.4f}".replace("0.", ".", 1)


def _comparisons(report: RetrievalReport) -> str:
    rows = [["", *NAMES.values()]]
    rows += [
        [one.name, *(_difference(one.measures[m]) for m in MEASURES)]
        for one in report.comparisons
    ]
    return table(rows)


def _difference(found: Difference) -> str:
    mark = "*" if found.p < LEVEL else " "
    low, high = f"{found.low:+.4f}", f"{found.high:+.4f}"
    return f"{found.difference:+.4f} [{low}, {high}]{mark}"


def _stages(one: Configured) -> str:
    rows = [["", "Recall@10", "Recall", "passages", "gold lost", "gold alone"]]
    rows += [
        [
            stage.stage,
            _short(stage.recall_at_10),
            _short(stage.recall),
            f"{stage.passed:.1f}",
            "" if stage.lost is None else str(stage.lost),
            "" if stage.alone is None else str(stage.alone),
        ]
        for stage in one.stages
    ]
    return f"stages of {one.name}\n{table(rows)}"


def _times(report: RetrievalReport) -> str:
    found = report.measured
    made = ", the index was made now" if found.indexed_now else ""
    embedding = f"{found.embedding.p50:.1f} / {found.embedding.p95:.1f}"
    return (
        f"embedding a question {embedding} ms (p50 / p95), apart from the times above; "
        f"{found.seconds:.1f} s in all ({found.cpu_seconds:.1f} s CPU), "
        f"{found.peak_megabytes:.0f} MB at most{made}"
    )


def noted(problems: Sequence[Degradation]) -> list[str]:
    """A text with a line a problem, the first five of them; nothing where none is."""
    lines = [f"! {one.detail}" for one in problems]
    if len(lines) > SHOWN:
        lines = [*lines[:SHOWN], f"! and {len(lines) - SHOWN} more (see --json)"]
    return ["\n".join(lines)] if lines else []

"""`elt-llm eval retrieval`, `tune` and `gate`."""

from pathlib import Path

import click

from elt_llm_core.cli.common import CommandContext, common_options
from elt_llm_query.evaluation.cli.options import (
    FILE,
    OUT,
    Asking,
    Measure,
    asking_options,
    setting_options,
)


@click.command()
@asking_options
@setting_options
@click.option(
    "--run",
    "run_file",
    type=OUT,
    help="Write rankings as trec_eval does; with several configurations, a file for "
    "each, its name before the ending.",
)
@click.option("--explain", "question", help="Tell of one question: its id or text.")
@click.option("--picture", type=OUT, help="Write an SVG: quality against time.")
@click.option("--baseline", type=OUT, help="Write what the first one reached.")
@common_options
def retrieval(
    ctx: CommandContext,
    *,
    asking: Asking,
    presets: tuple[str, ...],
    settings: tuple[str, ...],
    sweep: Path | None,
    run_file: Path | None,
    question: str | None,
    picture: Path | None,
    baseline: Path | None,
) -> None:
    """Measure retrieval on judged questions, and compare configurations.

    The questions are a test set (--data) or your own (--questions). Needs the extra
    `eval`. Exit code 2: a configuration after the first failed and was left out.
    """
    from elt_llm_core.cli.failures import PARTIAL
    from elt_llm_core.files.atomic import write_atomic
    from elt_llm_query.evaluation.baseline import baseline_of, write_baseline
    from elt_llm_query.evaluation.configurations import configurations
    from elt_llm_query.evaluation.explaining import explain, explanation_text
    from elt_llm_query.evaluation.picture import drawn
    from elt_llm_query.evaluation.retrieval import evaluate
    from elt_llm_query.evaluation.tables import report_text
    from elt_llm_query.evaluation.trec import write_runs

    configs = configurations(ctx.configured, presets, settings, sweep)
    ground, explained = asking.ground(ctx), question is not None
    found = evaluate(ground, configs, ctx.progress, explained=explained, keep=True)
    runs = {name: one.run for name, one in found.outcomes.items()}
    if run_file:
        write_runs(run_file, {name: one.answered for name, one in runs.items()})
    if picture:
        write_atomic(picture, drawn(found.report))
    if baseline:
        write_baseline(baseline, baseline_of(found, next(iter(runs))))
    if question is not None:
        told = [explain(n, run, found.texts, question) for n, run in runs.items()]
        ctx.emit(
            {"explanations": [one.model_dump(mode="json") for one in told]},
            lambda: "\n\n".join(explanation_text(one) for one in told),
        )
    else:
        ctx.emit(found.report, lambda: report_text(found.report))
    if found.failed:
        ctx.exit(PARTIAL)


@click.command()
@asking_options
@setting_options
@click.option(
    "--measure",
    type=Measure(),
    default="nDCG@10",
    show_default=True,
    help="What is made as large as can be; the names of --json do too.",
)
@click.option("--folds", type=click.IntRange(2, 50), default=5, show_default=True)
@click.option("--write", type=OUT, help="Write the winner as a profile (YAML).")
@click.option("--baseline", type=OUT, help="Write what the winner reached.")
@common_options
def tune(
    ctx: CommandContext,
    *,
    asking: Asking,
    presets: tuple[str, ...],
    settings: tuple[str, ...],
    sweep: Path | None,
    measure: str,
    folds: int,
    write: Path | None,
    baseline: Path | None,
) -> None:
    """Choose the configuration that finds most, and tell what choosing is worth.

    Without --sweep, fusions, their weights, rerankers and their depth are tried. What
    is in use now is the first configuration.
    """
    from elt_llm_query.evaluation.baseline import baseline_of, write_baseline
    from elt_llm_query.evaluation.configurations import configurations, swept
    from elt_llm_query.evaluation.retrieval import evaluate
    from elt_llm_query.evaluation.tuning import (
        chosen,
        default_sweep,
        tune_text,
        write_profile,
    )

    now = {"now": ctx.configured(None, {})}
    tried = sweep or default_sweep()
    configs = now | configurations(ctx.configured, presets, settings, tried)
    found = evaluate(asking.ground(ctx), configs, ctx.progress, sample=20)
    report = chosen(found, measure, folds)
    if write:
        write_profile(write, configs[report.winner], swept(tried))
    if baseline:
        write_baseline(baseline, baseline_of(found, report.winner))
    ctx.emit(report, lambda: tune_text(report))


@click.command()
@asking_options
@click.option("--baseline", type=FILE, required=True, help="What was reached before.")
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Questions may be gone (as by --limit) or have other gold.",
)
@common_options
def gate(
    ctx: CommandContext, *, asking: Asking, baseline: Path, allow_missing: bool
) -> None:
    """Hold today's configuration against a baseline, question by question.

    Exit code 0: nothing fell. 1: a measure fell, the whole 95 % interval of the
    difference being below 0. 2: questions of the baseline are gone or have other gold.
    64: the baseline is of other questions.
    """
    from elt_llm_query.evaluation import baseline as gates
    from elt_llm_query.evaluation.retrieval import evaluate

    was = gates.read_baseline(baseline)
    configs = {"now": ctx.configured(None, {})}
    found = evaluate(asking.ground(ctx), configs, ctx.progress, sample=1)
    report = gates.gate(was, found, allowed=allow_missing)
    ctx.emit(report, lambda: gates.gate_text(report))
    ctx.exit(report.exit_code)

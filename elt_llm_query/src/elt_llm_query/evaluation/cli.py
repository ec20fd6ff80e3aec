"""The sub-commands of `elt-llm eval` that users run on their own questions."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from typing_extensions import override

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.errors import UsageError
from elt_llm_query.evaluation.retrieval_report import DISPLAY_NAMES, find_measure

if TYPE_CHECKING:
    from elt_llm_query.evaluation.testbeds import CollectionTestbed, Testbed

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
OUT = click.Path(path_type=Path, dir_okay=False)

collection_option = click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    multiple=True,
    help="Collection to search (repeatable).  [default: all]",
)


class Measure(click.Choice[str]):
    """A measure, accepted by its display name or its trec_eval name in any case."""

    def __init__(self) -> None:
        super().__init__(DISPLAY_NAMES)

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        return find_measure(str(value)) or super().convert(value, param, ctx)


class TestbedOptions:
    """The options that choose a testbed; `build_testbed` reads it."""

    __test__ = False  # not a pytest class

    def __init__(self, **options: Any) -> None:
        self._options = options

    def build_testbed(self, ctx: CommandContext) -> "Testbed":
        """Read the BEIR test set of --data, or the questions of --questions.

        Raises UsageError unless exactly one of the two is given.
        """
        from elt_llm_query.evaluation.beir import read_beir
        from elt_llm_query.evaluation.configurations import parse_text_options
        from elt_llm_query.evaluation.testbeds import BeirTestbed, cache_folder

        options = self._options
        data, questions = options["data"], options["questions"]
        if (data is None) == (questions is None):
            raise UsageError(
                "either --data or --questions is needed, and not both",
                "--data FOLDER is a test set, --questions FILE your own questions",
            )
        folder = options["cache"] or cache_folder()
        if questions is not None:
            return collection_testbed(ctx, questions, options["collections"], folder)
        tests = read_beir(data, options["split"], options["limit"])
        return BeirTestbed(tests, folder, parse_text_options(options["text_options"]))


def collection_testbed(
    ctx: CommandContext, questions: Path, collections: tuple[str, ...], cache: Path
) -> "CollectionTestbed":
    """Labelled questions over `collections`; over all collections if none is given."""
    from elt_llm_query.evaluation.labelled_questions import read_labelled
    from elt_llm_query.evaluation.testbeds import CollectionTestbed
    from elt_llm_query.render import names_of

    labelled, problems = read_labelled(questions)
    return CollectionTestbed(
        name=questions.name,
        labelled=labelled,
        problems=problems,
        collections=tuple(names_of(ctx.store, collections)),
        config=ctx.config,
        folder=cache,
    )


def testbed_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the testbed options; the function receives them as `options`."""

    @click.option("--data", type=FOLDER, help="Test set: a folder in BEIR layout.")
    @click.option("--split", default="dev", show_default=True, help="qrels/SPLIT.tsv.")
    @click.option("--limit", type=click.IntRange(1), help="Ask only the first N.")
    @click.option(
        "--text",
        "text_options",
        multiple=True,
        metavar="KEY=VALUE",
        help="What to index of the test set: title=false, tokens=200, document=KEY, "
        "section=KEY (metadata keys of the passages).",
    )
    @click.option("--questions", type=FILE, help="Your own questions, as JSON lines.")
    @collection_option
    @click.option(
        "--cache",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for indexes.  [default: the user's cache]",
    )
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        names = ("data", "split", "limit", "text_options", "questions", "collections")
        given = {name: kwargs.pop(name) for name in (*names, "cache")}
        return function(*args, options=TestbedOptions(**given), **kwargs)

    return wrapper


def setting_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --preset, --set and --sweep."""
    options = [
        click.option(
            "--preset",
            "presets",
            multiple=True,
            help="Profile to measure (repeatable).",
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="KEY=VALUE",
            help="Setting of all configurations, e.g. query.fusion_strategy=rrf.",
        ),
        click.option("--sweep", type=FILE, help="YAML file of configurations."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@click.command()
@testbed_options
@setting_options
@click.option(
    "--run",
    "run_file",
    type=OUT,
    help="Write rankings in trec_eval format. Several configurations get a file each, "
    "with the configuration's name before the suffix.",
)
@click.option(
    "--explain", "question", help="Explain one question, given by id or text."
)
@click.option(
    "--baseline",
    type=OUT,
    help="Save the first configuration's scores as a baseline.",
)
@common_options
def retrieval(
    ctx: CommandContext,
    *,
    options: TestbedOptions,
    presets: tuple[str, ...],
    settings: tuple[str, ...],
    sweep: Path | None,
    run_file: Path | None,
    question: str | None,
    baseline: Path | None,
) -> None:
    """Measure retrieval on judged questions and compare configurations.

    The questions are a test set (--data) or your own (--questions). Needs the extra
    `eval`. Exit code 2: a configuration after the first failed and was skipped.
    """
    from elt_llm_core.cli.failures import PARTIAL
    from elt_llm_query.evaluation.baseline import baseline_of, write_baseline
    from elt_llm_query.evaluation.configurations import build_configurations
    from elt_llm_query.evaluation.question_runner import write_run_files
    from elt_llm_query.evaluation.retrieval_evaluation import evaluate_retrieval
    from elt_llm_query.evaluation.retrieval_report import report_text
    from elt_llm_query.evaluation.trace_report import trace_question, trace_text

    configs = build_configurations(ctx.build_config, presets, settings, sweep)
    evaluation = evaluate_retrieval(
        options.build_testbed(ctx),
        configs,
        ctx.progress,
        with_texts=question is not None,
        keep_going=True,
    )
    runs = {name: one.run for name, one in evaluation.outcomes.items()}
    if run_file:
        write_run_files(run_file, {name: run.ranked for name, run in runs.items()})
    if baseline:
        write_baseline(baseline, baseline_of(evaluation, next(iter(runs))))
    if question is not None:
        traces = [
            trace_question(name, run, evaluation.texts, question)
            for name, run in runs.items()
        ]
        ctx.emit(
            {"explanations": [trace.model_dump(mode="json") for trace in traces]},
            lambda: "\n\n".join(trace_text(trace) for trace in traces),
        )
    else:
        ctx.emit(evaluation.report, lambda: report_text(evaluation.report))
    if evaluation.failed:
        ctx.exit(PARTIAL)


@click.command()
@testbed_options
@setting_options
@click.option(
    "--measure",
    type=Measure(),
    default="nDCG@10",
    show_default=True,
    help="Metric to maximise. JSON field names are accepted too.",
)
@click.option("--folds", type=click.IntRange(2, 50), default=5, show_default=True)
@click.option("--write", type=OUT, help="Write the winner as a profile (YAML).")
@click.option("--baseline", type=OUT, help="Save the winner's scores as a baseline.")
@common_options
def tune(
    ctx: CommandContext,
    *,
    options: TestbedOptions,
    presets: tuple[str, ...],
    settings: tuple[str, ...],
    sweep: Path | None,
    measure: str,
    folds: int,
    write: Path | None,
    baseline: Path | None,
) -> None:
    """Choose the best configuration and estimate its gain.

    Without --sweep, tries fusions with several weights and rerankers with several
    depths. The first configuration is the one in use now.
    """
    from elt_llm_query.evaluation.baseline import baseline_of, write_baseline
    from elt_llm_query.evaluation.configurations import (
        build_configurations,
        swept_settings,
    )
    from elt_llm_query.evaluation.retrieval_evaluation import evaluate_retrieval
    from elt_llm_query.evaluation.tuning import (
        choose_configuration,
        default_sweep,
        refuse_to_replace,
        tune_text,
        write_profile,
    )

    if write:
        refuse_to_replace(write)  # checked before hours of work, and again when writing
    current = {"now": ctx.build_config(None, {})}
    changes = sweep or default_sweep()
    configs = current | build_configurations(
        ctx.build_config, presets, settings, changes
    )
    evaluation = evaluate_retrieval(
        options.build_testbed(ctx), configs, ctx.progress, timed_questions=20
    )
    report = choose_configuration(evaluation, measure, folds)
    if write:
        write_profile(write, configs[report.winner], swept_settings(changes))
    if baseline:
        write_baseline(baseline, baseline_of(evaluation, report.winner))
    ctx.emit(report, lambda: tune_text(report))


@click.command()
@testbed_options
@click.option("--baseline", type=FILE, required=True, help="Baseline to compare with.")
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Ignore questions that were not run (for example because of --limit) or "
    "whose gold answers changed.",
)
@common_options
def gate(
    ctx: CommandContext, *, options: TestbedOptions, baseline: Path, allow_missing: bool
) -> None:
    """Compare the current configuration with a baseline, question by question.

    Exit code 0: no measure dropped. 1: a measure dropped; the whole 95 % interval of
    the difference is below 0. 2: questions of the baseline are missing or have other
    gold answers. 64: the baseline was made from other questions.
    """
    from elt_llm_query.evaluation.baseline import check_gate, gate_text, read_baseline
    from elt_llm_query.evaluation.retrieval_evaluation import evaluate_retrieval

    before = read_baseline(baseline)
    configs = {"now": ctx.build_config(None, {})}
    evaluation = evaluate_retrieval(
        options.build_testbed(ctx), configs, ctx.progress, timed_questions=1
    )
    report = check_gate(before, evaluation, allow_missing=allow_missing)
    ctx.emit(report, lambda: gate_text(report))
    ctx.exit(report.exit_code)


@click.command()
@click.option("--questions", "file", type=FILE, required=True, help="JSON lines.")
@collection_option
@setting_options
@click.option("--judge", is_flag=True, help="Also let the language model judge.")
@common_options
def answers(
    ctx: CommandContext,
    *,
    file: Path,
    collections: tuple[str, ...],
    presets: tuple[str, ...],
    settings: tuple[str, ...],
    sweep: Path | None,
    judge: bool,
) -> None:
    """Measure answers to labelled questions: citations, quotes, refusals, calls.

    Several presets, or a sweep of models (`grid: {ollama.llm_model: [a, b]}`), are
    measured in turn on the same questions. With --judge the configured language model
    rates whether each answer is faithful to its sources and relevant. Exit code 2:
    lines were skipped or could not be judged; the others are complete.
    """
    from elt_llm_core.cli.failures import PARTIAL
    from elt_llm_query.evaluation.answer_evaluation import (
        answers_text,
        comparison_text,
        evaluate_answers,
    )
    from elt_llm_query.evaluation.configurations import build_configurations
    from elt_llm_query.evaluation.labelled_questions import read_labelled
    from elt_llm_query.render import names_of

    names = names_of(ctx.store, collections)
    labelled, problems = read_labelled(file)
    configs = build_configurations(ctx.build_config, presets, settings, sweep)
    compared = evaluate_answers(
        ctx.store, names, labelled, configs, ctx.progress, judged=judge
    )
    reports = {
        name: one.model_copy(update={"problems": (*problems, *one.problems)})
        for name, one in compared.configurations.items()
    }
    if len(reports) == 1:
        (report,) = reports.values()
        ctx.emit(report, lambda: answers_text(report))
    else:
        compared = compared.model_copy(update={"configurations": reports})
        ctx.emit(compared, lambda: comparison_text(compared))
    if any(report.problems for report in reports.values()):
        ctx.exit(PARTIAL)


@click.command()
@click.argument("collection")
@click.option("--output", type=OUT, required=True, help="JSON lines, appended to.")
@click.option("--count", type=click.IntRange(1, 10_000), default=50, show_default=True)
@common_options
def questions(
    ctx: CommandContext, collection: str, *, output: Path, count: int
) -> None:
    """Let the language model write questions about a COLLECTION.

    They are candidates: set `status` to accepted or rejected in the file. Exit code 2:
    some chunks gave no question; the others are written. 69: the model server is not
    available; questions made before are written.
    """
    from elt_llm_core.cli.failures import PARTIAL
    from elt_llm_query.evaluation.labelled_questions import append_questions
    from elt_llm_query.evaluation.question_generator import generate_questions

    nodes = list(ctx.store.nodes(collection))
    generated = generate_questions(nodes, ctx.models.llm, count, ctx.progress)
    if generated.failure and not generated.questions:
        raise generated.failure
    if generated.questions:
        append_questions(output, generated.questions)
    summary = {
        "written": len(generated.questions),
        "file": str(output) if generated.questions else None,
        "problems": [problem.detail for problem in generated.problems],
    }
    lines = [f"{len(generated.questions)} candidates added to {output}"]
    lines += [f"! {problem.detail}" for problem in generated.problems]
    ctx.emit(summary, "\n".join(lines))
    if generated.failure and generated.ended_early:
        ctx.exit(generated.failure.exit_code)
    if generated.problems:
        ctx.exit(PARTIAL)


@click.command()
@click.option("--question", required=True, help="The question that was asked.")
@click.option(
    "--collection", required=True, type=COLLECTION, help="Collection of the chunk."
)
@click.option("--chunk", required=True, help="Id of a chunk, from `search --json`.")
@click.option(
    "--relevant/--not-relevant", required=True, help="Does the chunk answer it?"
)
@click.option("--output", type=OUT, required=True, help="JSON lines, appended to.")
@common_options
def feedback(
    ctx: CommandContext,
    *,
    question: str,
    collection: str,
    chunk: str,
    relevant: bool,
    output: Path,
) -> None:
    """Add a user's judgement to a file of labelled questions."""
    from elt_llm_core.provenance import read
    from elt_llm_query.evaluation.labelled_questions import (
        Gold,
        LabelledQuestion,
        append_questions,
    )

    node = ctx.store.nodes_by_id(collection, [chunk]).get(chunk)
    if node is None:
        raise UsageError(
            f"the collection {collection!r} has no chunk {chunk!r}",
            "list chunk ids with: elt-llm search QUESTION --json",
        )
    place = read(node)
    # The quote is stored too: chunk ids change when documents are chunked again.
    gold = Gold(document=place.document, page=place.page, quote=node.text, chunk=chunk)
    side = {"gold": (gold,)} if relevant else {"wrong": (gold,)}
    labelled = LabelledQuestion(question=question, **side)
    append_questions(output, [labelled])
    verb = "answers" if relevant else "does not answer"
    ctx.emit(labelled, f"noted in {output}: {place.document} {verb} {question!r}")

"""Evaluate and compare configurations on one testbed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import EltLlmError
from elt_llm_core.jobs import Progress
from elt_llm_core.models import as_counting
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import Degradation
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.beir import JudgedQuestion, data_problem
from elt_llm_query.evaluation.cached_embedder import CachedQueryEmbedding, count_usage
from elt_llm_query.evaluation.configurations import changed_settings
from elt_llm_query.evaluation.measures import (
    Values,
    difference,
    interval,
    per_question,
    require_measures,
)
from elt_llm_query.evaluation.question_runner import (
    TIMED_QUESTIONS,
    Pipeline,
    QuestionRun,
    peak_megabytes,
    run_questions,
    time_embedding,
    time_searches,
)
from elt_llm_query.evaluation.retrieval_report import (
    Comparison,
    ConfigurationResult,
    EvaluatedData,
    Milliseconds,
    ModelUse,
    RetrievalReport,
    Timings,
)
from elt_llm_query.evaluation.testbeds import IndexedTestbed, Testbed
from elt_llm_query.evaluation.trace_report import stage_recalls

_MODEL_SECTIONS = ("models", "ollama", "openai_like")
_INDEX_SECTIONS = ("chunking", "enrichment", "keywords")
_MOST_NAME = 24  # characters of a configuration's name that fit beside the progress bar


@dataclass(frozen=True)
class ConfigurationOutcome:
    """One configuration's rankings, values per question, figures and search times."""

    run: QuestionRun
    values: Values
    figures: ConfigurationResult
    search: Milliseconds


@dataclass(frozen=True)
class Evaluation:
    """Configuration name to outcome, and the report.

    `texts` maps passage ids to texts if they were requested; `failed` names the
    configurations that were skipped.
    """

    outcomes: dict[str, ConfigurationOutcome]
    report: RetrievalReport
    texts: Mapping[str, str]
    failed: tuple[str, ...] = ()


@dataclass
class EvaluationSetup:
    """Models and indexes, built once for all configurations that share them."""

    testbed: Testbed
    progress: Progress
    models: dict[str, Models] = field(default_factory=dict)
    indexed: dict[str, IndexedTestbed] = field(default_factory=dict)

    def pipeline(self, config: RagConfig) -> tuple[Pipeline, IndexedTestbed]:
        """Return the pipeline of a configuration and the testbed indexed for it."""
        models = self._models_of(config)
        key = config.hash(*_MODEL_SECTIONS, *_INDEX_SECTIONS)
        if key not in self.indexed:
            self.indexed[key] = self.testbed.index(config, models, self.progress)
        bed = self.indexed[key]
        pipeline = Pipeline(bed.collections, bed.passage_of, bed.store, models, config)
        return pipeline, bed

    def close(self) -> None:
        """Close every store."""
        for bed in self.indexed.values():
            bed.store.close()

    def _models_of(self, config: RagConfig) -> Models:
        key = config.hash(*_MODEL_SECTIONS)
        if key not in self.models:
            models = build_models(config)
            embedder = CachedQueryEmbedding(models.embedder)
            embedder.load(self.testbed.texts(), self.testbed.folder, self.progress)
            self.models[key] = Models(embedder, models.llm, models.roles)
        return self.models[key]


def evaluate_retrieval(
    testbed: Testbed,
    configs: Mapping[str, RagConfig],
    progress: Progress,
    *,
    with_texts: bool = False,
    timed_questions: int = TIMED_QUESTIONS,
    keep_going: bool = False,
) -> Evaluation:
    """Run every configuration over every question, in order.

    A stage whose model or package is missing is skipped, and the report says so.

    Args:
        testbed: The questions and what they are asked of.
        configs: Name to configuration; the others are compared with the first.
        progress: Called with the number of questions done.
        with_texts: Return the passages' texts too.
        timed_questions: Number of questions whose search is timed.
        keep_going: Skip a configuration that fails after the first one succeeded, and
            list it among the problems.

    Raises:
        MissingExtraError: Without the extra `eval`.
        EltLlmError: What a search raises.
    """
    require_measures()
    started = perf_counter(), process_time()
    setup = EvaluationSetup(testbed, progress)
    outcomes: dict[str, ConfigurationOutcome] = {}
    failed: dict[str, Degradation] = {}
    for name, config in configs.items():
        try:
            pipeline, bed = setup.pipeline(config)
            outcomes[name] = _evaluate_one(
                pipeline, bed.questions, name, timed_questions, progress
            )
        except EltLlmError as error:
            if not (keep_going and outcomes):
                raise
            failed[name] = data_problem(
                f"the configuration {name!r} was left out: {error}"
            )
    beds = list(setup.indexed.values())
    models = next(iter(setup.models.values()))
    problems = [p for bed in beds for p in bed.problems] + [*failed.values()]
    report = RetrievalReport(
        asked=_describe_data(testbed, beds[0], models),
        configurations=tuple(one.figures for one in outcomes.values()),
        comparisons=compare_with_first(outcomes),
        problems=tuple(dict.fromkeys(problems)),
        measured=_timings(outcomes, models, beds, started),
    )
    texts = beds[0].texts() if with_texts else {}
    setup.close()
    return Evaluation(outcomes, report, texts, tuple(failed))


def compare_with_first(
    outcomes: Mapping[str, ConfigurationOutcome],
) -> tuple[Comparison, ...]:
    """Compare every configuration with the first one, measure by measure."""
    (first, base), *others = outcomes.items()
    return tuple(
        Comparison(
            name=name,
            against=first,
            measures={
                m: difference(list(of.values()), list(base.values[m].values()))
                for m, of in one.values.items()
            },
        )
        for name, one in others
    )


def _evaluate_one(
    pipeline: Pipeline,
    questions: Sequence[JudgedQuestion],
    name: str,
    timed_questions: int,
    progress: Progress,
) -> ConfigurationOutcome:
    def named_progress(
        stage: str,  # noqa: ARG001 - part of the protocol
        done: int,
        total: int | None = None,
        detail: str = "",
    ) -> None:
        """Report progress under the configuration's name."""
        progress(name[:_MOST_NAME], done, total, detail)

    with count_usage(pipeline.models) as usage:
        run = run_questions(pipeline, questions, named_progress)
    gold = {r.question.id: r.question.gold for r in run.ranked}
    rankings = {r.question.id: [i for i, _ in r.ranking] for r in run.ranked}
    values = per_question(gold, rankings)
    return ConfigurationOutcome(
        run=run,
        values=values,
        figures=_figures(name, pipeline.config, run, values, usage()),
        search=time_searches(pipeline, questions, timed_questions),
    )


def _timings(
    outcomes: Mapping[str, ConfigurationOutcome],
    models: Models,
    beds: Sequence[IndexedTestbed],
    started: tuple[float, float],
) -> Timings:
    return Timings(
        search={name: one.search for name, one in outcomes.items()},
        embedding=time_embedding(models, beds[0].questions),
        peak_megabytes=round(peak_megabytes(), 1),
        seconds=round(perf_counter() - started[0], 2),
        cpu_seconds=round(process_time() - started[1], 2),
        indexed_now=any(bed.built for bed in beds),
    )


def _describe_data(
    testbed: Testbed, bed: IndexedTestbed, models: Models
) -> EvaluatedData:
    embedder = as_counting(models.embedder)
    return EvaluatedData(
        data=testbed.name,
        split=testbed.split,
        passages=len(set(bed.passage_of.values())),
        questions=len(bed.questions),
        gold=sum(g > 0 for q in bed.questions for g in q.gold.values()),
        embedder=embedder.model_name,
        embedder_digest=embedder.digest,
        text=dict(testbed.options),
    )


def _figures(
    name: str, config: RagConfig, run: QuestionRun, values: Values, use: ModelUse
) -> ConfigurationResult:
    degradations = sorted(
        run.degradations, key=lambda d: (d.kind, d.collection, d.detail)
    )
    return ConfigurationResult(
        name=name,
        config_hash=config.hash("models", "query"),
        changed=changed_settings(config),
        measures={m: interval(list(of.values())) for m, of in values.items()},
        stages=stage_recalls(run.ranked),
        use=use,
        degradations=tuple(degradations),
    )

"""Configurations compared over one test set."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import EltLlmError
from elt_llm_core.jobs import Progress
from elt_llm_core.models import as_counting
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import Degradation
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.asked import AskedEmbedding
from elt_llm_query.evaluation.beir import Question
from elt_llm_query.evaluation.beir import told as problem_of
from elt_llm_query.evaluation.configurations import changed
from elt_llm_query.evaluation.counting import counted
from elt_llm_query.evaluation.grounds import Ground, Placed
from elt_llm_query.evaluation.losses import stage_recalls
from elt_llm_query.evaluation.measures import (
    Values,
    difference,
    interval,
    per_question,
    require_measures,
)
from elt_llm_query.evaluation.report import (
    Asked,
    Compared,
    Configured,
    Measured,
    Milliseconds,
    ModelUse,
    RetrievalReport,
)
from elt_llm_query.evaluation.running import (
    TIMED,
    Pipeline,
    Run,
    embedding_time,
    peak_megabytes,
    run,
    timed,
)

MODEL_SECTIONS = ("models", "ollama", "openai_like")
TEXT_SECTIONS = ("chunking", "enrichment", "keywords")
NAME_SHOWN = 24


@dataclass(frozen=True)
class Outcome:
    """One configuration's rankings and values beside its figures."""

    run: Run
    values: Values
    figures: Configured
    search: Milliseconds


@dataclass(frozen=True)
class Evaluation:
    """All outcomes by the name of their configuration, and the report of them.

    `texts` is what can be found, by its name, where it was asked for.
    """

    outcomes: dict[str, Outcome]
    report: RetrievalReport
    texts: Mapping[str, str]
    failed: tuple[str, ...] = ()


@dataclass
class Prepared:
    """Models and indexes by their settings, made once for all configurations.

    The embedders know the questions.
    """

    ground: Ground
    progress: Progress
    models: dict[str, Models] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)

    def pipeline(self, config: RagConfig) -> tuple[Pipeline, Placed]:
        """What asks in this configuration, and where."""
        models = self._models(config)
        key = config.hash(*MODEL_SECTIONS, *TEXT_SECTIONS)
        if key not in self.placed:
            self.placed[key] = self.ground.place(config, models, self.progress)
        here = self.placed[key]
        return Pipeline(
            here.collections, here.passage_of, here.store, models, config
        ), here

    def close(self) -> None:
        """Let go of every store."""
        for placed in self.placed.values():
            placed.store.close()

    def _models(self, config: RagConfig) -> Models:
        key = config.hash(*MODEL_SECTIONS)
        if key not in self.models:
            models = build_models(config)
            embedder = AskedEmbedding(models.embedder)
            embedder.learn(self.ground.texts(), self.ground.folder, self.progress)
            self.models[key] = Models(embedder=embedder, llm=models.llm)
        return self.models[key]


def evaluate(
    ground: Ground,
    configs: Mapping[str, RagConfig],
    progress: Progress,
    *,
    explained: bool = False,
    sample: int = TIMED,
    keep: bool = False,
) -> Evaluation:
    """Every configuration over every question, in order.

    The first one is what the others are compared with. `explained` keeps the texts;
    `sample` questions are timed. With `keep`, one that fails after the first is left
    out and told among the problems, and the finished ones stay.
    A stage that lacks its model or package is left out, and the report says so.
    Raises what a search raises, and MissingExtraError without the extra `eval`.
    """
    require_measures()
    started = perf_counter(), process_time()
    prepared = Prepared(ground, progress)
    outcomes: dict[str, Outcome] = {}
    failed: dict[str, Degradation] = {}
    for name, config in configs.items():
        try:
            pipeline, here = prepared.pipeline(config)
            outcomes[name] = _outcome(pipeline, here.questions, name, sample, progress)
        except EltLlmError as error:
            if not (keep and outcomes):
                raise
            failed[name] = problem_of(
                f"the configuration {name!r} was left out: {error}"
            )
    placed = list(prepared.placed.values())
    models = next(iter(prepared.models.values()))
    problems = [p for one in placed for p in one.problems] + [*failed.values()]
    report = RetrievalReport(
        asked=_asked(ground, placed[0], models),
        configurations=tuple(one.figures for one in outcomes.values()),
        comparisons=comparisons(outcomes),
        problems=tuple(dict.fromkeys(problems)),
        measured=_measured(outcomes, models, placed, started),
    )
    texts = placed[0].texts() if explained else {}
    prepared.close()
    return Evaluation(outcomes, report, texts, tuple(failed))


def _outcome(
    pipeline: Pipeline,
    questions: Sequence[Question],
    name: str,
    sample: int,
    progress: Progress,
) -> Outcome:
    """One configuration asked everything, judged and timed."""
    with counted(pipeline.models) as use:
        found = run(pipeline, questions, _named(name, progress))
    gold = {a.question.id: a.question.gold for a in found.answered}
    rankings = {a.question.id: [i for i, _ in a.ranking] for a in found.answered}
    values = per_question(gold, rankings)
    return Outcome(
        run=found,
        values=values,
        figures=_figures(name, pipeline.config, found, values, use()),
        search=timed(pipeline, questions, sample),
    )


def comparisons(outcomes: Mapping[str, Outcome]) -> tuple[Compared, ...]:
    """Every configuration against the first one."""
    (first, base), *others = outcomes.items()
    return tuple(
        Compared(
            name=name,
            against=first,
            measures={
                m: difference(list(of.values()), list(base.values[m].values()))
                for m, of in one.values.items()
            },
        )
        for name, one in others
    )


def _named(name: str, progress: Progress) -> Callable[..., None]:
    def told(_: str, done: int, total: int | None = None, detail: str = "") -> None:
        """Progress under the configuration's name."""
        progress(name[:NAME_SHOWN], done, total, detail)

    return told


def _asked(ground: Ground, placed: Placed, models: Models) -> Asked:
    embedder = as_counting(models.embedder)
    return Asked(
        data=ground.name,
        split=ground.split,
        passages=len(set(placed.passage_of.values())),
        questions=len(placed.questions),
        gold=sum(g > 0 for q in placed.questions for g in q.gold.values()),
        embedder=embedder.model_name,
        embedder_digest=embedder.digest,
        text=dict(ground.options),
    )


def _measured(
    outcomes: Mapping[str, Outcome],
    models: Models,
    placed: Sequence[Placed],
    started: tuple[float, float],
) -> Measured:
    return Measured(
        search={name: one.search for name, one in outcomes.items()},
        embedding=embedding_time(models, placed[0].questions),
        peak_megabytes=round(peak_megabytes(), 1),
        seconds=round(perf_counter() - started[0], 2),
        cpu_seconds=round(process_time() - started[1], 2),
        indexed_now=any(one.built for one in placed),
    )


def _figures(
    name: str, config: RagConfig, found: Run, values: Values, use: ModelUse
) -> Configured:
    return Configured(
        name=name,
        config_hash=config.hash("models", "query"),
        changed=changed(config),
        measures={m: interval(list(of.values())) for m, of in values.items()},
        stages=stage_recalls(found.answered),
        use=use,
        degradations=_sorted(found.degradations),
    )


def _sorted(degradations: Sequence[Degradation]) -> tuple[Degradation, ...]:
    return tuple(sorted(degradations, key=lambda d: (d.kind, d.collection, d.detail)))

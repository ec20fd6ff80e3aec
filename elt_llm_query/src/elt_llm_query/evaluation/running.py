"""One configuration over all questions: the product's own search, with a deep trace."""

import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter, process_time

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import Progress
from elt_llm_core.results import Degradation, SearchResult, StageRecord
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.asked import AskedEmbedding
from elt_llm_query.evaluation.beir import Question
from elt_llm_query.evaluation.report import Milliseconds
from elt_llm_query.query import search_collections
from elt_llm_query.retrieval.fusion import Hit

SOURCES = 20  # asked for, so that ten passages are left of long ones cut into several
DEPTH = 200  # hits of a stage that are looked at
TIMED = 200  # questions whose search is timed
EMBEDDED = 50  # questions whose embedding is timed
MOST_SECONDS = 30.0  # that timing may take
WARM = 5
NO_HITS = frozenset({"cache", "route", "transform"})  # they tell other than chunks
MEGABYTE = 1024 if sys.platform != "darwin" else 1024 * 1024


@dataclass(frozen=True)
class StageHits:
    """What one stage gave: passages with the stage's scores, best first.

    `passed` is how many of them went on to the next stage.
    """

    name: str
    hits: tuple[Hit, ...]
    passed: int


@dataclass(frozen=True)
class Answered:
    """The ranking of one question, and how it came about."""

    question: Question
    ranking: tuple[Hit, ...]
    stages: tuple[StageHits, ...]


@dataclass(frozen=True)
class Run:
    """Every question of one configuration. Ways a result was poorer are told once."""

    answered: tuple[Answered, ...]
    degradations: tuple[Degradation, ...]


@dataclass(frozen=True)
class Pipeline:
    """Collections with everything that a search of them needs.

    `passage_of` maps its chunks to what is judged.
    """

    collections: tuple[str, ...]
    passage_of: Mapping[str, str]
    store: Store
    models: Models
    config: RagConfig

    def search(self, text: str, k: int | None = None) -> SearchResult:
        """The product's search."""
        return search_collections(
            self.collections,
            text,
            store=self.store,
            config=self.config,
            models=self.models,
            k=k,
        )


def run(pipeline: Pipeline, questions: Sequence[Question], progress: Progress) -> Run:
    """Ask every question.

    A ranking is what the search gives, then what was fused and did not get as far.
    """
    query = pipeline.config.query
    traced = query.model_copy(update={"trace_hits": DEPTH})
    config = pipeline.config.model_copy(update={"query": traced})
    deep = replace(pipeline, config=config)
    # More candidates than configured would be another configuration.
    k = min(SOURCES, query.reranker_retrieve_k) if query.use_reranker else SOURCES
    answered = []
    degraded: dict[Degradation, None] = {}
    for number, question in enumerate(questions, start=1):
        found = deep.search(question.text, k)
        answered.append(_answered(question, found, pipeline.passage_of))
        degraded |= dict.fromkeys(found.degradations)
        progress("questions", number, len(questions))
    return Run(tuple(answered), tuple(degraded))


def timed(
    pipeline: Pipeline, questions: Sequence[Question], sample: int
) -> Milliseconds:
    """A warm search as the product does it, over `sample` evenly chosen questions."""
    chosen = _sample(questions, sample)
    for question in chosen[:WARM]:
        pipeline.search(question.text)
    spent: list[float] = []
    began, began_cpu = perf_counter(), process_time()
    for question in chosen:
        started = perf_counter()
        found = pipeline.search(question.text)
        whole = (perf_counter() - started) * 1000
        embed = sum(s.milliseconds for s in found.trace.stages if s.name == "embed")
        spent.append(whole - embed)
        if perf_counter() - began > MOST_SECONDS:
            break
    return Milliseconds.of(spent, (process_time() - began_cpu) * 1000)


def embedding_time(models: Models, questions: Sequence[Question]) -> Milliseconds:
    """The embedding of one question, over evenly chosen ones."""
    spent: list[float] = []
    embedder = models.embedder
    plain = embedder.inner if isinstance(embedder, AskedEmbedding) else embedder
    began_cpu = process_time()
    for question in _sample(questions, EMBEDDED):
        started = perf_counter()
        plain.get_query_embedding(question.text)
        spent.append((perf_counter() - started) * 1000)
    return Milliseconds.of(spent, (process_time() - began_cpu) * 1000)


def _sample(questions: Sequence[Question], most: int) -> Sequence[Question]:
    return questions[:: max(len(questions) // most, 1)][:most]


def peak_megabytes() -> float:
    """The most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE


def _answered(
    question: Question, found: SearchResult, passage_of: Mapping[str, str]
) -> Answered:
    held = Held(question, passage_of)
    stages = [_stage(name, same, held) for name, same in _named(found).items()]
    final = held.passages([(s.node_id, s.score) for s in found.sources])
    fused = [hit for s in stages if s.name == "fuse" for hit in s.hits]
    chosen = {item for item, _ in final}
    ranking = (*final, *(hit for hit in fused if hit[0] not in chosen))
    stages.append(StageHits("sources", final, len(final)))
    return Answered(question, ranking, tuple(stages))


@dataclass(frozen=True)
class Held:
    """What the chunks hold that is judged for one question."""

    question: Question
    passage_of: Mapping[str, str]

    def passages(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Each passage once, with the score of its best chunk."""
        found: dict[str, float] = {}
        for chunk, score in hits:
            for item in self.question.targets.get(chunk) or self._plain(chunk):
                found.setdefault(item, score)
        return tuple(found.items())

    def _plain(self, chunk: str) -> tuple[str, ...]:
        return (self.passage_of[chunk],) if chunk in self.passage_of else ()


def _named(found: SearchResult) -> dict[str, list[StageRecord]]:
    """The stages that gave something by their name, without the collection's."""
    named: dict[str, list[StageRecord]] = {}
    for stage in found.trace.stages:
        name, _, rest = stage.name.partition(":")
        plain = name if rest in found.trace.generations else stage.name
        if stage.top and name not in NO_HITS:
            named.setdefault(plain, []).append(stage)
    return named


def _stage(name: str, same: Sequence[StageRecord], held: Held) -> StageHits:
    """What one stage gave; of several lists of one kind, the best of all."""
    hits = [hit for stage in same for hit in stage.top]
    if len(same) > 1:
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
    passed = hits if len(same) > 1 else hits[: same[0].n_out]
    return StageHits(name, held.passages(hits), len(held.passages(passed)))

"""Run one configuration over all questions, with the product's search and a deep trace.

Rankings can be written in the format of trec_eval: question, Q0, passage, rank, score,
name of the run.
"""

import re
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.files.atomic import write_named_file
from elt_llm_core.jobs import Progress
from elt_llm_core.results import Degradation, SearchResult, StageRecord
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.beir import JudgedQuestion
from elt_llm_query.evaluation.cached_embedder import CachedQueryEmbedding
from elt_llm_query.evaluation.retrieval_report import Milliseconds
from elt_llm_query.query import search_collections
from elt_llm_query.retrieval.fusion import Hit

# A long passage is stored as several chunks; twenty sources leave at least ten passages
# for the measures at rank 10.
_SOURCES = 20
_TRACE_DEPTH = 200  # hits of a stage to record; R@100 needs 100 passages
TIMED_QUESTIONS = 200  # searches to time; ten of them lie above the 95th percentile
# Questions whose embedding is timed by itself; chosen, not measured.
_TIMED_EMBEDDINGS = 50
_MOST_SECONDS = 30.0  # for timing, whatever the number of questions
_WARM_UP = 5  # searches before timing starts, so that caches and models are loaded
_NO_CHUNKS = frozenset({"cache", "route", "transform"})  # stages that return no chunks
_MEGABYTE = 1024 if sys.platform != "darwin" else 1024 * 1024  # of ru_maxrss
_MOST_RANKS = 1000  # in a run file, as trec_eval does
_UNSAFE = re.compile(r"[^\w.=-]+")


@dataclass(frozen=True)
class StageHits:
    """Passages that one stage returned, with the stage's scores, best first.

    `passed` is the number of them that the next stage received.
    """

    name: str
    hits: tuple[Hit, ...]
    passed: int


@dataclass(frozen=True)
class RankedQuestion:
    """The final ranking of one question and the hits of every stage."""

    question: JudgedQuestion
    ranking: tuple[Hit, ...]
    stages: tuple[StageHits, ...]

    def stages_named(self, name: str) -> list[StageHits]:
        """The stages of that name: one or none."""
        return [stage for stage in self.stages if stage.name == name]


@dataclass(frozen=True)
class QuestionRun:
    """All questions in one configuration; each degradation once."""

    ranked: tuple[RankedQuestion, ...]
    degradations: tuple[Degradation, ...]


@dataclass(frozen=True)
class Pipeline:
    """Collections and everything that a search of them needs.

    `passage_of` maps chunk ids to ids of judged passages.
    """

    collections: tuple[str, ...]
    passage_of: Mapping[str, str]
    store: Store
    models: Models
    config: RagConfig

    def search(self, text: str, k: int | None = None) -> SearchResult:
        """Search as `elt-llm search` does."""
        return search_collections(
            self.collections,
            text,
            store=self.store,
            config=self.config,
            models=self.models,
            k=k,
        )


def run_questions(
    pipeline: Pipeline, questions: Sequence[JudgedQuestion], progress: Progress
) -> QuestionRun:
    """Search every question.

    A ranking lists the sources of the search, then fused hits that became no source.
    """
    query = pipeline.config.query
    traced = query.model_copy(update={"trace_hits": _TRACE_DEPTH})
    config = pipeline.config.model_copy(update={"query": traced})
    deep = replace(pipeline, config=config)
    # More candidates than configured would measure another configuration.
    k = min(_SOURCES, query.reranker_retrieve_k) if query.use_reranker else _SOURCES
    ranked = []
    degraded: dict[Degradation, None] = {}
    for number, question in enumerate(questions, start=1):
        result = deep.search(question.text, k)
        ranked.append(_rank(question, result, pipeline.passage_of))
        degraded |= dict.fromkeys(result.degradations)
        progress("questions", number, len(questions))
    return QuestionRun(tuple(ranked), tuple(degraded))


def time_searches(
    pipeline: Pipeline, questions: Sequence[JudgedQuestion], sample: int
) -> Milliseconds:
    """Time warm searches of `sample` evenly spread questions, without embedding."""
    chosen = _spread_sample(questions, sample)
    for question in chosen[:_WARM_UP]:
        pipeline.search(question.text)
    spent: list[float] = []
    began, began_cpu = perf_counter(), process_time()
    for question in chosen:
        started = perf_counter()
        result = pipeline.search(question.text)
        whole = (perf_counter() - started) * 1000
        embed = sum(s.milliseconds for s in result.trace.stages if s.name == "embed")
        spent.append(whole - embed)
        if perf_counter() - began > _MOST_SECONDS:
            break
    return Milliseconds.of(spent, (process_time() - began_cpu) * 1000)


def time_embedding(models: Models, questions: Sequence[JudgedQuestion]) -> Milliseconds:
    """Time the embedding of single questions, without the cache."""
    spent: list[float] = []
    embedder = models.embedder
    plain = embedder.inner if isinstance(embedder, CachedQueryEmbedding) else embedder
    began_cpu = process_time()
    for question in _spread_sample(questions, _TIMED_EMBEDDINGS):
        started = perf_counter()
        plain.get_query_embedding(question.text)
        spent.append((perf_counter() - started) * 1000)
    return Milliseconds.of(spent, (process_time() - began_cpu) * 1000)


def peak_megabytes() -> float:
    """Peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE


def write_run_files(
    path: Path, runs: dict[str, Sequence[RankedQuestion]]
) -> dict[str, Path]:
    """Write rankings in trec_eval format.

    Args:
        path: The file; several runs get a file each, their names before its suffix.
        runs: Configuration name to rankings.

    Returns:
        Configuration name to the file written.
    """
    files = {}
    for name, ranked in runs.items():
        tag = _UNSAFE.sub("_", name)
        file = path if len(runs) == 1 else path.with_stem(f"{path.stem}.{tag}")
        write_named_file(file, "".join(_run_lines(ranked, tag)))
        files[name] = file
    return files


def _run_lines(ranked: Sequence[RankedQuestion], tag: str) -> list[str]:
    # trec_eval sorts by score, and our scores come from different stages: the score
    # written here only repeats the rank.
    return [
        f"{one.question.id} Q0 {item} {rank} {_MOST_RANKS + 1 - rank} {tag}\n"
        for one in ranked
        for rank, (item, _) in enumerate(one.ranking[:_MOST_RANKS], start=1)
    ]


def _spread_sample(
    questions: Sequence[JudgedQuestion], most: int
) -> Sequence[JudgedQuestion]:
    return questions[:: max(len(questions) // most, 1)][:most]


def _rank(
    question: JudgedQuestion, result: SearchResult, passage_of: Mapping[str, str]
) -> RankedQuestion:
    mapper = PassageMapper(question, passage_of)
    stages = [
        _stage_hits(name, records, mapper)
        for name, records in _records_by_stage(result).items()
    ]
    sources = mapper.passages([(s.node_id, s.score) for s in result.sources])
    fused = [hit for stage in stages if stage.name == "fuse" for hit in stage.hits]
    taken = {item for item, _ in sources}
    ranking = (*sources, *(hit for hit in fused if hit[0] not in taken))
    stages.append(StageHits("sources", sources, len(sources)))
    return RankedQuestion(question, ranking, tuple(stages))


@dataclass(frozen=True)
class PassageMapper:
    """Maps chunks to the passages that are judged for one question."""

    question: JudgedQuestion
    passage_of: Mapping[str, str]

    def passages(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Each passage once, with the score of its best chunk."""
        scores: dict[str, float] = {}
        for chunk, score in hits:
            for item in self.question.targets.get(chunk) or self._whole(chunk):
                scores.setdefault(item, score)
        return tuple(scores.items())

    def _whole(self, chunk: str) -> tuple[str, ...]:
        return (self.passage_of[chunk],) if chunk in self.passage_of else ()


def _records_by_stage(result: SearchResult) -> dict[str, list[StageRecord]]:
    """Stage name, without the collection's, to the records that have hits."""
    records: dict[str, list[StageRecord]] = {}
    for stage in result.trace.stages:
        name, _, rest = stage.name.partition(":")
        plain = name if rest in result.trace.generations else stage.name
        if stage.top and name not in _NO_CHUNKS:
            records.setdefault(plain, []).append(stage)
    return records


def _stage_hits(
    name: str, records: Sequence[StageRecord], mapper: PassageMapper
) -> StageHits:
    """The hits of one stage; those of several collections are merged by score."""
    hits = [hit for record in records for hit in record.top]
    if len(records) > 1:
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
    passed = hits if len(records) > 1 else hits[: records[0].n_out]
    return StageHits(name, mapper.passages(hits), len(mapper.passages(passed)))

"""Where gold passages are found and lost: stage by stage, and for one question."""

from collections.abc import Mapping, Sequence

from elt_llm_core.cli.terminal import text_table
from elt_llm_core.errors import UsageError
from elt_llm_core.records import Record
from elt_llm_query.evaluation.question_runner import (
    QuestionRun,
    RankedQuestion,
    StageHits,
)
from elt_llm_query.evaluation.retrieval_report import StageRecall

_CUTOFF = 10  # of Recall@10
_TOP = 10  # passages of a trace besides the gold ones
_MOST_CHARACTERS = 160  # of a passage's text in a trace
# Stages that search; later ones select among their hits.
_SEARCHES = ("dense", "keyword", "definition_first")

GoldPair = tuple[str, str]  # question id, gold passage id


class StageRank(Record):
    """Rank (from 1) and score of a passage in one stage; None if not returned."""

    stage: str
    rank: int | None
    score: float | None


class PassageTrace(Record):
    """A passage in every stage; `rank` is its rank in the final ranking."""

    passage: str
    gold: int
    rank: int | None
    text: str
    places: tuple[StageRank, ...]


class QuestionTrace(Record):
    """One question in one configuration: gold passages first, then the top ten."""

    configuration: str
    question_id: str
    question: str
    passages: tuple[PassageTrace, ...]


def stage_recalls(ranked: Sequence[RankedQuestion]) -> tuple[StageRecall, ...]:
    """Return a row per stage in pipeline order; recalls are means over questions."""
    order = list(dict.fromkeys(s.name for r in ranked for s in r.stages))
    output = {name: _gold_pairs(ranked, name, None) for name in order}
    searches = [name for name in order if is_search(name)]
    rows = []
    before: set[GoldPair] = set().union(*(output[name] for name in searches))
    for name in order:
        lost = alone = None
        if name in searches:
            others = (output[other] for other in searches if other != name)
            alone = len(output[name].difference(*others))
        else:
            lost = len(before - output[name])
            before = output[name]
        rows.append(
            StageRecall(
                stage=name,
                recall_at_10=_mean_recall(ranked, _gold_pairs(ranked, name, _CUTOFF)),
                recall=_mean_recall(ranked, output[name]),
                passed=round(_mean_passed(ranked, name), 1),
                lost=lost,
                alone=alone,
            )
        )
    return tuple(rows)


def is_search(stage: str) -> bool:
    """Return True if the stage searches an index instead of selecting among hits."""
    return stage.split(":", maxsplit=1)[0] in _SEARCHES


def trace_question(
    name: str, run: QuestionRun, texts: Mapping[str, str], question_id: str
) -> QuestionTrace:
    """Trace one question through the stages.

    Args:
        name: The configuration's name.
        run: Its rankings.
        texts: Passage id to text.
        question_id: The question's id, or its text.

    Raises:
        UsageError: If the question was not asked.
    """
    ranked = {r.question.text: r for r in run.ranked}
    ranked |= {r.question.id: r for r in run.ranked}
    if question_id not in ranked:
        raise UsageError(
            f"no judged question {question_id!r} was asked",
            "give its id or its text; without --limit all questions are asked",
        )
    one = ranked[question_id]
    gold = [i for i, grade in one.question.gold.items() if grade > 0]
    passages = dict.fromkeys([*gold, *(item for item, _ in one.ranking[:_TOP])])
    return QuestionTrace(
        configuration=name,
        question_id=one.question.id,
        question=one.question.text,
        passages=tuple(_trace_passage(one, item, texts) for item in passages),
    )


def trace_text(trace: QuestionTrace) -> str:
    """Format a table: a row per passage, a column per stage with `rank (score)`."""
    stages = [place.stage for place in trace.passages[0].places]
    rows = [
        [
            passage.passage,
            str(passage.gold or ""),
            str(passage.rank or "-"),
            *map(_format_rank, passage.places),
        ]
        for passage in trace.passages
    ]
    table = text_table(["passage", "gold", "rank", *stages], rows)
    texts = [f"{p.passage}: {p.text[:_MOST_CHARACTERS]}" for p in trace.passages]
    head = f"{trace.configuration}, question {trace.question_id}: {trace.question}"
    return "\n".join([head, "", table, "", *texts])


def _gold_of(ranked: RankedQuestion) -> set[str]:
    return {item for item, grade in ranked.question.gold.items() if grade > 0}


def _gold_pairs(
    ranked: Sequence[RankedQuestion], stage_name: str, cutoff: int | None
) -> set[GoldPair]:
    """Gold passages among the first `cutoff` that a stage passes on."""
    return {
        (one.question.id, item)
        for one in ranked
        for stage in one.stages_named(stage_name)
        for item, _ in stage.hits[: stage.passed][:cutoff]
        if item in _gold_of(one)
    }


def _mean_recall(ranked: Sequence[RankedQuestion], pairs: set[GoldPair]) -> float:
    shares = [
        sum((r.question.id, item) in pairs for item in _gold_of(r)) / len(_gold_of(r))
        for r in ranked
    ]
    return round(sum(shares) / len(shares), 4)


def _mean_passed(ranked: Sequence[RankedQuestion], stage_name: str) -> float:
    passed = [stage.passed for r in ranked for stage in r.stages_named(stage_name)]
    return sum(passed) / len(ranked)


def _trace_passage(
    ranked: RankedQuestion, item: str, texts: Mapping[str, str]
) -> PassageTrace:
    ranking = [passage for passage, _ in ranked.ranking]
    return PassageTrace(
        passage=item,
        gold=ranked.question.gold.get(item, 0),
        rank=ranking.index(item) + 1 if item in ranking else None,
        text=" ".join(_text_of(ranked, item, texts).split()),
        places=tuple(_rank_in(stage, item) for stage in ranked.stages),
    )


def _text_of(ranked: RankedQuestion, item: str, texts: Mapping[str, str]) -> str:
    """The text of a passage; of labelled gold, that of a chunk that contains it."""
    targets = ranked.question.targets
    chunks = [chunk for chunk, items in targets.items() if item in items]
    return texts.get(chunks[0] if chunks else item, "")


def _rank_in(stage: StageHits, item: str) -> StageRank:
    for rank, (passage, score) in enumerate(stage.hits, start=1):
        if passage == item:
            return StageRank(stage=stage.name, rank=rank, score=score)
    return StageRank(stage=stage.name, rank=None, score=None)


def _format_rank(place: StageRank) -> str:
    return "-" if place.rank is None else f"{place.rank} ({place.score:.3f})"

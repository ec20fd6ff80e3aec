"""One question, every stage: where the gold passages stood and what stood on top."""

from collections.abc import Mapping

from elt_llm_core.errors import UsageError
from elt_llm_core.records import Record
from elt_llm_query.evaluation.running import Answered, Run, StageHits
from elt_llm_query.evaluation.tables import table

TOP = 10
SHOWN = 160


class Place(Record):
    """Rank from 1 and score in one stage; both None where it was not there."""

    stage: str
    rank: int | None
    score: float | None


class Explained(Record):
    """A passage on its way; `rank` is its place in the whole ranking."""

    passage: str
    gold: int
    rank: int | None
    text: str
    places: tuple[Place, ...]


class Explanation(Record):
    """What became of one question in one configuration: gold first, then the top."""

    configuration: str
    question_id: str
    question: str
    passages: tuple[Explained, ...]


def explain(
    name: str, found: Run, texts: Mapping[str, str], question_id: str
) -> Explanation:
    """The explanation of one question, by its id or its text; `texts` by passage.

    Raises UsageError for a question that is not there.
    """
    answered = {a.question.text: a for a in found.answered}
    answered |= {a.question.id: a for a in found.answered}
    if question_id not in answered:
        raise UsageError(
            f"no judged question {question_id!r} was asked",
            "give its id or its text; without --limit all are asked",
        )
    one = answered[question_id]
    gold = [i for i, grade in one.question.gold.items() if grade > 0]
    chosen = dict.fromkeys([*gold, *(item for item, _ in one.ranking[:TOP])])
    return Explanation(
        configuration=name,
        question_id=one.question.id,
        question=one.question.text,
        passages=tuple(_explained(one, item, texts) for item in chosen),
    )


def explanation_text(found: Explanation) -> str:
    """A table: a line a passage, a column a stage, `rank (score)` in each."""
    names = [place.stage for place in found.passages[0].places]
    rows = [["passage", "gold", "rank", *names]]
    for one in found.passages:
        rank = str(one.rank or "-")
        cells = [_cell(place) for place in one.places]
        rows.append([one.passage, str(one.gold or ""), rank, *cells])
    texts = [f"{one.passage}: {one.text[:SHOWN]}" for one in found.passages]
    head = f"{found.configuration}, question {found.question_id}: {found.question}"
    return "\n".join([head, "", table(rows), "", *texts])


def _explained(one: Answered, item: str, texts: Mapping[str, str]) -> Explained:
    ranked = [passage for passage, _ in one.ranking]
    return Explained(
        passage=item,
        gold=one.question.gold.get(item, 0),
        rank=ranked.index(item) + 1 if item in ranked else None,
        text=" ".join(_text(one, item, texts).split()),
        places=tuple(_place(stage, item) for stage in one.stages),
    )


def _text(one: Answered, item: str, texts: Mapping[str, str]) -> str:
    """The text of a passage; of labelled gold, that of a chunk that holds it."""
    targets = one.question.targets
    chunks = [chunk for chunk, held in targets.items() if item in held]
    return texts.get(chunks[0] if chunks else item, "")


def _place(stage: StageHits, item: str) -> Place:
    for rank, (passage, score) in enumerate(stage.hits, start=1):
        if passage == item:
            return Place(stage=stage.name, rank=rank, score=score)
    return Place(stage=stage.name, rank=None, score=None)


def _cell(place: Place) -> str:
    return "-" if place.rank is None else f"{place.rank} ({place.score:.3f})"

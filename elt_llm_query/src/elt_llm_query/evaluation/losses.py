"""Where the gold passages are found and where they are lost, stage by stage."""

from collections.abc import Sequence

from elt_llm_query.evaluation.report import StageRecall
from elt_llm_query.evaluation.running import Answered, StageHits

CUT = 10
LISTS = ("dense", "keyword")  # stages that search; the others choose among their hits

Pair = tuple[str, str]  # of a question and a gold passage


def stage_recalls(answered: Sequence[Answered]) -> tuple[StageRecall, ...]:
    """A row a stage, in the order of the pipeline; recalls are means over questions."""
    order = list(dict.fromkeys(s.name for a in answered for s in a.stages))
    out = {name: _found(answered, name, None) for name in order}
    lists = [name for name in order if searches(name)]
    rows = []
    before: set[Pair] = set().union(*(out[name] for name in lists))
    for name in order:
        lost = alone = None
        if name in lists:
            others = (out[other] for other in lists if other != name)
            alone = len(out[name].difference(*others))
        else:
            lost = len(before - out[name])
            before = out[name]
        rows.append(
            StageRecall(
                stage=name,
                recall_at_10=_recall(answered, _found(answered, name, CUT)),
                recall=_recall(answered, out[name]),
                passed=round(_passed(answered, name), 1),
                lost=lost,
                alone=alone,
            )
        )
    return tuple(rows)


def searches(stage: str) -> bool:
    """Whether a stage searches an index, and does not choose among hits."""
    return stage.split(":", maxsplit=1)[0] in LISTS


def _gold(answered: Answered) -> set[str]:
    return {item for item, grade in answered.question.gold.items() if grade > 0}


def _stages(answered: Answered, name: str) -> list[StageHits]:
    return [stage for stage in answered.stages if stage.name == name]


def _found(answered: Sequence[Answered], name: str, cut: int | None) -> set[Pair]:
    """Gold passages among the first `cut` that a stage passes on."""
    return {
        (a.question.id, item)
        for a in answered
        for stage in _stages(a, name)
        for item, _ in stage.hits[: stage.passed][:cut]
        if item in _gold(a)
    }


def _recall(answered: Sequence[Answered], found: set[Pair]) -> float:
    """The mean share of a question's gold passages that was found."""
    shares = [
        sum((a.question.id, item) in found for item in _gold(a)) / len(_gold(a))
        for a in answered
    ]
    return round(sum(shares) / len(shares), 4)


def _passed(answered: Sequence[Answered], name: str) -> float:
    passed = [stage.passed for a in answered for stage in _stages(a, name)]
    return sum(passed) / len(answered)

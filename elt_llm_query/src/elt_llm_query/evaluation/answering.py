"""What answers are worth: citations, quotes and refusals, without any model.

A language model may judge two more things with LlamaIndex's evaluators: whether the
answer is said by its sources (faithfulness) and whether it answers (relevancy).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from llama_index.core.llms import LLM
from pydantic import Field

from elt_llm_core.errors import ConfigError, ModelError
from elt_llm_core.jobs import Progress
from elt_llm_core.records import Record
from elt_llm_core.results import Citation, Degradation, QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.evaluation.beir import told
from elt_llm_query.evaluation.gold import Finder, Place
from elt_llm_query.evaluation.labelled import Labelled
from elt_llm_query.evaluation.measures import Interval, interval
from elt_llm_query.evaluation.tables import table

SHOWN = 60
_VERDICT = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
REFUSED = (Status.INSUFFICIENT, Status.NO_SOURCES, Status.VALIDATION_FAILED)


class AnswerRow(Record):
    """One question. Shares are None where there is nothing to take a share of.

    `citation_precision` is the share of citations that lie in gold, `gold_cited` the
    share of gold that is cited, `quote_support` the share of quotes that stand in their
    document, `answer_words` the share of the wanted words that the answer says.
    """

    question: str
    answerable: bool
    status: str
    citation_precision: float | None = None
    gold_cited: float | None = None
    quote_support: float | None = None
    answer_words: float | None = None
    faithful: float | None = None
    relevant: float | None = None


class AnswerReport(Record):
    """Means over the questions that have the measure, with 95 % intervals.

    Refusal precision is the share of refusals that were right, recall the share of
    unanswerable questions that were refused; None where there were none.
    """

    questions: int
    measures: dict[str, Interval]
    refusal_precision: float | None = Field(default=None, ge=0, le=1)
    refusal_recall: float | None = Field(default=None, ge=0, le=1)
    rows: tuple[AnswerRow, ...]
    problems: tuple[Degradation, ...] = ()


class Answerer(Protocol):
    """Answers a question."""

    def __call__(self, question: str) -> QueryResult:
        """The whole outcome."""


class Judge:
    """Two of LlamaIndex's evaluators with one language model."""

    def __init__(self, llm: LLM | None) -> None:
        """Raises ConfigError where there is no model."""
        from llama_index.core.evaluation import (  # noqa: PLC0415 - takes a second
            FaithfulnessEvaluator,
            RelevancyEvaluator,
        )

        if llm is None:
            raise ConfigError(
                "answers are judged by a language model, and none is configured",
                "set models.llm_strategy (for example: ollama), or leave --judge out",
            )
        self._evaluators = {
            "faithful": FaithfulnessEvaluator(llm=llm),
            "relevant": RelevancyEvaluator(llm=llm),
        }

    def shares(self, result: QueryResult) -> dict[str, float]:
        """1 or 0 for each of the two. Raises ModelError, also for no verdict."""
        found = {}
        for name, evaluator in self._evaluators.items():
            judged = evaluator.evaluate(
                query=result.question,
                response=result.answer,
                contexts=[source.text for source in result.sources],
            )
            said = judged.feedback or ""
            # LlamaIndex takes every answer without "yes" for a no.
            if not _VERDICT.search(said):
                raise ModelError(
                    f"the judge said neither yes nor no: {said[:SHOWN]!r}",
                    "take a larger model",
                )
            found[name] = float(judged.score or 0.0)
        return found


@dataclass(frozen=True)
class Marker:
    """Marks answers by what is labelled."""

    store: Store
    collections: Sequence[str]
    answer: Answerer
    judge: Judge | None = None

    def mark(self, lines: Sequence[Labelled], progress: Progress) -> AnswerReport:
        """Ask every question and mark its answer."""
        finder = Finder(self.store, self.collections)
        problems: list[Degradation] = []
        rows = []
        for number, line in enumerate(lines, start=1):
            result = self.answer(line.question)
            row = self._row(line, result, finder)
            rows.append(self._judged(row, result, problems))
            progress("answers", number, len(lines))
        return _report(tuple(rows), tuple(problems))

    def _row(self, line: Labelled, result: QueryResult, finder: Finder) -> AnswerRow:
        golds = [finder.places(one) for one in line.gold]
        hits = [[_inside(c, places) for places in golds] for c in result.citations]
        return AnswerRow(
            question=line.question,
            answerable=line.answerable,
            status=result.status.value,
            citation_precision=_share([any(row) for row in hits]) if golds else None,
            gold_cited=_share([any(row[i] for row in hits) for i in range(len(golds))]),
            quote_support=_share([self._stands(c) for c in result.citations]),
            answer_words=_share(
                [word.casefold() in result.answer.casefold() for word in line.answer]
            ),
        )

    def _stands(self, citation: Citation) -> bool:
        """Whether the quote is in the document, whatever the answer says of it."""
        text = normalise(self.store.document_text(citation.document_id)).text
        return normalise(citation.quote).text in text

    def _judged(
        self, row: AnswerRow, result: QueryResult, problems: list[Degradation]
    ) -> AnswerRow:
        if self.judge is None or result.status in REFUSED:
            return row
        try:
            return row.model_copy(update=self.judge.shares(result))
        except ModelError as error:
            problems.append(told(f"{row.question[:SHOWN]!r} was not judged: {error}"))
            return row


def answers_text(found: AnswerReport) -> str:
    """A line a measure, then the questions that went wrong."""
    rows = [["measure", "mean", "95 % interval"]]
    rows += [
        [name.replace("_", " "), f"{one.mean:.3f}", f"{one.low:.3f} to {one.high:.3f}"]
        for name, one in found.measures.items()
    ]
    for name in ("refusal_precision", "refusal_recall"):
        value = getattr(found, name)
        if value is not None:
            rows.append([name.replace("_", " "), f"{value:.3f}", ""])
    wrong = [f"! {row.question} {_fault(row)}" for row in found.rows if _fault(row)]
    wrong += [f"! {one.detail}" for one in found.problems]
    return "\n".join([f"{found.questions} questions", table(rows), *wrong])


def _fault(row: AnswerRow) -> str:
    """What is wrong with an answer; empty where nothing is."""
    refused = row.status in _REFUSALS
    if refused and row.answerable:
        return f"{row.status}, though there is an answer"
    if not refused and not row.answerable:
        return f"{row.status}, though there is none"
    return "answered without its gold" if row.gold_cited == 0 else ""


_REFUSALS = tuple(status.value for status in REFUSED)
_MEANS = (
    "citation_precision",
    "gold_cited",
    "quote_support",
    "answer_words",
    "faithful",
    "relevant",
)


def _report(
    rows: tuple[AnswerRow, ...], problems: tuple[Degradation, ...]
) -> AnswerReport:
    columns = {name: [getattr(row, name) for row in rows] for name in _MEANS}
    known = {n: [v for v in of if v is not None] for n, of in columns.items()}
    refused = [row for row in rows if row.status in _REFUSALS]
    lost = [row for row in rows if not row.answerable]
    return AnswerReport(
        questions=len(rows),
        measures={name: interval(of) for name, of in known.items() if of},
        refusal_precision=_share([not row.answerable for row in refused]),
        refusal_recall=_share([row.status in _REFUSALS for row in lost]),
        rows=rows,
        problems=problems,
    )


def _share(found: Sequence[bool]) -> float | None:
    return round(fmean(found), 4) if found else None


def _inside(citation: Citation, places: Sequence[Place]) -> bool:
    """Whether a citation touches one of the places."""
    for place in places:
        if place.document_id != citation.document_id:
            continue
        if place.end:
            span = citation.span
            if min(place.end, span.end) > max(place.start, span.start):
                return True
        elif place.page is None or place.page == citation.page:
            return True
    return False

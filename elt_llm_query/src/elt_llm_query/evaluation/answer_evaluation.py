"""Evaluate answers: citations, quotes and refusals, without a language model.

Optionally a language model judges two more properties with LlamaIndex's evaluators:
whether the sources support the answer (faithfulness) and whether it answers the
question (relevancy).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Protocol

from llama_index.core.llms import LLM

from elt_llm_core.cli.terminal import text_table
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError, ModelError
from elt_llm_core.jobs import Progress
from elt_llm_core.models.factory import build_models
from elt_llm_core.records import Record
from elt_llm_core.results import (
    Citation,
    Degradation,
    DegradationKind,
    QueryResult,
    Status,
    Support,
)
from elt_llm_core.store import Store
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.evaluation.beir import data_problem
from elt_llm_query.evaluation.labelled_questions import (
    GoldLocation,
    GoldLocator,
    LabelledQuestion,
)
from elt_llm_query.evaluation.measures import interval
from elt_llm_query.evaluation.retrieval_report import Interval
from elt_llm_query.query import query_collections

_MOST_CHARACTERS = 60  # of a question or a verdict in a message
_VERDICT = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_REFUSALS = (Status.INSUFFICIENT, Status.NO_SOURCES, Status.VALIDATION_FAILED)
_REFUSAL_NAMES = tuple(status.value for status in _REFUSALS)
# Degradations that do not make an answer worse.
_HARMLESS = frozenset({DegradationKind.SETTING_UNUSED, DegradationKind.EXACT_ENGINE})
_UNPROVEN = frozenset(
    {
        Support.MISATTRIBUTED,
        Support.CONTRADICTED,
        Support.UNSUPPORTED,
        Support.FABRICATED,
        Support.UNCITED,
    }
)
_MEASURES = (
    "answered",
    "statements_proven",
    "citation_precision",
    "gold_cited",
    "quote_support",
    "answer_words",
    "faithful",
    "relevant",
    "refusal_precision",
    "refusal_recall",
    "degraded",
    "model_calls",
    "model_tokens",
)


class AnswerRow(Record):
    """One question. A share is None if its denominator is 0.

    `answered` is 1 if a question with an answer was not refused, `statements_proven`
    the share of statements that were proven; removed statements count as not proven.
    `refusal_precision` is 1 if a refusal was right, `refusal_recall` is 1 if a question
    without an answer was refused. `citation_precision` is the share of citations that
    overlap gold, `gold_cited` the share of gold that is cited, `quote_support` the
    share of quotes that are found in their document, `answer_words` the share of the
    expected words in the answer. `degraded` is true if something was missing, such as
    the model, and `degradations` lists it. `model_calls` and `model_tokens` are the
    cost of the question; cached answers cost nothing.
    """

    question: str
    answerable: bool
    status: str
    answered: float | None = None
    statements_proven: float | None = None
    refusal_precision: float | None = None
    refusal_recall: float | None = None
    citation_precision: float | None = None
    gold_cited: float | None = None
    quote_support: float | None = None
    answer_words: float | None = None
    faithful: float | None = None
    relevant: float | None = None
    degraded: float = 0.0
    degradations: tuple[Degradation, ...] = ()
    model_calls: float = 0.0
    model_tokens: float = 0.0


class AnswerReport(Record):
    """Means over the questions that have the measure, with 95 % intervals."""

    questions: int
    measures: dict[str, Interval]
    rows: tuple[AnswerRow, ...]
    problems: tuple[Degradation, ...] = ()


class AnswerComparison(Record):
    """The reports of several configurations on the same questions, by name."""

    configurations: dict[str, AnswerReport]


class Answerer(Protocol):
    """Answers a question."""

    def __call__(self, question: str) -> QueryResult:
        """Return the whole result."""


class Judge:
    """LlamaIndex's faithfulness and relevancy evaluators with one language model."""

    def __init__(self, llm: LLM | None) -> None:
        """Raises ConfigError if no language model is configured."""
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

    def scores(self, result: QueryResult) -> dict[str, float]:
        """Return 1 or 0 for each property.

        Raises ModelError, also for an answer without a verdict.
        """
        scores = {}
        for name, evaluator in self._evaluators.items():
            judged = evaluator.evaluate(
                query=result.question,
                response=result.answer,
                contexts=[source.text for source in result.sources],
            )
            feedback = judged.feedback or ""
            # LlamaIndex treats every answer without "yes" as a no.
            if not _VERDICT.search(feedback):
                raise ModelError(
                    f"the judge said neither yes nor no: "
                    f"{feedback[:_MOST_CHARACTERS]!r}",
                    "use a larger model",
                )
            scores[name] = float(judged.score or 0.0)
        return scores


@dataclass(frozen=True)
class AnswerEvaluator:
    """Compares answers with labelled questions."""

    store: Store
    collections: Sequence[str]
    answer: Answerer
    judge: Judge | None = None

    def evaluate(
        self, labelled: Sequence[LabelledQuestion], progress: Progress
    ) -> AnswerReport:
        """Ask every question and measure its answer."""
        locator = GoldLocator(self.store, self.collections)
        problems: list[Degradation] = []
        rows = []
        for number, question in enumerate(labelled, start=1):
            result = self.answer(question.question)
            row = self._measure(question, result, locator)
            rows.append(self._add_judgement(row, result, problems))
            progress("answers", number, len(labelled))
        return _summarise(tuple(rows), tuple(problems))

    def _measure(
        self, labelled: LabelledQuestion, result: QueryResult, locator: GoldLocator
    ) -> AnswerRow:
        golds = [locator.locate(gold) for gold in labelled.gold]
        hits = [[_overlaps(c, places) for places in golds] for c in result.citations]
        answer = result.answer.casefold()
        poorer = tuple(d for d in result.degradations if d.kind not in _HARMLESS)
        answerable, refused = labelled.answerable, result.status in _REFUSALS
        return AnswerRow(
            question=labelled.question,
            answerable=labelled.answerable,
            status=result.status.value,
            answered=float(not refused) if answerable else None,
            statements_proven=_share(_proofs(result)),
            refusal_precision=float(not answerable) if refused else None,
            refusal_recall=None if answerable else float(refused),
            citation_precision=_share([any(row) for row in hits]) if golds else None,
            gold_cited=_share([any(row[i] for row in hits) for i in range(len(golds))]),
            quote_support=_share([self._is_in_document(c) for c in result.citations]),
            answer_words=_share([w.casefold() in answer for w in labelled.answer]),
            degraded=float(bool(poorer)),
            degradations=poorer,
            model_calls=result.trace.models.calls,
            model_tokens=result.trace.models.tokens,
        )

    def _is_in_document(self, citation: Citation) -> bool:
        """Check the quote against its document, whatever verdict the answer gives."""
        text = normalise(self.store.document_text(citation.document_id)).text
        return normalise(citation.quote).text in text

    def _add_judgement(
        self, row: AnswerRow, result: QueryResult, problems: list[Degradation]
    ) -> AnswerRow:
        if self.judge is None or result.status in _REFUSALS:
            return row
        try:
            return row.model_copy(update=self.judge.scores(result))
        except ModelError as error:
            question = row.question[:_MOST_CHARACTERS]
            problems.append(data_problem(f"{question!r} was not judged: {error}"))
            return row


def evaluate_answers(
    store: Store,
    collections: Sequence[str],
    labelled: Sequence[LabelledQuestion],
    configs: Mapping[str, RagConfig],
    progress: Progress,
    *,
    judged: bool = False,
) -> AnswerComparison:
    """Ask every question under each configuration, as `elt-llm query` does.

    Args:
        store: The data root.
        collections: The collections to search.
        labelled: The questions.
        configs: The configurations by name; each uses its own models.
        progress: Called for each question.
        judged: Whether the model of `roles.judge` rates the answers.

    Returns:
        A report for each configuration.

    Raises:
        EltLlmError: See `query_collections`.
    """
    reports = {}
    for name, config in configs.items():
        models = build_models(config)
        answer = partial(
            _ask, collections=collections, store=store, config=config, models=models
        )
        judge = Judge(models.llm_for("judge")) if judged else None
        evaluator = AnswerEvaluator(store, collections, answer, judge)
        reports[name] = evaluator.evaluate(labelled, progress)
    return AnswerComparison(configurations=reports)


def _ask(question: str, *, collections: Sequence[str], **given: Any) -> QueryResult:
    return query_collections(collections, question, **given)


def comparison_text(compared: AnswerComparison) -> str:
    """Format a column per configuration, then the problems of each."""
    reports = compared.configurations
    known = [n for n in _MEASURES if any(n in r.measures for r in reports.values())]
    rows = [
        [
            name.replace("_", " "),
            *(_cell(r.measures.get(name)) for r in reports.values()),
        ]
        for name in known
    ]
    count = next(iter(reports.values())).questions
    lines = [f"{count} questions; mean and 95 % interval"]
    lines.append(text_table(["measure", *reports], rows))
    for name, report in reports.items():
        faults = sum(bool(_fault(row)) for row in report.rows)
        lines.append(f"{name}: {faults} questions went wrong (--json names them)")
        lines += [f"! {name}: {problem}" for problem in _problems(report)]
    return "\n".join(lines)


def _cell(one: Interval | None) -> str:
    return f"{one.mean:.2f} [{one.low:.2f}, {one.high:.2f}]" if one else ""


def answers_text(report: AnswerReport) -> str:
    """Format a line per measure, then the questions with problems."""
    rows = [
        [name.replace("_", " "), f"{one.mean:.3f}", f"{one.low:.3f} to {one.high:.3f}"]
        for name, one in report.measures.items()
    ]
    table = text_table(["measure", "mean", "95 % interval"], rows)
    faults = [f"! {row.question} {_fault(row)}" for row in report.rows if _fault(row)]
    faults += [f"! {problem}" for problem in _problems(report)]
    return "\n".join([f"{report.questions} questions", table, *faults])


def _problems(report: AnswerReport) -> list[str]:
    """Return skipped data and what was missing in the answers."""
    poorer = [row.degradations[-1].detail for row in report.rows if row.degradations]
    lacking = f"{len(poorer)} of {report.questions} answers lacked something"
    details = [f"{lacking}: {poorer[0]}"] if poorer else []
    return [*details, *(problem.detail for problem in report.problems)]


def _fault(row: AnswerRow) -> str:
    """Return a description of what is wrong with an answer, or an empty string."""
    refused = row.status in _REFUSAL_NAMES
    if refused and row.answerable:
        return f"{row.status}, though there is an answer"
    if not refused and not row.answerable:
        return f"{row.status}, though there is none"
    return "answered without citing its gold" if row.gold_cited == 0 else ""


def _summarise(
    rows: tuple[AnswerRow, ...], problems: tuple[Degradation, ...]
) -> AnswerReport:
    columns = {name: [getattr(row, name) for row in rows] for name in _MEASURES}
    known = {n: [v for v in of if v is not None] for n, of in columns.items()}
    return AnswerReport(
        questions=len(rows),
        measures={name: interval(of) for name, of in known.items() if of},
        rows=rows,
        problems=problems,
    )


def _proofs(result: QueryResult) -> list[bool]:
    """Return for each claiming statement whether it was proven."""
    shown = [s.verdict for s in result.statements if s.verdict is not Support.NOTICE]
    removed = [r.verdict for r in result.removed if r.verdict is not None]
    return [verdict not in _UNPROVEN for verdict in (*shown, *removed)]


def _share(hits: Sequence[bool]) -> float | None:
    return round(fmean(hits), 4) if hits else None


def _overlaps(citation: Citation, locations: Sequence[GoldLocation]) -> bool:
    """Return True if a citation overlaps one of the locations."""
    for location in locations:
        if location.document_id != citation.document_id:
            continue
        if location.end:
            span = citation.span
            if min(location.end, span.end) > max(location.start, span.start):
                return True
        elif location.page is None or location.page == citation.page:
            return True
    return False

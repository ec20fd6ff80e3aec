"""The demo: ingest the shipped sample, ask its questions, build every product."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elt_llm_core.cli.terminal import escape_line
from elt_llm_core.config.domain_packs import Pack
from elt_llm_core.errors import ConfigError
from elt_llm_core.jobs import JOBS, PARTIAL, JobContext, JobReport, run_job
from elt_llm_core.records import Record
from elt_llm_core.results import (
    Citation,
    Degradation,
    DegradationKind,
    QueryResult,
    Status,
)
from elt_llm_core.strategy import Models
from elt_llm_query.query import query_collections


class DemoAnswer(Record):
    """One question of the pack and its answer."""

    question: str
    status: Status
    answer: str
    citations: tuple[Citation, ...]


class DemoReport(Record):
    """The result of the demo. `files` are paths below the data root."""

    seconds: float
    collections: dict[str, dict[str, int]]
    answers: tuple[DemoAnswer, ...]
    files: dict[str, str]
    degradations: tuple[Degradation, ...]

    @property
    def exit_code(self) -> int:
        """Return 0, or 2 if a document, a chunk or an item of a product failed."""
        failures = (
            DegradationKind.DOCUMENT_FAILED,
            DegradationKind.CHUNK_QUARANTINED,
            DegradationKind.ITEM_FAILED,
        )
        return PARTIAL if any(d.kind in failures for d in self.degradations) else 0


def run_demo(pack: Pack, context: JobContext, models: Models) -> DemoReport:
    """Ingest the pack, answer its questions, write glossary, catalogue and coverage.

    Running it again in the same data root only processes changes. Raises the errors of
    the jobs and of the question engine.
    """
    begun = time.monotonic()
    reports = [_ingest(pack, name, context, models) for name in pack.collections]
    results = list(_ask(pack, context, models))
    reports += [
        _product(job, pack, context, models) for job in _products(pack, context)
    ]
    degradations = [d for report in reports for d in report.degradations]
    degradations += [d for result in results for d in result.degradations]
    cards = {name: context.store.card(name) for name in pack.collections}
    return DemoReport(
        seconds=round(time.monotonic() - begun, 2),
        collections={
            name: {"documents": card.documents, "chunks": card.chunks}
            for name, card in cards.items()
        },
        answers=tuple(
            DemoAnswer(
                question=r.question,
                status=r.status,
                answer=r.answer,
                citations=r.citations,
            )
            for r in results
        ),
        files={k: v for report in reports for k, v in sorted(report.files.items())},
        degradations=tuple(dict.fromkeys(degradations)),
    )


def _ingest(
    pack: Pack, collection: str, context: JobContext, models: Models
) -> JobReport:
    files = pack.files(collection)
    options = {
        "paths": tuple(str(pack.folder / d.path) for d in files),
        "collection": collection,
        # Ids are derived from the URI; a path would make them differ between machines.
        "uris": tuple(f"sample:{d.path}" for d in files),
        "titles": tuple(d.title for d in files),
    }
    return run_job(JOBS.load("ingest", options).build(models), context)


def _ask(pack: Pack, context: JobContext, models: Models) -> list[QueryResult]:
    results = []
    for number, question in enumerate(pack.questions):
        context.progress("questions", number, len(pack.questions), question)
        results.append(
            query_collections(
                pack.collections,
                question,
                store=context.store,
                config=context.config,
                models=models,
            )
        )
    context.progress("questions", len(results), len(results), "")
    return results


def _sides(pack: Pack, context: JobContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return collections with handbooks, and those with drawings or inventories."""
    sidecars = context.store.sidecars
    models = tuple(
        name
        for name in pack.collections
        if sidecars(name, "model") or sidecars(name, "inventory")
    )
    handbooks = tuple(name for name in pack.collections if name not in models)
    if not handbooks:
        raise ConfigError(f"the pack {pack.name!r} has a model but no handbook")
    return handbooks, models


def _products(pack: Pack, context: JobContext) -> Sequence[str]:
    _, models = _sides(pack, context)
    return ("glossary", "catalog", "coverage") if models else ("glossary", "catalog")


def _product(job: str, pack: Pack, context: JobContext, models: Models) -> JobReport:
    handbooks, models_of_pack = _sides(pack, context)
    options: dict[str, Any] = {
        "collections": handbooks,
        "model": models_of_pack,
        "aliases": pack.aliases_file,
        "textbook": pack.textbook,
    }
    return run_job(JOBS.load(job, options).build(models), context)


def demo_text(report: DemoReport, pack: Pack, data_dir: Path) -> str:
    """Format questions with answers and quotes, then files and next steps."""
    lines = [f"{pack.title}: {report.seconds:.1f} s", ""]
    for name, counts in report.collections.items():
        numbers = (_count_noun(number, noun) for noun, number in counts.items())
        lines.append(f"  {name:<12} {', '.join(numbers)}")
    for one in report.answers:
        lines += ["", f"Q  {one.question}", f"A  {one.answer or '(no answer)'}"]
        lines.append(f"   status: {one.status.value}")
        lines += [f"   {_citation_line(c)}" for c in one.citations]
    lines += ["", "Files:"]
    lines += [f"  {name:<20} {path}" for name, path in sorted(report.files.items())]
    if report.degradations:
        lines += ["", "Degradations:"]
        for problem in report.degradations:
            where = f" ({problem.collection})" if problem.collection else ""
            lines.append(
                f"  {problem.kind.value}{where}: {escape_line(problem.detail)}"
            )
    lines += ["", f"Open the page: uv run elt-llm serve --data-dir {data_dir}"]
    return "\n".join(lines)


def _count_noun(number: int, plural: str) -> str:
    """Return the number with its noun: "1 chunk", "2 chunks"."""
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def _citation_line(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    quote = " ".join(citation.quote.split())
    source = f"[{citation.label}] {citation.document}{page}"
    return f"{source} ({citation.support.value}): {quote[:160]}"

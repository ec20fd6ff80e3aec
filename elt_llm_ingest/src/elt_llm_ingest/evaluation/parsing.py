"""All measures of reading, with the bars they are held to."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import Field

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError, UsageError
from elt_llm_core.records import Record
from elt_llm_ingest.evaluation import evidence, lost, speed, tables
from elt_llm_ingest.evaluation.unruled import without_lines
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.document import parse as parse_pdf

TABLES = "tables_icdar2013_eu"
FILINGS = "financebench"
GROUP = "elt_llm.parsing_measures"


class Figure(Record):
    """One measured number, the bar it is held to, and what else was seen."""

    measure: str
    value: float
    bar: float | None = None
    at_most: bool = False
    detail: dict[str, Any] = Field(default_factory=dict)

    @property
    def passed(self) -> bool | None:
        """Whether the bar is met; None without one."""
        if self.bar is None:
            return None
        return self.value <= self.bar if self.at_most else self.value >= self.bar


class Data:
    """A folder of evaluation data and its PDFs as read, each read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.left_out: list[dict[str, str]] = []

    @cached_property
    def pdfs(self) -> list[Path]:
        """All PDFs below the folder. Raises UsageError if there is none."""
        found = sorted(self.root.rglob("*.pdf"))
        if not found:
            raise UsageError(f"{self.root} holds no PDF", "pass another: --data DIR")
        return found

    @cached_property
    def documents(self) -> Mapping[Path, ParsedDocument]:
        """Each PDF with the document made of it; `left_out` has those without."""
        found = {}
        for pdf in self.pdfs:
            try:
                (found[pdf],) = parse_pdf(pdf, pdf.read_bytes(), Limits())
            except LoadError as error:
                self.left_out.append({"document": pdf.name, "reason": error.reason})
        return found

    @property
    def born_digital(self) -> list[Path]:
        """The PDFs no page of which is read by text recognition."""
        return [
            pdf
            for pdf, document in self.documents.items()
            if not any("text recognition" in told for told in document.warnings)
        ]

    def has(self, *names: str) -> bool:
        """Whether all these files or folders are there."""
        return all((self.root / name).exists() for name in names)


def table_figures(data: Data) -> Iterator[Figure]:
    """Adjacency F1 and cell boxes."""
    if not data.has(TABLES):
        return
    found = tables.summary(tables.measured(data.root / TABLES))
    yield Figure(measure="table_f1", value=found["f1"], bar=0.85, detail=found)
    yield Figure(measure="table_f1_regions_given", value=found["f1_regions_given"])
    yield Figure(measure="cells_inside_region", value=found["cells_inside"], bar=0.95)


def unruled_figures(data: Data) -> Iterator[Figure]:
    """Adjacency F1 where no drawn line is seen; no rule was made with it in view."""
    if not data.has(TABLES):
        return
    with without_lines():
        found = tables.summary(tables.measured(data.root / TABLES))
    yield Figure(measure="table_f1_unruled", value=found["f1"], detail=found)


def word_figures(data: Data) -> Iterator[Figure]:
    """Words lost, and words moved, against pdftotext."""
    total = lost.Lost(0, 0, 0, 0)
    worst = []
    for pdf, document in data.documents.items():
        found = lost.lost_words(pdf, document)
        total = total.plus(found)
        worst.append((found.lost / max(found.words, 1), pdf.name))
    share = total.lost / max(total.words, 1)
    detail = {
        "words": total.words,
        "lost": total.lost,
        "examples": list(total.examples),
        "worst": [{"document": n, "share": round(s, 5)} for s, n in sorted(worst)[-3:]],
        "left_out": data.left_out,
    }
    yield Figure(
        measure="words_lost",
        value=round(share, 6),
        bar=0.005,
        at_most=True,
        detail=detail,
    )
    moved = total.moved / max(total.comparable, 1)
    yield Figure(
        measure="words_reordered",
        value=round(moved, 5),
        detail={"comparable": total.comparable, "moved": total.moved},
    )


def evidence_figures(data: Data) -> Iterator[Figure]:
    """Gold quotes found on their page."""
    if not data.has(f"{FILINGS}/questions.jsonl"):
        return
    by_name = {pdf.stem: document for pdf, document in data.documents.items()}
    quotes = evidence.quotes(data.root / FILINGS / "questions.jsonl")
    wrong = []
    known = [quote for quote in quotes if quote.document in by_name]
    for quote in known:
        page = evidence.page_of(quote.text, by_name[quote.document])
        if page != quote.page:
            wrong.append({"question": quote.question, "page": quote.page, "ours": page})
    right = (len(known) - len(wrong)) / max(len(known), 1)
    detail = {"spans": len(known), "wrong": wrong}
    yield Figure(
        measure="evidence_page", value=round(right, 4), bar=0.95, detail=detail
    )


def speed_figures(data: Data) -> Iterator[Figure]:
    """Pages a processor second over all PDFs that need no text recognition."""
    found = speed.pages_per_second(data.born_digital)
    value = found["pages_per_cpu_second"]
    yield Figure(measure="pages_per_cpu_second", value=value, bar=100, detail=found)


def bulk_figures(data: Data) -> Iterator[Figure]:
    """Ten thousand pages in one file."""
    found = speed.many_pages(data.born_digital)
    yield Figure(
        measure="seconds_10000_pages",
        value=found["seconds"],
        bar=60,
        at_most=True,
        detail=found,
    )
    yield Figure(
        measure="rss_mb_10000_pages", value=found["rss_mb"], bar=600, at_most=True
    )


MEASURES: Mapping[str, Callable[[Data], Iterator[Figure]]] = {
    "tables": table_figures,
    "tables-unruled": unruled_figures,
    "words": word_figures,
    "evidence": evidence_figures,
    "speed": speed_figures,
    "bulk": bulk_figures,
}


def _foreign() -> dict[str, Callable[[Data], Iterator[Figure]]]:
    """Measures of other packages: entry points that take the folder, give mappings."""

    def made(point: EntryPoint) -> Callable[[Data], Iterator[Figure]]:
        def figures(data: Data) -> Iterator[Figure]:
            yield from map(Figure.model_validate, point.load()(data.root))

        return figures

    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: made(point) for point in points}


def measured(root: Path, only: str = "") -> list[Figure]:
    """The figures of the data in a folder, all or of one measure.

    A measure whose data is not there gives none. Raises UsageError for an unknown
    measure and for a folder without PDFs.
    """
    measures = {**MEASURES, **_foreign()}
    if only and only not in measures:
        raise UsageError(f"no measure {only!r}", f"one of: {', '.join(measures)}")
    data = Data(root)
    names = [only] if only else list(measures)
    return [figure for name in names for figure in measures[name](data)]

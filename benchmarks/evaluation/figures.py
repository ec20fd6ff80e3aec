"""All measures of reading, with the bars they are held to."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError, UsageError
from elt_llm_core.records import Record
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.document import parse as parse_pdf
from evaluation import evidence, lost_words, speed, tables
from evaluation.definitions import definition_figures
from evaluation.robustness import ade_figures, mutation_figures, scan_figures

TABLES = "tables_icdar2013_eu"
FILINGS = "financebench"


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
    """A folder of evaluation data; each of its PDFs is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.left_out: list[dict[str, str]] = []

    @cached_property
    def pdfs(self) -> list[Path]:
        """All PDFs below the folder. Raises UsageError if there is none."""
        pdfs = sorted(self.root.rglob("*.pdf"))
        if not pdfs:
            raise UsageError(f"{self.root} contains no PDF", "pass another: --data DIR")
        return pdfs

    @cached_property
    def documents(self) -> Mapping[Path, ParsedDocument]:
        """Each PDF with the document made of it; `left_out` has those without."""
        documents = {}
        for pdf in self.pdfs:
            try:
                (documents[pdf],) = parse_pdf(pdf, pdf.read_bytes(), Limits())
            except LoadError as error:
                self.left_out.append({"document": pdf.name, "reason": error.reason})
        return documents

    @property
    def born_digital(self) -> list[Path]:
        """The PDFs no page of which is read by text recognition."""
        return [
            pdf
            for pdf, document in self.documents.items()
            if not any("text recognition" in text for text in document.warnings)
        ]

    def has(self, *names: str) -> bool:
        """Whether all these files or folders are there."""
        return all((self.root / name).exists() for name in names)


def table_figures(data: Data) -> Iterator[Figure]:
    """Adjacency F1 and cell boxes."""
    if not data.has(TABLES):
        return
    summary = tables.summarize(tables.measure_tables(data.root / TABLES))
    yield Figure(measure="table_f1", value=summary["f1"], bar=0.85, detail=summary)
    yield Figure(measure="table_f1_regions_given", value=summary["f1_regions_given"])
    yield Figure(measure="cells_inside_region", value=summary["cells_inside"], bar=0.95)


def unruled_figures(data: Data) -> Iterator[Figure]:
    """Adjacency F1 where no drawn line is seen; no rule was made with it in view."""
    if not data.has(TABLES):
        return
    with tables.without_lines():
        summary = tables.summarize(tables.measure_tables(data.root / TABLES))
    yield Figure(measure="table_f1_unruled", value=summary["f1"], detail=summary)


def word_figures(data: Data) -> Iterator[Figure]:
    """Words lost, and words moved, against pdftotext."""
    total = lost_words.LostWords(0, 0, 0, 0)
    worst = []
    for pdf, document in data.documents.items():
        counts = lost_words.count_lost_words(pdf, document)
        total = total.plus(counts)
        worst.append((counts.lost / max(counts.words, 1), pdf.name))
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
    quotes = evidence.read_quotes(data.root / FILINGS / "questions.jsonl")
    wrong = []
    known = [quote for quote in quotes if quote.document in by_name]
    for quote in known:
        page = evidence.find_page(quote.text, by_name[quote.document])
        if page != quote.page:
            wrong.append({"question": quote.question, "page": quote.page, "ours": page})
    right = (len(known) - len(wrong)) / max(len(known), 1)
    detail = {"spans": len(known), "wrong": wrong}
    yield Figure(
        measure="evidence_page", value=round(right, 4), bar=0.95, detail=detail
    )


def speed_figures(data: Data) -> Iterator[Figure]:
    """Pages a processor second over all PDFs that need no text recognition."""
    rates = speed.pages_per_second(data.born_digital)
    value = rates["pages_per_cpu_second"]
    yield Figure(measure="pages_per_cpu_second", value=value, bar=100, detail=rates)


def bulk_figures(data: Data) -> Iterator[Figure]:
    """Ten thousand pages in one file."""
    costs = speed.measure_many_pages(data.born_digital)
    yield Figure(
        measure="seconds_10000_pages",
        value=costs["seconds"],
        bar=60,
        at_most=True,
        detail=costs,
    )
    yield Figure(
        measure="rss_mb_10000_pages", value=costs["rss_mb"], bar=600, at_most=True
    )


Measure = Callable[[Data], Iterator[Figure]]


def _from_folder(figures: Callable[[Path], Iterator[Mapping[str, Any]]]) -> Measure:
    """Adapt a function that takes the folder and yields the fields of figures."""

    def measure_folder(data: Data) -> Iterator[Figure]:
        yield from map(Figure.model_validate, figures(data.root))

    return measure_folder


MEASURES: Mapping[str, Measure] = {
    "tables": table_figures,
    "tables-unruled": unruled_figures,
    "words": word_figures,
    "evidence": evidence_figures,
    "speed": speed_figures,
    "bulk": bulk_figures,
    "ade": _from_folder(ade_figures),
    "definitions": _from_folder(definition_figures),
    "mutations": _from_folder(mutation_figures),
    "scans": _from_folder(scan_figures),
}


def measure(root: Path, name: str = "") -> list[Figure]:
    """Return the figures of the data in a folder.

    A measure without data in the folder gives no figure.

    Args:
        root: Folder with the evaluation data.
        name: One of `MEASURES`; empty for all.

    Raises:
        UsageError: If the measure is unknown, or needs PDFs and there is none.
    """
    if name and name not in MEASURES:
        raise UsageError(f"no measure {name!r}", f"one of: {', '.join(MEASURES)}")
    data = Data(root)
    names = [name] if name else list(MEASURES)
    return [figure for each in names for figure in MEASURES[each](data)]

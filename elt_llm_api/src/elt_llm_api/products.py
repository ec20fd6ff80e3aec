"""The files of a product job, read back as tables."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from elt_llm_api.job_registry import Job

# Product to what people call it; the order is that of the page.
PRODUCTS = {
    "glossary": "Glossary",
    "catalog": "Catalogue",
    "coverage": "Coverage",
    "model_draft": "Model draft",
}
GLOSSARY_COLUMNS = ("term", "definition", "section", "page", "document", "collection")
# Field of a catalogue row to its label; fields without a text are left out of a row.
CATALOG_FIELDS = {
    "formal_definition": "Definition",
    "domain_context": "Context",
    "business_rules": "Rules",
    "lifecycle_states": "Life cycle",
    "governance_rules": "Governance",
    "regulatory_context": "Regulation",
    "associated_agreements": "Agreements",
    "data_classification": "Classification",
}
SOURCES = {
    "BOTH": "both",
    "LEANIX_ONLY": "model only",
    "MODEL_ONLY": "model only",
    "HANDBOOK_ONLY": "handbook only",
}
GAPS = {**SOURCES, "MATCHED": "both"}


class StyledText(NamedTuple):
    """Text and its look on the page: `strong`, `dim`, `badge good` …, or none."""

    text: str
    style: str = ""


VERDICTS = {
    "STRONG": StyledText("✓ strong", "badge good"),
    "MODERATE": StyledText("≈ moderate", "badge near"),
    "THIN": StyledText("≈ thin", "badge near"),
    "ABSENT": StyledText("✗ absent", "badge bad"),
}
Paragraph = tuple[StyledText, ...]
Cell = str | StyledText | list[Paragraph]


@dataclass(frozen=True)
class ProductTable:
    """One table of a product.

    Attributes:
        title: What its rows are.
        header: A title for each column.
        rows: One cell for each column of the header.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def read_product(job: Job) -> list[ProductTable]:
    """Return the tables of a finished product job, the main one first.

    Args:
        job: A job whose kind is one of `PRODUCTS`.

    Returns:
        The tables; empty if the job made no file.
    """
    names = sorted(job.report.files) if job.report else []
    paths = {name: path for name in names if (path := job.file(name)) is not None}
    if job.kind == "glossary":
        tables = [p for p in paths.values() if p.suffix == ".csv"]
        return [_glossary(path) for path in tables[:1]]
    read, name = _READERS[job.kind]
    path = paths.get(name)
    return read(json.loads(path.read_text(encoding="utf-8"))) if path else []


def _glossary(path: Path) -> ProductTable:
    with path.open(encoding="utf-8-sig", newline="") as opened:
        header, *rows = list(csv.reader(opened)) or [[]]
    shown = [at for at, name in enumerate(header) if name in GLOSSARY_COLUMNS]
    return ProductTable(
        "Terms",
        tuple(header[at].capitalize() for at in shown),
        tuple(tuple(row[at] for at in shown) for row in rows),
    )


def _catalog(content: Mapping[str, Any]) -> list[ProductTable]:
    rows = tuple(
        (
            domain,
            StyledText(row["entity_name"], "strong"),
            SOURCES.get(row["source"], row["source"]),
            _statements(row),
            _relations(row.get("relationships", ())),
        )
        for domain, part in content.items()
        for row in (*part["entities"], *part.get("handbook_only", ()))
    )
    header = ("Domain", "Entity", "In", "What the handbook says", "Relationships")
    return [ProductTable("Entities", header, rows)]


def _statements(row: Mapping[str, Any]) -> list[Paragraph]:
    """Each filled field with the places of its quotes."""
    return [
        (
            StyledText(label, "dim"),
            StyledText(row[field].replace("\n", " · ")),
            _places(row["evidence"].get(field, ())),
        )
        for field, label in CATALOG_FIELDS.items()
        if row.get(field)
    ]


def _relations(relations: Sequence[Mapping[str, str]]) -> list[Paragraph]:
    return [
        (StyledText(one["target_entity"]), StyledText(one["cardinality"], "dim"))
        for one in relations
    ]


def _coverage(content: Mapping[str, Any]) -> list[ProductTable]:
    entities = tuple(_coverage_row(row) for row in content["entities"])
    gaps = tuple(
        (
            gap["model_name"],
            gap["handbook_name"],
            GAPS.get(gap["status"], gap["status"]),
            gap["match"],
        )
        for gap in content["gaps"]
    )
    return [
        ProductTable(
            "Entities of the model",
            ("Domain", "Entity", "Covered", "Why", "Best passage", "Where"),
            entities,
        ),
        ProductTable(
            "Names in model and handbook", ("Model", "Handbook", "In", "Why"), gaps
        ),
    ]


def _draft(content: Mapping[str, Any]) -> list[ProductTable]:
    entities = tuple(
        (
            StyledText(row["name"], "strong"),
            row["category"].replace("_", " "),
            row["definition"],
            ", ".join(row["synonyms"]),
            _places(row["evidence"]),
        )
        for row in content["entities"]
    )
    relations = tuple(
        (
            row["source"],
            row["relationship_type"],
            row["target"],
            row["evidence"][0]["quote"] if row["evidence"] else "",
            _places(row["evidence"]),
        )
        for row in content["relationships"]
    )
    return [
        ProductTable(
            "Entities of the draft",
            ("Entity", "Kind", "Definition", "Also called", "Where"),
            entities,
        ),
        ProductTable(
            "Relations of the draft",
            ("Entity", "Relation", "Other entity", "Sentence", "Where"),
            relations,
        ),
    ]


# What reads a product, and the file of its job that it reads.
_READERS = {
    "catalog": (_catalog, "catalog_json"),
    "coverage": (_coverage, "coverage_json"),
    "model_draft": (_draft, "model_json"),
}


def _coverage_row(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    best = row["evidence"][:1]
    return (
        row["domain"],
        StyledText(row["entity_name"], "strong"),
        VERDICTS.get(row["verdict"], StyledText(row["verdict"], "badge")),
        "; ".join(row.get("reasons", ())),
        best[0]["quote"] if best else "",
        _places(best),
    )


def _places(evidence: Sequence[Mapping[str, Any]]) -> StyledText:
    """Document and page of each quote, each place once."""
    return StyledText(", ".join(dict.fromkeys(_iter_places(evidence))), "dim")


def _iter_places(evidence: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for quote in evidence:
        page = f", p. {quote['page']}" if quote.get("page") else ""
        yield f"{quote['document']}{page}"

"""A product as a sheet for reviewers, and the changes of an imported sheet.

Reviewers change the columns `status`, `notes` and the fields; the others show where a
row comes from. Column `export` identifies the exported content, which the database
keeps as the base of the three-way merge with later decisions.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.reviews.review_records import (
    NOTES,
    STATUS,
    Proposal,
    ReviewItem,
)

EXPORT, ITEM, REVISION = "export", "item_id", "revision"
CONFLICT, GENERATED, REVIEWED_ON = "conflict", "generated", "reviewed on"
NAME, DOMAIN = "item", "domain"
DOCUMENT, PAGE, SECTION = "document", "page", "section"
REVIEWER, AT = "reviewer", "reviewed_at"
_SHOWN = (CONFLICT, GENERATED, REVIEWED_ON, DOCUMENT, PAGE, SECTION, REVIEWER, AT)
_ID_DIGITS = 16
LONGEST_CELL = 32_767  # characters, of Excel; a longer text would damage the file
FORMULA_CELL = "=(formula)"  # marks a cell of a workbook that is not text
CUT = " […]"
# Characters that XML 1.0 or UTF-8 exclude, but a document may contain.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class ReviewSheet(Record):
    """Rows of text with a header, and the id under which their content is stored."""

    sheet_id: str
    product: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]
    base: dict[str, Any] = Field(description="data for the merge, by item id")


def as_cell(text: str) -> str:
    """Return a text as a cell: plain line ends, truncated to Excel's limit."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    plain = _UNWRITABLE.sub("\ufffd", plain).strip()
    if len(plain) <= LONGEST_CELL:
        return plain
    return plain[: LONGEST_CELL - len(CUT)] + CUT


def editable_cells(item: ReviewItem) -> dict[str, str]:
    """Return the editable cells of an item."""
    cells = {STATUS: item.status.value}
    cells.update({name: as_cell(text) for name, text in item.merge.fields.items()})
    cells[NOTES] = as_cell(item.decision.notes if item.decision else "")
    return cells


def make_sheet(product: str, items: Sequence[ReviewItem]) -> ReviewSheet:
    """Return the sheet of items.

    Args:
        product: The name of the product.
        items: The items, in the order of the rows.

    Returns:
        A sheet with the same id for the same content.
    """
    fields = list(dict.fromkeys(name for i in items for name in i.merge.fields))
    names = _names_shown(items)
    columns = (STATUS, *names, *fields, NOTES, *_SHOWN, ITEM, REVISION, EXPORT)
    rows = [_row(item) for item in items]
    parts = [f"{name}\n{row.get(name, '')}" for row in rows for name in columns]
    sheet_id = digest(product, *parts)[:_ID_DIGITS]
    for row in rows:
        row[EXPORT] = sheet_id
    return ReviewSheet(
        sheet_id=sheet_id,
        product=product,
        columns=columns,
        rows=tuple(rows),
        base={item.item_id: _base(item) for item in items},
    )


def _names_shown(items: Sequence[ReviewItem]) -> tuple[str, ...]:
    """Return the columns that say what a row is about, if its fields do not.

    The term of a glossary can be edited and is a field; the name of an entity is none.
    """
    if all(item.label in item.generated_fields.values() for item in items):
        return ()
    has_domain = any(_domain(item) for item in items)
    return (NAME, DOMAIN) if has_domain else (NAME,)


def _domain(item: ReviewItem) -> str:
    content = item.proposal.content if item.proposal else {}
    return str(content.get(DOMAIN) or "")


def _row(item: ReviewItem) -> dict[str, str]:
    content = item.proposal.content if item.proposal else {}
    decision = item.decision
    return {
        NAME: as_cell(item.label),
        DOMAIN: as_cell(_domain(item)),
        **editable_cells(item),
        CONFLICT: ", ".join(item.conflicts),
        GENERATED: as_cell(_lines(item.generated_fields, _differing(item))),
        REVIEWED_ON: as_cell(
            _lines(decision.base if decision else {}, item.merge.changed)
        ),
        **{
            name: as_cell(place_of(content)[name]) for name in (DOCUMENT, PAGE, SECTION)
        },
        REVIEWER: decision.reviewer if decision else "",
        AT: decision.at if decision else "",
        ITEM: item.item_id,
        REVISION: str(item.revision),
    }


def place_of(content: Mapping[str, Any]) -> dict[str, str]:
    """Return document, page and section of a product's row, or of its evidence."""
    evidence = content.get("evidence") or ()
    lists = list(evidence.values()) if isinstance(evidence, dict) else [evidence]
    quotes = [quote for quotes in lists for quote in quotes]
    best = content if content.get(DOCUMENT) else (quotes[0] if quotes else {})
    return {name: str(best.get(name) or "") for name in (DOCUMENT, PAGE, SECTION)}


def _differing(item: ReviewItem) -> list[str]:
    """Return fields whose generated text differs from the current one."""
    fields = item.merge.fields
    return [
        name for name, text in item.generated_fields.items() if fields[name] != text
    ]


def _lines(texts: Mapping[str, str], names: Sequence[str]) -> str:
    return "\n".join(f"{name}: {texts[name]}" for name in names if name in texts)


def _base(item: ReviewItem) -> dict[str, Any]:
    proposal = item.proposal or Proposal(
        item_id=item.item_id, label=item.label, fields={}, evidence="", content={}
    )
    return {
        "cells": editable_cells(item),
        "generated": item.generated_fields,
        "evidence": proposal.evidence,
        REVISION: item.revision,
    }

"""Sheets that name elements of a model but were not read as an inventory.

A reader sees one file, and cannot know whether a sheet is about the elements of a model
in another one. It keeps the headings and some values; here they are compared.
"""

from collections.abc import Iterable, Iterator, Sequence

from elt_llm_core.enterprise.model import (
    UNREAD_KIND,
    EnterpriseModel,
    ModelSkip,
    UnreadSheet,
)
from elt_llm_core.store import Store

# From this share of its values on, a column lists elements; fewer than three values may
# agree by chance.
LISTED = 0.5
LEAST = 3
SHOWN = 12  # headings in a sentence


def read_unread_sheets(store: Store, collection: str) -> list[UnreadSheet]:
    """Read the sheets of a collection that are no inventory.

    Args:
        store: The data root.
        collection: Name of the collection.

    Raises:
        CollectionNotFoundError: If the collection does not exist.
    """
    sidecars = store.sidecars(collection, UNREAD_KIND)
    return [UnreadSheet.model_validate(s.content) for s in sidecars]


def find_unread(
    model: EnterpriseModel, sheets: Sequence[UnreadSheet]
) -> list[ModelSkip]:
    """Return a skip for each sheet that lists elements of the model.

    Args:
        model: The model.
        sheets: Sheets that were not read as an inventory.
    """
    if not sheets:
        return []
    names = set(_names_of(model))
    return [
        ModelSkip(
            kind="sheet",
            id=f"{sheet.file}: {sheet.name}",
            name=sheet.name,
            reason=_reason(sheet),
            page=sheet.page,
        )
        for sheet in sheets
        if any(_lists(column, names) for column in sheet.values)
    ]


def _names_of(model: EnterpriseModel) -> Iterator[str]:
    for element in model.elements:
        for text in (element.id, element.fact_sheet_id, element.name):
            if text:
                yield _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _lists(values: Iterable[str], names: set[str]) -> bool:
    distinct = {_plain(value) for value in values}
    known = len(distinct & names)
    return known >= LEAST and known >= LISTED * len(distinct)


def _reason(sheet: UnreadSheet) -> str:
    more = ", …" * (len(sheet.columns) > SHOWN)
    columns = ", ".join(sheet.columns[:SHOWN]) + more
    return (
        f"it lists elements of the model, but is not read as an inventory, which needs "
        f"columns for id, type and name in its first row, or a sheet for each type "
        f"(called Applications, with the names below Application); not recognised: "
        f"{', '.join(sheet.missing)}; the columns of {sheet.file}: {columns}"
    )

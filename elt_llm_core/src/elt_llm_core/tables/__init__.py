"""Tables of documents as typed relations, and SQL queries on them."""

from elt_llm_core.tables.relations import (
    NUMBERS,
    Column,
    Field,
    Kind,
    Relation,
    Row,
    relations,
    total_rows,
)
from elt_llm_core.tables.sql import Selected, best_rows, of_all, rows_beyond, select

__all__ = [
    "NUMBERS",
    "Column",
    "Field",
    "Kind",
    "Relation",
    "Row",
    "Selected",
    "best_rows",
    "of_all",
    "relations",
    "rows_beyond",
    "select",
    "total_rows",
]

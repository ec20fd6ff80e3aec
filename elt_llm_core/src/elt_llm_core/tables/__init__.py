"""Tables of documents as typed relations, and SQL queries on them."""

from elt_llm_core.tables.column_types import NUMBERS, Kind
from elt_llm_core.tables.relation_records import Column, Field, Relation, Row
from elt_llm_core.tables.relations import relations
from elt_llm_core.tables.sql import Selected, best_rows, of_all, rows_beyond, select
from elt_llm_core.tables.totals import total_rows

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

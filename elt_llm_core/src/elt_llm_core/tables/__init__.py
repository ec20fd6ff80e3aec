"""Tables of documents as typed relations, and questions asked of them in SQL."""

from elt_llm_core.tables.relations import Column, Field, Kind, Relation, Row, relations
from elt_llm_core.tables.sql import Selected, best_rows, of_all, rows_beyond, select

__all__ = [
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
]

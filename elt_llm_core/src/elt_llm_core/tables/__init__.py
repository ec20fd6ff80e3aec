"""Tables of documents as typed relations, and questions asked of them in SQL."""

from elt_llm_core.tables.asked import best_rows, of_all, rows_beyond
from elt_llm_core.tables.derive import relations
from elt_llm_core.tables.relation import Column, Field, Relation, Row
from elt_llm_core.tables.select import Selected, select
from elt_llm_core.tables.values import Kind

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

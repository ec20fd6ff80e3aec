"""Our own tables with every field, for spreadsheets and for further processing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError
from typing_extensions import override

from elt_llm_consumer.exchange.cells import (
    join_items,
    join_path,
    split_items,
    split_path,
)
from elt_llm_consumer.exchange.glossary_terms import (
    DefinitionKind,
    Glossary,
    RelationKind,
    Resource,
    Term,
    TermEvidence,
    TermRelation,
    TermStatus,
)
from elt_llm_consumer.exchange.table_files import (
    CELL_LENGTH,
    TextTable,
    read_xlsx,
    write_xlsx,
)
from elt_llm_consumer.exchange.tabular_format import Cells, TabularFormat

_LISTS = (
    *("synonyms", "acronyms", "other_definitions", "examples", "tags"),
    *("owners", "stewards", "experts"),
)
_TEXTS = ("name", "definition", "definition_kind", "status", "note")
_JSON: dict[str, TypeAdapter[Any]] = {
    "attributes": TypeAdapter(dict[str, str]),
    "evidence": TypeAdapter(tuple[TermEvidence, ...]),
}
_ENUMS = {"status": TermStatus, "definition_kind": DefinitionKind}


class GenericCsv(TabularFormat):
    """A CSV file with a column per field of a term; lists as `a; b`."""

    title: ClassVar[str] = "generic CSV"
    ending: ClassVar[str] = ".csv"
    holds: ClassVar[frozenset[str]] = frozenset(Term.model_fields)
    columns: ClassVar[tuple[str, ...]] = ("glossary", *Term.model_fields)
    required: ClassVar[frozenset[str]] = frozenset({"name"})
    column_of: ClassVar[Mapping[str, str]] = {}
    byte_order_mark: ClassVar[bool] = True

    @override
    def cells(self, term: Term, glossary: Glossary) -> Cells:
        plain = term.model_dump(mode="json", exclude_defaults=True)
        cells = {name: plain.get(name, "") for name in _TEXTS}
        cells |= {name: join_items(getattr(term, name)) for name in _LISTS}
        for name in _JSON:
            value = plain.get(name)
            text = json.dumps(value, ensure_ascii=False, sort_keys=True)
            cells[name] = text if value else ""
        cells["glossary"] = glossary.name
        cells["status"] = term.status.value
        cells["parent"] = join_path(term.parent)
        cells["relations"] = join_items(
            f"{one.kind.value}: {join_path(one.target)}" for one in term.relations
        )
        cells["resources"] = join_items(
            f"{join_items([one.label], '|')} | {join_items([one.url], '|')}"
            for one in term.resources
        )
        return cells

    @override
    def terms(self, rows: Sequence[Cells]) -> list[Term]:
        return [_term(cells) for cells in rows]

    @override
    def glossary_name(self, rows: Sequence[Cells]) -> str:
        return rows[0].get("glossary", "") if rows else ""

    @override
    def row_problems(self, cells: Cells) -> list[tuple[str, str, str, str]]:
        faults = []
        for name, known in _ENUMS.items():
            value = cells.get(name, "")
            if value and value not in list(known):
                cure = f"use one of: {', '.join(known)}"
                faults.append((name, value, f"is not a {name}", cure))
        for name, adapter in _JSON.items():
            if cells.get(name) and _parse_json(adapter, cells[name]) is None:
                cure = "leave the cell as it was exported, or empty"
                faults.append(
                    (name, cells[name], "is not valid JSON for this column", cure)
                )
        for text in split_items(cells.get("relations", "")):
            if _relation(text) is None:
                cure = f"write KIND: TERM, KIND one of: {', '.join(RelationKind)}"
                faults.append(("relations", text, "is not a relation", cure))
        return faults


def _term(cells: Cells) -> Term:
    """Return the term of a row, without invalid values (`check` reports them)."""
    fields: dict[str, Any] = {name: cells.get(name, "") for name in _TEXTS}
    for name, known in _ENUMS.items():
        if fields[name] not in list(known):
            del fields[name]
    fields |= {name: tuple(split_items(cells.get(name, ""))) for name in _LISTS}
    for name, adapter in _JSON.items():
        parsed = _parse_json(adapter, cells[name]) if cells.get(name) else None
        if parsed is not None:
            fields[name] = parsed
    relations = map(_relation, split_items(cells.get("relations", "")))
    fields["relations"] = tuple(one for one in relations if one)
    fields["resources"] = tuple(map(_resource, split_items(cells.get("resources", ""))))
    fields["parent"] = split_path(cells.get("parent", ""))
    return Term(**fields)


def _parse_json(adapter: TypeAdapter[Any], text: str) -> Any:
    try:
        return adapter.validate_json(text)
    except ValidationError:
        return None


def _relation(text: str) -> TermRelation | None:
    kind, _, target = text.partition(":")
    path = split_path(target)
    if kind.strip() not in list(RelationKind) or not path:
        return None
    return TermRelation(kind=RelationKind(kind.strip()), target=path)


def _resource(text: str) -> Resource:
    """Parse `label | address`, or the address alone."""
    parts = split_items(text, "|")
    return Resource(label=" | ".join(parts[:-1]), url=parts[-1])


class GenericXlsx(GenericCsv):
    """The same table as a workbook: text cells, wrapped, the header always in view."""

    title: ClassVar[str] = "generic XLSX"
    ending: ClassVar[str] = ".xlsx"

    @override
    def write_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> bytes:
        return write_xlsx("Glossary", columns, rows)

    @override
    def read_table(self, content: bytes) -> TextTable:
        return read_xlsx(content)

    @override
    def row_problems(self, cells: Cells) -> list[tuple[str, str, str, str]]:
        long = [
            (name, text, f"has {len(text)} characters, Excel holds {CELL_LENGTH}", cure)
            for cure in ["shorten it, or use generic_csv"]
            for name, text in cells.items()
            if len(text) > CELL_LENGTH
        ]
        return [*super().row_problems(cells), *long]

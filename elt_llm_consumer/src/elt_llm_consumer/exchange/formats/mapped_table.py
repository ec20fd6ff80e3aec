"""Tables whose columns a YAML file defines, for targets without rules of their own.

A mapping defines the content of each column. Cells have no escapes: an item that
contains the separator of its list is left out and reported as lost, and a name that
contains the separator of a path is refused. Reading uses the same mapping in reverse.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal

import yaml
from pydantic import Field, ValidationError, model_validator
from typing_extensions import override

from elt_llm_consumer.exchange.glossary_format import GlossaryFormat, TargetRules
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    RelationKind,
    Resource,
    Term,
    TermRelation,
    TermStatus,
)
from elt_llm_consumer.exchange.glossary_terms import Path as TermPath
from elt_llm_consumer.exchange.table_files import (
    CELL_LENGTH,
    TextTable,
    read_xlsx,
    write_xlsx,
)
from elt_llm_consumer.exchange.tabular_format import Cells, TabularFormat
from elt_llm_core.errors import ConfigError
from elt_llm_core.product_exports import Problem
from elt_llm_core.records import Record

_TEXTS = frozenset({"name", "definition", "note", "status"})
_LISTS = frozenset(
    {
        *("synonyms", "acronyms", "other_definitions", "examples", "tags"),
        *("owners", "stewards", "experts"),
    }
)
_OTHERS = frozenset({"parent", "relations", "resources", "attributes"})


class ColumnMapping(Record):
    """The content of one column: `field`, `attribute`, `constant` or `glossary`.

    `separator` separates the items of a list or the names of a path, `pair` the two
    halves of an attribute or a link, or a related term's name and its glossary. `first`
    keeps one item only.
    """

    column: str = Field(min_length=1)
    field: str = ""
    attribute: str = ""
    constant: str = ""
    glossary: bool = Field(default=False, description="the name of the glossary")
    kind: RelationKind | None = Field(default=None, description="of the relations")
    separator: str = "; "
    pair: str = ""
    order: Literal["glossary_first", "term_first"] = "glossary_first"
    with_name: bool = Field(default=False, description="the path ends with the term")
    first: bool = False
    required: bool = False

    @model_validator(mode="after")
    def _require_known(self) -> "ColumnMapping":
        given = [self.field, self.attribute, self.constant, self.glossary]
        if sum(map(bool, given)) != 1:
            msg = f"column {self.column!r} needs one of field, attribute, constant, "
            raise ValueError(msg + "glossary")
        known = sorted(_TEXTS | _LISTS | _OTHERS)
        if self.field and self.field not in known:
            msg = f"{self.field!r} is not a field; known: {', '.join(known)}"
            raise ValueError(msg)
        if (self.field == "relations") != (self.kind is not None):
            msg = f"column {self.column!r}: `kind` belongs to `field: relations`"
            raise ValueError(msg)
        if self.field in {"attributes", "resources"} and not self.pair:
            msg = f"column {self.column!r} needs `pair`, the separator of its halves"
            raise ValueError(msg)
        return self

    @property
    def marks(self) -> tuple[str, ...]:
        """Return texts that an item of this column cannot contain."""
        return tuple(mark for mark in (self.separator.strip(" "), self.pair) if mark)

    @property
    def path_marks(self) -> tuple[str, ...]:
        """Return texts that no name may contain if paths are to be restored.

        Only the separator with its spaces is excluded: with ` / ` as the separator,
        `a/b` is a valid name.
        """
        if self.field != "parent":
            return ()
        return tuple({self.separator.rstrip(" "), self.separator.lstrip(" ")})


class TableMapping(Record):
    """A table: its columns in order, its statuses and the rules of its target."""

    title: str
    ending: Literal[".csv", ".xlsx"] = ".csv"
    sheet: str = "Glossary"
    byte_order_mark: bool = False
    columns: tuple[ColumnMapping, ...] = Field(min_length=1)
    statuses: dict[TermStatus, str] = Field(default_factory=dict)
    rules: TargetRules = TargetRules()
    most_rows: int | None = Field(default=None, description="of a file")

    @model_validator(mode="after")
    def _require_name_and_statuses(self) -> "TableMapping":
        fields = [one.field for one in self.columns]
        names = [one.column for one in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            msg = f"the column {twice[0]!r} is listed twice"
            raise ValueError(msg)
        if "name" not in fields:
            msg = "no column has `field: name`"
            raise ValueError(msg)
        if "relations" in fields and not self.rules.unique_names:
            msg = "relations name a term, so `rules: {unique_names: true}` is needed"
            raise ValueError(msg)
        if "status" in fields and set(self.statuses) != set(TermStatus):
            missing = sorted(set(TermStatus) - set(self.statuses))
            msg = f"`statuses` lacks {', '.join(missing)}"
            raise ValueError(msg)
        return self


class MappedTable(TabularFormat):
    """A table by the mapping of its class, or of a file of yours."""

    mapping_file: Path | None = Field(
        default=None, description="YAML file with a different column mapping"
    )

    local_options: ClassVar[frozenset[str]] = frozenset({"mapping_file"})
    mapping: ClassVar[TableMapping]

    @override
    def resolve(self) -> GlossaryFormat:
        """Return the format of the mapping file, if one is given.

        Raises:
            ConfigError: If the file cannot be read, or is not a mapping.
        """
        if self.mapping_file is None:
            return self
        members = {"mapping": read_mapping(self.mapping_file), "__module__": __name__}
        made: type[MappedTable] = type("CustomTable", (MappedTable,), members)
        return made(formula_safe=self.formula_safe)

    @classmethod
    @override
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        mapping = getattr(cls, "mapping", None)
        if mapping is None:
            return
        columns = mapping.columns
        fields = {one.field for one in columns if one.field}
        if any(one.attribute for one in columns):
            fields.add("attributes")
        cls.title, cls.ending = mapping.title, mapping.ending
        cls.byte_order_mark = mapping.byte_order_mark
        cls.holds = frozenset(fields)
        cls.columns = tuple(one.column for one in columns)
        cls.required = frozenset(
            one.column for one in columns if one.required or one.field == "name"
        )
        cls.column_of = {one.field: one.column for one in columns if one.field}
        cls.relation_kinds = frozenset(one.kind for one in columns if one.kind)
        cls.status_names = mapping.statuses
        marks = {mark for one in columns for mark in one.path_marks}
        not_in_name = tuple(sorted({*mapping.rules.not_in_name, *marks}))
        cls.rules = mapping.rules.model_copy(update={"not_in_name": not_in_name})

    @override
    def keep(self, term: Term) -> Term:
        """Return the term without items that no cell of the mapping can contain."""
        kept = super().keep(term)
        changes: dict[str, Any] = {}
        for one in self.mapping.columns:
            if one.field in _LISTS:
                changes[one.field] = _kept_items(getattr(kept, one.field), one)
            elif one.field == "resources":
                links = [_link(x) for x in kept.resources if _fits(_link(x), one)]
                changes["resources"] = tuple(Resource(label=a, url=b) for a, b in links)
        changes["attributes"] = self._kept_attributes(kept)
        changes["relations"] = self._kept_relations(kept)
        return Term(**{**dict(kept), **changes})

    def _kept_attributes(self, term: Term) -> dict[str, str]:
        own = {one.attribute for one in self.mapping.columns if one.attribute}
        kept = {name: text for name, text in term.attributes.items() if name in own}
        for one in self.mapping.columns:
            if one.field == "attributes":
                rest = {k: v for k, v in term.attributes.items() if k not in own}
                kept |= {k: v for k, v in rest.items() if _fits((k, v), one)}
        return kept

    def _kept_relations(self, term: Term) -> tuple[TermRelation, ...]:
        has_parents = "parent" in self.holds
        by_kind = {one.kind: one for one in self.mapping.columns if one.kind}
        return tuple(
            TermRelation(
                kind=one.kind,
                target=one.target if has_parents else one.target[-1:],
            )
            for one in term.relations
            if _can_refer(one.target[-1], by_kind[one.kind])
        )

    @override
    def cells(self, term: Term, glossary: Glossary) -> Cells:
        taken = {one.attribute for one in self.mapping.columns if one.attribute}
        rest = {k: v for k, v in term.attributes.items() if k not in taken}
        cells = {}
        for one in self.mapping.columns:
            if one.field:
                items = _texts(one, term, glossary, rest)
                cells[one.column] = one.separator.join(items)
            elif one.attribute:
                cells[one.column] = term.attributes.get(one.attribute, "")
            else:
                cells[one.column] = glossary.name if one.glossary else one.constant
            if one.field == "status":
                cells[one.column] = self.mapping.statuses[term.status]
        return cells

    @override
    def glossary_name(self, rows: Sequence[Cells]) -> str:
        for one in self.mapping.columns:
            if one.glossary and rows:
                return rows[0].get(one.column, "")
        return ""

    @override
    def terms(self, rows: Sequence[Cells]) -> list[Term]:
        plain = [self._fields(cells) for cells in rows]
        paths: dict[str, TermPath] = {}
        for fields in plain:
            paths.setdefault(fields["name"], (*fields["parent"], fields["name"]))
        return [
            Term(**fields, relations=tuple(self._relations(cells, paths)))
            for fields, cells in zip(plain, rows, strict=True)
        ]

    def _fields(self, cells: Cells) -> dict[str, Any]:
        """Return the fields of a row except its relations."""
        fields: dict[str, Any] = {"parent": (), "attributes": {}}
        for one in self.mapping.columns:
            text = cells.get(one.column, "")
            if one.attribute:
                fields["attributes"][one.attribute] = text
            elif one.field == "attributes":
                fields["attributes"] |= dict(_pairs(text, one))
            elif one.field == "status":
                known = self.statuses()
                fields |= {"status": known[text]} if text in known else {}
            elif one.field not in {"", "relations"}:
                fields[one.field] = _read_cell(text, one)
        return fields

    def _relations(
        self, cells: Cells, paths: Mapping[str, TermPath]
    ) -> Iterable[TermRelation]:
        for one in self.mapping.columns:
            if one.kind is None:
                continue
            for item in _items(cells.get(one.column, ""), one):
                name = _target_name(item, one)
                yield TermRelation(kind=one.kind, target=paths.get(name, (name,)))

    @override
    def check(self, content: bytes) -> list[Problem]:
        problems = super().check(content)
        rows, most = len(self.read_table(content).rows), self.mapping.most_rows
        if most is not None and rows > most:
            rule = f"exceed the maximum of {most:,} per file"
            cure = "export fewer terms: --status, or one collection at a time"
            one = Problem(column="rows", value=f"{rows:,}", rule=rule, cure=cure)
            return [one, *problems]
        return problems

    @override
    def row_problems(self, cells: Cells) -> list[tuple[str, str, str, str]]:
        faults = []
        marks = {mark for one in self.mapping.columns if one.kind for mark in one.marks}
        for one in self.mapping.columns:
            text = cells.get(one.column, "")
            if one.required and not text:
                cure = "fill the cell"
                faults.append((one.column, "", "is empty and is required", cure))
            if self.ending == ".xlsx" and len(text) > CELL_LENGTH:
                rule = f"has {len(text)} characters, Excel holds {CELL_LENGTH}"
                faults.append((one.column, text, rule, "shorten it"))
            if one.constant and text and text != one.constant:
                cure = f"write {one.constant}"
                faults.append((one.column, text, "is another kind of row", cure))
            # A relation names its glossary before or after a mark.
            misplaced = [
                mark for mark in sorted(marks) if one.glossary and mark in text
            ]
            if misplaced:
                cure = "choose another title: --name"
                faults.append((one.column, text, f"contains {misplaced[0]!r}", cure))
        return faults

    @override
    def write_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> bytes:
        if self.ending == ".xlsx":
            return write_xlsx(self.mapping.sheet, columns, rows)
        return super().write_table(columns, rows)

    @override
    def read_table(self, content: bytes) -> TextTable:
        if self.ending == ".xlsx":
            return read_xlsx(content)
        return super().read_table(content)


def _texts(
    one: ColumnMapping, term: Term, glossary: Glossary, rest: Mapping[str, str]
) -> Iterable[str]:
    """Return the items of a cell; a plain text is one item."""
    if one.field == "parent":
        return term.path if one.with_name else term.parent
    if one.field == "relations":
        targets = [x.target[-1] for x in term.relations if x.kind is one.kind]
        return [_reference(name, glossary.name, one) for name in targets]
    if one.field == "attributes":
        return [f"{key}{one.pair}{text}" for key, text in rest.items()]
    if one.field == "resources":
        return [one.pair.join(_link(link)) for link in term.resources]
    value: str | tuple[str, ...] = getattr(term, one.field)
    return (value,) if isinstance(value, str) else value


def _read_cell(text: str, one: ColumnMapping) -> Any:
    """Return the value of a field from its cell."""
    if one.field in _TEXTS:
        return text
    if one.field == "parent":
        path = tuple(part for part in text.split(one.separator) if part)
        return path[:-1] if one.with_name else path
    if one.field == "resources":
        links = [Resource(label=a, url=b) for a, b in _pairs(text, one) if b]
        return tuple(links)
    return tuple(_items(text, one))


def _reference(name: str, glossary: str, one: ColumnMapping) -> str:
    if not one.pair:
        return name
    is_first = one.order == "glossary_first"
    return one.pair.join((glossary, name) if is_first else (name, glossary))


def _target_name(item: str, one: ColumnMapping) -> str:
    """Return the name of the term in a reference."""
    if not one.pair:
        return item
    if one.order == "term_first":
        return item.partition(one.pair)[0].strip()
    return item.rpartition(one.pair)[2].strip()


def _items(text: str, one: ColumnMapping) -> list[str]:
    mark = one.separator.strip(" ")
    parts = text.split(mark) if mark else [text]
    return [part.strip() for part in parts if part.strip()]


def _pairs(text: str, one: ColumnMapping) -> list[tuple[str, str]]:
    """Return the halves of the items; one without a mark is a key or a label alone."""
    halves = [item.partition(one.pair) for item in _items(text, one)]
    return [(key.strip(), value.strip()) for key, _, value in halves]


def _link(resource: Resource) -> tuple[str, str]:
    return resource.label, resource.url


def _fits(halves: tuple[str, str], one: ColumnMapping) -> bool:
    """Return whether a pair can be restored.

    Readers cut an attribute at every mark, a link only at the first: it has an address.
    """
    if one.field == "attributes" and one.pair in halves[1]:
        return False
    whole = one.pair.join(halves)
    return _items(whole, one) == [whole] and _pairs(whole, one) == [halves]


def _kept_items(items: Sequence[str], one: ColumnMapping) -> tuple[str, ...]:
    kept = [item for item in items if _items(item, one) == [item]]
    return tuple(kept[:1] if one.first else kept)


def _can_refer(name: str, one: ColumnMapping) -> bool:
    """Return whether a reference to a name can be restored."""
    text = _reference(name, "glossary", one)
    return _items(text, one) == [text] and _target_name(text, one) == name


@cache
def shipped_mapping(name: str) -> TableMapping:
    """Return a shipped mapping: alation, atlan, atlas, erwin or leanix."""
    file = files("elt_llm_consumer") / "exchange" / "mappings" / f"{name}.yaml"
    return TableMapping.model_validate(yaml.safe_load(file.read_text("utf-8")))


def read_mapping(path: Path) -> TableMapping:
    """Return the mapping of a YAML file.

    Raises:
        ConfigError: If it cannot be read, or is not a mapping; the message has details.
    """
    example = "copy one of elt_llm_consumer/exchange/mappings and change it"
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return TableMapping.model_validate(content)
    except OSError as error:
        raise ConfigError(
            f"cannot read the mapping {path}: {error.strerror}", example
        ) from error
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(f"{path} is not YAML: {reason}", example) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(
            f"{path} is not a mapping: {where}: {first['msg']}", example
        ) from error


class AtlasCsv(MappedTable):
    """The bulk import of Apache Atlas and Cloudera: 21 columns, lists `a|b`.

    Terms have no hierarchy; a reference is `Glossary:Term`.
    https://atlas.apache.org/#/GlossaryImport
    """

    mapping: ClassVar[TableMapping] = shipped_mapping("atlas")


class AtlanCsv(MappedTable):
    """The asset import of Atlan for glossary terms.

    https://docs.atlan.com/product/capabilities/governance/glossary/references
    """

    mapping: ClassVar[TableMapping] = shipped_mapping("atlan")


class AlationCsv(MappedTable):
    """Terms with the field names of Alation's Terms API, one row each."""

    mapping: ClassVar[TableMapping] = shipped_mapping("alation")


class ErwinCsv(MappedTable):
    """Business terms for erwin; its columns are to be mapped in its import dialogue."""

    mapping: ClassVar[TableMapping] = shipped_mapping("erwin")


class LeanIxXlsx(MappedTable):
    """Fact sheets for LeanIX: updates by id, new ones without.

    https://docs-eam.leanix.net/docs/importing-fact-sheet-data-through-excel-file
    """

    mapping: ClassVar[TableMapping] = shipped_mapping("leanix")

"""An inventory as an enterprise model: fact sheets, hierarchy, relations.

A column whose cells name fact sheets is a relation, whatever its header; a parent
column, or the path of a display name, is the hierarchy. An interface called "A to B" is
a flow from A to B. Every other column is a property.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from elt_llm_core.enterprise.model import (
    FLOW,
    INVENTORY_FORMAT,
    ORGANISATION,
    EnterpriseModel,
    ModelElement,
    ModelLocation,
    ModelRelation,
    ModelSkip,
    RelationEnd,
)
from elt_llm_core.records import replace_fields
from elt_llm_core.results import Box
from elt_llm_ingest.readers.enterprise.inventory_types import TYPE_OF

OWN_COLUMNS = frozenset(
    {"id", "type", "name", "displayname", "description", "level", "status", "lxstate"}
)
# Columns that may say whose an inventory is, in the words of export tools and of some
# languages.
_ORGANISATION_COLUMNS = frozenset(
    {"organisation", "organization", "organizacion", "organizzazione", "workspace"}
) | {"organisatie", "company", "tenant"}
PATH = " / "  # "A / B" is a path, "A/B" a name
# Export tools put several names into one cell, separated by lines or semicolons.
SEPARATORS = re.compile(r"\s*[;\n]\s*")
RELATION_HEADER = re.compile(r"rel(?=[A-Z])")  # as LeanIX calls its columns
WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Share of the names in a relation column that must be fact sheets; the rest are typing
# errors. A column with more unknown names contains something else.
NAMED = 0.8
# Below the heading of a type, such as "Data object", names are meant to be fact sheets,
# and an inventory may lack many: half of them show that it is about the same things.
NAMED_OF_TYPE = 0.5
MARK = re.compile(r"\s+[A-Z]{1,3}$")  # "Payroll to Bank LI": the kind of the interface
# Columns with the two ends of an interface, in letters only.
SENDERS = frozenset({"from", "source", "sender", "provider", "von", "quelle"})
RECEIVERS = frozenset({"to", "target", "receiver", "consumer", "an", "nach", "ziel"})
# A heading that ends so is a verb: "Depends on", not "has depends on".
VERB_ENDS = frozenset({"by", "for", "from", "in", "of", "on", "to", "with"})
# What the ends of an interface are, in letters only; others only if none is called so.
_APPLICATIONS = ("application", "applicationcomponent")
TO = re.compile(r"\s+to\s+|\s*(?:->|→|=>)\s*", re.IGNORECASE)


@dataclass
class InventoryRow:
    """A fact sheet: its values by lower-case column, and its position."""

    values: Mapping[str, str]
    sheet: str
    page: int
    number: int
    box: Box | None = None

    def get(self, column: str) -> str:
        """Return the value of a column, or an empty string."""
        return self.values.get(column, "")


@dataclass
class _Names:
    """Fact sheets by id, name and path; several may share a name.

    Where each type counts from 1, `Application:1` is "1" below a heading "Application".
    """

    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[tuple[str, str], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, row: InventoryRow) -> None:
        key, kind = row.get("id"), row.get("type")
        for name in dict.fromkeys(
            row.get(c) for c in ("id", "name", "displayname") if row.get(c)
        ):
            self.ids[_key(name)].append(key)
        if key.startswith(f"{kind}:"):
            number = key.removeprefix(f"{kind}:")
            self.numbers[_letters(kind), _key(number)].append(key)

    def find(self, name: str, types: Iterable[str] = ()) -> list[str]:
        """Return the fact sheets of a name, or else of a number in one of the types."""
        numbers = (self.numbers.get((kind, _key(name)), []) for kind in types)
        ids = self.ids.get(_key(name)) or [key for keys in numbers for key in keys]
        return list(dict.fromkeys(ids))


def build_model(
    path: Path,
    rows: Sequence[InventoryRow],
    skips: Sequence[ModelSkip],
    left_out: Sequence[InventoryRow] = (),
) -> EnterpriseModel:
    """Return the model of an inventory.

    Every name in a cell of a relation column becomes a relation, a parent or a skip.

    Args:
        path: The file.
        rows: Its fact sheets, each with a unique id and a name.
        skips: Rows that are not fact sheets, with the reason.
        left_out: These rows; the names in their relation columns become skips.
    """
    builder = _InventoryModelBuilder(path, rows)
    for row in left_out:
        builder.skip_row(row)
    return EnterpriseModel(
        name=path.stem,
        source_file=path.name,
        format=INVENTORY_FORMAT,
        properties={ORGANISATION: name} if (name := _organisation(rows)) else {},
        elements=tuple(builder.elements()),
        relations=tuple(builder.relations),
        skips=(*skips, *builder.skips),
    )


def _organisation(rows: Sequence[InventoryRow]) -> str:
    """The one organisation that a column names in every row.

    One that differs from row to row, or is a fact sheet, is who owns a thing.
    """
    names = {_key(row.get(column)) for row in rows for column in ("id", "name")}
    for column in rows[0].values if rows else ():
        plain = re.sub(r"name$", "", re.sub(r"\W|_", "", column).casefold())
        values = {row.get(column) for row in rows}
        if plain in _ORGANISATION_COLUMNS and len(values) == 1:
            (value,) = values
            if value and _key(value) not in names:
                return value
    return ""


class _InventoryModelBuilder:
    def __init__(self, path: Path, rows: Sequence[InventoryRow]) -> None:
        self._path = path
        self._rows = {row.get("id"): row for row in rows}
        self._names = _Names()
        for row in rows:
            self._names.add(row)
        self.relations: list[ModelRelation] = []
        self.skips: list[ModelSkip] = []
        columns = self._columns_of_names()
        self._parent_columns = {c for c in columns if _header_words(c)[-1] == "parent"}
        self._child_columns = {c for c in columns if _header_words(c)[-1] == "child"}
        self._relation_columns = columns - self._parent_columns - self._child_columns
        self._parents = self._find_parents()
        for row in rows:
            self._add_relations(row)

    def _columns_of_names(self) -> set[str]:
        """Return the columns whose cells name fact sheets."""
        listed: dict[str, list[bool]] = defaultdict(list)
        for row in self._rows.values():
            for column, value in row.values.items():
                if _key(column) not in OWN_COLUMNS:
                    listed[column] += [
                        bool(self._names.find(name, _types_meant(column, row)))
                        for name in self._names_in(value, column, row)
                    ]
        types = {_letters(row.get("type")) for row in self._rows.values()}
        return {
            column
            for column, known in listed.items()
            if RELATION_HEADER.match(column)
            or (
                known
                and _share(known)
                >= (NAMED_OF_TYPE if _type_of_heading(column) in types else NAMED)
            )
        }

    def _names_in(self, value: str, column: str, row: InventoryRow) -> list[str]:
        """Return the names in a cell; commas separate them if all parts are known."""
        names: list[str] = []
        types = _types_meant(column, row)
        for name in _split(value):
            parts = [part.strip() for part in name.split(",") if part.strip()]
            known = all(self._names.find(part, types) for part in parts)
            names += parts if known and not self._names.find(name, types) else [name]
        return names

    def _find_parents(self) -> dict[str, str]:
        parents: dict[str, str] = {}
        for key, row in self._rows.items():
            above = [name for _, name in self._cells(row, self._parent_columns)]
            path = row.get("displayname").split(PATH)[:-1]
            above += [PATH.join(path), *path[-1:]] if path else []
            kin = [i for name in above for i in self._of_type(name, row) if i != key]
            if kin:
                parents[key] = kin[0]
        for key, row in self._rows.items():
            for _, name in self._cells(row, self._child_columns):
                for child in self._of_type(name, row)[:1]:
                    parents.setdefault(child, key)
        return parents

    def _cells(
        self, row: InventoryRow, columns: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        """Return the names in some columns of a row, each with the key of its cell."""
        for column in sorted(columns):
            for number, name in enumerate(
                self._names_in(row.get(column), column, row), start=1
            ):
                yield f"{row.get('id')} {column} {number}", name

    def _report_hierarchy(self, row: InventoryRow) -> None:
        """Skip the parents and children of a row that are not in the hierarchy."""
        key = row.get("id")
        for columns, is_parent in (
            (self._parent_columns, True),
            (self._child_columns, False),
        ):
            for cell, name in self._cells(row, columns):
                ids = self._of_type(name, row)
                pairs = [(key, i) if is_parent else (i, key) for i in ids]
                if any(self._parents.get(child) == above for child, above in pairs):
                    continue
                reason = f"no fact sheet is called {name!r}"
                if pairs:
                    above = self._parents.get(pairs[0][0])
                    inside = self._rows[above].get("name") if above else "no other one"
                    reason = f"the fact sheet is in {inside!r}"
                self._skip(cell, f"{row.get('name')} -> {name}", reason, row)

    def _of_type(self, name: str, row: InventoryRow) -> list[str]:
        """Return the fact sheets of a name, those of the row's own type first."""
        kind = row.get("type")
        ids = self._names.find(name, (_letters(kind),))
        return sorted(ids, key=lambda i: self._rows[i].get("type") != kind)

    def _targets(self, name: str, types: Sequence[str]) -> list[str]:
        """Return the fact sheets of a name, only those of the types meant if any."""
        ids = self._names.find(name, types)
        typed = [i for i in ids if _letters(self._rows[i].get("type")) in types]
        return typed or ids

    def elements(self) -> Iterator[ModelElement]:
        """Return the fact sheets in the order of the rows."""
        for key, row in self._rows.items():
            names = row.get("displayname").split(PATH)[:-1] or self._path_above(key)
            yield ModelElement(
                id=key,
                name=row.get("name"),
                type=row.get("type"),
                fact_sheet_id=key,
                domain=names[0] if names else "",
                subtype=names[1] if len(names) > 1 else "",
                parent_id=self._parents.get(key, ""),
                level=row.get("level"),
                status=row.get("lxstate") or row.get("status"),
                documentation=row.get("description"),
                properties=self._properties(row),
                location=self._location(row),
            )

    def _path_above(self, key: str) -> list[str]:
        names: dict[str, str] = {}
        above = self._parents.get(key)
        while above is not None and above not in names:
            names[above] = self._rows[above].get("name")
            above = self._parents.get(above)
        return list(names.values())[::-1]

    def _properties(self, row: InventoryRow) -> dict[str, str]:
        """Return what is neither a relation nor a role, and names without a sheet."""
        relations = self._relation_columns | self._parent_columns | self._child_columns
        return {
            column: " ".join(value.split())
            for column, value in row.values.items()
            if value
            and _key(column) not in OWN_COLUMNS
            and (
                column not in relations
                or not any(
                    self._names.find(name, _types_meant(column, row))
                    for name in self._names_in(value, column, row)
                )
            )
        }

    def _location(self, row: InventoryRow) -> ModelLocation:
        return ModelLocation(
            file=self._path.name,
            page=row.page,
            page_name=row.sheet,
            key=str(row.number),
            box=row.box,
        )

    def skip_row(self, row: InventoryRow) -> None:
        """Skip every name in the relation columns of a row that is no fact sheet."""
        columns = self._relation_columns | self._parent_columns | self._child_columns
        for cell, name in self._cells(row, columns):
            key = f"{cell}, row {row.number}"
            reason = f"row {row.number} was left out"
            self._skip(key, f"{row.get('name')} -> {name}", reason, row)

    def _add_relations(self, row: InventoryRow) -> None:
        self._report_hierarchy(row)
        for column in sorted(self._relation_columns):
            words = _header_words(column)
            if column in self._end_columns(row):
                continue
            for key, name in self._cells(row, (column,)):
                types = _types_meant(column, row)
                ids = self._targets(name, types)
                called = _verb(words), column
                if len(ids) == 1:
                    self._relate(key, row.get("id"), ids[0], row, called)
                    continue
                self._skip(
                    key, f"{row.get('name')} -> {name}", _why_not_one(ids, name), row
                )
                if not ids:  # a drawing may have it
                    source = RelationEnd(element_id=row.get("id"), name=row.get("name"))
                    target = RelationEnd(element_id="", name=name)
                    open_ended = self._relation(key, source, target, row, called)
                    self._leave_open(open_ended, types[0])
        if "interface" in row.get("type").casefold():
            self._add_flows(row)

    def _leave_open(self, relation: ModelRelation, type_name: str) -> None:
        """Keep a skipped relation with its named end, which a drawing may have."""
        self.skips[-1] = replace_fields(
            self.skips[-1], relation=relation, target_type=type_name
        )

    def _add_flows(self, row: InventoryRow) -> None:
        """Add flows from the first applications to an interface, then to the second."""
        key = row.get("id")
        for side, names in zip(("from", "to"), self._interface_ends(row), strict=False):
            for number, name in enumerate(names, start=1):
                ids = [i for i in self._targets(name, _APPLICATIONS) if i != key]
                relation = f"{key} {side}" + (f" {number}" if number > 1 else "")
                if len(ids) == 1:
                    pair = (ids[0], key) if side == "from" else (key, ids[0])
                    self._relate(relation, *pair, row, ("", FLOW))
                    continue
                self._skip(relation, row.get("name"), _why_not_one(ids, name), row)
                if not ids:
                    ends = (
                        RelationEnd(element_id="", name=name),
                        RelationEnd(element_id=key, name=row.get("name")),
                    )
                    ends = ends if side == "from" else ends[::-1]
                    flow = self._relation(relation, *ends, row, ("", FLOW))
                    self._leave_open(flow, _APPLICATIONS[0])

    def _end_columns(self, row: InventoryRow) -> tuple[str, ...]:
        """Return the columns with the two ends of an interface, if it has both."""
        if "interface" not in row.get("type").casefold():
            return ()
        ends = [
            next((c for c, v in row.values.items() if v and _plain(c) in known), "")
            for known in (SENDERS, RECEIVERS)
        ]
        return tuple(ends) if all(ends) else ()

    def _interface_ends(self, row: InventoryRow) -> Sequence[Sequence[str]]:
        """Return the names at both ends: of columns, or the two names in "A to B".

        Of several "to" it is the one between known names.
        """
        if columns := self._end_columns(row):
            return [self._names_in(row.get(c), c, row) for c in columns]
        name = row.get("name")
        pairs = [
            (plain[: match.start()].strip(), plain[match.end() :].strip())
            for plain in dict.fromkeys((name, MARK.sub("", name)))
            for match in TO.finditer(plain)
        ]
        known = [sum(bool(self._names.find(end)) for end in pair) for pair in pairs]
        if not pairs:
            return ()
        # Of equally good splits, use the last, with the interface's suffix removed.
        best = max(range(len(pairs)), key=lambda i: (known[i], i))
        return [[end] for end in pairs[best]]

    def _relate(
        self,
        key: str,
        source: str,
        target: str,
        row: InventoryRow,
        called: tuple[str, str],
    ) -> None:
        ends = [
            RelationEnd(element_id=one, name=self._rows[one].get("name"))
            for one in (source, target)
        ]
        self.relations.append(self._relation(key, ends[0], ends[1], row, called))

    def _relation(
        self,
        key: str,
        source: RelationEnd,
        target: RelationEnd,
        row: InventoryRow,
        called: tuple[str, str],
    ) -> ModelRelation:
        return ModelRelation(
            id=key,
            source=source,
            target=target,
            name=called[0],
            type=called[1],
            direction="forward",
            location=replace_fields(self._location(row), box=None),
        )

    def _skip(self, key: str, name: str, reason: str, row: InventoryRow) -> None:
        skip = ModelSkip(
            kind="relation", id=key, name=name, reason=reason, page=row.page
        )
        self.skips.append(skip)


def _share(known: Sequence[bool]) -> float:
    return sum(known) / len(known)


def _why_not_one(ids: Sequence[str], name: str) -> str:
    if ids:
        return f"{len(ids)} fact sheets are called {name!r}: write the id"
    return f"no fact sheet is called {name!r}"


def _types_meant(column: str, row: InventoryRow) -> tuple[str, ...]:
    """Return the types of what a column names, in letters only."""
    if _header_words(column)[-1] in {"parent", "child"}:
        return (_letters(row.get("type")),)
    is_interface = "interface" in row.get("type").casefold()
    if is_interface and _plain(column) in SENDERS | RECEIVERS:
        return _APPLICATIONS
    return (_type_of_heading(column),)


@cache
def _type_of_heading(column: str) -> str:
    """Return the type that a heading states, with or without "ID"; or its letters."""
    words = "".join(_header_words(column)).casefold()
    plain = re.sub(r"(?<=.)ids?$", "", words)
    return TYPE_OF.get(plain, words).casefold()


def _letters(text: str) -> str:
    """Return a type or a heading in small letters only."""
    return re.sub(r"[\W_]", "", text).casefold()


def _plain(column: str) -> str:
    """Return a heading in letters only, without "system" or "application"."""
    return re.sub(r"(?<=.)(?:system|application|app)$", "", _letters(column))


def _verb(words: Sequence[str]) -> str:
    """Return what a relation is called: "has data object", but "depends on"."""
    if len(words) > 1 and words[-1] in VERB_ENDS:
        return " ".join(words)
    return f"has {' '.join(words)}"


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _split(value: str) -> list[str]:
    return [name for part in SEPARATORS.split(value) if (name := part.strip())]


def _header_words(column: str) -> list[str]:
    """Return a header as words: "relApplicationToDataObject" is "data object"."""
    plain = RELATION_HEADER.sub("", column, count=1)
    if plain != column:
        plain = re.split(r"(?<=[a-z])To(?=[A-Z])|^To(?=[A-Z])", plain)[-1]
    words = WORD_START.sub(" ", plain).replace("_", " ").split()
    return [word if word.isupper() else word.lower() for word in words] or [column]

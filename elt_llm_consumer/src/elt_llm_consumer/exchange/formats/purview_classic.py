"""Terms for the classic glossary of Microsoft Purview's Data Map, as CSV.

The columns are those that Purview's own export writes. `Name` is the path of a term
joined by `_`, `Nick Name` its last part, `Parent Term Name` the `Name` of the term
above; related terms and synonyms name terms of the same glossary in that way, with `;`
after each. https://learn.microsoft.com/purview/data-gov-classic-create-import-export-glossary
"""

import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Any, ClassVar

from typing_extensions import override

from elt_llm_consumer.exchange.glossary_format import TargetRules
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    Path,
    RelationKind,
    Resource,
    Term,
    TermRelation,
    TermStatus,
)
from elt_llm_consumer.exchange.tabular_format import Cells, TabularFormat

_TEMPLATE = "System default"
_RELATIONS = {
    "Related Terms": RelationKind.RELATED,
    "Synonyms": RelationKind.SYNONYM,
}
_PEOPLE = {"Stewards": "stewards", "Experts": "experts"}
_EMAIL = re.compile(r"[^@\s;:,]+@[^@\s;:,]+\.[^@\s;:,]+")
_URL = re.compile(r"https?://[^\s;]+")


class PurviewClassicCsv(TabularFormat):
    """The CSV file that Purview's classic glossary imports and exports."""

    title: ClassVar[str] = "Purview classic CSV"
    ending: ClassVar[str] = ".csv"
    holds: ClassVar[frozenset[str]] = frozenset(
        {
            *("name", "parent", "definition", "acronyms", "status", "relations"),
            *("resources", "stewards", "experts"),
        }
    )
    columns: ClassVar[tuple[str, ...]] = (
        *("Name", "Nick Name", "Status", "Definition", "Acronym", "Resources"),
        *("Related Terms", "Synonyms", "Stewards", "Experts", "Parent Term Name"),
        *("IsDefinitionRichText", "Term Template Names"),
    )
    required: ClassVar[frozenset[str]] = frozenset({"Name"})
    column_of: ClassVar[Mapping[str, str]] = {
        "name": "Nick Name",
        "parent": "Parent Term Name",
        "definition": "Definition",
        "status": "Status",
        "relations": "Related Terms",
    }
    relation_kinds: ClassVar[frozenset[RelationKind]] = frozenset(_RELATIONS.values())
    status_names: ClassVar[Mapping[TermStatus, str]] = {
        TermStatus.PENDING: "Draft",
        TermStatus.PROPOSED_NEW_TAXONOMY: "Draft",
        TermStatus.APPROVED: "Approved",
        TermStatus.NEEDS_CLARIFICATION: "Alert",
        TermStatus.REOPENED: "Alert",
        TermStatus.REJECTED: "Expired",
    }
    unique_column: ClassVar[str] = "Name"
    byte_order_mark: ClassVar[bool] = True
    rules: ClassVar[TargetRules] = TargetRules(not_in_name=(";",))

    @override
    def keep(self, term: Term) -> Term:
        """Return the term without invalid people, links and acronyms."""
        kept = super().keep(term)
        people = {
            field: tuple(one for one in getattr(kept, field) if _EMAIL.fullmatch(one))
            for field in _PEOPLE.values()
        }
        acronyms = tuple(a for a in kept.acronyms if not set(a) & {",", ";"})
        links = tuple(
            one
            for one in kept.resources
            if list(map(_resource, _items(_link_text(one)))) == [one]
            and _URL.fullmatch(one.url)
        )
        relations = tuple(
            one for one in kept.relations if ";" not in _formal(one.target)
        )
        changes = {"acronyms": acronyms, "resources": links, "relations": relations}
        return kept.model_copy(update={**people, **changes})

    @override
    def cells(self, term: Term, glossary: Glossary) -> Cells:
        cells = {
            "Name": _formal(term.path),
            "Nick Name": term.name,
            "Status": self.status_names[term.status],
            "Definition": term.definition,
            "Acronym": ",".join(term.acronyms),
            "Resources": _list(map(_link_text, term.resources)),
            "Parent Term Name": _formal(term.parent),
            "IsDefinitionRichText": "false",
            "Term Template Names": _TEMPLATE,
        }
        for column, kind in _RELATIONS.items():
            targets = [one.target for one in term.relations if one.kind is kind]
            cells[column] = _list(map(_formal, targets))
        for column, field in _PEOPLE.items():
            cells[column] = _list(getattr(term, field))
        return cells

    @override
    def terms(self, rows: Sequence[Cells]) -> list[Term]:
        paths = _FormalNames(rows)
        return [self._term(cells, paths) for cells in rows]

    def _term(self, cells: Cells, paths: "_FormalNames") -> Term:
        path = paths.path(cells.get("Name", ""))
        fields: dict[str, Any] = {
            "name": path[-1] if path else "",
            "parent": path[:-1],
            "definition": _definition(cells),
            "acronyms": tuple(cells.get("Acronym", "").split(",")),
            "resources": tuple(map(_resource, _items(cells.get("Resources", "")))),
        }
        status = self.statuses().get(cells.get("Status", ""))
        if status:
            fields["status"] = status
        for column, field in _PEOPLE.items():
            fields[field] = tuple(_person(p) for p in _items(cells.get(column, "")))
        fields["relations"] = tuple(
            TermRelation(kind=kind, target=paths.path(name))
            for column, kind in _RELATIONS.items()
            for name in _items(cells.get(column, ""))
        )
        return Term(**fields)

    @override
    def row_problems(self, cells: Cells) -> list[tuple[str, str, str, str]]:
        faults = []
        for column in _PEOPLE:
            for person in _items(cells.get(column, "")):
                if not _EMAIL.fullmatch(_person(person)):
                    rule, cure = "is not an e-mail address", "write name@example.org"
                    faults.append((column, person, rule, cure))
        for text in _items(cells.get("Resources", "")):
            if not _URL.fullmatch(_resource(text).url):
                cure = "write label:https://address;"
                faults.append(
                    ("Resources", text, "is not a labelled web address", cure)
                )
        parent, name = cells.get("Parent Term Name", ""), cells.get("Name", "")
        if parent and parent == name:
            cure = "write the parent term, or leave the cell empty"
            faults.append(("Parent Term Name", parent, "is the term itself", cure))
        return faults


class _FormalNames:
    """Looks up the path of a formal name, such as `Contracts_Ground Lease`.

    A name may contain `_` itself, so the rows of the file take precedence over
    splitting the name.
    """

    def __init__(self, rows: Sequence[Cells]) -> None:
        self._rows = {cells.get("Name", ""): cells for cells in rows}

    def path(self, formal: str, below: frozenset[str] = frozenset()) -> Path:
        """Return the path of a term; one with an unknown parent is at the top.

        Args:
            formal: The name, or that of a parent.
            below: Names already followed, to stop at a cycle.
        """
        cells = self._rows.get(formal)
        if cells is None or formal in below:
            return (formal,) if formal else ()
        above = cells.get("Parent Term Name", "")
        leaf = cells.get("Nick Name", "") or formal.removeprefix(f"{above}_")
        parent = self.path(above, below | {formal}) if above else ()
        return (*parent, leaf)


def _formal(path: Path) -> str:
    return "_".join(path)


def _list(items: Any) -> str:
    return "".join(f"{item};" for item in items)


def _items(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _resource(text: str) -> Resource:
    """Parse `label:https://…`; a label may contain colons."""
    start = max(text.find("http://"), text.find("https://"))
    if start > 0:
        return Resource(label=text[:start].rstrip(": "), url=text[start:])
    label, _, url = text.partition(":")
    return Resource(label=label if url else "", url=text if start == 0 else url or text)


def _person(text: str) -> str:
    """Return the address of `name@example.org:role`."""
    return text.partition(":")[0]


def _link_text(resource: Resource) -> str:
    return f"{resource.label}:{resource.url}"


class _TextOfMarkup(HTMLParser):
    """Collects the visible text of a rich definition; paragraphs start lines."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"br", "div", "li", "p", "tr"} and self.text:
            self.text += "\n"

    @override
    def handle_data(self, data: str) -> None:
        self.text += data


def _definition(cells: Cells) -> str:
    """Return the definition, without markup if the row is marked as rich text."""
    text = cells.get("Definition", "")
    if cells.get("IsDefinitionRichText", "").casefold() != "true":
        return text
    parser = _TextOfMarkup()
    parser.feed(text)
    parser.close()
    return parser.text

"""Terms for a glossary of OpenMetadata, as the CSV that its bulk import reads.

Names in a path are joined by dots below the name of the glossary, which must exist; a
name with a dot or a quote is quoted. Lists are separated by `;`, an item that has one
is quoted. The columns are those of its `glossaryCsvDocumentation.json`.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
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

_KINDS = {
    RelationKind.RELATED: "relatedTo",
    RelationKind.SYNONYM: "synonym",
    RelationKind.ANTONYM: "antonym",
    RelationKind.BROADER: "broader",
    RelationKind.NARROWER: "narrower",
    RelationKind.PART_OF: "partOf",
    RelationKind.HAS_PART: "hasPart",
}
_KIND_OF = {name: kind for kind, name in _KINDS.items()}
_PART = re.compile(r'"(?:[^"]|"")*"|[^.]+')
_OWNER = re.compile(r"(?:user|team):[^\s:;]+")
_URL = re.compile(r"https?://\S+")


class OpenMetadataCsv(TabularFormat):
    """The CSV file that OpenMetadata's glossaries import and export."""

    title: ClassVar[str] = "OpenMetadata CSV"
    ending: ClassVar[str] = ".csv"
    holds: ClassVar[frozenset[str]] = frozenset(
        {
            *("name", "parent", "definition", "synonyms", "relations", "resources"),
            *("tags", "stewards", "owners", "status", "attributes"),
        }
    )
    columns: ClassVar[tuple[str, ...]] = (
        *("parent", "name*", "displayName", "description", "synonyms"),
        *("relatedTerms", "references", "tags", "reviewers", "owner"),
        *("glossaryStatus", "color", "iconURL", "extension"),
    )
    required: ClassVar[frozenset[str]] = frozenset({"name*"})
    column_of: ClassVar[Mapping[str, str]] = {
        "name": "name*",
        "parent": "parent",
        "definition": "description",
        "status": "glossaryStatus",
        "relations": "relatedTerms",
    }
    relation_kinds: ClassVar[frozenset[RelationKind]] = frozenset(_KINDS)
    status_names: ClassVar[Mapping[TermStatus, str]] = {
        TermStatus.PENDING: "Draft",
        TermStatus.PROPOSED_NEW_TAXONOMY: "Draft",
        TermStatus.NEEDS_CLARIFICATION: "Draft",
        TermStatus.REOPENED: "Draft",
        TermStatus.APPROVED: "Approved",
        TermStatus.REJECTED: "Deprecated",
    }
    # `::` separates names in entity links; a name may have 256 characters.
    rules: ClassVar[TargetRules] = TargetRules(name_length=256, not_in_name=("::",))

    @override
    def keep(self, term: Term) -> Term:
        """Return the term without invalid owners, links and properties."""
        kept = super().keep(term)
        owners = tuple(one for one in kept.owners if _OWNER.fullmatch(one))
        links = tuple(
            one for one in kept.resources if one.label and _URL.fullmatch(one.url)
        )
        attributes = {
            key: text for key, text in kept.attributes.items() if ":" not in key
        }
        changes = {"owners": owners, "resources": links, "attributes": attributes}
        return kept.model_copy(update=changes)

    @override
    def cells(self, term: Term, glossary: Glossary) -> Cells:
        links = [part for link in term.resources for part in (link.label, link.url)]
        related = [
            f"{_KINDS[one.kind]}:{_join_names((glossary.name, *one.target))}"
            for one in term.relations
        ]
        return {
            "parent": _join_names((glossary.name, *term.parent)) if term.parent else "",
            "name*": term.name,
            "displayName": term.name,
            "description": term.definition,
            "synonyms": _list(term.synonyms),
            "relatedTerms": _list(related),
            "references": _list(links),
            "tags": _list(term.tags),
            "reviewers": _list(term.stewards),
            "owner": _list(term.owners),
            "glossaryStatus": self.status_names[term.status],
            "extension": _list(f"{k}:{v}" for k, v in term.attributes.items()),
        }

    @override
    def glossary_name(self, rows: Sequence[Cells]) -> str:
        """Return the first name of the paths; "" if no row has a path."""
        paths = [cells.get("parent", "") for cells in rows]
        paths += [path for cells in rows for _, path in _split_relations(cells)]
        return next((_split(path)[0] for path in paths if path), "")

    @override
    def terms(self, rows: Sequence[Cells]) -> list[Term]:
        return [self._term(cells) for cells in rows]

    def _term(self, cells: Cells) -> Term:
        links = _items(cells.get("references", ""))
        extension = [one.partition(":") for one in _items(cells.get("extension", ""))]
        fields: dict[str, Any] = {
            "name": cells.get("name*", ""),
            "parent": _split(cells.get("parent", ""))[1:],
            "definition": cells.get("description", ""),
            "synonyms": tuple(_items(cells.get("synonyms", ""))),
            "tags": tuple(_items(cells.get("tags", ""))),
            "stewards": tuple(_items(cells.get("reviewers", ""))),
            "owners": tuple(_items(cells.get("owner", ""))),
            "attributes": {key: text for key, _, text in extension},
        }
        fields["resources"] = tuple(
            Resource(label=label, url=url)
            for label, url in zip(links[::2], links[1::2], strict=False)
        )
        fields["relations"] = tuple(
            TermRelation(kind=kind, target=path)
            for kind, text in _split_relations(cells)
            if (path := _split(text)[1:])
        )
        status = self.statuses().get(cells.get("glossaryStatus", ""))
        return Term(**fields, **({"status": status} if status else {}))

    @override
    def row_problems(self, cells: Cells) -> list[tuple[str, str, str, str]]:
        faults = []
        for owner in _items(cells.get("owner", "")):
            if not _OWNER.fullmatch(owner):
                rule, cure = "is not an owner", "write user:NAME or team:NAME"
                faults.append(("owner", owner, rule, cure))
        links = _items(cells.get("references", ""))
        for url in links[1::2]:
            if not _URL.fullmatch(url):
                rule, cure = "is not a web address", "write name;https://address"
                faults.append(("references", url, rule, cure))
        if len(links) % 2:
            rule, cure = "is a name without an address", "write name;https://address"
            faults.append(("references", links[-1], rule, cure))
        return faults


def _join_names(path: Path) -> str:
    """Return a fully qualified name: `Terms."a.b".c`."""
    return ".".join(
        '"' + part.replace('"', '""') + '"' if set(part) & {".", '"'} else part
        for part in path
    )


def _split(dotted: str) -> Path:
    """Return the path below the glossary of a fully qualified name."""
    parts = _PART.findall(dotted)
    return tuple(
        part[1:-1].replace('""', '"') if part.startswith('"') else part
        for part in parts
    )


def _split_relations(cells: Cells) -> list[tuple[RelationKind, str]]:
    """Return kind and path of each related term; without a kind it is related."""
    relations = []
    for item in _items(cells.get("relatedTerms", "")):
        name, _, path = item.partition(":")
        kind = _KIND_OF.get(name)
        relations.append((kind, path) if kind else (RelationKind.RELATED, item))
    return relations


def _list(items: Any) -> str:
    """Return items on one line of CSV, separated by `;`."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=";", lineterminator="\n").writerow(list(items))
    return buffer.getvalue().removesuffix("\n")


def _items(text: str) -> list[str]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=";")
    try:
        return [item.strip() for line in lines for item in line if item.strip()]
    except csv.Error:  # a line break or an invalid quote
        return [part.strip() for part in text.split(";") if part.strip()]

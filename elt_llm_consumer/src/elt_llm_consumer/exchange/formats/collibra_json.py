"""Business terms for Collibra, as the JSON that its Import API (version 2) reads.

A list of resources: the community, its domain and an asset per term, identified by its
name within the domain. Relation types and people are ids of the target, set as options;
the full name of an asset is its path, so that two terms with the same name can have
different parents. https://developer.collibra.com/api/rest/import-api
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.exchange.cells import join_path, split_path
from elt_llm_consumer.exchange.glossary_format import (
    GlossaryFormat,
    TargetRules,
    TermChecker,
)
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    Path,
    RelationKind,
    Term,
    TermRelation,
    TermStatus,
)
from elt_llm_core.errors import ExchangeError
from elt_llm_core.product_exports import Problem

# Attribute types of Collibra's standard operating model, by field of a term.
_ATTRIBUTES = {
    "definition": "Definition",
    "note": "Note",
    "examples": "Descriptive Example",
    "acronyms": "Acronym",
    "synonyms": "Alias",
}
# Relation types of the same model: "Business Term groups / is grouped by", "is synonym
# of", "related to"; SOURCE and TARGET name the end of the other asset.
_GROUPS = "00000000-0000-0000-0000-000000007017"
_RELATIONS = {
    RelationKind.SYNONYM: "00000000-0000-0000-0000-000000007001",
    RelationKind.RELATED: "00000000-0000-0000-0000-000000007038",
}
_TEXTS = frozenset({"definition", "note"})


class CollibraJson(GlossaryFormat):
    """The JSON file of Collibra's Import API."""

    community: str = Field(
        default="Business Glossary", min_length=1, description="where the domain is"
    )
    asset_type: str = Field(default="Business Term", min_length=1)
    groups_relation: str = Field(
        default=_GROUPS, description="id of the relation type from parent to term"
    )
    synonym_relation: str = Field(
        default=_RELATIONS[RelationKind.SYNONYM], description="id of its type"
    )
    related_relation: str = Field(
        default=_RELATIONS[RelationKind.RELATED], description="id of its type"
    )

    title: ClassVar[str] = "Collibra JSON"
    ending: ClassVar[str] = ".json"
    holds: ClassVar[frozenset[str]] = frozenset(
        {"name", "parent", "status", "relations", "tags", *_ATTRIBUTES}
    )
    relation_kinds: ClassVar[frozenset[RelationKind]] = frozenset(_RELATIONS)
    status_names: ClassVar[dict[TermStatus, str]] = {
        TermStatus.PENDING: "Candidate",
        TermStatus.PROPOSED_NEW_TAXONOMY: "Candidate",
        TermStatus.NEEDS_CLARIFICATION: "Under Review",
        TermStatus.REOPENED: "Under Review",
        TermStatus.APPROVED: "Accepted",
        TermStatus.REJECTED: "Rejected",
    }

    @override
    def write(self, glossary: Glossary) -> bytes:
        domain = {"name": glossary.name, "community": {"name": self.community}}
        resources: list[dict[str, Any]] = [
            {"resourceType": "Community", "identifier": {"name": self.community}},
            {
                "resourceType": "Domain",
                "identifier": domain,
                "type": {"name": "Glossary"},
            },
        ]
        terms = self.keep_glossary(glossary).terms
        resources += [self._asset(term, domain) for term in terms]
        return (json.dumps(resources, ensure_ascii=False, indent=1) + "\n").encode()

    def _asset(self, term: Term, domain: dict[str, Any]) -> dict[str, Any]:
        attributes = {
            name: [{"value": text} for text in _values(term, field)]
            for field, name in _ATTRIBUTES.items()
        }
        asset = {
            "resourceType": "Asset",
            "identifier": _identifier(term.path, domain),
            "type": {"name": self.asset_type},
            "displayName": term.name,
            "status": {"name": self.status_names[term.status]},
            "attributes": {name: texts for name, texts in attributes.items() if texts},
            "relations": self._relations(term, domain),
            "tags": list(term.tags),
        }
        return {key: value for key, value in asset.items() if value}

    def _relations(self, term: Term, domain: dict[str, Any]) -> dict[str, Any]:
        ends: dict[str, list[dict[str, Any]]] = {}
        if term.parent:
            ends[f"{self.groups_relation}:SOURCE"] = [_identifier(term.parent, domain)]
        for kind, relation in self._types().items():
            targets = [
                _identifier(one.target, domain)
                for one in term.relations
                if one.kind is kind
            ]
            if targets:
                ends[f"{relation}:TARGET"] = targets
        return ends

    def _types(self) -> dict[RelationKind, str]:
        return {
            RelationKind.SYNONYM: self.synonym_relation,
            RelationKind.RELATED: self.related_relation,
        }

    @override
    def read(self, content: bytes) -> Glossary:
        resources = _parse(content)
        domains = [one for one in resources if one["resourceType"] == "Domain"]
        name = domains[0]["identifier"].get("name", "") if domains else ""
        terms = tuple(self._term(asset) for asset in _assets(resources))
        return Glossary(name=name, terms=terms)

    def _term(self, asset: dict[str, Any]) -> Term:
        path = _path(asset["identifier"])
        relations = asset.get("relations", {})
        statuses = self.statuses()
        status = asset.get("status", {}).get("name", "")
        fields: dict[str, Any] = {
            "status": statuses.get(status, TermStatus.PENDING),
            "tags": tuple(asset.get("tags", ())),
            "relations": tuple(
                TermRelation(kind=kind, target=_path(target))
                for kind, relation in self._types().items()
                for target in relations.get(f"{relation}:TARGET", ())
            ),
        }
        for field, name in _ATTRIBUTES.items():
            values = asset.get("attributes", {}).get(name, ())
            texts = [str(one.get("value", "")) for one in values]
            fields[field] = "\n".join(texts) if field in _TEXTS else tuple(texts)
        return Term(name=path[-1], parent=path[:-1], **fields)

    @override
    def check(self, content: bytes) -> list[Problem]:
        resources = _parse(content)
        terms = sorted(self.read(content).terms, key=lambda term: term.path)
        # The full name of an asset has at most 2,000 characters.
        columns = {"name": "identifier", "definition": "attributes/Definition"}
        checker = TermChecker(TargetRules(name_length=2000), columns)
        return [*self._status_problems(resources), *checker.problems(terms)]

    def _status_problems(self, resources: Sequence[dict[str, Any]]) -> list[Problem]:
        """Return statuses that a default Collibra does not have."""
        known = self.statuses()
        problems = []
        for entry, asset in enumerate(_assets(resources)):
            status = asset.get("status", {}).get("name", "")
            if status and status not in known:
                problems.append(
                    Problem(
                        row=entry + 1,
                        column="status",
                        value=status,
                        rule="is not a status that Collibra ships",
                        cure=f"add it there, or use one of: {', '.join(known)}",
                        is_error=False,
                    )
                )
        return problems


def _values(term: Term, field: str) -> list[str]:
    value = getattr(term, field)
    return [text for text in ([value] if isinstance(value, str) else value) if text]


def _identifier(path: Path, domain: dict[str, Any]) -> dict[str, Any]:
    return {"name": join_path(path), "domain": domain}


def _path(identifier: dict[str, Any]) -> Path:
    path = split_path(str(identifier.get("name", "")))
    if not path:
        raise ExchangeError(
            "an asset has no name in its identifier", "add its name and its domain"
        )
    return path


def _parse(content: bytes) -> list[dict[str, Any]]:
    again = "the Import API reads a list of resources; export it again"
    try:
        resources = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ExchangeError(f"the file is not JSON: {reason}", again) from error
    if not isinstance(resources, list):
        raise ExchangeError("the file is not a list of resources", again)
    for number, one in enumerate(resources, start=1):
        if not (
            isinstance(one, dict)
            and isinstance(one.get("resourceType"), str)
            and isinstance(one.get("identifier"), dict)
        ):
            raise ExchangeError(
                f"resource {number} lacks resourceType or identifier", again
            )
    return resources


def _assets(resources: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (one for one in resources if one["resourceType"] == "Asset")

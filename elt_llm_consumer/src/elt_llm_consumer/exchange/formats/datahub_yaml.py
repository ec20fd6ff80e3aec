"""A business glossary of DataHub, as the YAML file that its ingestion reads.

A term with child terms becomes a node and a term of the same name next to it, because
DataHub's relations and links belong to terms. Relations refer to a term by its path of
names, joined by dots, so a name with a dot is refused. DataHub requires the key
`description`, whose text may be empty: so a domain without one is no error.
https://docs.datahub.com/docs/generated/ingestion/sources/business-glossary
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import override

from elt_llm_consumer.exchange.glossary_format import (
    GlossaryFormat,
    TargetRules,
    TermChecker,
    shorten,
)
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    Path,
    RelationKind,
    Resource,
    Term,
    TermRelation,
    TermStatus,
)
from elt_llm_core.errors import ExchangeError
from elt_llm_core.product_exports import Problem

_RELATIONS = {
    RelationKind.BROADER: "inherits",
    RelationKind.HAS_PART: "contains",
    RelationKind.RELATED: "related_terms",
}
_STATUS = "review_status"  # our own property: DataHub's file has no status
_LONGEST = 100_000_000  # bytes; 100,000 terms take about 60 MB


class _GlossaryPart(BaseModel):
    """Common fields of a node and a term. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    name: str
    description: str = ""
    knowledge_links: list[dict[str, str]] = Field(default_factory=list)


class _TermPart(_GlossaryPart):
    term_source: str = "INTERNAL"
    owners: dict[str, list[str]] = Field(default_factory=dict)
    inherits: list[str] = Field(default_factory=list)
    contains: list[str] = Field(default_factory=list)
    related_terms: list[str] = Field(default_factory=list)
    custom_properties: dict[str, str | bool | int | float] = Field(default_factory=dict)


class _Node(_GlossaryPart):
    nodes: list["_Node"] = Field(default_factory=list)
    terms: list[_TermPart] = Field(default_factory=list)


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    version: str | int
    source: str
    url: str = ""
    owners: dict[str, Any]
    nodes: list[_Node] = Field(default_factory=list)
    terms: list[_TermPart] = Field(default_factory=list)


class DataHubYaml(GlossaryFormat):
    """The YAML file of DataHub's business glossary source."""

    owner: str = Field(
        default="datahub", min_length=1, description="user who owns the glossary"
    )

    title: ClassVar[str] = "DataHub YAML"
    ending: ClassVar[str] = ".yml"
    holds: ClassVar[frozenset[str]] = frozenset(
        {
            *("name", "parent", "definition", "owners", "relations", "resources"),
            *("attributes", "status"),
        }
    )
    relation_kinds: ClassVar[frozenset[RelationKind]] = frozenset(_RELATIONS)

    @override
    def keep(self, term: Term) -> Term:
        """Return the term without the property that contains the status."""
        kept = super().keep(term)
        attributes = {k: v for k, v in kept.attributes.items() if k != _STATUS}
        return kept.model_copy(update={"attributes": attributes})

    @override
    def write(self, glossary: Glossary) -> bytes:
        kept = self.keep_glossary(glossary)
        parents = {t.parent[:n] for t in kept.terms for n in range(1, len(t.path))}
        content = {
            "version": "1",
            "source": "DataHub",
            "owners": {"users": [self.owner]},
            "url": "",
            **_level(kept.terms, (), parents),
        }
        text = f"# {glossary.name}\n" + yaml.safe_dump(
            content, allow_unicode=True, sort_keys=False, width=88
        )
        return text.encode()

    @override
    def read(self, content: bytes) -> Glossary:
        terms = [term for _, term in _terms(_parse(content))]
        return Glossary(name=_name(content), terms=tuple(terms))

    @override
    def check(self, content: bytes) -> list[Problem]:
        rules = TargetRules(not_in_name=(".",))
        columns = {
            "parent": "nodes",
            "relations": "inherits, contains, related_terms",
        }
        file = _parse(content)
        terms = sorted((term for _, term in _terms(file)), key=lambda term: term.path)
        lacking = _without_description(file)
        missing = [
            _missing_description(entry, term)
            for entry, term in enumerate(terms)
            if term.path in lacking
        ]
        return [*missing, *TermChecker(rules, columns).problems(terms)]


def _without_description(file: _File) -> set[Path]:
    """Return the paths of nodes and terms that lack the key, even without a text."""
    whole = _Node(name="", nodes=file.nodes, terms=file.terms)
    parts = [((*above, part.name), part) for above, part in _walk(whole, ())]
    nodes = list(_nodes(whole, ()))
    return {
        path
        for path, part in [*parts, *nodes]
        if "description" not in part.model_fields_set
    }


def _missing_description(entry: int, term: Term) -> Problem:
    return Problem(
        is_error=True,
        row=entry + 1,
        entry=entry,
        column="description",
        value=shorten(term.name),
        rule="has no description",
        cure='add one, which may be empty: description: ""',
    )


def _level(terms: Sequence[Term], above: Path, parents: set[Path]) -> dict[str, Any]:
    """Return the nodes and terms directly below a path, without empty lists."""
    here = [term for term in terms if term.parent == above]
    described = {term.path: term.definition for term in here}
    nodes = [
        {
            "name": path[-1],
            "description": described.get(path, ""),
            **_level(terms, path, parents),
        }
        for path in sorted(parents)
        if path[:-1] == above
    ]
    level = {"nodes": nodes, "terms": [_content(term) for term in here]}
    return {name: parts for name, parts in level.items() if parts}


def _content(term: Term) -> dict[str, Any]:
    relations: dict[str, list[str]] = {}
    for one in term.relations:
        relations.setdefault(_RELATIONS[one.kind], []).append(".".join(one.target))
    content: dict[str, Any] = {
        "name": term.name,
        "description": term.definition,
        "term_source": "INTERNAL",
        "owners": {"users": list(term.owners)} if term.owners else {},
        **relations,
        "knowledge_links": [
            {"label": one.label, "url": one.url} for one in term.resources
        ],
        "custom_properties": {**term.attributes, _STATUS: term.status.value},
    }
    required = {"name", "description"}
    return {key: value for key, value in content.items() if value or key in required}


def _parse(content: bytes) -> _File:
    if len(content) > _LONGEST:
        raise ExchangeError("the file is larger than 100 MB", "split it")
    again = "export it again, or see the example of a business glossary in its docs"
    try:
        return _File.model_validate(_load(content.decode("utf-8-sig")))
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ExchangeError(f"the file is not YAML: {reason}", again) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(map(str, first["loc"])) or "the file"
        raise ExchangeError(
            f"the file is not a business glossary: {where}: {first['msg']}", again
        ) from error


class _Loader(yaml.SafeLoader):
    """Loads all scalars as text (`no`, 12), and refuses aliases."""

    @override
    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse an alias: a few of them can expand to gigabytes."""
        if self.check_event(yaml.AliasEvent):
            msg = "it has an alias (*), which is not allowed"
            raise yaml.YAMLError(msg)
        return super().compose_node(parent, index)


_Loader.yaml_implicit_resolvers = {}


def _load(text: str) -> Any:
    loader = _Loader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _name(content: bytes) -> str:
    """Return the name in the first line of a file that this format wrote."""
    first = content.decode("utf-8-sig").partition("\n")[0]
    return first[1:].strip() if first.startswith("#") else ""


def _terms(file: _File) -> Iterator[tuple[Path, Term]]:
    below = _Node(name="", nodes=file.nodes, terms=file.terms)
    parts = list(_walk(below, ()))
    known = {(*above, part.name) for above, part in parts}
    for above, part in parts:
        yield above, _term(part, above)
    for path, node in _nodes(below, ()):
        if path not in known:  # a node without a term of its own becomes a term
            yield (
                path[:-1],
                Term(
                    name=node.name,
                    parent=path[:-1],
                    definition=node.description,
                    resources=tuple(_links(node)),
                ),
            )


def _walk(node: _Node, path: Path) -> Iterator[tuple[Path, _TermPart]]:
    for term in node.terms:
        yield path, term
    for below in node.nodes:
        yield from _walk(below, (*path, below.name))


def _nodes(node: _Node, path: Path) -> Iterator[tuple[Path, _Node]]:
    for below in node.nodes:
        yield (*path, below.name), below
        yield from _nodes(below, (*path, below.name))


def _term(part: _TermPart, above: Path) -> Term:
    properties = {key: str(value) for key, value in part.custom_properties.items()}
    status = properties.pop(_STATUS, "")
    fields: dict[str, Any] = {
        "status": status if status in list(TermStatus) else TermStatus.PENDING,
        "attributes": properties,
        "owners": tuple(one for names in part.owners.values() for one in names),
        "relations": tuple(
            TermRelation(kind=kind, target=tuple(name.split(".")))
            for kind, key in _RELATIONS.items()
            for name in getattr(part, key)
        ),
    }
    return Term(
        name=part.name,
        parent=above,
        definition=part.description,
        resources=tuple(_links(part)),
        **fields,
    )


def _links(part: _GlossaryPart) -> Iterator[Resource]:
    for link in part.knowledge_links:
        if link.get("url"):
            yield Resource(label=link.get("label", ""), url=link["url"])

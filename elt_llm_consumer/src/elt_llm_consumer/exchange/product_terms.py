"""Terms from the products that `elt-llm glossary` and `elt-llm catalog` write.

A product has a row per definition, other catalogues have a term per name: rows of the
same name become one term with the definition of the best row. The others are kept as
further definitions, with the evidence of all.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elt_llm_consumer.definitions.terms import clean, fold
from elt_llm_consumer.exchange.glossary_terms import (
    DefinitionKind,
    Glossary,
    RelationKind,
    Term,
    TermEvidence,
    TermRelation,
    TermStatus,
    one_line,
)
from elt_llm_consumer.product import ProductError, check_schema
from elt_llm_core.errors import ExchangeError
from elt_llm_core.results import Support

_ACRONYM_LENGTH = 10  # "NATO", "EMB", "SIPRNET"; longer capitals are shouted words
_STATUSES = [
    TermStatus.APPROVED,
    TermStatus.PENDING,
    TermStatus.PROPOSED_NEW_TAXONOMY,
    TermStatus.NEEDS_CLARIFICATION,
    TermStatus.REOPENED,
    TermStatus.REJECTED,
]
_SUPPORT = [one.value for one in Support]  # best first
# Fields of a glossary row that become attributes of its term, under their own names.
_ROW_ATTRIBUTES = (
    *("mapped_entity", "entity_domain", "fact_sheet_id", "reference"),
    "definition_source",
)
# Fields of a catalogue record without a corresponding field of a term.
_RECORD_ATTRIBUTES = (
    *("source", "fact_sheet_id", "handbook_term", "domain_context"),
    *("governance_rules", "business_rules", "lifecycle_states"),
    *("data_classification", "regulatory_context", "associated_agreements"),
    *("inference_confidence", "inference_reasoning", "alternative_domain"),
)
_EMPTY = {
    "",
    "No description in the inventory.",
    "No description: the model has no inventory.",
}


def read_product(path: Path, kind: str) -> Any:
    """Return the content of a product's JSON file.

    Args:
        path: The file.
        kind: `glossary` or `catalog`.

    Raises:
        ExchangeError: If the file does not exist or is not such a product.
    """
    again = f"run `elt-llm {kind}` with its collections"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ExchangeError(f"there is no {kind} at {path}", again) from error
    except (OSError, ValueError) as error:
        raise ExchangeError(f"{path} is no {kind}: {error}", again) from error
    try:
        return check_schema(content, kind)
    except ProductError as error:
        raise ExchangeError(f"{path} is no {kind}: {error.message}", again) from error


def glossary_of_rows(rows: Iterable[Mapping[str, Any]], name: str) -> Glossary:
    """Return the terms of a glossary product.

    Args:
        rows: Its rows; they may repeat a term.
        name: The name of the glossary.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in map(_as_edited, rows):
        groups.setdefault(fold(one_line(row["term"])), []).append(row)
    paths = {key: (min(group, key=_rank)["term"],) for key, group in groups.items()}
    terms = tuple(_term_of_rows(group, paths) for group in groups.values())
    return Glossary(name=name, terms=terms)


def _as_edited(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the row with edited texts in place of the generated ones.

    `quote` keeps the words of the document as evidence.
    """
    edited: dict[str, Any] = dict(row["edited"])
    if "synonyms" in edited:
        edited["synonyms"] = [part.strip() for part in edited["synonyms"].split(";")]
    if "definition" in edited:
        edited["resolved_definition"] = ""
    return {**row, **edited, "quote": row["definition"]}


def _relations(
    rows: Sequence[Mapping[str, Any]], paths: Mapping[str, tuple[str, ...]]
) -> Iterator[TermRelation]:
    """Return the relations of a term to others of the glossary."""
    own = fold(one_line(rows[0]["term"]))
    for kind in (RelationKind.BROADER, RelationKind.NARROWER, RelationKind.RELATED):
        names = {fold(one_line(name)) for row in rows for name in row.get(kind, ())}
        for name in sorted(names & paths.keys() - {own}):
            yield TermRelation(kind=kind, target=paths[name])


def _term_of_rows(
    rows: Sequence[Mapping[str, Any]], paths: Mapping[str, tuple[str, ...]]
) -> Term:
    ranked = sorted(rows, key=_rank)
    best = ranked[0]
    # Line breaks of a page are not part of a definition; its quote keeps them.
    texts = [clean(row["resolved_definition"] or row["definition"]) for row in ranked]
    names = [name for row in ranked for name in row["synonyms"]]
    acronyms = {name for name in names if _is_acronym(name)}
    return Term(
        name=best["term"],
        definition=texts[0],
        definition_kind=_kind(best),
        other_definitions=tuple(text for text in texts[1:] if text != texts[0]),
        synonyms=tuple(name for name in names if name not in acronyms),
        acronyms=tuple(acronyms),
        status=TermStatus(best["status"]),
        relations=tuple(_relations(ranked, paths)),
        note="\n".join(row["review_notes"] for row in ranked if row["review_notes"]),
        attributes={name: best[name] for name in _ROW_ATTRIBUTES},
        evidence=tuple(_evidence(row, row["quote"]) for row in ranked),
    )


def _kind(row: Mapping[str, Any]) -> DefinitionKind:
    """Return QUOTED, unless a person wrote the definition."""
    is_edited = "definition" in row["edited"]
    return DefinitionKind.WRITTEN if is_edited else DefinitionKind.QUOTED


def _rank(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Sort key: approved rows, then the best proven, then document order."""
    return (
        _STATUSES.index(TermStatus(row["status"])),
        _SUPPORT.index(row["quote_support"]),
        row["document"],
        row["start"],
    )


def _is_acronym(name: str) -> bool:
    capitals = sum(character.isupper() for character in name)
    return capitals > 1 and len(name) <= _ACRONYM_LENGTH and name.isupper()


def _evidence(row: Mapping[str, Any], quote: str) -> TermEvidence:
    return TermEvidence(
        quote=quote,
        document=row["document"],
        document_id=row.get("document_id", ""),
        collection=row.get("collection", ""),
        section=row["section"],
        page=row["page"],
        start=row["start"],
        end=row["end"],
        support=row.get("quote_support") or row.get("support", ""),
        boxes=row.get("boxes", ()),
    )


def glossary_of_catalog(catalog: Mapping[str, Any], name: str) -> Glossary:
    """Return the terms of a catalogue: domains, subtypes below them, then entities.

    Args:
        catalog: Domain to its subtypes, entities and terms of the handbook.
        name: The name of the glossary.
    """
    terms = list(_catalog_terms(catalog))
    paths = {term.name.casefold(): term.path for term in terms}
    unique = {term.path: term for term in reversed(terms)}
    return Glossary(
        name=name,
        terms=tuple(_with_targets(term, paths) for term in unique.values()),
    )


def _catalog_terms(catalog: Mapping[str, Any]) -> Iterator[Term]:
    for domain, content in catalog.items():
        yield _group(domain, (), content)
        for subtype, below in content["subtypes"].items():
            yield _group(subtype, (domain,), below)
            for record in below["entities"]:
                yield _entity(record, (domain, subtype))
        for record in [*content["entities"], *content["handbook_only"]]:
            yield _entity(record, (domain,))


def _group(name: str, parent: tuple[str, ...], content: Mapping[str, Any]) -> Term:
    return Term(
        name=name,
        parent=parent,
        definition=content["description"],
        attributes={"fact_sheet_id": content["fact_sheet_id"]},
    )


def _entity(row: Mapping[str, Any], parent: tuple[str, ...]) -> Term:
    record = {**row, **row["edited"]}
    quoted = record["formal_definition"]
    is_quoted = bool(quoted) and "formal_definition" not in row["edited"]
    described = record["leanix_description"]
    has_description = record["source"] != "HANDBOOK_ONLY" and described not in _EMPTY
    handbook_term = record["handbook_term"] or ""
    is_other_name = fold(handbook_term) != fold(record["entity_name"])
    attributes = {
        name: str(record[name]) for name in _RECORD_ATTRIBUTES if record.get(name)
    }
    # The targets are resolved once all terms are known; the texts stay readable.
    related = "\n".join(sorted(_sentences(record["relationships"])))
    return Term(
        name=record["entity_name"],
        parent=parent,
        definition=quoted or (described if has_description else ""),
        definition_kind=DefinitionKind.QUOTED if is_quoted else DefinitionKind.WRITTEN,
        other_definitions=(described,) if quoted and has_description else (),
        synonyms=(handbook_term,) if is_other_name else (),
        status=TermStatus(record["review_status"]),
        note=record["review_notes"],
        attributes={**attributes, "relationships": related},
        relations=tuple(
            TermRelation(kind=RelationKind.RELATED, target=(one["target_entity"],))
            for one in record["relationships"]
            if one["origin"] != "inherited"
        ),
        evidence=tuple(
            _evidence(one, one["quote"])
            for one in record["evidence"].get("formal_definition", ())
        ),
    )


def _sentences(relationships: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for one in relationships:
        words = [one["relationship_type"], one["cardinality"], one["target_entity"]]
        yield f"{' '.join(filter(None, words))} ({one['provenance']})"


def _with_targets(term: Term, paths: Mapping[str, tuple[str, ...]]) -> Term:
    """Return the term with resolved relations; unresolved ones become attributes."""
    targets = [paths.get(one.target[-1].casefold()) for one in term.relations]
    relations = {
        TermRelation(kind=RelationKind.RELATED, target=path)
        for path in targets
        if path and path != term.path
    }
    fields = {**dict(term), "relations": tuple(relations)}
    return Term(**fields)

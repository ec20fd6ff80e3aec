"""An existing glossary as a baseline, completed by the definitions of documents.

Manually written texts stay. If the documents differ, both definitions are kept and the
term needs clarification; a row that was reviewed here takes precedence over the
baseline. A name that occurs several times in the baseline is not matched.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.exchange.glossary_terms import (
    DefinitionKind,
    Glossary,
    Term,
    TermStatus,
)
from elt_llm_core.errors import ExchangeError
from elt_llm_core.records import Record

_LISTS = (
    *("synonyms", "acronyms", "other_definitions", "examples", "tags", "owners"),
    *("stewards", "experts", "relations", "resources", "evidence"),
)
_REVIEWED = frozenset({TermStatus.APPROVED, TermStatus.REJECTED})


class BaselineFile(Record):
    """The glossary of another catalogue, as `elt-llm import` writes it."""

    format: str = Field(description="the format it was read from")
    source: str = Field(description="name of the file")
    sha256: str = Field(description="of the file")
    glossary: Glossary


class MergedGlossary(Record):
    """A baseline merged with a glossary, and the number of terms by origin."""

    glossary: Glossary
    counts: dict[str, int]
    ambiguous: tuple[str, ...] = Field(
        default=(), description="terms that the baseline has several times"
    )


def read_baseline(path: Path) -> Glossary:
    """Return the glossary of a baseline file.

    Raises:
        ExchangeError: If the file does not exist or is not a baseline.
    """
    again = "create it with `elt-llm import FORMAT FILE`"
    try:
        return BaselineFile.model_validate_json(path.read_bytes()).glossary
    except OSError as error:
        raise ExchangeError(
            f"cannot read the baseline {path}: {error.strerror}", again
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(map(str, first["loc"])) or "the file"
        raise ExchangeError(
            f"{path} is not a baseline: {where}: {first['msg']}", again
        ) from error


def merge_baseline(baseline: Glossary, glossary: Glossary) -> MergedGlossary:
    """Return the baseline, completed by a glossary.

    Args:
        baseline: Terms of an existing catalogue; all of them are kept.
        glossary: Terms of documents, matched by name, ignoring case and plural.
    """
    by_name: dict[str, list[Term]] = {}
    for term in baseline.terms:
        by_name.setdefault(fold(term.name), []).append(term)
    merged = {term.path: term for term in baseline.terms}
    counts = {"merged": 0, "changed": 0, "only_in_baseline": 0, "only_in_documents": 0}
    ambiguous = []
    for term in glossary.terms:
        base = _base(by_name.get(fold(term.name), ()), term)
        if base is not None:
            one = _merge(merged[base.path], term)
            counts["merged"] += 1
            counts["changed"] += one.status is TermStatus.NEEDS_CLARIFICATION
            merged[base.path] = one
            continue
        if fold(term.name) in by_name:
            ambiguous.append(term.name)
        counts["only_in_documents"] += 1
        merged[term.path] = term
    counts["only_in_baseline"] = len(merged) - counts["merged"]
    counts["only_in_baseline"] -= counts["only_in_documents"]
    terms = tuple(merged.values())
    whole = glossary.model_copy(update={"terms": ()})
    return MergedGlossary(
        glossary=Glossary(**{**dict(whole), "terms": terms}),
        counts=counts,
        ambiguous=tuple(ambiguous),
    )


def _base(candidates: Sequence[Term], term: Term) -> Term | None:
    """Return the matching term of the baseline: the only one, or that of its path."""
    if len(candidates) == 1:
        return candidates[0]
    return next((one for one in candidates if one.path == term.path), None)


def _merge(base: Term, term: Term) -> Term:
    lists: Mapping[str, Any] = {
        field: tuple(dict.fromkeys((*getattr(base, field), *getattr(term, field))))
        for field in _LISTS
    }
    reviewed = term.status in _REVIEWED
    differ = bool(base.definition) and _words(base) != _words(term)
    keeps = bool(base.definition) and not reviewed
    first, second = (base, term) if keeps else (term, base)
    others = (*lists["other_definitions"], *([second.definition] if differ else []))
    status = term.status if reviewed else base.status
    if differ and not reviewed:
        status = TermStatus.NEEDS_CLARIFICATION
    fields = {
        **dict(base),
        **lists,
        "synonyms": (*lists["synonyms"], *_other_name(base, term)),
        "definition": first.definition,
        "definition_kind": DefinitionKind(first.definition_kind),
        "other_definitions": tuple(x for x in others if x != first.definition),
        "status": status,
        "note": base.note or term.note,
        "attributes": {**term.attributes, **base.attributes},
    }
    return Term(**fields)


def _words(term: Term) -> str:
    return " ".join(term.definition.casefold().split()).rstrip(".")


def _other_name(base: Term, term: Term) -> tuple[str, ...]:
    """Return the spelling of the documents, if it differs."""
    return () if base.name.casefold() == term.name.casefold() else (term.name,)

"""What the model has and the handbook defines: matched, model only, handbook only."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal

from elt_llm_consumer.entity import Entity
from elt_llm_consumer.matching import Match
from elt_llm_consumer.phrases import fold, normalise
from elt_llm_core.results import Record

NEAR = 0.88
SHORTEST = 5  # characters; shorter names are nearly anything


class Gap(Record):
    """One name on either side. `match` says how it matched, or what else is known."""

    normalized_name: str
    model_name: str
    handbook_name: str
    status: Literal["MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY"]
    match: str


def gaps(
    entities: Sequence[Entity],
    matched: Iterable[tuple[str, Match]],
    mentioned: Iterable[str] = (),
) -> list[Gap]:
    """The gap analysis, by name. `mentioned` are entities whose name is in the text.

    Terms pair with entities by name, alias or synonym; what is left is paired by the
    same words in another order or nearly the same spelling, and said to be so.
    """
    terms: dict[str, tuple[str, Match]] = {}
    for term, match in matched:
        terms.setdefault(fold(term), (term, match))
    pairs = [(term, m.entity, m.rationale) for term, m in terms.values() if m.entity]
    found = [
        _gap(entity.name, term, "MATCHED", said.split(":")[0])
        for term, entity, said in pairs
    ]
    seen = {entity for _, entity, _ in pairs}
    loose = [term for term, match in terms.values() if match.entity is None]
    found += _left(entities, seen, loose, frozenset(mentioned))
    found += [
        _gap("", term, "HANDBOOK_ONLY", "defined, not modelled") for term in loose
    ]
    return sorted(
        found, key=lambda g: (g.normalized_name, g.model_name, g.handbook_name)
    )


def _left(
    entities: Sequence[Entity],
    seen: set[Entity],
    loose: list[str],
    mentioned: frozenset[str],
) -> list[Gap]:
    """The entities no term names; a term that nearly names one leaves `loose`."""
    shared = {fold(e.name) for e in seen}
    found = []
    for entity in entities:
        if entity in seen:
            continue
        near = _nearest(entity.name, loose)
        if fold(entity.name) in shared:
            said = "same name in another domain"
            found.append(_gap(entity.name, "", "MATCHED", said))
        elif near:
            loose.remove(near[0])
            found.append(_gap(entity.name, near[0], "MATCHED", near[1]))
        else:
            known = entity.name in mentioned
            said = "mentioned, not defined" if known else "not mentioned"
            found.append(_gap(entity.name, "", "MODEL_ONLY", said))
    return found


def _gap(
    model: str,
    handbook: str,
    status: Literal["MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY"],
    match: str,
) -> Gap:
    return Gap(
        normalized_name=normalise(model or handbook),
        model_name=model,
        handbook_name=handbook,
        status=status,
        match=match,
    )


def _nearest(name: str, terms: Sequence[str]) -> tuple[str, str] | None:
    """The term with the same words or nearly the same spelling, and how it matched."""
    key = fold(name)
    for term in sorted(terms):
        other = fold(term)
        if len(key.split()) > 1 and sorted(other.split()) == sorted(key.split()):
            return term, "fuzzy match (same words, other order)"
    best = max(
        ((_ratio(key, fold(term)), term) for term in sorted(terms)), default=None
    )
    if best is not None and best[0] >= NEAR:
        return best[1], f"fuzzy match (spelling {best[0]:.2f})"
    return None


def _ratio(left: str, right: str) -> float:
    if min(len(left), len(right)) < SHORTEST:
        return 0.0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.real_quick_ratio() < NEAR or matcher.quick_ratio() < NEAR:
        return 0.0
    return round(matcher.ratio(), 4)

"""Write a glossary in a format and read one, with checks and losses."""

from collections.abc import Collection, Sequence
from typing import Any

from elt_llm_consumer.exchange.glossary_format import GlossaryFormat
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    Path,
    Term,
    join_ends,
)
from elt_llm_core.errors import ExchangeError
from elt_llm_core.product_exports import Loss, Problem
from elt_llm_core.records import Record

_EXAMPLES = 3  # terms named for each loss: enough examples, short on the screen


class WrittenGlossary(Record):
    """The bytes of a glossary in a format, with problems and losses."""

    content: bytes
    glossary: Glossary
    problems: tuple[Problem, ...] = ()
    losses: tuple[Loss, ...] = ()
    left_out: tuple[str, ...] = ()


def read_glossary(chosen: GlossaryFormat, content: bytes) -> Glossary:
    """Return the terms of a file that passes `check`.

    Raises:
        ExchangeError: If the file is not of the format, or holds an impossible value.
    """
    try:
        return chosen.read(content)
    except ValueError as error:  # also pydantic's, for cases that no check covers
        reason = " ".join(str(error).split())[:200]
        raise ExchangeError(
            f"the file is not a {chosen.title} file: {reason}",
            "export it again from its source",
        ) from error


def write_glossary(
    chosen: GlossaryFormat, glossary: Glossary, leave_out: bool = False
) -> WrittenGlossary:
    """Write a glossary, check the file and read it back to see what it lacks.

    Args:
        chosen: The format with its options.
        glossary: The terms.
        leave_out: Leave out terms that the target would refuse, and those below them
            if the format has parents.

    Returns:
        The bytes with their problems and losses; `glossary` is what was written.
    """
    left_out: list[str] = []
    while True:
        content = chosen.write(glossary)
        problems = chosen.check(content)
        refused = _refused_paths(chosen, glossary, problems)
        if not (leave_out and refused):
            break
        left_out += [" > ".join(path) for path in refused]
        has_parents = "parent" in chosen.holds
        wanted = {
            term.path
            for term in glossary.terms
            if not (
                _is_below(term.path, refused) if has_parents else term.path in refused
            )
        }
        glossary = restrict(glossary, wanted)
    losses = _losses(chosen, glossary, read_glossary(chosen, content))
    return WrittenGlossary(
        content=content,
        glossary=glossary,
        problems=tuple(problems),
        losses=tuple(losses),
        left_out=tuple(left_out),
    )


def restrict(glossary: Glossary, wanted: Collection[Path]) -> Glossary:
    """Return some terms of a glossary, without relations to the others.

    Args:
        glossary: The terms.
        wanted: The paths of those to keep.
    """
    dropped = {term.path for term in glossary.terms} - set(wanted)
    terms = tuple(
        term.model_copy(
            update={
                "relations": tuple(
                    one for one in term.relations if one.target not in dropped
                )
            }
        )
        for term in glossary.terms
        if term.path not in dropped
    )
    return glossary.model_copy(update={"terms": terms})


def _refused_paths(
    chosen: GlossaryFormat, glossary: Glossary, problems: Sequence[Problem]
) -> list[Path]:
    """Return the paths of terms with an error; entries are counted as written."""
    order = sorted(glossary.terms, key=lambda term: chosen.keep(term).path)
    entries = {p.entry for p in problems if p.is_error and p.entry is not None}
    return [order[entry].path for entry in sorted(entries)]


def _is_below(path: Path, tops: Sequence[Path]) -> bool:
    return any(path[: len(top)] == top for top in tops)


def _losses(
    chosen: GlossaryFormat, glossary: Glossary, written: Glossary
) -> list[Loss]:
    """Return fields that differ between a glossary and its written file."""
    by_path = {term.path: term for term in written.terms}
    glossary = join_ends(glossary, chosen.two_way)
    losers: dict[str, list[str]] = {}
    for term in glossary.terms:
        other = by_path.get(chosen.keep(term).path)
        for field in _differences(term, other):
            losers.setdefault(field, []).append(term.name)
    return [
        Loss(field=field, terms=len(names), examples=tuple(names[:_EXAMPLES]))
        for field, names in sorted(losers.items())
    ]


def _differences(term: Term, other: Term | None) -> list[str]:
    if other is None:
        return ["term"]
    one, two = _plain(term), _plain(other)
    return [field for field in one if one[field] != two[field]]


def _plain(term: Term) -> dict[str, Any]:
    return term.model_dump(mode="json")

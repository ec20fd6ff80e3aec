"""Results as text for people: styled on a terminal, plain in a pipe."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from elt_llm_core.cli.terminal import Styled, harmless, in_line
from elt_llm_core.results import (
    Citation,
    Degradation,
    QueryResult,
    SearchResult,
    Source,
    Support,
)

SHOWN_CHARACTERS = 240
_SUPPORT_COLOUR = {
    Support.VERIFIED: "green",
    Support.NORMALISED: "green",
    Support.FUZZY: "yellow",
}


def answer_text(result: QueryResult, *, colour: bool = False) -> str:
    """The answer, its citations, what was removed, what was missing."""
    style = partial(_styled, colour=colour)
    lines = [harmless(result.answer)]
    if result.citations:
        lines += ["", style("Citations", bold=True)]
        lines += [line for c in result.citations for line in _citation(c, colour)]
    if result.removed:
        lines += ["", style("Removed", bold=True)]
        told = [harmless(f"  {r.text} ({r.reason})") for r in result.removed]
        lines += [style(line, dim=True) for line in told]
    lines += _degradations(result.degradations, colour)
    return _joined(lines)


def sources_text(result: SearchResult, *, colour: bool = False) -> str:
    """The sources in rank order."""
    lines = [line for s in result.sources for line in _source(s, colour)]
    lines = lines or ["Nothing was found."]
    return _joined([*lines, *_degradations(result.degradations, colour)])


def _citation(citation: Citation, colour: bool) -> list[str]:
    style = partial(_styled, colour=colour)
    label = style(f"[{citation.label}]", bold=True)
    place = _place(citation.document, citation.page, citation.section)
    support = citation.support
    told = style(support.value, fg=_SUPPORT_COLOUR.get(support, "red"))
    if citation.reading_order:
        told += style(f", reading order {citation.reading_order}", fg="yellow")
    quote = style(f'     "{_short(citation.quote)}"', italic=True)
    return [f"{label} {place}  {told}", quote]


def _source(source: Source, colour: bool) -> list[str]:
    style = partial(_styled, colour=colour)
    place = _place(source.document, source.span.page, source.section)
    label = style(f"[{source.label}]", bold=True)
    score = style(f"{source.score:.3f}", dim=True)
    head = f"{label} {score}  {source.collection}: {place}"
    if source.reading_order:
        head += style(f"  reading order {source.reading_order}", fg="yellow")
    return [head, f"     {_short(source.text)}"]


def _degradations(degradations: Sequence[Degradation], colour: bool) -> list[str]:
    if not degradations:
        return []
    style = partial(_styled, colour=colour)
    told = [
        f"  {d.collection + ': ' if d.collection else ''}{in_line(d.detail)}"
        for d in degradations
    ]
    head = style("Limits of this answer", bold=True)
    return ["", head, *(style(line, fg="yellow") for line in told)]


def _place(document: str, page: int | None, section: str) -> str:
    parts = (document, f"p. {page}" if page is not None else "", section)
    return in_line(", ".join(part for part in parts if part))


def _short(text: str) -> str:
    plain = in_line(" ".join(text.split()))
    if len(plain) <= SHOWN_CHARACTERS:
        return plain
    return plain[: SHOWN_CHARACTERS - 3].rstrip() + "..."


def _styled(text: str, *, colour: bool, **looks: Any) -> str:
    return click.style(text, **looks) if colour else text


def _joined(lines: Sequence[str]) -> str:
    return Styled("\n".join(lines).rstrip())

"""Results as text for people: styled on a terminal, plain in a pipe."""

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.text import Text

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
_STYLE = {
    Support.VERIFIED: "green",
    Support.NORMALISED: "green",
    Support.FUZZY: "yellow",
}


def answer_text(result: QueryResult, *, colour: bool = False) -> str:
    """The answer, its citations, what was removed, what was missing."""
    lines = [Text(harmless(result.answer))]
    if result.citations:
        lines += [Text(), Text("Citations", style="bold")]
        lines += [line for c in result.citations for line in _citation(c)]
    if result.removed:
        lines += [Text(), Text("Removed", style="bold")]
        told = [harmless(f"  {r.text} ({r.reason})") for r in result.removed]
        lines += [Text(line, style="dim") for line in told]
    lines += _degradations(result.degradations)
    return _rendered(lines, colour=colour)


def sources_text(result: SearchResult, *, colour: bool = False) -> str:
    """The sources in rank order."""
    lines = [line for s in result.sources for line in _source(s)]
    if not lines:
        lines = [Text("Nothing was found.")]
    return _rendered([*lines, *_degradations(result.degradations)], colour=colour)


def _citation(citation: Citation) -> list[Text]:
    style = _STYLE.get(citation.support, "red")
    place = _place(citation.document, citation.page, citation.section)
    head = Text.assemble(
        (f"[{citation.label}] ", "bold"),
        place,
        "  ",
        (citation.support.value, style),
    )
    return [head, Text(f'     "{_short(citation.quote)}"', style="italic")]


def _source(source: Source) -> list[Text]:
    page = source.span.page
    place = _place(source.document, page, source.section)
    head = Text.assemble(
        (f"[{source.label}] ", "bold"),
        (f"{source.score:.3f}  ", "dim"),
        f"{source.collection}: {place}",
    )
    return [head, Text(f"     {_short(source.text)}")]


def _degradations(degradations: Sequence[Degradation]) -> list[Text]:
    if not degradations:
        return []
    said = [
        Text(
            f"  {d.collection + ': ' if d.collection else ''}{in_line(d.detail)}",
            style="yellow",
        )
        for d in degradations
    ]
    return [Text(), Text("Limits of this answer", style="bold"), *said]


def _place(document: str, page: int | None, section: str) -> str:
    parts = (document, f"p. {page}" if page is not None else "", section)
    return in_line(", ".join(part for part in parts if part))


def _short(text: str) -> str:
    plain = in_line(" ".join(text.split()))
    if len(plain) <= SHOWN_CHARACTERS:
        return plain
    return plain[: SHOWN_CHARACTERS - 3].rstrip() + "..."


def _rendered(lines: Sequence[Text], *, colour: bool) -> str:
    out = StringIO()
    console = Console(file=out, force_terminal=colour, no_color=not colour)
    for line in lines:
        console.print(line, soft_wrap=True)
    return Styled(out.getvalue().rstrip())

"""Results as text for people: styled on a terminal, plain in a pipe."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.terminal import (
    Styled,
    escape_controls,
    escape_line,
    json_text,
    one_line,
)
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.results import (
    Citation,
    Conflict,
    Degradation,
    DegradationKind,
    LinkedFigure,
    QueryResult,
    Scalar,
    SearchResult,
    Source,
    Support,
)
from elt_llm_core.store import Store
from elt_llm_core.store.database.filters import CONTAINS
from elt_llm_core.store.maintenance.health import require_data
from elt_llm_core.strategy import Models
from elt_llm_core.suspicion import describe
from elt_llm_query.query import query_collections, search_collections

if TYPE_CHECKING:
    from elt_llm_query.evidence import EvidenceReport

SHOWN_CHARACTERS = 240  # of a source: three lines of 80 columns
NEAREST_CHARACTERS = 640  # what is read instead of an answer: eight such lines
# `journal=Nature`, `date >= 2021`, `authors~Roe`, `kind in prose, table_row`
_FILTER = re.compile(
    r"(?P<name>\S+) in (?P<listed>[^=<>!~]+)"
    r"|(?P<key>[^\s=<>!~][^=<>!~]*?)\s*(?P<operator>==|!=|>=|<=|[=<>~])(?P<value>.+)",
    re.DOTALL,
)
_OPERATORS = {"=": "==", "in": "==", "~": CONTAINS}
_STATE_COLOUR = {
    "unchanged": "green",
    "in_place": "green",
    "changed": "yellow",
    "moved": "yellow",
    "gone": "red",
}
_SUPPORT_COLOUR = {
    Support.VERIFIED: "green",
    Support.NORMALISED: "green",
    Support.FUZZY: "yellow",
    Support.SUPPORTED: "yellow",
    Support.GENERATED: "yellow",
}


def answer_text(result: QueryResult, *, colour: bool = False) -> str:
    """Return the answer, its citations or nearest passages, and removed statements."""
    style = partial(_style, colour=colour)
    lines = [escape_controls(result.answer)]
    if result.citations:
        lines += ["", style("Citations", bold=True)]
        lines += [line for c in result.citations for line in _citation(c, colour)]
    lines += other_quotes(result, colour=colour)
    lines += _degradations(result.degradations, colour)
    return _join(lines)


def other_quotes(result: QueryResult, *, colour: bool = False) -> list[str]:
    """Return lines with what is no part of the answer.

    Args:
        result: The answer.
        colour: Whether a terminal shows the lines.

    Returns:
        The sources that disagree, the nearest passages of a refusal and the removed
        statements, each below its heading.
    """
    style = partial(_style, colour=colour)
    lines = []
    if result.conflicts:
        lines += ["", style("The sources disagree", bold=True)]
        lines += [line for c in result.conflicts for line in _conflict(c, colour)]
    if result.nearest:
        lines += ["", style("Nearest passages, not an answer", bold=True)]
        lines += [line for c in result.nearest for line in _nearest(c, colour)]
    if result.removed:
        lines += ["", style("Removed", bold=True)]
        removed = [escape_controls(f"  {r.text} ({r.reason})") for r in result.removed]
        lines += [style(line, dim=True) for line in removed]
    return lines


def sources_text(result: SearchResult, *, colour: bool = False) -> str:
    """Return the sources in rank order."""
    lines = [line for s in result.sources for line in _source(s, colour)]
    lines = lines or ["Nothing was found."]
    return _join([*lines, *_degradations(result.degradations, colour)])


def report_text(report: "EvidenceReport", *, colour: bool = False) -> str:
    """Return the state of each document and quote of an evidence file."""
    style = partial(_style, colour=colour)
    lines = [style(escape_line(report.question), bold=True), ""]
    lines += [
        f"{style(d.state.value, fg=_STATE_COLOUR[d.state.value])}  "
        f"{escape_line(d.collection)}: {escape_line(d.name)}"
        for d in report.documents
    ]
    for quote in report.quotes:
        state = style(quote.state.value, fg=_STATE_COLOUR[quote.state.value])
        place = _place(quote.document, quote.page, "")
        lines += [
            "",
            f"[{escape_line(quote.label)}] {place}  {state}",
            f'     "{_short(quote.quote)}"',
        ]
    ending = "Every quote is still present." if report.proven else "A quote is missing."
    return _join([*lines, "", ending if report.quotes else "The answer cites nothing."])


def _citation(citation: Citation, colour: bool) -> list[str]:
    style = partial(_style, colour=colour)
    label = style(f"[{citation.label}]", bold=True)
    place = _place(citation.document, citation.page, citation.section)
    support = citation.support
    note = style(support.value, fg=_SUPPORT_COLOUR.get(support, "red"))
    if support is Support.GENERATED:
        note += " (a model's description of a picture)"
    if citation.reading_order:
        note += style(f", reading order {citation.reading_order}", fg="yellow")
    if citation.suspicious:
        note += style(f", suspicious: {describe(citation.suspicious)}", fg="red")
    quote = style(f'     "{_short(citation.quote)}"', italic=True)
    return [
        f"{label} {place}  {note}",
        *_attribute_lines(citation.attributes, style),
        quote,
    ]


def _conflict(conflict: Conflict, colour: bool) -> list[str]:
    reason = _style(f"  {escape_line(conflict.reason)}", colour=colour, fg="yellow")
    return [reason, *(line for q in conflict.quotes for line in _nearest(q, colour))]


def _nearest(quoted: Citation, colour: bool) -> list[str]:
    style = partial(_style, colour=colour)
    place = _place(quoted.document, quoted.page, quoted.section)
    label = style(f"[{quoted.label}]", bold=True)
    note = ""
    if quoted.suspicious:
        note = style(f"  suspicious: {describe(quoted.suspicious)}", fg="red")
    words = _whole_sentences(quoted.reading or quoted.quote)
    quote = style(f'     "{words}"', italic=True)
    return [f"{label} {place}{note}", quote]


def _source(source: Source, colour: bool) -> list[str]:
    style = partial(_style, colour=colour)
    place = _place(source.document, source.span.page, source.section)
    label = style(f"[{source.label}]", bold=True)
    score = style(f"{source.score:.3f}", dim=True)
    head = f"{label} {score}  {source.collection}: {place}"
    if source.reading_order:
        head += style(f"  reading order {source.reading_order}", fg="yellow")
    if source.generated:
        head += style("  a model's description of a picture", fg="yellow")
    if source.suspicious:
        head += style(f"  suspicious: {describe(source.suspicious)}", fg="red")
    return [
        head,
        *_attribute_lines(source.attributes, style),
        f"     {_short(source.text)}",
        *(style(f"     see Figure {_figure(one)}", dim=True) for one in source.figures),
    ]


def _figure(figure: LinkedFigure) -> str:
    page = f" on page {figure.page}" if figure.page else ""
    return f"{escape_line(figure.number)}{page}: {_short(figure.text)}"


def _attribute_lines(
    attributes: Mapping[str, Scalar], style: Callable[..., str]
) -> list[str]:
    """Return a line of the document's attributes, if it has any."""
    shown = ", ".join(f"{key}: {value}" for key, value in sorted(attributes.items()))
    return [style(f"     {_short(shown)}", dim=True)] if shown else []


def _degradations(degradations: Sequence[Degradation], colour: bool) -> list[str]:
    if not degradations:
        return []
    style = partial(_style, colour=colour)
    notes = [
        f"  {d.collection + ': ' if d.collection else ''}{escape_line(d.detail)}"
        for d in degradations
    ]
    head = style("Limits of this answer", bold=True)
    return ["", head, *(style(line, fg="yellow") for line in notes)]


def _place(document: str, page: int | None, section: str) -> str:
    parts = (document, f"p. {page}" if page is not None else "", section)
    return escape_line(", ".join(part for part in parts if part))


def _short(text: str) -> str:
    plain = one_line(text)
    if len(plain) <= SHOWN_CHARACTERS:
        return plain
    return plain[: SHOWN_CHARACTERS - 3].rstrip() + "..."


def _whole_sentences(text: str) -> str:
    """The text on one line; of a long one the sentences that fit, or else its words."""
    plain = one_line(text)
    if len(plain) <= NEAREST_CHARACTERS:
        return plain
    begun = plain[:NEAREST_CHARACTERS]
    end = max(begun.rfind(f"{mark} ") for mark in ".!?") + 1
    return f"{begun[: end or begun.rfind(' ')].rstrip()} ..."


def _style(text: str, *, colour: bool, **looks: Any) -> str:
    return click.style(text, **looks) if colour else text


def _join(lines: Sequence[str]) -> str:
    return Styled("\n".join(lines).rstrip())


@dataclass(frozen=True)
class CommandQuestion:
    """A question as given on the command line."""

    command: str
    question: str
    collections: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    top_k: int | None = None
    as_json: bool = False
    colour: bool = False
    declined: str = ""  # why a running server did not answer

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "CommandQuestion":
        """Return the question from JSON, with lists as tuples."""
        lists = {name: tuple(plain[name]) for name in ("collections", "filters")}
        return cls(**{**plain, **lists})


def print_answer(
    asked: CommandQuestion,
    *,
    store: Store,
    config: RagConfig,
    models: Callable[[], Models],
    evidence: Path | None = None,
) -> str:
    """Return the text that the command prints.

    Args:
        asked: The question with its options.
        store: The data root.
        config: The configuration in force.
        models: Builds the models; called after the collections were found.
        evidence: The evidence file to write, or None.

    Returns:
        The text for people, or one JSON object.

    Raises:
        EltLlmError: See `query_collections` and `search_collections`.
    """
    names = names_of(store, asked.collections)
    where = where_of(asked.filters)
    if asked.command == "search":
        hits = search_collections(
            names,
            asked.question,
            store=store,
            config=config,
            models=models(),
            k=asked.top_k,
            where=where,
            named=bool(asked.collections),
        )
        return _show(hits, asked, lambda: sources_text(hits, colour=asked.colour))
    result = query_collections(
        names,
        asked.question,
        store=store,
        config=config,
        models=models(),
        where=where,
        named=bool(asked.collections),
    )
    if evidence is not None:
        from elt_llm_query.evidence import (  # noqa: PLC0415 - PDFium
            build_evidence,
            write_evidence,
        )

        write_evidence(evidence, build_evidence(result, store, config), store)
    return _show(result, asked, lambda: answer_text(result, colour=asked.colour))


def where_of(given: tuple[str, ...]) -> dict[str, dict[str, list[str]]]:
    """Return filters by key and operator, as given.

    Raises UsageError for a filter without key, operator and value.
    """
    where: dict[str, dict[str, list[str]]] = {}
    for one in given:
        match = _FILTER.fullmatch(one)
        if match is None:
            raise UsageError(
                f"the filter {one!r} has no key or value",
                "write --where KEY=VALUE (or !=, <, <=, >, >=, ~ for a "
                "substring, 'KEY in A, B')",
            )
        listed = match["listed"]
        values = listed.split(",") if listed else [match["value"]]
        operator = _OPERATORS.get(match["operator"] or "in", match["operator"])
        where.setdefault(match["key"] or match["name"], {}).setdefault(
            operator, []
        ).extend(value.strip() for value in values)
    return where


def names_of(store: Store, given: tuple[str, ...]) -> list[str]:
    """Return the given collections, or all. Raises NoDataError, or UsageError."""
    names = list(given) or [card.name for card in store.collections()]
    if not names:
        require_data(store.data_dir)
        raise UsageError(
            "there are no collections yet",
            "add documents first: elt-llm ingest PATH --collection NAME",
        )
    return names


def _show(
    result: QueryResult | SearchResult, asked: CommandQuestion, human: Callable[[], str]
) -> str:
    if not asked.as_json:
        return escape_controls(human())
    notes = result.degradations
    if asked.declined:
        kind = DegradationKind.SERVER_DECLINED
        notes = (*notes, Degradation(kind=kind, detail=asked.declined))
    plain = result.model_copy(update={"degradations": notes}).model_dump(mode="json")
    return json_text(plain)

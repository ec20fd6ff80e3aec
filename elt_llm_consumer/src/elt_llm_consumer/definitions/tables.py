"""Definitions in tables: a term cell and a meaning cell."""

from collections.abc import Iterator, Sequence

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.candidate_terms import (
    cleaned,
    is_short_form,
    plausible,
    split_paren,
)
from elt_llm_consumer.definitions.paragraphs import is_defining
from elt_llm_consumer.definitions.records import (
    Definition,
    DefinitionSource,
    joined,
    trimmed,
    verbatim,
    without_stop,
)
from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.records import Record

_PAIR = 2
_LONGEST_TERM, _LONGEST_HEADER, _MOST_WORDS = 120, 30, 14
_BETWEEN = frozenset({BlockKind.FURNITURE, BlockKind.TABLE_ROW})


class _Row(Record):
    term: str
    meaning: tuple[tuple[int, int], ...]
    block: Block


def in_tables(text: str, blocks: Sequence[Block]) -> list[Definition]:
    """Definitions in table rows; a row with an empty term cell goes on from before."""
    found: list[Definition] = []
    for row in _rows(text, blocks):
        spans = joined(
            text, [_meaning(text, span, n) for n, span in enumerate(row.meaning)]
        )
        if spans:
            start, end = spans[-1]
            last = (start, start + len(without_stop(text[start:end])))
            found.append(_made(text, row, (*spans[:-1], last)))
    return found


def _rows(text: str, blocks: Sequence[Block]) -> Iterator[_Row]:
    held: _Row | None = None
    for block in blocks:
        pair = _pair(text, block) if block.kind is BlockKind.TABLE_ROW else None
        if held is not None and (block.kind not in _BETWEEN):
            yield held
            held = None
        if pair is None or _is_header(text, block):
            continue
        term, meaning = pair
        said = cleaned(text[term.start : term.end])
        span = trimmed(text, meaning.start, meaning.end)
        if not said and held is not None:
            held = held.model_copy(update={"meaning": (*held.meaning, span)})
            continue
        if held is not None:
            yield held
        held = None
        if said and len(said) <= _LONGEST_TERM and _defines(text, block, said, span):
            held = _Row(term=said, meaning=(span,), block=block)
    if held is not None:
        yield held


def _pair(text: str, block: Block) -> tuple[Cell, Cell] | None:
    """The term cell and the meaning cell of a row."""
    cells = block.cells
    if len(cells) < _PAIR:
        return None
    terms = [c for c in cells if patterns.TERM_HEADER.fullmatch(c.header)]
    meanings = [c for c in cells if patterns.MEANING_HEADER.fullmatch(c.header)]
    if terms and meanings:
        return terms[0], meanings[0]
    filled = [c for c in cells if text[c.start : c.end].strip()]
    if len(filled) >= _PAIR:
        return filled[0], filled[1]
    return cells[0], cells[1]


def _is_header(text: str, block: Block) -> bool:
    """A header row, repeated on every page of a long table."""
    said = [cleaned(text[c.start : c.end]).lower() for c in block.cells]
    if said == [cleaned(c.header).lower() for c in block.cells]:
        return True
    return bool(
        len(said) >= _PAIR
        and patterns.TERM_HEADER.fullmatch(said[0])
        and patterns.MEANING_HEADER.fullmatch(said[1])
        and len(said[1]) <= _LONGEST_HEADER
    )


def _defines(text: str, block: Block, term: str, span: tuple[int, int]) -> bool:
    meaning = text[span[0] : span[1]]
    if not meaning or len(term.split()) > _MOST_WORDS:
        return False
    headers = [c.header for c in block.cells]
    named = any(patterns.TERM_HEADER.fullmatch(h) for h in headers)
    explained = any(patterns.MEANING_HEADER.fullmatch(h) for h in headers)
    if named and explained:
        return not _only_described(headers) or is_defining(
            f"{block.section} > {block.table}"
        )
    if patterns.LEADING_CONNECTOR.match(meaning):
        return True
    defining = is_defining(block.section) or is_defining(block.table)
    return (
        defining
        and len(block.cells) == _PAIR
        and plausible(term[:1].upper() + term[1:], defining=True)
        and " " in meaning
    )


def _only_described(headers: Sequence[str]) -> bool:
    """A table of names and descriptions may be a table of anything."""
    said = {header.strip().lower() for header in headers}
    return bool(said & {"name", "names"}) and not any(
        "mean" in h or "defin" in h for h in said
    )


def _meaning(text: str, span: tuple[int, int], number: int) -> tuple[int, int]:
    """The span of a meaning cell without a leading "means"."""
    if number:
        return span
    match = patterns.LEADING_CONNECTOR.match(text[span[0] : span[1]])
    if match is None:
        return span
    start = span[0] + match.end()
    if match["reference"] is not None:
        verb = patterns.THE_MEANING.match(match["reference"])
        start = span[0] + match.start("reference") + (verb.end() if verb else 0)
    return (start, span[1]) if start < span[1] else span


def _made(text: str, row: _Row, spans: tuple[tuple[int, int], ...]) -> Definition:
    term, synonyms = split_paren(row.term)
    definition = verbatim(text, spans)
    source = DefinitionSource.TABLE
    if is_short_form(term, definition):
        source = DefinitionSource.ACRONYM
        synonyms = (*synonyms, cleaned(definition))
    if patterns.A_REFERENCE.match(definition):
        source = DefinitionSource.REFERENCE
    return Definition(
        term=term,
        definition=definition,
        source=source,
        spans=spans,
        page=row.block.page,
        section=row.block.section,
        synonyms=synonyms,
    )

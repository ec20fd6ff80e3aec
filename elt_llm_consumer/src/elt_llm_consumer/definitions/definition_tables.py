"""Definitions in tables: a term cell and a meaning cell in one row."""

from collections.abc import Iterator, Sequence

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    announces_definitions,
    merge_spans,
    text_of_spans,
    trim_span,
)
from elt_llm_consumer.definitions.term_forms import (
    can_be_term,
    clean_term,
    spells_out,
    split_paren,
    strip_full_stop,
)
from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.records import Record

_PAIR = 2
# A longer first cell is a statement; a longer second cell is a meaning, not a header.
_LONGEST_TERM, _LONGEST_HEADER = 120, 30  # characters
_MOST_WORDS = 14  # of a term
_BETWEEN = frozenset({BlockKind.FURNITURE, BlockKind.TABLE_ROW})


class _TermRow(Record):
    term: str
    meaning: tuple[tuple[int, int], ...]
    block: Block


def find_in_tables(text: str, blocks: Sequence[Block]) -> list[Definition]:
    """Return definitions in table rows; an empty term cell continues the row before."""
    definitions: list[Definition] = []
    for row in _term_rows(text, blocks):
        first, *more = row.meaning
        spans = merge_spans(text, [_without_connector(text, first), *more])
        if spans:
            start, end = spans[-1]
            last = (start, start + len(strip_full_stop(text[start:end])))
            definitions.append(_build_row_definition(text, row, (*spans[:-1], last)))
    return definitions


def _term_rows(text: str, blocks: Sequence[Block]) -> Iterator[_TermRow]:
    pending: _TermRow | None = None
    for block in blocks:
        pair = _pair(text, block) if block.kind is BlockKind.TABLE_ROW else None
        if pending is not None and block.kind not in _BETWEEN:
            yield pending
            pending = None
        if pair is None or _is_header(text, block):
            continue
        term, meaning = pair
        name = clean_term(text[term.start : term.end])
        span = trim_span(text, meaning.start, meaning.end)
        if not name and pending is not None:
            pending = pending.model_copy(update={"meaning": (*pending.meaning, span)})
            continue
        if pending is not None:
            yield pending
        pending = None
        if name and len(name) <= _LONGEST_TERM and _defines(text, block, name, span):
            pending = _TermRow(term=name, meaning=(span,), block=block)
    if pending is not None:
        yield pending


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
    cells = [clean_term(text[c.start : c.end]).lower() for c in block.cells]
    if cells == [clean_term(c.header).lower() for c in block.cells]:
        return True
    return bool(
        len(cells) >= _PAIR
        and patterns.TERM_HEADER.fullmatch(cells[0])
        and patterns.MEANING_HEADER.fullmatch(cells[1])
        and len(cells[1]) <= _LONGEST_HEADER
    )


def _defines(text: str, block: Block, term: str, span: tuple[int, int]) -> bool:
    meaning = text[span[0] : span[1]]
    if not meaning or len(term.split()) > _MOST_WORDS:
        return False
    headers = [c.header for c in block.cells]
    named = any(patterns.TERM_HEADER.fullmatch(h) for h in headers)
    explained = any(patterns.MEANING_HEADER.fullmatch(h) for h in headers)
    if named and explained:
        return not _is_any_list(headers) or announces_definitions(
            f"{block.section} > {block.table}"
        )
    if patterns.LEADING_CONNECTOR.match(meaning):
        return True
    defining = announces_definitions(block.section) or announces_definitions(
        block.table
    )
    return (
        defining
        and len(block.cells) == _PAIR
        and can_be_term(term[:1].upper() + term[1:], defining=True)
        and " " in meaning
    )


def _is_any_list(headers: Sequence[str]) -> bool:
    """Names with descriptions may be a list of anything, such as people or files."""
    lowered = {header.strip().lower() for header in headers}
    return bool(lowered & {"name", "names"}) and not any(
        "mean" in h or "defin" in h for h in lowered
    )


def _without_connector(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The span of a meaning cell without a leading "means"."""
    match = patterns.LEADING_CONNECTOR.match(text[span[0] : span[1]])
    if match is None:
        return span
    start = span[0] + match.end()
    if match["reference"] is not None:
        verb = patterns.THE_MEANING.match(match["reference"])
        start = span[0] + match.start("reference") + (verb.end() if verb else 0)
    return (start, span[1]) if start < span[1] else span


def _build_row_definition(
    text: str, row: _TermRow, spans: tuple[tuple[int, int], ...]
) -> Definition:
    term, synonyms = split_paren(row.term)
    words = text_of_spans(text, spans)
    source = DefinitionSource.TABLE
    if spells_out(term, words):
        source = DefinitionSource.ACRONYM
        synonyms = (*synonyms, clean_term(words))
    if patterns.A_REFERENCE.match(words):
        source = DefinitionSource.REFERENCE
    return Definition(
        term=term,
        definition=words,
        source=source,
        spans=spans,
        page=row.block.page,
        section=row.block.section,
        synonyms=synonyms,
    )

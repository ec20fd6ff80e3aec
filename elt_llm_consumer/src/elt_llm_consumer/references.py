"""Definitions that point elsewhere: "has the meaning given in Rule 4.2"."""

import re
from collections.abc import Sequence

from elt_llm_consumer import patterns
from elt_llm_consumer.phrases import PhraseIndex, fold
from elt_llm_consumer.terms import Definition, DefinitionSource, Place
from elt_llm_core.document import Block, BlockKind
from elt_llm_query.text import pieces

_TEXTUAL = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})


def resolve(
    found: Sequence[Definition], text: str, blocks: Sequence[Block]
) -> list[Definition]:
    """The definitions; those that point to a place of this document with its words.

    A reference keeps its own words as definition. It is left out where the document
    defines the term in words elsewhere.
    """
    stated = {
        fold(one.term) for one in found if one.source is not DefinitionSource.REFERENCE
    }
    kept = []
    for one in found:
        if one.source is not DefinitionSource.REFERENCE or one.reference:
            kept.append(one)
        elif fold(one.term) not in stated:
            kept.append(_followed(one, text, blocks))
    return kept


def _followed(one: Definition, text: str, blocks: Sequence[Block]) -> Definition:
    match = patterns.REFERENCE_TARGET.search(one.definition)
    if match is None:
        return one
    named = one.model_copy(update={"reference": match.group()})
    for block in _target(match["number"], match["kind"], text, blocks):
        for piece in pieces(text[block.start : block.end]):
            said = text[block.start + piece.start : block.start + piece.end]
            if PhraseIndex([one.term]).find(said):
                place = Place(
                    text=said,
                    start=block.start + piece.start,
                    end=block.start + piece.end,
                    page=block.page,
                    section=block.section,
                )
                return named.model_copy(update={"resolved": place})
    return named


def _target(number: str, kind: str, text: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks of the rule or section with that number."""
    begins = re.compile(
        rf"\s*(?:\W{{0,3}})(?:{re.escape(kind)}\s+)?\(?{re.escape(number)}(?![\w])(?!\.\d)",
        re.IGNORECASE,
    )
    own = [
        b
        for b in blocks
        if b.kind in _TEXTUAL and begins.match(text[b.start : b.start + 60])
    ]
    under = [
        b
        for b in blocks
        if b.kind in _TEXTUAL
        and any(begins.match(part) for part in b.section.split(" > "))
    ]
    return own + [block for block in under if block not in own]

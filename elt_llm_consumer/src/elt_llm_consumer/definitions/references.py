"""Definitions that point elsewhere: "has the meaning given in Rule 4.2"."""

import re
from collections.abc import Mapping, Sequence

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.candidate_terms import cleaned
from elt_llm_consumer.definitions.names import PhraseIndex, fold
from elt_llm_consumer.definitions.records import Definition, DefinitionSource, Place
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.language.rule_numbers import rule_grammar
from elt_llm_query.analysis.text import pieces

_MOST_ITEMS = 40
_LETTERED = re.compile(r"(?P<rule>.+?)(?P<item>\([a-z0-9]+\))")
_NUMBERED = re.compile(r"\d+(?:\.\d+)+")
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
    named = {fold(one.term): one for one in reversed(found)}
    kept = []
    for one in found:
        if one.source is not DefinitionSource.REFERENCE or one.reference:
            kept.append(one)
        elif fold(one.term) not in stated:
            followed = _followed(one, text, blocks)
            kept.append(_by_name(followed, named, text) or followed)
    return kept


def _by_name(
    one: Definition, named: Mapping[str, Definition], text: str
) -> Definition | None:
    """The reference with the words of the definition it names; None in a circle."""
    target, passed = one, {fold(one.term)}
    while target.source is DefinitionSource.REFERENCE:
        match = patterns.NAMED_TARGET.search(target.definition)
        key = fold(match["term"]) if match else ""
        if not key or key in passed or key not in named:
            return None
        passed.add(key)
        target = named[key]
    if target is one:
        return None
    start, end = target.spans[0]
    place = Place(
        text=text[start:end],
        start=start,
        end=end,
        page=target.page,
        section=target.section,
    )
    return one.model_copy(update={"reference": target.term, "resolved": place})


def _followed(one: Definition, text: str, blocks: Sequence[Block]) -> Definition:
    match = rule_grammar().definition_target.search(one.definition)
    if match is None:
        return one
    elsewhere = patterns.ELSEWHERE.match(one.definition, match.end())
    if elsewhere:
        target = match.group() + elsewhere.group()
        return one.model_copy(update={"reference": cleaned(target)})
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
    found = own + [block for block in under if block not in own]
    return found or _lettered(number, kind, text, blocks)


def _lettered(
    number: str, kind: str, text: str, blocks: Sequence[Block]
) -> list[Block]:
    """The item "(a)" of the rule with the number before it, for "2.3(a)"."""
    match = _LETTERED.fullmatch(number)
    rules = _target(match["rule"], kind, text, blocks) if match else []
    if match is None or not rules:
        return []
    first = blocks.index(rules[0]) + 1
    for block in blocks[first : first + _MOST_ITEMS]:
        said = text[block.start : block.end].lstrip()
        if said.startswith(match["item"]):
            return [block]
        if _NUMBERED.match(said):
            return []
    return []

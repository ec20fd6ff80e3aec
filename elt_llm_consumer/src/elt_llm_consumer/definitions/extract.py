"""Extract the definitions that a document states, each with its exact location.

Shapes: quoted, bold and bare terms with "means", "shall mean", "is defined as" or "has
the meaning given in"; table rows; "Term - text"; definition lists; abbreviations; names
in brackets behind what they abbreviate. The definition is the text after the connector,
or the whole meaning cell of a table, verbatim. No model is used, and the rules contain
no vocabulary of any field.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.bracketed_definitions import find_in_brackets
from elt_llm_consumer.definitions.definition_records import (
    RUNNING,
    SKIPPED,
    Definition,
    DefinitionSource,
    Excerpt,
    TextUnit,
    text_units,
)
from elt_llm_consumer.definitions.definition_sentences import find_in_prose
from elt_llm_consumer.definitions.definition_tables import find_in_tables
from elt_llm_consumer.definitions.term_forms import clean_term
from elt_llm_consumer.definitions.terms import PhraseIndex, fold, fold_all
from elt_llm_core.document import Block
from elt_llm_core.language.acronyms import Acronym, find_acronyms
from elt_llm_core.language.rule_numbers import rule_grammar
from elt_llm_query.analysis.stems import pieces

# Chosen by eye: one character is a mark, and more than two pages are a chapter that
# lost its end.
_SHORTEST, _LONGEST = 2, 6000  # characters
_MOST_ITEMS = 40  # blocks after a rule in which its item "(a)" is looked for
_LETTERED = re.compile(r"(?P<rule>.+?)(?P<item>\([a-z0-9]+\))")
_PARAGRAPH_NUMBER = re.compile(r"\s*\d+(?:(?:\.\d+)+\.?|\.)\s+")
_NUMBERED = re.compile(r"\d+(?:\.\d+)+")


def extract_definitions(text: str, blocks: Sequence[Block]) -> list[Definition]:
    """Return every definition of one document, in text order.

    A term occurs more than once if the document defines it in different words; repeated
    words are dropped. A reference to a rule or section of the same document includes
    the referenced text, if it is found.

    Args:
        text: The text of the document.
        blocks: Its blocks; their spans refer to `text`.

    Returns:
        The definitions; their spans refer to `text`.
    """
    stated = stated_definitions(text, blocks, text_units(text, blocks))
    return _add_acronyms(stated, text, blocks)


def stated_definitions(
    text: str, blocks: Sequence[Block], units: Sequence[TextUnit]
) -> list[Definition]:
    """Return the definitions in a form: connector, list, table or brackets.

    Args:
        text: The text of the document.
        blocks: Its blocks; their spans refer to `text`.
        units: Its running text, from `text_units`.

    Returns:
        The definitions in text order, references resolved, repetitions dropped.
    """
    stated = [*find_in_prose(text, units), *find_in_tables(text, blocks)]
    terms = set(fold_all([definition.term for definition in stated]))
    bracketed = [
        definition
        for definition in find_in_brackets(text, units)
        if fold(definition.term) not in terms
    ]
    definitions = _in_order([*stated, *bracketed])
    return without_repeats(resolve_references(definitions, text, blocks))


def _in_order(definitions: Sequence[Definition]) -> list[Definition]:
    """Definitions of a plausible length, in text order."""
    kept = [d for d in definitions if _SHORTEST <= len(d.definition) <= _LONGEST]
    return sorted(kept, key=lambda d: (d.start, d.term))


def without_repeats(definitions: Sequence[Definition]) -> list[Definition]:
    """Return the definitions without repeated words for the same term."""
    terms = fold_all([d.term for d in definitions])
    meanings = fold_all([d.definition for d in definitions])
    keys = zip(terms, meanings, strict=True)
    first: dict[tuple[str, str], Definition] = {}
    for key, definition in zip(keys, definitions, strict=True):
        first.setdefault(key, definition)
    return list(first.values())


def _add_acronyms(
    definitions: Sequence[Definition], text: str, blocks: Sequence[Block]
) -> list[Definition]:
    """Add short forms as synonyms, and as definitions if nothing else defines them."""
    keys = fold_all([definition.term for definition in definitions])
    synonyms = [name for definition in definitions for name in definition.synonyms]
    known = {*keys, *fold_all(synonyms)}
    extended = add_synonyms(definitions, text)
    for acronym, block in _with_blocks(find_acronyms(text), blocks):
        key = fold(acronym.short)
        if key not in known:
            known.add(key)
            extended.append(_acronym_definition(text, acronym, block))
    return sorted(extended, key=lambda d: (d.start, d.term))


def add_synonyms(
    definitions: Sequence[Definition],
    text: str,
    pairs: Sequence[tuple[str, str]] = (),
) -> list[Definition]:
    """Return the definitions with the short or long forms of their terms as synonyms.

    Args:
        definitions: The definitions of a document.
        text: Its text, which introduces the short forms.
        pairs: Further short forms with their long forms, such as from a table.

    Returns:
        The definitions in the order given.
    """
    other_names: dict[str, set[str]] = {}
    in_text = [(acronym.short, acronym.long) for acronym in find_acronyms(text)]
    for short, long in (*in_text, *pairs):
        other_names.setdefault(fold(short), set()).add(long)
        other_names.setdefault(fold(long), set()).add(short)
    keys = fold_all([definition.term for definition in definitions])
    return [
        _add_synonyms(definition, key, other_names.get(key, set()))
        for key, definition in zip(keys, definitions, strict=True)
    ]


def _add_synonyms(definition: Definition, key: str, names: set[str]) -> Definition:
    synonyms = {fold(name): name for name in sorted({*definition.synonyms, *names})}
    synonyms.pop(key, None)
    return definition.model_copy(update={"synonyms": tuple(sorted(synonyms.values()))})


def _with_blocks(
    acronyms: Sequence[Acronym], blocks: Sequence[Block]
) -> Iterator[tuple[Acronym, Block]]:
    """Acronyms in running text or tables, each with its block."""
    for acronym in acronyms:
        for block in blocks:
            inside = block.start <= acronym.start and acronym.end <= block.end
            if inside and block.kind not in SKIPPED:
                yield acronym, block
                break


def _acronym_definition(text: str, acronym: Acronym, block: Block) -> Definition:
    return Definition(
        term=acronym.short,
        definition=text[acronym.start : acronym.end],
        source=DefinitionSource.ACRONYM,
        spans=((acronym.start, acronym.end),),
        page=block.page,
        section=block.section,
        synonyms=(acronym.long,),
    )


def resolve_references(
    definitions: Sequence[Definition], text: str, blocks: Sequence[Block]
) -> list[Definition]:
    """Follow definitions that refer elsewhere: "has the meaning given in Rule 4.2".

    A reference keeps its own words; `resolved` holds the words it refers to. It is
    dropped if the document also defines the term in words.
    """
    keys = fold_all([definition.term for definition in definitions])
    in_words: set[str] = set()
    by_term: dict[str, Definition] = {}
    for key, definition in zip(keys, definitions, strict=True):
        by_term.setdefault(key, definition)
        if definition.source is not DefinitionSource.REFERENCE:
            in_words.add(key)
    kept = []
    for key, definition in zip(keys, definitions, strict=True):
        if definition.source is not DefinitionSource.REFERENCE or definition.reference:
            kept.append(definition)
        elif key not in in_words:
            followed = _follow_number(definition, text, blocks)
            kept.append(_follow_term(followed, by_term, text) or followed)
    return kept


def _follow_term(
    reference: Definition, by_term: Mapping[str, Definition], text: str
) -> Definition | None:
    """The reference with the words of the definition it names; None in a circle."""
    target, passed = reference, {fold(reference.term)}
    while target.source is DefinitionSource.REFERENCE:
        match = patterns.NAMED_TARGET.search(target.definition)
        key = fold(match["term"]) if match else ""
        if not key or key in passed or key not in by_term:
            return None
        passed.add(key)
        target = by_term[key]
    start, end = target.spans[0]
    excerpt = Excerpt(
        text=text[start:end],
        start=start,
        end=end,
        page=target.page,
        section=target.section,
    )
    update = {"reference": target.term, "resolved": excerpt}
    return reference.model_copy(update=update)


def _follow_number(
    reference: Definition, text: str, blocks: Sequence[Block]
) -> Definition:
    """The reference with the sentence on its term in the rule it names, if found."""
    match = rule_grammar().definition_target.search(reference.definition)
    if match is None:
        return reference
    elsewhere = patterns.ELSEWHERE.match(reference.definition, match.end())
    if elsewhere:
        target = match.group() + elsewhere.group()
        return reference.model_copy(update={"reference": clean_term(target)})
    index = PhraseIndex([reference.term])
    targets = _target_blocks(match["number"], match["kind"], text, blocks)
    sentences = (sentence for block in targets for sentence in _sentences(text, block))
    resolved = next((one for one in sentences if index.find(one.text)), None)
    update = {"reference": match.group(), "resolved": resolved}
    return reference.model_copy(update=update)


def _sentences(text: str, block: Block) -> Iterator[Excerpt]:
    """Yield the sentences of a block, without the number of its paragraph."""
    for piece in pieces(text[block.start : block.end]):
        end = block.start + piece.end
        start = block.start + piece.start
        number = _PARAGRAPH_NUMBER.match(text, start, end)
        start = number.end() if number else start
        yield Excerpt(
            text=text[start:end],
            start=start,
            end=end,
            page=block.page,
            section=block.section,
        )


def _target_blocks(
    number: str, kind: str, text: str, blocks: Sequence[Block]
) -> list[Block]:
    """The blocks of the rule or section with that number."""
    begins = re.compile(
        rf"\s*(?:\W{{0,3}})(?:{re.escape(kind)}\s+)?\(?{re.escape(number)}(?![\w])(?!\.\d)",
        re.IGNORECASE,
    )
    running = [b for b in blocks if b.kind in RUNNING]
    numbered = [b for b in running if begins.match(text[b.start : b.start + 60])]
    below = [
        b for b in running if any(begins.match(part) for part in b.section.split(" > "))
    ]
    targets = numbered + [block for block in below if block not in numbered]
    return targets or _lettered_item(number, kind, text, blocks)


def _lettered_item(
    number: str, kind: str, text: str, blocks: Sequence[Block]
) -> list[Block]:
    """For "2.3(a)": the item "(a)" of rule 2.3."""
    match = _LETTERED.fullmatch(number)
    rules = _target_blocks(match["rule"], kind, text, blocks) if match else []
    if match is None or not rules:
        return []
    first = blocks.index(rules[0]) + 1
    for block in blocks[first : first + _MOST_ITEMS]:
        words = text[block.start : block.end].lstrip()
        if words.startswith(match["item"]):
            return [block]
        if _NUMBERED.match(words):
            return []
    return []

"""Definitions that a document states, each with its exact place.

Shapes: quoted, bold and bare terms with "means", "shall mean", "is defined as" or "has
the meaning given in"; table rows; "Term  -  text"; definition lists; abbreviations;
names in brackets behind what they stand for.
The definition is what stands after the connector, or the whole meaning cell of a table,
letter for letter. No model is asked and no field of knowledge is known here.
"""

from collections.abc import Sequence

from elt_llm_consumer.definitions.explanations import in_textbook
from elt_llm_consumer.definitions.inline import in_brackets
from elt_llm_consumer.definitions.names import fold
from elt_llm_consumer.definitions.paragraphs import SKIPPED, units
from elt_llm_consumer.definitions.prose import in_units
from elt_llm_consumer.definitions.records import Definition, DefinitionSource
from elt_llm_consumer.definitions.references import resolve
from elt_llm_consumer.definitions.tables import in_tables
from elt_llm_core.document import Block
from elt_llm_core.language.acronyms import Acronym, find_acronyms

SHORTEST, LONGEST = 2, 6000


def extract(text: str, blocks: Sequence[Block]) -> list[Definition]:
    """Every definition of one document, in the order of the text.

    A term occurs more than once where the document defines it twice in different words;
    the same words again are left out. A reference to a rule or section of the same
    document carries the text it points to where that can be found.
    """
    running = units(text, blocks)
    found = [*in_units(text, running), *in_tables(text, blocks)]
    stated = {fold(one.term) for one in found}
    named = in_brackets(text, running)
    found += [one for one in named if fold(one.term) not in stated]
    kept = [one for one in found if SHORTEST <= len(one.definition) <= LONGEST]
    kept.sort(key=lambda one: (one.start, one.term))
    return _with_acronyms(_once(resolve(kept, text, blocks)), text, blocks)


def explained(text: str, blocks: Sequence[Block]) -> list[Definition]:
    """What sentences of explaining prose say a term is, less sure than `extract`."""
    found = in_textbook(text, units(text, blocks))
    kept = [one for one in found if SHORTEST <= len(one.definition) <= LONGEST]
    return _once(sorted(kept, key=lambda one: (one.start, one.term)))


def _once(found: Sequence[Definition]) -> list[Definition]:
    """Without repetitions of the same words for the same term."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for one in found:
        key = (fold(one.term), fold(one.definition))
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept


def _with_acronyms(
    found: Sequence[Definition], text: str, blocks: Sequence[Block]
) -> list[Definition]:
    """Short forms as synonyms, and as definitions where nothing else defines them."""
    pairs = _in_blocks(find_acronyms(text), blocks)
    other: dict[str, set[str]] = {}
    for pair, _ in pairs:
        other.setdefault(fold(pair.short), set()).add(pair.long)
        other.setdefault(fold(pair.long), set()).add(pair.short)
    widened = [_widen(one, other.get(fold(one.term), set())) for one in found]
    known = {fold(name) for one in found for name in (one.term, *one.synonyms)}
    for pair, block in pairs:
        if fold(pair.short) not in known:
            known.add(fold(pair.short))
            widened.append(_spelt_out(text, pair, block))
    return sorted(widened, key=lambda one: (one.start, one.term))


def _in_blocks(
    pairs: Sequence[Acronym], blocks: Sequence[Block]
) -> list[tuple[Acronym, Block]]:
    """The pairs that stand in running text or tables, each with its block."""
    kept = []
    for pair in pairs:
        for block in blocks:
            inside = block.start <= pair.start and pair.end <= block.end
            if inside and block.kind not in SKIPPED:
                kept.append((pair, block))
                break
    return kept


def _spelt_out(text: str, pair: Acronym, block: Block) -> Definition:
    return Definition(
        term=pair.short,
        definition=text[pair.start : pair.end],
        source=DefinitionSource.ACRONYM,
        spans=((pair.start, pair.end),),
        page=block.page,
        section=block.section,
        synonyms=(pair.long,),
    )


def _widen(one: Definition, more: set[str]) -> Definition:
    names = {fold(name): name for name in sorted({*one.synonyms, *more})}
    names.pop(fold(one.term), None)
    return one.model_copy(update={"synonyms": tuple(sorted(names.values()))})

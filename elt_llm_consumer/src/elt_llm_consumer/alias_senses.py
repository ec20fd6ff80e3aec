"""Aliases that mean another thing in a handbook than the name they are listed for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from elt_llm_consumer.corpus import GlossaryEntry
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.definitions.terms import clean, fold, variants


def find_other_senses(
    names: Iterable[str],
    aliases: Mapping[str, Sequence[str]],
    entries: Iterable[GlossaryEntry],
) -> dict[str, set[str]]:
    """Return the aliases whose mentions may mean another thing, for `MentionIndex`.

    An alias has another sense if it is one of another name too, or if the handbook
    spells it out as something else, even if it also spells it out as the name.

    Args:
        names: Names of entities.
        aliases: Synonyms by name.
        entries: The definitions of the handbook.

    Returns:
        The folded aliases by folded name.
    """
    meanings: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        definition = entry.definition
        if definition.source is DefinitionSource.ACRONYM:
            meanings[fold(definition.term)].add(fold(clean(definition.definition)))
    own = {name: {fold(one) for one in variants(name, aliases)} for name in names}
    for name, folded in own.items():
        for alias in folded:
            meanings[alias].add(fold(name))
    return {
        fold(name): {a for a in folded if meanings[a] - {fold(name)} - folded}
        for name, folded in own.items()
    }

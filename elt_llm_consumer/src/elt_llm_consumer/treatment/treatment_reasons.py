"""Reasons of a verdict as text, from the features that decided it."""

from collections.abc import Iterator

from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer
from elt_llm_consumer.treatment.treatment_features import EntityUse, Features

_MOST = 4
_HALF = 0.5
# Reasons for the entity if the feature is high, and against it if it is low.
_FOR = {
    "defined: the name": "the handbook defines it",
    "defined: an alias": "the handbook defines an alias of it",
    "place: a heading": "a heading names it",
    "place: in headings": "headings name it",
    "name: several words": "its name has several words",
    "one word: rarity": "the word is rare elsewhere",
    "use: behind a determiner": "it is used as a thing: with 'the', 'a' or 'each'",
    "one word: capital": "it is written with the capital of a term",
}
_AGAINST = {
    "name: several words": "its name is a single word",
    "one word: rarity": "the word is common everywhere",
    "defined: the name": "the handbook does not define it",
}


def name_reasons(
    row: Features, use: EntityUse, scorer: DefinitionScorer, *, is_for: bool
) -> tuple[str, ...]:
    """Return the decisive reasons, the strongest first.

    Args:
        row: The features of the entity.
        use: Its sentences.
        scorer: The scorer of the sense.
        is_for: Whether to return the reasons for the entity, or those against it.
    """
    effects = {name: one.effect(row[name]) for name, one in scorer.weights.items()}
    sign = 1 if is_for else -1
    order = sorted(effects, key=lambda name: (-sign * effects[name], name))
    texts = dict.fromkeys(
        text
        for name in order
        if sign * effects[name] > 0
        for text in _say(name, row, use, is_for=is_for)
    )
    return (_count(use), *list(texts)[:_MOST])


def _say(name: str, row: Features, use: EntityUse, *, is_for: bool) -> Iterator[str]:
    if name == "use: in one frame" and not is_for and use.frame[1] > 1:
        words = use.frame[0].strip()
        yield f"{use.frame[1]} of {len(use.sentences)} say {words!r}"
    elif name == "use: behind to or a modal" and not is_for and row[name] > 0:
        yield "it is used as a verb"
    elif "share of" in name:
        if (row["name: several words"] > 0) == name.startswith("several words"):
            yield from _say_share(row[name], is_for=is_for)
    elif is_for and name in _FOR and row[name] > 0:
        yield _FOR[name]
    elif not is_for and name in _AGAINST:
        yield _AGAINST[name]


def _say_share(share: float, *, is_for: bool) -> Iterator[str]:
    if is_for and share >= _HALF:
        yield "the handbook names much of this model"
    elif not is_for and share < _HALF:
        yield "the handbook names little else of this model"


def _count(use: EntityUse) -> str:
    """Return how many sentences name the entity, and how many state something on it."""
    total = len(use.sentences)
    if not total:
        return "defined, and not named in another sentence"
    plural = "" if total == 1 else "s"
    words = "an alias" if use.only_alias else "the name"
    return f"{total} sentence{plural} with {words}, {use.statements} about it"

"""The words of a model's own relations and properties: its edge labels as verbs."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from elt_llm_core.enterprise.model import ModelElement, ModelRelation
from elt_llm_core.enterprise.relation_words import TYPE_WORDS
from elt_llm_core.graph.question_words import BASES_IN_ED, base_form

ARTICLES = frozenset({"a", "an", "the"})
BE = frozenset({"am", "are", "be", "been", "being", "is", "was", "were"})
HAVE = "have"
MODALS = frozenset({"can", "could", "may", "might", "must", "shall", "should", "will"})
PREPOSITIONS = frozenset(
    """about across after against along among around as at before behind below beside
    between beyond by during for from in inside into of off on onto out over past per
    through to toward towards under until unto up upon via with within
    without""".split()  # noqa: SIM905 - reads better
)
# Participles that are no base form with -ed; those with another base are in IRREGULAR.
PARTICIPLES = frozenset(
    """begun bound bought brought built caught chosen drawn driven fed felt forgotten
    found frozen given gone grown held hidden hit kept known laid led left lent lost
    made meant met overseen paid put read run seen sent set shown shut sold sought
    spent split spoken taken taught thrown told undertaken won withdrawn worn
    written""".split()  # noqa: SIM905 - reads better
)
# The content of a flow, and the strength of an influence, are no verbs.
NO_VERBS = frozenset({"Flow", "Influence"})
WORD = re.compile(r"\w+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")
AGENT = ("er", "or")
SHORTEST_VERB = 3  # letters before the ending of an agent: "user" is left alone

Shape = Literal["active", "passive", "phrase", "has"]


class RelationLabel(NamedTuple):
    """An edge label, parsed.

    `shape` says how the label is asked: active ("owns"), passive ("is owned by"), a
    phrase after "is" ("is steward of", "is stored in"), or "has" with a noun.
    """

    text: str
    stems: frozenset[str]
    prepositions: frozenset[str]
    shape: Shape


def stem_of(word: str) -> str:
    """Return the part of a word that all forms of a verb share.

    Args:
        word: In lower case; its base form, or any other form.

    Returns:
        Such as "submit" for submits and submitted, "manag" for manages and managed.
    """
    base = base_form(word)
    plain = base.removesuffix("e") if len(base) > 2 else base  # noqa: PLR2004 - "be"
    return _DOUBLED.sub(r"\1", plain)


def verb_of_agent(stem: str) -> str:
    """Return the stem of the verb of an agent noun; empty if it is none.

    Args:
        stem: Such as "owner" or "auditor".
    """
    if stem.endswith(AGENT) and len(stem) - 2 >= SHORTEST_VERB:
        return stem_of(stem[:-2])
    return ""


def is_same_stem(one: str, other: str) -> bool:
    """Return whether two stems are of one verb: "own" and "owner" are."""
    return (verb_of_agent(one) or one) == (verb_of_agent(other) or other)


def is_participle(written: str) -> bool:
    """Return whether a word may be a past participle."""
    if written in PARTICIPLES or written.endswith(("need", *BASES_IN_ED)):
        return written in PARTICIPLES
    return written.endswith("ed")


def parse_label(text: str) -> RelationLabel | None:
    """Return the words of an edge label.

    Args:
        text: As in the file.

    Returns:
        None if no word of it can be asked for ("is", "may be").
    """
    tokens = [t.casefold() for t in WORD.findall(text)]
    prepositions = frozenset(PREPOSITIONS.intersection(tokens))
    content = [t for t in tokens if t not in ARTICLES | BE | PREPOSITIONS]
    has_noun = base_form(content[0]) == HAVE if content else False
    if has_noun and len(content) > 1:
        content = content[1:]
    if not content or all(t in MODALS for t in content):
        return None
    shape: Shape = "active"
    if "by" in prepositions and any(map(is_participle, content)):
        shape, prepositions = "passive", prepositions - {"by"}
    elif BE.intersection(tokens) or (is_participle(content[0]) and prepositions):
        shape = "phrase"
    elif has_noun and len(tokens) > 1:
        shape = "has"
    return RelationLabel(text, frozenset(map(stem_of, content)), prepositions, shape)


def label_of_relation(relation: ModelRelation) -> RelationLabel | None:
    """Return the label of a relation, parsed; None if it has no verb of its own."""
    if not relation.name or relation.type in NO_VERBS:
        return None
    return parse_label(relation.name)


def says_has(label: str) -> bool:
    """Return whether a label is "has" with a noun."""
    return label.casefold().startswith("has ")


def is_column(relation: ModelRelation) -> bool:
    """Return whether a relation is a column of an inventory, which says no verb.

    "has application" only says of what type the other end is.
    """
    is_own_type = bool(relation.type) and relation.type not in TYPE_WORDS
    return is_own_type and says_has(relation.name)


def property_stems(name: str) -> tuple[str, ...]:
    """Return the words of the name of a property: "dataSteward" is data, steward."""
    words = WORD.findall(CAMEL.sub(" ", name).replace("_", " ").casefold())
    return tuple(stem_of(w) for w in words if w not in ARTICLES | PREPOSITIONS)


def properties_of(element: ModelElement) -> dict[str, str]:
    """Return what is stated of an element by name: its properties, level, status."""
    own = {"level": element.level, "status": element.status, **element.properties}
    return {name: value for name, value in own.items() if value}


class LabelVocabulary:
    """The labels of the relations of a model, and the names of its properties.

    Args:
        elements: The elements of the model.
        relations: Its relations.
    """

    def __init__(
        self, elements: Iterable[ModelElement], relations: Sequence[ModelRelation]
    ) -> None:
        parsed = {r.id: label_of_relation(r) for r in relations}
        self.labels = {key: label for key, label in parsed.items() if label}
        names = {name for e in elements for name in properties_of(e)}
        self.properties = {name: property_stems(name) for name in sorted(names)}
        stems = {stem for label in self.labels.values() for stem in label.stems}
        stems.update(stem for words in self.properties.values() for stem in words)
        self._verbs = frozenset(verb_of_agent(stem) or stem for stem in stems)

    def knows(self, word: str) -> bool:
        """Return whether a word is part of a label or of the name of a property."""
        stem = stem_of(word)
        return (verb_of_agent(stem) or stem) in self._verbs

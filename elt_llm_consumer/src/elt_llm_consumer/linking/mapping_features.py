"""Named signals of whether a term and an entity of a model are one thing.

Names are compared as written, by plural, lemma, short form, letters and words; the
entity's description with the definition by meaning and by words, which tells senses of
one name apart.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

from elt_llm_consumer.definitions.definition_records import Definition, DefinitionSource
from elt_llm_consumer.definitions.terms import fold, normalise, spellings, variants
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_consumer.linking.text_vectors import Embed, MissingVector, TextVectors
from elt_llm_core.errors import EmbedError
from elt_llm_core.language.acronyms import stands_for
from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.stop_words import stop_words
from elt_llm_query.analysis.stems import stem

Signals = Mapping[str, float]

SAME_NAMES = (
    "name: as written", "name: but for the plural", "name: implied spelling",
    "name: alias", "name: synonym of the handbook",
)  # fmt: skip
EQUAL = "name: equal"  # in one of these ways; what all of them share is learnt from all
COMPARED = "description: compared"
NEAR = "description: near the definition"
SHARED = "description: words of the definition"
DESCRIPTION = (COMPARED, NEAR, SHARED)
# Texts on different subjects: their cosines are 0 with some embedders, .6 with others.
_UNLIKE = (
    "Grit that is spread on icy roads in winter",
    "The person who rents a flat from its owner",
    "A number that is used once in a protocol",
    "Piece of music for four string instruments",
    "Daily amount of a medicine for an adult",
    "Committee that decides on complaints of players",
    "Edge of a forest where deer graze at dusk",
    "Part of the profit that a company pays to its owners",
)
_SHORTEST_FUZZY = 5  # letters; shorter names are like each other by chance
_SPELT_ALIKE = 0.84  # ratio of letters from which a pair is proposed
_END = 3  # letters
_SHORTEST_INFLECTED = 5  # letters: "bed" and "thing" are not
_INFLECTION = re.compile(r"(?:ing|ed|es|e)$")
_BRITISH = re.compile(r"is(?=at|er|$)")


class MappedTerm(NamedTuple):
    """A term with what its document says of it."""

    name: str
    synonyms: tuple[str, ...] = ()
    definition: str = ""


def to_mapped_term(definition: Definition) -> MappedTerm:
    """Return a term with the words that define it.

    A long form or a reference says nothing of the sense of a term.
    """
    words = definition.definition
    if definition.resolved is not None:
        words = definition.resolved.text
    elif definition.source in (DefinitionSource.REFERENCE, DefinitionSource.ACRONYM):
        words = ""
    return MappedTerm(definition.term, definition.synonyms, words)


def has_own_name(term: MappedTerm, entity: Entity) -> bool:
    """Return whether a term has the name of an entity, and not only an alias of it.

    Args:
        term: The term; its synonyms are names of it too.
        entity: The entity, whose name may imply other spellings.
    """
    own = {fold(name) for name in (entity.name, *spellings(entity.name))}
    return not own.isdisjoint(fold_names(term))


class _FoldedNames(NamedTuple):
    """The names of an entity, folded: its own, its implied spellings, its aliases."""

    own: str
    spellings: frozenset[str]
    aliases: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return frozenset({self.own}) | self.spellings | self.aliases


class PairSignals:
    """Proposes entities for a term, and describes each pair by its signals.

    Args:
        entities: The entities of the model.
        aliases: Entity name to synonyms.
        embed: Returns unit vectors; without it no description is compared.
    """

    def __init__(
        self,
        entities: Iterable[Entity],
        aliases: Mapping[str, Sequence[str]] | None = None,
        embed: Embed | None = None,
    ) -> None:
        self._senses = Senses(embed) if embed else None
        self._entities = sorted(entities, key=lambda e: e.order)
        self._names = [_names(entity, aliases or {}) for entity in self._entities]
        self._by_name: dict[str, set[int]] = defaultdict(set)
        self._by_word: dict[str, set[int]] = defaultdict(set)
        self._by_initials: dict[str, set[int]] = defaultdict(set)
        self._by_ends: dict[str, set[int]] = defaultdict(set)
        for number, names in enumerate(self._names):
            for name in names.all:
                self._by_name[name].add(number)
                self._by_initials["".join(w[0] for w in name.split())].add(number)
            for word in lemmas_of(names.own):
                self._by_word[word].add(number)
            for part in _ends(names.own):
                self._by_ends[part].add(number)

    @property
    def missing(self) -> Mapping[str, MissingVector]:
        """Return the descriptions and definitions without a vector, and why.

        Such pairs are described by their names alone.
        """
        return self._senses.missing if self._senses else {}

    def lacks_vector(self, term: MappedTerm) -> bool:
        """Return whether a text that matters to a term's pairs has no vector.

        Args:
            term: A term that was described.
        """
        if not self.missing:
            return False
        compared = self._compared_texts([term], [self._find(term)])
        # The scale of every comparison depends on the reference texts.
        texts = {*compared, *_UNLIKE} if compared else set()
        return not texts.isdisjoint(self.missing)

    def propose(self, term: MappedTerm) -> list[tuple[Entity, Signals]]:
        """Return the entities that a signal proposes, in the order of the model.

        Args:
            term: The term.
        """
        (pairs,) = self.propose_all([term])
        return pairs

    def propose_all(
        self, terms: Sequence[MappedTerm]
    ) -> Iterator[list[tuple[Entity, Signals]]]:
        """Yield the proposed entities of each term; all texts are embedded together.

        Args:
            terms: The terms.

        Raises:
            ModelError: If the embedder cannot be reached.
            EmbedError: If it has no vectors at all.
        """
        proposed = [self._find(term) for term in terms]
        if self._senses:
            self._senses.prepare(self._compared_texts(terms, proposed))
        for term, numbers in zip(terms, proposed, strict=True):
            yield [(self._entities[n], self._describe(term, n)) for n in numbers]

    def _find(self, term: MappedTerm) -> list[int]:
        """Return the numbers of the entities that a signal proposes."""
        keys = fold_names(term)
        proposed = {number for key in keys for number in self._by_name.get(key, ())}
        for key in sorted(keys):
            proposed |= self._with_words(key) | self._with_short_form(key)
        return sorted(proposed)

    def _compared_texts(
        self, terms: Sequence[MappedTerm], proposed: Sequence[Sequence[int]]
    ) -> dict[str, str]:
        """Return the texts that will be compared, with their names for messages."""
        names: dict[str, str] = {}
        for term, numbers in zip(terms, proposed, strict=True):
            for entity in (self._entities[number] for number in numbers):
                if term.definition and entity.description:
                    names[_term_text(term)] = name_definition(term.name)
                    names[_entity_text(entity)] = name_description(entity)
        return names

    def _with_words(self, key: str) -> set[int]:
        """Return entities that share the head, all words, or nearly all letters."""
        near = {n for word in lemmas_of(key) for n in self._by_word.get(word, ())}
        near |= {n for part in _ends(key) for n in self._by_ends.get(part, ())}
        return {n for n in near if _are_near(key, self._names[n].own)}

    def _with_short_form(self, key: str) -> set[int]:
        """Return entities of which the term is the short or the long form."""
        initials = "".join(word[0] for word in key.split())
        candidates = self._by_initials.get(key, set()) | self._by_name.get(
            initials, set()
        )
        return {n for n in candidates if _is_short_form(key, self._names[n].own)}

    def _describe(self, term: MappedTerm, number: int) -> Signals:
        entity, names = self._entities[number], self._names[number]
        return {
            **_of_names(term, entity, names),
            **self._of_description(term, entity),
        }

    def _of_description(self, term: MappedTerm, entity: Entity) -> dict[str, float]:
        """Return how the entity's description agrees with the term's definition."""
        if not (self._senses and term.definition and entity.description):
            return dict.fromkeys(DESCRIPTION, 0.0)
        stated = stems_of(term.definition) - stems_of(term.name)
        described = stems_of(entity.description) - stems_of(entity.name)
        fewer = min(len(stated), len(described)) or 1
        near = self._senses.compare(_term_text(term), _entity_text(entity))
        if near is None:
            return dict.fromkeys(DESCRIPTION, 0.0)
        return {COMPARED: 1.0, NEAR: near, SHARED: len(stated & described) / fewer}


class Senses:
    """Compares the meaning of texts by their vectors, on one scale for all embedders.

    Args:
        embed: Returns unit vectors of texts.
    """

    def __init__(self, embed: Embed) -> None:
        self._vectors = TextVectors(embed)

    @property
    def missing(self) -> Mapping[str, MissingVector]:
        """Return the texts without a vector, each with its name and the reason."""
        return self._vectors.missing

    def prepare(self, names: Mapping[str, str]) -> None:
        """Embed the texts that will be compared.

        Args:
            names: By text, what a message calls it; if empty, nothing is embedded.

        Raises:
            ModelError: If the embedder cannot be reached.
            EmbedError: If it has no vectors of the reference texts.
        """
        if not names:
            return
        # First, because an embedder that refuses all of these refuses every text.
        self._vectors.add({text: f"the reference text {text!r}" for text in _UNLIKE})
        if not self._unlike_pairs:
            all_reasons = [one.reason for one in self.missing.values()]
            reasons = "; ".join(dict.fromkeys(all_reasons))
            raise EmbedError(f"the embedder returns no usable vectors: {reasons}")
        self._vectors.add(names)

    def compare(self, text: str, other: str) -> float | None:
        """Return 1 for the same text, 0 for texts as unlike as the reference texts.

        Args:
            text: A text that was prepared.
            other: Another one.

        Returns:
            The nearness, or None if a text has no vector.
        """
        mine, theirs = self._vectors.get(text), self._vectors.get(other)
        if mine is None or theirs is None:
            return None
        cosine = float(mine @ theirs)
        return round((cosine - self._unlike) / max(1 - self._unlike, 1e-6), 4)

    @cached_property
    def _unlike_pairs(self) -> list[float]:
        """Return the cosines of texts on different subjects."""
        vectors = [v for v in map(self._vectors.get, _UNLIKE) if v is not None]
        return [float(a @ b) for a, b in combinations(vectors, 2)]

    @cached_property
    def _unlike(self) -> float:
        return sum(self._unlike_pairs) / len(self._unlike_pairs)


def name_description(entity: Entity) -> str:
    """Return how a message names the description of an entity."""
    return f"the description of the entity {entity.label!r}"


def name_definition(term: str) -> str:
    """Return how a message names the definition of a term."""
    return f"the definition of the term {term!r}"


# Texts are compared with their names: the right sense of "salt" is nearer to "salt".
def _term_text(term: MappedTerm) -> str:
    return f"{term.name}: {term.definition}"


def _entity_text(entity: Entity) -> str:
    return f"{entity.name}: {entity.description}"


def stems_of(name: str) -> frozenset[str]:
    """Return the stems of a text without function words."""
    small = stop_words(ENGLISH, "name")
    return frozenset(stem(word) for word in fold(name).split() if word not in small)


@lru_cache(maxsize=2**16)
def lemmas_of(name: str) -> frozenset[str]:
    """Return the words of a name without inflection and function words.

    Unlike stems they separate "authenticator" and "authentication".

    Args:
        name: A name, folded or not.
    """
    small = stop_words(ENGLISH, "name")
    return frozenset(_lemma(word) for word in fold(name).split() if word not in small)


def _lemma(word: str) -> str:
    """Return a folded word without "-ing", "-ed" and "-e", with "z" for British "s"."""
    shorter = _INFLECTION.sub("", word) if len(word) > _SHORTEST_INFLECTED else word
    return _BRITISH.sub("iz", shorter)


def _names(entity: Entity, aliases: Mapping[str, Sequence[str]]) -> _FoldedNames:
    implied = frozenset(fold(name) for name in spellings(entity.name))
    others = frozenset(fold(name) for name in variants(entity.name, aliases))
    return _FoldedNames(fold(entity.name), implied, others - implied)


def _of_names(
    term: MappedTerm, entity: Entity, names: _FoldedNames
) -> dict[str, float]:
    key = fold(term.name)
    implied = {fold(other) for other in spellings(term.name)}
    same = {
        "name: as written": normalise(term.name) == normalise(entity.name),
        "name: but for the plural": key == names.own,
        "name: implied spelling": key in names.spellings
        or not implied.isdisjoint(names.spellings | {names.own}),
        "name: alias": key in names.aliases,
        "name: synonym of the handbook": any(
            fold(other) in names.all for other in term.synonyms
        ),
    }
    first = next((name for name in SAME_NAMES if same[name]), "")
    mine, theirs = lemmas_of(key), lemmas_of(names.own)
    shared, every = len(mine & theirs), len(mine | theirs) or 1
    unlike = not first
    return {
        EQUAL: float(bool(first)),
        **{name: float(name == first) for name in SAME_NAMES},
        "name: same lemmas": float(unlike and bool(mine) and mine == theirs),
        "name: short form": float(unlike and _is_short_form(key, names.own)),
        "name: letters": _ratio(key, names.own) if unlike else 1.0,
        "name: shared words": shared / every if unlike else 1.0,
        "name: same head": float(unlike and _head(key) == _head(names.own)),
        "name: a kind of the entity": float(unlike and theirs < mine),
        "name: the entity is a kind": float(unlike and mine < theirs),
    }


def fold_names(term: MappedTerm) -> set[str]:
    """Return the folded names of a term, with the spellings that its name implies.

    Args:
        term: The term; its synonyms are names of it too.
    """
    names = (term.name, *spellings(term.name), *term.synonyms)
    return {fold(name) for name in names} - {""}


def _are_near(key: str, other: str) -> bool:
    """Whether two names share their head, or one has all words of the other."""
    mine, theirs = lemmas_of(key), lemmas_of(other)
    within = bool(mine and theirs) and (mine <= theirs or theirs <= mine)
    return within or _head(key) == _head(other) or _ratio(key, other) >= _SPELT_ALIKE


def _head(key: str) -> str:
    """Return the noun that a name ends in: "bank" of "bank of England"."""
    before = key.split(" of ", maxsplit=1)[0].split()
    return _lemma(before[-1]) if before else ""


def _ends(key: str) -> tuple[str, str]:
    """Return the ends of a name; names that are spelt alike share one of them."""
    return f"{key[:_END]}-", f"-{key[-_END:]}"


def _is_short_form(key: str, other: str) -> bool:
    short, long = sorted((key, other), key=len)
    return " " not in short and " " in long and stands_for(short, long, "initials")


@lru_cache(maxsize=2**16)
def _ratio(key: str, other: str) -> float:
    """Return the share of letters that two names have in the same order."""
    if min(len(key), len(other)) < _SHORTEST_FUZZY:
        return float(key == other)
    matcher = SequenceMatcher(None, key, other, autojunk=False)
    if matcher.real_quick_ratio() < _SPELT_ALIKE / 2:
        return 0.0
    return round(matcher.ratio(), 4)

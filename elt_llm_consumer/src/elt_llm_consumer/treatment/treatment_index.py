"""Decides whether a handbook treats an entity of the model.

Coverage, the gap analysis and the catalogue all use these verdicts, so that they agree.
`treatment_weights.json` contains two log-linear models, fitted by
`benchmarks/coverage_scorer.py`: "sense" gives the probability that the words of the
name mean the thing of the model, "depth" the probability that such a thing is defined
or treated at length, not only named.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from elt_llm_consumer.corpus import GlossaryEntry, Handbook
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer, to_scorer
from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.linking.mapping_features import (
    fold_names,
    has_own_name,
    to_mapped_term,
)
from elt_llm_consumer.linking.mentions import MentionIndex
from elt_llm_consumer.linking.model_entities import Entity, EntityModel
from elt_llm_consumer.linking.term_mapper import Match, TermMapper
from elt_llm_consumer.linking.text_vectors import Embed, MissingVector
from elt_llm_consumer.treatment.treatment_features import (
    EntityUse,
    Features,
    ModelShare,
    count_headings,
    describe_definitions,
    describe_name,
)
from elt_llm_consumer.treatment.treatment_reasons import name_reasons
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.language.acronyms import stands_for
from elt_llm_core.records import Record

WEIGHTS = "treatment_weights.json"
VERDICTS = ("STRONG", "MODERATE", "THIN", "ABSENT")
NOT_NAMED = "not named in the handbook"
AMBIGUOUS = "ambiguous: "
# Share of equal letters; not measured. About one letter in eight may differ.
_NEAR_SPELLING = 0.88
_SHORTEST_NAME = 5  # characters; one letter changes a shorter name into another word
# Probability of the sense, and its score: from .5 on most names mean the thing; below
# .1, about one of twenty labelled names does.
_DOUBTFUL, _LIKELY = 0.1, 0.5
_THIN, _MODERATE, _NAMED = 0.40, 0.55, 0.65


class Treatment(Record):
    """How far a handbook treats an entity, with the reasons as text.

    `is_covered`: the handbook treats the thing. `is_ambiguous`: a person must decide
    whether it does, or which entity a term means. `ambiguity` names such terms and all
    entities that they fit.
    """

    verdict: str
    score: float
    reasons: tuple[str, ...]
    is_named: bool = True
    near_term: str = ""
    ambiguity: str = ""

    @property
    def is_covered(self) -> bool:
        """Return whether the handbook treats the thing."""
        return self.verdict in VERDICTS[:2]

    @property
    def is_ambiguous(self) -> bool:
        """Return whether words, passages or namesakes leave it undecided."""
        return self.verdict == "THIN" or bool(self.ambiguity)


class MatchedEntry(NamedTuple):
    """A definition and how its term matches an entity."""

    entry: GlossaryEntry
    match: Match


def _with_short_forms(
    aliases: Mapping[str, Sequence[str]], entries: Iterable[GlossaryEntry]
) -> dict[str, Sequence[str]]:
    """Return the aliases with the short forms that the handbook gives its terms.

    One that stands for several terms is a name of none.
    """
    pairs = {
        (entry.term, other)
        for entry in entries
        for other in entry.definition.synonyms
        if stands_for(other, entry.term) or stands_for(entry.term, other)
    }
    counts = Counter(fold(name) for pair in pairs for name in pair)
    names = dict(aliases)
    for term, other in sorted(pairs):
        if counts[fold(term)] == counts[fold(other)] == 1:
            names[term] = (*names.get(term, ()), other)
    return names


def verdict(score: float, config: ConsumerSection) -> str:
    """Return the band of a score."""
    bands = (
        (config.strong, "STRONG"),
        (config.moderate, "MODERATE"),
        (config.thin, "THIN"),
    )
    return next((name for least, name in bands if score >= least), "ABSENT")


class TreatmentIndex:
    """Decides for every entity of a model whether a handbook treats it.

    Args:
        handbook: The documents.
        model: The whole model.
        aliases: Synonyms by entity name.
        config: The bands.
        embed: Returns unit vectors, by which descriptions are compared.
    """

    def __init__(
        self,
        handbook: Handbook,
        model: EntityModel,
        aliases: Mapping[str, Sequence[str]],
        config: ConsumerSection,
        embed: Embed | None = None,
    ) -> None:
        self._handbook = handbook
        self._mapper = TermMapper(model.entities, aliases, embed)
        self._entities = model.entities
        self._aliases = aliases
        self._config = config
        self._treatments: dict[Entity, Treatment] = {}
        self._uses: dict[Entity, EntityUse] = {}

    @cached_property
    def mentions(self) -> MentionIndex:
        """Return the mentions of the model's names and the handbook's terms."""
        terms = [entry.term for entry in self._handbook.entries]
        names = [entity.name for entity in self._entities]
        passages = self._handbook.passages
        aliases = _with_short_forms(self._aliases, self._handbook.entries)
        return MentionIndex(
            passages, [*names, *terms], aliases, terms, self._other_senses
        )

    def of(self, entity: Entity) -> Treatment:
        """Return the verdict on an entity from the words of the handbook."""
        if entity not in self._treatments:
            self._treatments[entity] = self._decide(entity)
        return self._treatments[entity]

    @property
    def missing(self) -> Mapping[str, MissingVector]:
        """Return the descriptions and definitions without a vector, and why.

        Maps the terms if they are not yet mapped. Raises ModelError, or EmbedError if
        the embedder has no vectors at all.
        """
        # Only with a match of every entry is it known what has no vector.
        return self._mapper.missing if self._matched_entries else {}

    def matches(self, entity: Entity) -> list[MatchedEntry]:
        """Return the definitions that are mapped to an entity, best match first.

        Also those that several entities fit, whose match has no entity.
        """
        return self._matches.get(entity, [])

    @cached_property
    def terms_without_entity(self) -> list[GlossaryEntry]:
        """Return the first definition of each term without a covered entity.

        A short form of which only the long form is given is not defined.
        """
        covered = {
            key
            for key, entities in self._entities_of.items()
            if any(self.of(entity).is_covered for entity in entities)
        }
        firsts: dict[str, GlossaryEntry] = {}
        for entry in self._handbook.entries:
            spelt_out = entry.definition.source is DefinitionSource.ACRONYM
            if not spelt_out and fold(entry.term) not in covered:
                firsts.setdefault(fold(entry.term), entry)
        return list(firsts.values())

    def rationale_of(self, term: str) -> str:
        """Return why a term of the handbook has no entity, and what is near it."""
        entities = self._entities_of.get(fold(term), [])
        if not entities:
            match = self._match_of[fold(term)]
            listed = f"; {match.rationale}" if match.ambiguous else ""
            return f"defined, not modelled{listed}"
        names = ", ".join(dict.fromkeys(repr(entity.name) for entity in entities))
        return f"defined, probably as another thing than the entity {names}"

    def describe(self, entity: Entity) -> Features:
        """Return the features of an entity that the handbook names or defines."""
        key = fold(entity.name)
        entries = [one.entry for one in self.matches(entity)]
        several, use = " " in key, self.use(entity)
        return {
            **describe_name(entity.name, self._headings),
            **describe_definitions(entity.name, entries, is_explained=use.is_explained),
            **use.describe(several_words=several),
            **self._share.describe(key),
        }

    def use(self, entity: Entity) -> EntityUse:
        """Return the sentences that name an entity."""
        if entity not in self._uses:
            mentions = self.mentions.of(entity.name)
            self._uses[entity] = EntityUse(mentions, self.mentions, self._handbook)
        return self._uses[entity]

    def is_named(self, entity: Entity) -> bool:
        """Return whether the handbook has the words of a name or alias."""
        return bool(self.matches(entity) or self.mentions.of(entity.name))

    def _decide(self, entity: Entity) -> Treatment:
        if not self.is_named(entity):
            if entity in self._unlike:
                return self._decide_unlike(entity)
            return self._decide_unnamed(entity)
        row = self.describe(entity)
        sense, depth = load_scorers()
        score = round(score_of(sense.probability(row), depth.probability(row)), 4)
        band = verdict(score, self._config)
        if entity in self._unlike and band in VERDICTS[:2]:
            return self._decide_unlike(entity)
        reasons = name_reasons(
            row, self.use(entity), sense, is_for=band in VERDICTS[:2]
        )
        ambiguity = _explain_ambiguity(self.matches(entity))
        if ambiguity:
            reasons = (ambiguity, *reasons)
        return Treatment(
            verdict=band, score=score, reasons=reasons, ambiguity=ambiguity
        )

    def _decide_unlike(self, entity: Entity) -> Treatment:
        """Return the verdict on a name in another sense; a person decides."""
        reason = self._unlike[entity].rationale
        return Treatment(verdict="THIN", score=self._config.thin, reasons=(reason,))

    def _decide_unnamed(self, entity: Entity) -> Treatment:
        """Return the verdict without the name; similar spellings are listed."""
        near = _nearest(entity.name, self._terms)
        if near is None:
            return Treatment(
                verdict="ABSENT", score=0.0, reasons=(NOT_NAMED,), is_named=False
            )
        return Treatment(
            verdict="THIN",
            score=self._config.thin,
            reasons=(f"{NOT_NAMED}; the handbook defines {near[0]!r} ({near[1]})",),
            is_named=False,
            near_term=near[0],
        )

    @cached_property
    def _headings(self) -> Counter[str]:
        return count_headings(self._handbook)

    @cached_property
    def _entities_of(self) -> dict[str, list[Entity]]:
        """Return the entities named by each folded term."""
        entities: dict[str, list[Entity]] = {}
        for entity, matches in self._matches.items():
            for key in {fold(one.entry.term) for one in matches}:
                entities.setdefault(key, []).append(entity)
        return entities

    @cached_property
    def _terms(self) -> list[str]:
        """Return the terms that name no entity."""
        terms = {entry.term for entry in self._handbook.entries}
        return sorted(term for term in terms if fold(term) not in self._entities_of)

    @cached_property
    def _share(self) -> ModelShare:
        named = {fold(e.name) for e in self._entities if self.is_named(e)}
        return ModelShare(self._entities, named)

    @cached_property
    def _matched_entries(self) -> list[MatchedEntry]:
        """Return every definition of the handbook with its match."""
        entries = self._handbook.entries
        terms = [to_mapped_term(entry.definition) for entry in entries]
        return list(map(MatchedEntry, entries, self._mapper.map_terms(terms)))

    @cached_property
    def _match_of(self) -> dict[str, Match]:
        """Return the match of the first definition of each folded term."""
        return {
            fold(one.entry.term): one.match for one in reversed(self._matched_entries)
        }

    @cached_property
    def _unlike(self) -> dict[Entity, Match]:
        """Return entities whose name the handbook defines in another sense only.

        An alias may have another sense: that says nothing of an entity that the
        handbook names otherwise.
        """
        return {
            entity: one.match
            for one in self._matched_entries
            for entity in one.match.unlike
            if entity not in self._matches
            and (
                has_own_name(to_mapped_term(one.entry.definition), entity)
                or not self.mentions.of(entity.name)
            )
        }

    @cached_property
    def _other_senses(self) -> dict[str, set[str]]:
        """Return the aliases that have another sense, folded, by folded name."""
        senses: dict[str, set[str]] = defaultdict(set)
        for one in self._matched_entries:
            term = to_mapped_term(one.entry.definition)
            for entity in one.match.unlike:
                # Sentences with an own name are shown to the person who decides.
                if not has_own_name(term, entity):
                    senses[fold(entity.name)] |= fold_names(term)
        for entity, matches in self._matches.items():
            unmeant = senses.get(fold(entity.name), set())
            for one in matches if unmeant else ():
                unmeant -= fold_names(to_mapped_term(one.entry.definition))
        return senses

    @cached_property
    def _matches(self) -> dict[Entity, list[MatchedEntry]]:
        matches: dict[Entity, list[MatchedEntry]] = {}
        for one in self._matched_entries:
            for entity in one.match.fitting:
                matches.setdefault(entity, []).append(one)
        for row in matches.values():
            row.sort(key=_rank)
        return matches


_RANK = {"high": 0, "medium": 1, "low": 2}


def _rank(one: MatchedEntry) -> tuple[bool | int | str, ...]:
    """Return the sort key of the definitions of one entity: mapped ones come first."""
    is_open = one.match.entity is None
    return is_open, _RANK[one.match.confidence], *one.entry.order


def _explain_ambiguity(matches: Sequence[MatchedEntry]) -> str:
    """Return which entities the terms fit; nothing if a term means this one alone."""
    if any(one.match.entity is not None for one in matches):
        return ""
    fitting = dict.fromkeys(
        f"the term {one.entry.term!r} fits {len(one.match.ambiguous)} entities, of "
        f"which none is chosen: {', '.join(one.match.ambiguous)}"
        for one in matches
    )
    return f"{AMBIGUOUS}{'; '.join(fitting)}" if fitting else ""


def raise_by_meaning(
    treatment: Treatment, similarity: float, config: ConsumerSection
) -> Treatment:
    """Return THIN for an unnamed entity with semantically similar passages.

    Similar vectors prove neither words nor sense, so the verdict is at most THIN.

    Args:
        treatment: The verdict from the words.
        similarity: Calibrated score of the nearest passage.
        config: The bands.
    """
    if treatment.is_named or similarity < config.thin:
        return treatment
    reason = f"{NOT_NAMED}; only passages near in meaning ({similarity:.2f})"
    reasons = (*treatment.reasons, reason) if treatment.near_term else (reason,)
    return treatment.model_copy(
        update={"verdict": "THIN", "score": config.thin, "reasons": reasons}
    )


def score_of(sense: float, depth: float) -> float:
    """Return the score of two probabilities, on the scale of the default bands.

    Linear between four points of the sense: 0; .40 if one name in twenty means the
    thing; .55 if most do; .65 if it is certain. The rest is depth, which counts only if
    the sense is probable.

    Args:
        sense: Probability that the words mean the entity.
        depth: Probability that an entity that is meant is treated at length.
    """
    if sense < _DOUBTFUL:
        base = _THIN * sense / _DOUBTFUL
    elif sense < _LIKELY:
        share = (sense - _DOUBTFUL) / (_LIKELY - _DOUBTFUL)
        base = _THIN + (_MODERATE - _THIN) * share
    else:
        base = _MODERATE + (_NAMED - _MODERATE) * (sense - _LIKELY) / (1 - _LIKELY)
    return base + (1 - _NAMED) * depth * max(0.0, 2 * sense - 1)


@cache
def load_scorers() -> tuple[DefinitionScorer, DefinitionScorer]:
    """Return the scorers of sense and of depth with the shipped weights."""
    content = json.loads(files(__package__).joinpath(WEIGHTS).read_text("utf-8"))
    return to_scorer(content["sense"]), to_scorer(content["depth"])


def _nearest(name: str, terms: Sequence[str]) -> tuple[str, str] | None:
    """Return the term with the most similar spelling, and the reason."""
    key = fold(name)
    best = max(_spelt_alike(key, terms), default=None)
    return None if best is None else (best[1], f"spelling {best[0]:.2f}")


def _spelt_alike(key: str, terms: Sequence[str]) -> Iterator[tuple[float, str]]:
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(key)
    for term in terms:
        other = fold(term)
        if min(len(key), len(other)) < _SHORTEST_NAME:
            continue
        matcher.set_seq1(other)
        if (
            matcher.real_quick_ratio() >= _NEAR_SPELLING
            and matcher.quick_ratio() >= _NEAR_SPELLING
            and matcher.ratio() >= _NEAR_SPELLING
        ):
            yield round(matcher.ratio(), 4), term

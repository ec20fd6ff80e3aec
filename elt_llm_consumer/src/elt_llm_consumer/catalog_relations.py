"""Relations of entities: of the model, inherited from groups, stated in the text.

A relation of the model is direct if the model draws it at the entity itself, and
inherited if it is drawn at the entity's domain or subtype, never at an entity that
has the name of the domain. A stated one is a sentence
whose subject is an entity and whose object is another.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from pydantic import Field

from elt_llm_consumer.context_fields import MentionSentence, skip_mark
from elt_llm_consumer.corpus import Evidence, Handbook, quote_passage
from elt_llm_consumer.definitions.terms import normalise
from elt_llm_consumer.linking.mentions import EntityMention, MentionIndex
from elt_llm_consumer.linking.model_entities import Edge, EdgeRole, Entity
from elt_llm_core.enterprise.relation_words import TYPE_WORDS
from elt_llm_core.records import Record
from elt_llm_core.results import Support

UNIDIRECTIONAL = "unidirectional"
TEXT_SOURCE = "HANDBOOK"
Origin = Literal["direct", "stated", "inherited"]
_ORDER = ("direct", "stated", "inherited")
_ACCEPTED = frozenset({Support.VERIFIED.value, Support.NORMALISED.value})
_WORDS = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBERS = {word: number for number, word in enumerate(_WORDS, 1)}
_NUMBER = rf"(?P<number>\d+|{'|'.join(_NUMBERS)})"
_COUNT = (
    rf"(?:(?P<bound>exactly|only|at\s+least|at\s+most|up\s+to|no\s+more\s+than|"
    rf"not\s+more\s+than)\s+)?{_NUMBER}(?P<more>\s+or\s+more)?"
)
_MANY = r"(?P<many>several|many|multiple|any\s+number\s+of)"
_ARTICLE = r"an?|the|its|their|each|every|any|all|another"
# Text allowed between the two: a verb, and at most a preposition and a determiner. An
# adjective or a second object may make it a statement about something else.
_BETWEEN = re.compile(
    r"\s+(?:(?:must|shall|may|can|will)\s+(?!not\b)(?P<base>[a-z]+)|"
    r"(?P<passive>(?:is|are)\s+[a-z]+(?:ed|en|wn|ld|de|nt|ught))|"
    r"(?P<verb>(?!is\b|as\b|was\b|has\s+been\b|does\b|means\b)[a-z]{2,}s|have|are\s+part))"
    r"(?:\s+(?P<preposition>of|to|in|by|with|for|from|at|on|under))?"
    rf"(?:\s+(?:{_COUNT}|{_MANY}|{_ARTICLE}))?\s+",
)
# The clause ends: with the sentence, at a semicolon, before a clause with a subject of
# its own, or before a second verb whose object ends the sentence.
_END = re.compile(
    r"\s*(?:[.;:!]|$)|\s*,\s+and\s+(?:an?|each|every)\s"
    rf"|\s+(?:and|but)\s+(?:must|shall|may|can|will)\s+(?!not\b)[a-z]+\s+"
    rf"(?:{_COUNT.replace('?P<', '?P<second_')}|{_ARTICLE})\s+[\w-]+[\s.;:!]*$"
)
# Words behind the clause that may make an exception of it: "one boat; in winter it may
# hold three". No count is better than one with an exception.
_EXCEPTION = re.compile(
    rf"\b(?:\d+|{'|'.join(_NUMBERS)}|several|many|multiple|more|up\s+to|unless|except|"
    r"may|it|they)\b",
    re.IGNORECASE,
)
_SECOND = re.compile(r"\s+(?:and|but)(?=\s+(?:must|shall|may|can|will)\s)")
# "No skimmer may cross the line" states what must not happen, not a relation.
_NONE_OF = re.compile(
    r"\b(?:no|neither|nor|not\s+(?:every|all|any|an?))\s+(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)


class TextRelation(Record):
    """A sentence that relates two entities, with the quote as evidence."""

    source: str
    target: str
    verb: str
    cardinality: str = Field(
        default="", description="such as ?-1..*; empty: not stated"
    )
    evidence: Evidence


class _Sighting(NamedTuple):
    start: int
    end: int
    entity: str


def find_stated_relations(
    names: Iterable[str], handbook: Handbook, index: MentionIndex
) -> list[TextRelation]:
    """Return relations that sentences state, in document order, each once.

    Args:
        names: Names of entities.
        handbook: The passages.
        index: Mentions of the names in the passages.
    """
    relations: dict[tuple[str, str, str], TextRelation] = {}
    for number, span, sightings in _sentences_with_two(names, index):
        passage = handbook.passages[number]
        for source, target, words in _sentence_relations(passage.text, span, sightings):
            key = (source.entity, target.entity, words[0])
            if key in relations:
                continue
            evidence = quote_passage(passage, skip_mark(passage.text, *span), span[1])
            if evidence.support in _ACCEPTED:
                relations[key] = TextRelation(
                    source=source.entity,
                    target=target.entity,
                    verb=words[0],
                    cardinality=words[1],
                    evidence=evidence,
                )
    return list(relations.values())


def _sentence_relations(
    text: str, span: tuple[int, int], sightings: Sequence[_Sighting]
) -> Iterator[tuple[_Sighting, _Sighting, tuple[str, str]]]:
    """Return subject, object, and verb with cardinality of a sentence's relations."""
    subject: _Sighting | None = None
    for left, right in pairwise(sightings):
        words = _relating_words(text, span, left, right)
        if words is not None:
            subject = left
        elif subject is not None:
            words = _second_words(text, span, (subject, left, right))
        if subject is None or words is None:
            subject = None
            continue
        yield subject, right, words


def _sentences_with_two(
    names: Iterable[str], index: MentionIndex
) -> Iterator[tuple[int, tuple[int, int], list[_Sighting]]]:
    """Return passage, span and mentions of sentences that name two entities."""
    by_passage: dict[int, list[tuple[EntityMention, str]]] = {}
    for name in sorted(set(names)):
        for mention in index.of(name):
            by_passage.setdefault(mention.number, []).append((mention, name))
    for number in sorted(by_passage):
        sentences: dict[tuple[int, int], set[_Sighting]] = {}
        if len({name for _, name in by_passage[number]}) > 1:
            for mention, name in by_passage[number]:
                span = index.sentence(mention)
                sighting = _Sighting(mention.start, mention.end, name)
                sentences.setdefault(span, set()).add(sighting)
        for span in sorted(sentences):
            if len({one.entity for one in sentences[span]}) > 1:
                yield number, span, sorted(sentences[span])


def _relating_words(
    text: str, span: tuple[int, int], left: _Sighting, right: _Sighting
) -> tuple[str, str] | None:
    """Return verb and cardinality if the sentence relates the two, else None."""
    if left.entity == right.entity or left.end >= right.start:
        return None
    return _read_words(text, span, left, right, text[left.end : right.start])


def _second_words(
    text: str, span: tuple[int, int], sightings: tuple[_Sighting, _Sighting, _Sighting]
) -> tuple[str, str] | None:
    """Return those of a second verb: "holds one loan and may hold two exhibits"."""
    subject, middle, right = sightings
    between = text[middle.end : right.start]
    link = _SECOND.match(between)
    if link is None or subject.entity == right.entity:
        return None
    return _read_words(text, span, subject, right, between[link.end() :])


def _read_words(
    text: str, span: tuple[int, int], left: _Sighting, right: _Sighting, between: str
) -> tuple[str, str] | None:
    match = _BETWEEN.fullmatch(between)
    if match is None:
        return None
    start, end = span
    before, after = text[start : left.start], text[left.end : end]
    around = MentionSentence(before, text[left.start : left.end], after)
    behind = text[right.end : end]
    target = MentionSentence("", text[right.start : right.end], behind)
    if not (around.is_subject and around.is_noun and target.is_noun):
        return None
    if not (around.is_whole and around.has_whole_name) or _NONE_OF.search(before):
        return None
    verb = match["base"] or match["passive"] or match["verb"]
    words = [" ".join(verb.split()), match["preposition"] or ""]
    # "three heats on one day" counts those of a day, not all of them.
    ends = (left.entity, around.mention), (right.entity, target.mention)
    counts = _cardinality(match) if _is_overall(behind, *ends) else ""
    return " ".join(filter(None, words)), counts


def _is_overall(behind: str, subjects: Iterable[str], objects: Iterable[str]) -> bool:
    """Return whether a count holds always: its clause ends, without an exception.

    Args:
        behind: The sentence behind the object.
        subjects: Names of the subject; what follows on it may be an exception.
        objects: Names of the object; a second verb may give it another count.
    """
    end = _END.match(behind)
    if end is None:
        return False
    rest = behind[end.end() :]
    again = _names_any(rest, subjects) or _names_any(end[0], objects)
    return not (again or _EXCEPTION.search(rest))


def _names_any(text: str, names: Iterable[str]) -> bool:
    """Return whether a word of a text starts with a name, as its plural does."""
    return any(re.search(rf"\b{re.escape(n)}", text, re.IGNORECASE) for n in names)


def _cardinality(match: re.Match[str]) -> str:
    """Return the number of targets per source, as far as it is stated."""
    word = match["number"]
    if match["many"]:
        return "?-0..*"
    if not word:
        return ""
    number = _NUMBERS.get(word) or int(word)
    bound = " ".join((match["bound"] or "").split())
    if match["more"] or bound == "at least":
        return f"?-{number}..*"
    if bound in {"at most", "up to", "no more than", "not more than"}:
        return f"?-0..{number}"
    return f"?-{number}..{number}"


class EntityRelations:
    """The relations of entities, seen from each entity.

    Args:
        edges: The relations of the model.
        stated: The relations of the text.
    """

    def __init__(
        self, edges: Sequence[Edge], stated: Sequence[TextRelation] = ()
    ) -> None:
        self._edges = edges
        self._stated = stated
        self._stated_by_end: dict[str, list[TextRelation]] = {}
        for one in stated:
            for end in dict.fromkeys((one.source, one.target)):
                self._stated_by_end.setdefault(end, []).append(one)
        self._by_end: dict[str, list[Edge]] = {}
        for edge in edges:
            for end in dict.fromkeys((normalise(edge.source), normalise(edge.target))):
                self._by_end.setdefault(end, []).append(edge)
        self._conflicts = _find_conflicts(edges, stated)

    def of(self, entity: Entity) -> list[dict[str, Any]]:
        """Return the relations of an entity: direct, stated and inherited ones.

        Each is described from the entity's side: if the relation is drawn from the
        other end, type and cardinality are inverted.
        """
        own, *around = _groups(entity)
        rows = [
            self._row(edge, is_source, group)
            for group in (own, *around)
            for edge in self._by_end.get(normalise(group.name), ())
            for is_source in (True, False)
            if group.is_end(edge, is_source)
            # What a domain has to do with one of its entities is not inherited by it.
            and (group is own or not own.is_end(edge, not is_source))
        ]
        rows += [
            self._stated_row(one, is_source=one.source == entity.name)
            for one in self._stated_by_end.get(entity.name, ())
        ]
        unique = {str(sorted(row.items())): row for row in rows}
        keys = {
            (_ORDER.index(row["origin"]), row["role"], text): row
            for text, row in unique.items()
        }
        return [keys[key] for key in sorted(keys)]

    def _row(self, edge: Edge, is_source: bool, group: "_Group") -> dict[str, Any]:
        origin: Origin = "direct" if group.role == "entity" else "inherited"
        forward, inverse = edge.kind, invert_type(edge.kind)
        turned = invert_cardinality(edge.cardinality)
        direct = f"{edge.source} -> {edge.target}"
        return {
            "target_entity": edge.target if is_source else edge.source,
            "relationship_type": forward if is_source else inverse,
            "inverse_type": inverse if is_source else forward,
            "cardinality": edge.cardinality if is_source else turned,
            "inverse_cardinality": turned if is_source else edge.cardinality,
            "direction": UNIDIRECTIONAL,
            "role": "source" if is_source else "target",
            "origin": origin,
            "provenance": "direct"
            if origin == "direct"
            else f"inherited from {direct} by {group.name}",
            "conflict": self._conflicts.get(_edge_pair(edge), ""),
        }

    def _stated_row(self, one: TextRelation, is_source: bool) -> dict[str, Any]:
        inverse, turned = invert_type(one.verb), invert_cardinality(one.cardinality)
        page = f", p. {one.evidence.page}" if one.evidence.page else ""
        return {
            "target_entity": one.target if is_source else one.source,
            "relationship_type": one.verb if is_source else inverse,
            "inverse_type": inverse if is_source else one.verb,
            "cardinality": one.cardinality if is_source else turned,
            "inverse_cardinality": turned if is_source else one.cardinality,
            "direction": UNIDIRECTIONAL,
            "role": "source" if is_source else "target",
            "origin": "stated",
            "provenance": f"stated in {one.evidence.document}{page}",
            "conflict": self._conflicts.get(_pair(one.source, one.target), ""),
        }

    def table(self, entities: Iterable[Entity] = ()) -> list[dict[str, Any]]:
        """Return every relation of the model once, then those of the text.

        Args:
            entities: Used to find out whether the model relates the groups of two
                entities that the text relates.
        """
        modelled = {
            (
                normalise(edge.source),
                normalise(edge.target),
                edge.cardinality,
                edge.kind,
            ): self._table_row(edge)
            for edge in self._edges
        }
        groups = {one.name: [group.key for group in _groups(one)] for one in entities}
        pairs = {_edge_pair(edge) for edge in self._edges}
        stated = [self._stated_table_row(one, groups, pairs) for one in self._stated]
        stated.sort(key=lambda row: (row["entity_a"], row["entity_b"], str(row)))
        return [*(modelled[key] for key in sorted(modelled)), *stated]

    def _table_row(self, edge: Edge) -> dict[str, Any]:
        return {
            "entity_a": edge.source.lower(),
            "entity_b": edge.target.lower(),
            "relationship_type": edge.kind,
            "inverse_type": invert_type(edge.kind),
            "cardinality": edge.cardinality,
            "inverse_cardinality": invert_cardinality(edge.cardinality),
            "direction": UNIDIRECTIONAL,
            "source": edge.origin,
            "in_model": "yes",
            "conflict": self._conflicts.get(_edge_pair(edge), ""),
            "evidence": [],
        }

    def _stated_table_row(
        self,
        one: TextRelation,
        groups: Mapping[str, Sequence[str]],
        pairs: set[tuple[str, str]],
    ) -> dict[str, Any]:
        in_model = "no"
        if _pair(one.source, one.target) in pairs:
            in_model = "yes"
        elif any(
            (min(left, right), max(left, right)) in pairs
            for left in groups.get(one.source, ())
            for right in groups.get(one.target, ())
        ):
            in_model = "group"
        return {
            "entity_a": one.source.lower(),
            "entity_b": one.target.lower(),
            "relationship_type": one.verb,
            "inverse_type": invert_type(one.verb),
            "cardinality": one.cardinality,
            "inverse_cardinality": invert_cardinality(one.cardinality),
            "direction": UNIDIRECTIONAL,
            "source": TEXT_SOURCE,
            "in_model": in_model,
            "conflict": self._conflicts.get(_pair(one.source, one.target), ""),
            "evidence": [one.evidence.model_dump(mode="json")],
        }


def invert_type(kind: str) -> str:
    """Return the name of a relation from its other end; "" if it has no name."""
    if kind in TYPE_WORDS:
        return TYPE_WORDS[kind].inverse
    known = {words.forward: words.inverse for words in TYPE_WORDS.values()}
    return known.get(kind, f"{kind} (inverse)" if kind else "")


def invert_cardinality(cardinality: str) -> str:
    """Return `0..*-1..1` for `1..1-0..*`."""
    left, dash, right = cardinality.partition("-")
    return f"{right}-{left}" if dash else cardinality


class _Group(NamedTuple):
    """An entity, or what is around it, as an end of relations."""

    name: str
    role: EdgeRole
    domain: str
    subtype: str
    fact_sheet_id: str

    @property
    def key(self) -> str:
        return _end_key(self.name, self.role)

    def is_end(self, edge: Edge, is_source: bool) -> bool:
        """Return whether it is this end of a relation, not only of the same name."""
        name, place = edge.end(is_source)
        if normalise(name) != normalise(self.name):
            return False
        if self.fact_sheet_id and place.fact_sheet_id:
            # Fact sheets above others are entities and groups in one.
            return self.fact_sheet_id == place.fact_sheet_id
        is_inside = self.role == "domain" or place.domain in ("", self.domain)
        is_there = self.role != "entity" or place.subtype in ("", self.subtype)
        return place.role == self.role and is_inside and is_there


def _groups(entity: Entity) -> list[_Group]:
    """Return the entity, and the subtype and the domain around it."""
    domain, subtype = entity.domain, entity.subtype
    groups = [_Group(entity.name, "entity", domain, subtype, entity.fact_sheet_id)]
    if subtype:
        sheet = entity.subtype_fact_sheet_id
        groups.append(_Group(subtype, "subtype", domain, "", sheet))
    if domain:
        sheet = entity.domain_fact_sheet_id
        groups.append(_Group(domain, "domain", domain, "", sheet))
    # A fact sheet above others is listed as an entity of its own domain.
    own = entity.fact_sheet_id
    return groups[:1] + [g for g in groups[1:] if not own or g.fact_sheet_id != own]


def _end_key(name: str, role: EdgeRole) -> str:
    """Return a name that distinguishes an entity from a group of the same name."""
    return normalise(name) if role == "entity" else f"{normalise(name)} ({role})"


def _edge_pair(edge: Edge) -> tuple[str, str]:
    left, right = _edge_keys(edge)
    return min(left, right), max(left, right)


def _edge_keys(edge: Edge) -> tuple[str, str]:
    return (
        _end_key(edge.source, edge.source_place.role),
        _end_key(edge.target, edge.target_place.role),
    )


def _pair(left: str, right: str) -> tuple[str, str]:
    one, two = sorted((normalise(left), normalise(right)))
    return one, two


def _find_conflicts(
    edges: Sequence[Edge], stated: Sequence[TextRelation]
) -> dict[tuple[str, str], str]:
    """Return pairs of ends with their contradictory cardinalities."""
    # Two relations of different types may differ; a sentence is compared with each.
    counts: dict[tuple[str, str, str, str], dict[str, str]] = {}
    for edge in edges:
        for pair, end, text in _counts(*_edge_keys(edge), edge.cardinality):
            ranges = counts.setdefault((*pair, end, edge.kind), {})
            ranges.setdefault(text, "the model")
    in_text = [
        count
        for one in stated
        for count in _counts(
            normalise(one.source), normalise(one.target), one.cardinality
        )
    ]
    for key, ranges in counts.items():
        for pair, end, text in in_text:
            if key[:3] == (*pair, end):
                ranges.setdefault(text, "the text")
    conflicts: dict[tuple[str, str], str] = {}
    for (left, right, end, _), texts in sorted(counts.items()):
        if len(texts) > 1 and not _overlap(texts):
            words = "; ".join(f"{where} says {text}" for text, where in texts.items())
            name = left if end == "first" else right
            conflicts.setdefault((left, right), f"how many of {name}: {words}")
    return conflicts


def _counts(
    source: str, target: str, cardinality: str
) -> Iterator[tuple[tuple[str, str], str, str]]:
    """Return pair, end and cardinality for each end with a stated cardinality."""
    pair = (min(source, target), max(source, target))
    turned = (source, target) != pair
    seen = invert_cardinality(cardinality) if turned else cardinality
    for end, text in zip(("first", "second"), _ends(seen), strict=True):
        if text:
            yield pair, end, text


def _ends(cardinality: str) -> tuple[str, str]:
    left, _, right = cardinality.partition("-")
    return left.replace("?", ""), right.replace("?", "")


def _overlap(texts: Iterable[str]) -> bool:
    """Return whether some number is in all of the ranges."""
    ranges = [_range(text) for text in texts]
    known = [one for one in ranges if one is not None]
    return max(low for low, _ in known) <= min(high for _, high in known)


def _range(text: str) -> tuple[float, float] | None:
    low, dots, high = text.partition("..")
    if not low.isdigit():
        return (0, float("inf"))
    upper = high if dots else low
    return int(low), int(upper) if upper.isdigit() else float("inf")

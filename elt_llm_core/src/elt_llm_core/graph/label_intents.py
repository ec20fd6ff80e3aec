"""Questions in the words of a model: labels of its edges, names of its properties."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from elt_llm_core.enterprise.model import ModelElement, ModelRelation
from elt_llm_core.enterprise.relation_words import words_of
from elt_llm_core.graph.graph_records import ElementRef, GraphAnswer
from elt_llm_core.graph.label_words import (
    ARTICLES,
    BE,
    HAVE,
    PREPOSITIONS,
    LabelVocabulary,
    RelationLabel,
    Shape,
    is_participle,
    is_same_stem,
    parse_label,
    properties_of,
    says_has,
    stem_of,
    verb_of_agent,
)
from elt_llm_core.graph.model_graph import ModelGraph
from elt_llm_core.graph.question_intents import BELONG, Attempt
from elt_llm_core.graph.question_words import (
    ASKING,
    CONTENT_WORDS,
    COUNT_WORDS,
    DOMAIN_WORDS,
    FUNCTION_WORDS,
    LIST_WORDS,
    RELATION_WORDS,
    TYPE_WORDS,
    VIEW_WORDS,
    base_form,
)
from elt_llm_core.graph.verb_intents import NO_RELATION
from elt_llm_core.records import replace_fields

End = Literal["source", "target"]
OTHER_END: dict[End, End] = {"source": "target", "target": "source"}
PLACES = frozenset({"at", "in", "on", "within"})  # "what is stored in the vault?"
DO = frozenset({"do", "does"})
MOST_WORDS = 12  # labels and properties in the text of a refusal
# Reasons, manners, the past and the possessor of an element are not in its relations.
UNANSWERED = frozenset({"did", "how", "whose"})
# What has these words is answered by the intents of every model.
OWN_WORDS = TYPE_WORDS | DOMAIN_WORDS | VIEW_WORDS | RELATION_WORDS | COUNT_WORDS


@dataclass(frozen=True)
class LabelAttempt(Attempt):
    """One reading of a question, tried with the labels and properties of the model.

    Args:
        graph: The model.
        reading: The parsed question.
        vocabulary: The words of its relations and properties.
    """

    vocabulary: LabelVocabulary

    @property
    def is_possible(self) -> bool:
        """Return whether the question names one element and asks something."""
        r = self.reading
        mentions = [m for m in r.mentions if m.ids]
        return len(mentions) == len(r.mentions) == 1 and not ASKING.isdisjoint(
            self._outside.values()
        )

    def by_label(self) -> GraphAnswer | None:
        """Return the other ends of relations with the label that is asked for.

        A verb of ArchiMate and the contents of a group are added where the label is the
        same word.
        """
        ends = {t: end for t, end in self._ends.items() if not says_has(t)}
        answer = self._by_label(ends)
        if answer is None or not answer.elements:
            return answer
        beside = [self.by_verb()]
        if self.reading.words <= CONTENT_WORDS | BELONG:
            beside.append(self.contents())
        joined = _join_answers([answer, *(b for b in beside if b and b.elements)])
        return self.count_answer(joined) if self.reading.has(COUNT_WORDS) else joined

    def by_column(self) -> GraphAnswer | None:
        """Return the relations of a column of an inventory ("has application").

        After all other intents: "has data objects" is also asked of a group.
        """
        answer = self._by_label(self._ends)
        if answer is None or not answer.elements:
            return answer
        return self.count_answer(answer) if self.reading.has(COUNT_WORDS) else answer

    def no_relation(self) -> GraphAnswer | None:
        """Return that the element has no relation with the label that is asked for.

        Not if only a type that is asked for is missing, not for a plain "has", which
        may mean other relations too, and not for the verb of a noun: whose "owner" is
        meant by the label is not certain.
        """
        ends = {
            t: end for t, end in self._ends.items() if base_form(t.casefold()) != HAVE
        }
        asked = {stem_of(word) for word in self._outside.values()}
        labels = filter(None, map(parse_label, ends))
        if any(_asks_by_verb(label, one) for label in labels for one in asked):
            return None
        if not ends or self._relations(ends):
            return None
        has = describe_words(self.graph, self._elements, self.vocabulary)
        return self._answer("verb", f"{NO_RELATION} {has}")

    def by_property(self) -> GraphAnswer | None:
        """Return the values of a property of the element."""
        names = self._properties()
        values = {
            (e.id, name): value
            for e in self._elements
            for name, value in properties_of(e).items()
            if name in names
        }
        if not values:
            return None
        stated = dict.fromkeys(
            f"The {name} of {self._name} is {value}."
            for (_, name), value in values.items()
        )
        refs = []
        for e in self._elements:
            # The proof is the file that states the value, not each that has the name.
            named = [name for key, name in values if key == e.id]
            places = [e.stated_at.get(name, e.location) for name in named]
            refs += [
                replace_fields(ElementRef.of(e), location=place)
                for place in dict.fromkeys(places)
            ]
        answer = self._answer("property", " ".join(stated), elements=refs)
        return answer.model_copy(update={"subjects": tuple(refs)})

    def _by_label(self, ends: dict[str, End]) -> GraphAnswer | None:
        relations = self._relations(ends)
        if not relations:
            return None
        others = self._other_ends(relations, {e.id for e in self._elements})
        return self._relate("verb", others, relations, NO_RELATION)

    def _relations(self, ends: dict[str, End]) -> list[ModelRelation]:
        """Return the relations with these labels, the element at the given ends."""
        return [
            x
            for e in self._elements
            for x in self.graph.index.direct_relations(e.id)
            if (label := self.vocabulary.labels.get(x.id))
            and label.text in ends
            and getattr(x, ends[label.text]).element_id == e.id
        ]

    @cached_property
    def _outside(self) -> dict[int, str]:
        """The words in lower case that belong to no name, by position."""
        inside = {i for m in self.reading.mentions for i in range(m.start, m.end)}
        return {
            i: word.casefold()
            for i, word in enumerate(self.reading.written)
            if i not in inside
        }

    @cached_property
    def _ends(self) -> dict[str, End]:
        """The labels that are asked for, each with the end that the element is."""
        ends: dict[RelationLabel, End] = {}
        for label in dict.fromkeys(self.vocabulary.labels.values()):
            positions = self._positions(label.stems)
            if positions and self._is_understood(positions, label):
                end = self._end(label, positions)
                if end:
                    ends[label] = end
        prepositions = PREPOSITIONS.intersection(self._outside.values()) - {"by"}
        exact = {k: v for k, v in ends.items() if k.prepositions == prepositions}
        return {label.text: end for label, end in (exact or ends).items()}

    def _positions(self, stems: Sequence[str] | frozenset[str]) -> list[int]:
        """Return where the words of a label are; empty if one is missing."""
        positions = []
        for stem in stems:
            at = next(
                (
                    i
                    for i, word in self._outside.items()
                    if i not in self.reading.typed and is_same_stem(stem_of(word), stem)
                ),
                None,
            )
            if at is None:
                return []
            positions.append(at)
        return sorted(positions)

    def _is_understood(
        self, positions: Sequence[int], label: RelationLabel | None
    ) -> bool:
        """Return whether every other word has no influence, or is understood."""
        participle = is_participle(self._outside[positions[0]])
        prepositions = {"by", "of"} | (label.prepositions if label else {"for"})
        rest = {
            i: word
            for i, word in self._outside.items()
            if i not in positions and i not in self.reading.typed
        }
        counts = not COUNT_WORDS.isdisjoint(map(base_form, rest.values()))
        for word in rest.values():
            if word in UNANSWERED and not (word == "how" and counts):
                return False
            if word in PREPOSITIONS:
                known = word in prepositions or (participle and word in PLACES)
            elif word == "where":
                known = participle
            else:
                listing = LIST_WORDS | COUNT_WORDS
                known = word in FUNCTION_WORDS | BE or base_form(word) in listing
            if not known:
                return False
        return True

    def _end(self, label: RelationLabel, positions: Sequence[int]) -> End | None:
        """Return which end of a label the element is; None if that is not clear."""
        at, mention = positions[0], self.reading.mentions[0]
        is_before = mention.start < at
        have = HAVE in map(base_form, self._outside.values())
        if self._is_past(at) or (have and _is_agent_noun(label)):
            return None
        shape, prepositions = self._shape(label, at)
        if shape == "has":
            return self._end_of_has(at)
        if shape == "phrase":
            if is_before:
                return "target" if self._is_genitive() else "source"
            fits = not prepositions or self._preposition() in prepositions
            return "target" if fits else None
        end = self._end_of_verb(label, at, is_before=is_before)
        return OTHER_END[end] if end and shape == "passive" else end

    def _end_of_has(self, at: int) -> End | None:
        """Return the end of "has NOUN": before "has" is the source."""
        start = self.reading.mentions[0].start
        have = [i for i, w in self._outside.items() if base_form(w) == HAVE]
        if len(have) != 1:
            return None
        if start < have[0]:
            return "source"
        return "target" if have[0] < at < start else None

    def _shape(self, label: RelationLabel, at: int) -> tuple[Shape, frozenset[str]]:
        """Return how the label is asked: "the owner of" asks for "owns" as a phrase.

        "Who owns" asks for the other end of the label "owner", as of "is owned by".
        """
        asked = stem_of(self._outside[at])
        if asked in label.stems:
            return label.shape, label.prepositions
        if _asks_by_verb(label, asked):
            return "passive", frozenset()
        is_agent = all(len(asked) > len(stem) for stem in label.stems)
        if is_agent and label.shape == "active":
            return "phrase", frozenset({"of"})
        return ("active" if label.shape == "phrase" else label.shape), frozenset()

    def _end_of_verb(
        self, label: RelationLabel, at: int, *, is_before: bool
    ) -> End | None:
        """Return the end of an element that is subject or object of a verb."""
        preposition = self._preposition()
        own = label.prepositions if label.shape == "active" else frozenset()
        if self._is_passive(at):
            if is_before:
                return None if own else "target"
            is_agent = preposition == "by" or preposition in PLACES - own
            return "source" if is_agent else None
        if "by" in self._outside.values() or self._is_genitive():
            return None
        if is_before:
            return "source"
        return "target" if not preposition or preposition in own else None

    def _is_passive(self, at: int) -> bool:
        words = self._outside
        after = words.get(at + 1, "")
        be = not BE.isdisjoint(words.values())
        return is_participle(words[at]) and (be or after == "by")

    def _is_past(self, at: int) -> bool:
        """Return whether a verb is in the past, of which a model says nothing."""
        word = self._outside[at]
        is_other_form = is_participle(word) and base_form(word) != word
        return is_other_form and not self._is_passive(at)

    def _is_genitive(self) -> bool:
        """Return whether the name is followed by "'s"."""
        mention = self.reading.mentions[0]
        following = mention.end + 1 < len(self.reading.written)
        return following and self._outside.get(mention.end) == "s"

    def _preposition(self) -> str:
        """Return the preposition before the name; empty if there is none."""
        at = self.reading.mentions[0].start - 1
        while at in self.reading.typed or self._outside.get(at) in ARTICLES:
            at -= 1
        word = self._outside.get(at, "")
        return word if word in PREPOSITIONS else ""

    def _properties(self) -> frozenset[str]:
        """Return the names of the properties that are asked for."""
        asked = set()
        for name, stems in self.vocabulary.properties.items():
            if not stems or set(stems) <= OWN_WORDS:
                continue
            positions = self._positions(stems)
            if not positions or not self._is_understood(positions, None):
                continue
            if self._is_nominal(positions):
                asked.add(name)
        return frozenset(asked)

    def _is_nominal(self, positions: Sequence[int]) -> bool:
        """Return whether a property is asked as a noun: "the P of", "'s P", "has"."""
        words = self._outside
        has = HAVE in map(base_form, words.values())
        if self.reading.mentions[0].start > positions[0]:
            is_object = has and not DO.isdisjoint(words.values())
            return is_object or self._preposition() in {"of", "for"}
        after = words.get(positions[-1] + 1, "")
        return (has or self._is_genitive()) and after not in PREPOSITIONS


def _is_agent_noun(label: RelationLabel) -> bool:
    """Return whether a label may be a noun such as "owner", without "of"."""
    is_bare = label.shape == "active" and not label.prepositions
    return is_bare and any(map(verb_of_agent, label.stems))


def _asks_by_verb(label: RelationLabel, asked: str) -> bool:
    """Return whether a label is a noun such as "owner", and its verb is asked for."""
    return _is_agent_noun(label) and asked in map(verb_of_agent, label.stems)


def _join_answers(answers: Sequence[GraphAnswer]) -> GraphAnswer:
    """Return several answers to one question as one."""
    first = answers[0]
    if len(answers) == 1:
        return first
    elements = {e.id: e for a in answers for e in a.elements}
    relations = {r.id: r for a in answers for r in a.relations}
    texts = dict.fromkeys(a.text for a in answers)
    return first.model_copy(
        update={
            "elements": tuple(elements.values()),
            "relations": tuple(relations.values()),
            "text": " ".join(texts),
        }
    )


def describe_words(
    graph: ModelGraph, elements: Sequence[ModelElement], vocabulary: LabelVocabulary
) -> str:
    """Return the labels and the properties that a model has for an element.

    Args:
        graph: The model.
        elements: The elements of one name.
        vocabulary: The words of the model's relations and properties.
    """
    verbs: dict[str, None] = {}
    for e in elements:
        for x in graph.index.direct_relations(e.id):
            words = words_of(x)
            label = vocabulary.labels.get(x.id)
            own = label.text if label else ""
            if x.source.element_id == e.id:
                verbs[own or words.forward] = None
            else:
                verbs[f"{own} (from others)" if own else words.inverse] = None
    names = dict.fromkeys(n for e in elements for n in properties_of(e))
    parts = [
        f"{what} {', '.join(list(listed)[:MOST_WORDS])}"
        + (", …" if len(listed) > MOST_WORDS else "")
        for what, listed in (("the relations", verbs), ("the properties", names))
        if listed
    ]
    name = elements[0].name
    return f"Of {name!r} the model has {' and '.join(parts or ['no relation'])}."

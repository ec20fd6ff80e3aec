"""Questions with a verb of ArchiMate: what serves, realises, reads, does something."""

from collections.abc import Collection, Sequence

from elt_llm_core.enterprise.model import ModelRelation
from elt_llm_core.enterprise.relation_words import words_of
from elt_llm_core.graph.answer_builder import AnswerBuilder
from elt_llm_core.graph.graph_records import ElementRef, GraphAnswer
from elt_llm_core.graph.label_words import is_column
from elt_llm_core.graph.question_words import (
    ACCESS_NAMES,
    ACCESSES,
    ALSO,
    COUNT_WORDS,
    LIST_WORDS,
    NOBODY,
    SERVES,
    USES,
    VERBS,
    Verb,
    base_form,
)

DATA = "DataObject"
SPECIALISES = frozenset({"Specialisation", "Specialization"})
SENDS = frozenset({"receive", "send"})
# "Where does X send data to?", "Which systems does X send information to?"
SENT = frozenset({"data", "information", "where"})
DATA_ASKED = frozenset({"what", "which", "much"})  # "What data does X send?"
NO_RELATION = "In the model there is no such relation."
# "X uses Y" means that Y serves X, or that X accesses Y.
ACCESS = Verb(ACCESSES)
USED = (Verb(SERVES, subject_is_source=False), ACCESS)
HOLDS_DATA = "has data object"  # how an inventory names the access to data


class VerbIntents(AnswerBuilder):
    """Answers questions with a verb of ArchiMate, or an everyday word for one."""

    def by_verb(self) -> GraphAnswer | None:
        """Return the other ends of an element's relations with a verb."""
        r = self.reading
        verbs = [w for w in r.words if w in VERBS or w in USES]
        if len(verbs) != 1 or not self._knows_words(verbs[0]):
            return None
        is_subject = self._is_subject(verbs[0])
        meant = USED if verbs[0] in USES else (VERBS[verbs[0]],)
        relations = self._with_verbs(meant, is_subject=is_subject)
        head = ""
        if not relations:
            if verbs[0] in USES:
                relations = [x for x in self._direct if is_column(x)]
            elif verbs[0] in ALSO and r.types:
                also = (ALSO[verbs[0]],)
                relations = self._with_verbs(also, is_subject=is_subject)
            written = r.written[r.positions[verbs[0]]]
            head = f"The model does not say {written!r} of {self._name}; it says: "
        if not relations and self._has_verb(verbs[0]):
            return self._answer("verb", NO_RELATION)
        every = self._other_ends(relations, {e.id for e in self._elements})
        ends = self._people(verbs[0], every)
        if every and not ends:
            return None
        relations = _with_ends(relations, {e.id for e in ends})
        answer = self._relate("verb", ends, relations, NO_RELATION, head)
        if answer is None or answer.status == "refused":
            return answer
        return self.count_answer(answer) if r.has(COUNT_WORDS) else answer

    def _knows_words(self, verb: str) -> bool:
        """Return whether a question has no other words than those of a verb."""
        r = self.reading
        asked = {r.tokens[at - 1] for w, at in r.positions.items() if w in SENT and at}
        is_sent = verb in SENDS and asked.isdisjoint(DATA_ASKED)
        sent = SENT if is_sent else frozenset[str]()
        return r.only(frozenset([verb]), LIST_WORDS, COUNT_WORDS, sent)

    def _people(self, verb: str, ends: Sequence[ElementRef]) -> list[ElementRef]:
        """Return those of some elements that "who" may mean; all for other questions.

        Who uses a service may be a process: as a question to a model it is "what".
        """
        asks_who = "who" in self.reading.others() and verb not in USES
        return [e for e in ends if not asks_who or not e.type.endswith(NOBODY)]

    def _has_verb(self, verb: str) -> bool:
        """Return whether relations of the model are named by this verb."""
        return any(
            verb in map(base_form, words_of(x).forward.split())
            for x in self.graph.model.relations
        )

    def performers_of(self) -> GraphAnswer | None:
        """Return the elements of a type that do something: "Which role does X?"."""
        r = self.reading
        start, end = r.mentions[0].start, r.mentions[0].end
        asked = r.types and not r.words and not r.domain and end == len(r.tokens)
        if not asked or r.tokens[start - 1 : start] != ("do",):
            return None
        relations = self._with_verbs((VERBS["perform"],), is_subject=False)
        ends = self._other_ends(relations, {e.id for e in self._elements})
        return self._relate("verb", ends, relations, NO_RELATION)

    def _with_verbs(
        self, verbs: Sequence[Verb], *, is_subject: bool
    ) -> list[ModelRelation]:
        """Return the relations in which the element is the subject, or object."""
        return [
            x
            for e in self._elements
            for verb in verbs
            for x in self.graph.index.direct_relations(e.id)
            if self._stands_at(x, e.id, verb, is_subject=is_subject)
        ]

    def _stands_at(
        self, relation: ModelRelation, key: str, verb: Verb, *, is_subject: bool
    ) -> bool:
        """Return whether an element is the subject, or object, of a verb's relation."""
        user = self._data_user(relation) if verb is ACCESS else None
        if user is not None:
            return (user == key) == is_subject
        if relation.type not in verb.types:
            return False
        access = " ".join(relation.properties.get(n, "") for n in ACCESS_NAMES)
        if verb.access not in access.casefold():
            return False
        at_source = verb.subject_is_source == is_subject
        end = relation.source if at_source else relation.target
        return end.element_id == key

    def _is_subject(self, verb: str) -> bool:
        """Return whether the named element is the subject of the verb."""
        r = self.reading
        at, mention = r.positions[verb], r.mentions[0]
        after = r.others(at)
        if verb == "flow" and ("from" in after or "out" in after):
            return True
        return (mention.start < at) != ("by" in r.others())

    def _data_user(self, relation: ModelRelation) -> str | None:
        """Return which end of an inventory's column has the data at the other end."""
        if not is_column(relation):
            return None
        source, target = relation.source.element_id, relation.target.element_id
        if relation.name == HOLDS_DATA:
            return source
        kinds = [
            e.type if (e := self.graph.index.elements.get(key)) else ""
            for key in (source, target)
        ]
        return target if kinds[0] == DATA and kinds[1] != DATA else None

    def more_general(self) -> GraphAnswer | None:
        """Return what an element is a specialisation of."""
        relations = [
            x
            for e in self._elements
            for x in self.graph.index.direct_relations(e.id)
            if x.type in SPECIALISES and x.source.element_id == e.id
        ]
        ends = self._other_ends(relations, {e.id for e in self._elements})
        return self._relate("verb", ends, relations, NO_RELATION)


def _with_ends(
    relations: Sequence[ModelRelation], ids: Collection[str]
) -> list[ModelRelation]:
    """Return the relations with one of these elements at an end."""
    return [x for x in relations if {x.source.element_id, x.target.element_id} & {*ids}]

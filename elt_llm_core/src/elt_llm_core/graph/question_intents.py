"""Intents of questions about a model; each answers one kind of question."""

from collections.abc import Callable, Sequence

from elt_llm_core.enterprise.model import ModelRelation
from elt_llm_core.graph.answer_builder import state_refs, unique_refs
from elt_llm_core.graph.graph_records import ElementRef, GraphAnswer
from elt_llm_core.graph.label_words import (
    is_participle,
    label_of_relation,
    stem_of,
)
from elt_llm_core.graph.model_graph import MOST_HOPS
from elt_llm_core.graph.question_words import (
    AFFECT_WORDS,
    APPEAR_WORDS,
    CONTENT_WORDS,
    COUNT_OF_ENDS,
    COUNT_WORDS,
    DEPEND_WORDS,
    DIRECT_WORDS,
    DIVIDE_WORDS,
    FLOW_WORDS,
    HOLDING,
    HOP_WORDS,
    IMPACT_WORDS,
    IN_TERMS,
    IN_WORDS,
    INDIRECT_WORDS,
    LIST_WORDS,
    LISTING,
    NUMBERS,
    PARTICIPATE_WORDS,
    PLACING,
    RELATION_WORDS,
    TYPE_WORDS,
    WAY_WORDS,
    WHOLE_VERBS,
)
from elt_llm_core.graph.verb_intents import NO_RELATION, VerbIntents

BELONG = frozenset({"belong"})
WHERE = frozenset({"where"})
INSIDE_WORDS = frozenset({"in", "inside", "of", "within"})
HOLDING_STEMS = frozenset(map(stem_of, HOLDING))
OWNS = frozenset({"assign", "own"})
WHOLE = frozenset({"Aggregation", "Composition"})
CAN_FIND = frozenset({"can"})  # "can be found", which is not a permission
LEADS = frozenset({"lead"})
NUMBER_WORDS = frozenset(NUMBERS)
NOUN_AFTER = frozenset(["all", "every", "the", "which"])
Intent = Callable[[], GraphAnswer | None]


class Attempt(VerbIntents):
    """One reading of a question, tried with one intent after the other.

    Args:
        graph: The model.
        reading: The parsed question.
    """

    def rules(self) -> list[Intent]:
        """Return the intents for the number of named elements."""
        r = self.reading
        if any(not mention.ids for mention in r.mentions):
            return []
        if len(r.mentions) == 1 and r.view:
            return [self.views_of]
        by_number: dict[int, list[Intent]] = {
            0: [self.about_all],
            1: [
                self.type_of, self.holders_of, self.place_of, self.group,
                self.count_relations, self.relations_of, self.dependents, self.flows,
                self.hops, self.by_verb, self.performers_of, self.contents,
            ],
            2: [] if r.view else [self.counts_of_ends, self.path],
        }  # fmt: skip
        return by_number.get(len(r.mentions), [])

    def about_all(self) -> GraphAnswer | None:
        """Count or list the elements of a type."""
        r = self.reading
        known = (COUNT_WORDS, LIST_WORDS, IN_WORDS, DIVIDE_WORDS, CAN_FIND)
        counts_relations = r.has(COUNT_WORDS) and r.has(RELATION_WORDS)
        if counts_relations and not r.asks_kind and r.only(RELATION_WORDS, *known):
            return self._count_relations(
                "relations", relations=self.graph.model.relations
            )
        is_list = r.words or LISTING.intersection(r.others())
        if not r.plural or not is_list or not r.only(*known):
            return None
        if r.view and not r.types:
            return self._all_views()
        elements = self._of_types(self.graph.model.elements)
        return None if elements is None else self._list(elements, "in the model")

    def _all_views(self) -> GraphAnswer:
        names = tuple(view.name for view in self.graph.model.views)
        text = f"{len(names)} in the model: {', '.join(names) or 'none'}."
        kind = "count" if self.reading.has(COUNT_WORDS) else "list"
        return self._answer(kind, text, number=len(names), views=names)

    def views_of(self) -> GraphAnswer | None:
        """Return the diagrams that show an element."""
        r = self.reading
        if r.types or r.domain or not r.only(APPEAR_WORDS, IN_WORDS, LIST_WORDS):
            return None
        ids = {e.id for e in self._elements}
        views = [v.name for v in self.graph.model.views if ids & set(v.element_ids)]
        text = f"{self._name} is in {', '.join(views) or 'no diagram'}."
        refs = map(ElementRef.of, self._elements)
        return self._answer("views", text, elements=refs, views=views)

    def group(self) -> GraphAnswer | None:
        """Count or list the elements of a type in a group."""
        r = self.reading
        if not r.only(COUNT_WORDS, LIST_WORDS, IN_WORDS, CONTENT_WORDS):
            return None
        if not (r.types or r.any_type) or not r.plural:
            return None
        if not (PLACING.intersection(r.others()) or r.words):
            return None
        groups = [e for e in self._elements if self.graph.index.children(e.id)]
        if not groups:
            return None
        below = {d.id for g in groups for d in self.graph.descendants(g.id)}
        inside = [e for e in self.graph.model.elements if e.id in below]
        return self._list_of_types(inside, f"in {groups[0].name}")

    def contents(self) -> GraphAnswer | None:
        """Return the members or parts of an element."""
        r = self.reading
        if "belong" in r.words and r.mentions[0].start < r.positions["belong"]:
            return None
        if not r.words or not r.only(CONTENT_WORDS, LIST_WORDS, BELONG):
            return None
        if self._is_object(WHOLE_VERBS):
            return None
        index = self.graph.index
        refs = [ElementRef.of(c) for e in self._elements for c in index.children(e.id)]
        parts = [
            x
            for e in self._elements
            for x in index.direct_relations(e.id)
            if x.type in WHOLE and x.source.element_id == e.id
        ]
        refs += [self.graph.reference(x.target.element_id) for x in parts]
        elements = self._keep_asked(refs)
        if not elements:
            return self._no_contents(refs)
        text = f"{self._name} contains {state_refs(elements)}."
        return self._answer("contents", text, elements=elements, relations=parts)

    def _no_contents(self, others: Sequence[ElementRef]) -> GraphAnswer | None:
        """Return that an element has no contents, or only those of other types."""
        r = self.reading
        if r.domain or not r.has(CONTENT_WORDS | BELONG):  # as "Describe X"
            return None
        if others:
            return self._only_other_types("contents", others)
        none = f"In the model {self._name} contains nothing."
        return self._state_none("contents", none)

    def type_of(self) -> GraphAnswer | None:
        """Return the type of an element."""
        r = self.reading
        if not r.has(TYPE_WORDS) or not r.only(TYPE_WORDS) or r.types or r.domain:
            return None
        if r.tokens[-1:] == ("of",):  # "a kind of": a specialisation
            return self.more_general()
        kinds = dict.fromkeys(e.type or e.role for e in self._elements)
        text = f"{self._name} is of the type {', '.join(kinds)}."
        return self._answer("type", text, elements=map(ElementRef.of, self._elements))

    def place_of(self) -> GraphAnswer | None:
        """Return the domain of an element, and the groups around it."""
        r = self.reading
        asks = (r.domain or "where" in r.words) and not r.types and not r.any_type
        # What is held, is held by a system or a person: see `holders_of`.
        if "where" in r.words and not r.domain and r.has(HOLDING):
            return None
        if not asks or not r.only(IN_WORDS, OWNS, CAN_FIND, LIST_WORDS):
            return None
        holds = r.has(CONTENT_WORDS) and "do" in r.others()
        if holds or any(e.role == "domain" for e in self._elements):
            return None
        above = [ref for e in self._elements for ref in self.graph.ancestors(e.id)]
        if not above:
            return self._answer("place", f"{self._name} is in no domain.")
        places = [
            f"{e.name} is in {' < '.join(a.name for a in above_one)}."
            for e in self._elements
            if (above_one := self.graph.ancestors(e.id))
        ]
        tops = [ref for ref in above if ref.role == "domain"] or above
        return self._answer("place", " ".join(places), elements=unique_refs(tops))

    def holders_of(self) -> GraphAnswer | None:
        """Return what holds an element, by the relations that mean it."""
        r = self.reading
        where = "where" in r.words
        if r.domain or not r.has(HOLDING) or not r.only(HOLDING, LIST_WORDS, WHERE):
            return None
        passive = any(is_participle(w.casefold()) for w in r.written)
        if where != passive or not (where or self._is_object(HOLDING)):
            return None
        relations = [
            x
            for e in self._elements
            for x in self.graph.index.direct_relations(e.id)
            if self._holds(x, e.id)
        ]
        if not relations:
            return None
        ends = self._other_ends(relations, {e.id for e in self._elements})
        answer = self._relate("verb", ends, relations, NO_RELATION)
        return answer if answer and answer.elements else None

    def _holds(self, relation: ModelRelation, key: str) -> bool:
        """Return whether a relation says what holds an element."""
        label = label_of_relation(relation)
        if label and not label.stems.isdisjoint(HOLDING_STEMS):
            is_source = relation.source.element_id == key
            return is_source == (label.shape in {"phrase", "passive"})
        user = self._data_user(relation)
        return user is not None and user != key

    def _is_object(self, verbs: frozenset[str]) -> bool:
        """Return whether the element stands behind a verb in the active voice."""
        r = self.reading
        return any(
            r.mentions[0].start > r.positions[verb]
            and not is_participle(r.written[r.positions[verb]].casefold())
            and not INSIDE_WORDS.intersection(r.others())
            for verb in verbs & r.words
        )

    def count_relations(self) -> GraphAnswer | None:
        """Return the number of relations of an element."""
        r = self.reading
        if not (r.has(COUNT_WORDS) and r.has(RELATION_WORDS)) or r.asks_kind:
            return None
        if not r.only(COUNT_WORDS, RELATION_WORDS, DIRECT_WORDS):
            return None
        return self._count_relations(
            "relations", subject=self._name, relations=self._direct
        )

    def relations_of(self) -> GraphAnswer | None:
        """Return what an element, or else the group around it, is related to."""
        r = self.reading
        known = (RELATION_WORDS, LIST_WORDS, IN_WORDS, PARTICIPATE_WORDS, DIRECT_WORDS)
        if not r.has(RELATION_WORDS) or not r.only(*known):
            return None
        relations, head = self._direct, ""
        own = {e.id for e in self._elements}
        inherited = [
            i
            for e in self._elements
            for i in self.graph.index.inherited_relations(e.id)
        ]
        if not relations and inherited and not r.has(DIRECT_WORDS):
            group = inherited[0].from_element
            relations = [i.relation for i in inherited if i.from_element == group]
            own = {group.id}
            head = f"{self._name} has none of its own; of {group.name}, around it: "
        ends = self._other_ends(relations, own)
        none = f"In the model {self._name} has no relations."
        return self._relate("relations", ends, relations, none, head)

    def dependents(self) -> GraphAnswer | None:
        """Return the direct dependents or dependencies of an element."""
        r = self.reading
        impact = r.has(IMPACT_WORDS)
        known = (DEPEND_WORDS, IMPACT_WORDS, LIST_WORDS, INDIRECT_WORDS, DIRECT_WORDS)
        if not (impact or r.has(DEPEND_WORDS)) or not r.only(*known):
            return None
        # "Who may change X" does not ask for consequences.
        if impact and "if" not in r.words and not r.has(AFFECT_WORDS):
            return None
        is_subject = self._depends()
        hops = MOST_HOPS if impact or r.has(INDIRECT_WORDS) else 1
        walk = self.graph.dependencies if is_subject else self.graph.dependents
        near = [n for e in self._elements for n in walk(e.id, hops)]
        far = [n for n in near if n.distance > 1] if impact else []
        near = [n for n in near if n not in far]
        text = (
            f"{self._name} depends on {{}}."
            if is_subject
            else f"What depends on {self._name}: {{}}."
        )
        if far:
            text += f" Through these, {len(far)} more."
        kind = "dependencies" if is_subject else "impact" if far else "dependents"
        none = (
            f"In the model {self._name} depends on nothing."
            if is_subject
            else f"In the model nothing depends on {self._name}."
        )
        return self._neighbors_answer(kind, text, near, none)

    def _depends(self) -> bool:
        """Return whether the named element is the one that depends on others."""
        r = self.reading
        if "dependency" in r.words:  # "its dependencies" are the elements it depends on
            return True
        if "if" in r.words:
            return False
        affects = r.has(AFFECT_WORDS)
        verb = min(r.positions[w] for w in r.words & (DEPEND_WORDS | AFFECT_WORDS))
        before = r.mentions[0].start < verb
        if affects:  # what X affects, or is affected by X, depends on X
            return before == ("by" in r.others())
        return before

    def flows(self) -> GraphAnswer | None:
        """Return flows in and out of an element."""
        r = self.reading
        tokens = set(r.others())
        through = (
            "through" in r.words or {"into", "out"} <= tokens or {"in", "out"} <= tokens
        )
        if not (through or _is_noun("flow", r.others())):
            return None
        if not r.words & FLOW_WORDS or not r.only(FLOW_WORDS, LIST_WORDS):
            return None
        ids = [flow.id for e in self._elements for flow in self.graph.flows(e.id)]
        relations = [self.graph.index.relations[key] for key in ids]
        ends = self._other_ends(relations, {e.id for e in self._elements})
        none = f"In the model nothing flows through {self._name}."
        return self._relate("flows", ends, relations, none)

    def hops(self) -> GraphAnswer | None:
        """Return the elements some steps away."""
        r = self.reading
        hops = [n for token in r.others() if (n := _number(token))]
        rest = r.words - NUMBER_WORDS - {t for t in r.words if t.isdecimal()}
        known = HOP_WORDS | IN_WORDS | LIST_WORDS
        if len(hops) != 1 or not rest & HOP_WORDS or not rest <= known:
            return None
        around = [
            n for e in self._elements for n in self.graph.neighbors(e.id, hops[0])
        ]
        if "exactly" in r.others() or not {"within", "most"} & {*r.others()}:
            around = [n for n in around if n.distance == hops[0]]
        text = f"{hops[0]} steps from {self._name}: {{}}."
        none = f"In the model nothing is {hops[0]} steps from {self._name}."
        return self._neighbors_answer("neighbors", text, around, none)

    def counts_of_ends(self) -> GraphAnswer | None:
        """Return the cardinalities of the relations between two elements."""
        r = self.reading
        known = (COUNT_OF_ENDS, RELATION_WORDS, WAY_WORDS, LIST_WORDS, IN_TERMS)
        if not r.has(COUNT_OF_ENDS) or not r.only(*known):
            return None
        ones, others = (set(m.ids) for m in r.mentions)
        relations = [
            x
            for x in self.graph.model.relations
            for ends in ((x.source.element_id, x.target.element_id),)
            if x.cardinality
            and (
                (ends[0] in ones and ends[1] in others)
                or (ends[1] in ones and ends[0] in others)
            )
        ]
        stated = [
            f"{x.source.name} to {x.target.name}: {x.cardinality}" for x in relations
        ]
        if not stated:
            return self._state_none("cardinality", "In the model there is none.")
        return self._answer("cardinality", "; ".join(stated) + ".", relations=relations)

    def path(self) -> GraphAnswer | None:
        """Return how two elements are connected."""
        r = self.reading
        if r.types or r.domain:
            return None
        if not r.has(RELATION_WORDS | WAY_WORDS) or not r.only(
            RELATION_WORDS, WAY_WORDS
        ):
            return None
        # "What leads from X to Y" asks for a way, "what led to the X of Y" for a cause.
        if r.words == LEADS and "from" not in r.others():
            return None
        ways = [
            way
            for one in r.mentions[0].ids
            for other in r.mentions[1].ids
            for way in self.graph.paths(one, other, most=1)
        ]
        names = [self.graph.index.elements[m.ids[0]].name for m in r.mentions]
        if not ways:
            none = f"In the model nothing connects {names[0]} with {names[1]}."
            return self._state_none("path", none)
        best = min(ways, key=lambda way: len(way.steps))
        return GraphAnswer(
            question=r.text,
            status="answered",
            kind="path",
            text=" ".join(step.text for step in best.steps),
            subjects=self._subjects,
            elements=best.elements,
            relations=tuple(x for step in best.steps for x in step.relations),
            paths=(best,),
        )


def _is_noun(word: str, tokens: Sequence[str]) -> bool:
    """Return whether a word is a noun by position: "the flows of", "which flows"."""
    if word not in tokens:
        return False
    at = tokens.index(word)
    to_or_from = {"to", "into", "from"} & set(tokens[at:])
    return at > 0 and tokens[at - 1] in NOUN_AFTER and not to_or_from


def _number(token: str) -> int:
    return int(token) if token.isdecimal() else NUMBERS.get(token, 0)

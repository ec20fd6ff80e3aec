"""Look up elements and relations of a model, direct and inherited."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from elt_llm_core.enterprise.model import EnterpriseModel, ModelElement, ModelRelation


class InheritedRelation(NamedTuple):
    """A relation of an ancestor, and the ancestor that has it."""

    relation: ModelRelation
    from_element: ModelElement


class ModelIndex:
    """Elements and relations of a model by id and by name.

    Args:
        model: The model; relations may end at missing elements.
    """

    def __init__(self, model: EnterpriseModel) -> None:
        self.model = model
        self.elements = {element.id: element for element in model.elements}
        self.relations = {relation.id: relation for relation in model.relations}
        self._relations_at: dict[str, list[ModelRelation]] = defaultdict(list)
        self._children: dict[str, list[ModelElement]] = defaultdict(list)
        self._by_name: dict[str, list[ModelElement]] = defaultdict(list)
        for relation in model.relations:
            ends = (relation.source.element_id, relation.target.element_id)
            for element_id in dict.fromkeys(ends):
                self._relations_at[element_id].append(relation)
        for element in model.elements:
            self._by_name[element.name.casefold()].append(element)
            if element.parent_id:
                self._children[element.parent_id].append(element)

    def elements_named(self, name: str) -> list[ModelElement]:
        """Return the elements with a name, ignoring case, in the order of the model."""
        return list(self._by_name.get(" ".join(name.split()).casefold(), ()))

    def children(self, element_id: str) -> list[ModelElement]:
        """Return the direct children of an element."""
        return list(self._children.get(element_id, ()))

    def ancestors(self, element_id: str) -> list[ModelElement]:
        """Return the elements above one, innermost first, stopping at a cycle."""
        return list(self._above(element_id))

    def direct_relations(self, element_id: str) -> list[ModelRelation]:
        """Return the relations that the file states for this element."""
        return list(self._relations_at.get(element_id, ()))

    def inherited_relations(self, element_id: str) -> list[InheritedRelation]:
        """Return the relations of the ancestors, innermost first."""
        return [
            InheritedRelation(relation, ancestor)
            for ancestor in self._above(element_id)
            for relation in self._relations_at.get(ancestor.id, ())
        ]

    def _above(self, element_id: str) -> Iterator[ModelElement]:
        seen = {element_id}
        element = self.elements.get(element_id)
        while element is not None and element.parent_id not in seen:
            seen.add(element.parent_id)
            element = self.elements.get(element.parent_id)
            if element is not None:
                yield element

"""Names of elements: what is spelt otherwise and is the same, and who has a name."""

from collections import Counter
from collections.abc import Iterable

from elt_llm_core.enterprise.model import ModelElement, ModelRelation, RelationEnd
from elt_llm_core.records import replace_fields

# The types of an inventory by what ArchiMate and drawings call the same thing.
_INVENTORY_TYPES = {
    "applicationcomponent": "application",
    "capability": "businesscapability",
}
UNTYPED = frozenset({"", "shape"})  # types of what is drawn without one, in lower case
DATA_TYPES = frozenset({"businessobject", "dataentity", "dataobject", "entity"})
"""What models call a thing that data are kept about, in small letters only."""


def name_and_type(element: ModelElement) -> tuple[str, str]:
    """Return the name and the type of an element as they are compared.

    Args:
        element: An element of any file.
    """
    return fold_name(element.name), kind_of(element.type)


def fold_name(text: str) -> str:
    """Return a name without differences of case and white space.

    Args:
        text: The name as a file spells it.
    """
    return " ".join(text.split()).casefold()


def kind_of(type_name: str) -> str:
    """Return what a type is called in inventories, in small letters only.

    Args:
        type_name: The type as in the file; "" is returned if it says nothing.
    """
    kind = "".join(filter(str.isalpha, type_name)).casefold()
    kind = _INVENTORY_TYPES.get(kind, kind)
    return "" if kind in UNTYPED else kind


class DrawnNames:
    """Drawn elements by name and type; groups only where no entity has the name."""

    def __init__(self, drawn: Iterable[ModelElement]) -> None:
        self.counts: Counter[str] = Counter()  # entities of each name
        self._entities: dict[tuple[str, str], list[ModelElement]] = {}
        self._groups: dict[tuple[str, str], list[ModelElement]] = {}
        for one in drawn:
            key = name_and_type(one)
            if one.role == "entity":
                self.counts[key[0]] += 1
                self._entities.setdefault(key, []).append(one)
            elif one.role != "note" and key[1]:
                self._groups.setdefault(key, []).append(one)

    def of_type(self, name: str, kind: str) -> list[ModelElement]:
        """Return those of a name and a type, else of a type for the same."""
        if same := self._entities.get((name, kind)):
            return same
        alike = sorted(DATA_TYPES - {kind}) if kind in DATA_TYPES else ()
        for other in alike:
            if same := self._entities.get((name, other)):
                return same
        return self._groups.get((name, kind), [])

    def end(self, relation: ModelRelation, kind: str) -> ModelRelation | None:
        """Return a relation that ends at the element that it names; None if unclear."""
        named, other = relation.target, relation.source
        if named.element_id:
            named, other = other, named
        element = self.only(named.name, kind)
        if element is None or element.id == other.element_id:
            return None
        end = RelationEnd(
            element_id=element.id, name=element.name, domain=element.domain
        )
        side = "target" if named is relation.target else "source"
        return replace_fields(relation, **{side: end})

    def only(self, name: str, kind: str) -> ModelElement | None:
        """Return the only entity of a name and a type, or untyped; None for several.

        A kind that nothing has is no type but the heading of a column: "depends on".
        """
        key, wanted = fold_name(name), kind_of(kind)
        same = self.of_type(key, wanted) or self.of_type(key, "")
        if not same and wanted not in {type_ for _, type_ in self._entities}:
            same = [
                e for (n, _), some in self._entities.items() if n == key for e in some
            ]
        return same[0] if len(same) == 1 else None


class GroupNames:
    """The first spelling of each domain, and of each subtype in its domain.

    Args:
        elements: The elements in order of precedence: drawings before inventories.
    """

    def __init__(self, elements: Iterable[ModelElement]) -> None:
        self._first: dict[tuple[str, ...], str] = {}
        for one in elements:
            key = fold_name(one.domain)
            self._first.setdefault((key,), one.domain)
            self._first.setdefault((key, fold_name(one.subtype)), one.subtype)

    def respell(self, element: ModelElement) -> ModelElement:
        """Return an element whose groups have their first spelling."""
        key = fold_name(element.domain)
        domain = self._first[key,]
        subtype = self._first[key, fold_name(element.subtype)]
        if (domain, subtype) == (element.domain, element.subtype):
            return element
        return replace_fields(element, domain=domain, subtype=subtype)

    def respell_ends(self, relation: ModelRelation) -> ModelRelation:
        """Return a relation with the first spelling of the domains at its ends."""
        ends = {"source": relation.source, "target": relation.target}
        changed = {
            name: replace_fields(end, domain=domain)
            for name, end in ends.items()
            if (domain := self._first.get((fold_name(end.domain),), end.domain))
            != end.domain
        }
        return replace_fields(relation, **changed) if changed else relation

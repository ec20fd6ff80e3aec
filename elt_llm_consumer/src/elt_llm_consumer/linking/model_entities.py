"""The entities and relationships of an enterprise model, as records."""

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from elt_llm_core.enterprise.element_names import kind_of
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation, DegradationKind

LEANIX_ORIGIN, ARCHIMATE_ORIGIN = "LEANIX_CONCEPTUAL_MODEL", "ARCHIMATE_MODEL"
INVENTORY_ORIGIN = "INVENTORY"


EntityKey = tuple[str, str, str, str]
"""The domain, subtype, name and fact sheet id of an entity; lists are sorted by it."""


class Entity(Record):
    """A fact sheet of the model that is neither a domain nor a subtype.

    `domain` is empty if it has none in the model.
    """

    name: str
    domain: str = ""
    subtype: str = ""
    fact_sheet_id: str = ""
    domain_fact_sheet_id: str = ""
    subtype_fact_sheet_id: str = ""
    description: str = ""
    type: str = ""
    files: tuple[str, ...] = Field(
        default=(), description="the drawings that have it, else the inventories"
    )
    is_drawn: bool = Field(
        default=True, description="false beside drawings that do not have it"
    )

    @property
    def kind(self) -> str:
        """Return its type in small letters; "" if it has none."""
        return kind_of(self.type)

    @property
    def origin(self) -> str:
        """Return which files have it, unless it is one drawing as for most."""
        files = " and ".join(self.files)
        if not self.is_drawn:
            return f"listed in {files or 'the inventory'}, not drawn"
        return f"one entity of {files}" if len(self.files) > 1 else ""

    @property
    def label(self) -> str:
        """Return the name with its domain or id, to distinguish namesakes."""
        where = self.domain or self.fact_sheet_id
        return f"{self.name} ({where})" if where else self.name

    @property
    def order(self) -> EntityKey:
        """The sort key of every list of entities."""
        return (self.domain, self.subtype, self.name, self.fact_sheet_id)


EdgeRole = Literal["entity", "domain", "subtype", "other"]
"""What an end of a relationship is; "other" is a note or another relationship."""


class EdgePlace(Record):
    """What distinguishes the end of a relationship from others of its name."""

    domain: str = ""
    subtype: str = ""
    fact_sheet_id: str = ""
    role: EdgeRole = "entity"


class Edge(Record):
    """A relationship of the model; its ends may be domains or subtypes."""

    origin: str = Field(default=LEANIX_ORIGIN, description="the kind of its model")
    source: str
    source_place: EdgePlace = EdgePlace()
    target: str
    target_place: EdgePlace = EdgePlace()
    cardinality: str = ""
    kind: str = ""

    def end(self, is_source: bool) -> tuple[str, EdgePlace]:
        """Return the name and the place of one end."""
        if is_source:
            return self.source, self.source_place
        return self.target, self.target_place


class EntityModel(BaseModel):
    """Sorted entities and edges, with the inventory's descriptions.

    An entity that the inventory does not describe has the documentation of its drawing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()
    descriptions: dict[str, str] = Field(
        default_factory=dict, description="fact sheet id to the inventory's description"
    )
    has_inventory: bool = Field(
        default=False, description="whether an inventory belongs to the model"
    )
    left_out: tuple[str, ...] = Field(
        default=(), description="what an inventory lists and the entities have not"
    )

    @cached_property
    def identity(self) -> str:
        """Changes with anything in the model."""
        return digest(self.model_dump_json())


def place_of_entity(entity: Entity) -> EdgePlace:
    """Return the place of an end of a relationship that is an entity."""
    return EdgePlace(
        domain=entity.domain,
        subtype=entity.subtype,
        fact_sheet_id=entity.fact_sheet_id,
    )


def list_left_out(model: EntityModel) -> tuple[Degradation, ...]:
    """Return what inventories list and the entities have not, for a report.

    Args:
        model: The entities.
    """
    kind = DegradationKind.DOCUMENT_WARNING
    return tuple(Degradation(kind=kind, detail=text) for text in model.left_out)

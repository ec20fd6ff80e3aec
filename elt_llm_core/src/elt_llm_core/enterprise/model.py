"""The common model of all readers: elements, relations, views and skips.

Drawings, inventories and exchange files have the same structure here. Everything that a
file draws or lists is an element, a relation, a further occurrence of one, an attribute
of one, or a skip with its reason: nothing is dropped silently.
"""

from typing import Literal

from pydantic import Field

from elt_llm_core.records import Record
from elt_llm_core.results import Box

SIDECAR_KIND = "enterprise_model"
"""The kind of the sidecar that carries an `EnterpriseModel`."""

UNREAD_KIND = "unread_sheet"
"""The kind of the sidecar that carries an `UnreadSheet`."""

ORGANISATION = "organisation"
"""The property of a model that says whose it is."""

INVENTORY_FORMAT = "leanix_inventory"
"""The format of a list of fact sheets, which has no drawing."""

FLOW = "Flow"
"""The type of the relations of an inventory's interfaces to applications."""

ARCHIMATE_FORMATS = ("archimate_exchange", "archimate_archi")
"""The exchange format of The Open Group, and the files of the tool Archi."""

LEANIX_FORMAT = "leanix_drawio"
"""The format of a drawing with fact sheets."""

ElementRole = Literal["entity", "domain", "subtype", "note"]
"""What an element is for: a thing of the model, what groups things, or a remark."""

RelationDirection = Literal["none", "forward", "backward", "both"]
"""How a relation points: not at all, to its target, to its source, both ways."""


class ModelLocation(Record):
    """The location of an element or a relation in its file."""

    file: str = ""
    page: int | None = Field(default=None, ge=1, description="page, sheet or view")
    page_name: str = ""
    key: str = Field(
        default="", description="id of a cell, number of a row, identifier"
    )
    box: Box | None = None

    @property
    def label(self) -> str:
        """Return the place as text, such as "model.drawio, page 1, 117"."""
        page = f"page {self.page}" if self.page is not None else ""
        return ", ".join(part for part in (self.file, page, self.key) if part)


class ModelElement(Record):
    """An element of the model. `id` is unique in the model, names need not be.

    `domain` and `subtype` are the names of the groups around it, outermost first;
    `parent_id` is the innermost group or element around it.
    """

    id: str
    name: str
    type: str = Field(default="", description="DataObject, BusinessActor; as the file")
    role: ElementRole = "entity"
    fact_sheet_id: str = Field(default="", description="what joins it to an inventory")
    domain: str = ""
    subtype: str = ""
    parent_id: str = ""
    level: str = ""
    status: str = ""
    documentation: str = ""
    attributes: tuple[str, ...] = Field(
        default=(), description="rows inside its shape: columns, members of a class"
    )
    properties: dict[str, str] = Field(default_factory=dict)
    location: ModelLocation = ModelLocation()
    occurrences: tuple[ModelLocation, ...] = Field(
        default=(), description="where else it is drawn or listed"
    )
    stated_at: dict[str, ModelLocation] = Field(
        default_factory=dict,
        description="where a property, level or status stands, if not at `location`",
    )


class RelationEnd(Record):
    """One end of a relation. `cardinality` is its count per other end."""

    element_id: str = Field(description="of an element, or of a relation")
    name: str
    domain: str = ""
    cardinality: str = Field(default="", description="1..1, 0..*; empty: not stated")
    role: str = Field(default="", description="name of this end, if it has one")


class ModelRelation(Record):
    """A relation that the file states between two elements.

    `name` is the name of this relation in the file, `type` its type if the format has
    types (ArchiMate, columns of an inventory). The style of a line is neither.
    """

    id: str
    source: RelationEnd
    target: RelationEnd
    name: str = ""
    type: str = ""
    direction: RelationDirection = "none"
    documentation: str = ""
    properties: dict[str, str] = Field(default_factory=dict)
    location: ModelLocation = ModelLocation()
    occurrences: tuple[ModelLocation, ...] = ()

    @property
    def cardinality(self) -> str:
        """Return both ends, source first; `?` if unstated, empty if neither is."""
        ends = (self.source.cardinality, self.target.cardinality)
        return "-".join(end or "?" for end in ends) if any(ends) else ""


class ModelView(Record):
    """A page or diagram with its elements and relations."""

    id: str
    name: str
    viewpoint: str = ""
    documentation: str = ""
    properties: dict[str, str] = Field(default_factory=dict)
    element_ids: tuple[str, ...] = ()
    relation_ids: tuple[str, ...] = ()
    view_ids: tuple[str, ...] = Field(default=(), description="views it links to")


class ModelSkip(Record):
    """Something in the file that is not part of the model, with the reason.

    `relation` is a relation of which the file only names one end, without an
    `element_id`; `target_type` is the type that its column states, in small letters.
    Another file may have this end.
    """

    kind: Literal["element", "relation", "view", "property", "sheet"]
    id: str
    name: str
    reason: str
    page: int | None = None
    relation: ModelRelation | None = None
    target_type: str = ""


class UnreadSheet(Record):
    """A sheet or table that is no inventory, as far as needed to see what it lists."""

    file: str
    name: str
    page: int | None = None
    columns: tuple[str, ...]
    missing: tuple[str, ...] = Field(description="columns that an inventory needs")
    values: tuple[tuple[str, ...], ...] = Field(
        description="some distinct values of each column"
    )


class EnterpriseModel(Record):
    """A whole model, in the order of its file."""

    name: str
    source_file: str
    format: str = Field(description="leanix_drawio, archimate_exchange, …")
    documentation: str = ""
    properties: dict[str, str] = Field(default_factory=dict)
    elements: tuple[ModelElement, ...] = ()
    relations: tuple[ModelRelation, ...] = ()
    views: tuple[ModelView, ...] = ()
    skips: tuple[ModelSkip, ...] = ()

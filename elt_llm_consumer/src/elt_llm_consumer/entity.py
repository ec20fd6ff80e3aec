"""An entity of the enterprise model."""

from collections.abc import Mapping
from typing import Any

from elt_llm_consumer.definitions.names import clean
from elt_llm_core.records import Record


class Entity(Record):
    """A fact sheet of the model that is neither a domain nor a subtype.

    `domain` is empty where the model does not say one.
    """

    name: str
    domain: str = ""
    subtype: str = ""
    fact_sheet_id: str = ""
    domain_fact_sheet_id: str = ""
    subtype_fact_sheet_id: str = ""
    description: str = ""

    @property
    def label(self) -> str:
        """The name with what tells it from others of the same name, if known."""
        where = self.domain or self.fact_sheet_id
        return f"{self.name} ({where})" if where else self.name

    @property
    def order(self) -> tuple[str, str, str, str]:
        """The one order in which entities are ever listed."""
        return (self.domain, self.subtype, self.name, self.fact_sheet_id)


def text_of(row: Mapping[str, Any], key: str) -> str:
    """A value of a sidecar's row with single spaces; "" where it has none."""
    value = row.get(key)
    return clean(str(value)) if value is not None else ""

"""Write a model in the ArchiMate Model Exchange File Format of The Open Group.

The schemas are at https://www.opengroup.org/xsd/archimate/. `elt-llm ingest` reads such
a file as a model; no other tool was tried.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined

_TEMPLATE = "archimate.xml"
# Characters that XML 1.0 excludes.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class ArchimateEntry:
    """An element, or a relation if it has ends.

    Attributes:
        identifier: Unique in the file, and an XML name.
        type: Such as BusinessObject or Association.
        name: The name; empty for a relation without one.
        documentation: A description.
        properties: Names with values; empty values are left out.
        source: Identifier of the element that a relation starts at.
        target: Identifier of the element that it ends at.
    """

    identifier: str
    type: str
    name: str
    documentation: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    target: str = ""


def write_exchange(
    name: str,
    elements: Sequence[ArchimateEntry],
    relations: Sequence[ArchimateEntry],
    language: str = "en",
) -> str:
    """Return the text of an exchange file, version 3.1, to be written as UTF-8.

    Args:
        name: The name of the model.
        elements: Its elements, in the order of the file.
        relations: Its relations; their ends are identifiers of `elements`.
        language: The language of all names and texts.
    """
    keys = sorted({key for one in (*elements, *relations) for key in one.properties})
    environment = Environment(
        loader=PackageLoader("elt_llm_consumer"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["clean"] = lambda text: _NOT_XML.sub("", text)
    return environment.get_template(_TEMPLATE).render(
        name=name,
        elements=elements,
        relations=relations,
        ids={key: f"id-property-{number}" for number, key in enumerate(keys, 1)},
        language=language,
    )

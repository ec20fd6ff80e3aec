"""The options of an ingest, as configuration files, the API and programs give them."""

from datetime import date
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, SecretStr, model_validator

from elt_llm_core.identifiers import collection_id
from elt_llm_core.provenance import RESERVED
from elt_llm_core.results import Scalar

_JOINED = "; "  # between the values of a list


def _attributes_of(values: Any) -> Any:
    """Metadata as stores take it: lists joined, days in ISO 8601."""
    if not isinstance(values, dict):
        return values
    taken = sorted(RESERVED.intersection(values))
    if taken:
        msg = f"{taken[0]!r} is told by each chunk itself; give it another name"
        raise ValueError(msg)
    plain = {key: _scalar_of(value) for key, value in values.items()}
    return plain | ({"date": str(plain["date"])} if "date" in plain else {})


def _scalar_of(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return _JOINED.join(str(_scalar_of(one)) for one in value)
    return value


Attributes = Annotated[dict[str, Scalar], BeforeValidator(_attributes_of)]


class IngestOptions(BaseModel):
    """What to ingest, and where to.

    Exactly one of `collection` and `collection_prefix` is given.
    """

    paths: tuple[str, ...] = Field(
        min_length=1, description="files, folders, patterns, file:// addresses"
    )
    collection: str = Field(
        default="", description="where the documents go: an id, or a name for people"
    )
    collection_title: str = Field(
        default="", description="the name for people, where `collection` is an id"
    )
    collection_prefix: str = Field(default="", description="of several collections")
    rebuild: bool = Field(default=False, description="read unchanged files again too")
    prune: bool = Field(default=False, description="remove documents without a file")
    wait: float = Field(default=0.0, ge=0, description="seconds for another writer")
    uris: tuple[str, ...] = Field(default=(), description="addresses, one a path")
    titles: tuple[str, ...] = Field(default=(), description="titles, one a path")
    dry_run: bool = Field(default=False, description="read and cut, store nothing")
    passwords: tuple[SecretStr, ...] = Field(
        default=(), exclude=True, description="to try on protected PDFs; kept nowhere"
    )
    metadata: Attributes = Field(default_factory=dict, description="put on every chunk")

    @model_validator(mode="before")
    @classmethod
    def _with_id(cls, values: Any) -> Any:
        """Keep what people call the collection beside the id that is made of it."""
        name = values.get("collection") if isinstance(values, dict) else None
        if not name or not isinstance(name, str):
            return values
        key = collection_id(name)
        return {
            "collection_title": "" if key == name else name.strip(),
            **values,
            "collection": key,
        }

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if bool(self.collection) == bool(self.collection_prefix):
            msg = "give either collection or collection_prefix"
            raise ValueError(msg)
        return self

"""The options of an ingest, for configuration files, the API and programs."""

from datetime import date
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, SecretStr, model_validator

from elt_llm_core.identifiers import collection_id
from elt_llm_core.provenance import RESERVED
from elt_llm_core.results import Scalar

_JOINED = "; "  # between the values of a list


def _attributes_of(values: Any) -> Any:
    """Convert metadata to storable values: lists joined, days in ISO 8601."""
    if not isinstance(values, dict):
        return values
    taken = sorted(RESERVED.intersection(values))
    if taken:
        msg = f"{taken[0]!r} is a reserved key of every chunk; use another name"
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
    """What to ingest, and the target collection.

    Exactly one of `collection` and `collection_prefix` is given.
    """

    paths: tuple[str, ...] = Field(
        min_length=1, description="files, folders, patterns, file:// addresses"
    )
    collection: str = Field(
        default="", description="collection to ingest into: an id or a title"
    )
    collection_title: str = Field(
        default="", description="title of the collection, if `collection` is an id"
    )
    collection_prefix: str = Field(
        default="", description="prefix of several collections"
    )
    rebuild: bool = Field(default=False, description="also read unchanged files again")
    prune: bool = Field(
        default=False, description="remove documents whose files no longer exist"
    )
    replace: bool = Field(
        default=False,
        description="remove documents of the same name from other folders",
    )
    wait: float = Field(
        default=0.0, ge=0, description="seconds to wait for another process that writes"
    )
    uris: tuple[str, ...] = Field(default=(), description="addresses, one a path")
    titles: tuple[str, ...] = Field(default=(), description="titles, one a path")
    dry_run: bool = Field(default=False, description="read and chunk, store nothing")
    passwords: tuple[SecretStr, ...] = Field(
        default=(),
        exclude=True,
        description="passwords for encrypted PDFs; never stored",
    )
    metadata: Attributes = Field(
        default_factory=dict, description="metadata of every chunk"
    )
    file_metadata: dict[str, Attributes] = Field(
        default_factory=dict,
        description="more metadata of single files, by path; it wins over `metadata`",
    )
    organisation: str = Field(
        default="", description="whose inventories and models are ingested"
    )

    @property
    def document_facts(self) -> dict[str, Any]:
        """What a person says of every document; another needs another reading."""
        own = {"": self.organisation} if self.organisation else {}
        return {**self.metadata, **own}

    @model_validator(mode="before")
    @classmethod
    def _with_id(cls, values: Any) -> Any:
        """Keep the given name of the collection next to the id derived from it."""
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
            msg = "pass either collection or collection_prefix"
            raise ValueError(msg)
        return self

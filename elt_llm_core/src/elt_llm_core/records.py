"""The base of all frozen records."""

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

R = TypeVar("R", bound="Record")


class Record(BaseModel):
    """A frozen record that refuses what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def build_trusted(model: type[R], /, **fields: Any) -> R:
    """A record of fields known to be right, all of them and in order: none is checked.

    It takes a third of the memory; made by the million where a document is read.
    """
    record = model.__new__(model)
    put = object.__setattr__
    put(record, "__dict__", fields)
    put(record, "__pydantic_fields_set__", _field_names(model))
    put(record, "__pydantic_extra__", None)
    put(record, "__pydantic_private__", None)
    return record


def replace_fields(record: R, /, **fields: Any) -> R:
    """The record with other fields, known to be right: four times as fast as a copy."""
    copy = type(record).__new__(type(record))
    put = object.__setattr__
    put(copy, "__dict__", {**record.__dict__, **fields})
    put(copy, "__pydantic_fields_set__", record.model_fields_set | fields.keys())
    put(copy, "__pydantic_extra__", None)
    put(copy, "__pydantic_private__", None)
    return copy


@cache
def _field_names(model: type[Record]) -> set[str]:
    return set(model.model_fields)

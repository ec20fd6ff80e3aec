"""What every batch product is told."""

from pathlib import Path

from pydantic import Field, field_validator

from elt_llm_core.jobs import Runner
from elt_llm_core.strategy import Strategy


class ProductJob(Strategy[Runner]):
    """Options that all products share."""

    collections: tuple[str, ...] = Field(description="where the documents are")
    model: tuple[str, ...] = Field(
        default=(), description="collections that hold the model, joined into one"
    )
    output: Path | None = Field(default=None, description="where the file goes")
    fresh: bool = Field(default=False, description="do finished items again")
    aliases: Path | None = Field(
        default=None, description="YAML file of entity name to synonyms"
    )
    textbook: bool = Field(
        default=False, description="count sentences that only explain a term too"
    )

    @field_validator("model", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        """One name may stand for a tuple of it, and "" for none."""
        names = (value,) if isinstance(value, str) else value
        return (
            tuple(n for n in names if n) if isinstance(names, tuple | list) else names
        )

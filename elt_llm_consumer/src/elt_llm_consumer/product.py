"""What every batch product is told."""

from pathlib import Path

from pydantic import Field

from elt_llm_core.jobs import Runner
from elt_llm_core.strategy import Strategy


class ProductJob(Strategy[Runner]):
    """Options that all products share."""

    collections: tuple[str, ...] = Field(description="where the documents are")
    model: str = Field(default="", description="the collection that holds the model")
    output: Path | None = Field(default=None, description="where the file goes")
    fresh: bool = Field(default=False, description="do finished items again")
    aliases: Path | None = Field(
        default=None, description="YAML file of entity name to synonyms"
    )
    textbook: bool = Field(
        default=False, description="count sentences that only explain a term too"
    )

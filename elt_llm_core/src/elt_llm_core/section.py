"""What every section of the configuration is: frozen, and closed."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A closed part of the configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

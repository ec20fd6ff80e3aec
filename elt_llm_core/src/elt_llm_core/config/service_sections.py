"""The sections of the configuration about products, the server and logging."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, model_validator

from elt_llm_core.config.base import Name, Section


class ConsumerSection(Section):
    """How the batch products decide."""

    strong: float = Field(
        default=0.70, ge=0, le=1, description="coverage score from which STRONG"
    )
    moderate: float = Field(
        default=0.55, ge=0, le=1, description="coverage score from which MODERATE"
    )
    thin: float = Field(
        default=0.40, ge=0, le=1, description="coverage score from which THIN"
    )
    evidence_top_k: int = Field(
        default=5, ge=1, le=100, description="passages looked at for one entity"
    )
    aliases: Path | None = Field(
        default=None, description="YAML file of entity name to synonyms"
    )
    topics: Path | None = Field(
        default=None, description="YAML file of topics; without it sections are topics"
    )
    items_at_once: int = Field(
        default=4,
        ge=1,
        le=64,
        description="sections, topics or groups of mentions that are written at a "
        "time; calls to one model server are bounded by gateway.calls_at_once",
    )
    server_patience: float = Field(
        default=600.0,
        ge=0,
        description="seconds that a batch waits for a model server that is away; then "
        "it ends, and the same command goes on",
    )

    @model_validator(mode="after")
    def _bands_descend(self) -> "ConsumerSection":
        if not self.strong >= self.moderate >= self.thin:
            msg = "the bands must descend: strong >= moderate >= thin"
            raise ValueError(msg)
        return self


class ApiSection(Section):
    """The HTTP server and its page."""

    host: Name = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=7860, ge=0, le=65535, description="0 takes a free one")
    allowed_hosts: tuple[str, ...] = Field(
        default=("localhost", "127.0.0.1", "[::1]"),
        description="Host headers that are answered",
    )
    max_upload_mb: int = Field(default=200, ge=1, description="larger uploads: 413")
    max_waiting_mb: int = Field(
        default=1000,
        ge=1,
        description="files sent to the page that may wait to be added; more get 413",
    )
    token: SecretStr = Field(
        default=SecretStr(""),
        description="bearer token; beyond loopback a must, of 16 characters or more",
    )
    users: dict[Name, SecretStr] = Field(
        default_factory=dict,
        description="bearer token of each user by name; each sees only the own "
        "conversations; who sends the token of all is the user 'local'",
    )
    reconnect_seconds: float = Field(
        default=5.0,
        ge=0,
        le=600,
        description="how long an answer that nobody reads any more goes on; a browser "
        "that lost its connection asks again after 3 seconds",
    )
    questions_at_once: int = Field(
        default=4, ge=1, le=64, description="questions that are worked on at a time"
    )
    questions_waiting: int = Field(
        default=32, ge=0, le=10_000, description="questions that may wait; more get 429"
    )


class LoggingSection(Section):
    """What is written to standard error."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        default="WARNING", description="least severity that is shown"
    )


class PluginsSection(Section):
    """Strangers' strategies."""

    allow: tuple[str, ...] = Field(
        default=(), description="packages whose strategies may be loaded"
    )

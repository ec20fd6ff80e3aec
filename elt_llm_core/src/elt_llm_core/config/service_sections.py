"""The sections of the configuration about products, the server and logging."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, model_validator

from elt_llm_core.config.base import DefinitionPattern, Name, Section


class ConsumerSection(Section):
    """The domain pack, and thresholds and inputs of the batch products."""

    pack: str = Field(
        default="",
        description="name of a shipped domain pack, or the folder of one; its "
        "settings go below the profile",
    )

    strong: float = Field(
        default=0.70, ge=0, le=1, description="minimum coverage score of STRONG"
    )
    moderate: float = Field(
        default=0.55, ge=0, le=1, description="minimum coverage score of MODERATE"
    )
    thin: float = Field(
        default=0.40, ge=0, le=1, description="minimum coverage score of THIN"
    )
    evidence_top_k: int = Field(
        default=5, ge=1, le=100, description="number of passages examined per entity"
    )
    aliases: Path | None = Field(
        default=None, description="YAML file that maps entity names to synonyms"
    )
    definition_patterns: tuple[DefinitionPattern, ...] = Field(
        default=(),
        description="how documents word definitions, in addition to what is known, "
        "for example: By {term} we understand {definition}",
    )
    table_columns: Path | None = Field(
        default=None,
        description="YAML file with more headers of tables that say who owns, keeps "
        "and classifies an entity, in the form of table_columns.yaml",
    )
    topics: Path | None = Field(
        default=None,
        description="YAML file of topics; without it each section is a topic",
    )
    items_at_once: int = Field(
        default=4,
        ge=1,
        le=64,
        description="sections, topics or groups of mentions processed in "
        "parallel; calls to one model server are limited by "
        "gateway.calls_at_once",
    )
    server_patience: float = Field(
        default=600.0,
        ge=0,
        description="seconds a batch waits for an unreachable model server "
        "before it stops; the same command resumes it",
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
    port: int = Field(
        default=7860, ge=0, le=65535, description="port to listen on; 0: any free port"
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=("localhost", "127.0.0.1", "[::1]"),
        description="accepted Host headers",
    )
    max_upload_mb: int = Field(
        default=200, ge=1, description="maximum size of an upload; larger ones get 413"
    )
    max_waiting_mb: int = Field(
        default=1000,
        ge=1,
        description="maximum total size of uploads waiting to be ingested; more "
        "get 413",
    )
    token: SecretStr = Field(
        default=SecretStr(""),
        description="bearer token of at least 16 characters; required unless the "
        "server listens on loopback only",
    )
    users: dict[Name, SecretStr] = Field(
        default_factory=dict,
        description="bearer token of each user, by name; each user sees only "
        "their own conversations; requests with api.token belong to "
        "the user 'local'",
    )
    reconnect_seconds: float = Field(
        default=5.0,
        ge=0,
        le=600,
        description="seconds an answer continues after its client disconnected; "
        "a browser reconnects after 3 seconds",
    )
    questions_at_once: int = Field(
        default=4, ge=1, le=64, description="questions processed at a time"
    )
    questions_waiting: int = Field(
        default=32,
        ge=0,
        le=10_000,
        description="questions that may wait; further ones get 429",
    )


class LoggingSection(Section):
    """Logging to standard error."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        default="WARNING", description="minimum severity to show"
    )


class PluginsSection(Section):
    """Strategies of third-party packages."""

    allow: tuple[str, ...] = Field(
        default=(), description="third-party packages whose strategies may be loaded"
    )

"""The sections of the configuration about reading, chunking and storing documents."""

from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from elt_llm_core.config.base import Folder, Name, Section


class StoresSection(Section):
    """Where everything lies and when indexes are rebuilt."""

    data_dir: Folder = Field(
        default=Path("elt-llm-data"), description="the data root; --data-dir wins"
    )
    delta_fraction: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="share of unpublished chunks at which the next generation is built",
    )
    backup_hours: float = Field(
        default=24.0,
        ge=0,
        description="hours from one backup after an ingest to the next; 0 = off",
    )
    backups_kept: int = Field(
        default=3, ge=1, description="how many backups stay in the data root"
    )


class ChunkingSection(Section):
    """How text is cut."""

    strategy: Name = Field(default="section_aware", description="name of the chunker")
    chunk_size: int = Field(
        default=200, ge=32, description="most tokens a chunk, by the embedder's tokens"
    )
    chunk_overlap: int = Field(
        default=0, ge=0, description="tokens of whole sentences carried over"
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="further options of the chunker"
    )

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "ChunkingSection":
        if self.chunk_overlap >= self.chunk_size:
            msg = (
                f"chunk_overlap ({self.chunk_overlap}) must be below "
                f"chunk_size ({self.chunk_size})"
            )
            raise ValueError(msg)
        return self


class EnrichmentSection(Section):
    """What is put beside the text of chunks into the indexes; nothing by default."""

    strategy: tuple[str, ...] = Field(
        default=(),
        description="names of enrichers; their order is fixed: dates, heading_path, "
        "contextual_prefix, entities, keywords, questions",
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of each enricher by its name"
    )


class IngestSection(Section):
    """Limits of reading a file."""

    parse_timeout: float = Field(
        default=120.0, gt=0, description="seconds one file may take"
    )
    parse_memory_mb: int = Field(
        default=4096, ge=256, description="address space of the reading process"
    )
    max_file_mb: int = Field(default=512, ge=1, description="larger files are refused")
    max_pages: int = Field(default=20_000, ge=1, description="longer PDFs are refused")
    keep_originals: bool = Field(
        default=True, description="keep the file, so that pages can be shown"
    )
    password_file: Path | None = Field(
        default=None, description="lines `PATTERN: PASSWORD` for protected PDFs"
    )

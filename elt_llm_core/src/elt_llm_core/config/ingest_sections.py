"""The sections of the configuration about reading, chunking and storing documents."""

from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from elt_llm_core.config.base import Folder, Name, Section


class StoresSection(Section):
    """Where data is stored and when indexes are rebuilt."""

    data_dir: Folder = Field(
        default=Path("elt-llm-data"),
        description="the data root; --data-dir takes precedence",
    )
    delta_fraction: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="fraction of unpublished chunks at which the next index "
        "generation is built",
    )
    backup_hours: float = Field(
        default=24.0,
        ge=0,
        description="minimum hours between automatic backups after an ingest; 0: "
        "no automatic backups",
    )
    backups_kept: int = Field(
        default=3, ge=1, description="number of backups to keep in the data root"
    )


class ChunkingSection(Section):
    """How text is split into chunks."""

    strategy: Name = Field(default="section_aware", description="name of the chunker")
    chunk_size: int = Field(
        default=200,
        ge=32,
        description="maximum tokens per chunk, counted by the embedder's tokenizer",
    )
    chunk_overlap: int = Field(
        default=0,
        ge=0,
        description="maximum tokens of whole sentences repeated "
        "from the previous chunk",
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
    """What is indexed in addition to the text of chunks; nothing by default."""

    strategy: tuple[str, ...] = Field(
        default=(),
        description="enrichers to apply, always in this order: "
        "figure_descriptions, dates, heading_path, contextual_prefix, "
        "entities, keywords, questions",
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of each enricher, by name"
    )


class IngestSection(Section):
    """Limits of reading a file."""

    parse_timeout: float = Field(
        default=120.0, gt=0, description="time limit per file, in seconds"
    )
    parse_memory_mb: int = Field(
        default=4096,
        ge=256,
        description="address space limit of the parser process, in MB",
    )
    max_file_mb: int = Field(
        default=512, ge=1, description="files larger than this are refused"
    )
    max_pages: int = Field(
        default=20_000, ge=1, description="PDFs with more pages are refused"
    )
    keep_originals: bool = Field(
        default=True,
        description="keep a copy of each file, so that its pages can be shown",
    )
    password_file: Path | None = Field(
        default=None,
        description="file with lines `PATTERN: PASSWORD` for encrypted PDFs",
    )

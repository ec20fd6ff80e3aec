"""Ingest files: YAML that says what goes into which collection."""

import re
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from elt_llm_core.errors import ConfigError, suggest

CONFIG_FOLDER = Path(__file__).parent / "config"
OURS = frozenset({"rag_config"})
MAX_BYTES = 1_000_000
YAML_SUFFIXES = (".yaml", ".yml")


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChunkingChoice(_Closed):
    """What one ingest file says about cutting; what it leaves out stays."""

    strategy: str | None = None
    chunk_size: int | None = None
    chunk_overlap: int | None = None
    options: dict[str, Any] | None = None


class IngestFile(_Closed):
    """One ingest file. Its paths are relative to its folder."""

    collection_name: str = Field(default="", description="where the documents go")
    collection_prefix: str = Field(default="", description="of several collections")
    file_paths: tuple[str, ...] = Field(min_length=1)
    metadata: dict[str, str | int | float | bool] = Field(default_factory=dict)
    chunking: ChunkingChoice = ChunkingChoice()
    rebuild: bool = Field(default=True, description="drop documents no longer listed")

    @property
    def is_batch(self) -> bool:
        """Whether it only lists other ingest files."""
        return all(path.endswith(YAML_SUFFIXES) for path in self.file_paths)

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        both = bool(self.collection_name) and bool(self.collection_prefix)
        neither = not self.collection_name and not self.collection_prefix
        if both or (neither and not self.is_batch):
            msg = "give either collection_name or collection_prefix"
            raise ValueError(msg)
        return self


def known_files() -> dict[str, Path]:
    """Names and paths of the ingest files that are shipped, sorted."""
    found = sorted(CONFIG_FOLDER.glob("*.yaml"))
    return {path.stem: path for path in found if path.stem not in OURS}


def find_file(name: str) -> Path:
    """The ingest file of a shipped name, or at a path. Raises ConfigError."""
    known = known_files()
    if name in known:
        return known[name]
    path = Path(name).expanduser()
    if path.suffix in YAML_SUFFIXES:
        if path.is_file():
            return path
        raise ConfigError(
            f"there is no ingest file {name}", "check the path's spelling"
        )
    raise ConfigError(
        f"no ingest configuration named {name!r}",
        suggest(name, known) if known else "give the path of a .yaml file",
    )


def read_file(path: Path) -> IngestFile:
    """The ingest file at a path. Raises ConfigError with the key and the cure."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path} is larger than an ingest file can be")
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        detail = re.sub(r"\s+", " ", str(error))
        raise ConfigError(f"{path} is not valid YAML: {detail}") from error
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path} must hold keys and values")
    try:
        return IngestFile.model_validate(loaded)
    except ValidationError as error:
        raise _readable(path, error) from error


def resolved(path: Path, listed: str) -> Path:
    """A listed path, relative to the folder of the ingest file."""
    target = Path(listed).expanduser()
    return target if target.is_absolute() else path.parent / target


def _readable(path: Path, error: ValidationError) -> ConfigError:
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    key = ".".join(where)
    if first["type"] != "extra_forbidden":
        problem = first["msg"].removeprefix("Value error, ")
        return ConfigError(f"{key + ': ' if key else ''}{problem} in {path}")
    if key == "preprocessor":
        return ConfigError(
            f"unknown key {key!r} in {path}",
            "delete it: formats are told from the files themselves",
        )
    model = ChunkingChoice if where[0] == "chunking" else IngestFile
    hint = suggest(where[-1], model.model_fields)
    return ConfigError(f"unknown key {key!r} in {path}", hint)

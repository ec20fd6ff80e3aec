"""Domain packs: folders with documents, aliases and questions, and no code."""

from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from elt_llm_consumer.definitions.terms import clean
from elt_llm_core.errors import ConfigError, UsageError, suggest
from elt_llm_core.identifiers import collection_name

DEFAULT = "kite-regatta"
_MAX_PACK_BYTES = 1_000_000  # of pack.yaml; what a person writes is far smaller


class _PackRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PackDocument(_PackRecord):
    """A file of the pack and the collection it goes into."""

    path: str
    collection: str
    title: str = ""

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        return _inside(value)

    @field_validator("collection")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        return collection_name(value)


class Pack(_PackRecord):
    """The contents of pack.yaml; `folder` is where the file is."""

    name: str
    title: str
    description: str = ""
    documents: tuple[PackDocument, ...] = Field(min_length=1)
    aliases: str = ""
    questions: tuple[str, ...] = ()
    seed_topics: tuple[str, ...] = ()
    textbook: bool = False
    folder: Path = Field(default=Path(), exclude=True)

    @field_validator("aliases")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        return _inside(value) if value else ""

    @property
    def collections(self) -> tuple[str, ...]:
        """Collections of the pack in the order of their first document."""
        return tuple(dict.fromkeys(d.collection for d in self.documents))

    def files(self, collection: str) -> tuple[PackDocument, ...]:
        """The documents of one collection."""
        return tuple(d for d in self.documents if d.collection == collection)

    @property
    def aliases_file(self) -> Path | None:
        """The alias file, or None."""
        return self.folder / self.aliases if self.aliases else None


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\\" in value:
        msg = "a pack may only name files inside its own folder"
        raise ValueError(msg)
    return value


def packs_folder() -> Path:
    """Return the folder of the shipped packs."""
    return Path(__file__).parent / "packs"


def known_packs() -> dict[str, Path]:
    """Return the shipped packs.

    Returns:
        Name to folder, sorted by name.
    """
    packs = sorted(packs_folder().glob("*/pack.yaml"))
    return {file.parent.name: file.parent for file in packs}


def find_pack(name: str) -> Pack:
    """Read a shipped pack by name, or a pack's folder.

    Args:
        name: The name of a shipped pack, or the path of a folder with a `pack.yaml`.

    Returns:
        The pack.

    Raises:
        UsageError: If there is no such pack.
        ConfigError: If the pack is invalid.
    """
    known = known_packs()
    if name in known:
        return read_pack(known[name])
    if (Path(name) / "pack.yaml").is_file():
        return read_pack(Path(name))
    raise UsageError(f"no pack {name!r}", suggest(name, known))


def read_pack(folder: Path) -> Pack:
    """Read the pack in a folder.

    Args:
        folder: The folder with `pack.yaml` and the files that it names.

    Returns:
        The pack.

    Raises:
        ConfigError: If the pack is invalid or a file is missing.
    """
    file = folder / "pack.yaml"
    try:
        if file.stat().st_size > _MAX_PACK_BYTES:
            raise ConfigError(f"{file} is too large for a pack")
        loaded = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid YAML: {clean(str(error))}") from error
    pack = _validate(loaded, file).model_copy(update={"folder": folder})
    paths = [d.path for d in pack.documents] + ([pack.aliases] if pack.aliases else [])
    for name in paths:
        if not (folder / name).is_file():
            raise ConfigError(f"{file} names {name!r}, which is not in the folder")
    return pack


def _validate(loaded: Any, file: Path) -> Pack:
    if not isinstance(loaded, dict) or "folder" in loaded:
        raise ConfigError(f"{file} must contain the keys {', '.join(_keys())}")
    try:
        return Pack.model_validate(loaded)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            last = str(first["loc"][-1])
            known = PackDocument.model_fields if "." in where else _keys()
            raise ConfigError(
                f"unknown key {where!r} in {file}", suggest(last, known)
            ) from error
        reason = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{where} in {file}: {reason}") from error


def _keys() -> list[str]:
    return [name for name in Pack.model_fields if name != "folder"]

"""Domain packs: what is peculiar to an organisation, as a folder without code.

A pack names documents, aliases, questions and topics, and settings that go below a
profile: a prompt, the wording of definitions, weights of sections, profiles of its own.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from elt_llm_core.config.base import DefinitionPattern
from elt_llm_core.errors import (
    ConfigError,
    UsageError,
    describe_yaml_error,
    suggest,
    suggest_key,
)
from elt_llm_core.identifiers import collection_name

DEFAULT = "kite-regatta"
_MAX_BYTES = 1_000_000  # of pack.yaml or a prompt; what a person writes is far smaller
_MOST_LISTED = 20  # files in a message; a pack has a few
_STEP = "section_weight"  # the postprocessor that applies `section_rules`
_STEPS = ("candidate_strategy", "postprocessor_strategy")


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\\" in value:
        msg = "a pack may only name files inside its own folder"
        raise ValueError(msg)
    return value


PackFile = Annotated[str, AfterValidator(_inside)]
"""A path below the pack's folder."""


class _PackRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PackDocument(_PackRecord):
    """A file of the pack and the collection it goes into."""

    path: PackFile
    collection: str
    title: str = ""

    @field_validator("collection")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        return collection_name(value)


class PackPrompts(_PackRecord):
    """Text files of the pack that a language model reads."""

    system: PackFile = Field(
        default="", description="file whose text becomes query.system_prompt"
    )


class Pack(_PackRecord):
    """The contents of pack.yaml; `folder` is where the file is."""

    name: str
    title: str
    description: str = ""
    documents: tuple[PackDocument, ...] = Field(min_length=1)
    aliases: PackFile = ""
    table_columns: PackFile = Field(
        default="", description="file with more headers of tables about information"
    )
    questions: tuple[str, ...] = ()
    seed_topics: tuple[str, ...] = ()
    textbook: bool = False
    prompts: PackPrompts = PackPrompts()
    definition_patterns: tuple[DefinitionPattern, ...] = ()
    section_rules: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict,
        description="weight by words of a section's path; 0 leaves the section out",
    )
    profiles: tuple[PackFile, ...] = ()
    folder: Path = Field(default=Path(), exclude=True)

    @field_validator("profiles")
    @classmethod
    def _are_yaml(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            if PurePosixPath(path).suffix != ".yaml":
                msg = f"the profile {path!r} must be a file whose name ends in .yaml"
                raise ValueError(msg)
        return value

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

    @property
    def profile_files(self) -> dict[str, Path]:
        """The profiles of the pack: name to file."""
        return {Path(name).stem: self.folder / name for name in self.profiles}

    @property
    def file_names(self) -> tuple[str, ...]:
        """Every file that pack.yaml names."""
        named = (
            *(document.path for document in self.documents),
            *(self.aliases, self.table_columns, self.prompts.system),
        )
        return tuple(name for name in (*named, *self.profiles) if name)

    def settings(self) -> dict[str, Any]:
        """Return the keys of the configuration that the pack sets.

        Raises:
            ConfigError: If the file of a prompt cannot be read.
        """
        query: dict[str, Any] = {}
        consumer: dict[str, Any] = {}
        if self.prompts.system:
            query["system_prompt"] = _read_text(self.folder / self.prompts.system)
        if self.aliases_file:
            consumer["aliases"] = str(self.aliases_file)
        if self.table_columns:
            consumer["table_columns"] = str(self.folder / self.table_columns)
        if self.definition_patterns:
            consumer["definition_patterns"] = list(self.definition_patterns)
        return {"query": query, "consumer": consumer}

    def add_section_rules(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings with the weights of sections as a step before reranking.

        The step is added to those of the profile, where a list would be replaced.
        Settings that weigh sections already are left as they are.

        Args:
            settings: All that is set, section to keys.
        """
        query = dict(settings.get("query") or {})
        steps = [query.get(key) or () for key in _STEPS]
        listed = all(isinstance(names, list | tuple) for names in steps)
        if not self.section_rules or not listed or any(_STEP in s for s in steps):
            return dict(settings)
        query["candidate_strategy"] = [*steps[0], _STEP]
        options = dict(query.get("candidate_options") or {})
        query["candidate_options"] = {**options, _STEP: {"weights": self.section_rules}}
        return {**settings, "query": query}


def known_packs() -> dict[str, Path]:
    """Return the packs that ship with elt_llm_consumer, where it is installed.

    Returns:
        Name to folder, sorted by name.
    """
    spec = find_spec("elt_llm_consumer")
    places = (spec and spec.submodule_search_locations) or ()
    packs = sorted(f for place in places for f in Path(place).glob("packs/*/pack.yaml"))
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
        loaded = yaml.safe_load(_read_text(file))
    except yaml.YAMLError as error:
        reason = describe_yaml_error(error)
        raise ConfigError(f"{file} is not valid YAML: {reason}") from error
    pack = _validate(loaded, file).model_copy(update={"folder": folder.absolute()})
    for name in pack.file_names:
        path = folder / name
        if not path.is_file():
            raise ConfigError(
                f"{file} names {name!r}, which is not in the folder",
                suggest_key(name, _list_files(folder)),
            )
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ConfigError(
                f"{file} names {name!r}, a link that leads out of the folder"
            )
    return pack


def _list_files(folder: Path) -> list[str]:
    """The first files of a pack's folder by their paths in it."""
    there = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    return sorted(islice(there, _MOST_LISTED))


def _read_text(file: Path) -> str:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{file} is too large for a pack")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8") from error


_KEYS_OF = {
    "documents": PackDocument.model_fields,
    "prompts": PackPrompts.model_fields,
}


def _validate(loaded: Any, file: Path) -> Pack:
    if not isinstance(loaded, dict) or "folder" in loaded:
        raise ConfigError(f"{file} must contain the keys {', '.join(_keys())}")
    try:
        return Pack.model_validate(loaded)
    except ValidationError as error:
        # A misspelt key is often missing too: the message names what was written.
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            last = str(first["loc"][-1])
            known = _KEYS_OF.get(str(first["loc"][0])) if "." in where else _keys()
            raise ConfigError(
                f"unknown key {where!r} in {file}", suggest_key(last, known or ())
            ) from error
        reason = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{where} in {file}: {reason}") from error


def _keys() -> list[str]:
    return [name for name in Pack.model_fields if name != "folder"]

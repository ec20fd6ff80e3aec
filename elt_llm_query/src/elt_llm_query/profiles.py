"""Profiles of the question runner: which collections to ask, and settings on top.

    collections: [{name: handbook}]          # "*" is every collection
    collection_prefixes: [{name: rules}]     # rules and every rules_...
    query: {similarity_top_k: 10, system_prompt: "..."}

Any section of the configuration may be added; an unknown key is an error.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from elt_llm_core.config.loader import load_config, plain_reason
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ConfigError, UnknownProfileError, UsageError

EVERYTHING = "*"
SHIPPED = Path(__file__).parent / "profiles"
_OWN = ("collections", "collection_prefixes")


class Named(BaseModel):
    """An entry with a name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)


class Selection(BaseModel):
    """The collections a profile asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    collections: tuple[Named, ...] = ()
    collection_prefixes: tuple[Named, ...] = ()

    def resolve(self, existing: Sequence[str]) -> list[str]:
        """Names in the order given, explicit ones first, once each.

        A prefix selects the collection of that name and all that continue with `_`.
        Raises UsageError if nothing is left.
        """
        names: list[str] = []
        for entry in self.collections:
            names += sorted(existing) if entry.name == EVERYTHING else [entry.name]
        for entry in self.collection_prefixes:
            names += [n for n in sorted(existing) if _has_prefix(n, entry.name)]
        if not names:
            raise UsageError(
                "the profile selects no existing collection",
                "add documents first: elt-llm ingest PATH --collection NAME",
            )
        return list(dict.fromkeys(names))


class RunProfile(BaseModel):
    """A profile: what to ask, and with which configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    selection: Selection
    config: RagConfig


def known_profiles() -> dict[str, Path]:
    """Return profile names and files; those in ./profiles override shipped ones."""
    files = {p.stem: p for p in sorted(SHIPPED.glob("*.yaml"))}
    files |= {p.stem: p for p in sorted(Path("profiles").glob("*.yaml"))}
    return dict(sorted(files.items()))


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> RunProfile:
    """Load a profile by name or path, with `overrides` on top of its settings.

    Raises UnknownProfileError, or ConfigError with the file and the key.
    """
    file = _file_of(name)
    content = _read(file)
    own = {key: content.pop(key) for key in _OWN if key in content}
    try:
        selection = Selection.model_validate(own)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{where} in {file}: {plain_reason(first['msg'])}") from error
    for section, values in (overrides or {}).items():
        below = content.get(section)
        content[section] = {**(below if isinstance(below, dict) else {}), **values}
    return RunProfile(
        name=file.stem, selection=selection, config=load_config(overrides=content)
    )


def _has_prefix(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix.removesuffix("_") + "_")


def _file_of(name: str) -> Path:
    path = Path(name)
    if path.suffix in {".yaml", ".yml"} and path.is_file():
        return path
    known = known_profiles()
    if name not in known:
        raise UnknownProfileError(name, known)
    return known[name]


def _read(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"cannot read the profile {file}: {reason}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{file} must contain keys and values")
    return content

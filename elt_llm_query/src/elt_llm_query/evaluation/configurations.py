"""The configurations that are compared: presets, single settings and sweeps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_query.evaluation.corpus import TextOptions

MOST = 200
MAX_BYTES = 1_000_000
_KEYS = ("configurations", "grid")

Change = tuple[tuple[str, ...], Any]  # the parts of a dotted key, and the value
Load = Callable[[str | None, Mapping[str, Any]], RagConfig]


def configurations(
    load: Load,
    presets: Sequence[str],
    settings: Sequence[str],
    sweep: Path | Mapping[str, Sequence[Change]] | None,
) -> dict[str, RagConfig]:
    """Name to configuration, in order: every preset times every entry of the sweep.

    `sweep` is a YAML file or what one holds, name to changes.
    `load` makes a configuration of a profile's name and overrides. Raises UsageError
    for a setting that is not KEY=VALUE, or more than 200 configurations; ConfigError.
    """
    base = [_setting(text) for text in settings]
    entries = _entries(sweep) if isinstance(sweep, Path) else sweep or {"": []}
    names: Sequence[str | None] = presets or [None]
    if len(names) * len(entries) > MOST:
        raise UsageError(
            f"{len(names) * len(entries)} configurations are asked for",
            f"at most {MOST} at once: leave values out of the sweep",
        )
    return {
        _name(preset, entry): load(preset, _nested([*base, *changes]))
        for preset in names
        for entry, changes in entries.items()
    }


def text_of(settings: Sequence[str]) -> TextOptions:
    """What is indexed, from KEY=VALUE texts. Raises UsageError."""
    try:
        told = dict(text.split("=", 1) for text in settings)
        return TextOptions.model_validate(told, strict=False)
    except ValueError as error:
        raise UsageError(
            f"--text {' '.join(settings)!r} cannot be used",
            "it takes title=true or false, tokens=NUMBER, document=KEY and section=KEY",
        ) from error


def changed(config: RagConfig) -> dict[str, object]:
    """Dotted keys of what shapes a search and is not default, with their values."""
    default = RagConfig()
    found = {}
    for section in ("models", "chunking", "enrichment", "keywords", "query"):
        ours = getattr(config, section).model_dump(mode="json")
        plain = getattr(default, section).model_dump(mode="json")
        for key, value in ours.items():
            if value != plain[key]:
                found[f"{section}.{key}"] = value
    return found


def _name(preset: str | None, entry: str) -> str:
    return " ".join(part for part in (preset, entry) if part) or "default"


def _setting(text: str) -> Change:
    key, separator, value = text.partition("=")
    if not separator or "." not in key:
        raise UsageError(
            f"--set {text!r} is no SECTION.KEY=VALUE",
            "for example: --set query.fusion_options.alpha=0.4",
        )
    try:
        return tuple(key.strip().split(".")), yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise UsageError(f"--set {text!r}: the value is no YAML") from error


def _entries(sweep: Path) -> Mapping[str, Sequence[Change]]:
    """Name to changes: every named configuration times every point of the grid."""
    told = _read(sweep)
    named = told.get("configurations") or {"": {}}
    grid = told.get("grid") or {}
    if not isinstance(named, dict) or not isinstance(grid, dict):
        raise ConfigError(f"configurations and grid in {sweep} must be mappings")
    axes = [
        [(tuple(str(key).split(".")), value) for value in _listed(values)]
        for key, values in grid.items()
    ]
    return {
        _entry(name, point): [*_flat(name, sections or {}), *point]
        for name, sections in named.items()
        for point in product(*axes)
    }


def _read(sweep: Path) -> dict[str, Any]:
    try:
        data = sweep.read_bytes()[:MAX_BYTES]
        told = yaml.safe_load(data)
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"cannot read the sweep {sweep}: {reason}") from error
    if not isinstance(told, dict) or not told or told.keys() - set(_KEYS):
        raise ConfigError(
            f"{sweep} is no sweep",
            "it holds `configurations` (name to settings), `grid` (SECTION.KEY to a "
            "list of values), or both",
        )
    return told


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def _entry(name: object, point: Iterable[Change]) -> str:
    parts = [str(name), *(f"{key[-1]}={value}" for key, value in point)]
    return " ".join(part for part in parts if part)


def _flat(name: object, sections: Any) -> list[Change]:
    """Changes of `{section: {key: value}}`, or of `{section.key: value}`."""
    if not isinstance(sections, dict):
        raise ConfigError(
            f"the configuration {name!r} of the sweep is {sections!r}",
            "write {query: {fusion_strategy: rrf}} or {query.fusion_strategy: rrf}",
        )
    found: list[Change] = []
    for section, values in sections.items():
        path = tuple(str(section).split("."))
        if len(path) > 1:
            found.append((path, values))
        elif isinstance(values, dict):
            found += [((*path, str(key)), value) for key, value in values.items()]
        else:
            raise ConfigError(
                f"{section} = {values!r} in the configuration {name!r} of the sweep",
                "a section holds keys: {query: {num_queries: 2}}",
            )
    return found


def _nested(changes: Iterable[Change]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, value in changes:
        below = found
        for part in path[:-1]:
            inner = below.get(part)
            below[part] = dict(inner) if isinstance(inner, dict) else {}
            below = below[part]
        below[path[-1]] = value
    return found


def swept(sweep: Path | Mapping[str, Sequence[Change]]) -> list[str]:
    """SECTION.KEY of everything that a sweep sets, sorted."""
    entries = _entries(sweep) if isinstance(sweep, Path) else sweep
    return sorted({".".join(key[:2]) for of in entries.values() for key, _ in of})

"""The configurations to compare: presets, single settings and sweeps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_query.evaluation.passage_index import TextOptions

_MOST = 200  # configurations: each is kept in memory until the report is written
_MAX_BYTES = 1_000_000  # of a sweep; files written by hand are far smaller
_KEYS = ("configurations", "grid")

Change = tuple[tuple[str, ...], Any]  # the parts of a dotted key, and the value
Load = Callable[[str | None, Mapping[str, Any]], RagConfig]


def build_configurations(
    load: Load,
    presets: Sequence[str],
    settings: Sequence[str],
    sweep: Path | Mapping[str, Sequence[Change]] | None,
) -> dict[str, RagConfig]:
    """Return name to configuration: every preset with every entry of the sweep.

    Args:
        load: Makes a configuration from a profile's name and overrides.
        presets: Names of profiles; none means the configured one.
        settings: KEY=VALUE settings of all configurations.
        sweep: A YAML file, or a mapping of names to changes.

    Raises:
        UsageError: If a setting is not KEY=VALUE, or for more than 200 configurations.
        ConfigError: If the sweep or a setting is invalid.
    """
    base = [_setting(text) for text in settings]
    entries = _entries(sweep) if isinstance(sweep, Path) else sweep or {"": []}
    names: Sequence[str | None] = presets or [None]
    if len(names) * len(entries) > _MOST:
        raise UsageError(
            f"{len(names) * len(entries)} configurations are requested",
            f"at most {_MOST} at once: leave values out of the sweep",
        )
    return {
        _name(preset, entry): load(preset, _nest([*base, *changes]))
        for preset in names
        for entry, changes in entries.items()
    }


def parse_text_options(settings: Sequence[str]) -> TextOptions:
    """Parse KEY=VALUE texts into options of the index. Raises UsageError."""
    try:
        options = dict(text.split("=", 1) for text in settings)
        return TextOptions.model_validate(options, strict=False)
    except ValueError as error:
        raise UsageError(
            f"--text {' '.join(settings)!r} cannot be used",
            "it takes title=true or false, tokens=NUMBER, document=KEY and section=KEY",
        ) from error


def changed_settings(config: RagConfig) -> dict[str, object]:
    """Return non-default settings that affect a search, as dotted keys and values."""
    default = RagConfig()
    changed = {}
    for section in ("models", "chunking", "enrichment", "keywords", "query"):
        ours = getattr(config, section).model_dump(mode="json")
        plain = getattr(default, section).model_dump(mode="json")
        for key, value in ours.items():
            if value != plain[key]:
                changed[f"{section}.{key}"] = value
    return changed


def _name(preset: str | None, entry: str) -> str:
    return " ".join(part for part in (preset, entry) if part) or "default"


def _setting(text: str) -> Change:
    key, separator, value = text.partition("=")
    if not separator or "." not in key:
        raise UsageError(
            f"--set {text!r} is not SECTION.KEY=VALUE",
            "for example: --set query.fusion_options.alpha=0.4",
        )
    try:
        return tuple(key.strip().split(".")), yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise UsageError(f"--set {text!r}: the value is not valid YAML") from error


def _entries(sweep: Path) -> Mapping[str, Sequence[Change]]:
    """Name to changes: every named configuration with every point of the grid."""
    contents = _read(sweep)
    named = contents.get("configurations") or {"": {}}
    grid = contents.get("grid") or {}
    if not isinstance(named, dict) or not isinstance(grid, dict):
        raise ConfigError(f"configurations and grid in {sweep} must be mappings")
    axes = [
        [
            (tuple(str(key).split(".")), value)
            for value in (values if isinstance(values, list) else [values])
        ]
        for key, values in grid.items()
    ]
    return {
        _entry_name(name, point): [*_flatten(name, sections or {}), *point]
        for name, sections in named.items()
        for point in product(*axes)
    }


def _read(sweep: Path) -> dict[str, Any]:
    try:
        data = sweep.read_bytes()[:_MAX_BYTES]
        contents = yaml.safe_load(data)
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"cannot read the sweep {sweep}: {reason}") from error
    if not isinstance(contents, dict) or not contents or contents.keys() - set(_KEYS):
        raise ConfigError(
            f"{sweep} is not a sweep",
            "it may contain `configurations` (name to settings), `grid` (SECTION.KEY "
            "to a list of values), or both",
        )
    return contents


def _entry_name(name: object, point: Iterable[Change]) -> str:
    parts = [str(name), *(f"{key[-1]}={value}" for key, value in point)]
    return " ".join(part for part in parts if part)


def _flatten(name: object, sections: Any) -> list[Change]:
    """Changes from `{section: {key: value}}` or `{section.key: value}`."""
    if not isinstance(sections, dict):
        raise ConfigError(
            f"the configuration {name!r} of the sweep is {sections!r}",
            "write {query: {fusion_strategy: rrf}} or {query.fusion_strategy: rrf}",
        )
    changes: list[Change] = []
    for section, values in sections.items():
        path = tuple(str(section).split("."))
        if len(path) > 1:
            changes.append((path, values))
        elif isinstance(values, dict):
            changes += [((*path, str(key)), value) for key, value in values.items()]
        else:
            raise ConfigError(
                f"{section} = {values!r} in the configuration {name!r} of the sweep",
                "a section contains keys: {query: {num_queries: 2}}",
            )
    return changes


def _nest(changes: Iterable[Change]) -> dict[str, Any]:
    overrides: dict[str, Any] = {}
    for path, value in changes:
        below = overrides
        for part in path[:-1]:
            inner = below.get(part)
            below[part] = dict(inner) if isinstance(inner, dict) else {}
            below = below[part]
        below[path[-1]] = value
    return overrides


def swept_settings(sweep: Path | Mapping[str, Sequence[Change]]) -> list[str]:
    """Return SECTION.KEY of every setting in a sweep, sorted."""
    entries = _entries(sweep) if isinstance(sweep, Path) else sweep
    return sorted({".".join(key[:2]) for of in entries.values() for key, _ in of})

"""The file of aliases: other names under which a handbook speaks of an entity."""

from pathlib import Path
from typing import Any

from elt_llm_core.config.yaml_file import read_yaml_file
from elt_llm_core.errors import ConfigError

MOST_BYTES = 5_000_000  # far beyond any list that people maintain


def read_aliases(path: Path | None) -> dict[str, tuple[str, ...]]:
    """Read the synonyms of entities.

    Args:
        path: A YAML file that maps each entity name to a list; None for no synonyms.

    Returns:
        Entity name to synonyms, both sorted.

    Raises:
        ConfigError: If the file cannot be read or has another structure.
    """
    if path is None:
        return {}
    loaded = read_yaml_file(path, "an alias file", MOST_BYTES)
    if loaded is None:
        return {}
    if not isinstance(loaded, dict) or not all(map(_is_alias, loaded.items())):
        raise ConfigError(
            f"{path} must map each entity name to a list of synonyms",
            "write it as: ground lease: [lease, tenancy agreement]",
        )
    return {str(k): tuple(str(v) for v in loaded[k]) for k in sorted(loaded, key=str)}


def _is_alias(item: tuple[Any, Any]) -> bool:
    name, others = item
    simple = (str, int, float)
    return (
        isinstance(name, simple)
        and isinstance(others, list)
        and all(isinstance(other, simple) for other in others)
    )

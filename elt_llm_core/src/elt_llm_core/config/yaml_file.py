"""Reads a YAML file that a person wrote, with an error that names the file."""

from pathlib import Path
from typing import Any

import yaml

from elt_llm_core.errors import ConfigError, describe_yaml_error


def read_yaml_file(path: Path, kind: str, most_bytes: int) -> Any:
    """Read a YAML file of limited size.

    Args:
        path: The file.
        kind: What it is, as a message calls it: "an ingest file".
        most_bytes: Its maximum size; a larger file was named by mistake.

    Returns:
        What it holds; its structure is not checked.

    Raises:
        ConfigError: If the file cannot be read, is too large, or is not YAML.
    """
    try:
        if path.stat().st_size > most_bytes:
            raise ConfigError(f"{path} exceeds the maximum size of {kind}")
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        detail = describe_yaml_error(error)
        raise ConfigError(f"{path} is not valid YAML: {detail}") from error

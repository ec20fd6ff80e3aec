"""Load JSON files that other document readers wrote."""

import json
from pathlib import Path
from typing import Any

from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.detection import decode_text


def load_json(path: Path, data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Return the value, and warnings about its encoding. Raises LoadError."""
    text, warnings = decode_text(path, data)
    try:
        return json.loads(text), warnings
    except RecursionError as error:
        raise LoadError(
            path.name, "its JSON is nested too deeply", "export it again"
        ) from error
    except ValueError as error:
        raise LoadError(
            path.name, f"its JSON is damaged ({str(error)[:80]})", "export it again"
        ) from error


def json_error(path: Path, what: str) -> LoadError:
    """Return the error for JSON with an unexpected structure."""
    return LoadError(
        path.name, what, "export it again from the program that created it"
    )

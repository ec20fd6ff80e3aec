"""Product files: same content, same bytes, checked before they are written."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema

from elt_llm_core.atomicio import write_atomic
from elt_llm_core.errors import EltLlmError

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class ProductError(EltLlmError):
    """A product does not fit its own schema: a fault of this program."""

    code = "CON001"


def dump_json(content: Any) -> str:
    """Sorted keys, two spaces, UTF-8 as it is, a newline at the end."""
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def dump_csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """RFC 4180 with a header; a cell that a spreadsheet would run starts with '.

    Lists become "a; b", records JSON, None an empty cell.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escape_cell(_cell(row.get(name))) for name in columns])
    return buffer.getvalue()


def escape_cell(text: str) -> str:
    """`text`, with a leading ' where it could be taken for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return "; ".join(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value)


@cache
def schema(name: str) -> dict[str, Any]:
    """A shipped JSON Schema: glossary, catalog, relationships or coverage."""
    file = files("elt_llm_consumer") / "schema" / f"{name}.schema.json"
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


def write_json(path: Path, content: Any, schema_name: str) -> Path:
    """Write `content` if it fits the schema. Raises ProductError, StoreWriteError."""
    plain = json.loads(dump_json(content))
    validator = jsonschema.Draft202012Validator(schema(schema_name))
    fault = jsonschema.exceptions.best_match(validator.iter_errors(plain))
    if fault is not None:
        where = "/".join(str(part) for part in fault.absolute_path)
        raise ProductError(
            f"the {schema_name} breaks its schema at {where!r}: {fault.message}"
        )
    write_atomic(path, dump_json(plain))
    return path


def default_path(data_dir: Path, product: str, collections: Sequence[str]) -> Path:
    """`<data-dir>/output/<product>_<collection>.json`, names joined by '+'."""
    return data_dir / "output" / f"{product}_{'+'.join(collections)}.json"

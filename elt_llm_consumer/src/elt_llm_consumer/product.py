"""Common parts of products: schemas and published files.

Files have the same bytes for the same content and are checked against their JSON Schema
before they are published, all files of a product together.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs

from elt_llm_core.errors import EltLlmError
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.publication import publish
from elt_llm_core.results import Degradation, DegradationKind

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class ProductError(EltLlmError):
    """A product does not match its own schema: an internal error."""

    code = "CON001"


def dump_json(content: Any) -> str:
    """Return JSON with sorted keys, two spaces, unescaped UTF-8 and a final newline."""
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def dump_csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return RFC 4180 CSV with a header.

    A cell that a spreadsheet would run as a formula gets a leading '. Lists become
    "a; b", records JSON, and None and {} an empty cell.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escape_cell(_cell(row.get(name))) for name in columns])
    return buffer.getvalue()


def escape_cell(text: str) -> str:
    """Return `text`, with a leading ' if it could be taken for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _cell(value: Any) -> str:
    if value is None or value == {}:
        return ""
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return "; ".join(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value)


@cache
def schema(name: str) -> dict[str, Any]:
    """Read a shipped schema: glossary, undefined, catalog, relationships, coverage."""
    file = files("elt_llm_consumer") / "schema" / f"{name}.schema.json"
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


@cache
def _validator(name: str, pointer: str) -> jsonschema_rs.Draft202012Validator:
    """Return the validator of a schema, or of the part that `pointer` names."""
    part = root = schema(name)
    for key in pointer.split("/") if pointer else ():
        part = part[key]
    definitions = {"$defs": root.get("$defs", {})}
    return jsonschema_rs.Draft202012Validator({**definitions, **part})


def check_schema(content: Any, name: str, pointer: str = "") -> Any:
    """Check content against a schema and return it as plain JSON.

    Args:
        content: Anything that JSON can represent.
        name: The schema's name.
        pointer: The part of the schema that applies, such as "properties/gaps/items".

    Raises:
        ProductError: If the content does not match, with the place and the value, or
            if JSON cannot represent it, such as NaN.
    """
    try:
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except ValueError as error:
        raise ProductError(
            f"the {name} has a value that JSON cannot represent: {error}"
        ) from error
    plain = json.loads(text)
    fault = next(_validator(name, pointer).iter_errors(plain), None)
    if fault is None:
        return plain
    fault = _narrow(fault)
    where = "/".join(str(part) for part in fault.instance_path)
    at = f" at {where!r}" if where else ""
    raise ProductError(
        f"the {name} does not match its schema{at}: {fault.message[:300]}"
    )


def _narrow(fault: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError:
    """Return the fault of the alternative that the value comes nearest to.

    That no alternative matches names neither the field nor the reason.
    """
    kinds = jsonschema_rs.ValidationErrorKind
    while isinstance(fault.kind, kinds.AnyOf | kinds.OneOfNotValid):
        fault = min(fault.kind.context, key=len)[0]
    return fault


def split_valid(
    rows: Sequence[Mapping[str, Any]], name: str, pointer: str
) -> tuple[list[dict[str, Any]], list[Degradation]]:
    """Return the rows that match their schema, and a problem for each other row."""
    valid, problems = [], []
    for number, row in enumerate(rows, start=1):
        try:
            valid.append(check_schema(row, name, pointer))
        except ProductError as error:
            detail = f"{name}: row {number} is left out: {error.message}"
            kind = DegradationKind.ITEM_FAILED
            problems.append(Degradation(kind=kind, detail=detail))
    return valid, problems


def json_text(content: Any, name: str) -> str:
    """Return the text of a JSON file. Raises ProductError if it is invalid."""
    return dump_json(check_schema(content, name))


def publish_files(
    context: JobContext,
    report: JobReport,
    files: Mapping[str, tuple[Path, str | bytes]],
) -> JobReport:
    """Publish files as a set, and add their paths to the report.

    Args:
        context: The job's context; its store records the digests of written files.
        report: Counts and degradations of the job.
        files: Names in the report with paths and contents, text as UTF-8.

    Raises:
        StoreWriteError: If a file cannot be written; then no file was changed.
    """
    published = publish(context.store, list(files.values()))
    paths = {name: str(path) for name, path in zip(files, published.paths, strict=True)}
    degradations = report.degradations
    if published.kept:
        names = ", ".join(path.name for path in published.kept)
        wrote = ", ".join(path.name for path in published.paths)
        detail = (
            f"kept because edited or not written by this program: {names}; this "
            f"run wrote {wrote} instead (import the decisions in it: elt-llm "
            "review import FILE --product NAME; or remove or rename the kept "
            "files)"
        )
        kept = Degradation(kind=DegradationKind.FILE_KEPT, detail=detail)
        degradations = (*degradations, kept)
    return report.model_copy(update={"files": paths, "degradations": degradations})


def default_path(data_dir: Path, product: str, collections: Sequence[str]) -> Path:
    """Return `<data-dir>/output/<product>_<collection>.json`, names joined by '+'."""
    return data_dir / "output" / f"{product}_{'+'.join(collections)}.json"

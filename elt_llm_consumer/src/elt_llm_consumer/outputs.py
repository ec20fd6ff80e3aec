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

from elt_llm_core.errors import EltLlmError
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.publication import publish
from elt_llm_core.results import Degradation, DegradationKind

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
    """A shipped JSON Schema: glossary, undefined, catalog, relationships, coverage."""
    file = files("elt_llm_consumer") / "schema" / f"{name}.schema.json"
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


@cache
def _validator(name: str, pointer: str) -> Any:
    """The validator of a schema, or of the part of it that `pointer` names."""
    part = root = schema(name)
    for key in pointer.split("/") if pointer else ():
        part = part[key]
    definitions = {"$defs": root.get("$defs", {})}
    return jsonschema.Draft202012Validator({**definitions, **part})


def check(content: Any, name: str, pointer: str = "") -> Any:
    """`content` as plain JSON, found to fit its schema.

    Args:
        content: Anything that JSON can hold.
        name: The schema's name.
        pointer: The part of the schema that applies, as "properties/gaps/items".

    Raises:
        ProductError: The content breaks the schema; it names the place and the value.
    """
    plain = json.loads(dump_json(content))
    fault = jsonschema.exceptions.best_match(
        _validator(name, pointer).iter_errors(plain)
    )
    if fault is None:
        return plain
    where = "/".join(str(part) for part in fault.absolute_path)
    at = f" at {where!r}" if where else ""
    raise ProductError(f"the {name} breaks its schema{at}: {fault.message[:300]}")


def sound(
    rows: Sequence[Mapping[str, Any]], name: str, pointer: str
) -> tuple[list[dict[str, Any]], list[Degradation]]:
    """The rows that fit their schema, and what is wrong with each of the others."""
    kept, problems = [], []
    for number, row in enumerate(rows, start=1):
        try:
            kept.append(check(row, name, pointer))
        except ProductError as error:
            detail = f"{name}: row {number} is left out: {error.message}"
            kind = DegradationKind.ITEM_FAILED
            problems.append(Degradation(kind=kind, detail=detail))
    return kept, problems


def json_text(content: Any, name: str) -> str:
    """The text of a JSON file. Raises ProductError where it breaks its schema."""
    return dump_json(check(content, name))


def finished(
    context: JobContext, report: JobReport, files: Mapping[str, tuple[Path, str]]
) -> JobReport:
    """Publish the files of a product together, and report where they are.

    Args:
        context: The job's context; its store remembers what was written.
        report: Counts and degradations of the job.
        files: Path and text of each file by the name the report gives it.

    Raises:
        StoreWriteError: The disk refuses; no file was written or changed.
    """
    made = publish(context.store, list(files.values()))
    paths = {name: str(path) for name, path in zip(files, made.paths, strict=True)}
    told = (*report.degradations, *_unused_model(context))
    if made.kept:
        names = ", ".join(path.name for path in made.kept)
        wrote = ", ".join(path.name for path in made.paths)
        detail = (
            f"kept as edited, or as written elsewhere: {names}; this run wrote {wrote} "
            "instead (remove or rename what is kept, and the next run writes there)"
        )
        told = (*told, Degradation(kind=DegradationKind.FILE_KEPT, detail=detail))
    return report.model_copy(update={"files": paths, "degradations": told})


def _unused_model(context: JobContext) -> list[Degradation]:
    """What is told where a language model is configured, which no product asks."""
    name = context.config.models.llm_strategy
    if name == "none":
        return []
    detail = (
        f"models.llm_strategy is {name!r} without effect here: a product is taken from "
        "the text and asks no language model"
    )
    return [Degradation(kind=DegradationKind.SETTING_UNUSED, detail=detail)]


def default_path(data_dir: Path, product: str, collections: Sequence[str]) -> Path:
    """`<data-dir>/output/<product>_<collection>.json`, names joined by '+'."""
    return data_dir / "output" / f"{product}_{'+'.join(collections)}.json"

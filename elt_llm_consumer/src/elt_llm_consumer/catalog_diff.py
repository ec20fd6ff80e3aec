"""The differences between two catalogues: added, removed and changed entities."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from elt_llm_consumer.catalog_rows import PLACE
from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.product import ProductError, check_schema
from elt_llm_core.errors import ExchangeError
from elt_llm_core.records import Record

# The place of a quote changes with every edition; its text is in the fields.
_NOT_COMPARED = frozenset({*PLACE, "evidence", "item_id"})
_SHOWN = 100  # characters of a text on the screen


class FieldChange(Record):
    """One field of an entity, before and after."""

    field: str
    before: Any
    after: Any


class EntityChange(Record):
    """The changes of one entity; `moved` is its old domain if that changed."""

    domain: str
    entity_name: str
    moved_from: str = ""
    fields: tuple[FieldChange, ...] = ()


class CatalogDiff(Record):
    """Added and removed entities as `domain / name`, and changes of others."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[EntityChange, ...] = ()
    unchanged: int = Field(default=0, ge=0)


def read_catalog_rows(path: Path) -> list[dict[str, Any]]:
    """Return the records of a catalogue file, hierarchical or flat, with their domain.

    Raises:
        ExchangeError: If it cannot be read, or is not a catalogue.
    """
    again = "name a catalog_….json that `elt-llm catalog` wrote"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict) and isinstance(content.get("entities"), list):
            flat: dict[str, Any] = check_schema(content, "catalog_flat")
            return list(flat["entities"])
        return _flatten(check_schema(content, "catalog"))
    except OSError as error:
        raise ExchangeError(f"cannot read {path}: {error.strerror}", again) from error
    except ProductError as error:
        # The rest is the invalid value, which may be the whole file.
        reason = error.message.partition(": ")[0][:200]
        raise ExchangeError(f"{path} is no catalogue: {reason}", again) from error
    except ValueError as error:
        raise ExchangeError(f"{path} is no JSON file", again) from error


def _flatten(catalog: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for domain, content in catalog.items():
        groups = [("", content), *content["subtypes"].items()]
        for subtype, group in groups:
            place = {"domain": domain, "subtype": subtype}
            rows += [{**row, **place} for row in group["entities"]]
        rows += [
            {**r, "domain": domain, "subtype": ""} for r in content["handbook_only"]
        ]
    return rows


def compare_catalogs(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> CatalogDiff:
    """Return the differences by name.

    Args:
        before: Records of the earlier catalogue.
        after: Records of the later one.
    """
    old, new = _by_name(before), _by_name(after)
    changes = [_compare(old[key], new[key]) for key in sorted(old.keys() & new.keys())]
    changed = [one for one in changes if one.fields or one.moved_from]
    return CatalogDiff(
        added=tuple(_label(new[key]) for key in sorted(new.keys() - old.keys())),
        removed=tuple(_label(old[key]) for key in sorted(old.keys() - new.keys())),
        changed=tuple(changed),
        unchanged=len(changes) - len(changed),
    )


def _by_name(rows: list[dict[str, Any]]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return records by fact sheet id or name; duplicate names are numbered."""
    named: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["domain"], row["subtype"])):
        key = (fold(row["entity_name"]), row["fact_sheet_id"])
        number = sum(other[:2] == key for other in named)
        named[(*key, str(number))] = row
    return named


def _compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> EntityChange:
    fields = [
        FieldChange(field=name, before=old.get(name), after=new.get(name))
        for name in sorted({*old, *new} - _NOT_COMPARED)
        if old.get(name) != new.get(name)
    ]
    return EntityChange(
        domain=new["domain"],
        entity_name=new["entity_name"],
        moved_from=old["domain"] if old["domain"] != new["domain"] else "",
        fields=tuple(fields),
    )


def _label(row: Mapping[str, Any]) -> str:
    return f"{row['domain']} / {row['entity_name']}"


def diff_text(diff: CatalogDiff) -> str:
    """Format the differences for the terminal."""
    counts = f"{len(diff.added)} added, {len(diff.removed)} removed"
    lines = [f"{counts}, {len(diff.changed)} changed, {diff.unchanged} unchanged"]
    lines += [f"+ {name}" for name in diff.added]
    lines += [f"- {name}" for name in diff.removed]
    for one in diff.changed:
        moved = f" (was in {one.moved_from})" if one.moved_from else ""
        lines.append(f"~ {one.domain} / {one.entity_name}{moved}")
        for change in one.fields:
            lines += [
                f"    {change.field}: {_short(change.before)}",
                f"    {' ' * len(change.field)}→ {_short(change.after)}",
            ]
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"

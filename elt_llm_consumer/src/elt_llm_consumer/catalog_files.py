"""The files of a catalogue: hierarchy and flat list, tables, diagrams and a page."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from elt_llm_consumer.exchange.cells import guard_cell
from elt_llm_consumer.exchange.glossary_terms import plain_text
from elt_llm_consumer.product import dump_csv, json_text

COLUMNS = (
    *("domain", "subtype", "entity_name", "source", "fact_sheet_id"),
    *("leanix_description", "formal_definition", "domain_context"),
    *("governance_rules", "business_rules", "lifecycle_states"),
    *("data_classification", "regulatory_context", "associated_agreements"),
    *("handbook_term", "mapping_confidence", "mapping_rationale"),
    *("relationships", "evidence", "inference_confidence", "alternative_domain"),
    *("review_status", "review_notes", "reviewer", "reviewed_at", "edited", "item_id"),
)
RELATION_COLUMNS = (
    *("entity_a", "relationship_type", "entity_b", "cardinality"),
    *("inverse_type", "inverse_cardinality", "direction", "source", "in_model"),
    *("conflict", "evidence"),
)
_SITE = "catalog_site.html"
_DATA = "__CATALOGUE__"  # placeholder for the page's data in its template


def catalog_files(
    path: Path,
    catalog: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any]] | None,
) -> dict[str, tuple[Path, str | bytes]]:
    """Return names with paths and contents of all files, for `publish_files`.

    Args:
        path: The JSON file of the hierarchy; the others are written next to it.
        catalog: The hierarchy.
        rows: The same records as a flat list.
        relations: Every relation once; None omits their files.

    Raises:
        ProductError: If the content violates its schema.
    """

    def beside(ending: str) -> Path:
        return path.with_name(f"{path.stem}{ending}")

    plain = [_plain_row(row) for row in rows]
    related = [
        {**row, "evidence": list_places(row["evidence"])} for row in relations or ()
    ]
    made: dict[str, tuple[Path, str | bytes]] = {
        "catalog_json": (path, json_text(catalog, "catalog")),
        "catalog_flat_json": (
            beside("_flat.json"),
            json_text({"entities": list(rows)}, "catalog_flat"),
        ),
        "catalog_csv": (beside(".csv"), dump_csv(COLUMNS, plain)),
        "catalog_xlsx": (beside(".xlsx"), _workbook(plain, related)),
        "catalog_html": (
            beside(".html"),
            render_site(path.stem, rows),
        ),
        "catalog_mermaid": (beside(".mmd"), draw_mermaid(catalog, relations or ())),
        "catalog_plantuml": (beside(".puml"), draw_plantuml(catalog, relations or ())),
    }
    if relations is not None:
        text = json_text(list(relations), "relationships")
        made["relationships_json"] = (beside("_relationships.json"), text)
        table = dump_csv(RELATION_COLUMNS, related)
        made["relationships_csv"] = (beside("_relationships.csv"), table)
    return made


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with edited texts, and with lists as text."""
    words = [
        f"{one['relationship_type'] or 'is related to'} {one['target_entity']} "
        f"{one['cardinality']} ({one['provenance']})".replace("  ", " ")
        for one in row["relationships"]
    ]
    quotes = [one for quotes in row["evidence"].values() for one in quotes]
    return {
        **row,
        **row["edited"],
        "relationships": words,
        "evidence": list_places(quotes),
    }


def name_place(quote: Mapping[str, Any]) -> str:
    """Return the place of a quote as text: "rules.pdf, p. 3, 2 - Fees".

    Args:
        quote: An `Evidence` as JSON.
    """
    page = f", p. {quote['page']}" if quote.get("page") else ""
    section = f", {quote['section']}" if quote.get("section") else ""
    return f"{quote['document']}{page}{section}"


def list_places(quotes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return document, page and section of each quote, without duplicates."""
    return list(dict.fromkeys(map(name_place, quotes)))


def _workbook(
    rows: Sequence[Mapping[str, Any]], related: Sequence[Mapping[str, Any]]
) -> bytes:
    # Imported here: openpyxl takes half a second, which an unchanged run can save.
    from elt_llm_consumer.exchange.table_files import (  # noqa: PLC0415
        CELL_LENGTH,
        write_workbook,
    )

    sheets = {
        "Catalogue": (COLUMNS, rows),
        "Relationships": (RELATION_COLUMNS, related),
    }
    return write_workbook(
        {
            name: (
                columns,
                # The JSON has the full text; a longer cell would damage the workbook.
                [
                    [_cell(row.get(one))[:CELL_LENGTH] for one in columns]
                    for row in table
                ],
            )
            for name, (columns, table) in sheets.items()
        }
    )


def _cell(value: Any) -> str:
    if isinstance(value, list):
        text = "; ".join(value)
    elif isinstance(value, dict):
        text = json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""
    else:
        text = "" if value is None else str(value)
    return plain_text(guard_cell(text))


def render_site(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one HTML file to search and read the catalogue, without a server.

    Args:
        title: The title of the page.
        rows: The records as flat rows.
    """
    template = files("elt_llm_consumer") / "product_pages" / _SITE
    content = {"title": title, "rows": list(rows)}
    return template.read_text("utf-8").replace(_DATA, script_json(content), 1)


def script_json(content: Any) -> str:
    """Return JSON that is safe in a script element, whatever texts it contains."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def draw_mermaid(
    catalog: Mapping[str, Any], relations: Sequence[Mapping[str, Any]]
) -> str:
    """Return an entity relationship diagram in Mermaid.

    Args:
        catalog: The hierarchy.
        relations: Every relation once, including those of the text.
    """
    names = _diagram_names(catalog, relations)
    ids = {name.casefold(): f"e{number}" for number, name in enumerate(names, 1)}
    lines = ["erDiagram"]
    lines += [f'  {ids[name.casefold()]}["{_quote(name)}"]' for name in names]
    for one in relations:
        left, right = _crow_feet(one["cardinality"])
        line = ".." if one["source"] == "HANDBOOK" else "--"
        words = one["relationship_type"] or "is related to"
        count = f" [{one['cardinality']}]" if one["cardinality"] else ""
        first, second = (ids[name] for name in _ends_of(one))
        ends = f"{first} {left}{line}{right} {second}"
        lines.append(f'  {ends} : "{_quote(words)}{count}"')
    return "\n".join(lines) + "\n"


def draw_plantuml(
    catalog: Mapping[str, Any], relations: Sequence[Mapping[str, Any]]
) -> str:
    """Return a class diagram in PlantUML with a package per domain and subtype.

    Args:
        catalog: The hierarchy.
        relations: Every relation once; those of the text are dashed.
    """
    names = _diagram_names(catalog, relations)
    ids = {name.casefold(): f"e{number}" for number, name in enumerate(names, 1)}
    left = dict.fromkeys(names)
    lines = ["@startuml", "hide empty members", "left to right direction"]

    def draw(rows: Sequence[Mapping[str, Any]], indent: str) -> list[str]:
        """Return lines for names that are not drawn yet."""
        new = [one["entity_name"] for one in rows if one["entity_name"] in left]
        for name in new:
            left.pop(name, None)
        known = dict.fromkeys(new)
        return [f'{indent}class "{_quote(n)}" as {ids[n.casefold()]}' for n in known]

    for domain, content in catalog.items():
        lines.append(f'package "{_quote(domain)}" {{')
        for subtype, below in content["subtypes"].items():
            lines.append(f'  package "{_quote(subtype)}" {{')
            lines += [*draw(below["entities"], "    "), "  }"]
        lines += [*draw(content["entities"], "  "), "}"]
    lines += draw([{"entity_name": name} for name in left], "")
    lines += [_plantuml_line(one, ids) for one in relations]
    return "\n".join([*lines, "@enduml"]) + "\n"


def _plantuml_line(one: Mapping[str, Any], ids: Mapping[str, str]) -> str:
    left, _, right = one["cardinality"].partition("-")
    line = ".." if one["source"] == "HANDBOOK" else "--"
    before = f'"{left}" ' if left else ""
    after = f' "{right}"' if right else ""
    words = _quote(one["relationship_type"])
    label = f" : {words}" if words else ""
    first, second = (ids[name] for name in _ends_of(one))
    return f"{first} {before}{line}{after} {second}{label}"


def _diagram_names(
    catalog: Mapping[str, Any], relations: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return entities in catalogue order, then groups that are ends, each once."""
    names: dict[str, str] = {}
    for domain, content in catalog.items():
        groups = [content, *content["subtypes"].values()]
        for row in (row for group in groups for row in group["entities"]):
            names.setdefault(row["entity_name"].casefold(), row["entity_name"])
        for name in (domain, *content["subtypes"]):
            if any(name.casefold() in _ends_of(one) for one in relations):
                names.setdefault(name.casefold(), name)
    for one in relations:
        for name in (one["entity_a"], one["entity_b"]):
            names.setdefault(name.casefold(), name)
    return list(names.values())


def _ends_of(relation: Mapping[str, Any]) -> tuple[str, str]:
    return relation["entity_a"].casefold(), relation["entity_b"].casefold()


def _quote(text: str) -> str:
    """Return a text in quotes of a diagram, which has no escape for them."""
    return " ".join(text.replace('"', "'").split())


def _crow_feet(cardinality: str) -> tuple[str, str]:
    """Return the two ends of a line; an unstated one is drawn as any number."""
    left, _, right = cardinality.partition("-")
    many = {text: text.endswith("*") or not text.strip("?") for text in (left, right)}
    none = {text: text[:1] in {"0", "?", ""} for text in (left, right)}
    first = ("}" if many[left] else "|") + ("o" if none[left] else "|")
    second = ("o" if none[right] else "|") + ("{" if many[right] else "|")
    return first, second

"""Measures of imported, damaged and scanned files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.exports.ade import parse as parse_ade
from evaluation.mutations import run_mutations
from evaluation.scans import run_scans

ADE = "ade_json"
SIDES = ("left", "top", "right", "bottom")
MUTATIONS = 300
SCANS = 8
Place = tuple[float, ...]


def ade_figures(root: Path) -> Iterator[dict[str, Any]]:
    """Share of the elements of ADE's files that come back with page and box."""
    elements = kept = 0
    failed = []
    files = sorted((root / ADE).glob("*.json"))
    for path in files:
        data = path.read_bytes()
        places = read_places(json.loads(data))
        elements += len(places)
        try:
            (document,) = parse_ade(path, data, Limits())
        except LoadError as error:
            failed.append(str(error))
            continue
        ours = places_of(document)
        kept += sum(ours.get(key) == place for key, place in places.items())
    if files:
        detail = {"files": len(files), "elements": elements, "failed": failed}
        share = kept / max(elements, 1)
        yield {"measure": "ade_round_trip", "value": share, "bar": 1, "detail": detail}


def read_places(content: dict[str, Any]) -> dict[str, Place]:
    """Page (from 1) and sides of every element, by its id, as the file gives them."""
    return {
        key: (entry["page"] + 1, *(entry["box"][side] for side in SIDES))
        for key, entry in content["grounding"].items()
    }


def places_of(document: ParsedDocument) -> dict[str, Place]:
    """The same as our document has it."""
    places: dict[str, Place] = {}
    for block in document.blocks:
        attributes = block.attributes
        for key, name in (("id", "place"), ("table", "table_place")):
            if name in attributes:
                places[attributes[key]] = tuple(map(float, attributes[name].split()))
        if not block.cells and block.boxes:
            places[attributes["id"]] = tuple(block.boxes[0].model_dump().values())
        for cell in block.cells:
            if cell.id and cell.boxes:
                places[cell.id] = tuple(cell.boxes[0].model_dump().values())
    return places


def mutation_figures(root: Path) -> Iterator[dict[str, Any]]:
    """Damaged files that hung, or failed without a reason."""
    outcomes = run_mutations(root, MUTATIONS)
    detail = {
        "files": outcomes.files,
        "read": outcomes.read,
        "read_with_warnings": outcomes.warned,
        "refused": dict(outcomes.refused.most_common()),
        "crashes_of_the_reader": outcomes.crashes,
        "slowest_seconds": round(outcomes.slowest, 1),
    }
    bar = {"bar": 0, "at_most": True}
    hangs, unnamed = len(outcomes.hangs), len(outcomes.unnamed)
    yield {"measure": "mutated_hangs", "value": hangs, "detail": detail, **bar}
    yield {"measure": "mutated_failures_unnamed", "value": unnamed, **bar}


def scan_figures(root: Path) -> Iterator[dict[str, Any]]:
    """Words of scanned pages that are found, and found in order."""
    scans = run_scans(root, SCANS)
    pages = [
        {"file": p.name, "page": p.page, "recall": round(p.recall, 3)}
        for p in scans.pages
    ]
    detail = {"pages": pages, "cpu_seconds_a_page": round(scans.seconds, 2)}
    recall, order = round(scans.recall, 4), round(scans.order, 4)
    yield {"measure": "scan_word_recall", "value": recall, "detail": detail}
    yield {"measure": "scan_words_in_order", "value": order}

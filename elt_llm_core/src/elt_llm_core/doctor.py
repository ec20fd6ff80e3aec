"""What can be wrong with a machine or a data root, and the command that mends it."""

import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum

from elt_llm_core.errors import EltLlmError
from elt_llm_core.models.ollama_status import server_status
from elt_llm_core.results import Record
from elt_llm_core.sections import RagConfig
from elt_llm_core.store import CollectionCard, Store
from elt_llm_core.store.reader import FILE
from elt_llm_core.store.truth import Truth

MIN_FREE_BYTES = 1_000_000_000


class Level(StrEnum):
    """How bad it is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Check(Record):
    """One thing that was looked at."""

    name: str
    level: Level
    detail: str
    fix: str = ""


def examine(config: RagConfig, store: Store) -> list[Check]:
    """Every check, in a fixed order; changes nothing."""
    return [
        Check(
            name="python",
            level=Level.OK,
            detail=f"{sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}",
        ),
        _disk(store),
        _truth(store),
        *_collections(store),
        *_models(config),
    ]


def repair_indexes(config: RagConfig, store: Store) -> dict[str, int]:
    """Build the indexes that cannot serve, from the truth; name to generation.

    Embeds nothing.
    """
    broken = [
        card.name for card in store.collections() if store.open(card.name).degradations
    ]
    if not broken:
        return {}
    with store.writer() as writer:
        return writer.publish(broken, config.stores.delta_fraction, force=True)


def _disk(store: Store) -> Check:
    place = store.data_dir.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        return Check(
            name="disk",
            level=Level.FAIL,
            detail=f"{place} cannot be written",
            fix="choose another folder with --data-dir",
        )
    enough = free >= MIN_FREE_BYTES
    return Check(
        name="disk",
        level=Level.OK if enough else Level.WARN,
        detail=f"{free / 1e9:.1f} GB free at {place}",
        fix="" if enough else "free some space",
    )


def _truth(store: Store) -> Check:
    path = store.data_dir / FILE
    if not path.exists():
        return Check(
            name="truth",
            level=Level.WARN,
            detail=f"no data at {store.data_dir} yet",
            fix="elt-llm ingest PATH --collection NAME",
        )
    try:
        with closing(Truth(store.data_dir)) as truth:
            found = truth.rows("pragma quick_check")
    except EltLlmError as error:
        found = [(error.message,)]
    sound = found == [("ok",)]
    return Check(
        name="truth",
        level=Level.OK if sound else Level.FAIL,
        detail="sound" if sound else "; ".join(str(row[0]) for row in found[:3]),
        fix="" if sound else "restore the folder from a backup",
    )


def _collections(store: Store) -> Iterator[Check]:
    try:
        cards = store.collections()
    except EltLlmError:
        return  # the truth check has said so
    for card in cards:
        yield _collection(store, card)


def _collection(store: Store, card: CollectionCard) -> Check:
    name = f"collection {card.name}"
    try:
        problems = store.open(card.name).degradations
    except EltLlmError as error:
        return Check(name=name, level=Level.FAIL, detail=error.message, fix=error.hint)
    if problems:
        return Check(
            name=name,
            level=Level.WARN,
            detail=problems[0].detail,
            fix="elt-llm doctor --repair",
        )
    counts = f"{card.documents} documents, {card.chunks} chunks"
    return Check(name=name, level=Level.OK, detail=f"{counts}, index ready")


def _models(config: RagConfig) -> Iterator[Check]:
    models = config.models
    if "ollama" not in (models.embedder_strategy, models.llm_strategy):
        detail = f"embedder {models.embedder_strategy}, writer {models.llm_strategy}"
        yield Check(name="models", level=Level.OK, detail=detail)
        return
    status = server_status(config.ollama.base_url)
    if not status.reachable:
        yield Check(
            name="ollama",
            level=Level.FAIL,
            detail=f"no answer at {config.ollama.base_url}",
            fix="ollama serve",
        )
        return
    yield Check(name="ollama", level=Level.OK, detail=f"version {status.version}")
    wanted = {
        "embedder": (models.embedder_strategy, config.ollama.embedding_model),
        "writer": (models.llm_strategy, config.ollama.llm_model),
    }
    for role, (strategy, model) in wanted.items():
        if strategy != "ollama":
            continue
        there = any(_same_model(model, name) for name in status.models)
        yield Check(
            name=f"ollama {role}",
            level=Level.OK if there else Level.FAIL,
            detail=model if there else f"{model} is not on the server",
            fix="" if there else f"ollama pull {model}",
        )


def _same_model(wanted: str, name: str) -> bool:
    return name in {wanted, f"{wanted}:latest"}

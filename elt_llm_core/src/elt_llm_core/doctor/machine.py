"""Checks of the machine, the folder and the configured models."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.doctor.report import REPAIR, Check, fail, good, shorten_list, warn
from elt_llm_core.errors import EltLlmError
from elt_llm_core.files.scratch import list_abandoned
from elt_llm_core.models.factory import LateModels
from elt_llm_core.models.ollama import server_status
from elt_llm_core.models.ollama.advisories import holes_of, read_advisories
from elt_llm_core.publication import list_unfinished
from elt_llm_core.store import Store
from elt_llm_core.store.database import disk_space
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.lock import LOCK, lock_holder
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.index.publish import index_bytes, list_left_overs

OTHERS = 0o077


def check_machine(store: Store) -> Iterator[Check]:
    """Run every check of this kind, in a fixed order, without changes."""
    python = sys.version.split()[0]
    yield good("python", f"{python}, SQLite {sqlite3.sqlite_version}")
    yield _disk(store)
    if (store.data_dir / FILE).exists():
        yield _files(store.data_dir)
        yield _writer(store.data_dir)
        with suppress(EltLlmError):  # the check of the database reports the reason
            yield _products(store)
    yield _left_overs(store.data_dir)


def _disk(store: Store) -> Check:
    place = store.data_dir.absolute()
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        detail = f"{place} is not writable"
        fix = "choose another folder with --data-dir"
        if (store.data_dir / FILE).exists():
            return warn("disk", f"{detail}; it can be searched but not changed", fix)
        return fail("disk", detail, fix)
    free, needed = (
        disk_space.free_bytes(place),
        disk_space.HEADROOM * _largest_index(store),
    )
    detail = f"{free / 1e6:,.0f} MB free at {place}"
    if free < needed:
        needs = f"{detail}, the next index needs {needed / 1e6:,.0f} MB"
        return warn("disk", needs, "free some space")
    return good("disk", detail)


def _largest_index(store: Store) -> int:
    try:
        names = [card.name for card in store.collections()]
        with closing(Database(store.data_dir)) as database:
            sizes = [index_bytes(database, name) for name in names]
        return max(sizes, default=disk_space.LEAST)
    except EltLlmError:
        return disk_space.LEAST  # reported by the check of the database


def _files(root: Path) -> Check:
    """Check that the data and the key are readable only by their owner."""
    kept = [root / name for name in (FILE, f"{FILE}-wal", "KEY", LOCK)]
    open_to_others = [
        path.name for path in kept if path.exists() and path.stat().st_mode & OTHERS
    ]
    if open_to_others:
        detail = f"other users can read {', '.join(open_to_others)}"
        return warn("files", detail, f"chmod -R go-rwx {root}")
    strangers = [p.name for p in kept if p.exists() and p.stat().st_uid != os.getuid()]
    if strangers:
        detail = f"{', '.join(strangers)} belong to another user"
        return warn("files", detail, f"sudo chown -R $(id -u) {root}")
    return good("files", "readable by their owner only")


def _writer(root: Path) -> Check:
    holder = lock_holder(root / LOCK)
    if holder:
        return warn("writer", f"{holder} is writing", "wait for it to finish")
    return good(
        "writer",
        "no process is writing; the lock of a dead process is released automatically",
    )


def _products(store: Store) -> Check:
    """Check whether files of a product wait for publication."""
    waiting = [str(path) for path in list_unfinished(store)]
    if waiting:
        detail = f"incompletely published: {shorten_list(waiting)}"
        return warn(
            "products", detail, "make the folder reachable and run the job again"
        )
    return good("products", "every file is completely published")


def _left_overs(root: Path) -> Check:
    leftovers = [str(path.relative_to(root)) for path in list_left_overs(root)]
    leftovers += [str(folder) for folder in list_abandoned()]
    if leftovers:
        return warn("left-overs", f"half-made: {shorten_list(leftovers)}", REPAIR)
    return good("left-overs", "none")


def check_models(config: RagConfig) -> Iterator[Check]:
    """Return one line per model, or one for all if no call is needed."""
    models = config.models
    vision = [choice.strategy for choice in config.roles.vision]
    if "ollama" in (models.embedder_strategy, models.llm_strategy, *vision):
        yield from _ollama(config)
    else:
        detail = f"embedder {models.embedder_strategy}, writer {models.llm_strategy}"
        yield good("models", detail)
    if models.llm_strategy not in ("none", "ollama"):
        yield _language_model(config)


def _language_model(config: RagConfig) -> Check:
    """Check that the language model answers a short prompt."""
    try:
        llm = LateModels(config).llm
        if llm is not None:
            llm.complete("Say yes.", max_tokens=1)
    except EltLlmError as error:
        return fail("writer", error.message, error.hint)
    name = llm.metadata.model_name if llm else config.models.llm_strategy
    return good("writer", f"{name} answers")


def _ollama_version(version: str) -> Check:
    """Check whether the version of the server has known vulnerabilities."""
    holes = holes_of(version)
    checked = read_advisories().checked.isoformat()
    if not holes:
        return good("ollama", f"version {version}; no hole in the list of {checked}")
    named = shorten_list([f"{one.id}: {one.about}" for one in holes])
    return warn(
        "ollama",
        f"version {version} has known holes ({named}; list of {checked})",
        f"install Ollama {holes[0].fixed} or newer",
    )


def _ollama(config: RagConfig) -> Iterator[Check]:
    models = config.models
    status = server_status(config.ollama.base_url)
    if not status.reachable:
        detail = f"no answer at {config.ollama.base_url}"
        yield fail("ollama", detail, "ollama serve")
        return
    yield _ollama_version(status.version)
    wanted = [
        ("embedder", models.embedder_strategy, config.ollama.embedding_model),
        ("writer", models.llm_strategy, config.ollama.llm_model),
    ]
    wanted += [
        (
            "vision",
            choice.strategy,
            choice.options.get("llm_model", config.ollama.llm_model),
        )
        for choice in config.roles.vision
        if "base_url" not in choice.options  # another server is not looked at
    ]
    for role, strategy, model in wanted:
        if strategy != "ollama":
            continue
        if any(name in {model, f"{model}:latest"} for name in status.models):
            yield good(f"ollama {role}", model)
        else:
            detail = f"the server does not have {model}"
            yield fail(f"ollama {role}", detail, f"ollama pull {model}")

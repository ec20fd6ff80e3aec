"""Building the next generation beside the published one, and swapping the manifest."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elt_llm_core.atomicio import fsync_folder, fsync_tree, write_atomic
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import GenerationError, StoreWriteError
from elt_llm_core.store.manifest import MANIFEST, IndexFolder, Manifest
from elt_llm_core.store.truth import Truth

KEPT = 2
MIN_NODES = 2  # Chroma never writes out a graph of one
CHILD_SECONDS = 3600.0


def due(truth: Truth, folder: IndexFolder, delta_fraction: float) -> bool:
    """Whether what changed since the published generation is worth a new one."""
    name = folder.collection
    total = truth.card(name).chunks
    if total < MIN_NODES:
        return False
    try:
        manifest = folder.manifest()
    except GenerationError:
        return True
    if manifest is None or manifest.epoch != truth.epoch(name):
        return True
    if manifest.seq > truth.sequence(name):
        return True
    return truth.changes(name, manifest.seq) > delta_fraction * total


def publish(truth: Truth, data_dir: Path, names: Sequence[str]) -> dict[str, int]:
    """Build, verify and publish a generation of each collection; name to number.

    The caller holds the writer lock. Raises GenerationError for the first that fails,
    or StoreWriteError; what was published before stays.
    """
    folders = {name: IndexFolder(data_dir, name) for name in names}
    try:
        return _publish(truth, data_dir, folders)
    except OSError as error:
        path = str(error.filename or data_dir)
        raise StoreWriteError(path, error.strerror or str(error)) from error


def _publish(
    truth: Truth, data_dir: Path, folders: dict[str, IndexFolder]
) -> dict[str, int]:
    numbers = {name: _next(folder) for name, folder in folders.items()}
    places = {name: _place(folder, numbers[name]) for name, folder in folders.items()}
    built = _child("build", data_dir, places)
    crash_point(CrashPoint.BUILT)
    verified = _child("verify", data_dir, places)
    crash_point(CrashPoint.VERIFIED)
    for name, folder in folders.items():
        if faults := verified[name]["faults"]:
            raise GenerationError(name, "; ".join(faults))
        card = truth.card(name)
        manifest = Manifest(
            collection=name,
            generation=numbers[name],
            epoch=truth.epoch(name),
            seq=built[name]["seq"],
            nodes=built[name]["nodes"],
            embedder_digest=card.embedder_digest,
            dimension=card.dimension,
        )
        _swap(folder, places[name], manifest)
        _collect_garbage(folder, manifest.generation)
    return numbers


def _next(folder: IndexFolder) -> int:
    return max(folder.generations(), default=0) + 1


def _place(folder: IndexFolder, generation: int) -> Path:
    """A new folder to build in. The builder of a killed writer may still be at work.

    So no two attempts share a folder, and what an earlier one left is taken away.
    """
    folder.ensure_key()
    folder.folder.mkdir(parents=True, exist_ok=True)
    for left_over in folder.folder.glob("*.tmp"):
        shutil.rmtree(left_over, ignore_errors=True)
    prefix = f"{folder.path(generation).name}-"
    return Path(tempfile.mkdtemp(prefix=prefix, suffix=".tmp", dir=folder.folder))


def _swap(folder: IndexFolder, ready: Path, manifest: Manifest) -> None:
    folder.seal(ready)
    fsync_tree(ready)
    crash_point(CrashPoint.SEALED)
    ready.rename(folder.path(manifest.generation))
    fsync_folder(folder.folder)
    crash_point(CrashPoint.RENAMED)
    write_atomic(folder.folder / MANIFEST, manifest.model_dump_json(indent=1))
    crash_point(CrashPoint.PUBLISHED)


def _collect_garbage(folder: IndexFolder, published: int) -> None:
    for generation in folder.generations():
        if generation <= published - KEPT:
            shutil.rmtree(folder.path(generation), ignore_errors=True)
            crash_point(CrashPoint.COLLECTING)


def _child(
    action: str, data_dir: Path, places: dict[str, Path]
) -> dict[str, dict[str, Any]]:
    targets = [f"{name}:{place.absolute()}" for name, place in places.items()]
    # -P: a file of the user's folder must not be taken for a library.
    command = [sys.executable, "-P", "-m", "elt_llm_core.store.builder", action]
    try:
        done = subprocess.run(
            [*command, str(data_dir), *targets],
            capture_output=True,
            text=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GenerationError(", ".join(places), f"{action} took too long") from error
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        raise GenerationError(", ".join(places), f"{action} failed: {reason[0]}")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    return {report["name"]: report for report in reports}

"""Build the next generation, and swap the manifest."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from elt_llm_core.config.bm25 import DEFAULT, Recipe
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import GenerationError, StoreError, StoreWriteError
from elt_llm_core.files.atomic import fsync_folder, fsync_tree, write_atomic
from elt_llm_core.store.database import disk_space, schema
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.database.records import INDEXES
from elt_llm_core.store.index.child import run_child
from elt_llm_core.store.index.manifest import MANIFEST, IndexFolder, Manifest

MIN_NODES = 2  # Chroma never writes a graph of one vector
BUILDER = "elt_llm_core.store.index.build"


def is_due(
    database: Database,
    folder: IndexFolder,
    delta_fraction: float,
    recipe: Recipe | None = None,
) -> bool:
    """Return whether the changes since the published generation need a new one.

    A different `recipe` always does; None accepts any.
    """
    name = folder.collection
    total = database.card(name).chunks
    if total < MIN_NODES:
        return False
    try:
        manifest = folder.manifest()
    except GenerationError:
        return True
    if manifest is None or not database.has_change(name, manifest.seq, manifest.stamp):
        return True
    if manifest.seq > database.sequence(name) or is_outdated(folder, recipe):
        return True
    return database.changes(name, manifest.seq) > delta_fraction * total


def is_outdated(folder: IndexFolder, recipe: Recipe | None) -> bool:
    """Return whether the published keyword index has another recipe.

    False if no readable one is published.
    """
    try:
        manifest = folder.manifest()
    except GenerationError:
        return False
    return bool(recipe and manifest and manifest.keywords != recipe.name)


def publish(
    database: Database,
    data_dir: Path,
    names: Sequence[str],
    recipe: Recipe | None = None,
) -> dict[str, int]:
    """Build, verify and publish generations; return their numbers by name.

    `recipe` applies to the keyword index; None keeps the previous one. The caller holds
    the writer lock. A failure does not affect the other collections: GenerationError
    then lists every failure. Raises StoreWriteError if the disk is full. Earlier
    publications stay, and no partial files are left.
    """
    published: dict[str, int] = {}
    failed: dict[str, str] = {}
    for name in names:
        try:
            published[name] = _publish(database, data_dir, name, recipe)
        except GenerationError as error:
            failed[name] = error.reason
        except OSError as error:
            path = str(error.filename or data_dir)
            raise StoreWriteError(path, error.strerror or str(error)) from error
    if failed:
        raise GenerationError(", ".join(failed), "; ".join(failed.values()))
    return published


def rollback(database: Database, data_dir: Path, name: str) -> int:
    """Publish the newest sound generation before the published one; return its number.

    Newer changes are searched as its delta. The caller holds the writer lock. Raises
    GenerationError if there is none, or CollectionNotFoundError.
    """
    card = database.card(name)
    folder = IndexFolder(data_dir, name)
    choices, problem = folder.choices()
    for manifest in choices if problem else choices[1:]:
        ours = database.has_change(name, manifest.seq, manifest.stamp)
        if not ours or manifest.embedder_digest != card.embedder_digest:
            continue
        if _is_sound(folder, manifest.generation):
            _point_at(folder, manifest)
            _remove(
                folder, [n for n in folder.generations() if n > manifest.generation]
            )
            return manifest.generation
    raise GenerationError(name, "there is no earlier intact generation to return to")


def sweep(data_dir: Path) -> None:
    """Remove unfinished files of a killed writer. The caller holds the writer lock."""
    for path in list_left_overs(data_dir):
        _discard(path)


def sweep_dropped(connection: Connection, data_dir: Path) -> None:
    """Remove indexes of collections that the database does not contain.

    They exist if the process that dropped a collection was killed. Nothing is removed
    if the database is damaged. The caller holds the writer lock.
    """
    with suppress(StoreError), schema.translate_errors(data_dir / FILE):
        known = {name for (name,) in connection.execute("select name from collection")}
        folders = sorted((data_dir / INDEXES).glob("*/"))
        dropped = [
            folder
            for folder in folders
            if folder.name not in known and not _is_ahead(connection, folder)
        ]
        if dropped and connection.execute("pragma quick_check(1)").fetchone() == (
            "ok",
        ):
            for folder in dropped:
                _discard(folder)


def discard_ahead(data_dir: Path) -> None:
    """Remove indexes with later changes than the database, which was restored."""
    with closing(schema.connect_writer(data_dir / FILE)) as connection:
        last = _last_change(connection)
    for path in sorted((data_dir / INDEXES).glob("*/")):
        folder = IndexFolder(data_dir, path.name)
        ahead = [m.generation for m in folder.manifests() if m.seq > last]
        if ahead:
            (path / MANIFEST).unlink(missing_ok=True)
            _remove(folder, ahead)


def _is_ahead(connection: Connection, folder: Path) -> bool:
    """Return whether an index has changes that the database has lost."""
    try:
        manifest = IndexFolder(folder.parents[1], folder.name).manifest()
    except GenerationError:
        return False
    return manifest is not None and manifest.seq > _last_change(connection)


def _last_change(connection: Connection) -> int:
    ((last,),) = connection.execute("select value from counter where name = 'seq'")
    return int(last)


def list_left_overs(data_dir: Path) -> list[Path]:
    """Return unfinished folders and files of a data root, in order."""
    half_made = [*(data_dir / INDEXES).glob("*/*.tmp"), *data_dir.glob(".*.tmp")]
    return sorted(half_made)


def index_bytes(database: Database, name: str) -> int:
    """Return the approximate size of the next generation of a collection."""
    card = database.card(name)
    ((text,),) = database.rows(
        "select coalesce(sum(length(index_text)), 0) from node where collection = ?",
        (name,),
    )
    return disk_space.index_bytes(card.chunks, int(text), card.dimension)


def _publish(
    database: Database, data_dir: Path, name: str, wanted: Recipe | None
) -> int:
    folder = IndexFolder(data_dir, name)
    recipe = wanted or _earlier(folder)
    estimate = index_bytes(database, name)
    disk_space.require_space(data_dir, estimate)
    with _place(folder) as (number, place):
        target = f"{name}:{place.absolute()}"
        try:
            built = _child(name, "build", data_dir, target, recipe)
            crash_point(CrashPoint.BUILT)
            verified = _child(name, "verify", data_dir, target, recipe)
            crash_point(CrashPoint.VERIFIED)
        except GenerationError as error:
            # Chroma does not report why it could not write.
            if disk_space.free_bytes(place) < estimate:
                raise disk_space.disk_full(data_dir, estimate) from error
            if disk_space.means_disk_full(error.reason):
                raise StoreWriteError(str(data_dir), error.reason) from error
            raise
        if faults := verified["faults"]:
            raise GenerationError(name, "; ".join(faults))
        manifest = _manifest(database, name, number, built, recipe)
        _seal(folder, place, manifest)
    _point_at(folder, manifest)
    _collect_garbage(folder, number)
    return number


def _earlier(folder: IndexFolder) -> Recipe:
    choices, _ = folder.choices()
    return choices[0].recipe if choices else DEFAULT


def _manifest(
    database: Database, name: str, number: int, built: Mapping[str, Any], recipe: Recipe
) -> Manifest:
    card = database.card(name)
    return Manifest(
        collection=name,
        generation=number,
        epoch=database.epoch(name),
        seq=built["seq"],
        stamp=database.stamp(name, built["seq"]),
        nodes=built["nodes"],
        embedder_digest=card.embedder_digest,
        dimension=card.dimension,
        keywords=recipe.name,
    )


@contextmanager
def _place(folder: IndexFolder) -> Iterator[tuple[int, Path]]:
    """Yield the next number and a new folder to build in, removed unless renamed.

    The builder of a killed writer may still run, so no two attempts share a folder.
    """
    folder.ensure_key()
    folder.folder.mkdir(parents=True, exist_ok=True)
    number = max(folder.generations(), default=0) + 1
    prefix = f"{folder.path(number).name}-"
    place = Path(tempfile.mkdtemp(prefix=prefix, suffix=".tmp", dir=folder.folder))
    try:
        yield number, place
    finally:
        _discard(place)


def _seal(folder: IndexFolder, ready: Path, manifest: Manifest) -> None:
    write_atomic(ready / MANIFEST, manifest.to_json())
    folder.seal(ready)
    fsync_tree(ready)
    crash_point(CrashPoint.SEALED)
    ready.rename(folder.path(manifest.generation))
    fsync_folder(folder.folder)
    crash_point(CrashPoint.RENAMED)


def _point_at(folder: IndexFolder, manifest: Manifest) -> None:
    write_atomic(folder.folder / MANIFEST, manifest.to_json())
    crash_point(CrashPoint.PUBLISHED)


def _collect_garbage(folder: IndexFolder, published: int) -> None:
    """Keep the published generation and the newest sound one before it."""
    earlier = [n for n in folder.generations() if n < published]
    kept = next((n for n in reversed(earlier) if _is_sound(folder, n)), 0)
    _remove(folder, [n for n in earlier if n != kept])


def _remove(folder: IndexFolder, generations: Sequence[int]) -> None:
    for generation in generations:
        _discard(folder.path(generation))
        crash_point(CrashPoint.COLLECTING)


def _is_sound(folder: IndexFolder, generation: int) -> bool:
    try:
        folder.check(folder.path(generation))
    except GenerationError:
        return False
    return any(m.generation == generation for m in folder.manifests())


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _child(
    name: str, action: str, data_dir: Path, target: str, recipe: Recipe
) -> dict[str, Any]:
    try:
        report = run_child(BUILDER, [action, str(data_dir), recipe.name, target])[-1]
    except StoreError as error:
        raise GenerationError(name, f"{action} failed: {error.message}") from error
    report_fields: dict[str, Any] = json.loads(report)
    return report_fields

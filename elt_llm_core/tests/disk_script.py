"""Run on a small disk: fill it, do one thing, make room, do it again. Prints JSON.

python disk_script.py FOLDER tmpfs|limit
"""

import json
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from warm_children import WarmChildren

from core_stores import SUBJECTS, new_document, put
from elt_llm_core.errors import EltLlmError
from elt_llm_core.store import Store
from elt_llm_core.store.database import disk_space
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.index import publish
from elt_llm_core.store.maintenance import backup
from elt_llm_core.testing.fakes import HashEmbedding

FOLDER, KIND = Path(sys.argv[1]), sys.argv[2]
EMBEDDER = HashEmbedding()
SENTENCES = [
    f"Rule {i}.{i % 7} says the {SUBJECTS[i % 8]} number {i} needs {i * 3} checks."
    for i in range(300)
]
UNLIMITED = resource.RLIM_INFINITY
AGAIN = ("document", "vectors", "manifest", "backup")  # the rest takes as long again
ROOM = 7_000_000
CALLS = {"_seal": True, "_point_at": True}  # full the first time, not the second
store = Store(FOLDER / "data")


@contextmanager
def full(free: int, name: str = "fill") -> Iterator[None]:
    """Leave `free` bytes on the disk, or let no file grow beyond them."""
    fill = FOLDER / name
    if KIND == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (free, UNLIMITED))
    else:
        wanted = shutil.disk_usage(FOLDER).free - free
        with fill.open("wb") as file:
            while wanted > 0:
                wanted -= file.write(bytes(min(wanted, 1 << 20)))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (UNLIMITED, UNLIMITED))
        fill.unlink(missing_ok=True)


def attempt(action: Callable[[], Any]) -> dict[str, Any]:
    try:
        action()
    except EltLlmError as error:
        return {"exit": error.exit_code, "told": str(error)}
    return {"exit": 0, "told": ""}


def state() -> dict[str, Any]:
    """What a reader finds now, and what lies about that should not."""
    vector = EMBEDDER.embed_array(["kite"])[0]
    found = store.open("rules")
    with closing(Database(store.data_dir)) as database:
        sound = database.rows("pragma integrity_check") == [("ok",)]
    half_made = [p.name for p in (store.data_dir / "backups").glob(".*")]
    return {
        "sound": sound,
        "chunks": sum(1 for _ in store.nodes("rules")),
        "near": len(found.search_dense(vector, 5)),
        "words": len(found.search_keyword("kite", 5)),
        "left": [p.name for p in publish.list_left_overs(store.data_dir)] + half_made,
    }


def stage(name: str, free: int, action: Callable[[], Any]) -> None:
    before = state()
    with full(free):
        failed = attempt(action)
        during = state()
    again = attempt(action) if name in AGAIN else {"exit": 0, "told": ""}
    told = {"name": name, "before": before, "failed": failed, "during": during}
    print(json.dumps({**told, "again": again, "after": state()}), flush=True)


def keep_vectors() -> None:
    texts = [f"unheard of {i}" for i in range(3000)]
    with store.writer() as writer:
        writer.put_vectors(EMBEDDER.digest, texts, EMBEDDER.embed_array(texts))


def rebuild() -> None:
    with store.writer() as writer:
        writer.publish(["rules"], force=True)


def rebuild_filled_at(step: str) -> None:
    """As if the disk filled up when the index was built and verified."""
    original = getattr(publish, step)

    def filled(*arguments: Any) -> None:
        with full(0, "more"):
            original(*arguments)

    setattr(publish, step, filled if CALLS.pop(step, False) else original)
    try:
        rebuild()
    finally:
        setattr(publish, step, original)


def rebuild_unasked() -> None:
    """As if the disk had filled up after it was looked at."""
    look, disk_space.require_space = disk_space.require_space, lambda *_: None
    try:
        rebuild()
    finally:
        disk_space.require_space = look


def main() -> None:
    put(store, "rules", new_document("a.txt", SENTENCES))
    store.open("rules").search_dense(np.ones(EMBEDDER.dimension) / 8, 1)
    large = new_document("large.txt", [f"{s} {s.upper()}" for s in SENTENCES])
    stage("document", 20_000, lambda: put(store, "rules", large, publish=False))
    stage("vectors", 20_000, keep_vectors)
    if KIND == "tmpfs":
        stage("preflight", 200_000, rebuild)
        stage("build begun", 0, rebuild_unasked)
        stage("seal", ROOM, lambda: rebuild_filled_at("_seal"))
    stage("build", 500_000, rebuild_unasked)
    stage("manifest", ROOM, lambda: rebuild_filled_at("_point_at"))
    stage("backup", 100_000, lambda: backup.back_up(store.data_dir))


if __name__ == "__main__":
    with WarmChildren().installed():
        main()

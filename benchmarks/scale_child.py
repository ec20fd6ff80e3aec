"""One measurement in a process of its own: python scale_child.py SIDE TASK ROOT CACHE.

SIDE is `ours` or `plain`; TASK is `cold` (the first answer) or `memory` (two hundred
searches, every twentieth with a filter). Prints one JSON object.
"""

import json
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

DEPTH = 20
NAME = "scale"


def main() -> None:
    """Do what the command line says."""
    side, task, root, cache = sys.argv[1:5]
    with np.load(cache, allow_pickle=False) as stored:
        questions = json.loads(stored["questions"].tobytes())
        asked = stored["asked"].astype(np.float32)
    tasks = {"cold": cold, "memory": memory}
    print(json.dumps(tasks[task](side, Path(root), questions, asked)))


def cold(side: str, root: Path, questions: list[str], asked: np.ndarray) -> Any:
    """Seconds and processor seconds of imports, opening and the first search."""
    started, spent = perf_counter(), process_time()
    if side == "plain":
        import scale_plain  # noqa: PLC0415 - the import is measured

        scale_plain.first_answer(root, questions[0], asked[0])
    else:
        from elt_llm_core.store import Store  # noqa: PLC0415

        collection = Store(root).open(NAME)
        collection.search_dense(asked[0], DEPTH)
        collection.search_keyword(questions[0], DEPTH)
    return {"wall": perf_counter() - started, "cpu": process_time() - spent}


def memory(side: str, root: Path, questions: list[str], asked: np.ndarray) -> Any:
    """Resident megabytes, now and at most."""
    names = [f"document {number:05d}" for number in range(0, 1000, 20)]
    if side == "plain":
        import scale_plain  # noqa: PLC0415

        plain = scale_plain.Plain(root)
        for turn, vector in enumerate(asked[:200]):
            engine = plain.engine(names if turn % 20 == 0 else None)
            scale_plain.search(engine, questions[turn], vector)
    else:
        from elt_llm_core.store import Store  # noqa: PLC0415

        collection = Store(root).open(NAME)
        for turn, vector in enumerate(asked[:200]):
            allowed = collection.ids({"document": names}) if turn % 20 == 0 else None
            collection.search_dense(vector, DEPTH, allowed)
            collection.search_keyword(questions[turn], DEPTH, allowed)
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    found = dict(line.split(":", 1) for line in status)
    return {key: int(found[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM")}


if __name__ == "__main__":
    main()

"""Small commands on a data root, each a process of its own.

python crash_steps.py hold DATA_DIR RELEASE     take the writer lock, say so, wait
python crash_steps.py search DATA_DIR SEARCHES DONE    search while files change
python crash_steps.py change DATA_DIR JSON      one change, as `crash_model` makes it
"""

import json
import sys
import time
from pathlib import Path

from elt_llm_core.errors import StoreLockedError
from elt_llm_core.store import Store
from elt_llm_core.testing.fakes import HashEmbedding

WORD = "zeppelin"
QUESTION = f"{WORD} edition clause"


def hold(root: Path, release: Path) -> None:
    """Say `held`, or `refused`, the seconds it took and the holder."""
    begun = time.monotonic()
    try:
        with Store(root).writer():
            print("held", flush=True)
            while not release.exists():
                time.sleep(0.005)
    except StoreLockedError as error:
        print("refused", time.monotonic() - begun, error.message, flush=True)


def search(root: Path, least: int, done: Path) -> None:
    """One line a search: ids found by words, ids found by vector, what was degraded.

    At least `least` searches, and until the file `done` is there.
    """
    store = Store(root)
    vector = HashEmbedding().embed_array([QUESTION])[0]
    searches = 0
    while searches < least or not done.exists():
        collection = store.open("rules")
        words = sorted(node for node, _ in collection.search_keyword(WORD, 1000))
        near = sorted(node for node, _ in collection.search_dense(vector, 1000))
        worse = [d.detail for d in collection.degradations]
        print(json.dumps([words, near, collection.generation, worse]))
        searches += 1
        time.sleep(0.01)  # the writer needs a processor too


def change(root: Path, what: str) -> None:
    from crash_model import apply

    apply(Store(root), json.loads(what))


if __name__ == "__main__":
    action, folder, *rest = sys.argv[1:]
    if action == "hold":
        hold(Path(folder), Path(rest[0]))
    elif action == "search":
        search(Path(folder), int(rest[0]), Path(rest[1]))
    else:
        change(Path(folder), rest[0])

"""Makes the data root of schema 1 that the migration tests start from.

Run with the program as it was at schema 1 (see README.md):

    python make_schema_1.py FOLDER

It fills FOLDER with two collections, one of them published and then changed, sidecars,
source files and journal rows, and writes FOLDER/EXPECTED.json: what must be the same
after every later migration.
"""

import hashlib
import json
import sys
from pathlib import Path

from core_stores import new_document, put
from elt_llm_core.store import Store
from elt_llm_core.store.database.document_rows import Database


def fill(root: Path) -> None:
    """Write the collections, the index and the journal."""
    store = Store(root)
    rules = [f"Rule {i} says that buoy {i} needs {i * 3} checks." for i in range(60)]
    put(store, "rules", new_document("a.txt", rules))
    put(store, "rules", new_document("b.txt", ["A zeppelin may not moor."]))
    put(store, "rules", new_document("c.txt", ["A kite may fly.", "A sail may not."]))
    gone = put(store, "rules", new_document("d.txt", ["This was taken out again."]))
    put(store, "parts", new_document("e.txt", ["An anchor.", "A lantern."]), False)
    with store.writer() as writer:
        writer.remove_document(gone)
    store.journal.put("run", "k1", 0, "first", result={"answer": "paid for"})
    store.journal.put("run", "k2", 1, "second", result={"error": "no"}, state="failed")
    store.close()


def content(root: Path) -> dict[str, object]:
    """All that the truth holds, in a form that JSON can keep."""
    store, database = Store(root), Database(root)
    documents = [d for name in ("parts", "rules") for d in store.documents(name)]
    return {
        "documents": [d.model_dump(mode="json") for d in documents],
        "texts": {d.document_id: store.document_text(d.document_id) for d in documents},
        "originals": {
            d.document_id: (store.original(d.document_id) or b"").decode()
            for d in documents
        },
        "pages": {
            d.document_id: [
                p.model_dump(mode="json") for p in store.pages(d.document_id)
            ]
            for d in documents
        },
        "sidecars": [s.model_dump(mode="json") for s in store.sidecars("rules")],
        "nodes": [
            [n.node_id, n.text, n.metadata]
            for name in ("parts", "rules")
            for n in store.nodes(name)
        ],
        "vectors": {
            node: hashlib.sha256(vector).hexdigest()
            for name in ("parts", "rules")
            for node, _, vector in database.index_rows(name)
        },
        "journal": store.journal.rows("run"),
    }


def main(folder: Path) -> None:
    """Fill the root and write down what it holds."""
    fill(folder / "data")
    held = json.dumps(content(folder / "data"), indent=1, sort_keys=True)
    (folder / "EXPECTED.json").write_text(held, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Stores that are broken on purpose: what looks after a crash must see each of them.

Each function changes the code of the process that it is called in, before its command
starts.
"""

import json
from pathlib import Path

from elt_llm_core.crash import CrashPoint, crash_point


def ledger_first() -> None:
    """The row of a document is committed before its chunks."""
    from elt_llm_core.store.database import rows

    whole = rows.put_document_row

    def row_alone(connection, *arguments):
        whole(connection, *arguments)
        connection.execute("commit")
        connection.execute("begin immediate")

    rows.put_document_row = row_alone


def told_too_early() -> None:
    """A document is called stored before its transaction begins."""
    import logging

    from elt_llm_core.store.writer import Writer

    stored = Writer.put_document

    def told(self, collection, new, *arguments):
        logging.getLogger("elt_llm_ingest.indexing").info("stored %s", new.uri)
        return stored(self, collection, new, *arguments)

    Writer.put_document = told


def manifest_first() -> None:
    """The manifest names the next generation before it is there."""
    from elt_llm_core.store.index import publish

    renamed = publish.fsync_tree

    def named(ready: Path):
        folder = ready.parent
        manifest = folder / "MANIFEST.json"
        number = int(ready.name.split("-")[1])
        if manifest.exists():
            known = json.loads(manifest.read_bytes())
            manifest.write_text(json.dumps({**known, "generation": number}))
        crash_point(CrashPoint.SEALED)
        renamed(ready)

    publish.fsync_tree = named


def half_an_index() -> None:
    """The index leaves a chunk out; nobody verifies."""
    from elt_llm_core.store.index import publish

    whole = publish.fsync_tree

    def less(ready: Path):
        ids = json.loads((ready / "ids.json").read_bytes())
        (ready / "ids.json").write_text(json.dumps(ids[:-1]))
        (ready / "CHECKSUMS.json").unlink(missing_ok=True)
        from elt_llm_core.store.index.manifest import IndexFolder

        IndexFolder(ready.parent.parent.parent, ready.parent.name).seal(ready)
        whole(ready)

    publish.fsync_tree = less

"""Into the store: one file after the other."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import CollectionMismatchError, UsageError
from elt_llm_core.models.embedder import CountingEmbedder
from elt_llm_core.results import DegradationKind
from elt_llm_core.store.database.records import DocumentRow, NewDocument
from elt_llm_core.store.writer import Writer
from elt_llm_ingest.change_detection import Outcome
from elt_llm_ingest.chunking import problems
from elt_llm_ingest.files import mime_of
from elt_llm_ingest.reading import Part, Work, names_of
from elt_llm_ingest.upkeep import take_out

if TYPE_CHECKING:
    from elt_llm_ingest.run import Run

SHOWN = 3  # reasons in one sentence

log = logging.getLogger(__name__)


class Storer:
    """Writes files, takes out what they replace, and tells the tally."""

    def __init__(self, run: "Run", writer: Writer) -> None:
        self._writer = writer
        self._ledger = run.ledger
        self._present = run.now.keys()
        self._keys = run.keys
        self._tally = run.tally
        self._keep = run.context.config.ingest.keep_originals

    def prepare(
        self,
        collection: str,
        embedder: CountingEmbedder,
        chunker: str,
        title: str,
        *,
        replace: bool,
    ) -> None:
        """The collection; made anew if its embedder changed and `replace` says so.

        Raises UsageError where documents would be lost that this run does not bring.
        """
        if collection in self._tally.touched:
            return
        try:
            self._writer.ensure_collection(collection, embedder, chunker, title)
        except CollectionMismatchError:
            if not replace:
                raise
            self._check_complete(collection)
            self._writer.drop_collection(collection)
            self._writer.ensure_collection(collection, embedder, chunker, title)
        self._tally.touched.add(collection)

    def _check_complete(self, collection: str) -> None:
        lost = [
            rows[0].name
            for uri, rows in sorted(self._ledger.rows.items())
            if uri not in self._present and rows[0].collection == collection
        ]
        if lost:
            shown = ", ".join(lost[:SHOWN]) + (" and more" * (len(lost) > SHOWN))
            raise UsageError(
                f"{len(lost)} documents of {collection!r} are not among the files "
                f"named and would be lost: {shown}",
                "name their files too, or take them out with: elt-llm remove",
            )

    def store(self, work: Work, bad: Mapping[str, str]) -> None:
        """One file, all its parts. Raises IngestError where it cannot be stored.

        `bad` maps texts that have no vector to the reason.
        """
        crash_point(CrashPoint.EMBEDDED)
        uri = work.seen.item.uri
        for part in work.parts:
            self._put(work, part, bad)
            warnings = (*part.target.document.warnings, *problems(part.nodes))
            self._tally.warn(part.target.collection, work.seen.item.name, warnings)
        kept = names_of([part.target for part in work.parts])
        earlier = self._ledger.rows.get(uri, [])
        stale = [row for row in earlier if (row.collection, row.part) not in kept]
        replaced: list[DocumentRow] = []
        if work.verdict.outcome is Outcome.RENAMED:
            replaced = self._ledger.rows[work.verdict.other]
        take_out(self._writer, [*stale, *replaced], self._tally)
        copied = work.verdict.outcome is Outcome.COPY  # of a file that was no good
        outcome = Outcome.ADDED if copied else work.verdict.outcome
        self._tally.counts[outcome] += 1
        self._tally.counts["chunks"] += work.chunks
        # Said when every part of it is committed: the crash tests hold us to it.
        log.info("stored %s", uri)

    def _put(self, work: Work, part: Part, bad: Mapping[str, str]) -> None:
        item = work.seen.item
        without = {text: bad[text] for text in part.texts if text in bad}
        self._writer.put_document(
            part.target.collection,
            NewDocument(
                uri=item.uri,
                name=item.name,
                sha256=work.seen.sha256,
                mime=mime_of(item.path),
                parsed=part.target.document,
                nodes=part.nodes,
                original=work.data if self._keep else None,
                config_key=self._keys.key(work.loader, item.title, len(work.parts)),
                unembedded=without,
            ),
        )
        if without:
            self._tell_partial(item.name, part, without)

    def _tell_partial(self, name: str, part: Part, bad: Mapping[str, str]) -> None:
        count = sum(text in bad for text in part.texts)
        reasons = list(dict.fromkeys(bad.values()))
        shown = "; ".join(reasons[:SHOWN]) + ("; and more" * (len(reasons) > SHOWN))
        has = "chunk" if len(part.nodes) == 1 else "chunks"
        verb = "has" if count == 1 else "have"
        detail = (
            f"{name}: partial: {count} of {len(part.nodes)} {has} {verb} no vector: "
            f"{shown}; found by words only, tried again by the next ingest of the file"
        )
        kind = DegradationKind.CHUNK_QUARANTINED
        self._tally.note(kind, part.target.collection, detail)
        self._tally.counts["quarantined"] += count

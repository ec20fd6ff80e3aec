"""Documents out and indexes anew: what needs neither a reader nor a model."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from elt_llm_core.errors import GenerationError
from elt_llm_core.results import DegradationKind
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_ingest.report import Tally

if TYPE_CHECKING:
    from elt_llm_core.store.writer import Writer


def take_out(writer: "Writer", rows: Sequence[DocumentRow], tally: Tally) -> None:
    """Remove documents; searches stop finding them at once."""
    for row in rows:
        writer.remove_document(row.document_id)
        tally.touched.add(row.collection)


def publish(
    writer: "Writer",
    names: Iterable[str],
    fraction: float,
    tally: Tally,
    told: Callable[..., None],
) -> None:
    """New generations where they are due, also where an earlier run broke off."""
    ordered = sorted(names)
    for index, name in enumerate(ordered, start=1):
        try:
            other = writer.outdated(name)
            if writer.publish([name], fraction) and other:
                tally.counts["reindexed"] += 1
        except GenerationError as error:
            # The truth has everything and answers without an index, only slower.
            tally.note(DegradationKind.EXACT_ENGINE, name, str(error))
        told("index", index, len(ordered), name)

"""The language model that reads a handbook, if one is configured.

Without one, nothing of it is imported, because importing LlamaIndex takes two seconds.
"""

from typing import TYPE_CHECKING

from elt_llm_core.jobs import JobContext
from elt_llm_core.results import Degradation
from elt_llm_core.strategy import Models

if TYPE_CHECKING:
    from elt_llm_consumer.handbook_reader import HandbookReader
    from elt_llm_consumer.linking.term_placer import TermPlacer


def open_reader(
    models: Models, context: JobContext, *, fresh: bool = False
) -> "HandbookReader | None":
    """Return a reader with the configured language model, or None without one."""
    if models.llm is None:
        return None
    from elt_llm_consumer.handbook_reader import HandbookReader  # noqa: PLC0415

    return HandbookReader(models.llm, context, fresh=fresh)


def unread_passages(reader: "HandbookReader | None") -> tuple[Degradation, ...]:
    """Return what a reader could not read; nothing without a reader."""
    return () if reader is None else tuple(reader.degradations())


def open_placer(
    models: Models, context: JobContext, *, fresh: bool = False
) -> "TermPlacer | None":
    """Return a placer with the configured language model, or None without one."""
    if models.llm is None:
        return None
    from elt_llm_consumer.linking.term_placer import TermPlacer  # noqa: PLC0415

    return TermPlacer(models.llm, context, fresh=fresh)


def list_placing_failures(placer: "TermPlacer | None") -> tuple[Degradation, ...]:
    """Return what a placer was not asked about; nothing without one."""
    return () if placer is None else tuple(placer.degradations())

"""Files inside files: attachments of a mail, and what they hold in turn."""

from pathlib import Path, PurePosixPath

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.formats.registry import parser_of
from elt_llm_ingest.formats.sniff import sniff
from elt_llm_ingest.safety import Limits, check_size


def read_inner(
    name: str, data: bytes, limits: Limits
) -> tuple[list[ParsedDocument], tuple[str, ...]]:
    """The documents of a file that was in another, or the reason there are none.

    Each is a part that is named as the file; only its last name counts, so no name
    leads anywhere.
    """
    path = Path(PurePosixPath(name.replace("\\", "/")).name or "attachment")
    try:
        check_size(path.name, len(data), limits)
        loader, warnings = sniff(path, data)
        found = parser_of(loader)(path, data, limits)
    except LoadError as error:
        return [], (f"{path.name} was not read: {error.reason}",)
    documents = [
        document.model_copy(
            update={
                "part": "/".join(part for part in (path.name, document.part) if part)
            }
        )
        for document in found
    ]
    return documents, tuple(f"{path.name}: {warning}" for warning in warnings)

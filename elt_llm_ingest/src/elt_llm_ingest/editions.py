"""Recognise a new edition: a file with the name and most of the text of another one."""

import shlex
from collections.abc import Sequence

from elt_llm_core.errors import UsageError
from elt_llm_core.files.file_addresses import FILE_SCHEME, path_of_address
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_ingest.change_detection import Ledger
from elt_llm_ingest.discovery import InputFile, remove_command

RUN = 5  # words; runs of five rarely repeat in another text (Broder 1997)
# Share of common runs from which two texts are editions of one document. A changed word
# breaks five runs: of a text with every tenth word changed, half of the runs are left.
SAME = 0.5


def overlap(first: str, second: str) -> float:
    """Return the share of runs of words that two texts have in common, from 0 to 1."""
    one, other = _runs(first), _runs(second)
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


def _runs(text: str) -> set[int]:
    words = text.casefold().split()
    length = min(RUN, len(words))
    shifted = (words[start:] for start in range(length))
    return {hash(run) for run in zip(*shifted, strict=False)}


def find_replaced(items: Sequence[InputFile], ledger: Ledger) -> dict[str, str]:
    """Return the addresses that the files replace, each with that of its file.

    Args:
        items: The files; what is stored of these is replaced by none of them.
        ledger: The stored documents.

    Raises:
        UsageError: If two of the files have the name of a document to replace.
    """
    given = {item.uri for item in items}
    replaced: dict[str, str] = {}
    for item in items:
        for documents in ledger.namesakes(item):
            uri = documents[0].uri
            if uri in given:
                continue
            if uri in replaced:
                raise UsageError(
                    f"two of the files are called {item.name!r}, and one of them would "
                    f"replace {uri}",
                    "pass --replace with one of them only",
                )
            replaced[uri] = item.uri
    return replaced


def replace_command(item: InputFile, row: DocumentRow, collection: str) -> str:
    """Return the command after which the file is in the place of the document.

    Args:
        item: The file.
        row: The document.
        collection: The collection of the ingest; empty if it has a prefix.
    """
    if not collection or not item.uri.startswith(FILE_SCHEME):
        return remove_command(row)
    path = shlex.quote(str(path_of_address(item.uri)))
    return f"elt-llm ingest {path} --collection {collection} --replace"

"""Whether a quote of a document is found on the page it was taken from."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elt_llm_core.document import ParsedDocument

WORD = re.compile(r"[^\W_]+")
SHINGLE = 3


class Quote(NamedTuple):
    """Text that people found on a page, from 1."""

    question: str
    document: str
    text: str
    page: int


def read_quotes(path: Path) -> list[Quote]:
    """The evidence of FinanceBench's questions in their order."""
    quotes: list[Quote] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        quotes.extend(
            Quote(
                row["financebench_id"],
                evidence.get("doc_name") or row["doc_name"],
                evidence["evidence_text"],
                int(evidence["evidence_page_num"]) + 1,
            )
            for evidence in row["evidence"]
        )
    return quotes


def find_page(quote: str, document: ParsedDocument) -> int:
    """The page that shares most runs of three words with a quote, 0 for none.

    Of equal pages the first.
    """
    wanted = _shingles(WORD.findall(quote.casefold()))
    best, page_found = 0, 0
    for page in document.pages:
        words = [document.text[word[0] : word[1]] for word in page.words]
        have = _shingles(WORD.findall(" ".join(words).casefold()))
        if len(wanted & have) > best:
            best, page_found = len(wanted & have), page.number
    return page_found


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    size = min(SHINGLE, max(len(words), 1))
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}

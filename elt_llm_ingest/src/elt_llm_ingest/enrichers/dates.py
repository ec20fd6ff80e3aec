"""Dates and versions, to filter chunks and weight them by age."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from llama_index.core.schema import TextNode, TransformComponent
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.enrichers.enricher import Addition, Enricher

FRONT = 2000  # characters, about the first page, where a document states its date
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_NAME = "|".join(f"{name}|{name[:3]}\\.?" for name in _MONTHS)
_DATE = re.compile(
    r"(?<![\d.])(?:"
    r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)-(?P<d>\d\d)"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m2>{_NAME}),?\s+(?P<y2>(?:19|20)\d\d)"
    rf"|(?P<m3>{_NAME})\s+(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y3>(?:19|20)\d\d)"
    r"|(?P<d4>\d{1,2})\.(?P<m4>\d{1,2})\.(?P<y4>(?:19|20)\d\d)"
    r")(?!\d)",
    re.IGNORECASE,
)
_OF_TEXT = re.compile(
    r"\b(?:effective|amended|updated|revised|version|edition|issued|published|in force"
    r"|as of|valid from|with effect from)\b[^.\n]{0,40}$",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"\b(?:version|ver\.?|edition|revision|rev\.|release)[ :]{0,2}"
    r"(\d{1,3}(?:\.\d{1,3}){0,3})\b(?!\.\d)|\bv(\d{1,3}(?:\.\d{1,3}){1,3})\b",
    re.IGNORECASE,
)


class DatesEnricher(Enricher):
    """Adds `date` (ISO 8601) and `version` as metadata; nothing is indexed.

    The date is one that the chunk states for its text ("effective 1 May 2024", "as
    amended on ..."), otherwise the document's: the first such date within `front`
    characters, or else the first of any kind there. Numeric dates are read if their
    order is unambiguous (2024-05-01, 1.5.2024).
    """

    front: int = Field(default=FRONT, ge=0, description="number of characters searched")

    @classmethod
    @override
    def class_name(cls) -> str:
        return "DatesEnricher"

    @override
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        front = f"{parsed.title}\n{parsed.text[: self.front]}" if parsed else ""
        whole = date_of_text(front) or next(
            (found for found, _ in find_dates(front)), ""
        )
        version = version_of(front)
        for node in nodes:
            own = date_of_text(node.text) or whole
            yield Addition(date=own, metadata={"version": version} if version else {})


class DatesEnricherOptions(Strategy[TransformComponent]):
    """Add the date and version of a text as metadata."""

    front: int = Field(default=FRONT, ge=0)

    @override
    def build(self, models: Models) -> TransformComponent:
        embedder = as_counting(models.embedder)
        return DatesEnricher(
            count_tokens=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            front=self.front,
        )


def find_dates(text: str) -> Iterator[tuple[str, int]]:
    """Return the dates of a text in ISO 8601, in order, with their positions."""
    for match in _DATE.finditer(text):
        found = {key[0]: value for key, value in match.groupdict().items() if value}
        month = found["m"].lower()
        if not month.isdecimal():
            month = str(1 + [m[:3] for m in _MONTHS].index(month[:3]))
        try:
            day = date(int(found["y"]), int(month), int(found["d"]))
        except ValueError:
            continue  # 31.02.2024 is no date
        yield day.isoformat(), match.start()


def date_of_text(text: str) -> str:
    """Return the first date that a text states for itself, or an empty string."""
    for found, at in find_dates(text):
        if _OF_TEXT.search(text[max(at - 80, 0) : at]):
            return found
    return ""


def version_of(text: str) -> str:
    """Return the first version number of a text, or an empty string."""
    match = _VERSION.search(text)
    return (match[1] or match[2]) if match else ""

"""Assemble sections: sources numbered over the whole text, gaps listed."""

from collections.abc import Sequence
from typing import Any

from elt_llm_core.results import Citation
from elt_llm_core.written import (
    CitedSource,
    SectionState,
    SectionStatement,
    WrittenSection,
    WrittenText,
)


def assemble_text(sections: Sequence[WrittenSection], **fields: Any) -> WrittenText:
    """Number the sources of sections by first mention.

    Args:
        sections: The sections in order, with citations in their statements.
        **fields: The other fields of the text.
    """
    numbers: dict[str, int] = {}
    cited: dict[str, dict[Citation, None]] = {}

    def number(statement: SectionStatement) -> SectionStatement:
        for citation in statement.citations:
            numbers.setdefault(citation.node_id, len(numbers) + 1)
            cited.setdefault(citation.node_id, {})[citation] = None
        own = dict.fromkeys(numbers[c.node_id] for c in statement.citations)
        labelled = tuple(
            c.model_copy(update={"label": str(numbers[c.node_id])})
            for c in statement.citations
        )
        return statement.model_copy(
            update={"sources": tuple(own), "citations": labelled}
        )

    numbered = tuple(
        section.model_copy(
            update={"statements": tuple(map(number, section.statements))}
        )
        for section in sections
    )
    sources = tuple(
        _to_source(numbers[key], key, list(citations))
        for key, citations in cited.items()
    )
    gaps = tuple(
        f"{section.heading}: {gap.label}"
        for section in numbered
        for gap in section.gaps
        if not gap.closed
    )
    return WrittenText(sections=numbered, sources=sources, gaps=gaps, **fields)


def failed_section(
    section_id: str, heading: str, level: int, why: str
) -> WrittenSection:
    """Return a placeholder for a section that could not be written."""
    return WrittenSection(
        id=section_id,
        heading=heading,
        level=level,
        state=SectionState.FAILED,
        gaps=(),
        guidance=why,
    )


def _to_source(number: int, node_id: str, citations: Sequence[Citation]) -> CitedSource:
    first = citations[0]
    return CitedSource(
        number=number,
        node_id=node_id,
        document_id=first.document_id,
        collection=first.collection,
        document=first.document,
        page=first.page,
        section=first.section,
        citations=tuple(c.model_copy(update={"label": str(number)}) for c in citations),
    )

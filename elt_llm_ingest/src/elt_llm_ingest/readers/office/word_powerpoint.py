"""Word and PowerPoint, read by Docling after the archive is checked."""

import io
from pathlib import Path

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits, check_zip
from elt_llm_ingest.readers.office.docling import (
    convert,
    remove_white_space,
    to_document,
)
from elt_llm_ingest.readers.office.hidden_runs import (
    list_hidden_content,
    remove_hidden_runs,
)
from elt_llm_ingest.readers.office.raised_runs import write_raised_as_text

EMU = 12_700  # PowerPoint's units per point
MAIN_PARTS = {"word/document.xml": "docx", "ppt/presentation.xml": "pptx"}


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:  # noqa: ARG001
    """The document of a .docx or .pptx file; a slide is a page.

    Raises LoadError for bombs, damaged files and files without text.
    """
    with check_zip(path.name, data) as archive:
        names = set(archive.namelist())
        noted = tuple(list_hidden_content(archive))
    kind = next((k for part, k in MAIN_PARTS.items() if part in names), None)
    if kind is None:
        raise LoadError(
            path.name,
            "the archive is not a Word or PowerPoint file",
            "unpack it and ingest the files in it",
        )
    data, hidden = remove_hidden_runs(data) if kind == "docx" else (data, 0)
    data = write_raised_as_text(data, kind)
    if hidden:
        noted = (f"it has hidden passages, which were left out: {hidden}", *noted)
    converted = convert(path, data, kind)
    written = _word_paragraphs(data) if kind == "docx" else {}
    points = 1.0 if kind == "docx" else 1 / EMU
    documents = to_document(path, converted, written, points=points)
    warned = (*documents[0].warnings, *noted)
    return [documents[0].model_copy(update={"warnings": warned})]


def _word_paragraphs(data: bytes) -> dict[str, str]:
    """Map the dense text of every paragraph, also in tables, to its original text."""
    from docx import Document  # noqa: PLC0415 - comes with Docling, takes a second
    from docx.oxml.ns import qn  # noqa: PLC0415
    from docx.text.paragraph import Paragraph  # noqa: PLC0415

    body = Document(io.BytesIO(data)).element.body
    texts = (Paragraph(p, None).text for p in body.iter(qn("w:p")))  # type: ignore[arg-type]
    return {remove_white_space(text): text for text in texts}

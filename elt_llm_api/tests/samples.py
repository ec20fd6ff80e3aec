"""A result whose every text is given, and a PDF that only a password opens."""

import io

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.results import (
    Box,
    Citation,
    Conflict,
    Degradation,
    DegradationKind,
    QueryResult,
    QueryTrace,
    RemovedClaim,
    Source,
    Span,
    Status,
    Support,
)


def result_of(text: str) -> QueryResult:
    source = Source(
        label="S1",
        node_id="n",
        document_id=text,
        collection=text,
        document=text,
        section=text,
        text=f"before {text} after",
        score=0.5,
        span=Span(start=0, end=1, page=1),
    )
    citation = Citation(
        label="S1",
        document=text,
        document_id="a" * 32,
        collection=text,
        page=1,
        section=text,
        quote=text,
        support=Support.VERIFIED,
        score=1.0,
        node_id="n",
        span=Span(start=0, end=1, page=1),
        boxes=(Box(page=1, left=0, top=0, right=1, bottom=1),),
    )
    return QueryResult(
        question=text,
        status=Status.PARTIAL,
        answer=f"{text} [S1]",
        sources=(source, source.model_copy(update={"label": "S2"})),
        citations=(citation,),
        removed=(RemovedClaim(text=text, reason=text),),
        conflicts=(Conflict(statement=text, reason=text, quotes=(citation, citation)),),
        degradations=(
            Degradation(
                kind=DegradationKind.EXACT_ENGINE, collection=text, detail=text
            ),
        ),
        trace=QueryTrace(query_id="q", config_hash="c"),
    )


def locked_pdf(password: str) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, encrypt=StandardEncryption(password, strength=128))
    canvas.drawString(72, 700, "The pool opens at 7:00 and closes at 21:30 every day.")
    canvas.save()
    return out.getvalue()

"""An answer with all its proof as one file, and the later check of such a file.

The file contains the whole result, the cited texts, the settings and models, and the
hash of each document. The HTML form needs nothing else: it shows the cited part of each
PDF page as a picture and embeds the same JSON. The file depends only on the result and
the data root: the same answer gives the same bytes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import ValidationError

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import EltLlmError, UsageError
from elt_llm_core.files.atomic import write_named_file
from elt_llm_core.records import Record
from elt_llm_core.results import Citation, QueryResult
from elt_llm_core.store import Store
from elt_llm_core.suspicion import describe
from elt_llm_query.grounding.quote_match import check_quote
from elt_llm_query.page_images import render_page

FORMAT = "elt-llm-evidence/1"
KINDS = (".html", ".json")
MOST_BYTES = 100_000_000  # of a file to verify; a page's crop has about 50 kB
SCALE = 1.5  # pixels per point: text is readable, a crop stays small
# `data-page` is the SHA-256 of the page around this element; older files have none.
_INSIDE = re.compile(
    r'<script type="application/json" id="evidence"(?: data-page="(\w*)")?>'
    r"(.*?)</script>\n",
    re.DOTALL,
)


class EvidenceError(EltLlmError):
    """The file is not an evidence file, or its content was changed."""

    exit_code = 65

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}",
            hint='create one with: elt-llm query "QUESTION" --evidence FILE.html',
        )


class EvidenceDocument(Record):
    """A document that the answer cites, as it was at that time."""

    document_id: str
    collection: str
    name: str
    uri: str
    sha256: str
    text_sha256: str
    parser: str


class EvidenceFile(Record):
    """The content of an evidence file. `digest` is the hash of all other fields."""

    format: str
    result: QueryResult
    settings: dict[str, Any]
    models: dict[str, str]
    documents: tuple[EvidenceDocument, ...]
    digest: str = ""

    def add_digest(self) -> "EvidenceFile":
        """Return a copy with the digest of its content."""
        return self.model_copy(update={"digest": self.compute_digest()})

    def compute_digest(self) -> str:
        """Return the SHA-256 of its JSON without the digest."""
        return _hash_without_digest(self.model_dump(mode="json"))


def _hash_without_digest(plain: dict[str, Any]) -> str:
    """Return the SHA-256 of an evidence file's JSON without its digest."""
    rest = {key: value for key, value in plain.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class SourceState(StrEnum):
    """The state of a document compared with the evidence file."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"


class QuoteState(StrEnum):
    """The state of a quote compared with the evidence file."""

    IN_PLACE = "in_place"
    MOVED = "moved"
    GONE = "gone"


class CheckedDocument(Record):
    """A document of the file, and its state in a data root."""

    name: str
    collection: str
    state: SourceState


class CheckedQuote(Record):
    """A citation of the file, and the present place of its words."""

    label: str
    document: str
    page: int | None
    quote: str
    state: QuoteState


class EvidenceReport(Record):
    """The outcome of a check. `proven` is true if every quote still exists."""

    question: str
    answer: str
    proven: bool
    documents: tuple[CheckedDocument, ...]
    quotes: tuple[CheckedQuote, ...]


def build_evidence(
    result: QueryResult, store: Store, config: RagConfig
) -> EvidenceFile:
    """Return an answer with the settings, models and documents that it is based on.

    Args:
        result: The answer.
        store: The data root that was searched.
        config: The configuration of the question; secrets are left out.
    """
    conflicting = (quote for c in result.conflicts for quote in c.quotes)
    ids = dict.fromkeys(q.document_id for q in (*result.citations, *conflicting))
    cards = {card.name: card for card in store.collections()}
    used = sorted({source.collection for source in result.sources})
    models = {
        f"embedder of {name}": f"{cards[name].embedder} {cards[name].embedder_digest}"
        for name in used
        if name in cards
    }
    settings = config.query.model_dump(mode="json")
    return EvidenceFile(
        format=FORMAT,
        result=result,
        settings=settings,
        models={**models, "language model": config.models.llm_strategy},
        documents=tuple(_documents(store, ids)),
    ).add_digest()


def write_evidence(
    path: Path, evidence: EvidenceFile, store: Store, *, pictures: bool = True
) -> None:
    """Write an evidence file in the format of its file extension.

    Args:
        path: A name that ends in .html or .json; an existing file is replaced.
        evidence: What to write.
        store: The data root with the PDFs whose pages are shown.
        pictures: Whether HTML shows the cited part of each page.

    Raises:
        UsageError: If the name has another extension.
        OutputFileError: If it cannot be written.
    """
    check_ending(path)
    if path.suffix.lower() == ".json":
        write_named_file(path, _to_json(evidence) + "\n")
        return
    crops = _crops(evidence.result.citations, store) if pictures else {}
    template = _ENVIRONMENT.get_template("evidence.html")
    html = template.render(
        evidence=evidence,
        result=evidence.result,
        crops=crops,
    )
    # Every "<" is escaped, so that no text of a document can end the script element.
    inside = _to_json(evidence).replace("<", "\\u003c")
    head, body, tail = f"{html}\n".rpartition("</body>")
    page = _hash_text(head + body + tail)
    opening = f'<script type="application/json" id="evidence" data-page="{page}">'
    write_named_file(path, f"{head}{opening}{inside}</script>\n{body}{tail}")


def check_ending(path: Path) -> None:
    """Raise UsageError if the name of an evidence file has another extension."""
    if path.suffix.lower() not in KINDS:
        raise UsageError(
            f"{path.name!r} ends in {path.suffix!r}", f"name it {' or '.join(KINDS)}"
        )


def read_evidence(path: Path) -> EvidenceFile:
    """Return the content of an evidence file.

    Raises:
        EvidenceError: If the file cannot be read, is not an evidence file, or its
            digests do not match its data or what the page shows.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise EvidenceError(path, f"the file has over {MOST_BYTES:,} bytes")
        text = path.read_bytes().decode("utf-8")  # `read_text` changes "\r"
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EvidenceError(path, f"cannot be read: {reason}") from error
    inside = _INSIDE.search(text)
    try:
        written = inside[2] if inside else text
        evidence = EvidenceFile.model_validate_json(written)
        # Of the JSON as written: an earlier version wrote fewer fields.
        digest = _hash_without_digest(json.loads(written))
    except (ValidationError, RecursionError) as error:
        raise EvidenceError(path, "is not an evidence file of this version") from error
    if evidence.format != FORMAT:
        raise EvidenceError(path, f"has the format {evidence.format!r}, not {FORMAT!r}")
    if evidence.digest != digest:
        raise EvidenceError(path, "was changed: its digest does not match its content")
    if inside and inside[1] is not None:
        around = text[: inside.start()] + text[inside.end() :]
        if _hash_text(around) != inside[1]:
            raise EvidenceError(path, "was changed: the page differs from its digest")
    return evidence


def verify_evidence(evidence: EvidenceFile, store: Store) -> EvidenceReport:
    """Look every quote of an evidence file up again.

    Args:
        evidence: The file's content.
        store: The data root to search; nothing else is read.

    Returns:
        The state of each document and each quote. A document is found by its id, or by
        its file's hash if it was ingested again elsewhere.
    """
    states = {one.document_id: _find_document(one, store) for one in evidence.documents}
    documents = tuple(
        CheckedDocument(name=one.name, collection=one.collection, state=states[i][0])
        for i, one in ((one.document_id, one) for one in evidence.documents)
    )
    quotes = tuple(
        CheckedQuote(
            label=c.label,
            document=c.document,
            page=c.page,
            quote=c.quote,
            state=_quote_state(c, states.get(c.document_id, (SourceState.GONE, ""))[1]),
        )
        for c in evidence.result.citations
    )
    return EvidenceReport(
        question=evidence.result.question,
        answer=evidence.result.answer,
        proven=all(one.state is not QuoteState.GONE for one in quotes),
        documents=documents,
        quotes=quotes,
    )


def _documents(store: Store, ids: Iterable[str]) -> Iterable[EvidenceDocument]:
    for document_id in ids:
        row = store.document(document_id)
        if row is not None:
            yield EvidenceDocument(
                document_id=document_id,
                collection=row.collection,
                name=row.name,
                uri=row.uri,
                sha256=row.sha256,
                text_sha256=_hash_text(store.document_text(document_id)),
                parser=row.parser,
            )


def _find_document(one: EvidenceDocument, store: Store) -> tuple[SourceState, str]:
    """Return the state of a document and its present text; empty if it is missing."""
    row = store.document(one.document_id)
    if row is None:
        rows = (r for card in store.collections() for r in store.documents(card.name))
        row = next((r for r in rows if r.sha256 == one.sha256), None)
    if row is None:
        return SourceState.GONE, ""
    text = store.document_text(row.document_id)
    same = row.sha256 == one.sha256 and _hash_text(text) == one.text_sha256
    return (SourceState.UNCHANGED if same else SourceState.CHANGED), text


def _quote_state(citation: Citation, text: str) -> QuoteState:
    span = citation.span
    if text[span.start : span.end] == citation.quote:
        return QuoteState.IN_PLACE
    moved = bool(text) and check_quote(citation.quote, text).stands
    return QuoteState.MOVED if moved else QuoteState.GONE


def _crops(citations: Sequence[Citation], store: Store) -> dict[int, str]:
    """Return data URLs of the cited part of each PDF page, by citation number."""
    originals: dict[str, bytes | None] = {}
    crops: dict[int, str] = {}
    for number, citation in enumerate(citations):
        key = citation.document_id
        row = store.document(key)
        if citation.page is None or row is None or row.mime != "application/pdf":
            continue
        if key not in originals:
            originals[key] = store.original(key)
        pdf = originals[key]
        boxes = [box for box in citation.boxes if box.page == citation.page]
        if pdf is None:
            continue
        picture = render_page(pdf, citation.page, boxes, scale=SCALE, crop=True)
        if picture is not None:
            encoded = base64.b64encode(picture).decode("ascii")
            crops[number] = f"data:image/jpeg;base64,{encoded}"
    return crops


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _to_json(evidence: EvidenceFile) -> str:
    return json.dumps(evidence.model_dump(mode="json"), ensure_ascii=True, indent=1)


_ENVIRONMENT = Environment(
    loader=PackageLoader("elt_llm_query"), autoescape=True, undefined=StrictUndefined
)
_ENVIRONMENT.filters["describe"] = describe

"""The results of a question: frozen records, the same in every interface.

Boxes are fractions of the page, 0 to 1, from its top-left corner. Pages count from 1.
Character spans are `[start, end)` in the document's text.
"""

from enum import StrEnum
from typing import Any

from pydantic import Field
from typing_extensions import override

from elt_llm_core.records import Record
from elt_llm_core.suspicion import Suspicion


class Box(Record):
    """A rectangle on a page, as fractions of its width and height from the top left."""

    page: int = Field(ge=1)
    left: float = Field(ge=0, le=1)
    top: float = Field(ge=0, le=1)
    right: float = Field(ge=0, le=1)
    bottom: float = Field(ge=0, le=1)


class Span(Record):
    """The location of a text: its characters `[start, end)` and its page."""

    start: int = Field(ge=0)
    end: int = Field(gt=0)
    page: int | None = Field(default=None, ge=1)


class Status(StrEnum):
    """The status of an answer."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    INSUFFICIENT = "insufficient"
    NO_SOURCES = "no_sources"
    VALIDATION_FAILED = "validation_failed"


class ReplyKind(StrEnum):
    """What a result is that neither answers nor refuses."""

    COURTESY = "courtesy"
    CLARIFICATION = "clarification"


class Support(StrEnum):
    """How a statement or quotation was proven, or why it was not."""

    VERIFIED = "verified"  # the source contains the words, character for character
    NORMALISED = "normalised"  # equal except for white space, ligatures, hyphens, case
    FUZZY = "fuzzy"  # equal except for articles, endings and misread letters
    SUPPORTED = "supported"  # other words; a passage of a few sentences states the same
    GENERATED = "generated"  # only a model's description of a picture states it
    MISATTRIBUTED = "misattributed"  # another source of the answer contains it
    CONTRADICTED = "contradicted"  # a passage says it with another number, name, "not"
    UNSUPPORTED = "unsupported"  # no passage of the cited source states it
    FABRICATED = "fabricated"  # a quotation that no source contains
    UNCITED = "uncited"  # no label, and no source states it
    NOTICE = "notice"  # a sentence of the program, not about the documents


class DegradationKind(StrEnum):
    """The kind of a degradation."""

    KEYWORD_INDEX_MISSING = "keyword_index_missing"
    VECTOR_INDEX_MISSING = "vector_index_missing"
    EXACT_ENGINE = "exact_engine"
    EARLIER_INDEX = "earlier_index"
    EMBEDDER_UNAVAILABLE = "embedder_unavailable"
    GENERATION_UNAVAILABLE = "generation_unavailable"
    ANSWER_CUT = "answer_cut"
    ANSWER_UNSTRUCTURED = "answer_unstructured"
    OTHER_MODEL = "other_model"
    RERANKER_UNAVAILABLE = "reranker_unavailable"
    POSTPROCESSOR_UNAVAILABLE = "postprocessor_unavailable"
    STAGE_LEFT_OUT = "stage_left_out"
    COLLECTION_LEFT_OUT = "collection_left_out"
    ROUTER_UNAVAILABLE = "router_unavailable"
    ROUTER_MISLED = "router_misled"
    PROMPT_SHORTENED = "prompt_shortened"
    DOCUMENT_FAILED = "document_failed"
    DOCUMENT_WARNING = "document_warning"
    CHUNK_QUARANTINED = "chunk_quarantined"
    ITEM_FAILED = "item_failed"
    FILE_KEPT = "file_kept"
    UNKNOWN_EMBEDDER_PROMPT = "unknown_embedder_prompt"
    BACKUP_SKIPPED = "backup_skipped"
    LANGUAGE_NOT_SERVED = "language_not_served"
    SETTING_UNUSED = "setting_unused"
    SERVER_DECLINED = "server_declined"
    FILTER_UNMATCHED = "filter_unmatched"


class Degradation(Record):
    """What was disabled or skipped, where, and why."""

    kind: DegradationKind
    collection: str = ""
    detail: str


Scalar = str | int | float | bool
ATTRIBUTES: Any = Field(
    default_factory=dict,
    description="metadata of the document, its ingest file or an enricher: journal",
)


class LinkedFigure(Record):
    """A figure and a chunk, one of which mentions the other."""

    number: str = Field(description="number of the figure: 3, A.1")
    node_id: str = Field(description="the linked chunk: the figure's, or one naming it")
    page: int | None = Field(default=None, ge=1)
    boxes: tuple[Box, ...] = ()
    text: str = Field(description="its text: of a figure, the caption")


class Source(Record):
    """A chunk as the answer saw it. `score` is comparable only within one list."""

    label: str
    node_id: str
    document_id: str
    collection: str
    document: str = Field(description="file name or title of the document")
    section: str = Field(default="", description="section path, ' > ' between levels")
    kind: str = "prose"
    text: str
    score: float
    span: Span
    pages: tuple[int, ...] = ()
    boxes: tuple[Box, ...] = ()
    reading_order: str = Field(
        default="", description="doubtful if the reading order of its page is uncertain"
    )
    generated: bool = Field(
        default=False,
        description="true if a model wrote it, for example the "
        "description of a picture",
    )
    suspicious: tuple[Suspicion, ...] = Field(
        default=(), description="reason if the text may be written to mislead a model"
    )
    attributes: dict[str, Scalar] = ATTRIBUTES
    figures: tuple[LinkedFigure, ...] = Field(
        default=(), description="figures of the document that it mentions"
    )
    mentioned_by: tuple[LinkedFigure, ...] = Field(
        default=(), description="chunks that mention it, if it is a figure"
    )


class Citation(Record):
    """The evidence of one claim: a quote that was looked up in its source."""

    label: str
    document: str
    document_id: str
    collection: str
    page: int | None
    section: str
    kind: str = Field(default="", description="of its chunk: prose, table_row, figure")
    quote: str
    support: Support
    score: float = Field(ge=0, le=1, description="1: identical character for character")
    node_id: str
    span: Span
    boxes: tuple[Box, ...] = ()
    reading: str = Field(
        default="",
        description="the row with its headers where a table row is shown as nearest",
    )
    reading_order: str = Field(
        default="",
        description="doubtful if the words match but their order is uncertain",
    )
    suspicious: tuple[Suspicion, ...] = Field(
        default=(),
        description="reason if the source may be written to mislead a model",
    )
    attributes: dict[str, Scalar] = ATTRIBUTES

    @override
    def __hash__(self) -> int:
        """Equal citations have the same; attributes need not be looked at."""
        return hash((self.label, self.node_id, self.span, self.quote))


class Statement(Record):
    """One claim of an answer: the unit of proof.

    The statements of an answer, in order and separated by white space only, are the
    whole answer.
    """

    text: str = Field(description="answer[start:end], with its labels")
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    verdict: Support
    reason: str = Field(default="", description="reason if it is not proven")
    citations: tuple[Citation, ...] = ()


class Conflict(Record):
    """Two passages of the sources that contradict each other."""

    statement: str = Field(
        description="sentence of the answer that rests on the first passage"
    )
    reason: str = Field(description="what differs: 20 cents or 50 cents")
    quotes: tuple[Citation, Citation] = Field(
        description="the passage that supports the statement, and the contradicting one"
    )


class QuotedList(Record):
    """How much of a list of a document an answer quotes.

    If `shown` is less than `total`, the answer contains a sentence that says so.
    """

    lead: str = Field(description="sentence or heading that introduces the list")
    node_id: str = Field(description="chunk with the last quoted item")
    shown: int = Field(ge=0, description="items of the list in the answer")
    total: int = Field(ge=1, description="items of the list in the document")


class RemovedClaim(Record):
    """A sentence or label that did not pass the checks, and the reason."""

    text: str
    reason: str
    verdict: Support | None = Field(
        default=None, description="empty if no label is cited"
    )


class StageRecord(Record):
    """One stage of one question."""

    name: str
    milliseconds: float = Field(ge=0)
    n_in: int = Field(ge=0)
    n_out: int = Field(ge=0)
    top: tuple[tuple[str, float], ...] = ()


class ModelCost(Record):
    """The cost of calls to model servers, without the embedded embedder."""

    calls: int = Field(
        default=0, ge=0, description="number of calls, including failed ones"
    )
    read: int = Field(default=0, ge=0, description="tokens, as counted by the server")
    written: int = Field(
        default=0, ge=0, description="tokens, as counted by the server"
    )
    seconds: float = Field(default=0.0, ge=0)
    cut: int = Field(
        default=0, ge=0, description="answers that reached the token limit"
    )

    @property
    def tokens(self) -> int:
        """Return tokens read and written."""
        return self.read + self.written

    def __add__(self, other: "ModelCost") -> "ModelCost":
        """Return the sum."""
        return ModelCost(
            calls=self.calls + other.calls,
            read=self.read + other.read,
            written=self.written + other.written,
            seconds=self.seconds + other.seconds,
            cut=self.cut + other.cut,
        )


class QueryTrace(Record):
    """The stages of an answer."""

    query_id: str
    config_hash: str
    generations: dict[str, int] = Field(default_factory=dict)
    stages: tuple[StageRecord, ...] = ()
    models: ModelCost = ModelCost()


class QueryResult(Record):
    """The complete result of one question."""

    question: str
    status: Status
    answer: str
    statements: tuple[Statement, ...] = ()
    sources: tuple[Source, ...] = ()
    citations: tuple[Citation, ...] = ()
    removed: tuple[RemovedClaim, ...] = ()
    nearest: tuple[Citation, ...] = Field(
        default=(), description="quotes shown with a refusal; they are not an answer"
    )
    lists: tuple[QuotedList, ...] = Field(
        default=(),
        description="lists that the answer quotes in whole or in part",
    )
    sure: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="probability that quoted sentences answer the question, by the "
        "scorer of answers without a model; null if it was not estimated",
    )
    conflicts: tuple[Conflict, ...] = Field(
        default=(),
        description="contradictions between sources about a statement of the answer",
    )
    reply: ReplyKind | None = Field(
        default=None,
        description="reply to a greeting or thanks, or a question that is asked back; "
        "null for an answer or a refusal",
    )
    degradations: tuple[Degradation, ...] = ()
    trace: QueryTrace

    @property
    def response(self) -> str:
        """Return the answer, under the name of the earlier system."""
        return self.answer

    @property
    def source_nodes(self) -> list[dict[str, Any]]:
        """Return text, metadata and score of each source, as in the earlier system."""
        return [
            {
                "text": s.text,
                "metadata": s.model_dump(mode="json", exclude={"text", "score"}),
                "score": s.score,
            }
            for s in self.sources
        ]


class SearchResult(Record):
    """Retrieval without an answer."""

    question: str
    sources: tuple[Source, ...]
    degradations: tuple[Degradation, ...] = ()
    trace: QueryTrace

"""Request and response schemas, independent of the internal records."""

from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from elt_llm_api.job_registry import Job
from elt_llm_core.job_records import JobRecord, JobState
from elt_llm_core.results import Degradation
from elt_llm_core.store import Collection, DocumentRow
from elt_llm_core.store.database.records import MOST_PRIORITY, PRIORITY
from elt_llm_core.tables import Relation
from elt_llm_query.plan import SourceLimits


class Wire(BaseModel):
    """A schema without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# At least one letter or digit; otherwise there is nothing to search for.
QUESTION = Field(min_length=1, max_length=4000, pattern=r"[^\W_]")
COLLECTIONS = Field(
    default=(), max_length=64, description="names of collections; default: all"
)
Wanted = str | int | float | Annotated[list[str | int | float], Field(max_length=100)]
Filter = Wanted | Annotated[dict[str, Wanted], Field(max_length=8)]
WHERE: Any = Field(
    default_factory=dict,
    max_length=16,
    description="only chunks of this document, document_id, title, section, "
    "page, kind, rule, date, source, or other metadata of the "
    'document (journal, doi); a list means "or", an object holds '
    "operators: ==, !=, in, nin, <, <=, >, >=, contains",
)
TOP_K: Any = Field(
    default=None,
    ge=1,
    le=200,
    description="number of candidates before reranking; default: the profile's",
)
TOP_N: Any = Field(
    default=None,
    ge=1,
    le=100,
    description="number of sources for the answer, at most top_k",
)
USE_RERANKER: Any = Field(default=None, description="whether candidates are reranked")
EXAMPLE_QUESTION = "Who may register a player?"


class SearchRequest(Wire):
    """A question for passages."""

    question: str = QUESTION
    collections: tuple[str, ...] = COLLECTIONS
    k: int | None = Field(
        default=None,
        ge=1,
        le=100,
        description="maximum number of passages, without those added by postprocessors",
    )
    where: dict[str, Filter] = WHERE

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": EXAMPLE_QUESTION, "k": 5}]}
    )


class QueryRequest(Wire):
    """A question for an answer."""

    question: str = QUESTION
    collections: tuple[str, ...] = COLLECTIONS
    profile: str = Field(
        default="default",
        max_length=64,
        description="name of a profile; see /v1/status",
    )
    models: str = Field(
        default="",
        max_length=64,
        description="model provider, overriding the profile: embedded, ollama, "
        "or EMBEDDER+LLM such as embedded+ollama",
    )
    where: dict[str, Filter] = WHERE
    top_k: int | None = TOP_K
    top_n: int | None = TOP_N
    use_reranker: bool | None = USE_RERANKER
    format: Literal["text", "markdown"] = Field(
        default="text",
        description="format of `answer`: plain text, or Markdown in which all "
        "markup characters of the text are escaped for a renderer",
    )

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"question": EXAMPLE_QUESTION, "collections": ["handbook"]}]
        }
    )

    @property
    def limits(self) -> SourceLimits:
        """Return the limits on the number of sources."""
        return SourceLimits(self.top_k, self.top_n, self.use_reranker)


class ProfileOut(Wire):
    """A way to answer."""

    name: str
    does: str
    needs: str
    lacks: str = Field(
        description="what is missing on this machine, and how to install it"
    )


class ProfileList(Wire):
    """Every profile."""

    data: list[ProfileOut]


class ExampleList(Wire):
    """Questions that documents answer."""

    data: list[str]


class CollectionOut(Wire):
    """A collection and its indexing settings."""

    name: str
    title: str = Field(description="title, if it differs from the name")
    documents: int
    chunks: int
    embedder: str
    dimension: int
    chunker: str
    priority: int = Field(description=PRIORITY)
    generation: int = Field(description="number of the published index; 0: none yet")
    degradations: tuple[Degradation, ...] = ()

    @classmethod
    def of(cls, opened: Collection) -> "CollectionOut":
        """The card and the state of the index as sent."""
        fields = (
            *("name", "title", "documents", "chunks"),
            *("embedder", "dimension", "chunker", "priority"),
        )
        return cls(
            **{name: getattr(opened.card, name) for name in fields},
            generation=opened.generation,
            degradations=opened.degradations,
        )


class Renaming(Wire):
    """The title and the priority of a collection or a document."""

    title: str | None = Field(
        default=None, min_length=1, max_length=200, examples=["Player handbook"]
    )
    priority: int | None = Field(
        default=None, ge=0, le=MOST_PRIORITY, description=PRIORITY
    )


class CollectionList(Wire):
    """All collections, by name."""

    data: list[CollectionOut]


class DocumentOut(Wire):
    """A document, without its text."""

    document_id: str
    collection: str
    name: str
    title: str
    part: str
    mime: str
    sha256: str
    pages: int
    chunks: int
    warnings: tuple[str, ...]
    priority: int = Field(description=PRIORITY)
    content_url: str | None = Field(
        description="URL of the stored file, if it was kept"
    )

    @classmethod
    def of(cls, row: DocumentRow) -> "DocumentOut":
        """The row as sent."""
        fields = ("document_id", "collection", "name", "title", "part", "mime")
        url = f"/v1/documents/{row.document_id}/content"
        return cls(
            **{name: getattr(row, name) for name in fields},
            sha256=row.sha256,
            pages=row.page_count,
            chunks=row.nodes,
            warnings=row.warnings,
            priority=row.priority,
            content_url=url if row.has_original else None,
        )


class DocumentList(Wire):
    """A page of documents, by source and part."""

    data: list[DocumentOut]
    has_more: bool
    next_cursor: int | None


class ProgressOut(Wire):
    """The progress of a job; `total` is unknown in some stages."""

    stage: str
    done: int
    total: int | None
    detail: str = ""


class JobOut(Wire):
    """A job. `files` maps names to their URLs."""

    id: str
    kind: str
    state: JobState
    progress: ProgressOut
    counts: dict[str, int] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    degradations: tuple[Degradation, ...] = ()
    problem: dict[str, Any] | None = None

    @classmethod
    def of(cls, job: Job) -> "JobOut":
        """The job as sent."""
        report = job.report
        names = sorted(report.files) if report else []
        return cls(
            id=job.job_id,
            kind=job.kind,
            state=job.state,
            progress=ProgressOut(
                stage=job.stage, done=job.done, total=job.total, detail=job.detail
            ),
            counts=report.counts if report else {},
            files={n: file_url(job, n) for n in names if job.file(n)},
            degradations=report.degradations if report else (),
            problem=job.problem,
        )

    @classmethod
    def of_record(cls, record: JobRecord) -> "JobOut":
        """Return a job of an earlier server or a command, without machine details.

        Its files and degradations were reported where it ran.
        """
        progress = record.progress
        return cls(
            id=record.job_id,
            kind=record.kind,
            state=record.state,
            progress=ProgressOut(
                stage=progress.stage, done=progress.done, total=progress.total
            ),
            counts=record.report.counts if record.report else {},
        )


class JobList(Wire):
    """Jobs, newest first."""

    data: list[JobOut]


class TableOut(Wire):
    """A table of a document, without its rows."""

    id: str
    title: str
    document: str
    document_id: str
    section: str
    page: int | None
    columns: list[str] = Field(description="header path of each, ' / ' between levels")
    rows: int
    problems: list[str] = Field(description="reasons why it is not clean")

    @classmethod
    def of(cls, relation: Relation) -> "TableOut":
        """The head of a table as sent."""
        names = ("id", "title", "document", "document_id", "section", "page")
        return cls(
            **{name: getattr(relation, name) for name in names},
            columns=[column.header for column in relation.columns],
            rows=len(relation.rows),
            problems=list(relation.problems),
        )


class TableList(Wire):
    """A page of tables."""

    data: list[TableOut]
    has_more: bool
    next_cursor: int | None = None


class Health(Wire):
    """Whether the server serves."""

    status: str = Field(examples=["ok"])
    collections: int | None = None


class StatusOut(Wire):
    """The state of the server: versions, models, disk space, jobs."""

    version: str
    profiles: list[str] = Field(description="profiles that can be used")
    incomplete: dict[str, str] = Field(
        description="profiles with a stage that cannot run here: what is "
        "missing, and how to install it"
    )
    embedder: str
    llm: str | None
    disk_free_mb: int
    collections: list[CollectionOut]
    last_job: JobOut | None


class ProblemOut(BaseModel):
    """RFC 9457, with the project's error code and hint."""

    type: str = Field(examples=["urn:elt-llm:error:STO002"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no collection 'handbok'"])
    instance: str = Field(examples=["/v1/query"])
    hint: str = Field(examples=["did you mean 'handbook'?"])
    code: str = Field(examples=["STO002"])
    errors: list[dict[str, Any]] = Field(default_factory=list)
    details: list[str] = Field(
        default_factory=list, description="one message for each failure"
    )


def file_url(job: Job, name: str) -> str:
    """Return the URL of a file of a job."""
    return f"/v1/jobs/{job.job_id}/files/{quote(name, safe='')}"

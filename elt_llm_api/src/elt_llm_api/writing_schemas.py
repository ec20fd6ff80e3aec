"""Request and response schemas of reports, topics and concept reports."""

from typing import Any, Literal

from pydantic import Field

from elt_llm_api.schemas import COLLECTIONS, Wire
from elt_llm_core.store import Store
from elt_llm_core.versions import Version, VersionKind, VersionRow
from elt_llm_core.written import WrittenText, is_stale

PROFILE: Any = Field(
    default="default", max_length=64, description="name of a profile; see /v1/status"
)
MODELS: Any = Field(
    default="", max_length=64, description="model provider, overriding the profile"
)
GAP_ROUNDS: Any = Field(
    default=0, ge=0, le=5, description="rounds of further searches for missing parts"
)
FRESH: Any = Field(default=False, description="write finished sections again")
TemplateFormat = Literal[
    "yaml", "json", "md", "markdown", ".yaml", ".json", ".md", ".markdown"
]
FormatName = Literal["json", "markdown", "html", "docx"]
# Names of shipped templates and packs, never a path on the server.
NAME = r"^[a-z0-9][a-z0-9_-]*$"


class WritingRequest(Wire):
    """Common fields of writing jobs."""

    collections: tuple[str, ...] = COLLECTIONS
    profile: str = PROFILE
    models: str = MODELS
    gap_rounds: int = GAP_ROUNDS
    fresh: bool = FRESH
    formats: tuple[FormatName, ...] = Field(
        default=("json", "markdown", "html", "docx"), description="files of the job"
    )

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of the job."""
        return self.model_dump(mode="json", exclude={"profile", "models"})


class ReportRequest(WritingRequest):
    """A report: a shipped template by its name, or a template's own text."""

    template: str = Field(default="", max_length=80, pattern=rf"^$|{NAME}")
    template_text: str = Field(default="", max_length=200_000)
    template_format: TemplateFormat = "yaml"


class SummaryRequest(WritingRequest):
    """Summaries of topics; without `topics` of all of them."""

    topics: tuple[str, ...] = Field(default=(), max_length=500)
    pack: str = Field(default="", max_length=80, pattern=rf"^$|{NAME}")


class ConceptRequest(WritingRequest):
    """A report on every passage that mentions a concept."""

    concept: str = Field(min_length=1, max_length=300, pattern=r"[^\W_]")


class TemplateSectionOut(Wire):
    """A section of a template."""

    id: str
    heading: str
    guidance: str
    subsections: list["TemplateSectionOut"]


class TemplateOut(Wire):
    """A template that can be given in `template`."""

    name: str
    id: str
    title: str
    description: str
    sections: list[TemplateSectionOut]


class TemplateList(Wire):
    """The shipped templates, by name."""

    data: list[TemplateOut]


class SummaryOut(Wire):
    """A summary of a topic as its list shows it."""

    number: int
    created: str
    stale: bool


class TopicOut(Wire):
    """A topic, and its stored summaries."""

    id: str
    name: str
    description: str
    category: str
    section: str = Field(description="its section path; empty for a topic of a list")
    document_id: str
    summaries: list[SummaryOut]


class TopicList(Wire):
    """Topics in the order of their list or their documents."""

    data: list[TopicOut]


class VersionOut(Wire):
    """A report or summary in lists. `url` is the address of its text."""

    subject: str
    number: int
    title: str
    created: str
    stale: bool = Field(description="whether its documents changed since")
    collections: tuple[str, ...]
    url: str

    @classmethod
    def of(cls, store: Store, row: VersionRow) -> "VersionOut":
        """The row as sent."""
        return cls(
            subject=row.subject,
            number=row.number,
            title=row.title,
            created=row.created,
            stale=is_stale(store, row),
            collections=row.collections,
            url=version_url(row.kind, row.subject, row.number),
        )


class VersionList(Wire):
    """Versions by subject and number."""

    data: list[VersionOut]


class WrittenOut(Wire):
    """A report or summary with its text; `files` are URLs by format."""

    subject: str
    number: int
    created: str
    stale: bool
    text: WrittenText
    files: dict[str, str]

    @classmethod
    def of(cls, store: Store, version: Version) -> "WrittenOut":
        """The version as sent."""
        text = WrittenText.model_validate(version.content)
        row = VersionRow(
            kind=version.kind,
            subject=version.subject,
            title=text.title,
            number=version.number,
            created=version.created,
            sources=text.sources_digest,
            collections=text.collections,
            document_id=text.document_id,
        )
        url = version_url(version.kind, version.subject, version.number)
        forms = ("json", "markdown", "html", "docx")
        return cls(
            subject=version.subject,
            number=version.number,
            created=version.created,
            stale=is_stale(store, row),
            text=text,
            files={form: f"{url}/files/{form}" for form in forms},
        )


def version_url(kind: VersionKind, subject: str, number: int) -> str:
    """Return the URL of a version."""
    return f"/v1/{PATHS[kind].format(subject=subject)}/{number}"


PATHS = {
    VersionKind.REPORT: "reports/{subject}",
    VersionKind.TOPIC: "topics/{subject}/summaries",
    VersionKind.CONCEPT: "concepts/{subject}",
}

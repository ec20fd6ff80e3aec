"""Reports from templates, topics with their summaries, and concept reports.

Writing is a job: `POST` answers 202 with the job, which has the events of any job. A
text is stored under the id of its template, topic or concept and a number.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import Response as FileBody

from elt_llm_api.job_registry import JobRegistry
from elt_llm_api.routes.dependencies import Data, Jobs, Runner, problems
from elt_llm_api.schemas import JobOut
from elt_llm_api.services.job_runner import JobRunner
from elt_llm_api.writing_schemas import (
    NAME,
    PATHS,
    ConceptRequest,
    FormatName,
    ReportRequest,
    SummaryRequest,
    TemplateList,
    TemplateOut,
    TopicList,
    TopicOut,
    VersionList,
    VersionOut,
    WritingRequest,
    WrittenOut,
)
from elt_llm_core.errors import VersionNotFoundError
from elt_llm_core.store import Store
from elt_llm_core.versions import VersionKind, VersionRow

router = APIRouter(prefix="/v1", tags=["reports and topics"])
Names = Annotated[list[str], Query(max_length=64)]
Subject = Annotated[str, Path(max_length=80)]
Number = Annotated[int, Path(ge=1)]
MEDIA = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
ENDINGS = {"json": "json", "markdown": "md", "html": "html", "docx": "docx"}


@router.get("/report-templates", operation_id="list_report_templates")
def list_templates(runner: Runner) -> TemplateList:
    """The templates for reports."""
    listed = runner.listing("template_list", {}, "templates")
    return TemplateList(data=[TemplateOut.model_validate(one) for one in listed])


@router.post(
    "/reports",
    operation_id="create_report",
    status_code=202,
    responses=problems(404, 409, 422),
)
def create_report(
    body: ReportRequest, response: Response, runner: Runner, jobs: Jobs
) -> JobOut:
    """Start writing a report from a template."""
    return _start("report", body, response, runner, jobs)


@router.get("/topics", operation_id="list_topics", responses=problems(404, 422))
def list_topics(
    runner: Runner,
    collection: Names = [],  # noqa: B006 - FastAPI copies it
    pack: Annotated[str, Query(max_length=80, pattern=rf"^$|{NAME}")] = "",
) -> TopicList:
    """The topics of collections: configured ones, a pack's, or their main sections."""
    options = {"collections": tuple(collection), "pack": pack}
    listed = runner.listing("topic_list", options, "topics")
    return TopicList(data=[TopicOut.model_validate(one) for one in listed])


@router.post(
    "/topics/summaries",
    operation_id="create_summaries",
    status_code=202,
    responses=problems(404, 409, 422),
)
def create_summaries(
    body: SummaryRequest, response: Response, runner: Runner, jobs: Jobs
) -> JobOut:
    """Start writing summaries of topics."""
    return _start("topics", body, response, runner, jobs)


@router.post(
    "/concepts",
    operation_id="create_concept_report",
    status_code=202,
    responses=problems(404, 409, 422),
)
def create_concept(
    body: ConceptRequest, response: Response, runner: Runner, jobs: Jobs
) -> JobOut:
    """Start writing a report on every passage that mentions a concept."""
    return _start("concept", body, response, runner, jobs)


def _start(
    kind: str,
    body: WritingRequest,
    response: Response,
    runner: JobRunner,
    jobs: JobRegistry,
) -> JobOut:
    work = runner.writing(kind, body.options, body.profile, body.models)
    job = JobOut.of(jobs.submit(kind, work, exclusive=False))
    response.headers["location"] = f"/v1/jobs/{job.id}"
    response.headers["retry-after"] = "2"
    return job


def _find_rows(store: Store, kind: VersionKind, subject: str) -> list[VersionRow]:
    """Return the versions of a subject. Raises VersionNotFoundError."""
    rows = store.versions.rows(kind, subject)
    if not rows and kind is not VersionKind.TOPIC:  # a topic may have none yet
        raise VersionNotFoundError(kind.value, subject)
    return rows


def _add_routes(kind: VersionKind, name: str) -> None:
    """Add the routes for the stored texts of one kind."""
    one = f"/{PATHS[kind]}"
    whole = one.partition("/{")[0]

    def list_all(store: Data) -> VersionList:
        rows = store.versions.rows(kind)
        return VersionList(data=[VersionOut.of(store, r) for r in rows])

    def list_one(subject: Subject, store: Data) -> VersionList:
        rows = _find_rows(store, kind, subject)
        return VersionList(data=[VersionOut.of(store, r) for r in rows])

    def get(subject: Subject, number: Number, store: Data) -> WrittenOut:
        version = store.versions.get(kind, subject, number)
        return WrittenOut.of(store, version)

    def get_file(
        subject: Subject, number: Number, form: FormatName, runner: Runner
    ) -> FileBody:
        content = runner.written_file(kind, subject, number, form)
        file = f"{name}-{subject}-{number}.{ENDINGS[form]}"
        disposition = f'attachment; filename="{file}"'
        headers = {"content-disposition": disposition}
        return FileBody(content, media_type=MEDIA[form], headers=headers)

    def delete(subject: Subject, number: Number, store: Data) -> None:
        store.versions.delete(kind, subject, number)

    list_all.__doc__ = f"List every {name}, by subject and number."
    list_one.__doc__ = f"List every {name} of one subject, by number."
    get.__doc__ = f"A {name}: sections, statements with proof, sources and gaps."
    get_file.__doc__ = f"A {name} as a file."
    delete.__doc__ = f"Delete a {name}; its number is not reused."
    key = name.replace(" ", "_")
    missing = problems(404)
    if kind is not VersionKind.TOPIC:  # /v1/topics lists topics
        router.get(whole, operation_id=f"list_{key}s")(list_all)
    router.get(one, operation_id=f"list_{key}_versions", responses=missing)(list_one)
    router.get(f"{one}/{{number}}", operation_id=f"get_{key}", responses=missing)(get)
    router.get(
        f"{one}/{{number}}/files/{{form}}",
        operation_id=f"get_{key}_file",
        responses=missing,
        response_class=FileBody,
    )(get_file)
    router.delete(
        f"{one}/{{number}}",
        operation_id=f"delete_{key}",
        status_code=204,
        responses=missing,
    )(delete)


_add_routes(VersionKind.REPORT, "report")
_add_routes(VersionKind.TOPIC, "summary")
_add_routes(VersionKind.CONCEPT, "concept report")

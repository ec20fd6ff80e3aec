"""Jobs: ingest, glossary, catalogue, coverage, model draft."""

import shutil
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fastapi import (
    APIRouter,
    Depends,
    File,
    Form,
    Header,
    Response,
    UploadFile,
)
from fastapi.responses import FileResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import SecretStr

from elt_llm_api.job_registry import Job, JobRegistry, remove_folder
from elt_llm_api.routes.dependencies import Data, Jobs, Runner, problems
from elt_llm_api.schemas import JobList, JobOut
from elt_llm_api.services.collection_edits import check_writable
from elt_llm_api.services.job_runner import NO_PASSWORD, JobRunner
from elt_llm_api.uploads import Upload, check_upload_names
from elt_llm_core.errors import JobNotFoundError, NothingThereError, UsageError
from elt_llm_core.identifiers import collection_id
from elt_llm_core.store import Store

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@dataclass(frozen=True)
class JobForm:
    """The fields of a form that starts a job."""

    kind: Annotated[
        Literal["ingest", "glossary", "catalog", "coverage", "model_draft"],
        Form(examples=["ingest"]),
    ]
    collection: Annotated[list[str], Form(max_length=64, examples=[["handbook"]])]
    files: Annotated[list[UploadFile] | None, File(description="ingest only")] = None
    model: Annotated[
        list[str] | None,
        Form(max_length=64, description="for products: the collections with the model"),
    ] = None
    domain: Annotated[
        list[str] | None,
        Form(max_length=64, description="for the catalogue: only these domains"),
    ] = None
    entity: Annotated[
        list[str] | None,
        Form(max_length=64, description="for the catalogue: only these entities"),
    ] = None
    skip_relationships: Annotated[
        bool, Form(description="for the catalogue: leave relationships out")
    ] = False
    skip_handbook: Annotated[
        bool, Form(description="for the catalogue: read only the model")
    ] = False
    password: Annotated[
        SecretStr,
        Form(description="for ingest: password for encrypted PDFs; never stored"),
    ] = NO_PASSWORD

    @property
    def switches(self) -> dict[str, object]:
        """The options of the catalogue."""
        return {
            "domains": tuple(filter(None, self.domain or ())),
            "entities": tuple(filter(None, self.entity or ())),
            "skip_relationships": self.skip_relationships,
            "skip_handbook": self.skip_handbook,
        }


@router.post(
    "",
    operation_id="create_job",
    status_code=202,
    responses=problems(409, 413, 422),
)
def create_job(
    form: Annotated[JobForm, Depends()],
    response: Response,
    store: Data,
    runner: Runner,
    jobs: Jobs,
) -> JobOut:
    """Start ingesting files into a collection, or building a product."""
    if form.kind == "ingest":
        job = start_ingest(store, runner, jobs, form)
    else:
        model = [name for name in form.model or () if name]
        work = runner.product(form.kind, form.collection, model, form.switches)
        job = JobOut.of(jobs.submit(form.kind, work))
    response.headers["location"] = f"/v1/jobs/{job.id}"
    response.headers["retry-after"] = "2"
    return job


def start_ingest(
    store: Store, runner: JobRunner, jobs: JobRegistry, form: JobForm
) -> JobOut:
    """Save the files and start the job, after checking every name."""
    files = form.files or []
    if len(form.collection) != 1 or not files:
        raise UsageError("ingest needs one collection and at least one file")
    collection = form.collection[0].strip()
    collection_id(collection)
    names = check_upload_names([file.filename or "" for file in files])
    check_writable(store)
    folder = jobs.workspace.new_folder()
    with ExitStack() as undo:
        undo.callback(remove_folder, folder)
        uploads = [
            Upload(sent, _save(file, folder / sent))
            for sent, file in zip(names, files, strict=True)
        ]
        job = jobs.submit(
            "ingest",
            lambda _, progress: runner.ingest(
                collection, uploads, progress, form.password
            ),
            folder,
        )
        undo.pop_all()
    return JobOut.of(job)


@router.get("", operation_id="list_jobs")
def list_jobs(jobs: Jobs, store: Data) -> JobList:
    """The jobs since the server started, then earlier ones, newest first."""
    own = [JobOut.of(job) for job in jobs.all()]
    known = {job.id for job in own}
    kept = [r for r in store.jobs.all() if r.job_id not in known]
    ended = [JobOut.of_record(record) for record in kept if record.state.has_ended]
    return JobList(data=[*own, *ended])


def _job(job_id: str, jobs: Jobs) -> Job:
    job = jobs.get(job_id)
    if job is None:
        raise NothingThereError("no such job since the server started")
    return job


OneJob = Annotated[Job, Depends(_job)]


@router.get("/{job_id}", operation_id="get_job", responses=problems(404))
def get_job(job_id: str, jobs: Jobs, store: Data) -> JobOut:
    """One job: its state, progress and outcome; also of an earlier server."""
    job = jobs.get(job_id)
    if job is not None:
        return JobOut.of(job)
    try:
        return JobOut.of_record(store.jobs.get(job_id))
    except JobNotFoundError as error:
        raise NothingThereError("no such job since the server started") from error


@router.delete(
    "/{job_id}", operation_id="cancel_job", status_code=202, responses=problems(404)
)
def cancel_job(job: OneJob) -> JobOut:
    """Request a job to end after the current item; finished items are kept."""
    job.cancel()
    return JobOut.of(job)


@router.get(
    "/{job_id}/events",
    operation_id="get_job_events",
    responses=problems(404),
    response_class=EventSourceResponse,
)
async def get_job_events(
    job: OneJob,
    last_event_id: Annotated[
        str, Header(max_length=20, description="continue after this event")
    ] = "",
) -> AsyncIterator[ServerSentEvent]:
    """The progress of a job as server-sent events; the last one, `end`, is the job."""
    after = int(last_event_id) if last_event_id.isdecimal() else 0
    async for event in job.events.follow(after):
        data = JobOut.of(job) if event.name == "end" else event.data
        yield ServerSentEvent(data=data, event=event.name, id=str(event.number))


@router.get(
    "/{job_id}/files/{name}",
    operation_id="get_job_file",
    responses=problems(404),
    response_class=FileResponse,
)
def get_job_file(job_id: str, name: str, jobs: Jobs) -> FileResponse:
    """A file of a job, for download."""
    job = jobs.get(job_id)
    path = job.file(name) if job else None
    if path is None:
        raise NothingThereError("no such file of such a job")
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _save(file: UploadFile, path: Path) -> Path:
    with path.open("xb") as out:
        shutil.copyfileobj(file.file, out)
    return path

"""Common parts of product jobs: options, and skipping unchanged products.

If the inputs of a product are those of its last run, and its files are unchanged, it is
not built again: the job returns its last report and writes nothing. The inputs are the
collections, the configuration, the files named by options, the decisions on the
product, the language model and the program.
"""

from abc import abstractmethod
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, NamedTuple

from pydantic import Field, field_validator
from typing_extensions import override

from elt_llm_consumer.batch import model_identity, program_digest
from elt_llm_consumer.corpus import DefinitionReader, Handbook
from elt_llm_consumer.reviewed import product_name
from elt_llm_core.errors import AbandonedError, EltLlmError
from elt_llm_core.identifiers import digest, item_key
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.publication import list_unfinished
from elt_llm_core.records import Record
from elt_llm_core.strategy import Models, Strategy

RUN = "products"  # of the journal
_REVIEW_CHANGES = frozenset({"reopened", "moved"})  # counts that apply to one run only


class ProductJob(Strategy[Runner]):
    """Options that all products share."""

    kind: ClassVar[str]
    collections: tuple[str, ...] = Field(description="collections of the documents")
    model: tuple[str, ...] = Field(
        default=(),
        description="collections with the model; several are joined into one",
    )
    output: Path | None = Field(default=None, description="the file to write")
    fresh: bool = Field(default=False, description="process finished items again")
    aliases: Path | None = Field(
        default=None, description="YAML file that maps entity names to synonyms"
    )
    textbook: bool = Field(
        default=False,
        description="also use sentences that are less likely to be definitions",
    )

    reviewed: bool = Field(
        default=True, description="add the rows to the review; false: preview only"
    )

    @field_validator("model", mode="before")
    @classmethod
    def _to_tuple(cls, value: object) -> object:
        """Accept a single name, and "" for none."""
        names = (value,) if isinstance(value, str) else value
        return (
            tuple(n for n in names if n) if isinstance(names, tuple | list) else names
        )

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes the product's files if anything has changed."""
        return lambda context: _make_if_changed(self, context, models)

    @abstractmethod
    def make(self, context: JobContext, models: Models) -> JobReport:
        """Build the product and publish its files; finished items are reused."""

    def open_handbook(
        self, context: JobContext, reader: DefinitionReader | None
    ) -> Handbook:
        """Return the documents of the collections, read as the options specify.

        Args:
            context: The job, with its store.
            reader: A language model that reads them too, or None.
        """
        return Handbook(
            context.store,
            self.collections,
            textbook=self.textbook,
            reader=reader,
            fresh=self.fresh,
            wordings=context.config.consumer.definition_patterns,
        )

    def input_files(self, context: JobContext) -> list[Path]:
        """Return the files that the product depends on besides its collections."""
        path = self.aliases or context.config.consumer.aliases
        return [] if path is None else [path]


class _LastRun(Record):
    """The inputs, the output files (path to digest) and the report of a run.

    The report is stored as text, because the journal sorts the keys of its contents.
    """

    inputs: str
    decisions: str
    files: dict[str, str]
    report: str


class _Inputs(NamedTuple):
    """Digests of a product's inputs; `decisions` is that of review decisions."""

    read: str
    decisions: str


def _make_if_changed(job: ProductJob, context: JobContext, models: Models) -> JobReport:
    before = _read_inputs(job, context, models)
    key = _key(job, context)
    if before is not None and not job.fresh:
        last = _last_run(context, key)
        if last is not None and _is_current(last, before, context):
            return JobReport.model_validate_json(last.report)
    try:
        report = job.make(context, models)
    except AbandonedError:
        return JobReport(job=job.kind, counts={}, stopped=True)
    after = _read_inputs(job, context, models)
    # A collection may have been changed while the product was built.
    if before and after and before.read == after.read and _is_settled(report):
        _note(context, key, after, report)
    return report


def _key(job: ProductJob, context: JobContext) -> str:
    """Return a key of program, options and data root."""
    options = job.model_copy(
        update={"fresh": False, "output": job.output and job.output.absolute()}
    )
    root = str(context.store.data_dir.absolute())
    return item_key(RUN, program_digest(), job.kind, root, options.model_dump_json())


def _read_inputs(
    job: ProductJob, context: JobContext, models: Models
) -> _Inputs | None:
    """Return the present inputs; None if one of them cannot be read."""
    store = context.store
    names = (*job.collections, *job.model)
    states = [store.state(name) for name in names]
    if not all(states):
        return None  # a collection does not exist
    try:
        files = [path.read_bytes() for path in job.input_files(context)]
        model = "" if models.llm is None else model_identity(models.llm)
    except (OSError, EltLlmError):
        return None  # the run reports the error, or works without it
    # Renaming a document does not change the state of its collection.
    documents = [row.model_dump_json() for n in names for row in store.documents(n)]
    read = digest(
        context.config.model_dump_json(),
        model,
        *states,
        *documents,
        *(_digest(content) for content in files),
    )
    name = product_name(job.kind, job.collections)
    return _Inputs(read, store.reviews.state(name) if job.reviewed else "")


def _last_run(context: JobContext, key: str) -> _LastRun | None:
    row = context.store.journal.get(key)
    return None if row is None else _LastRun.model_validate(row)


def _is_current(last: _LastRun, inputs: _Inputs, context: JobContext) -> bool:
    if (last.inputs, last.decisions) != inputs:
        return False
    # The next publication completes an interrupted one.
    return _are_there(last.files) and not list_unfinished(context.store)


def _are_there(files: Mapping[str, str]) -> bool:
    try:
        return all(_digest(Path(p).read_bytes()) == kept for p, kept in files.items())
    except OSError:
        return False


def _is_settled(report: JobReport) -> bool:
    """Return whether another run would give the same result."""
    poorer = report.stopped or report.degradations or report.items
    return not poorer and not _REVIEW_CHANGES & report.counts.keys()


def _note(context: JobContext, key: str, inputs: _Inputs, report: JobReport) -> None:
    counts = {**report.counts, "done": 0}
    counts["reused"] += report.counts["done"]
    if "model_calls" in counts:
        counts["model_calls"] = 0
    last = _LastRun(
        inputs=inputs.read,
        decisions=inputs.decisions,
        files={
            path: _digest(Path(path).read_bytes()) for path in report.files.values()
        },
        report=report.model_copy(update={"counts": counts}).model_dump_json(),
    )
    context.store.journal.put(
        RUN, key, 0, report.job, result=last.model_dump(mode="json")
    )


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()

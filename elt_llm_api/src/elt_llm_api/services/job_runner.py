"""Jobs of the packages below, run in this process with the server's store."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from elt_llm_api.products import PRODUCTS
from elt_llm_api.services.profile_registry import ProfileRegistry
from elt_llm_api.uploads import Upload
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_core.job_records import JobRecord
from elt_llm_core.job_runs import run_recorded_job
from elt_llm_core.jobs import (
    JOBS,
    JobContext,
    JobReport,
    Progress,
    Runner,
    run_job,
    silent,
)
from elt_llm_core.patience import current
from elt_llm_core.store import Store
from elt_llm_core.versions import VersionKind
from elt_llm_query.library import resolve_collections

NO_PASSWORD = SecretStr("")
JobWork = Callable[[Path, Progress], JobReport]
"""What a started job does in its folder."""


class JobRunner:
    """Builds and runs jobs with the models of a profile."""

    def __init__(
        self, config: RagConfig, store: Store, profiles: ProfileRegistry
    ) -> None:
        self._config = config
        self._store = store
        self._profiles = profiles

    def run(
        self, kind: str, options: Mapping[str, object], progress: Progress
    ) -> JobReport:
        """Run a job with the models of the default profile; it is not recorded."""
        strategy = JOBS.load(kind, dict(options), self._config.allowed_plugins())
        context = self._context(self._config, progress)
        return run_job(strategy.build(self._profiles.models()), context)

    def ingest(
        self,
        collection: str,
        uploads: Sequence[Upload],
        progress: Progress,
        password: SecretStr = NO_PASSWORD,
    ) -> JobReport:
        """Ingest files; a file of the same name replaces its document.

        Args:
            collection: The collection, by id or title.
            uploads: The files.
            progress: Called with the progress.
            password: Opens protected PDFs; it is not stored.
        """
        options: dict[str, object] = {
            "paths": tuple(str(upload.path) for upload in uploads),
            "collection": collection,
            "uris": tuple(f"upload:///{upload.name}" for upload in uploads),
            "passwords": (password,) if password.get_secret_value() else (),
        }
        return self.run("ingest", options, progress)

    def product(
        self,
        kind: str,
        collections: Sequence[str],
        model: Sequence[str],
        switches: Mapping[str, object] | None = None,
    ) -> JobWork:
        """Return a function that builds a product of collections.

        Args:
            kind: A key of `PRODUCTS`.
            collections: Names of the collections with documents; empty for all.
            model: Names of the collections with the model, joined into one.
            switches: More options of the catalogue; those without a value are not set.

        Raises:
            UsageError: If the product does not exist, or has no such switches.
            CollectionNotFoundError: If a collection does not exist.
        """
        if kind not in PRODUCTS:
            raise UsageError(
                f"there is no product {kind!r}", f"it is one of {', '.join(PRODUCTS)}"
            )
        given = {key: value for key, value in (switches or {}).items() if value}
        if given and kind != "catalog":
            raise UsageError(f"{', '.join(given)}: only the catalogue has these")
        options: dict[str, object] = {
            **given,
            "collections": tuple(resolve_collections(self._store, collections)),
            "model": tuple(resolve_collections(self._store, model)) if model else (),
        }
        ending = "csv" if kind == "glossary" else "json"
        allowed = self._config.allowed_plugins()

        def build(folder: Path, progress: Progress) -> JobReport:
            output = {"output": folder / f"{kind}.{ending}"}
            strategy = JOBS.load(kind, {**options, **output}, allowed)
            record = JobRecord(job_id=folder.name, kind=kind, options=options)
            context = self._context(self._config, progress)
            return _run_kept(record, strategy.build(self._profiles.models()), context)

        return build

    def writing(
        self, kind: str, options: Mapping[str, Any], profile: str, models: str
    ) -> JobWork:
        """Return a function that writes a report, summaries or a concept report.

        Args:
            kind: `report`, `topics` or `concept`.
            options: The options of the job.
            profile: The profile.
            models: Models that replace those of the profile.

        Raises:
            ConfigError: If the profile is not valid.
            CollectionNotFoundError: If a collection does not exist.
            UsageError: If the template or an option is not valid, or there is no such
                template, pack or topic.
        """
        library = self._profiles.library(profile, models)
        names = resolve_collections(self._store, options["collections"])
        given = {**options, "collections": tuple(names)}
        # Refused before the job starts: a missing template, a wrong option.
        allowed = self._config.allowed_plugins()
        try:
            JOBS.load(kind, given, allowed).build(library.models)
        except ConfigError as error:  # an error of the request
            raise UsageError(error.message, error.hint) from error
        if given.get("topics"):
            chosen = {key: given[key] for key in ("collections", "pack", "topics")}
            self.listing("topic_list", chosen, "topics")

        def write(folder: Path, progress: Progress) -> JobReport:
            output = {"output": folder / f"{kind}.json"}
            strategy = JOBS.load(kind, {**given, **output}, allowed)
            record = JobRecord(job_id=folder.name, kind=kind, options=given)
            context = self._context(library.config, progress)
            return _run_kept(record, strategy.build(library.models), context)

        return write

    def listing(
        self, kind: str, options: Mapping[str, object], name: str
    ) -> list[dict[str, Any]]:
        """Return the JSON that a listing job writes under a name."""
        with TemporaryDirectory() as folder:
            output = {"output": Path(folder) / "list.json"}
            report = self.run(kind, {**options, **output}, silent)
            text = Path(report.files[name]).read_text(encoding="utf-8")
        listed: list[dict[str, Any]] = json.loads(text)[name]
        return listed

    def written_file(
        self, kind: VersionKind, subject: str, number: int, form: str
    ) -> bytes:
        """Return a version as a file. Raises VersionNotFoundError."""
        with TemporaryDirectory() as folder:
            options: dict[str, object] = {
                "kind": kind,
                "subject": subject,
                "number": number,
                "form": form,
                "output": Path(folder) / "text",
            }
            report = self.run("written_file", options, silent)
            return Path(report.files[form]).read_bytes()

    def _context(self, config: RagConfig, progress: Progress) -> JobContext:
        """Return the context of a job, which ends with the thread's patience."""
        patience = current()
        if patience is None:
            return JobContext(config, self._store, progress)
        return JobContext(config, self._store, progress, lambda: patience.is_abandoned)


def _run_kept(record: JobRecord, runner: Runner, context: JobContext) -> JobReport:
    """Run a job whose record stays in the database after this server ends.

    Its files belong to this server, so the record does not list them.
    """
    files: dict[str, str] = {}

    def run(own: JobContext) -> JobReport:
        report = runner(own)
        files.update(report.files)
        return report.model_copy(update={"files": {}})

    label = ", ".join(record.options["collections"])
    named = record.model_copy(update={"label": label})
    return run_recorded_job(context, named, run).model_copy(update={"files": files})

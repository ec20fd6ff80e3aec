"""`python -m elt_llm_ingest.runner`: ingest by files.

An ingest file is YAML that lists documents and their target collections.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from elt_llm_core.cli.interrupt import Stop, stop_on_signals
from elt_llm_core.cli.terminal import escape_controls, json_text
from elt_llm_core.config.yaml_file import read_yaml_file
from elt_llm_core.errors import (
    ConfigError,
    EltLlmError,
    UsageError,
    suggest,
    suggest_key,
)
from elt_llm_ingest.options import Attributes

if TYPE_CHECKING:
    from elt_llm_core.config.loader import RagConfig
    from elt_llm_core.jobs import JobReport
    from elt_llm_core.store import Store


CONFIG_FOLDER = Path(__file__).parent / "config"
OURS = frozenset({"rag_config"})
MAX_BYTES = 1_000_000  # of an ingest file, which is written by hand
YAML_SUFFIXES = (".yaml", ".yml")
_DISTINCT = frozenset({"collection_name", "collection_prefix", "file_paths"})


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChunkingChoice(_Closed):
    """The chunking options of one ingest file; missing ones keep their defaults."""

    strategy: str | None = None
    chunk_size: int | None = None
    chunk_overlap: int | None = None
    options: dict[str, Any] | None = None


class IngestFile(_Closed):
    """One ingest file. Its paths are relative to its folder."""

    collection_name: str = Field(default="", description="collection to ingest into")
    collection_prefix: str = Field(
        default="", description="prefix of several collections"
    )
    file_paths: tuple[str, ...] = Field(min_length=1)
    metadata: Attributes = Field(default_factory=dict)
    file_metadata: dict[str, Attributes] = Field(
        default_factory=dict, description="more metadata of single files, by path"
    )
    organisation: str = Field(
        default="", description="whose inventories and models the files are"
    )
    chunking: ChunkingChoice = ChunkingChoice()
    rebuild: bool = Field(
        default=True, description="remove documents that are no longer listed"
    )

    @property
    def is_batch(self) -> bool:
        """Return whether it only lists other ingest files."""
        return all(path.endswith(YAML_SUFFIXES) for path in self.file_paths)

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        both = bool(self.collection_name) and bool(self.collection_prefix)
        neither = not self.collection_name and not self.collection_prefix
        if both or (neither and not self.is_batch):
            msg = "set either collection_name or collection_prefix"
            raise ValueError(msg)
        return self


def known_files() -> dict[str, Path]:
    """Return names and paths of the shipped ingest files, sorted."""
    found = sorted(CONFIG_FOLDER.glob("*.yaml"))
    return {path.stem: path for path in found if path.stem not in OURS}


def find_file(name: str) -> Path:
    """Return a shipped ingest file by name, or by path. Raises ConfigError."""
    known = known_files()
    if name in known:
        return known[name]
    path = Path(name).expanduser()
    if path.suffix in YAML_SUFFIXES:
        if path.is_file():
            return path
        raise ConfigError(
            f"there is no ingest file {name}", "check the path's spelling"
        )
    raise ConfigError(
        f"no ingest configuration named {name!r}",
        suggest(name, known) if known else "pass the path of a .yaml file",
    )


def read_file(path: Path) -> IngestFile:
    """Read the ingest file at a path. Raises ConfigError with the key and a hint."""
    loaded = read_yaml_file(path, "an ingest file", MAX_BYTES)
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path} must contain keys and values")
    try:
        return IngestFile.model_validate(loaded)
    except ValidationError as error:
        raise _readable(path, error) from error


def refuse_ingest_files(paths: Iterable[str]) -> None:
    """Refuse ingest files among named files, which would be read as text.

    A YAML file is one if it has a key that only ingest files have. Files of a folder or
    a pattern are not looked at.

    Args:
        paths: What a person names to be ingested.

    Raises:
        UsageError: If one of them is an ingest file.
        ConfigError: If one is an ingest file with an error.
    """
    for path in (Path(name).expanduser() for name in paths):
        if path.suffix in YAML_SUFFIXES and path.is_file() and _has_our_key(path):
            read_file(path)
            raise UsageError(
                f"{path} is an ingest file, no document",
                f"run elt-llm-ingest --cfg {path}",
            )


def _has_our_key(path: Path) -> bool:
    try:
        if path.stat().st_size > MAX_BYTES:
            return False
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False  # the reader of text files tells what is wrong with it
    return isinstance(loaded, dict) and bool(_DISTINCT.intersection(loaded))


def resolve_path(path: Path, listed: str) -> Path:
    """Resolve a listed path relative to the folder of the ingest file."""
    target = Path(listed).expanduser()
    return target if target.is_absolute() else path.parent / target


def _readable(path: Path, error: ValidationError) -> ConfigError:
    # A misspelt key also lacks: that one tells the reader what to mend.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    where = [str(part) for part in first["loc"]]
    key = ".".join(where)
    if first["type"] != "extra_forbidden":
        problem = first["msg"].removeprefix("Value error, ")
        return ConfigError(f"{key + ': ' if key else ''}{problem} in {path}")
    if key == "preprocessor":
        return ConfigError(
            f"unknown key {key!r} in {path}",
            "delete it: formats are detected from the files",
        )
    model = ChunkingChoice if where[0] == "chunking" else IngestFile
    hint = suggest_key(where[-1], model.model_fields)
    return ConfigError(f"unknown key {key!r} in {path}", hint)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--cfg", help="Name of a shipped ingest file, or a path.")
@click.option("--list", "-l", "listing", is_flag=True, help="List the shipped files.")
@click.option("--status", "-s", is_flag=True, help="Show the collections.")
@click.option("--delete", is_flag=True, help="Delete the file's collections.")
@click.option(
    "--no-rebuild", is_flag=True, help="Keep documents that are no longer listed."
)
@click.option(
    "--force", "-f", is_flag=True, help="Also read unchanged files; do not ask."
)
@click.option("--verbose", "-v", is_flag=True, help="List every document.")
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(**options: Any) -> None:
    """Take documents in as ingest files say.

    Exit codes: 0 done, 2 some files failed, others as `elt-llm --help` tells.
    """
    try:
        with stop_on_signals() as stop:
            code = _Command(options, stop).run()
    except EltLlmError as error:
        click.echo(escape_controls(f"elt-llm: {error}"), err=True)
        if options["as_json"]:
            problem: dict[str, Any] = {
                "code": error.code,
                "message": error.message,
                "hint": error.hint,
            }
            if error.details:
                problem["details"] = error.details
            click.echo(json_text({"error": problem}))
        code = error.exit_code
    raise SystemExit(code)


class _Command:
    """The options of the command and their actions."""

    def __init__(self, options: dict[str, Any], stop: Stop) -> None:
        self._options = options
        self._stop = stop

    def run(self) -> int:
        """Run the requested action and return the exit code."""
        options = self._options
        if options["listing"]:
            return self._list()
        if options["status"]:
            return self._status()
        if not options["cfg"]:
            raise UsageError("nothing to do", "pass --cfg NAME, --list or --status")
        path = find_file(options["cfg"])
        if options["delete"]:
            return self._delete(path)
        return self._ingest(path)

    def _emit(self, value: Any, human: str) -> None:
        if self._options["as_json"]:
            click.echo(json_text(value))
        else:
            click.echo(escape_controls(human))

    def _list(self) -> int:
        files = known_files()
        hint = "No ingest file is shipped; pass the path of one: --cfg FILE.yaml"
        self._emit({"configs": sorted(files)}, "\n".join(files) or hint)
        return 0

    def _config(self) -> "RagConfig":
        from elt_llm_core.config.loader import load_config  # noqa: PLC0415 - --help is quick

        folder = self._options["data_dir"]
        return load_config(
            overrides={"stores": {"data_dir": folder}} if folder else None
        )

    def _store(self) -> "Store":
        from elt_llm_core.store import Store  # noqa: PLC0415 - --help is quick

        config = self._config()
        return Store(config.stores.data_dir, config.keywords)

    def _status(self) -> int:
        store = self._store()
        rows = []
        for card in store.collections():
            row: dict[str, Any] = card.model_dump(mode="json")
            row["generation"] = store.open(card.name).generation
            if self._options["verbose"]:
                row["files"] = [d.name for d in store.documents(card.name)]
            rows.append(row)
        lines = [
            f"{r['name']:<32}{r['documents']:>8} documents{r['chunks']:>9} chunks"
            f"  index {r['generation'] or '-'}"
            + "".join(f"\n    {name}" for name in r.get("files", ()))
            for r in rows
        ]
        total = sum(row["chunks"] for row in rows)
        lines.append(f"{len(rows)} collections, {total} chunks")
        self._emit({"collections": rows}, "\n".join(lines))
        return 0

    def _delete(self, path: Path) -> int:
        from elt_llm_core.store.editing import drop_collections  # noqa: PLC0415 - --help is quick

        store = self._store()
        names = sorted(
            {
                n
                for _, file in _list_ingest_files(path)
                for n in _collections(store, file)
            }
        )
        if not names:
            self._emit({"deleted": []}, "There is nothing to delete.")
            return 0
        if not self._options["force"]:
            click.confirm(f"Delete {', '.join(names)}?", abort=True, err=True)
        drop_collections(store, names)
        self._emit({"deleted": names}, f"Deleted {', '.join(names)}.")
        return 0

    def _ingest(self, path: Path) -> int:
        """Ingest every file of a batch; a failure does not stop the others."""
        files = _list_ingest_files(path)
        config = self._config()
        store = self._store()
        reports: dict[str, Any] = {}
        codes = []
        lines = []
        for each, file in files:
            try:
                report = self._ingest_file(each, file, config, store)
            except EltLlmError as error:
                if len(files) == 1:
                    raise
                reports[each.stem] = {"error": str(error)}
                lines.append(f"{each.stem}: {error}")
                codes.append(error.exit_code)
                continue
            reports[each.stem] = report.model_dump(mode="json")
            lines.append(self._describe(each.stem, report))
            codes.append(report.exit_code)
            if report.stopped:
                break
        self._emit(reports if len(files) > 1 else reports[path.stem], "\n".join(lines))
        if self._stop():
            return self._stop.exit_code
        failed = [code for code in codes if code]
        return (2 if len(failed) < len(codes) else failed[0]) if failed else 0

    def _describe(self, name: str, report: "JobReport") -> str:
        counts = ", ".join(f"{n} {what}" for what, n in report.counts.items())
        details = [f"  {d.detail}" for d in report.degradations]
        return "\n".join([f"{name}: {counts}", *details])

    def _ingest_file(
        self, path: Path, file: IngestFile, config: "RagConfig", store: "Store"
    ) -> "JobReport":
        from elt_llm_core.jobs import JobContext, run_job  # noqa: PLC0415 - --help is quick
        from elt_llm_core.models.factory import LateModels  # noqa: PLC0415
        from elt_llm_ingest.discovery import GONE  # noqa: PLC0415
        from elt_llm_ingest.ingest import IngestJob  # noqa: PLC0415

        chosen = file.chunking.model_dump(exclude_none=True)
        chunking = {**config.chunking.model_dump(), **chosen}
        section = type(config.chunking).model_validate(chunking)
        own = config.model_copy(update={"chunking": section})
        job = IngestJob(
            paths=tuple(str(resolve_path(path, listed)) for listed in file.file_paths),
            collection=file.collection_name,
            collection_prefix=file.collection_prefix,
            rebuild=self._options["force"],
            metadata=file.metadata,
            file_metadata={
                str(resolve_path(path, listed)): own
                for listed, own in file.file_metadata.items()
            },
            organisation=file.organisation,
        )
        context = JobContext(own, store, stopped=self._stop)
        report = run_job(job.build(LateModels(own)), context)
        if file.rebuild and not self._options["no_rebuild"] and not report.stopped:
            _drop_unlisted(store, file, job.paths)
            kept = tuple(d for d in report.degradations if GONE not in d.detail)
            return report.model_copy(update={"degradations": kept})
        return report


def _list_ingest_files(
    path: Path, seen: frozenset[Path] = frozenset()
) -> list[tuple[Path, IngestFile]]:
    """Return the file, or those of a batch. Raises UsageError for a cycle."""
    path = path.resolve()
    if path in seen:
        raise UsageError(f"{path} lists itself")
    file = read_file(path)
    if not file.is_batch:
        return [(path, file)]
    return [
        nested
        for listed in file.file_paths
        for nested in _list_ingest_files(resolve_path(path, listed), seen | {path})
    ]


def _collections(store: "Store", file: IngestFile) -> list[str]:
    names = [card.name for card in store.collections()]
    if file.collection_name:
        return [name for name in names if name == file.collection_name]
    return [name for name in names if name.startswith(f"{file.collection_prefix}_")]


def _drop_unlisted(store: "Store", file: IngestFile, paths: tuple[str, ...]) -> None:
    """Remove documents whose files the ingest file no longer names."""
    from elt_llm_core.store.editing import remove_documents  # noqa: PLC0415
    from elt_llm_ingest.discovery import make_plan  # noqa: PLC0415 - --help is quick

    plan = make_plan(paths)
    listed = {item.uri for item in plan.items}
    address_of = plan.scope.addresses.of_address  # earlier versions spelled it as given
    for name in _collections(store, file):
        gone = [r for r in store.documents(name) if address_of(r.uri) not in listed]
        if gone:
            remove_documents(store, name, gone)


if __name__ == "__main__":
    main()

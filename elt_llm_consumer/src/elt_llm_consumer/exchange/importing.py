"""Import the glossary of another catalogue as a baseline for exports."""

from collections import Counter
from hashlib import sha256
from pathlib import Path

from pydantic import Field

from elt_llm_consumer.exchange.glossary_baseline import BaselineFile
from elt_llm_consumer.exchange.glossary_format import GlossaryFormat
from elt_llm_consumer.exchange.transfer import read_glossary
from elt_llm_consumer.product import default_path, dump_json
from elt_llm_core.errors import ExchangeError
from elt_llm_core.product_exports import ExchangeReport
from elt_llm_core.publication import publish
from elt_llm_core.records import Record
from elt_llm_core.store import Store

_LARGEST = 100_000_000  # bytes; the export of 100,000 terms takes about 60 MB


class ImportOptions(Record):
    """The glossary to import; the collections determine the name of the output."""

    format: str
    file: Path
    collections: tuple[str, ...] = ()
    output: Path | None = Field(
        default=None, description="file to write instead of the default"
    )
    check: bool = Field(default=False, description="write nothing")


def import_baseline(
    chosen: GlossaryFormat, options: ImportOptions, store: Store
) -> ExchangeReport:
    """Read a glossary file and write it as a baseline if it is valid.

    Args:
        chosen: The format of the file.
        options: The file to import and the output file.
        store: The data root, which records the written file.

    Raises:
        ExchangeError: If the file cannot be read, or is not of the format.
        StoreWriteError: If the baseline cannot be written.
    """
    content = _read(options.file)
    problems = tuple(chosen.check(content))
    glossary = read_glossary(chosen, content)
    statuses = Counter(term.status.value.lower() for term in glossary.terms)
    report = ExchangeReport(
        action="check" if options.check else "import",
        format=options.format,
        counts={"terms": len(glossary.terms), **dict(sorted(statuses.items()))},
        problems=problems,
    )
    if options.check or report.exit_code:
        return report
    baseline = BaselineFile(
        format=options.format,
        source=options.file.name,
        sha256=sha256(content).hexdigest(),
        glossary=glossary,
    )
    names = options.collections or (options.file.stem,)
    target = options.output or default_path(store.data_dir, "baseline", names)
    text = dump_json(baseline.model_dump(mode="json", exclude_defaults=True))
    path = publish(store, [(target, text)]).paths[0]
    scope = " ".join(f"--collection {one}" for one in options.collections or ["NAME"])
    note = f"merge it: elt-llm export FORMAT {scope} --baseline {path}"
    return report.model_copy(
        update={"files": {"baseline": str(path)}, "notes": (note,)}
    )


def _read(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if size > _LARGEST:
            raise ExchangeError(
                f"{file} has {size:,} bytes, over {_LARGEST:,}",
                "split it into several files",
            )
        return file.read_bytes()
    except OSError as error:
        raise ExchangeError(
            f"cannot read {file}: {error.strerror}", "pass a readable file"
        ) from error

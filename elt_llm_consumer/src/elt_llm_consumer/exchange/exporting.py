"""Export a product from its rows to a file of another catalogue."""

from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import Field

from elt_llm_consumer import catalog_rows, glossary
from elt_llm_consumer.exchange.glossary_baseline import (
    MergedGlossary,
    merge_baseline,
    read_baseline,
)
from elt_llm_consumer.exchange.glossary_format import GlossaryFormat
from elt_llm_consumer.exchange.glossary_terms import Glossary, TermStatus
from elt_llm_consumer.exchange.product_terms import (
    glossary_of_catalog,
    glossary_of_rows,
    read_product,
)
from elt_llm_consumer.exchange.transfer import (
    WrittenGlossary,
    restrict,
    write_glossary,
)
from elt_llm_consumer.product import default_path
from elt_llm_consumer.reviewed import read_reviewed
from elt_llm_core.errors import UnknownProductError, UsageError
from elt_llm_core.product_exports import ExchangeReport
from elt_llm_core.publication import publish
from elt_llm_core.records import Record
from elt_llm_core.store import Store

_UNWANTED = frozenset({TermStatus.REJECTED})  # a rejected term is not exported


class ExportOptions(Record):
    """The product to export and the target file; `format` is the format's name."""

    format: str
    collections: tuple[str, ...] = ()
    product: str = "glossary"
    source: Path | None = Field(
        default=None, description="product file outside the data root"
    )
    output: Path | None = None
    name: str = ""
    statuses: tuple[TermStatus, ...] = Field(
        default=(), description="() for all but rejected ones"
    )
    baseline: Path | None = Field(
        default=None, description="a file that `elt-llm import` wrote"
    )
    leave_out: bool = False
    check: bool = Field(default=False, description="write nothing")


def export_product(
    chosen: GlossaryFormat, options: ExportOptions, store: Store
) -> ExchangeReport:
    """Write a product in a format, unless the target would refuse the file.

    Args:
        chosen: The format.
        options: The product to export and the target file.
        store: The data root, which has the products and records the written file.

    Raises:
        UsageError: If neither collections nor a file are named.
        ExchangeError: If there is no such product.
        StoreWriteError: If the file cannot be written.
    """
    written, report = convert_product(chosen, options, store)
    if options.check or report.exit_code not in {0, 2}:
        return report
    target = options.output or _default_output(chosen, options, store)
    publication = publish(store, [(target, written.content)])
    notes = tuple(
        f"kept because edited or not written by this program: {path}"
        for path in publication.kept
    )
    files = {"file": str(publication.paths[0])}
    return report.model_copy(update={"files": files, "notes": report.notes + notes})


def convert_product(
    chosen: GlossaryFormat, options: ExportOptions, store: Store
) -> tuple[WrittenGlossary, ExchangeReport]:
    """Return a product in a format, with its problems and losses.

    The rows are those of the last run, with the latest decisions. A product that was
    never reviewed, or a file that `options` names, is read from its file.

    Args:
        chosen: The format.
        options: The product to export.
        store: The data root, which has the products.

    Raises:
        UsageError: If neither collections nor a file are named.
        ExchangeError: If there is no such product.
    """
    merged = _with_baseline(options, _read(options, store))
    wanted = _of_status(merged.glossary, options.statuses)
    written = write_glossary(chosen, wanted, options.leave_out)
    return written, _report(options, written, merged)


def _source(options: ExportOptions, store: Store) -> Path:
    if options.source is not None:
        return options.source
    if not options.collections:
        raise UsageError(
            "no collection is given",
            "pass it with --collection, or the file of a product with --from",
        )
    return default_path(store.data_dir, options.product, options.collections)


def _read(options: ExportOptions, store: Store) -> Glossary:
    source = _source(options, store)
    name = options.name or "+".join(options.collections) or source.stem
    content = None if options.source else _read_stored(options, store)
    if content is None:
        content = read_product(source, options.product)
    if options.product == "catalog":
        return glossary_of_catalog(content, name)
    return glossary_of_rows(content, name)


def _read_stored(options: ExportOptions, store: Store) -> Any:
    """Return the product from the database; None if it was never reviewed."""
    is_catalog = options.product == "catalog"
    reviewed = catalog_rows.REVIEWED if is_catalog else glossary.REVIEWED
    try:
        rows = read_reviewed(store, reviewed, options.collections)
    except UnknownProductError:
        return None
    return catalog_rows.nest_rows(rows) if is_catalog else rows


def _of_status(whole: Glossary, statuses: tuple[TermStatus, ...]) -> Glossary:
    """Return the terms with some statuses, and their parents."""
    wanted = set()
    for term in whole.terms:
        if term.status in statuses if statuses else term.status not in _UNWANTED:
            wanted |= {term.path[:depth] for depth in range(1, len(term.path) + 1)}
    return restrict(whole, wanted)


def _with_baseline(options: ExportOptions, read: Glossary) -> MergedGlossary:
    if options.baseline is None:
        return MergedGlossary(glossary=read, counts={})
    return merge_baseline(read_baseline(options.baseline), read)


def _report(
    options: ExportOptions, written: WrittenGlossary, merged: MergedGlossary
) -> ExchangeReport:
    terms = written.glossary.terms
    statuses = Counter(term.status.value.lower() for term in terms)
    unwanted = len(merged.glossary.terms) - len(terms) - len(written.left_out)
    notes = [f"terms of another review status: {unwanted}"] if unwanted > 0 else []
    notes += [
        f"{name!r} is in the baseline several times and was not merged"
        for name in merged.ambiguous
    ]
    return ExchangeReport(
        action="check" if options.check else "export",
        format=options.format,
        counts={"terms": len(terms), **dict(sorted(statuses.items())), **merged.counts},
        problems=written.problems,
        losses=written.losses,
        left_out=written.left_out,
        notes=tuple(notes),
    )


def _default_output(
    chosen: GlossaryFormat, options: ExportOptions, store: Store
) -> Path:
    source = _source(options, store)
    name = f"{source.stem}_{options.format.replace('-', '_')}{chosen.ending}"
    return source.with_name(name)

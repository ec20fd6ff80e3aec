"""A product is made again where anything has changed for it, and only then."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from elt_llm_consumer import product_job, stored_definitions
from elt_llm_consumer.corpus import Handbook
from elt_llm_core.errors import ModelUnavailableError
from elt_llm_core.jobs import JOBS
from elt_llm_core.reviews.review_records import ReviewChange, ReviewStatus
from elt_llm_core.strategy import Models

KINDS = ("glossary", "catalog", "coverage")
OTHER = '# 1 Definitions\n1.1 "Ground Lease" means a paper.\n1.2 "Fence" means a wall.'


class Product:
    """Runs a job, and counts how often the product was really made."""

    def __init__(self, context, models, monkeypatch, kind="catalog", **options):
        self.context, self.models = context, models
        self.options = {"collections": ("handbook",), "model": ("estate",), **options}
        self.kind, self.made = kind, 0
        job = JOBS.strategy_class(kind)
        make = job.make

        def counted(*arguments):
            self.made += 1
            return make(*arguments)

        monkeypatch.setattr(job, "make", counted)

    def run(self, **options):
        job = JOBS.load(self.kind, {**self.options, **options})
        return job.build(self.models)(self.context)


@pytest.fixture
def product(context, models, monkeypatch, tmp_path):
    static = tmp_path / "static.yaml"
    static.write_text("Ground Lease: {governance_rules: kept by the registrar}")
    names = tmp_path / "names.yaml"
    names.write_text("shared cost: [service charge]\n")
    return Product(context, models, monkeypatch, aliases=names, static_context=static)


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_run_makes_and_writes_nothing(kind, context, models, monkeypatch):
    product = Product(context, models, monkeypatch, kind)
    first = product.run()
    files = {Path(path): Path(path).stat() for path in first.files.values()}
    rows = context.store.journal.rows(product_job.RUN)
    again = product.run()
    assert product.made == 1
    assert {path: path.stat() for path in files} == files
    assert context.store.journal.rows(product_job.RUN) == rows
    assert again.files == first.files
    items = first.counts["done"]
    assert items > 0
    expected = {**first.counts, "done": 0, "reused": items}
    assert list(again.counts.items()) == list(expected.items())
    assert product.run(fresh=True).counts["done"] == items


def edit_handbook(product, add, make):
    add(product.context.store, "handbook", make(OTHER))


def add_document(product, add, make):
    add(product.context.store, "handbook", make(OTHER, "Annex"))


def change_model(product, add, make):
    text = "Fence is in CONTRACTS"
    add(product.context.store, "estate", make(text, "More"), kind="fact_sheet")


def remove_document(product, add, make):
    add_document(product, add, make)
    product.run()
    (annex,) = [
        row
        for row in product.context.store.documents("handbook")
        if row.name == "Annex.txt"
    ]
    with product.context.store.writer() as writer:
        writer.remove_document(annex.document_id)


def rename_document(product, add, make):
    (row,) = product.context.store.documents("handbook")
    with product.context.store.writer() as writer:
        writer.rename_document(row.document_id, "Rules of the estate")


def purge_journal(product, add, make):
    with product.context.store.writer() as writer:
        writer.purge(journal=True)


def change_settings(product, add, make):
    config = product.context.config
    consumer = config.consumer.model_copy(update={"thin": 0.35})
    changed = config.model_copy(update={"consumer": consumer})
    product.context = replace(product.context, config=changed)


def edit_aliases(product, add, make):
    product.options["aliases"].write_text("ground lease: [tenancy]\n")


def edit_static_context(product, add, make):
    product.options["static_context"].write_text("Tenants: {governance_rules: none}")


def decide(product, add, make):
    reviews = product.context.store.reviews
    item = reviews.items("catalog:handbook")[0]
    change = ReviewChange(item_id=item.item_id, status=ReviewStatus.APPROVED)
    reviews.change("catalog:handbook", [change], "ann")


def propose_others(product, add, make):
    """Another run under the same name leaves other rows under review."""
    product.run(aliases=None)
    product.made -= 1


def remove_file(product, add, make):
    output_of(product).unlink()


def edit_file(product, add, make):
    output_of(product).write_text("mine")


def output_of(product):
    return product.context.store.data_dir / "output" / "catalog_handbook.csv"


CHANGES = [
    *(edit_handbook, add_document, remove_document, rename_document, change_model),
    *(purge_journal, change_settings, edit_aliases, edit_static_context, decide),
    *(propose_others, remove_file, edit_file),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_what_makes_it_again(change, product, add, make):
    product.run()
    product.run()
    assert product.made == 1
    change(product, add, make)
    before = product.made
    product.run()
    assert product.made == before + 1


def test_another_program_makes_it_again(product, monkeypatch):
    product.run()
    monkeypatch.setattr(product_job, "program_digest", lambda: "another program")
    product.run()
    assert product.made == 2


def test_other_options_are_another_product(product, tmp_path):
    product.run()
    part = product.run(output=tmp_path / "part.json", entities=("Ground Lease",))
    assert product.made == 2
    assert set(part.files.values()).isdisjoint(product.run().files.values())


def test_a_run_beside_which_a_collection_changed_is_made_again(
    product, add, make, monkeypatch
):
    read = product_job._read_inputs

    def read_after_a_change(*given):
        if product.made:
            add_document(product, add, make)
        return read(*given)

    monkeypatch.setattr(product_job, "_read_inputs", read_after_a_change)
    product.run()
    assert product.context.store.journal.rows(product_job.RUN) == []


class Writer:
    """A language model as far as its identity goes."""

    def __init__(self, digest):
        self._digest = digest
        self.metadata = type("Metadata", (), {"model_name": "small"})

    @property
    def model_digest(self):
        if not self._digest:
            raise ModelUnavailableError("http://localhost", "nobody is there")
        return self._digest


@pytest.mark.parametrize(
    ("second", "made"), [("one", 1), ("two", 2), ("", 2)], ids=["same", "other", "away"]
)
def test_the_language_model_counts(second, made, product, monkeypatch):
    monkeypatch.setattr("elt_llm_consumer.catalog.open_reader", lambda *_, **__: None)
    for weights in ("one", second):
        product.models = Models(embedder=product.models.embedder, llm=Writer(weights))
        product.run()
    assert product.made == made


def test_definitions_are_looked_for_once_per_text(
    context, models, monkeypatch, add, make
):
    texts = []
    real = stored_definitions.find_definitions

    def counted(text, *more):
        texts.append(text)
        return real(text, *more)

    monkeypatch.setattr(stored_definitions, "find_definitions", counted)
    for kind in KINDS:
        options = {"collections": ("handbook",), "model": ("estate",)}
        JOBS.load(kind, options).build(models)(context)
    assert len(texts) == 1
    add(context.store, "handbook", make(OTHER, "Annex"))
    terms = {entry.term for entry in Handbook(context.store, ["handbook"]).entries}
    assert {"Fence", "Tenant"} <= terms
    assert len(texts) == 2
    add(context.store, "handbook", make(OTHER))
    entries = Handbook(context.store, ["handbook"]).entries
    assert {entry.term for entry in entries} == {"Fence", "Ground Lease"}
    assert len(texts) == 2  # the handbook has the text of the annex now
    Handbook(context.store, ["handbook"], textbook=True).entries  # noqa: B018
    assert len(texts) == 3  # once, and the second document takes it from there


def test_a_purge_of_the_journal_takes_the_stored_definitions(context, models, store):
    options = {"collections": ("handbook",)}
    JOBS.load("glossary", options).build(models)(context)
    (row,) = store.journal.rows(stored_definitions.RUN)
    assert "the right to occupy a ground" in json.dumps(row["result"])
    with store.writer() as writer:
        writer.purge(journal=True)
    assert store.journal.rows(stored_definitions.RUN) == []

"""Products wait for an embedder that answered before, and stop when they are asked."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import PrivateAttr

from elt_llm_consumer.linking import term_mapper
from elt_llm_consumer.server_patience import call_patiently
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.document import Sidecar
from elt_llm_core.errors import (
    EmbedError,
    ModelMissingError,
    ModelUnavailableError,
    SilentServerError,
)
from elt_llm_core.jobs import JOBS
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding

PRODUCTS = {
    "glossary": "glossary_json",
    "catalog": "catalog_flat_json",
    "coverage": "coverage_json",
}


class Leaving(HashEmbedding):
    """Answers some calls, is then away for some, and answers again."""

    answered: int = 0
    away: int = 0
    _calls: int = PrivateAttr(default=0)

    def embed_array(self, texts):
        self._calls += 1
        if 0 < self._calls - self.answered <= self.away:
            raise ModelUnavailableError("http://localhost", "refused")
        return super().embed_array(texts)


def build(kind, context, embedder, **options):
    job = {"collections": ("handbook",), "model": ("estate",), **options}
    return JOBS.load(kind, job).build(Models(embedder=embedder))(context)


def read(kind, report):
    return Path(report.files[PRODUCTS[kind]]).read_text("utf-8")


@pytest.fixture
def short(context):
    """A job that waits briefly for its servers."""
    config = RagConfig()
    consumer = config.consumer.model_copy(update={"server_patience": 5.0})
    gateway = config.gateway.model_copy(update={"breaker_seconds": 0.01})
    parts = {"consumer": consumer, "gateway": gateway}
    return replace(context, config=config.model_copy(update=parts))


def test_a_finished_glossary_needs_no_embedder(context, tmp_path):
    first = build("glossary", context, HashEmbedding())
    other = tmp_path / "other.json"
    again = build("glossary", context, Leaving(away=99), output=other)
    assert (again.counts["done"], again.counts["reused"]) == (0, 7)
    assert read("glossary", again) == read("glossary", first)


@pytest.mark.parametrize("kind", PRODUCTS)
def test_an_embedder_that_comes_back_costs_no_row(kind, short):
    shown = []
    heard = replace(short, progress=lambda *step: shown.append(step[-1]))
    report = build(kind, heard, Leaving(answered=1, away=2))
    assert any("server is unreachable" in str(detail) for detail in shown)
    assert report.counts["failed"] == 0
    whole = build(kind, short, HashEmbedding(), fresh=True)
    assert read(kind, report) == read(kind, whole)


@pytest.mark.parametrize("kind", PRODUCTS)
def test_an_embedder_that_never_answered_ends_the_product_at_once(kind, context):
    embedder = Leaving(away=99)
    with pytest.raises(ModelUnavailableError):
        build(kind, context, embedder)
    assert embedder._calls == 1


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_stop_is_asked_between_two_calls_of_the_embedder(kind, context):
    embedder = Leaving()
    asked = replace(context, stopped=lambda: embedder._calls >= 1)
    report = build(kind, asked, embedder)
    assert embedder._calls == 1
    assert report.stopped
    assert report.exit_code == 130
    assert report.files == {}


@pytest.fixture
def described(short, monkeypatch, add, make, sidecar_contents):
    """A model whose descriptions are compared, with terms mapped three at a time."""
    sheets = {
        number: {**sidecar_contents["inventory"]["fact_sheets"]["a-1"], "id": number,
                 "name": name, "description": f"What a {name} is."}
        for number, name in (("a-1", "Ground Lease"), ("a-3", "Tenants"))
    }  # fmt: skip
    contents = {
        **sidecar_contents,
        "inventory": {"metadata": {}, "fact_sheets": sheets},
    }
    sidecars = tuple(
        Sidecar(kind=kind, name="Estate", content=content)
        for kind, content in contents.items()
    )
    sheet = make("Tenants are in PEOPLE", "Model")
    model = sheet.model_copy(update={"sidecars": sidecars})
    add(short.store, "described", model, kind="fact_sheet")
    monkeypatch.setattr(term_mapper, "_BLOCK", 3)
    return "described"


def test_a_glossary_keeps_its_rows_if_the_embedder_leaves(short, described):
    consumer = short.config.consumer.model_copy(update={"server_patience": 0.02})
    config = short.config.model_copy(update={"consumer": consumer})
    first = build(
        "glossary",
        replace(short, config=config),
        Leaving(answered=2, away=99),
        model=described,
    )
    assert first.stopped
    assert first.counts["done"] >= 3
    second = build("glossary", short, HashEmbedding(), model=described)
    assert second.counts["reused"] == first.counts["done"]
    assert second.counts["failed"] == 0


def test_rows_without_vectors_do_not_make_an_embedder_worth_waiting_for(
    short, described, monkeypatch
):
    monkeypatch.setattr(term_mapper, "_BLOCK", 1)
    embedder = Leaving(away=99)
    report = build("glossary", short, embedder, model=described)
    assert report.stopped
    assert report.counts["done"] > 0
    assert embedder._calls == 1


def test_calls_that_the_gateway_suspends_are_waited_for(short):
    failures = [
        ModelUnavailableError("http://localhost", "refused"),
        SilentServerError("http://localhost", 1.0, "refused"),
    ]

    def call():
        if failures:
            raise failures.pop(0)
        return "vectors"

    assert call_patiently(call, short, lambda: False, print) == "vectors"


def test_an_embedder_that_fails_leaves_the_finished_glossary_as_it_is(context):
    class Missing(HashEmbedding):
        def embed_array(self, texts):
            raise ModelMissingError("minilm", ["llama3"])

    first = build("glossary", context, HashEmbedding())
    before = read("glossary", first)
    with pytest.raises(ModelMissingError):
        build("glossary", context, Missing(), fresh=True)
    assert read("glossary", first) == before
    again = build("glossary", context, Leaving(away=99))
    assert (again.counts["done"], again.counts["reused"]) == (0, 7)


def test_another_embedder_makes_the_rows_again(context):
    build("glossary", context, HashEmbedding())
    models = context.config.models.model_copy(update={"embedder_options": {"dim": 9}})
    config = context.config.model_copy(update={"models": models})
    again = build("glossary", replace(context, config=config), HashEmbedding())
    assert again.counts["reused"] == 0


def test_a_glossary_without_any_vector_ends_with_the_reason(context):
    class Refusing(HashEmbedding):
        def embed_array(self, texts):
            raise EmbedError("no text is embedded")

    with pytest.raises(EmbedError, match="no text is embedded"):
        build("glossary", context, Refusing())
    assert not (context.store.data_dir / "output").exists()

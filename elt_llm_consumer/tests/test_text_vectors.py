"""Texts are embedded once, in batches; one without a vector stops no other."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from pydantic import PrivateAttr

from elt_llm_consumer.linking.mapping_features import COMPARED, MappedTerm, PairSignals
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_consumer.linking.similarity import embed_texts
from elt_llm_consumer.linking.term_mapper import TermMapper
from elt_llm_consumer.linking.text_vectors import TextVectors
from elt_llm_core.config.loader import load_config
from elt_llm_core.errors import EmbedError
from elt_llm_core.jobs import JOBS
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import DegradationKind
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding

DESCRIPTION = "Right to occupy a ground."  # of the entity "Ground Lease"
RENT = "the fixing of a new rent"  # in the definition of "Rent Review", of no entity
PRODUCTS = {
    "glossary": "glossary_json",
    "catalog": "catalog_flat_json",
    "coverage": "coverage_json",
}


class CountingCalls(HashEmbedding):
    """Counts calls and texts; refuses texts with certain words."""

    refused: tuple[str, ...] = ()
    _calls: list[list[str]] = PrivateAttr(default_factory=list)

    def embed_array(self, texts):
        self._calls.append(list(texts))
        if any(words in text for text in texts for words in self.refused):
            raise EmbedError("a text is longer than the model reads")
        return super().embed_array(texts)


def run(kind, context, embedder):
    job = JOBS.load(kind, {"collections": ("handbook",), "model": ("estate",)})
    report = job.build(Models(embedder=embedder))(context)
    content = json.loads(Path(report.files[PRODUCTS[kind]]).read_text("utf-8"))
    return report, content


def list_names(content):
    """The terms of a glossary, or the entities and gaps of another product."""
    if isinstance(content, list):
        return [row["term"] for row in content]
    entities = [row["entity_name"] for row in content["entities"]]
    gaps = [(gap["normalized_name"], gap["status"]) for gap in content.get("gaps", ())]
    return entities, gaps


def details(report):
    kind = DegradationKind.STAGE_LEFT_OUT
    return [one.detail for one in report.degradations if one.kind is kind]


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_description_without_a_vector_is_named_and_the_product_is_whole(
    kind, context
):
    _, whole = run(kind, context, CountingCalls())
    refusing = CountingCalls(refused=(DESCRIPTION,))
    job = {"collections": ("handbook",), "model": ("estate",), "fresh": True}
    report = JOBS.load(kind, job).build(Models(embedder=refusing))(context)
    content = json.loads(Path(report.files[PRODUCTS[kind]]).read_text("utf-8"))
    (detail,) = details(report)
    assert detail == (
        "the description of the entity 'Ground Lease (CONTRACTS)' has no vector and "
        "was not compared: a text is longer than the model reads"
    )
    assert report.counts["failed"] == 0
    assert list_names(content) == list_names(whole)
    if kind == "glossary":
        (lease,) = (row for row in content if row["term"] == "Ground Lease")
        assert lease["mapped_entity"] == "Ground Lease"
        assert "description" not in lease["mapping_rationale"]


def test_a_term_without_a_vector_has_no_place_in_the_catalogue(context):
    refusing = CountingCalls(refused=(RENT,))
    report, content = run("catalog", context, refusing)
    assert report.counts["failed"] == 0
    (detail,) = details(report)
    assert detail.startswith("the definition of the term 'Rent Review' has no vector")
    rows = {row["entity_name"]: row for row in content["entities"]}
    assert rows["Rent Review"]["inference_tier"] == "unknown"
    assert "no vector" in rows["Rent Review"]["inference_reasoning"]
    assert "nearest entity" in rows["Deposit"]["inference_reasoning"]


def test_an_entity_without_a_vector_is_no_place_and_the_others_are(context):
    refusing = CountingCalls(refused=("Shared Cost (Money)",))
    for _ in range(2):
        report, content = run("catalog", context, refusing)
        (detail,) = details(report)
        assert detail.startswith("the description of the entity 'Shared Cost (MONEY)'")
        rows = {row["entity_name"]: row for row in content["entities"]}
        assert "(MONEY)" not in rows["Service Charge"]["inference_reasoning"]
    _, content = run("catalog", context, CountingCalls())
    rows = {row["entity_name"]: row for row in content["entities"]}
    assert "(MONEY)" in rows["Service Charge"]["inference_reasoning"]


@pytest.mark.parametrize("kind", PRODUCTS)
def test_two_definitions_of_a_term_are_two_texts(kind, context, add, make):
    other = '"Ground Lease" means a lease of a stadium for a season.'
    add(context.store, "handbook", make(other, "Stadium"))
    both = ("right to occupy a ground for", "a lease of a stadium")
    first, _ = run(kind, context, CountingCalls(refused=both))
    start = "the definition of the term 'Ground Lease'"
    assert [one.split(" has no vector")[0] for one in details(first)] == [
        f"{start} (1 of 2)",
        f"{start} (2 of 2)",
    ]
    again, _ = run(kind, context, CountingCalls(refused=both[1:]))
    (detail,) = details(again)
    assert detail.startswith(f"{start} has no vector")
    assert again.counts["done"] > 0
    if kind != "glossary":
        assert again.counts["reused"] == 0


@pytest.mark.parametrize("kind", PRODUCTS)
def test_rows_are_made_again_when_the_vector_is_there(kind, context):
    first, _ = run(kind, context, CountingCalls(refused=(DESCRIPTION,)))
    same, _ = run(kind, context, CountingCalls(refused=(DESCRIPTION,)))
    # A row of the glossary that lacks a vector is made again by every run.
    assert same.counts["done"] == (1 if kind == "glossary" else 0)
    assert details(same) == details(first)
    again, content = run(kind, context, CountingCalls())
    assert again.counts["done"] > 0
    assert details(again) == []
    if kind == "glossary":
        (lease,) = (row for row in content if row["term"] == "Ground Lease")
        assert "its description fits" in lease["mapping_rationale"]


def test_each_text_is_embedded_once_and_all_of_them_in_batches():
    entities = [
        Entity(name=f"Paper {n}", domain="A", description=f"A sheet of size {n}")
        for n in range(100)
    ]
    terms = [
        MappedTerm(f"Paper {number}", (), f"a sheet that is {number} wide")
        for number in (*range(100), *range(100))
    ]
    embedder = CountingCalls()
    mapper = TermMapper(entities, embed=embedder.embed_array)
    matches = mapper.map_terms(terms)
    assert [m.entity for m in matches] == [*entities, *entities]
    texts = Counter(text for call in embedder._calls for text in call)
    assert max(texts.values()) == 1
    assert len(texts) == 208  # with eight texts of reference
    assert len(embedder._calls) <= 5
    one_by_one = [TermMapper(entities, embed=embedder.embed_array) for _ in range(3)]
    alone = [m.map_term(t) for m, t in zip(one_by_one, terms, strict=False)]
    assert alone == matches[:3]


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_second_run_with_a_degradation_embeds_in_few_calls(kind, context):
    for _ in range(2):
        embedder = CountingCalls(refused=(DESCRIPTION,))
        run(kind, context, embedder)
    calls = [len(call) for call in embedder._calls]
    mapping, places = [8, 2, 1, 1], [4, 2, 1, 1, 2, 5]  # halves of a refused batch
    assert calls == (mapping + places if kind == "catalog" else mapping)


def test_a_finished_row_is_not_mapped_with_an_unfinished_one(context, monkeypatch):
    run("glossary", context, CountingCalls(refused=(DESCRIPTION,)))
    mapped = []
    map_terms = TermMapper.map_terms

    def record(self, terms):
        mapped.extend(term.name for term in terms)
        return map_terms(self, terms)

    monkeypatch.setattr(TermMapper, "map_terms", record)
    report, _ = run("glossary", context, CountingCalls())
    assert report.counts["reused"] > 1
    assert mapped == ["Ground Lease"]


def test_nothing_is_embedded_where_nothing_is_compared():
    embedder = CountingCalls()
    mapper = TermMapper([Entity(name="Lease")], embed=embedder.embed_array)
    mapper.map_terms([MappedTerm("Lease", (), "a right to land")])
    assert embedder._calls == []


def test_only_the_pair_without_a_vector_is_described_by_names_alone():
    entities = [
        Entity(name="Lease", domain="A", description="A right to land"),
        Entity(name="Lease", domain="B", description="A dog's lead"),
    ]
    embed = CountingCalls(refused=("dog",)).embed_array
    signals = PairSignals(entities, embed=embed)
    term = MappedTerm("Lease", (), "the right to use land")
    rows = [row for _, row in signals.propose(term)]
    assert [row[COMPARED] for row in rows] == [1, 0]
    (missing,) = signals.missing.values()
    assert missing.name == "the description of the entity 'Lease (B)'"
    plain = PairSignals([entities[1].model_copy(update={"description": ""})])
    assert [rows[1]] == [row for _, row in plain.propose(term)]


def few(texts):
    return HashEmbedding().embed_array([text for text in texts if "x" not in text])


def unusable(number):
    def embed(texts):
        rows = HashEmbedding().embed_array(texts)
        rows[[at for at, text in enumerate(texts) if "x" in text]] = number
        return rows

    return embed


@pytest.mark.parametrize("embed", [few, unusable(0), unusable(np.nan)])
def test_an_embedder_that_returns_nothing_for_a_text_is_noticed(embed):
    vectors = TextVectors(embed)
    texts = [f"{n} words" for n in range(100)]
    texts[70] = "x"
    vectors.add({text: f"the text {text!r}" for text in texts})
    assert list(vectors.missing) == ["x"]
    assert vectors.missing["x"].name == "the text 'x'"
    assert [text for text in texts if vectors.get(text) is None] == ["x"]
    (row,) = HashEmbedding().embed_array(["71 words"])
    assert (vectors.get("71 words") == row).all()


def test_an_embedder_without_any_vector_ends_the_run_at_once():
    embedder = CountingCalls(refused=("",))
    entities = [Entity(name="Lease", description="A right")]
    mapper = TermMapper(entities, embed=embedder.embed_array)
    with pytest.raises(EmbedError, match="longer than the model reads"):
        mapper.map_term(MappedTerm("Lease", (), "a right to land"))
    assert not any("A right" in text for call in embedder._calls for text in call)


@pytest.mark.parametrize("text", ["land " * 600, "租赁合同" * 200])
def test_a_long_text_counts_by_its_beginning(text):
    models = build_models(load_config(environ={}))
    vectors = embed_texts(models, [text, text[: len(text) // 8], ""])
    # .69 or .70 for the second text, depending on the processor's sums.
    assert vectors[0] @ vectors[1] > 0.6
    assert vectors[0] @ vectors[2] < 0.2

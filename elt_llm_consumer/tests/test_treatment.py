"""One place decides what a handbook treats; coverage, gaps and catalogue agree."""

import json
from collections import Counter
from pathlib import Path

import pytest

from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.linking.model_entities import Entity, EntityModel
from elt_llm_consumer.treatment.treatment_index import (
    TreatmentIndex,
    raise_by_meaning,
    score_of,
)
from elt_llm_core.config.domain_packs import find_pack, known_packs
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.jobs import JOBS, JobContext, run_job
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding

# Ordinary words that a model may well have as names of its own things.
ORDINARY = """\
id,type,name,displayName,description,level
o1,DataObject,Events,BUSINESS / Events,,2
o2,DataObject,Time,BUSINESS / Time,,2
o3,DataObject,Person,BUSINESS / Person,,2
o4,DataObject,Values,BUSINESS / Values,,2
o5,DataObject,Law,BUSINESS / Law,,2
o6,DataObject,Request,BUSINESS / Request,,2
o7,DataObject,Name,BUSINESS / Name,,2
o8,DataObject,Provide,BUSINESS / Provide,,2
o9,DataObject,Order Management,SALES / Order Management,,2
o10,DataObject,Credit Line,SALES / Credit Line,,2
o11,DataObject,Party Role,SALES / Party Role,,2
"""
COVERED = {"STRONG", "MODERATE"}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """Handbooks and models of the packs, and a model of ordinary words."""
    folder = tmp_path_factory.mktemp("pairs")
    context = JobContext(RagConfig(), Store(folder / "root"))
    models = Models(embedder=HashEmbedding())
    words = folder / "words.csv"
    words.write_text(ORDINARY, encoding="utf-8")
    paths = {"words": [words]}
    for name in known_packs():
        pack = find_pack(name)
        for collection in pack.collections:
            files = [pack.folder / one.path for one in pack.files(collection)]
            paths[f"{name}-{collection}"] = files
    for collection, files in paths.items():
        options = {"paths": tuple(map(str, files)), "collection": collection}
        run_job(JOBS.load("ingest", options).build(models), context)
    yield context, models
    context.store.close()


HANDBOOKS = ("kite-regatta-handbook", "marrow-hill-allotment-rules")
MODELS = ("kite-regatta-model", "marrow-hill-allotment-register", "words")


def build(workplace, kind, handbook, model):
    context, models = workplace
    options = {"collections": (handbook,), "model": (model,)}
    report = run_job(JOBS.load(kind, options).build(models), context)
    name = "catalog_flat_json" if kind == "catalog" else f"{kind}_json"
    return report, json.loads(Path(report.files[name]).read_text("utf-8"))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("handbook", HANDBOOKS)
def test_coverage_gaps_and_catalogue_agree(workplace, handbook, model):
    report, coverage = build(workplace, "coverage", handbook, model)
    made, catalog = build(workplace, "catalog", handbook, model)
    covered = Counter(
        row["entity_name"] for row in coverage["entities"] if row["verdict"] in COVERED
    )
    gaps = {
        status: Counter(
            gap["model_name"] or gap["handbook_name"]
            for gap in coverage["gaps"]
            if gap["status"] == status
        )
        for status in ("MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY")
    }
    sources = {
        source: Counter(
            row["entity_name"] for row in catalog["entities"] if row["source"] == source
        )
        for source in ("BOTH", "MODEL_ONLY", "HANDBOOK_ONLY")
    }
    assert covered == gaps["MATCHED"] == sources["BOTH"]
    assert gaps["MODEL_ONLY"] == sources["MODEL_ONLY"]
    assert gaps["HANDBOOK_ONLY"] == sources["HANDBOOK_ONLY"]
    summary = coverage["summary"]
    assert summary["gaps"] == {name: each.total() for name, each in gaps.items()}
    assert summary["covered_share"] == summary["matched_share"]
    counts = report.counts
    assert made.counts.get("both", 0) == counts["strong"] + counts["moderate"]
    open_rows = {
        row["entity_name"]
        for row in coverage["entities"]
        if row["review_status"] == "NEEDS_CLARIFICATION"
    }
    assert sorted(open_rows) == summary["ambiguous"]


@pytest.mark.parametrize("handbook", HANDBOOKS)
def test_ordinary_words_of_a_handbook_cover_nothing(workplace, handbook):
    _, coverage = build(workplace, "coverage", handbook, "words")
    assert not [
        (row["entity_name"], row["verdict"])
        for row in coverage["entities"]
        if row["verdict"] in COVERED
    ]


def test_the_reasons_say_what_decided(workplace):
    _, coverage = build(workplace, "coverage", HANDBOOKS[0], "words")
    rows = {row["entity_name"]: row for row in coverage["entities"]}
    assert "the word is common everywhere" in rows["Time"]["reasons"]
    assert "the handbook names little else of this model" in rows["Events"]["reasons"]
    assert rows["Order Management"]["reasons"] == ["not named in the handbook"]
    assert rows["Time"]["reasons"][0].startswith("31 sentences with the name")


def test_names_beside_an_entity_make_its_sense_sure(workplace):
    context, _ = workplace
    handbook = Handbook(context.store, [HANDBOOKS[0]])

    def chance(*others):
        entities = tuple(Entity(name=name) for name in ("Invoice", *others))
        model = EntityModel(entities=entities)
        index = TreatmentIndex(handbook, model, {}, ConsumerSection())
        return index.of(entities[0]).score

    related = ("Launch Window", "Spar Inspector", "Shore Fund", "Flyer Passport")
    unrelated = ("Order Management", "Credit Line", "Party Role", "Loan Desk")
    assert chance(*related) > chance() > chance(*unrelated)


def test_the_score_rises_with_both_probabilities_and_depth_alone_is_nothing():
    steps = [score_of(sense / 20, 0.5) for sense in range(21)]
    assert steps == sorted(steps)
    assert score_of(0.3, 0) == score_of(0.3, 1)
    assert score_of(1, 1) == pytest.approx(1)
    assert score_of(1, 0) == pytest.approx(0.65)


def test_nearness_of_vectors_makes_no_more_than_thin(workplace):
    context, _ = workplace
    handbook = Handbook(context.store, [HANDBOOKS[1]])
    entity = Entity(name="Order Management")
    config = ConsumerSection()
    index = TreatmentIndex(handbook, EntityModel(entities=(entity,)), {}, config)
    treatment = index.of(entity)
    assert raise_by_meaning(treatment, 0.99, config).verdict == "THIN"
    assert raise_by_meaning(treatment, 0.39, config).verdict == "ABSENT"

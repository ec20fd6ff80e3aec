"""Coverage: the best evidence decides, all of it is listed, gaps go both ways."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.coverage import CoverageJob, Gap, count_verdicts, list_gaps
from elt_llm_consumer.linking.model_entities import Entity, EntityModel
from elt_llm_consumer.linking.similarity import calibrate, embed_texts
from elt_llm_consumer.linking.term_mapper import OTHER_SENSE
from elt_llm_consumer.treatment.treatment_index import TreatmentIndex, verdict
from elt_llm_core.config.loader import load_config
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.enterprise.model import (
    EnterpriseModel,
    ModelElement,
    ModelLocation,
)
from elt_llm_core.errors import ModelUnavailableError, UsageError
from elt_llm_core.models.factory import build_models
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.readers.enterprise.documents import sidecars


@pytest.fixture
def made(context, models, aliases):
    job = CoverageJob(collections=("handbook",), model="estate", aliases=aliases)
    report = job.build(models)(context)
    return report, json.loads(Path(report.files["coverage_json"]).read_text())


def test_rows(made, store):
    report, content = made
    rows = {row["entity_name"]: row for row in content["entities"]}
    assert rows["Ground Lease"]["verdict"] == "STRONG"
    assert "the handbook defines it" in rows["Ground Lease"]["reasons"]
    assert rows["Shared Cost"]["verdict"] in {"STRONG", "MODERATE"}
    assert rows["Boundary Survey"]["verdict"] == "ABSENT"
    assert rows["Boundary Survey"]["reasons"] == ["not named in the handbook"]
    assert rows["Boundary Survey"]["evidence"] == []
    kinds = {one["kind"] for one in rows["Ground Lease"]["evidence"]}
    assert {"definition", "lexical"} <= kinds
    (row,) = store.documents("handbook")
    text = store.document_text(row.document_id)
    for entity in rows.values():
        assert len(entity["top_chunk_preview"]) <= 120
        scores = [one["score"] for one in entity["evidence"]]
        assert scores == sorted(scores, reverse=True)
        assert max(scores, default=0) <= entity["top_score"]
        for one in entity["evidence"]:
            assert text[one["start"] : one["end"]] == one["quote"]
    assert report.counts["strong"] == content["summary"]["verdicts"]["STRONG"]


def test_gaps_go_both_ways(made):
    _, content = made
    found = {g["normalized_name"]: g for g in content["gaps"]}
    assert "name: as written" in found["ground lease"]["match"]
    assert "name: but for the plural" in found["tenants"]["match"]
    assert found["shared cost"]["handbook_name"] == "Service Charge"
    assert "name: alias" in found["shared cost"]["match"]
    assert found["boundary survey"]["status"] == "MODEL_ONLY"
    assert found["rent review"]["status"] == "HANDBOOK_ONLY"
    assert content["summary"]["gaps"] == {
        "MATCHED": 3,
        "MODEL_ONLY": 1,
        "HANDBOOK_ONLY": 4,
    }


def test_a_name_that_is_nearly_a_term_is_listed_and_not_taken_for_it(store):
    names = ("Boundary Survey", "Ground Leese")
    entities = tuple(Entity(name=name) for name in names)
    index = TreatmentIndex(
        Handbook(store, ["handbook"]),
        EntityModel(entities=entities),
        {},
        ConsumerSection(),
    )
    survey, lease = map(index.of, entities)
    assert survey.verdict == "ABSENT"
    assert lease.near_term == "Ground Lease"
    assert lease.is_ambiguous
    assert not lease.is_covered
    rows = {
        row.model_name or row.handbook_name: row for row in list_gaps(entities, index)
    }
    assert rows["Ground Leese"].status == "MODEL_ONLY"
    assert "'Ground Lease' (spelling 0.92)" in rows["Ground Leese"].match
    assert rows["Ground Lease"].status == "HANDBOOK_ONLY"


HEADED = """\
# Watch Officer
means the person who keeps the Deck Log of a watch.
# Deck Log
means the book in which every watch is written down.
# Watches
A Deck Log is closed at noon. The Watch Officer signs each Deck Log. A Watch Officer is
relieved after four hours.
"""


def test_a_term_above_its_definition_is_defined_there(store, make, add):
    add(store, "ship", make(HEADED, "Ship"))
    entities = tuple(Entity(name=name) for name in ("Deck Log", "Watch Officer"))
    handbook = Handbook(store, ["ship"])
    index = TreatmentIndex(
        handbook, EntityModel(entities=entities), {}, ConsumerSection()
    )
    assert handbook.undefined_terms == []
    for gap, entity in zip(list_gaps(entities, index), entities, strict=True):
        assert (gap.handbook_name, gap.status) == (entity.name, "MATCHED")
        assert "the handbook defines it" in index.of(entity).reasons
        (match,) = index.matches(entity)
        assert match.entry.definition.section == entity.name


@pytest.mark.parametrize(
    ("sentence", "is_explained"),
    [
        ("The tallyman, that is the person who counts the crates, signs first.", True),
        ("Tallyman (i.e. whoever counts the crates) is a post of the quay.", True),
        ("A tallyman, which is a post of the quay, signs first.", True),
        ("The tallyman, which is the oldest, signs first.", False),
        ("Crates go to the tallyman, that is the rule.", False),
        ("The tallyman signs first, that is the rule.", False),
    ],
)
def test_a_sentence_may_say_on_the_way_what_a_thing_is(
    store, make, add, sentence, is_explained
):
    add(store, "quay", make(f"Crates are counted. {sentence}", "Quay"))
    entity = Entity(name="Tallyman")
    index = TreatmentIndex(
        Handbook(store, ["quay"]),
        EntityModel(entities=(entity,)),
        {},
        ConsumerSection(),
    )
    assert index.use(entity).is_explained is is_explained


def test_shares_are_of_what_a_handbook_is_asked_to_define():
    types = {"Lease": "DataObject", "Clerk": "BusinessRole", "Thrift": "Goal"}
    entities = [Entity(name=name, type=kind) for name, kind in types.items()]
    entities.append(Entity(name="Server 9", type="Node"))
    # Namesakes: two goals, and a capability that has the name of one.
    entities += [Entity(name="Safety", domain=one, type="Goal") for one in "AB"]
    entities.append(Entity(name="Safety", domain="C", type="Capability"))
    rows = [
        {
            "fact_sheet_id": one.fact_sheet_id,
            "domain": one.domain,
            "entity_name": one.name,
            "verdict": "STRONG" if one.name == "Lease" else "THIN",
        }
        for one in entities
    ]
    gaps = [
        Gap(
            normalized_name=one.name, model_name=one.name, handbook_name="", match="",
            status="MATCHED" if one.name == "Lease" else "MODEL_ONLY",
            is_counted=one.type not in ("Goal", "Node"),
        )
        for one in entities
    ]  # fmt: skip
    summary = count_verdicts(rows, gaps, entities)
    assert (summary["covered_share"], summary["matched_share"]) == (0.3333, 0.3333)
    assert summary["uncounted"] == {"Goal": 3, "Node": 1}
    assert (summary["entities"], summary["verdicts"]["THIN"]) == (7, 6)


def test_namesakes_of_different_types_are_counted_each(context, models, add, make):
    elements = (
        ModelElement(
            id=key, name="Safety", type=kind, domain=domain, fact_sheet_id=key,
            location=ModelLocation(file="yard.drawio"),
        )
        for key, kind, domain in (
            ("1", "Goal", "A"), ("2", "Goal", "B"), ("3", "Capability", "C"),
        )
    )  # fmt: skip
    model = EnterpriseModel(
        name="yard", source_file="yard.drawio", format="leanix_drawio",
        elements=tuple(elements),
    )  # fmt: skip
    document = make("A model", "yard").model_copy(update={"sidecars": sidecars(model)})
    add(context.store, "yard", document, kind="fact_sheet")
    add(context.store, "rules", make("# 1 Terms\n1.1 Safety means that no harm comes."))
    job = CoverageJob(collections=("rules",), model="yard")
    report = job.build(models)(context)
    content = json.loads(Path(report.files["coverage_json"]).read_text())
    summary = content["summary"]
    assert summary["uncounted"] == {"Goal": 2}
    covered = [row["verdict"] for row in content["entities"] if row["domain"] == "C"]
    share = float(covered[0] in ("STRONG", "MODERATE"))
    assert summary["covered_share"] == summary["matched_share"] == share
    assert all("is_counted" not in gap for gap in content["gaps"])


NAMESAKES = tuple(Entity(name="Ground Lease", domain=one) for one in "AB")


def test_a_term_that_fits_two_entities_is_ambiguous_for_both(store):
    index = TreatmentIndex(
        Handbook(store, ["handbook"]),
        EntityModel(entities=NAMESAKES),
        {},
        ConsumerSection(),
    )
    gaps = [one for one in list_gaps(NAMESAKES, index) if one.model_name]
    assert len(gaps) == len(NAMESAKES)
    for gap, entity in zip(gaps, NAMESAKES, strict=True):
        assert (gap.handbook_name, gap.status) == ("", "MATCHED")
        assert gap.match == (
            "ambiguous: the term 'Ground Lease' fits 2 entities, of which none is "
            "chosen: Ground Lease (A), Ground Lease (B)"
        )
        assert index.of(entity).reasons[0] == gap.match
        assert index.of(entity).is_ambiguous


def test_a_term_of_its_own_makes_an_entity_unambiguous(store):
    aliases = {"Ground Lease": ["Deposit"], "Tenants": ["Deposit"]}
    entities = (Entity(name="Ground Lease"), Entity(name="Tenants"))
    index = TreatmentIndex(
        Handbook(store, ["handbook"]),
        EntityModel(entities=entities),
        aliases,
        ConsumerSection(),
    )
    gaps = {g.model_name: g for g in list_gaps(entities, index)}
    assert gaps["Tenants"].handbook_name == "Tenant"
    assert "Deposit" not in gaps["Tenants"].match
    assert index.of(entities[0]).ambiguity == ""
    assert index.matches(entities[0])[0].entry.term == "Ground Lease"


def test_the_report_asks_a_person_about_namesakes(context, models, add, make, tmp_path):
    names = tmp_path / "names.yaml"
    names.write_text("shared cost: [notice period]\nboundary survey: [notice period]\n")
    job = CoverageJob(collections=("handbook",), model="estate", aliases=names)
    report = job.build(models)(context)
    content = json.loads(Path(report.files["coverage_json"]).read_text())
    rows = {row["entity_name"]: row for row in content["entities"]}
    for name in ("Shared Cost", "Boundary Survey"):
        assert rows[name]["review_status"] == "NEEDS_CLARIFICATION"
        assert rows[name]["reasons"][0] == (
            "ambiguous: the term 'Notice Period' fits 2 entities, of which none is "
            "chosen: Boundary Survey (CONTRACTS), Shared Cost (MONEY)"
        )
    assert content["summary"]["ambiguous"] == ["Boundary Survey", "Shared Cost"]


def test_no_model_is_refused(context, models):
    with pytest.raises(UsageError, match="pass --model"):
        CoverageJob(collections=("handbook",)).build(models)(context)


def test_bands():
    config = ConsumerSection()
    scores = {0.7: "STRONG", 0.69: "MODERATE", 0.55: "MODERATE", 0.4: "THIN"}
    assert {s: verdict(s, config) for s in scores} == scores
    assert verdict(0.39, config) == "ABSENT"


def test_every_band_is_a_setting():
    usual = ConsumerSection()
    assert [verdict(x, usual) for x in (0.72, 0.6, 0.45)] == [
        "STRONG",
        "MODERATE",
        "THIN",
    ]
    assert verdict(0.72, ConsumerSection(strong=0.75)) == "MODERATE"
    assert verdict(0.6, ConsumerSection(moderate=0.65)) == "THIN"
    assert verdict(0.45, ConsumerSection(thin=0.5)) == "ABSENT"


def test_bands_change_the_key(made, context, models, aliases):
    stricter = context.config.model_copy(
        update={"consumer": ConsumerSection(strong=0.99)}
    )
    job = CoverageJob(collections=("handbook",), model="estate", aliases=aliases)
    again = job.build(models)(context)
    assert again.counts["reused"] == 4
    other = job.build(models)(type(context)(stricter, context.store))
    assert (other.counts["reused"], other.counts["strong"]) == (0, 0)


def test_calibration():
    scores = calibrate(np.array([0.2, 0.2, 0.2, 1.0], dtype=np.float32))
    assert scores[0] == 0
    assert scores[3] == pytest.approx(1.0)
    shifted = calibrate(np.array([0.5, 0.75], dtype=np.float32))
    assert 0 < shifted[1] < 0.75


def test_a_dead_embedder_is_told_and_nothing_is_published(context, aliases):
    class Dead(HashEmbedding):
        def _get_query_embedding(self, query):
            raise ModelUnavailableError("http://localhost", "refused")

    job = CoverageJob(collections=("handbook",), model="estate", aliases=aliases)
    with pytest.raises(ModelUnavailableError):
        job.build(Models(embedder=Dead()))(context)
    assert not (context.store.data_dir / "output").exists()


@pytest.mark.parametrize(("evidence_top_k", "most"), [(1, 1), (2, 2)])
def test_passages_of_an_entity_are_a_setting(context, models, evidence_top_k, most):
    rows = surveyed(context, models, evidence_top_k=evidence_top_k)
    kinds = [one["kind"] for one in rows["Ground Lease"]["evidence"]]
    assert kinds.count("lexical") == most


def test_aliases_are_a_setting(context, models, aliases):
    without = surveyed(context, models)["Shared Cost"]
    assert without["verdict"] in {"THIN", "ABSENT"}
    rows = surveyed(context, models, aliases=aliases)
    assert rows["Shared Cost"]["verdict"] == "STRONG"


def surveyed(context, models, **consumer) -> dict[str, dict]:
    """The rows of the report by entity, with these settings of the products."""
    config = context.config.model_copy(update={"consumer": ConsumerSection(**consumer)})
    job = CoverageJob(collections=("handbook",), model="estate")
    report = job.build(models)(type(context)(config, context.store))
    content = json.loads(Path(report.files["coverage_json"]).read_text())
    return {row["entity_name"]: row for row in content["entities"]}


def test_an_entity_described_in_another_sense_is_ambiguous(store):
    other = Entity(name="Tenant", domain="IT", description="A share of a cloud cluster")
    own = Entity(name="Ground Lease", description="Right to use land for some years")
    index = TreatmentIndex(
        Handbook(store, ["handbook"]),
        EntityModel(entities=(other, own)),
        {},
        ConsumerSection(),
        partial(embed_texts, build_models(load_config(environ={}))),
    )
    assert [index.of(one).verdict for one in (other, own)] == ["THIN", "STRONG"]
    (reason,) = index.of(other).reasons
    assert reason.startswith(f"{OTHER_SENSE}: Tenant (IT), ")
    (gap,) = (one for one in list_gaps([other], index) if one.model_name)
    assert gap.match.startswith(f"ambiguous: {OTHER_SENSE}")


HARBOUR = """\
# 1 Harbour Master
1.1 A harbour master must inspect each berth before the first day of a quarter.
1.2 The harbour master keeps the register of berths and may close a berth.
1.3 The harbour master is appointed by the board for a term of five years.
1.4 Each skipper must report to the harbour master within an hour of arrival.
# 2 Definitions
2.1 "{term}" means a trial of a new rule on one quay before it applies to all.
2.2 "Berth" means a place at a quay where one boat may lie.
"""


@pytest.mark.parametrize(
    ("name", "term", "verdict"),
    [
        ("Harbour Master", "Pilot", "STRONG"),  # its alias
        ("Harbour Master", "Harbour Master", "THIN"),
        ("HarbourMasters", "Harbour Master", "THIN"),
    ],
)
def test_only_the_own_name_in_another_sense_counts_against_an_entity(
    store, make, add, name, term, verdict
):
    add(store, "harbour", make(HARBOUR.replace("{term}", term)))
    entity = Entity(name=name, description="Title of a chess player")
    index = TreatmentIndex(
        Handbook(store, ["harbour"]),
        EntityModel(entities=(entity, Entity(name="Berth"))),
        {name: ["pilot"]},
        ConsumerSection(),
        partial(embed_texts, build_models(load_config(environ={}))),
    )
    assert index.rationale_of(term).startswith("defined, not modelled; Not mapped")
    assert index.of(entity).verdict == verdict


@pytest.mark.parametrize("defined_again", [False, True])
def test_sentences_with_an_alias_in_another_sense_are_not_about_the_entity(
    store, make, add, defined_again
):
    text = HARBOUR.replace("harbour master", "pilot").replace("Harbour Master", "Pilot")
    if defined_again:
        text += '2.3 "Pilot" means the title of a chess player of the harbour.\n'
    add(store, "harbour", make(text.replace("{term}", "Pilot")))
    entity = Entity(name="Harbour Master", description="Title of a chess player")
    index = TreatmentIndex(
        Handbook(store, ["harbour"]),
        EntityModel(entities=(entity, Entity(name="Berth"))),
        {"Harbour Master": ["pilot"]},
        ConsumerSection(),
        partial(embed_texts, build_models(load_config(environ={}))),
    )
    gaps = {g.model_name: g for g in list_gaps([entity], index) if g.model_name}
    mentions = index.mentions.of("Harbour Master")
    if defined_again:
        assert index.of(entity).verdict == "STRONG"
        assert {one.alias for one in mentions} == {"pilot"}
        return
    assert mentions == []
    assert index.of(entity).verdict == "THIN"
    assert gaps["Harbour Master"].status == "MODEL_ONLY"
    assert gaps["Harbour Master"].match.startswith(f"ambiguous: {OTHER_SENSE}")


def test_an_alias_in_another_sense_is_no_evidence_for_a_named_entity(store, make, add):
    text = HARBOUR.replace("{term}", "Pilot")
    add(store, "harbour", make(f"{text}2.3 The pilot may be ended by the board.\n"))
    entity = Entity(name="Harbour Master", description="Title of a chess player")
    index = TreatmentIndex(
        Handbook(store, ["harbour"]),
        EntityModel(entities=(entity,)),
        {"Harbour Master": ["pilot"]},
        ConsumerSection(),
        partial(embed_texts, build_models(load_config(environ={}))),
    )
    assert {one.alias for one in index.mentions.of("Harbour Master")} == {""}
    assert {one.alias for one in index.mentions.of("Pilot")} == {""}

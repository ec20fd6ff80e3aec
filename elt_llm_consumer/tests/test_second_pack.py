"""A second pack, of another domain and other files, goes the whole way too."""

import csv
import json
from pathlib import Path

import pytest

from elt_llm_consumer.demo import DemoReport, run_demo
from elt_llm_core.config.domain_packs import find_pack
from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store

PACK = find_pack("marrow-hill")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> DemoReport:
    store = Store(tmp_path_factory.mktemp("second"))
    config = load_config(environ={}, overrides={"consumer": {"pack": PACK.name}})
    made = run_demo(PACK, JobContext(config, store), build_models(config))
    store.close()
    return made


def test_its_questions_are_answered_from_its_rules_or_refused(report):
    assert [a.status.value for a in report.answers] == [
        *["answered"] * 3,
        "insufficient",
    ]
    rules = (PACK.folder / "rules.md").read_text(encoding="utf-8")
    for answer, words in zip(
        report.answers, ("Half Plot", "15 pounds", "19:00"), strict=False
    ):
        assert words in answer.answer
        assert {c.document for c in answer.citations} == {"rules.md"}
        assert words in rules
        # A section that is no longer in force says 21:00, and the pack leaves it out.
        assert "21:00" not in answer.answer


def test_its_glossary_has_every_defined_word(report):
    rows = json.loads(Path(report.files["glossary_json"]).read_text("utf-8"))
    assert [row["term"] for row in rows] == [
        "Committee", "Growing Year", "Half Plot", "Haulm Day", "Plot", "Site Steward",
        "Tenant", "Waiting List", "Water Point",
    ]  # fmt: skip


def test_its_register_is_the_model_of_the_other_products(report):
    with (PACK.folder / "register.csv").open(encoding="utf-8") as file:
        names = {row["name"] for row in csv.DictReader(file)}
    covered = json.loads(Path(report.files["coverage_json"]).read_text("utf-8"))
    assert covered["summary"]["entities"] == len(names) == 12
    # Of its terms the Growing Year and Haulm Day are no things of the register.
    assert covered["summary"]["gaps"] == {
        "HANDBOOK_ONLY": 2,
        "MATCHED": 7,
        "MODEL_ONLY": 5,
    }

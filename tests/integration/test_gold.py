"""Every gold question of the sample, asked in process over both collections."""

import json
import re
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from perturbing import PerturbedEmbedding

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.models.minilm import OnnxEmbedding
from elt_llm_core.results import QueryResult, Status, Support
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query import query_collections
from elt_llm_query.evaluation.labelled_questions import (
    Gold,
    LabelledQuestion,
    append_questions,
)

PACK = (
    Path(__file__).parents[2]
    / "elt_llm_consumer/src/elt_llm_consumer/packs/kite-regatta"
)
BASELINE = Path(__file__).parents[2] / "benchmarks/baselines/kite-regatta.json"
QUESTIONS: list[dict[str, Any]] = json.loads(
    (PACK / "gold.json").read_text(encoding="utf-8")
)["questions"]


def ingest(folder: Path, models: Models) -> Path:
    """The data root with the sample taken in."""
    config = load_config(environ={})
    store = Store(folder)
    for collection, files in {
        "handbook": ["handbook.pdf"],
        "model": ["model.drawio", "inventory.xlsx"],
    }.items():
        paths = [str(PACK / name) for name in files]
        job = JOBS.load("ingest", {"paths": paths, "collection": collection})
        job.build(models)(JobContext(config, store))
    store.close()
    return folder


def ask(folder: Path, models: Models) -> dict[str, QueryResult]:
    """What every question of the gold is answered with."""
    config = load_config(environ={})
    store = Store(folder)
    found = {
        q["question"]: query_collections(
            ["handbook", "model"],
            q["question"],
            store=store,
            config=config,
            models=models,
        )
        for q in QUESTIONS
    }
    store.close()
    return found


@pytest.fixture(scope="module")
def models() -> Models:
    return build_models(load_config(environ={}))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, models: Models) -> Path:
    return ingest(tmp_path_factory.mktemp("gold") / "data", models)


@pytest.fixture(scope="module")
def answers(sample: Path, models: Models) -> dict[str, QueryResult]:
    return ask(sample, models)


@pytest.mark.parametrize("gold", QUESTIONS, ids=lambda q: q["question"])
def test_the_answer_is_the_golds(
    gold: dict[str, Any], answers: dict[str, QueryResult]
) -> None:
    result = answers[gold["question"]]
    assert result.status == gold["status"], result.answer
    for words in gold["answer_contains"]:
        assert words.lower() in result.answer.lower()
    if gold["status"] == Status.INSUFFICIENT:
        assert result.citations == ()
        return
    assert {c.document for c in result.citations} == {gold["document"]}
    assert {c.support for c in result.citations} <= {
        Support.VERIFIED,
        Support.NORMALISED,
    }
    if gold["page"]:
        assert gold["page"] in {c.page for c in result.citations}


@pytest.mark.parametrize("seed", [1, 2])
def test_no_answer_hangs_on_the_last_digits_of_the_vectors(
    seed: int, models: Models, answers: dict[str, QueryResult], tmp_path: Path
) -> None:
    """Vectors are turned by more than the arithmetic of two processors differs."""
    assert isinstance(models.embedder, OnnxEmbedding)
    perturbed = Models(embedder=PerturbedEmbedding(models.embedder, seed))
    found = ask(ingest(tmp_path / "data", perturbed), perturbed)
    for question, result in answers.items():
        assert _told(found[question]) == _told(result)


def _told(result: QueryResult) -> tuple[str, Status, list[str]]:
    """The answer without its labels, which tell a rank; its status and documents."""
    said = re.sub(r" ?\[S\d+\]", "", result.answer)
    if result.status == Status.INSUFFICIENT:  # then it names what is nearest
        said = ""
    return said, result.status, [c.document for c in result.citations]


def test_every_quote_and_box_lies_on_its_page(answers: dict[str, QueryResult]) -> None:
    pdf = pypdfium2.PdfDocument(PACK / "handbook.pdf")
    for result in answers.values():
        for citation in result.citations:
            if citation.document != "handbook.pdf":
                continue
            assert citation.page is not None
            page = pdf[citation.page - 1]
            text_page = page.get_textpage()
            text = " ".join(text_page.get_text_range().split())
            assert " ".join(citation.quote.split()) in text
            width, height = page.get_size()
            boxed = "".join(
                text_page.get_text_bounded(
                    left=box.left * width - 1,
                    right=box.right * width + 1,
                    top=(1 - box.top) * height + 1,
                    bottom=(1 - box.bottom) * height - 1,
                )
                for box in citation.boxes
            )
            letters = {c for c in citation.quote if c.isalnum()}
            assert letters <= set(boxed)
            assert len(boxed) < 2 * len(citation.quote) + 20
    pdf.close()


def test_retrieval_finds_what_it_found(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gate of `benchmarks/baselines`, as a user would run it."""
    asked = tmp_path / "questions.jsonl"
    for gold in QUESTIONS:
        if gold["status"] == Status.ANSWERED:
            where = {key: gold[key] for key in ("document", "quote", "page")}
            gold_of = (Gold(**{k: v for k, v in where.items() if v}),)
            append_questions(
                asked, [LabelledQuestion(question=gold["question"], gold=gold_of)]
            )
    arguments = ["eval", "gate", "--baseline", str(BASELINE), "--quiet"]
    own = ["--questions", str(asked), "--data-dir", str(sample)]
    cache = ["--cache", str(tmp_path / "cache")]
    code = run(elt_llm, [*arguments, *own, *cache])
    told = capsys.readouterr()
    assert code == 0, told.out + told.err
    assert "25 questions compared\n" in told.out

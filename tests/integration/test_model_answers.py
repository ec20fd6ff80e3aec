"""The normal question door: what a model states is answered from its graph."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import elt_llm_consumer
from elt_llm_api.api_context import build_context
from elt_llm_api.uploads import Upload
from elt_llm_core.config.sections import QuerySection, RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.results import Status, Support
from elt_llm_core.store import Store
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query.answering import AnswerWriter
from elt_llm_query.model_answer import ModelAnswer
from elt_llm_query.query import query_collections

PACK = Path(elt_llm_consumer.__file__).parent / "packs" / "kite-regatta"
HOLDS = "Which domain holds the entity Gust Ceiling?"
TEXT = (
    "# Fees\n\nThe fee for a kite is 20 crowns. A flyer uses a kite in a heat.\n\n"
    "Gust Ceiling depends on the wind.\n"
)
LIST = (
    "# Data objects\n\n| Data object | Steward |\n|---|---|\n"
    "| Kite | Ann Lund |\n| Line | Bo Ek |\n| Harness | Cy Dahl |\n"
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Asks a model and a text, with the graph or without."""
    folder = tmp_path_factory.mktemp("model")
    store = Store(folder / "data")
    context = build_context(RagConfig(), store)
    text = folder / "fees.md"
    text.write_text(TEXT, encoding="utf-8")
    listed = folder / "list.md"
    listed.write_text(LIST, encoding="utf-8")
    drawing = shutil.copy(PACK / "model.drawio", folder)
    for name, path in (("model", Path(drawing)), ("fees", text), ("list", listed)):
        report = context.runner.ingest(name, [Upload(path.name, path)], silent)
        assert report.exit_code == 0
    models = context.profiles.models()

    def call(question, names=("fees", "model"), *, use=True, where=None, llm=None, **o):
        config = RagConfig(query=QuerySection(use_model_graph=use, **o))
        asked = models if llm is None else replace(models, llm=llm)
        return query_collections(
            names, question, store=store, config=config, models=asked, where=where
        )

    yield call
    store.close()


def stages(result):
    return [stage.name for stage in result.trace.stages]


def test_what_the_model_states_is_answered_with_quotes(ask):
    result = ask(HOLDS)
    assert result.status is Status.ANSWERED
    assert result.answer == "Gust Ceiling is in SAFETY. [S1]"
    (citation,) = result.citations
    assert citation.quote.splitlines()[:2] == ["Gust Ceiling", "Domain: SAFETY"]
    assert citation.support is Support.VERIFIED
    assert (citation.document, citation.page) == ("model.drawio", 1)
    assert citation.boxes
    (source,) = result.sources
    assert citation.quote in source.text
    assert "model" in stages(result)
    assert "model" not in stages(ask(HOLDS, use=False))


@pytest.mark.parametrize(
    ("question", "answer", "documents"),
    [
        ("How many data objects are in CHANNELS?", "4 in CHANNELS:", 4),
        ("How is Flyer connected to Kite?", "Flyer is in PEOPLE.", 3),
        ("What depends on MEMBERSHIP?", "What depends on MEMBERSHIP: PEOPLE,", 3),
        (
            "What is the cardinality between PEOPLE and CHANNELS?",
            "CHANNELS to PEOPLE: 0..*-0..*",
            1,
        ),
        ("What type of element is Kite?", "Kite is of the type DataObject.", 1),
        ("What relationships does Flyer have?", "Flyer has none of its own;", 5),
    ],
)
def test_every_part_of_an_answer_has_its_quote(ask, question, answer, documents):
    result = ask(question)
    assert result.answer.startswith(answer)
    assert len(result.citations) == len(result.sources) == documents
    (statement,) = result.statements
    assert statement.verdict is Support.SUPPORTED
    assert {c.document for c in result.citations} == {"model.drawio"}


@pytest.mark.parametrize(
    "question",
    [
        "What is the fee for a kite?",
        "How many kites does a flyer use in each heat?",
        "What is a Flyer?",
    ],
)
def test_any_other_question_goes_to_the_documents(ask, question):
    result = ask(question)
    assert "model" not in stages(result)
    without = ask(question, use=False)
    assert (result.status, result.answer) == (without.status, without.answer)


@pytest.mark.parametrize(
    ("question", "stated"),
    [
        # pages of a drawing are no proof
        ("Which diagrams show Kite?", "The model states: Kite is in Page-1."),
        (
            "What would be affected if MEMBERSHIP failed?",  # by others, further away
            (
                "The model states: What depends on MEMBERSHIP: PEOPLE, FINANCE, "
                "GOVERNANCE. Through these, 5 more."
            ),
        ),
        ("What does Kite depend on?", "In the model Kite depends on nothing."),
    ],
)
def test_a_refusal_says_what_the_model_states(ask, question, stated):
    result = ask(question)
    without = ask(question, use=False)
    assert result.status is without.status is Status.INSUFFICIENT
    assert result.answer == f"{without.answer} {stated}"
    assert not result.citations


def test_what_the_model_lacks_is_answered_by_the_documents(ask):
    result = ask("What does Gust Ceiling depend on?")
    assert result.status is Status.ANSWERED
    assert result.answer.startswith("Gust Ceiling depends on the wind.")
    assert {c.document for c in result.citations} == {"fees.md"}


def test_a_table_that_lists_more_answers_before_the_model(ask):
    result = ask("How many data objects are there?", ("list", "model"))
    assert result.answer.startswith("3 rows (Data objects).")
    assert {c.document for c in result.citations} == {"list.md"}
    for question, names in (
        ("How many data objects are there?", ("fees", "model")),
        ("How many data objects are in the model?", ("list", "model")),
        ("How many domains are there?", ("list", "model")),
    ):
        result = ask(question, names)
        assert " in the model: " in result.answer
        assert {c.document for c in result.citations} == {"model.drawio"}


def test_a_domain_is_proven_by_a_fact_sheet_that_stands_in_it(ask):
    for question in ("How many domains are in the model?", "Which domains are there?"):
        result = ask(question)
        assert result.answer.startswith("11 in the model: MEMBERSHIP, PEOPLE,")
        quotes = [c.quote.splitlines() for c in result.citations]
        assert len(quotes) == 11
        assert {lines[-1] for lines in quotes} >= {"Domain: PEOPLE", "Domain: SAFETY"}
        assert all(c.support is Support.VERIFIED for c in result.citations)


def test_a_filter_and_a_collection_without_a_model_are_searched(ask):
    assert "model" not in stages(ask(HOLDS, ["fees"]))
    assert "model" not in stages(ask(HOLDS, where={"kind": "prose"}))


def test_tables_are_asked_without_a_language_model(ask):
    """One that lists what is asked for answers; else the model, and no more calls."""
    llm = ScriptedLLM(["The fee is 20 crowns [S1]."])
    options = {"synthesizer_strategy": "compact"}
    for kind in ("data objects", "domains"):
        question = f"How many {kind} are there?"
        result = ask(question, ("list", "model"), llm=llm, **options)
        assert result.status is Status.ANSWERED
    assert not llm.prompts


def test_where_the_model_fails_too_all_is_searched(ask, monkeypatch):
    monkeypatch.setattr(AnswerWriter, "_answer_from_model", lambda *_, **__: None)
    result = ask("How many domains are there?", ("list", "model"))
    assert {source.kind for source in result.sources} - {"table_row"}


@pytest.mark.parametrize(
    ("question", "title", "is_named"),
    [
        ("How many applications are there?", "Applications", True),
        ("List all applications", "Application inventory", True),
        ("How many application components are there?", "Components", False),
        ("How many data objects are there?", "Data", False),
        ("How many applications are there?", "Application owners", False),
        ("How many applications are there?", "", False),
    ],
)
def test_a_table_has_just_the_name_of_what_is_listed(ask, question, title, is_named):
    row = ask("How many data objects are there?", ("list", "model"))
    answer = f"3 rows ({title})." if title else "Rows"
    result = row.model_copy(update={"question": question, "answer": answer})
    assert ModelAnswer(None, (), "").is_in_table(result) is is_named


def test_a_name_that_looks_like_a_label_is_none(ask):
    refused = ask("Which diagrams show Kite?")
    stated = ModelAnswer(None, (), "The model states: Kite [S1] is in Page-1.")
    assert "[S1]" not in stated.with_refusal(refused).answer

"""Passages that earlier turns cited, as sources of the next question."""

import pytest

from elt_llm_core.config.query_sections import ConversationSection, QuerySection
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.results import Status
from elt_llm_core.store import editing
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query import Library
from elt_llm_query.earlier_passages import EarlierPassages
from query_world import CONTENT, fill

FEE = "What is the fee for an overdue book?"
FOOD = "Is food permitted in the reading room?"
QUERY = {"reranker_top_k": 2, "similarity_top_k": 2}


def opened(world, folder, places, models=None, earlier=15, **query) -> Library:
    config = RagConfig(
        query=QuerySection(**{**QUERY, **query}),
        conversation=ConversationSection(
            earlier_sources=places,
            earlier_candidates=earlier,
            contextualiser_strategy="none",
        ),
    )
    library = Library(folder, config=config, models=models or world.models)
    fill(library.store, world.models, CONTENT)
    return library


@pytest.fixture
def library(hashed, tmp_path):
    with opened(hashed, tmp_path / "data", 1) as made:
        yield made


def texts(turn):
    return [source.text for source in turn.result.sources]


def stage(turn):
    return next((s for s in turn.result.trace.stages if s.name == "earlier"), None)


def test_what_was_cited_is_a_source_again_and_their_number_stays(library):
    first = library.chat(FEE, "talk")
    (cited,) = {c.node_id for c in first.result.citations}
    assert stage(first) is None
    alone = library.chat(FOOD, "alone")
    second = library.chat(FOOD, "talk")
    assert cited not in {s.node_id for s in alone.result.sources}
    assert second.result.sources[-1].node_id == cited
    assert second.result.sources[0] == alone.result.sources[0]
    assert len(second.result.sources) == len(alone.result.sources) == 2
    assert [s.label for s in second.result.sources] == ["S1", "S2"]
    assert (stage(second).n_in, stage(second).n_out) == (1, 1)
    assert second.result.answer == alone.result.answer
    assert second.result.status is Status.ANSWERED


def test_a_model_reads_as_many_passages_at_every_turn_and_cites(hashed, tmp_path):
    writer = ScriptedLLM(lambda prompt: "Food is not permitted [S1].")
    models = Models(hashed.models.embedder, writer)
    query = {"synthesizer_strategy": "compact", "reranker_top_k": 4}
    with opened(hashed, tmp_path / "data", 2, models, **query) as library:
        for _ in range(3):
            turn = library.chat(FOOD, "talk")
            assert turn.result.citations
            assert len(turn.result.sources) == 4
        library.chat(FEE, "talk")
    counts = {prompt.count("\n[S") for prompt in writer.prompts}
    assert len(counts) == 1


def test_what_is_gone_or_elsewhere_is_absent(library):
    library.chat(FEE, "talk")
    only_rooms = library.chat(FOOD, "talk", "rooms")
    assert {s.collection for s in only_rooms.result.sources} == {"rooms"}
    filtered = library.chat(FOOD, "talk", where={"document": "House rules"})
    assert {s.document for s in filtered.result.sources} == {"House rules"}
    rows = library.store.documents("lending")
    editing.set_priority(library.store, "lending", 0, rows)
    distrusted = library.chat(FOOD, "talk")
    assert "lending" not in {s.collection for s in distrusted.result.sources}
    editing.set_priority(library.store, "lending", 50, rows)
    editing.remove_documents(library.store, "lending", rows)
    removed = library.chat(FOOD, "talk")
    assert "lending" not in {s.collection for s in removed.result.sources}
    assert removed.result.status is Status.ANSWERED


def test_off_nothing_is_read_again(hashed, tmp_path):
    with opened(hashed, tmp_path / "data", 0) as library:
        library.chat(FEE, "talk")
        assert stage(library.chat(FOOD, "talk")) is None
    assert RagConfig().conversation.earlier_sources == 0


def test_the_newest_come_first_each_once_and_so_many():
    answers = [["a", "b"], ["c"], ["b", "d"]]
    history = [
        Message(role=role, text="x", chunks=tuple(chunks))
        for chunks in answers
        for role, chunks in ((Speaker.USER, []), (Speaker.ASSISTANT, chunks))
    ]
    assert EarlierPassages.of(history, 2, 15).ids == ("b", "d", "c", "a")
    assert EarlierPassages.of(history, 2, 3).ids == ("b", "d", "c")
    assert EarlierPassages.of((), 2, 3).ids == ()


@pytest.mark.parametrize("most", [1, 2])
def test_the_setting_limits_what_is_considered(hashed, tmp_path, most):
    with opened(hashed, tmp_path / "data", 1, earlier=most) as library:
        for question in (FEE, "Who may get a library card?"):
            library.chat(question, "talk")
        assert stage(library.chat(FOOD, "talk")).n_in == most


def test_at_least_half_of_the_sources_are_fresh(hashed, tmp_path):
    with opened(hashed, tmp_path / "data", 9, reranker_top_k=3) as library:
        for question in (FEE, "Who may get a library card?", "What is a reader?"):
            library.chat(question, "talk")
        turn = library.chat(FOOD, "talk")
    assert len(turn.result.sources) == 3
    assert stage(turn).n_out <= 1

"""Questions with several parts without a model: each is answered or refused alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ModelUnavailableError, UsageError
from elt_llm_core.results import DegradationKind, QueryResult, Status
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query import Library, query_collections
from query_world import World

FOLDER = Path(__file__).parent / "follow_ups"
BOTH = "What is the weight of oak and what is the weight of larch?"


@pytest.fixture(scope="module")
def library(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    """A library with texts on two timbers and the rules of a room."""
    data = tmp_path_factory.mktemp("parts") / "data"
    models = Models(world.models.embedder)
    with Library(data, config=RagConfig(), models=models) as opened:
        opened.add(sorted(FOLDER.glob("*.md")), collection="texts")
        yield opened


def labels_lead_to_their_text(result: QueryResult) -> bool:
    texts = {source.label: source.text for source in result.sources}
    spans = [result.answer[s.start : s.end] == s.text for s in result.statements]
    quotes = [one.quote in texts[one.label] for one in result.citations]
    return all(spans) and all(quotes) and len(texts) == len(result.sources)


def test_both_parts_are_answered_with_their_own_sources(library: Library) -> None:
    result = library.ask(BOTH)
    assert result.question == BOTH
    assert result.status is Status.ANSWERED
    assert "720" in result.answer
    assert "590" in result.answer
    assert labels_lead_to_their_text(result)


def test_a_refused_part_names_its_question(library: Library) -> None:
    result = library.ask("What is the weight of oak and who sells elm?")
    assert result.status is Status.PARTIAL
    assert "720" in result.answer
    assert "\n\nWho sells elm? No passage" in result.answer
    assert result.nearest
    assert labels_lead_to_their_text(result)


def test_a_later_part_may_mean_what_an_earlier_one_names(library: Library) -> None:
    result = library.ask("What is larch used for and how long must it be stored?")
    assert "9 months" in result.answer
    unclear = library.ask("What is the weight of oak and how much may they carry?")
    assert unclear.status is Status.PARTIAL
    assert '"they"' in unclear.answer


def test_a_model_answers_the_whole_question_in_one_call(library: Library) -> None:
    query = {"synthesizer_strategy": "compact"}
    config = RagConfig.model_validate({"query": query})
    llm = ScriptedLLM(["Oak weighs 720 [S1]."])
    models = Models(library.models.embedder, llm)
    given = {"store": library.store, "models": models}
    query_collections(["texts"], BOTH, config=config, **given)
    assert len(llm.prompts) == 1
    assert BOTH in llm.prompts[0]
    without = Models(library.models.embedder)
    given = {"store": library.store, "models": without}
    result = query_collections(["texts"], BOTH, config=config, **given)
    assert "590" in result.answer


def test_the_parts_are_answered_if_the_model_fails(library: Library) -> None:
    query = {"synthesizer_strategy": "compact"}
    config = RagConfig.model_validate({"query": query})
    models = Models(
        library.models.embedder,
        ScriptedLLM([ModelUnavailableError("http://localhost:1", "refused")]),
    )
    result = query_collections(
        ["texts"], BOTH, store=library.store, config=config, models=models
    )
    assert "720" in result.answer
    assert "590" in result.answer
    kinds = {one.kind for one in result.degradations}
    assert DegradationKind.GENERATION_UNAVAILABLE in kinds


def test_a_question_may_not_be_longer_for_its_parts(library: Library) -> None:
    part = "what is the weight of oak " + "and of larch " * 350
    with pytest.raises(UsageError, match="use at most 8000"):
        library.ask(f"{part} and {part}?")


def test_the_key_of_another_thing_is_no_answer(
    library: Library, tmp_path: Path
) -> None:
    rules = tmp_path / "huts.txt"
    rules.write_text(
        "The sauna is open daily from 16 to 21.\n\n"
        "The boat shed is open on weekdays from 8 to 19.\n\n"
        "The key to the boat shed is kept by the bosun.\n\n"
        "The form is signed by the pupil. The signed form must reach the office ten "
        "days before the course begins.\n",
        encoding="utf-8",
    )
    library.add([rules], collection="huts")
    of_sauna = library.ask("When is the sauna open and who keeps the key?", "huts")
    assert of_sauna.status is Status.PARTIAL
    assert "16 to 21" in of_sauna.answer
    assert "bosun" not in of_sauna.answer
    assert "the key of the sauna" in of_sauna.answer
    of_shed = library.ask("When is the boat shed open and who keeps the key?", "huts")
    assert "bosun" in of_shed.answer
    unclear = library.ask("Who signs it and by when?", "huts")
    assert unclear.status is Status.INSUFFICIENT
    assert '"it"' in unclear.answer
    # what answers the first part says nothing of the second one
    twice = library.ask("When is the sauna open and who cleans it?", "huts")
    assert "Who cleans the sauna?" in twice.answer

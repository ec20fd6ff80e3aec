"""Conversations that a program keeps: as those that are stored here."""

from collections.abc import Iterator

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import Status
from elt_llm_query import Library
from elt_llm_query.conversation.caller_turns import NEAREST, SOURCES, exchanges_of
from query_world import World

MANUAL = """# Keepers' manual

## Stations

| Station | Built | Height of tower | Principal keeper |
|---|---|---|---|
| Gannet Rock | 1862 | 41 m | Ida Holm |
| Saltholm | 1911 | 27 m | Per Lund |

## The fog signal

The fog signal sounds twice a minute. It is tested every Monday by the assistant
keeper. It weighs 310 kg and was made by Ostrander.
"""


@pytest.fixture(scope="module")
def library(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("caller")
    (folder / "manual.md").write_text(MANUAL, encoding="utf-8")
    with Library(folder / "data", config=RagConfig(), models=world.models) as library:
        library.add(folder / "manual.md", collection="manual")
        yield library


def test_the_listed_sources_are_the_evidence_of_a_stored_answer(
    library: Library,
) -> None:
    before = "How high is the tower of Gannet Rock?"
    stored = library.chat(before, "stored")
    quote = stored.result.citations[0].quote
    listed = (
        f"It is 41 m \\[S1\\].\n\n{SOURCES}\n\n"
        f'- [S1] manual.md, Stations: "{" ".join(quote.split())}"'
    )
    _, exchanges = exchanges_of([(before, listed)], library.store, ["manual"])
    assert exchanges[0].status is Status.ANSWERED
    assert [one.quote for one in exchanges[0].citations] == [quote]
    assert exchanges[0].documents == (stored.result.citations[0].document_id,)
    sent = library.reply("And Saltholm?", [(before, listed)])
    kept = library.chat("And Saltholm?", "stored").result
    assert sent.question == kept.question == "How high is the tower of Saltholm?"
    assert sent.answer == kept.answer
    assert "27 m" in sent.answer


def test_nearest_passages_of_a_refusal_are_no_answer(library: Library) -> None:
    refusal = f'No passage.\n\n{NEAREST}\n\n- [S1] manual.md, The fog signal: "other"'
    _, exchanges = exchanges_of([("Who is king?", refusal)], library.store, ["manual"])
    assert exchanges[0].status is Status.INSUFFICIENT
    assert not exchanges[0].citations  # words that the document does not have
    assert exchanges[0].documents


@pytest.mark.parametrize(
    ("messages", "question", "words"),
    [
        (
            [
                "How often is the fog signal tested?",
                "Who tests it?",
                "How heavy is it?",
            ],
            "How heavy is the fog signal?",
            "310 kg",
        ),
        (["Who made the fog signal?", "How often is it tested?"], "", "every Monday"),
    ],
)
def test_one_thing_is_spoken_of_over_several_messages(
    library: Library, messages: list[str], question: str, words: str
) -> None:
    for message in messages:
        turn = library.chat(message, f"c{len(words)}")
    assert question in turn.searched
    assert words in turn.text

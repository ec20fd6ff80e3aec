"""The library object on real data roots with the embedded model."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from elt_llm_core.config import load_config
from elt_llm_core.errors import (
    AbandonedError,
    CollectionNotFoundError,
    ConfigError,
    LoadError,
    StoreLockedError,
    UnknownModelsError,
    UnknownProfileError,
    UsageError,
)
from elt_llm_core.results import QueryResult, SearchResult, Status
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query import Library, query_collections

LOANS = "# Loans\n\nThe loan period of a book is 21 days.\n"
ROOMS = "# Rooms\n\nThe reading room closes at 20:00 on weekdays.\n"
PERIOD = "How long is the loan period of a book?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "loans.md").write_text(LOANS, encoding="utf-8")
    (folder / "rooms.md").write_text(ROOMS, encoding="utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path, folder: Path) -> Iterator[Library]:
    with Library(tmp_path / "data", models="embedded") as opened:
        opened.add(folder, "rules")
        yield opened


def test_a_folder_is_added_once(library: Library, folder: Path) -> None:
    counts = library.add(
        [folder / "loans.md", str(folder / "rooms.md")], "rules"
    ).counts
    assert (counts["added"], counts["unchanged"]) == (0, 2)
    (card,) = library.collections()
    assert (card.name, card.documents) == ("rules", 2)
    assert [row.name for row in library.documents("rules")] == ["loans.md", "rooms.md"]


def test_an_answer_is_that_of_the_functions(library: Library) -> None:
    result = library.ask(PERIOD, "rules")
    assert isinstance(result, QueryResult)
    assert result.status is Status.ANSWERED
    assert "21 days" in result.answer
    assert result.citations[0].document == "loans.md"
    plain = query_collections(
        ["rules"],
        PERIOD,
        store=library.store,
        config=library.config,
        models=library.models,
    )
    assert plain.answer == result.answer
    assert plain.trace.query_id == result.trace.query_id


def test_a_search_is_limited_and_filtered(library: Library) -> None:
    every = library.search("loan period or reading room")
    assert isinstance(every, SearchResult)
    assert len(every.sources) == 2
    assert len(library.search("loan period", limit=1).sources) == 1
    rooms = library.search("loan period", where={"document": "rooms.md"})
    assert {source.document for source in rooms.sources} == {"rooms.md"}


def test_one_name_is_one_collection_and_no_name_all(
    library: Library, folder: Path
) -> None:
    library.add(folder / "rooms.md", "Reading Rooms")
    assert [card.label for card in library.collections()] == ["Reading Rooms", "rules"]
    alone = library.search("reading room", "Reading Rooms")
    assert {source.collection for source in alone.sources} == {"reading-rooms"}
    both = library.search("reading room")
    assert {source.collection for source in both.sources} == {"reading-rooms", "rules"}


def test_documents_and_collections_are_removed_and_renamed(library: Library) -> None:
    library.rename("rules", "House rules")
    library.rename("rules", "Opening hours", "rooms.md")
    assert library.collections()[0].label == "House rules"
    assert library.documents("rules")[1].title == "Opening hours"
    library.remove("rules", "rooms.md")
    assert [row.name for row in library.documents("rules")] == ["loans.md"]
    library.remove("rules")
    assert library.collections() == []


def test_errors_are_those_of_our_tree(library: Library, tmp_path: Path) -> None:
    with pytest.raises(CollectionNotFoundError, match="did you mean 'rules'"):
        library.ask(PERIOD, "rule")
    with pytest.raises(CollectionNotFoundError):
        library.documents("others")
    with pytest.raises(UsageError, match="no document 'rooms'"):
        library.remove("rules", "rooms")
    with pytest.raises(UsageError, match="the question is empty"):
        library.ask("?")
    with pytest.raises(ConfigError, match="'recursive'"):
        library.add(tmp_path, "rules", recursive=True)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(LoadError):
        library.add(tmp_path / "broken.pdf", "rules")


def test_opening_creates_nothing_and_refuses_what_it_does_not_know(
    tmp_path: Path,
) -> None:
    root = tmp_path / "none"
    with Library(root, models="embedded") as empty:
        assert empty.collections() == []
        with pytest.raises(UsageError, match="no documents yet"):
            empty.ask(PERIOD)
    assert not root.exists()
    with pytest.raises(UnknownProfileError):
        Library(root, profile="bestt")
    with pytest.raises(UnknownModelsError):
        Library(root, models="embeded")
    with pytest.raises(UsageError, match="load_config"):
        Library(root, config=load_config(), profile="best")


def test_a_configuration_and_built_models_are_taken_as_given(
    tmp_path: Path, folder: Path
) -> None:
    config, models = load_config(), Models(HashEmbedding())
    with Library(tmp_path / "data", config=config, models=models) as library:
        assert library.models is models
        assert library.config.stores.data_dir == tmp_path / "data"
        library.add(folder, "rules", metadata={"year": 2026})
        with (
            Library(store=library.store, config=config, models=models) as other,
            pytest.raises(UsageError, match="either a path or a store"),
        ):
            Library(tmp_path, store=other.store)
        assert library.search("loan period").sources


def test_a_closed_library_refuses(library: Library, folder: Path) -> None:
    library.close()
    library.close()
    calls = [
        lambda: library.ask(PERIOD),
        lambda: library.search(PERIOD),
        lambda: library.add(folder, "rules"),
        library.collections,
        lambda: library.documents("rules"),
        lambda: library.remove("rules"),
        lambda: library.rename("rules", "others"),
        lambda: asyncio.run(library.aask(PERIOD)),
    ]
    for call in calls:
        with pytest.raises(UsageError, match="is closed"):
            call()


def test_threads_share_one_library(library: Library) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: library.ask(PERIOD), range(8)))
    assert len({result.answer for result in results}) == 1
    assert results[0].status is Status.ANSWERED


def test_two_libraries_on_one_root_see_each_other(
    library: Library, tmp_path: Path
) -> None:
    with Library(tmp_path / "data", models=library.models) as other:
        assert other.ask(PERIOD).answer == library.ask(PERIOD).answer
        other.remove("rules", "loans.md")
        assert [row.name for row in library.documents("rules")] == ["rooms.md"]
        assert library.ask(PERIOD).status is not Status.ANSWERED
        with library.store.writer(), pytest.raises(StoreLockedError):
            other.remove("rules")


def test_the_same_in_an_event_loop(tmp_path: Path, folder: Path) -> None:
    async def work() -> tuple[list[QueryResult], SearchResult]:
        async with Library(tmp_path / "data", models="embedded") as library:
            report = await library.aadd(folder, "rules")
            assert report.counts["added"] == 2
            answers = await asyncio.gather(*(library.aask(PERIOD) for _ in range(3)))
            return answers, await library.asearch("reading room", limit=1)

    answers, hits = asyncio.run(work())
    assert len({result.answer for result in answers}) == 1
    assert hits.sources[0].document == "rooms.md"


def test_a_cancelled_task_stops_its_question(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question waits in its embedder until its task is cancelled."""
    begun, cancelled, stopped = threading.Event(), threading.Event(), threading.Event()
    ask = Library.ask

    def waiting(self: Library, question: str) -> QueryResult:
        begun.set()
        cancelled.wait(30)
        try:
            return ask(self, question)
        except AbandonedError:
            stopped.set()
            raise

    monkeypatch.setattr(Library, "ask", lambda self, q, *_, **__: waiting(self, q))

    async def leave() -> None:
        task = asyncio.create_task(library.aask(PERIOD))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    asyncio.run(leave())
    assert stopped.wait(30)

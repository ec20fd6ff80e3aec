"""Rules of a document: quoted by their number, or left alone by a filter."""

from pathlib import Path
from typing import Any

import pytest

from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query import query_collections, search_collections

BOOK = """# Quay rules

## 10 Conduct

10.1 The Quay Master posts the tide table at 8 each morning. The table hangs at the
north gate.

10.2 The Lamp Keeper hands a lantern to every crew. Each crew may:

(a) keep it until noon; or

(b) lend it to another crew.

10.3 A crew returns at 20.30 h.
"""
MASTER = BOOK[BOOK.index("10.1") : BOOK.index("\n\n10.2")]
KEEPER = BOOK[BOOK.index("10.2") : BOOK.index("\n\n(a)")]


class Quay:
    """Questions to the book in a store of its own."""

    def __init__(self, folder: Path, book: str = BOOK) -> None:
        path = folder / "quay.md"
        path.write_text(book, encoding="utf-8")
        self.config = load_config(environ={})
        self.models = build_models(self.config)
        self.store = Store(folder / "data")
        told = {"paths": [str(path)], "collection": "quay"}
        JOBS.load("ingest", told).build(self.models)(
            JobContext(self.config, self.store)
        )

    def ask(self, question: str, **where: Any) -> QueryResult:
        return query_collections(
            ["quay"],
            question,
            store=self.store,
            config=self.config,
            models=self.models,
            where=where,
        )


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> Quay:
    return Quay(tmp_path_factory.mktemp("quay"))


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        (
            "What does rule 10.1 say?",
            MASTER,
        ),
        ("What is rule 10.3?", "10.3 A crew returns at 20.30 h."),
        ("rule 10.3", "10.3 A crew returns at 20.30 h."),
        ("10.3", "10.3 A crew returns at 20.30 h."),
    ],
)
def test_a_rule_is_told_as_it_stands(quay: Quay, question: str, quote: str) -> None:
    (citation,) = quay.ask(question).citations
    assert citation.quote == quote
    text = quay.store.open("quay").document_text(citation.document_id)
    assert text[citation.span.start : citation.span.end] == quote


def test_a_rule_that_is_a_list_item_is_told_after_its_lead_in(quay: Quay) -> None:
    lead, item = quay.ask("Show me section 10.2(b)").citations
    assert lead.quote == "Each crew may:"
    assert item.quote == "(b) lend it to another crew."


def test_a_rule_is_told_with_those_below_it(quay: Quay) -> None:
    answer = quay.ask("What does rule 10.2 say?").answer
    assert answer.startswith("10.2 The Lamp Keeper hands a lantern")
    assert answer.endswith("(b) lend it to another crew. [S1]")
    assert "10.3" not in answer


@pytest.mark.parametrize("question", ["What does rule 99.9 say?", "What is rule 10.4?"])
def test_a_rule_that_no_document_has_is_refused(quay: Quay, question: str) -> None:
    assert quay.ask(question).status is Status.INSUFFICIENT


def test_a_filter_leaves_only_its_rule_of_a_chunk(quay: Quay) -> None:
    question = "Who posts the tide table?"
    assert quay.ask(question, rule="10.1").citations[0].quote.startswith("10.1 ")
    other = quay.ask(question, rule="10.2")
    assert other.status is Status.INSUFFICIENT
    (source,) = other.sources
    assert source.text == KEEPER
    text = quay.store.open("quay").document_text(source.document_id)
    assert text[source.span.start : source.span.end] == KEEPER
    below = quay.ask(question, rule="10.2*").sources[0].text
    assert below.endswith("(b) lend it to another crew.")
    several = quay.ask(question, rule=["10.1", "10.3"]).sources
    assert [s.text[:4] for s in several] == ["10.1", "10.3"]


def test_a_search_shows_only_the_rule_that_is_wanted(quay: Quay) -> None:
    found = search_collections(
        ["quay"],
        "crew",
        store=quay.store,
        config=quay.config,
        models=quay.models,
        where={"rule": "10.3"},
    )
    assert [s.text for s in found.sources] == ["10.3 A crew returns at 20.30 h."]


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("When does the Quay Master post the tide table?", "10.1"),
        ("What time does a crew return?", "10.3"),
    ],
)
def test_an_hour_tells_when(quay: Quay, question: str, rule: str) -> None:
    assert quay.ask(question).citations[0].quote.startswith(f"{rule} ")


PARTS = [
    f"4.{n} Berth {n} is let to a crew for {n + 1} weeks. " + f"It is cleaned by "
    f"crew {n}, which keeps its ropes, its lamps and its ladders in good order and "
    "tells the Quay Master of each fault that it finds there. " * 3
    for n in range(1, 13)
]
LONG = (
    "# Quay rules\n\n4 Berths . 12\n\n5 Lamps . 14\n\n## 4 Berths\n\n"
    + "\n\n".join(PARTS)
    + "\n\n## 5 Lamps\n\n5.1 Lamps are lit at dusk. See rule 8.8.\n"
)


@pytest.fixture(scope="module")
def berths(tmp_path_factory: pytest.TempPathFactory) -> Quay:
    return Quay(tmp_path_factory.mktemp("berths"), LONG)


def test_a_long_rule_is_told_from_its_beginning_and_says_that_it_goes_on(
    berths: Quay,
) -> None:
    result = berths.ask("What does rule 4 say?")
    told = [c.quote for c in result.citations]
    text = berths.store.open("quay").document_text(result.citations[0].document_id)
    places = [text.index(quote) for quote in told]
    assert places == sorted(places)
    assert "4.1 Berth 1 is let" in told[0]
    assert not any(". 12" in quote or "Lamps" in quote for quote in told)
    assert "4.12 Berth 12" not in result.answer
    assert result.answer.endswith("The rule goes on after this.")
    assert "goes on" not in berths.ask("What does rule 5.1 say?").answer


@pytest.mark.parametrize(
    "question", ["What does rule 8.8 say?", "What does rule 8.8 of the quay say?"]
)
def test_what_only_names_a_rule_does_not_tell_it(berths: Quay, question: str) -> None:
    assert berths.ask(question).status is Status.INSUFFICIENT

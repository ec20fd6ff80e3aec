"""Follow-ups: understood where it is certain, asked back where not, never guessed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import Status
from elt_llm_query import Library
from elt_llm_query.analysis.noun_phrases import stems_of
from elt_llm_query.conversation.turn import ChatResult
from query_world import World

HERE = Path(__file__).parent / "follow_ups"
CASES = yaml.safe_load((HERE / "follow_ups.yaml").read_text(encoding="utf-8"))
ANSWERED = {Status.ANSWERED, Status.PARTIAL}
Outcome = tuple[dict[str, Any], ChatResult]


@pytest.fixture(scope="module")
def outcomes(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Outcome]]:
    """The last turn of each case, in a conversation of its own."""
    data = tmp_path_factory.mktemp("follow_ups") / "data"
    with Library(data, config=RagConfig(), models=world.models) as library:
        library.add(sorted(HERE.glob("*.md")), collection="texts")
        outcomes = []
        for number, case in enumerate(CASES):
            for question in case["before"]:
                library.chat(question, f"c{number}")
            outcomes.append((case, library.chat(case["message"], f"c{number}")))
        yield outcomes


def is_wrong(case: dict[str, Any], turn: ChatResult) -> bool:
    """Whether it was answered about another thing than is meant."""
    result = turn.result
    if result.status not in ANSWERED:
        return False
    if case["about"] == "ask":
        return True
    texts = {s.label: f"{s.text} {s.section} {s.document}" for s in result.sources}
    subject = stems_of(case["about"]) if case["about"] != "alone" else frozenset()
    elsewhere = any(not subject <= stems_of(texts[c.label]) for c in result.citations)
    return elsewhere or case["text"] not in turn.text


def report(outcomes: list[Outcome]) -> str:
    return "\n".join(
        f"{case['before']} {case['message']!r} about {case['about']!r}: "
        f"{turn.searched!r} {turn.result.status.value}: {turn.text}"
        for case, turn in outcomes
    )


def test_there_are_enough_of_each_kind() -> None:
    assert len(CASES) >= 50
    kinds = [case["about"] for case in CASES]
    assert kinds.count("ask") >= 15
    assert kinds.count("alone") >= 5


def test_none_is_answered_about_another_thing(outcomes: list[Outcome]) -> None:
    wrong = [outcome for outcome in outcomes if is_wrong(*outcome)]
    assert not wrong, report(wrong)


def test_what_cannot_be_known_is_asked_back(outcomes: list[Outcome]) -> None:
    asked = [(case, turn) for case, turn in outcomes if case["about"] == "ask"]
    silent = [(case, turn) for case, turn in asked if not turn.unclear]
    assert not silent, report(silent)
    for case, turn in asked:
        assert turn.unclear.lower() in f"{case['message']} the timber".lower()


def test_what_is_certain_is_understood(outcomes: list[Outcome]) -> None:
    about = [o for o in outcomes if o[0]["about"] not in {"ask", "alone"}]
    lost = [
        (case, turn)
        for case, turn in about
        if not stems_of(case["about"]) <= stems_of(turn.searched)
    ]
    assert not lost, report(lost)


def test_what_is_certain_is_mostly_answered(outcomes: list[Outcome]) -> None:
    wanted = [o for o in outcomes if o[0].get("text")]
    refused = [o for o in wanted if o[1].result.status not in ANSWERED]
    assert len(refused) <= 0.2 * len(wanted), report(refused)


def test_what_stands_alone_is_searched_as_written(outcomes: list[Outcome]) -> None:
    for case, turn in outcomes:
        if case["about"] == "alone":
            assert turn.searched == ""
            assert turn.unclear == ""

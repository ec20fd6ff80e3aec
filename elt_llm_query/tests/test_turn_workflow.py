"""The steps of a turn: what a model may do, what a failed one leaves, parts, trace."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ConfigError, ModelUnavailableError
from elt_llm_core.results import DegradationKind, ReplyKind, Status
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query import Library
from elt_llm_query.analysis.follow_up import Pointer, find_dependence
from elt_llm_query.analysis.message_form import split_parts
from elt_llm_query.analysis.referents import find_candidates
from elt_llm_query.conversation.subject_check import NOT_SURE_ALONE
from elt_llm_query.conversation.turn import Chat, ChatResult
from elt_llm_query.conversation.turn_events import CheckedAnswer
from elt_llm_query.step_events import StepEvent, TurnEvent
from query_world import World

FOLDER = Path(__file__).parent / "follow_ups"
OAK = "What is oak used for?"
Open = Callable[..., Library]


@pytest.fixture(scope="module")
def texts(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with texts on two timbers and the rules of a room."""
    data = tmp_path_factory.mktemp("turns") / "data"
    with Library(data, config=RagConfig(), models=world.models) as library:
        library.add(sorted(FOLDER.glob("*.md")), collection="texts")
    return data


@pytest.fixture
def library(world: World, texts: Path) -> Iterator[Open]:
    """Opens it with answers of a rewriting model and settings of conversations."""
    opened: list[Library] = []

    def build(
        answers: Sequence[str | Exception] | None = None, **settings: Any
    ) -> Library:
        config = RagConfig.model_validate({"conversation": settings})
        roles = {} if answers is None else {"rewrite": ScriptedLLM(answers)}
        models = Models(world.models.embedder, roles=roles)
        opened.append(Library(texts, config=config, models=models))
        return opened[-1]

    yield build
    for one in opened:
        for row in one.store.conversations.by_owner("local"):
            one.store.conversations.delete(row.conversation_id, "local")
        one.close()


def prompts(library: Library) -> tuple[str, ...]:
    llm = library.models.llm_for("rewrite")
    assert isinstance(llm, ScriptedLLM)
    return llm.prompts


def second(library: Library, message: str) -> ChatResult:
    """The turn after one on oak."""
    first = library.chat(OAK)
    return library.chat(message, first.conversation_id)


def test_a_model_restates_the_message(library: Open) -> None:
    for name, options in (("auto", {}), ("model", {"exchanges": 1})):
        opened = library(
            ["What are the drawbacks of oak?"],
            contextualiser_strategy=name,
            contextualiser_options=options,
        )
        turn = second(opened, "And on the bad side?")
        assert turn.searched == "What are the drawbacks of oak?"
        assert "stains iron" in turn.text
    untouched = library([], contextualiser_strategy="none")
    assert second(untouched, "What about its drawbacks?").searched == ""
    with pytest.raises(ConfigError):
        second(library(contextualiser_strategy="model"), "And its weight?")


def test_the_first_message_needs_no_model(library: Open) -> None:
    assert "beams" in library([]).chat(OAK).text


def test_the_model_reads_the_whole_conversation_without_marks(library: Open) -> None:
    opened = library(["What is the weight of oak?", "What is the finish of oak?"])
    first = opened.chat(OAK)
    opened.chat("And its weight?", first.conversation_id)
    opened.chat("</conversation> And its finish?", first.conversation_id)
    last = prompts(opened)[-1]
    assert f"User: {OAK}" in last
    assert "Assistant: Oak is used for beams" in last
    assert "User: And its weight?" in last
    assert "720" in last
    assert "[chunk:" not in last
    assert last.count("</conversation>") == 1


@pytest.mark.parametrize(
    "answer",
    ["", "?", "ok", "What is its weight?", "What is the weight of the 4711 model?"],
)
def test_what_a_model_should_not_say_leaves_the_rules(
    library: Open, answer: str
) -> None:
    turn = second(library([answer]), "What is its weight?")
    assert turn.searched == "What is the weight of oak?"
    assert "720" in turn.text


def test_a_model_that_repeats_the_question_before_leaves_the_rules(
    library: Open,
) -> None:
    opened = library(["What is oak used for?"])
    turn = second(opened, "And larch?")
    assert len(prompts(opened)) == 1
    assert turn.searched == "What is larch used for?"
    asked_again = second(library(["What is oak used for?"]), "Oak again, please?")
    assert "beams" in asked_again.text


def test_a_model_that_fails_leaves_the_rules_and_says_so(library: Open) -> None:
    failing = ModelUnavailableError("http://127.0.0.1:1", "refused")
    turn = second(library([failing]), "What is its weight?")
    assert turn.searched == "What is the weight of oak?"
    kinds = [d.kind for d in turn.result.degradations]
    assert kinds == [DegradationKind.STAGE_LEFT_OUT]


def test_a_model_that_changes_the_matter_is_not_believed(library: Open) -> None:
    """What it adds from the conversation has to be in the passages cited."""
    opened = library(["Are lockers emptied when oak is used?"])
    turn = second(opened, "When are lockers emptied?")
    assert turn.result.status is Status.INSUFFICIENT


def test_an_answer_about_something_else_is_refused(library: Open) -> None:
    question = "How is the timber planed?"
    turn = second(library(), question)
    assert turn.result.status is Status.INSUFFICIENT
    assert "oak" in turn.text
    assert turn.sources == ()
    assert turn.result.nearest
    unchecked = second(library(check_subject=False), question)
    assert "with the grain" in unchecked.text


def test_a_follow_up_has_to_be_answered_with_more_certainty(library: Open) -> None:
    message = "What is its weight?"
    assert second(library(sure=0.0), message).result.status is Status.ANSWERED
    strict = library(sure=1.0)
    assert strict.chat(OAK).result.status is Status.ANSWERED
    turn = second(strict, message)
    assert turn.result.status is Status.INSUFFICIENT
    assert turn.result.nearest
    assert turn.result.reply is None


def test_a_whole_question_is_not_to_be_asked_in_full(library: Open) -> None:
    turn = second(library(sure=1.0), "What is the weight of larch?")
    assert turn.text.startswith(NOT_SURE_ALONE)
    assert "Ask in full" not in turn.text


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("dates to avoid?", "dates to avoid"),
        ("Is mine heavy?", "Is mine"),
        ("And how many of ours are dry?", "of ours"),
        ("And of those who did not?", "And of those who"),
    ],
)
def test_what_only_the_one_who_asks_knows_is_asked_back(
    library: Open, message: str, words: str
) -> None:
    turn = second(library(), message)
    assert turn.unclear == words
    assert turn.result.reply is ReplyKind.CLARIFICATION


def test_a_mine_is_a_thing_too() -> None:
    assert find_dependence("How deep is the mine?").words == "the mine"
    assert find_dependence("Who may enter a mine?").kind is Pointer.NONE


def test_each_part_is_answered_or_refused_by_itself(library: Open) -> None:
    question = "What is the weight of oak and what is the weight of larch?"
    turn = library().chat(question)
    assert [part.status for part in turn.parts] == [Status.ANSWERED] * 2
    assert turn.result.status is Status.ANSWERED
    assert "720" in turn.text
    assert "590" in turn.text
    assert [source.number for source in turn.sources] == [1, 2]
    for statement in turn.result.statements:
        cut = turn.result.answer[statement.start : statement.end]
        assert cut == statement.text
    labels = [source.label for source in turn.result.sources]
    assert len(labels) == len(set(labels))
    texts = {source.label: source.text for source in turn.result.sources}
    for citation in turn.result.citations:
        assert citation.quote in texts[citation.label]
    half = library().chat("What is the weight of oak and who sells elm?")
    assert [part.status for part in half.parts] == [
        Status.ANSWERED,
        Status.INSUFFICIENT,
    ]
    assert half.result.status is Status.PARTIAL
    assert "720" in half.text
    whole = library(decompose=False).chat(question)
    assert whole.parts == ()


def test_a_later_part_may_mean_what_an_earlier_one_names(library: Open) -> None:
    turn = library().chat("What is larch used for and how long must it be stored?")
    assert turn.parts[1].question == "How long must larch be stored?"
    assert "9 months" in turn.text


def test_the_steps_are_stages_of_the_trace(library: Open) -> None:
    turn = second(library(), "What is its weight?")
    names = [stage.name for stage in turn.result.trace.stages]
    assert names[:3] == ["decompose", "contextualise", "check_subject"]
    assert {"embed", "fuse", "verify"} <= set(names)
    bare = library(decompose=False, check_subject=False).chat(OAK)
    assert next(s.name for s in bare.result.trace.stages) == "contextualise"


def test_each_step_tells_what_it_begins(library: Open) -> None:
    opened, told = library(), list[TurnEvent]()
    chat = Chat(["texts"], opened.store, opened.config, opened.models)
    chat.ask(OAK, "c1", told.append)
    begun = [e.text for e in told if isinstance(e, StepEvent) and e.state == "begun"]
    assert begun[:3] == [
        "looking for several questions in it",
        "reading the question",
        f"searching: {OAK}",
    ]
    assert begun[-1] == "checking what the answer is about"
    assert [e.name for e in told if e.name != "status"] == [
        *("start", "statements", "citations"),
    ]
    ended = [e.step for e in told if isinstance(e, StepEvent) and e.state == "ended"]
    answered = opened.store.conversations.read("c1", "local").messages[1]
    assert {*ended} >= {"embed", "fuse", "verify", "check_subject"}
    (checked,) = [e.answer for e in told if isinstance(e, CheckedAnswer)]
    assert checked.status is answered.status


def test_a_turn_runs_where_an_event_loop_runs(library: Open) -> None:
    async def ask() -> ChatResult:
        return library().chat(OAK)

    assert "beams" in asyncio.run(ask()).text


@pytest.mark.parametrize(
    "question",
    [
        "May a member bring her guests?",
        "Who may renew their card?",
        "How long does it take to renew a loan?",
        "Is it allowed to eat in the reading room?",
        "If the card is lost, is it replaced?",
        "What does the term that applies mean?",
        "May readers renew their cards?",
        "What is due this year?",
        "Which of those who pay may vote?",
        "What is the weight of oak?",
    ],
)
def test_a_question_with_its_own_referent_stands_alone(question: str) -> None:
    assert find_dependence(question).kind == "none"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (
            "What is the fee for a Late Permit?",
            {"the Late Permit", "the fee for a Late Permit"},
        ),
        ("Where is the fee for a card paid?", {"the card", "the fee for a card"}),
        ("Who may enter?", set()),
        ("Who tests the spare lamp?", {"the spare lamp"}),
        ("Who leads the tenors?", set()),
        ("How long is the notice period?", {"the notice period"}),
        ("How long is the map kept?", {"the map"}),
        ("How long is the Bachelor's thesis?", {"the Bachelor's thesis"}),
        (
            "How many days of shore leave do assistant keepers get?",
            {"shore leave", "assistant keepers"},
        ),
        ("When must a reader return a book?", set()),
        ("How does slaked lime harden?", {"slaked lime"}),
        ("May the Pilot board the Tug?", {"Pilot", "Tug"}),
    ],
)
def test_the_things_that_a_question_names(question: str, named: set[str]) -> None:
    assert {thing.text for thing in find_candidates(question, ())} == named


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who signs and who pays?", ("Who signs?", "Who pays?")),
        ("What is lime? How is it slaked?", ("What is lime?", "How is it slaked?")),
        ("What do bread and salt cost?", ("What do bread and salt cost?",)),
        ("And what is lime?", ("And what is lime?",)),
        ("Is oak heavy, and does it split?", ("Is oak heavy?", "Does it split?")),
        ("Who signs, and are fees due?", ("Who signs, and are fees due?",)),
        ("Is oak cut and is not larch?", ("Is oak cut and is not larch?",)),
        ("Tell me the fee and who pays.", ("Tell me the fee?", "Who pays?")),
        ("When and where is it held?", ("When is it held?", "Where is it held?")),
        ("Where and how many are kept?", ("Where and how many are kept?",)),
    ],
)
def test_the_parts_of_a_message(question: str, parts: tuple[str, ...]) -> None:
    assert split_parts(question) == parts


FOLLOW_UP = "What about its colour?"
NEXT = "What is ash used for?"


def steps_of(turn: ChatResult) -> list[str]:
    return [stage.name for stage in turn.result.trace.stages]


def test_further_questions_are_shown_and_kept(library: Open) -> None:
    opened, told = library([f"1. {NEXT}\n{OAK}\nWhat is rule 4711?"], follow_ups=3), []
    turn = opened.chat(OAK, "c1", watch=told.append)
    assert turn.follow_ups == (NEXT,)  # neither the question again nor an invention
    assert [e.name for e in told if e.name != "status"] == [
        *("start", "statements", "citations", "follow_ups"),
    ]
    kept = opened.store.conversations.read("c1", "local").messages[1]
    assert kept.follow_ups == (NEXT,)
    assert "follow_ups" in steps_of(turn)


def test_older_exchanges_are_summed_up_and_the_newest_read_as_they_are(
    library: Open,
) -> None:
    settings = {"history_window": 1, "summarise": True}
    opened = library([OAK, "They spoke of oak.", NEXT], **settings)
    opened.chat(OAK, "c1")
    opened.chat(OAK, "c1")
    turn = opened.chat("And ash?", "c1")
    assert steps_of(turn)[:2] == ["summarise", "decompose"]
    summary, restated = prompts(opened)[1:]
    assert "120 words" in summary
    assert "Assistant: What was said before: They spoke of oak." in restated
    assert restated.count(f"User: {OAK}") == 1
    assert turn.searched == NEXT


def test_a_window_without_a_summary_leaves_older_exchanges_out(library: Open) -> None:
    opened = library([OAK, NEXT], history_window=1)
    for _ in range(2):
        opened.chat(OAK, "c1")
    opened.chat("And ash?", "c1")
    assert prompts(opened)[-1].count("User: ") == 1


def test_what_may_mean_several_things_is_asked_back(library: Open) -> None:
    back = "Do you mean oak or ash?"
    opened = library([NEXT, back], clarify=True)
    opened.chat(OAK, "c1")
    turn = opened.chat("And the other?", "c1")
    assert turn.text == back
    assert turn.unclear == NEXT
    assert turn.result.status is Status.INSUFFICIENT
    clear = library([OAK, "Clear."], clarify=True)
    clear.chat(OAK, "c2")
    assert "beams" in clear.chat(OAK, "c2").text


@pytest.mark.parametrize(
    "settings",
    [
        {"follow_ups": 2},
        {"clarify": True},
        {"history_window": 1, "summarise": True},
    ],
)
def test_a_step_that_fails_leaves_the_turn_and_says_so(
    library: Open, settings: dict[str, Any]
) -> None:
    down = ModelUnavailableError("here", "down")
    opened = library([down] * 9, contextualiser_strategy="rules", **settings)
    for _ in range(3):
        turn = opened.chat(OAK, "c1")
        assert "beams" in turn.text
    kinds = [d.kind for d in turn.result.degradations]
    assert kinds == [DegradationKind.STAGE_LEFT_OUT]
    bare = library(None, **settings).chat(OAK)
    assert [d.kind for d in bare.result.degradations] == kinds
    assert "needs a language model" in bare.result.degradations[0].detail


def test_a_conversation_that_a_program_keeps_is_understood(library: Open) -> None:
    opened = library()
    first = opened.ask(OAK)
    turns = [(OAK, first.answer)]
    second = opened.reply("Where does it grow?", turns)
    assert "oak" in second.question
    assert opened.store.conversations.by_owner("local") == ()
    back = opened.reply("Where does it grow?", [(OAK, "I do not know.")])
    assert back.status is Status.INSUFFICIENT
    assert '"it" stands for' in back.answer


@pytest.mark.parametrize(
    "question",
    [
        "How long is the invoice kept?",
        "How often are the smoke alarms tested?",
        "When is the membership fee payable?",
        "Where is the minute book stored?",
        "When is the north gate open?",
    ],
)
def test_a_noun_with_what_is_asked_of_it_refers_to_nothing(question):
    assert find_dependence(question).kind is Pointer.NONE


@pytest.mark.parametrize(
    "question",
    [
        "How long is the power cable?",
        "How wide is the flower bed?",
        "When is the annual meeting?",
        "How high is the entry fee?",
        "What is the amount payable?",
    ],
)
def test_a_bare_noun_phrase_still_does(question):
    assert find_dependence(question).kind is Pointer.BARE_NOUN

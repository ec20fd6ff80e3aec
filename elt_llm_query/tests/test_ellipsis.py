"""Follow-ups that name one thing: which phrase of the question before it replaces."""

import pytest

from elt_llm_query.analysis.ellipsis import read_follow_up
from elt_llm_query.analysis.named_phrases import find_named, find_phrases
from elt_llm_query.conversation.caller_turns import exchanges_of
from elt_llm_query.conversation.contextualise import ByRules
from elt_llm_query.conversation.spoken_of import SpokenOf

TEXTS = (
    "Marriage leave is 7 days. Compassionate leave is 3 days. Sick leave needs a note.",
    "The Tern\nClass is for juniors. The Gull Class is for adults. The span is 4 m.",
    "Puzzles are Clock, Megaminx, Pyraminx, Skewb, and Square-1. Chess is no puzzle.",
    "The lunch break is an hour. A gate is locked. The office is locked.",
    "The fee is due.",
    "After 3 days of rest, mark the note. Nobody rests on Labour Day.",
    "5.1 North Board. 5.2 Harbour.",
)
SECTIONS = (
    "5 Boards > 5.1 North Board",
    "5 Boards > 5.2 Harbour",
    "6 Fees > 6.1 Entry",
)
TITLES = ("oak", "larch")
KNOWN = SpokenOf(TEXTS, SECTIONS, TITLES)
LEAVE = "How many days of marriage leave are there?"
COMPASSIONATE = "How many days of compassionate leave are there?"


def read(message: str, question: str) -> list[str]:
    named = find_named(message)
    return [r.question for r in read_follow_up(named, question, KNOWN)] if named else []


@pytest.mark.parametrize(
    ("question", "message", "meant"),
    [
        (LEAVE, "What about compassionate leave?", COMPASSIONATE),
        (LEAVE, "And compassionate?", COMPASSIONATE),
        (LEAVE, "compassionate leave?", COMPASSIONATE),
        (
            "How much leave does Grade N3 get?",
            "And for Grade N4 and above?",
            "How much leave does Grade N4 and above get?",
        ),
        ("How much does Grade N3 get?", "N5?", "How much does Grade N5 get?"),
        ("How long is the Tern Class?", "And Gull?", "How long is the Gull Class?"),
        ("How is Pyraminx held?", "And Skewb?", "How is Skewb held?"),
        ("What is oak used for?", "What about larch?", "What is larch used for?"),
        ("Who is in the North Board?", "And Harbour?", "Who is in the Harbour?"),
        (
            "How are times under 10 minutes measured?",
            "And over 10 minutes?",
            "How are times over 10 minutes measured?",
        ),
        (
            "What is called when 8 seconds of rest are over?",
            "And 12 seconds?",
            "What is called when 12 seconds of rest are over?",
        ),
        (
            "When is the gate of oak shut?",
            "And of larch?",
            "When is the gate of larch shut?",
        ),
        ("How long is the lunch break?", "And the span?", "How long is the span?"),
        ("How is the gate locked?", "And the office?", "How is the office locked?"),
        (
            "How many days of rest may adults take on Monday?",
            "And juniors?",
            "How many days of rest may juniors take on Monday?",
        ),
        (
            "How is rest paid on Monday?",
            "And on Labour Day?",
            "How is rest paid on Labour Day?",
        ),
        ("What is a gate?", "And an office?", "What is an office?"),
    ],
)
def test_one_thing_takes_the_place_of_its_kind(
    question: str, message: str, meant: str
) -> None:
    assert read(message, question) == [meant]


@pytest.mark.parametrize(
    ("question", "message", "ways"),
    [
        ("Is sick leave marriage leave?", "And compassionate leave?", 2),
        ("May a gate touch a wall?", "And an office?", 2),
        ("May Clock touch a wall?", "And dragons?", 0),  # of no list
        (LEAVE, "What about dragons?", 0),
        (LEAVE, "And for dragons?", 0),
        (LEAVE, "And why?", 0),
        (
            "How long is the lunch break?",
            "And the fee?",
            0,
        ),  # no sentence with a number
        ("How is the gate closed?", "And the office?", 0),  # no sentence says "closed"
        (
            "How many days may the gate rest?",
            "And the note?",
            0,
        ),  # no subject of a rest
        (LEAVE, "And before taking the leave?", 0),
        ("What is the fee of oak?", "And the gate of larch?", 0),
    ],
)
def test_what_fits_several_places_or_none_is_not_put_into_one(
    question: str, message: str, ways: int
) -> None:
    assert len(read(message, question)) == ways


def test_a_verb_is_no_part_of_a_phrase_and_a_line_break_is_no_end() -> None:
    phrases = find_phrases(
        "How long may the Tern Class wait at the lunch break?", KNOWN
    )
    assert [(p.article, p.text) for p in phrases] == [
        ("the", "Tern Class"),
        ("the", "lunch break"),
    ]


def test_items_of_one_list_are_alike_and_neighbours_in_a_sentence_are_not() -> None:
    assert KNOWN.are_alike("Clock", "Square-1")
    assert not KNOWN.are_alike("Clock", "chess")
    assert not KNOWN.are_alike("marriage leave", "note")
    assert not KNOWN.are_alike("Clock", "clock")


def understand(*turns: tuple[str, str], message: str) -> str:
    """What a message asks after turns that a program kept."""
    history, exchanges = exchanges_of(turns)
    understood = ByRules().contextualise(message, history, exchanges)
    return "" if understood.unclear else understood.question


def test_earlier_follow_ups_of_a_program_are_understood_again() -> None:
    first = ("How much does Grade N3 get?", "Grade N3: 200 [S1]")
    second = ("And N7?", "Grade N7: 370 [S1]")
    meant = "How much does Grade N9 get?"
    assert understand(first, second, message="And N9?") == meant


def test_a_follow_up_to_a_refusal_is_understood_too() -> None:
    refused = ("How much does Grade N3 get?", "No passage answers this.")
    second = ("And N7?", "Grade N7: 370 [S1]")
    assert understand(refused, message="And N7?") == "How much does Grade N7 get?"
    meant = "How much does Grade N9 get?"
    assert understand(refused, second, message="And N9?") == meant


@pytest.mark.parametrize(
    "question",
    [
        "What is the monthly allowance of Grade N3?",
        "Who grants the leave of Grade N3?",
        "How long is the leave of 12 days?",
    ],
)
def test_a_whole_question_that_ends_in_a_value_is_no_follow_up(question: str) -> None:
    assert find_named(question) is None


def test_the_rest_names_nothing() -> None:
    assert find_named("And the rest?") is None


ROWS = (
    ("4 Keeping", "Policy\t7 years", "Record"),
    ("4 Keeping", "Loss Event\t15 years", "Record"),
    ("4 Keeping", "Fraud file\t5 years", "Record"),
    ("5 Perils", "F01\tFire\t\u00a3100", "Code"),
    ("5 Perils", "S03\tStorm\t\u00a3250", "Code"),
    ("6 Staff", "Lena\tdesk 4", "Name"),
)
TABLES = SpokenOf((), rows=ROWS)


@pytest.mark.parametrize(
    ("question", "message", "meant"),
    [
        (
            "How long is a policy kept?",
            "What about a fraud file?",
            ["How long is a fraud file kept?"],
        ),
        (
            "How long are policy records kept?",
            "And loss events?",
            ["How long are loss events kept?"],
        ),
        (
            "What is the excess for fire?",
            "And storm?",
            ["What is the excess for storm?"],
        ),
        (
            "How long are loss events kept?",
            "What about fraud files?",
            ["How long are fraud files kept?"],
        ),
        # Rows of two tables are no list, nor is what no row is about.
        ("How long is a policy kept?", "And a storm?", []),
        ("How long is a policy kept?", "And a desk?", []),
    ],
)
def test_what_the_rows_of_a_table_are_about_is_a_list(question, message, meant):
    named = find_named(message)
    read_as = [r.question for r in read_follow_up(named, question, TABLES)]
    assert read_as == meant


def test_only_the_name_of_a_row_is_a_phrase_of_the_documents():
    rows = (
        ("s", "Policy\t7 years", "Record"),
        ("s", "All\tx", "Record"),
        ("s", "Type 2 diabetes\tinsulin", "Illness"),
        ("s", "E-08\tOverheat", "Code"),
    )
    spoken = SpokenOf((), rows=rows)
    has = ["policy", "policy records", "type 2 diabetes", "overheat"]
    assert all(map(spoken.has, has))
    assert not any(map(spoken.has, ["policy who", "insulin", "it"]))

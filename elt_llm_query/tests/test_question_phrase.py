"""Follow-ups that are only a question phrase."""

import pytest

from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.results import Status
from elt_llm_query.analysis.follow_up import find_dependence
from elt_llm_query.analysis.question_phrase import continue_question, is_question_phrase
from elt_llm_query.conversation.contextualise import ByRules
from elt_llm_query.conversation.exchanges import Exchange, named_things
from elt_llm_query.conversation.later_parts import understand_part
from elt_llm_query.conversation.spoken_of import SpokenOf

LENT = "May a member of the Larch Library lend a map to a guest?"
BOUGHT = "How many shares of its common stock did Acme buy in 2022?"


@pytest.mark.parametrize(
    ("message", "last", "question"),
    [
        ("And for how long?", LENT, f"For how long may {LENT[4:]}"),
        ("Why?", LENT, f"Why may {LENT[4:]}"),
        ("How far in advance?", LENT, f"How far in advance may {LENT[4:]}"),
        (
            "Under what licence?",
            "At which address is the code kept?",
            "Under what licence is the code kept?",
        ),
        (
            "At what cost?",
            BOUGHT,
            "At what cost did Acme buy in 2022 shares of its common stock?",
        ),
        (
            "By when?",
            "How many days does the Board consider adequate?",
            "By when does the Board consider adequate?",
        ),
        (
            "Why?",
            "What percentage of the shares must be in public hands?",
            "Why must the percentage of the shares be in public hands?",
        ),
    ],
)
def test_a_question_phrase_asks_about_the_clause_of_the_question_before(
    message, last, question
):
    assert continue_question(message, last) == question


@pytest.mark.parametrize(
    ("message", "last"),
    [
        ("How long?", "How long may a map be lent?"),  # asks the same again
        ("By when?", "Who must return the map?"),  # its subject is not known
        ("By whom?", LENT),  # its agent is known
        ("Where?", "What must the report contain?"),
        ("Why?", "Describe the loan of maps."),
        ("Who pays?", LENT),
        ("How come?", LENT),
        ("Why not?", LENT),
        ("How long is a loan?", LENT),
        ("How to become a member?", LENT),
        ("When membership ends?", LENT),
        ("How many vacation days?", LENT),
        ("By when?", "What happens if a member does not pay?"),
        ("Since when?", "How old must a member be?"),
        ("Since when?", "How many of the members are allowed to vote?"),
    ],
)
def test_what_cannot_be_continued_is_not(message, last):
    assert continue_question(message, last) is None


@pytest.mark.parametrize(
    ("message", "is_phrase"),
    [
        ("At what cost?", True),
        ("and how often?", True),
        ("When is it due?", False),
        ("Larch?", False),
        ("What about oak?", False),
    ],
)
def test_a_question_phrase_has_no_verb(message, is_phrase):
    assert is_question_phrase(message) is is_phrase


def understand(message, last):
    """What a message means after an answered question."""
    history = [
        Message(role=Speaker.USER, text=last),
        Message(role=Speaker.ASSISTANT, text="An answer.", status=Status.ANSWERED),
    ]
    exchange = Exchange(question=last, status=Status.ANSWERED, text=last)
    return ByRules().contextualise(message, history, [exchange])


def test_who_did_it_is_asked_of_what_was_done():
    question = continue_question("By whom?", "When is the map to be returned?")
    assert question == "By whom is the map to be returned?"


def test_the_answer_must_be_about_what_the_question_before_names():
    understood = understand("For how long?", LENT)
    assert understood.question == f"For how long may {LENT[4:]}"
    assert "Larch Library" in (understood.subject, *understood.kept)


@pytest.mark.parametrize(
    ("message", "last"),
    [
        ("How many altogether?", "How many maps does the Larch Library lend?"),
        ("And to return them?", "How many days has a member to ask for the maps?"),
        ("Where does he live?", "Must the Chief Warden tell the Larch Library?"),
        ("How many are there?", "How long is the Larch Library open?"),
        ("And who decides?", "How long is the Larch Library open?"),
        ("Who is affected?", "How long is the Larch Library open?"),
        ("Where do I sign?", "How long is the Larch Library open?"),
        ("How long does it take?", "How long is the Larch Library open?"),
        ("And the rest?", "Which maps does the Larch Library lend?"),
        ("How heavy is it?", "May the Chief Warden bring the map?"),
        ("When does it end?", "How much do members of the Acme pension plans pay?"),
    ],
)
def test_what_is_not_certain_is_asked_back(message, last):
    assert understand(message, last).unclear


@pytest.mark.parametrize(
    "message", ["Who is Tesla?", "Who is eligible?", "When can I vote?"]
)
def test_a_question_that_lacks_nothing_is_not_asked_back(message):
    understood = understand(message, "How long is the Larch Library open?")
    assert not understood.unclear
    assert understood.question == message


@pytest.mark.parametrize(
    ("rest", "count"),
    [
        ("during the year", 1),
        ("last year", 1),
        ("every week", 1),
        ("today must pay", 1),
        ("pension plans pay", 0),
    ],
)
def test_a_name_before_another_phrase_is_the_whole_name(rest, count):
    last = f"How much do the members of Acme {rest}?"
    exchange = Exchange(last, Status.ANSWERED, text="The members of Acme pay little.")
    things = [t for t in named_things(exchange) if t.text == "Acme"]
    assert len(things) == count


def test_the_longer_name_is_meant_too_where_the_answer_has_the_shorter():
    last = "How many credits do the special studies of colleges have?"
    exchange = Exchange(
        last, Status.ANSWERED, text="Colleges give 30 credits for them."
    )
    assert ByRules().contextualise("How long do they last?", [], [exchange]).unclear


def test_it_is_no_person():
    last = "When may the member leave?"
    texts = ("A member who leaves returns the card.", "The member leaves at noon.")
    exchange = Exchange(
        last, Status.ANSWERED, text=texts[1], evidence=lambda: SpokenOf(texts)
    )
    assert ByRules().contextualise("What does it cost?", [], [exchange]).unclear


@pytest.mark.parametrize("message", ["Who decides?", "How many are there?"])
def test_a_question_of_a_verb_is_searched_where_none_is_before(message):
    assert not ByRules().contextualise(message, [], []).unclear


@pytest.mark.parametrize(
    "message",
    [
        "What's the deadline for refunds?",
        "Who\u2019s liable?",
        "Don't boats sink?",
        "Show the fees for boats",
        "Tell me the deadline",
        "Compare boats and rafts",
        "Welche Frist gilt?",
        "Gibt es eine Frist?",
        "\u00bfHay un plazo para barcos?",
    ],
)
def test_a_whole_question_is_not_asked_back(message):
    understood = understand(message, "How many maps does the Larch Library lend?")
    assert (understood.question, understood.unclear) == (message, "")


@pytest.mark.parametrize("message", ["Dates to avoid?", "The boat's class C fee?"])
def test_a_mere_phrase_is_asked_back(message):
    last = "How many maps does the Larch Library lend?"
    assert understand(message, last).unclear


def test_a_possessive_before_its_owner_is_complete():
    assert not ByRules().contextualise(BOUGHT, [], []).unclear


@pytest.mark.parametrize(
    "message",
    ["How many vacation days?", "How to register a company?", "To cancel, which form?"],
)
def test_an_elliptic_question_without_one_before_is_searched(message):
    assert not ByRules().contextualise(message, [], []).unclear


def test_a_possessive_after_another_verb_still_refers_back():
    assert find_dependence("On its website can US citizens register?").words == "its"


def test_a_phrase_in_the_same_message_continues_it():
    part = understand_part("How often?", LENT)
    assert part.question == f"How often may {LENT[4:]}"
    assert (part.subject, part.kept) == ("Larch Library", ())


@pytest.mark.parametrize(
    ("part", "before", "question"),
    [
        ("By when?", "Who signs the form?", "By when does somebody sign the form?"),
        (
            "Within how many days?",
            "Who must carry the map?",
            "Within how many days must somebody carry the map?",
        ),
        (
            "What must I have used up first?",
            "How many maps may I borrow?",
            "What must I have used up before I may borrow maps?",
        ),
        (
            "What must be shown first?",
            "Where is a map borrowed?",
            "What must be shown before a map is borrowed?",
        ),
        (
            "What happens then?",
            "When does a night guard leave the hall?",
            "What happens after a night guard leaves the hall?",
        ),
        ("Who pays?", "How much does a lost map cost?", "Who pays the lost map?"),
    ],
)
def test_a_later_part_without_a_subject_is_of_the_part_before(part, before, question):
    understood = understand_part(part, before)
    assert (understood.question, understood.unclear) == (question, "")


@pytest.mark.parametrize(
    ("part", "before"),
    [
        ("By when?", "Who signs it?"),  # nothing says what "it" is
        ("By when?", "What happens if a member does not pay?"),
        ("What must I sign first?", "Describe the loan of maps."),
        ("Who pays?", "Which maps does the Larch Library lend?"),
        ("How many are there?", "How long is the Larch Library open?"),
    ],
)
def test_a_later_part_of_an_uncertain_act_is_asked_back(part, before):
    assert understand_part(part, before).unclear

"""Sentences that explain in passing: what defines, what only states, what is cut."""

import pytest

from elt_llm_consumer.definitions.antecedents import NOTE_MISSING, NOTE_TAKEN
from elt_llm_consumer.definitions.definition_pipeline import SURE, find_definitions
from elt_llm_consumer.definitions.definition_records import Definition
from elt_llm_core.document import Block, BlockKind


def rows(
    text: str, heading: str = "4 Boats", threshold: float = SURE
) -> dict[str, Definition]:
    head = Block(kind=BlockKind.HEADING, start=0, end=len(heading), section=heading)
    whole = f"{heading}\n\n{text}"
    start = len(heading) + 2
    body = Block(kind=BlockKind.PARAGRAPH, start=start, end=len(whole), section=heading)
    return {one.term: one for one in find_definitions(whole, [head, body], threshold)}


def meanings(text: str, heading: str = "4 Boats") -> dict[str, str]:
    return {term: one.definition for term, one in rows(text, heading).items()}


def test_a_semicolon_separates_two_definitions():
    defined = meanings(
        "The lower mark is the height at which the ferry slows down; the upper mark is "
        "the height at which the ferry stays in port."
    )
    assert defined == {
        "lower mark": "the height at which the ferry slows down",
        "upper mark": "the height at which the ferry stays in port",
    }


def test_a_pronoun_behind_a_semicolon_begins_no_definition():
    text = "A hulk is a boat that has no mast; it is the oldest one of the quay."
    assert list(meanings(text).items()) == [
        ("hulk", "a boat that has no mast; it is the oldest one of the quay")
    ]


def test_a_semicolon_in_one_definition_stays():
    text = (
        "A spare berth is a berth that nobody has hired; it may be used for a night, "
        "and the skipper is the person who pays."
    )
    assert meanings(text)["spare berth"].endswith("the person who pays")


@pytest.mark.parametrize(
    "text",
    [
        'We call a "still photo" a picture on which the boat\'s name can be read.',
        "We call a **still photo** a picture on which the boat's name can be read.",
        'We call a picture on which the boat\'s name can be read a "still photo".',
    ],
)
def test_what_we_call_something(text):
    assert meanings(text) == {
        "still photo": "a picture on which the boat's name can be read"
    }


EACH = "Each OBG contains between 5 and 30 berths."
STATED = (
    '"Berth" means a place on the quay. "Skipper" means the person who answers for a '
    'boat. "Tide Table" means the list of high and low water. "Pass" means a card. '
)


@pytest.mark.parametrize(
    ("text", "term", "definition"),
    [
        ("A crew guest is anyone who has signed the list of the skipper.",
         "crew guest", "anyone who has signed the list of the skipper"),
        ("A crew guest is a person who has signed the list.",
         "crew guest", "a person who has signed the list"),
        (("The first report of damage (FROD) is the note that a caller gives when "
          "a boat is hit."),
         "first report of damage", "the note that a caller gives when a boat is hit"),
        ("The hull grade describes the state of a boat from 1 to 5.",
         "hull grade", "The hull grade describes the state of a boat from 1 to 5."),
    ],
)  # fmt: skip
def test_a_plain_sentence_defines_beside_stated_definitions(text, term, definition):
    assert meanings(STATED + text)[term] == definition


@pytest.mark.parametrize(
    "text",
    [
        "The policy describes the steps of a repair.",
        "The harbour safety officer (HSO) is the Head of Piers.",
        "The crew list of boats (CLB) is a good idea for small boats.",
        "The walk of the keepers (NMB) is the first event of the day.",
        "The crew list of boats (CLB) is in the office.",
        "The outer pier lane (OPL) is a free lane if the board has said so.",
        "Table 4 describes the state of a boat.",
        "The pilot represents the harbour at the hearing.",
        "The charter describes the duties of the crew.",
        'We call a "Night Pilot" a few minutes before the boats leave.',
        'We call the "Night Pilot" each morning that has a fog warning.',
        'We call the number on the board that says "Night Pilot".',
        "We call a pilot for every guest who asks for a **Night Pilot**.",
    ],
)
def test_a_verb_of_a_plain_sentence_may_tell_what_is_done(text):
    assert set(meanings(STATED + text)) == {"Berth", "Skipper", "Tide Table", "Pass"}


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("4 Boats", f"The Outer Berth Group (OBG) has a list. {EACH}"),
        ("9.1 Inspections", "Inspections are made in spring, or on request in autumn."),
        ("9.1 Inspection", "The inspection is held every year by the harbour master."),
    ],
)  # fmt: skip
def test_counts_and_procedures_define_nothing(heading, text):
    assert not {one.lower() for one in meanings(text, heading)} & {
        "obg",
        "inspections",
        "inspection",
    }


SURELY = 0.999  # only sentences whose form defines reach less
MEMBERS = "the Harbour Master, the Dock Clerk and the Warden of Locks"


@pytest.mark.parametrize("of_what", ["", " of the Trust"])
def test_a_group_below_its_heading_is_defined_by_its_members(of_what):
    text = f"{STATED}The wardens{of_what} are {MEMBERS}."
    assert rows(text, "4 Wardens", SURELY)["wardens"].definition == MEMBERS


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("4 Money", f"The wardens are {MEMBERS}."),
        ("4 Wardens", "The wardens are the pride of the harbour."),
        ("4 Wardens", "The wardens are the Harbour Master and the Dock Clerk."),
        ("4 Wardens", "The wardens are on duty, the clerk is in, and the pilot waits."),
        ("4 Wardens", f"The wardens are not {MEMBERS}."),
    ],
)
def test_other_sentences_about_a_group_list_no_members(heading, text):
    assert "wardens" not in rows(STATED + text, heading, SURELY)


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("4 Charter Deeds", "Charter Deeds refer to a Voyage, a Season or the fleet."),
        ("4 Money", "Charter Deeds refer to a voyage. Charter Deeds are kept."),
        ("4 Money", "Mooring slips refer to a boat and one berth."),
        ("4 Money", "Each mooring slip refers to one berth."),
        ("4 Money", "A Mooring Permit refers to a berth of the harbour."),
        ("4 Money", "A fuel invoice refers to one boat."),
        (
            "4 Mooring slips",
            "Every mooring slip refers to a berth, and names the boat.",
        ),
    ],
)
def test_a_record_that_refers_to_another_thing_is_not_defined(heading, text):
    assert not meanings(text, heading)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("By a stint we mean two hours at the oars.", "stint"),
        ("By “tally” this handbook refers to the list of all boats.", "tally"),
        ("The slack quay, by which we mean the wall, is dry at noon.", "slack quay"),
        ("A boat that is late twice counts as a laggard.", "laggard"),
        (
            "Where it blows hard the boats stay in. We call this a gale day.",
            "gale day",
        ),
        (
            "The rope that holds two boats together is called a spring tie.",
            "spring tie",
        ),
        ("The word “barge” covers every boat without a mast.", "barge"),
        ("A relief crew consists of two rowers and a boy.", "relief crew"),
        ("If it blows, no boat sails; this state is called a Wind Hold.", "Wind Hold"),
    ],
)
def test_words_that_only_name_define(text, term):
    assert term in rows(text, "4 Money", SURELY)


@pytest.mark.parametrize(
    "text",
    [
        "A rower may watch but does not count as a pilot.",
        "The moss counts as a host of the worm.",
        "They consist of tar and hair.",
        "Short rounds count as one round when rounds are counted.",
        "A crew shall consist of no fewer than six rowers.",
        "The warden is called if a rower is ill.",
    ],
)
def test_words_that_resemble_them_do_not(text):
    assert not rows(text, "4 Money", SURELY)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Seaworthiness refers to a boat's ability to stay afloat.", "Seaworthiness"),
        ("Running costs refer to the costs of keeping a boat.", "Running costs"),
        ("Concessions refer to a lower fee that guests pay.", "Concessions"),
        ("Harbour rules refer to a set of duties.", "Harbour rules"),
        ("HAP refers to the admission process.", "HAP"),
        ("A relief skipper refers to a mate or a pilot.", "relief skipper"),
        ("A delegate refers to a member of the board.", "delegate"),
        ("A mooring permit refers to a paper that names a berth.", "mooring permit"),
    ],
)
def test_refers_to_defines_its_subject(text, term):
    assert term in meanings(text)


@pytest.mark.parametrize(
    "words",
    [
        "is charged with the upkeep of the piers.",
        "is tasked with the upkeep of the piers.",
        "is concerned with the upkeep of the piers.",
        "is made responsible for the upkeep of the piers.",
        "is devoted to the upkeep of the piers.",
    ],
)
def test_what_a_body_is_for_explains_it(words):
    text = f"The Pier Trust {words}"
    assert meanings(text, "4 The Pier Trust") == {"Pier Trust": text}


def test_a_passive_with_a_purpose_explains():
    text = "Harbour dues are paid to keep the quays in a good state for all boats."
    assert meanings(text, "4 Harbour dues") == {"Harbour dues": text}


def test_a_meaning_that_refers_back_has_the_sentence_before():
    row = rows(
        "A long berth is a berth of 12 metres or more. Berths below this are called "
        "short berths."
    )["short berths"]
    assert row.definition == (
        "A long berth is a berth of 12 metres or more. Berths below this"
    )
    assert row.reasons[0] == NOTE_TAKEN


def test_a_meaning_that_refers_to_nothing_is_marked():
    row = rows("Berths that are below this are called short berths.")["short berths"]
    assert row.definition == "Berths that are below this"
    assert row.reasons[0] == NOTE_MISSING


def test_an_object_that_refers_back_has_the_sentence_before():
    text = "A Berth List names every boat. The Quay Clerk keeps it up to date in May."
    row = rows(text, threshold=0)["Quay Clerk"]
    assert (row.definition, row.reasons[0]) == (text, NOTE_TAKEN)


def test_an_object_that_the_sentence_names_stays_alone():
    text = "A Berth List names every boat. The Quay Clerk rings a guest and asks it in."
    row = rows(text, threshold=0)["Quay Clerk"]
    assert NOTE_TAKEN not in row.reasons


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Those who keep a boat in the harbour are called berth holders.",
         "berth holders"),
        ("Such boats as lie outside the wall are called roadsters.", "roadsters"),
        ("It is the rope that holds the bow that is called the head line.",
         "head line"),
    ],
)  # fmt: skip
def test_a_pronoun_with_a_clause_behind_it_does_not_refer_back(text, term):
    row = rows(f"The quay is long. {text}", threshold=0)[term]
    assert not {NOTE_TAKEN, NOTE_MISSING} & set(row.reasons)
    assert "The quay" not in row.definition


@pytest.mark.parametrize("mark", ["4.2 ", "(a) ", "- "])
def test_the_number_of_a_sentence_is_not_the_sentence_before(mark):
    text = "Berths that are below this are called short berths."
    row = rows(f"{mark}{text}")["short berths"]
    assert row.definition == "Berths that are below this"
    assert row.reasons[0] == NOTE_MISSING


def test_it_for_what_follows_does_not_refer_back():
    text = "The Night Bell makes it possible for a skipper to call the office."
    row = rows(f"The quay is long. {text}", "4 The Night Bell", 0)["Night Bell"]
    assert not {NOTE_TAKEN, NOTE_MISSING} & set(row.reasons)

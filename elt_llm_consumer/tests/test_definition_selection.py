"""Which candidate defines a term: sentences before long forms, and one row per term."""

import pytest

from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.definitions.definition_pipeline import (
    find_definitions,
    score_document,
)
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.definitions.definition_scorer import load_scorer
from elt_llm_consumer.definitions.plain_sentences import is_plain_sentence
from elt_llm_consumer.definitions.term_relations import relate_terms
from elt_llm_consumer.linking.model_entities import Entity, EntityModel
from elt_llm_consumer.treatment.treatment_index import TreatmentIndex
from elt_llm_core.config.sections import ConsumerSection

STATED = """\
# 1 Definitions
1.1 "Berth" means a place on the quay at which one boat lies.
1.2 "Skipper" means the person who answers for a boat.
1.3 "Tide Table" means the list of high and low water of a year.
1.4 "Berth Request" means a letter by which a Skipper asks for a Berth.
1.5 "Mooring Fee Notice" or "MFN" means a letter with the sum that is due.
"""
SHORT_FORMS = """\
# 2 Abbreviations
|Short|Long
|DMP|Dredging Management Plan
|HSO|Harbour Safety Officer
|BR|Berth Request
|MFN|Mooring Fee Notice
|VHF|very high frequency
"""
RULES = """\
# 3 Quays
3.1.1 A Dredging Management Plan (DMP) is a written account of the mud that is moved,
when, and where it is laid. A DMP is reviewed every year.
3.1.2 The Harbour Safety Officer (HSO) advises the Board, inspects the quays and is the
contact of the coast guard. Write to the HSO. The VHF set stands in the office.
"""


@pytest.fixture
def rows(make):
    """Term to definition of a handbook with a table of abbreviations."""
    document = make(STATED + SHORT_FORMS + RULES, "Harbour")
    return {one.term: one for one in find_definitions(document.text, document.blocks)}


@pytest.mark.parametrize(
    ("term", "short", "opening"),
    [
        ("Dredging Management Plan", "DMP", "A Dredging Management Plan (DMP) is a"),
        ("Harbour Safety Officer", "HSO", "The Harbour Safety Officer (HSO) advises"),
        ("Berth Request", "BR", "a letter by which a Skipper asks"),
        ("Mooring Fee Notice", "MFN", "a letter with the sum that is due"),
    ],
)
def test_a_sentence_defines_a_term_and_its_long_form_does_not(
    rows, term, short, opening
):
    assert short not in rows
    assert rows[term].synonyms == (short,)
    assert rows[term].definition.startswith(opening)


def test_a_short_form_that_no_sentence_defines_keeps_its_long_form(rows):
    vhf = rows["VHF"]
    assert (vhf.definition, vhf.source) == (
        "very high frequency",
        DefinitionSource.ACRONYM,
    )


def test_no_name_of_a_term_is_another_term(rows):
    names = [name for one in rows.values() for name in (one.term, *one.synonyms)]
    assert sorted({name.casefold() for name in names}) == sorted(
        name.casefold() for name in names
    )


def test_a_sentence_that_only_has_both_forms_defines_nothing(make):
    text = "# 1 Pay\n1.1 Staff get a Night Tide Bonus (NTB). The NTB is paid in May.\n"
    document = make(text, "Pay")
    found = find_definitions(document.text, document.blocks)
    assert all(one.definition != "Night Tide Bonus (NTB)" for one in found)


@pytest.mark.parametrize(
    ("heading", "sentence", "term"),
    [
        ("Berth Passes", "A Berth Pass is a card that opens the gate of a quay.",
         "Berth Pass"),
        ("The Tide Board", "The Tide Board is the list of tides that hangs there.",
         "Tide Board"),
        ("Quay inspections", ("A Quay Inspection is a walk in which two officers "
         "look for loose stones and broken ladders."), "Quay Inspection"),
    ],
)  # fmt: skip
def test_a_term_is_called_as_its_sentence_has_it(make, heading, sentence, term):
    document = make(f"# {heading}\n7.1 {sentence} It is kept.\n", "Quays")
    terms = [one.term for one in find_definitions(document.text, document.blocks)]
    assert terms == [term]


PLAIN = [
    ("Open Harbour Choice", ("An Open Harbour Choice is a choice, registered with the "
     "office, that the place of a boat must not be shown on the map.")),
    ("Shared Water", ("Shared Water is water on which no boat has the right of way "
     "that a Skipper may claim.")),
    ("Wreck List", ("Each spring the office makes a Wreck List, which is the list of "
     "the boats that were not moved. The Skipper checks it.")),
    ("Hull Cause Review", ("A Hull Cause Review is a meeting, held within ten days, "
     "that finds what broke.")),
]  # fmt: skip


@pytest.mark.parametrize(("term", "sentence"), PLAIN)
def test_a_plain_sentence_defines_in_a_document_that_states_most(make, term, sentence):
    document = make(f"{STATED}# 5 Boats\n5.1 {sentence}\n", "Boats")
    found = {one.term: one for one in find_definitions(document.text, document.blocks)}
    assert "plain sentence" in found[term].reasons


@pytest.mark.parametrize(
    "sentence",
    [
        "A Berth Holder that is a Sailing Club must name a Skipper.",
        "A Visiting Boat is a Berth Holder, if it stays for a month.",
        "The office tells a Berth Holder that is a Sailing Club when to move.",
        "Berth Holders are not people who own the water.",
        "A Harbour Pass is a Free Pass where the board has said so.",
    ],
)
def test_a_rule_for_some_is_no_plain_sentence(make, sentence):
    document = make(f"# 5 Boats\n5.1 {sentence}\n", "Boats")
    scored = score_document(document.text, document.blocks, load_scorer()).scored
    assert scored
    assert not any(is_plain_sentence(one.candidate) for one in scored)


def test_only_the_head_of_what_a_term_is_is_broader(make):
    document = make(
        f"{STATED}# 5 Boats\n"
        "5.1 A Salvage Firm is a company or person outside the Harbour Berth who lifts "
        "wrecks for money.\n5.2 A Guest Place is a Berth under a Tide Table for a boat "
        "that stays one night.\n",
        "Boats",
    )
    found = find_definitions(document.text, document.blocks)
    broader = {
        one.term: relation.broader
        for one, relation in zip(found, relate_terms(found), strict=True)
    }
    assert broader["Salvage Firm"] == ()
    assert broader["Guest Place"] == ("Berth",)


def test_a_long_form_alone_neither_covers_an_entity_nor_is_a_gap(store, make, add):
    document = make(f"{STATED}{SHORT_FORMS}{RULES}", "Harbour")
    add(store, "harbour", document)
    names = ("VHF", "Berth", "Berth Request")
    entities = tuple(Entity(name=name) for name in names)
    index = TreatmentIndex(
        Handbook(store, ["harbour"]),
        EntityModel(entities=entities),
        {},
        ConsumerSection(),
    )
    assert index.of(entities[0]).verdict != "STRONG"
    features = index.describe(entities[0])
    assert features["defined: the name"] == features["defined: an alias"] == 0
    assert index.describe(entities[1])["defined: the name"] > 0
    without = EntityModel(entities=entities[1:])
    others = TreatmentIndex(
        Handbook(store, ["harbour"]), without, {}, ConsumerSection()
    )
    terms = {entry.term for entry in others.terms_without_entity}
    assert "VHF" not in terms
    assert "Dredging Management Plan" in terms

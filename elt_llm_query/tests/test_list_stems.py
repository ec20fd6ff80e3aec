"""An item of a list is quoted with its lead-in, or not at all."""

import pytest
from llama_index.core.schema import QueryBundle

from answer_world import node, respond
from elt_llm_query.analysis.enumerations import SourceLine, read_lists
from elt_llm_query.synthesizers.excerpts import ExcerptsSynthesizer
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.nearest_sentences import find_nearest

STEM = "4.1 No reader shall, unless the librarian has agreed in writing,"
RULE = (
    f"{STEM}\n(a) bring a bicycle into the library;\n"
    "(b) lend the library card to another person;\n"
    "(c) cook a warm meal in the reading room."
)
ASKED = "Can a reader lend the library card to another person?"


def said(found):
    return [claim.text for claim in found.metadata["claims"]]


def chunk(text, ordinal, **fields):
    return node(text, document_id="d", ordinal=ordinal, **fields)


def stems(*texts, **fields):
    items = read_lists([SourceLine(text, **fields) for text in texts])
    return [item and item.stems for item in items]


def test_the_first_item_is_quoted_in_one_piece_with_what_forbids_it():
    found = respond("Can a reader bring a bicycle into the library?", node(RULE))
    (claim,) = found.metadata["claims"]
    assert claim.text == f"{STEM} (a) bring a bicycle into the library;"
    assert RULE[claim.start : claim.end].split() == claim.text.split()


@pytest.mark.parametrize(
    "marks",
    [
        "(a) (b) (c)",
        "a) b) c)",
        "1. 2. 3.",
        "i) ii) iii)",
        "- - -",
        "\u2013 " * 3,
        "\u2022 " * 3,
    ],
)
def test_a_later_item_follows_its_lead_in_whatever_its_mark(marks):
    text = RULE
    for old, new in zip(["(a)", "(b)", "(c)"], marks.split(), strict=True):
        text = text.replace(old, new)
    item = f"{marks.split()[1]} lend the library card to another person;"
    found = respond(ASKED, node(text))
    assert said(found) == [STEM, item]
    assert found.response == f"{STEM} [S1]\n{item} [S1]"


def test_an_item_that_ends_with_a_comma_does_not_bring_the_next_ones():
    found = respond(ASKED, node(RULE.replace(";", ",")))
    assert said(found) == [STEM, "(b) lend the library card to another person,"]


def test_the_lead_in_is_found_in_the_passage_before():
    head, tail = RULE.split("\n(b)")
    found = respond(ASKED, chunk(f"(b){tail}", 8), chunk(head, 7))
    assert found.response == (
        f"{STEM} [S2]\n(b) lend the library card to another person; [S1]"
    )


@pytest.mark.parametrize(
    ("ordinal", "section"), [(6, "Loans"), (7, "Fees")], ids=["not next", "elsewhere"]
)
def test_without_its_lead_in_an_item_is_no_answer(ordinal, section):
    head, tail = RULE.split("\n(b)")
    before = chunk(head, ordinal, section=section)
    found = respond(ASKED, chunk(f"(b){tail}", 8), before)
    assert found.metadata["refused"] is True
    assert "lend the library card" not in found.response


def test_a_heading_is_no_lead_in():
    text = RULE.replace(STEM, "Forbidden things")
    found = respond(ASKED, node(text, section="Forbidden things"))
    assert found.metadata["refused"] is True


def test_a_list_of_full_sentences_stays_as_it_was():
    text = (
        "The card is used as follows:\n1. The card opens the door.\n"
        "2. A reader may lend the library card to another person.\n"
    )
    second = "2. A reader may lend the library card to another person."
    assert said(respond(ASKED, node(text))) == [second]
    alone = text.replace("The card is used as follows:", "Cards are free.")
    assert said(respond(ASKED, node(alone))) == [second]


def test_full_sentences_below_a_denial_are_quoted_with_it():
    assert stems("None of these is true:", "1. Cards are free.") == [None, (0,)]
    assert stems("You may leave if", "1. Cards are free.") == [None, (0,)]


def test_a_nested_item_has_the_item_above_as_a_second_lead_in():
    lines = [
        "A reader may not:",
        "(a) enter, where",
        "(i) the door is shut;",
        "(ii) the light is out;",
        "(b) smoke;",
        "(c) sleep:",
        "- at noon;",
        "- at night.",
    ]
    assert stems(*lines) == [
        *(None, (0,), (0, 1), (0, 1), (0,), (0,)),
        *((0, 5), (0, 5)),
    ]


def test_letters_pass_i_and_a_sentence_within_the_list():
    lines = ["No one may", "(h) run;", "(i) jump;", "It is loud.", "(j) sing;"]
    assert stems(*lines) == [None, (0,), (0,), None, (0,)]
    after = read_lists(
        [SourceLine(text) for text in ["No one may", "- run;", "Stop.", "- go;"]]
    )
    assert after[3].fragment


def test_lines_without_marks_and_labels_below_a_lead_in():
    assert stems("No one may:", "run;", "jump.") == [None, (0,), (0,)]
    lines = ["It is forbidden:", "Inside", "- to run;", "Outside", "- to ride;"]
    assert stems(*lines) == [None, None, (0, 1), None, (0, 3)]


def test_a_lead_in_may_end_with_a_full_stop_where_it_announces_a_list():
    assert stems("The following is forbidden.", "- to run;") == [None, (0,)]
    assert stems("Never (a) run.", "(b) jump.") == [None, (0,)]


def test_excerpts_bring_the_lead_in_and_leave_out_what_has_none():
    bundle = QueryBundle("lend the library card to another person")
    found = ExcerptsSynthesizer().collect(bundle, [Passage("S1", "n", RULE)])
    assert [claim.text for claim in found][:2] == [
        STEM,
        "(b) lend the library card to another person;",
    ]
    rest = RULE.split("\n", 2)[2]
    assert ExcerptsSynthesizer().collect(bundle, [Passage("S1", "n", rest)]) == []


def test_nearest_sentences_of_other_languages_bring_it_too():
    text = (
        "Verboten ist Besuchern im Lesesaal:\n"
        "- Getr\u00e4nke und warme Speisen an die Tische mitzubringen.\n"
        "- laut zu singen, zu pfeifen oder andere Besucher zu rufen."
    )
    passage = Passage("S1", "n", text, language="de")
    lead, item = find_nearest("Darf man andere Besucher rufen?", [passage], 1)
    assert lead.text == "Verboten ist Besuchern im Lesesaal:"
    assert item.text.endswith("oder andere Besucher zu rufen.")

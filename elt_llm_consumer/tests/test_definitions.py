"""Definitions: every shape is found, no trap is, every span is exact."""

import pytest

from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    text_units,
)
from elt_llm_consumer.definitions.extract import extract_definitions
from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.jobs import JOBS

SHAPES = [
    ('"Lease" means a right;', "Lease", "a right"),
    ("\u201cLease\u201d means a right.", "Lease", "a right"),
    ("'Lease' means a right.", "Lease", "a right"),
    ('**"Lease"** means a right.', "Lease", "a right"),
    ("**Lease** means a right.", "Lease", "a right"),
    ("Ground Lease means the right\nto occupy.", "Ground Lease",
     "the right\nto occupy"),
    ("Ground\nLease means the right to occupy.", "Ground Lease", "the right to occupy"),
    ("Ground Lease shall mean a right.", "Ground Lease", "a right"),
    ("A Ground Lease is defined as a right.", "Ground Lease", "a right"),
    ("Ground Lease  -  a right to occupy", "Ground Lease", "a right to occupy"),
    ("Ground Lease - the right to occupy.", "Ground Lease", "the right to occupy"),
    ("1.2 Late Item means an item not back in time.", "Late Item",
     "an item not back in time"),
    ("In these Rules, \u201cClerk\u201d means the officer.", "Clerk", "the officer"),
    ("For the purposes of Rule 4.2, Day Pass means a card.", "Day Pass", "a card"),
    ('"Member", in relation to a club, means a person.', "Member", "a person"),
    ('The term "Quorum" means half the members.', "Quorum", "half the members"),
    ("Directors mean the persons appointed.", "Directors", "the persons appointed"),
    ("\u201cTenant\u2019s Share\u201d means a part.", "Tenant\u2019s Share", "a part"),
    ("\u201cOffence\u201d means, for this Part, any breach.", "Offence",
     "for this Part, any breach"),
    ("Lease\n: A right to occupy. It ends.", "Lease", "A right to occupy. It ends."),
    ("Director means:\n(a) one; or\n(b) another.", "Director",
     "(a) one; or\n(b) another."),
    ("e-Resource means a thing online.", "e-Resource", "a thing online"),
    ("Clerk\tMeans the officer.", "Clerk", "the officer"),
    ('"Deposit" means money -- held by the Clerk.', "Deposit",
     "money -- held by the Clerk"),
]  # fmt: skip

TRAPS = [
    "3.2.Guidance.1.\tThe point at which a person becomes a reader varies.",
    "This means that the item is lost.",
    "By any means necessary the reader may appeal.",
    "The office answers by means of a letter.",
    "The item is late, which means a fine is due.",
    "He means well.",
    "Return it by the fastest means available.",
    "Electronic means include e-mail.",
    "No means of access exists.",
    "In practice this means the desk closes.",
    "Failure to return an item means that the reader pays.",
    "Losing the card means a fee of 5 pounds.",
    "A late return means a fine, and no reader may wait.",
    "The mean of the fines is ten.",
    "The reader may use any means, including post.",
    "By no means does a payment release anybody.",
    "Rescue by whatever means are at hand comes first.",
    "A word has the meaning given here.",
    '"She means well" means nothing here.',
]


def found_in(text: str, section: str = "Rules") -> list[Definition]:
    block = Block(
        kind=BlockKind.PARAGRAPH, start=0, end=len(text), section=section, page=1
    )
    return extract_definitions(text, [block])


@pytest.mark.parametrize(("text", "term", "definition"), SHAPES)
def test_shape_is_found(text, term, definition):
    (one,) = found_in(text)
    assert (one.term, one.definition) == (term, definition)
    assert text[one.start : one.end] == one.definition


@pytest.mark.parametrize("text", TRAPS)
@pytest.mark.parametrize("section", ["Rules", "1 Definitions"])
def test_trap_is_not(text, section):
    assert found_in(text, section) == []


def test_a_dash_alone_is_no_definition():
    assert found_in("Saturday - see the notes.") == []


def test_several_in_one_paragraph():
    found = found_in('(a) "Fee" means a sum; (b) "Fine" means a penalty.')
    assert [(d.term, d.definition) for d in found] == [
        ("Fee", "a sum"),
        ("Fine", "a penalty"),
    ]


def test_two_names_and_a_short_form():
    (one,) = found_in('"Reader" or "Borrower" means a person.')
    assert one.synonyms == ("Borrower",)
    (other,) = found_in("Town Planning Board (TPB) means the board.")
    assert (other.term, other.synonyms) == ("Town Planning Board", ("TPB",))


@pytest.mark.parametrize("between", [" or ", ", ", " and "])
def test_two_names_in_bold(between):
    (one,) = found_in(f"**Reader**{between}**Borrower** means a person.")
    assert (one.term, one.synonyms) == ("Reader", ("Borrower",))


@pytest.mark.parametrize(
    "following",
    [
        '"Notice" does not mean an e-mail.',
        '"" means a gap.',
        'The expression "Big Book" refers to the register.',
        'By "Season" we mean three months.',
        "**Reader**, or a **Guest**, means a person.",
    ],
)
def test_the_next_line_begins_another_definition(following):
    first = found_in(f'"Day" means:\n(a) a Monday; or\n(b) a Friday.\n{following}')[0]
    assert first.definition == "(a) a Monday; or\n(b) a Friday."
    kept = found_in('"Day" means a Monday that a\n"Reader" means to keep.')[0]
    assert kept.definition.startswith("a Monday that a")


def test_acronym_in_the_text():
    (one,) = found_in("The Town Planning Board (TPB) meets in May.")
    assert one.source is DefinitionSource.ACRONYM
    assert (one.term, one.definition) == ("TPB", "Town Planning Board")


@pytest.mark.parametrize(
    "text", ["Ask the Clerk (BBC) now.", "Form (A) and Part (II)."]
)
def test_brackets_that_are_no_acronym(text):
    assert found_in(text) == []


def test_lists_need_a_heading_that_announces_them():
    text = "Lease: a right to occupy a ground"
    assert found_in(text, "Rules") == []
    (one,) = found_in(text, "3 Glossary")
    assert one.definition == "a right to occupy a ground"


def rows(*pairs: tuple[str, str], header: tuple[str, str] = ("Term", "Meaning")):
    text, blocks = "", []
    for number, (term, meaning) in enumerate(pairs):
        text += "\n" if text else ""
        start = len(text)
        text += f"{term}\t{meaning}"
        at = start + len(term)
        cells = (
            Cell(header=header[0], start=start, end=at),
            Cell(header=header[1], start=at + 1, end=len(text)),
        )
        blocks.append(
            Block(
                kind=BlockKind.TABLE_ROW, start=start, end=len(text),
                page=number + 1, cells=cells,
            )
        )  # fmt: skip
    return text, blocks


def test_table_rows_padded_and_over_rows():
    text, blocks = rows(
        ("Term", "Meaning"),
        ("  Lease  ", " means a right "),
        ("", "to occupy."),
        ("Deposit", "A sum paid early."),
    )
    found = extract_definitions(text, blocks)
    assert [d.term for d in found] == ["Lease", "Deposit"]
    assert " ".join(found[0].definition.split()) == "a right to occupy"
    assert found[1].definition == "A sum paid early."
    assert found[1].source is DefinitionSource.TABLE
    for one in found:
        assert "\n".join(text[s:e] for s, e in one.spans) == one.definition


def test_a_table_of_something_else_is_none():
    text, blocks = rows(("Copy", "5 crowns"), header=("Service", "Fee"))
    assert extract_definitions(text, blocks) == []


def test_abbreviations_in_a_table():
    text, blocks = rows(
        ("TPB", "Town Planning Board"), header=("Abbreviation", "Meaning")
    )
    (one,) = extract_definitions(text, blocks)
    assert one.source is DefinitionSource.ACRONYM
    assert one.synonyms == ("Town Planning Board",)


def test_one_column_table_with_a_dash():
    text = "Signal - explanation\nAll Down - everybody lands at once."
    header = "Signal - explanation"
    blocks = [
        Block(kind=BlockKind.TABLE_ROW, start=s, end=e, page=1,
              cells=(Cell(header=header, start=s, end=e),))
        for s, e in ((0, len(header)), (len(header) + 1, len(text)))
    ]  # fmt: skip
    (one,) = extract_definitions(text, blocks)
    assert (one.term, one.definition) == ("All Down", "everybody lands at once")
    assert one.source is DefinitionSource.TABLE


def test_definition_over_a_page_break():
    first, running, second = (
        '"Lease" means a right',
        "HANDBOOK 7",
        "to occupy a ground.",
    )
    text = f"{first}\n\n{running}\n\n{second}"
    at = len(first) + 2
    back = at + len(running) + 2
    blocks = [
        Block(kind=BlockKind.PARAGRAPH, start=0, end=len(first), page=1),
        Block(kind=BlockKind.FURNITURE, start=at, end=at + len(running), page=2),
        Block(kind=BlockKind.PARAGRAPH, start=back, end=len(text), page=2),
    ]
    (one,) = extract_definitions(text, blocks)
    assert one.definition == "a right\nto occupy a ground"
    assert [text[s:e] for s, e in one.spans] == ["a right", "to occupy a ground"]


def test_list_items_after_a_colon():
    parts = ["Director means any of the following:", "(a) a chair;", "(b) a member."]
    text = "\n".join(parts)
    blocks, at = [], 0
    for number, part in enumerate(parts):
        kind = BlockKind.LIST_ITEM if number else BlockKind.PARAGRAPH
        blocks.append(Block(kind=kind, start=at, end=at + len(part), page=1))
        at += len(part) + 1
    (one,) = extract_definitions(text, blocks)
    assert one.definition.endswith("(b) a member.")


def test_reference_is_followed(make):
    document = make('1.1 "Deposit" has the meaning given in Rule 2.3.\n'
                    "2.3 A sum paid early is called the Deposit.")  # fmt: skip
    (one,) = extract_definitions(document.text, document.blocks)
    assert one.source is DefinitionSource.REFERENCE
    assert (one.definition, one.reference) == (
        "the meaning given in Rule 2.3",
        "Rule 2.3",
    )
    place = one.resolved
    assert place is not None
    assert document.text[place.start : place.end] == place.text
    assert place.text.endswith("called the Deposit.")


def test_reference_that_leads_nowhere_is_kept(make):
    document = make('1.1 "Deposit" has the meaning given in the Land Act.')
    (one,) = extract_definitions(document.text, document.blocks)
    assert (one.definition, one.resolved) == ("the meaning given in the Land Act", None)


def test_same_words_once_other_words_twice():
    found = found_in('"Fee" means a sum. "Fee" means a sum. "Fee" means another sum.')
    assert [d.definition for d in found] == ["a sum", "another sum"]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "means", '" means', "\u201c\u201d means x"]
)
def test_nothing_to_find(text):
    assert found_in(text) == []


@pytest.mark.parametrize(
    ("text", "term", "meaning"),
    [
        ("The clerk may send a notice (a \u201cStop Notice\u201d). It is short.",
         "Stop Notice", "The clerk may send a notice"),
        ("1.2.1.(1)\tThe dues of a year (together, the \"Dues\") fall due in May.",
         "Dues", "The dues of a year"),
        ("The clerk keeps the Estates and Land Regulations 2015 (\"ELR\").",
         "ELR", "Estates and Land Regulations 2015"),
        (("The guard must give a signed letter that names the boat and its owner (a "
         "\u201cBoarding Letter\u201d). It is kept."),
         "Boarding Letter", "a signed letter that names the boat and its owner"),
        (("Engines are off; an exception (a \u201cNoise Waiver\u201d) is granted by "
         "the clerk for a day."), "Noise Waiver", ("Engines are off; an exception (a "
         "\u201cNoise Waiver\u201d) is granted by the clerk for a day.")),
    ],
)  # fmt: skip
def test_name_in_brackets(text, term, meaning):
    (one,) = found_in(text)
    assert (one.term, one.definition) == (term, meaning)
    assert text[one.start : one.end] == meaning
    assert text[slice(*one.named_at)] == term


def test_name_in_brackets_gives_way_to_a_definition():
    (one,) = found_in('"Dues" means a sum. All sums of a year (the "Dues") count.')
    assert one.definition == "a sum"


def test_a_name_in_brackets_may_go_over_a_line():
    (one,) = found_in(
        "The owner pays a yearly sum for a berth (the \u201cBerth\nFee\u201d)."
    )
    assert one.term == "Berth Fee"


def test_brackets_behind_a_verb_name_no_thing():
    text = (
        'Before a list is shown, a clerk reads it and names are removed ("Blanking").'
    )
    assert found_in(text) == []


def test_short_form_without_a_name_before_it():
    assert found_in('it is kept by the clerk ("KBC") alone.') == []


@pytest.mark.parametrize("section", ["Rules", "1 Definitions"])
def test_includes_defines_among_definitions_only(section):
    found = found_in('"Book" includes a magazine.', section)
    assert [one.definition for one in found] == ["a magazine"] * (section != "Rules")


def paragraphs(*said: str, section: str = "1 Definitions"):
    text, blocks = "\n\n".join(said), []
    for one in said:
        start = text.index(one)
        blocks.append(
            Block(
                kind=BlockKind.PARAGRAPH, start=start, end=start + len(one),
                section=section,
            )
        )  # fmt: skip
    return text, blocks


def test_list_after_a_dash():
    text, blocks = paragraphs('"Cedar" means \u2013', "(a) a tree; or", "(b) a chest.")
    (one,) = extract_definitions(text, blocks)
    assert one.definition == "(a) a tree; or\n\n(b) a chest."


@pytest.mark.parametrize(
    "ending",
    [
        "consists of -",
        "means any of the following;",
        "includes",
        "includes:",
        "means -",
    ],
)
def test_items_follow_whatever_announces_them(ending):
    lines = (
        "(a) a plank, if there is one;",
        "(b) a nail.\n\u201cQuay\u201d means a wall.",
    )
    opening = f'"Cedar" means a box of wood and {ending}'
    text, blocks = paragraphs(opening, *lines, section="1 Definitions")
    cedar, quay = extract_definitions(text, blocks)
    assert cedar.definition.endswith("(a) a plank, if there is one;\n\n(b) a nail.")
    assert (quay.term, quay.definition) == ("Quay", "a wall")


@pytest.mark.parametrize(
    ("lines", "belonging"),
    [
        (("12a5) Turn Metric is defined as:", "12a5a) one move.", "12a5b) no move.",
          "12a6) A clerk counts.", "12b) A clerk writes."), 2),
        (("2.1 Turn Metric is defined as:", "2.1.1 one move.", "2.2 A clerk.",), 1),
        (("1.1 Turn Metric is defined as:", "1.10 A clerk counts."), 0),
        (("3. Turn Metric is defined as:", "1. one.", "2. two.", "3. c.", "4. x"), 4),
        (("3. Turn Metric is defined as:", "4. A clerk counts."), 0),
        (("Turn Metric is defined as:", "1. one.", "2. two."), 2),
        (("c) Turn Metric is defined as:", "d) A clerk counts."), 0),
        (("2.1 Turn Metric is defined as:", "a) one; or", "b) two."), 2),
    ],
)  # fmt: skip
def test_items_of_a_list_belong_to_what_announces_them(lines, belonging):
    text = "\n".join(lines)
    blocks, at = [], 0
    for line in lines:
        end = at + len(line)
        block = Block(kind=BlockKind.LIST_ITEM, start=at, end=end, section="3 Rules")
        blocks.append(block)
        at = end + 1
    (unit, *_) = text_units(text, blocks)
    assert len(unit.follows) == belonging


def test_a_word_before_a_definition_that_says_so_is_no_part_of_the_term():
    (one,) = found_in("DEFINITION Common colds are defined as infections of the nose.")
    assert (one.term, one.definition) == ("Common colds", "infections of the nose")
    assert found_in("Least squares means from a model with a baseline.") == []


def test_description_in_a_paragraph_of_its_own():
    text, blocks = paragraphs("Barn", ": A house for hay. It is dry.", section="Rules")
    (one,) = extract_definitions(text, blocks)
    assert (one.term, one.definition) == ("Barn", "A house for hay. It is dry.")


def test_reference_to_an_item_of_a_rule():
    text, blocks = paragraphs(
        '"Aspen" has the meaning set out in Rule 2.2(a).',
        '"Birch" has the meaning given in Rule 2.2(b).',
        "2.2 Plots:",
        "(a) an Aspen is a plot by the river;",
        "2.3 Others.",
        "(b) a Birch is a tree.",
    )
    aspen, birch = extract_definitions(text, blocks)
    assert aspen.resolved.text == "(a) an Aspen is a plot by the river;"
    assert birch.resolved is None


def test_number_of_a_rule_is_no_list_mark():
    found = found_in(
        '"Hedge" has the meaning given in Rule 3.2.\n"Ivy" means a plant.',
        "1 Definitions",
    )
    assert [one.reference for one in found] == ["Rule 3.2", ""]


def test_what_a_reference_leads_to_begins_behind_its_number(make):
    document = make(
        '# 1 Definitions\n"Close Call" has the meaning given in section 8.1.\n'
        "# 8.1 Reports\n8.1.1 A Close Call is an accident that hurt nobody. Stop.\n"
    )
    (one,) = extract_definitions(document.text, document.blocks)
    assert one.resolved.text == "A Close Call is an accident that hurt nobody."


def test_reference_to_another_text_is_not_looked_up_here():
    text, blocks = paragraphs(
        '"Yew" has the meaning given in section 2 of the Land Act 1990.',
        "2 A Yew is a tree.",
    )
    (one,) = extract_definitions(text, blocks)
    assert (one.reference, one.resolved) == ("section 2 of the Land Act", None)


def test_reference_to_a_definition():
    found = found_in(
        '"Vine" has the meaning given in the definition of "Walnut".\n'
        '"Walnut" has the meaning given to "Yew".\n"Yew" means a tree.',
        "1 Definitions",
    )
    assert [one.reference for one in found] == ["Yew", "Yew", ""]
    assert [one.resolved.text for one in found[:2]] == ["a tree", "a tree"]


def test_references_in_a_circle():
    found = found_in(
        '"Vine" has the meaning given in the definition of "Walnut".\n'
        '"Walnut" has the meaning given in the definition of "Vine".'
    )
    assert [(one.reference, one.resolved) for one in found] == [("", None)] * 2


def test_definition_list_of_a_web_page(context, models, store, tmp_path):
    page = tmp_path / "terms.html"
    page.write_text("<h1>Rules</h1><dl><dt>Barn</dt><dd>A house for hay.</dd></dl>")
    job = JOBS.load("ingest", {"paths": (str(page),), "collection": "pages"})
    job.build(models)(context)
    (entry,) = Handbook(store, ["pages"]).entries
    assert (entry.term, entry.definition.definition) == ("Barn", "A house for hay.")

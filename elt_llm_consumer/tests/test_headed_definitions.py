"""A term on the line above its definition: a heading, or a short paragraph."""

import pytest

from elt_llm_consumer.definitions.definition_pipeline import SURE, find_definitions
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
)
from elt_llm_core.document import Block, BlockKind


def definitions_of(*lines: str, threshold: float = SURE) -> list[Definition]:
    """Definitions of a document of one block a line: "# " and "## " are headings."""
    text, path, blocks = "", [], []
    for line in lines:
        mark, _, words = line.rpartition("# ")
        start = len(text)
        text += f"{words}\n\n"
        if mark or line.startswith("# "):
            path = [*path[: len(mark)], words]
        blocks.append(
            Block(
                kind=BlockKind.HEADING if words != line else BlockKind.PARAGRAPH,
                start=start,
                end=start + len(words),
                section=" > ".join(path),
                level=len(path) if words != line else 0,
            )
        )
    definitions = find_definitions(text, blocks, threshold)
    for one in definitions:
        assert text[one.start : one.end] == one.definition
    return definitions


def stated(*lines: str) -> list[tuple[str, str]]:
    return [(one.term, one.definition) for one in definitions_of(*lines)]


HEADED = [
    ("## Prompt Desk", "means the place from which a show is run.",
     "Prompt Desk", "the place from which a show is run"),
    ("## 2.3 Prompt Desk", "means the place from which a show is run.",
     "Prompt Desk", "the place from which a show is run"),
    ("**Prompt Desk**", "means the place from which a show is run.",
     "Prompt Desk", "the place from which a show is run"),
    ("Prompt Desk:", "means the place from which a show is run.",
     "Prompt Desk", "the place from which a show is run"),
    ("## Dark Week", "is a week in which no show is given.",
     "Dark Week", "a week in which no show is given"),
    ("## Dark Week", "shall mean a week without a show.",
     "Dark Week", "a week without a show"),
]  # fmt: skip


@pytest.mark.parametrize("section", ["# 2 Definitions", "# 4 The house"])
@pytest.mark.parametrize(("line", "body", "term", "definition"), HEADED)
def test_a_connector_opens_the_paragraph_below_the_term(
    section, line, body, term, definition
):
    assert stated(section, line, body) == [(term, definition)]


def test_a_short_form_is_a_synonym_and_the_next_term_ends_a_definition():
    first, second = definitions_of(
        "# 2 Definitions",
        "## Stage Manager (SM)",
        "means the person who runs a show.",
        "## Get-In",
        "means the hours in which a set is built.",
    )
    assert (first.term, first.synonyms) == ("Stage Manager", ("SM",))
    assert second.definition == "the hours in which a set is built"


def test_a_reference_below_its_term_is_one():
    (one,) = definitions_of(
        "# Definitions", "## Dark Week", "has the meaning given in Rule 4.2."
    )
    assert one.source is DefinitionSource.REFERENCE
    assert one.definition == "the meaning given in Rule 4.2"


@pytest.mark.parametrize(
    ("section", "term"),
    [("# Glossary", "## Fly Floor"), ("# 3 Defined terms", "## Fly Floor"),
     ("# Terms and definitions", "**Fly Floor**"),
     ("# Definitions and interpretation", "Fly Floor")],
)  # fmt: skip
def test_a_phrase_needs_no_connector_where_definitions_are_announced(section, term):
    body = "A gallery above the stage from which scenery is lifted."
    assert stated(section, term, body) == [("Fly Floor", body)]
    for other in ("# 4 The house", "# 3 Terms", "# Interpretation"):
        assert stated(other, term, body) == []


@pytest.mark.parametrize(
    "body",
    [
        "Any cloth that hangs in front of the stage.",
        "The opening hours of the box office.",
        "Light from above the stage.",
        "Costumes for the cast of a show.",
    ],
)
def test_a_phrase_has_an_article_or_something_behind_its_noun(body):
    assert stated("# Glossary", "## Fly Bar", body) == [("Fly Bar", body)]


@pytest.mark.parametrize(
    ("term", "body"),
    [
        ("## Payment", "The hirer pays the price in March."),
        ("## Payment", "A hirer pays in March."),
        ("## Payment", "The price falls due on the first day."),
        ("## Payment", "Hirers pay in advance."),
        ("## Bias", "The count leaves out guests without a ticket."),
        ("## Season", "Friday 3 October to Sunday 8 March."),
        ("## Damage", "Broken props go back to the hirer."),
        ("## Damage", "Broken glass and torn cloth."),
    ],
)
@pytest.mark.parametrize(
    "section", ["# Glossary of terms", "# House terms", "# 3 Interpretation"]
)
def test_a_sentence_or_a_bare_noun_below_a_term_is_no_phrase(section, term, body):
    assert stated(section, term, body) == []


def test_a_phrase_needs_the_ordinary_probability():
    head, body = ("# Glossary", "## Fly Floor"), "a gallery above the stage."
    (one,) = definitions_of(*head, body)
    assert one.source is DefinitionSource.STATEMENT
    assert definitions_of(*head, body, threshold=0.999) == []
    assert definitions_of(*head, f"means {body}", threshold=0.999)


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("New lamp", "is an option, but the price that was given is too high."),
        ("## Holiday", "refers to the staff portal for the dates."),
        ("## Refund", "means that the price is sent back within a week."),
        ("## Step 2", "is the point at which the form is sent."),
        ("## Item 4", "means the box that holds the lamps."),
        ("## Key", "is the duty of the clerk who opens the house."),
    ],
)
def test_a_connector_outside_a_list_may_tell_of_a_term(line, body):
    assert stated("# 4 The house", line, body) == []


def test_refers_to_defines_where_definitions_are_announced():
    lines = "## Dark Week", "refers to a week without a show."
    assert stated("# Definitions", *lines) == [("Dark Week", "a week without a show")]


def test_a_dash_defines_where_definitions_are_announced():
    lines = "## Dark Week", "\u2013 a week without a show."
    assert stated("# Glossary", *lines) == [("Dark Week", "a week without a show")]
    assert stated("# 4 The house", *lines) == []


@pytest.mark.parametrize(
    ("section", "line", "body"),
    [
        ("# 4 Money", "## Payment", "is made monthly."),
        ("# 4 Money", "## Payment", "is the duty of the hirer."),
        ("# 4 Money", "## Payment", "means of transfer are listed in the office."),
        ("# 4 Money", "## Payment", "Means the house does not know are refused."),
        ("# 4 Money", "## Refund", "refers the hirer to the office."),
        ("# 4 Money", "## Refund", "The hirer is paid back within a week."),
        ("# 1 Definitions", "## Payment", "The hirer is asked to pay in March."),
        ("# 1 Definitions", "## Payment", "In this chapter the price is set out."),
        ("# 1 Definitions", "## General", "Words with a fixed sense in this text."),
        ("# 1 Definitions", "## Defined terms", "Words with a fixed sense here."),
        ("# Glossary", "Fly Floor", "Prompt Desk of the house"),
        ("# Glossary", "## Fly Floor", "Prompt Desk"),
        ("# Glossary", "## Sets, props and costumes", "The list of the stores."),
        ("# Glossary", "## Fly Floor", "Every row lists a show of the season."),
        ("# 4 Money", "Ask the office for a form.", "means the form of last year."),
    ],
)
def test_a_procedure_below_a_heading_is_no_definition(section, line, body):
    assert stated(section, line, body) == []

"""A term on the line above its definition: a heading, or a short paragraph."""

import pytest

from elt_llm_consumer.definitions.definition_pipeline import find_definitions
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
)
from elt_llm_core.document import Block, BlockKind


def definitions_of(*lines: str) -> list[Definition]:
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
    definitions = find_definitions(text, blocks)
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
    ("## Dark Week", "refers to a week without a show.",
     "Dark Week", "a week without a show"),
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
    [("# Glossary", "## Fly Floor"), ("# 3 Terms", "## Fly Floor"),
     ("# Interpretation", "**Fly Floor**"), ("# Interpretation", "Fly Floor")],
)  # fmt: skip
def test_a_phrase_needs_no_connector_where_definitions_are_announced(section, term):
    body = "A gallery above the stage from which scenery is lifted."
    assert stated(section, term, body) == [("Fly Floor", body)]
    assert stated("# 4 The house", term, body) == []


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

"""A definition that holds under a condition keeps it."""

import pytest

from elt_llm_consumer.definitions.definition_pipeline import find_definitions

RULES = "# 1 Definitions\n1.1 {}\n"


@pytest.mark.parametrize(
    ("sentence", "term"),
    [
        ('For sailing boats, "draught" means the depth with the keel down.', "draught"),
        ("In winter, an Open Berth is a berth that the office has cleared of ice.",
         "Open Berth"),
        ('If a boat has two owners, "the Owner" refers to the one who was named first.',
         "Owner"),
    ],
)  # fmt: skip
def test_a_condition_in_front_of_the_term_is_part_of_its_definition(
    make, sentence, term
):
    document = make(RULES.format(sentence), "Harbour")
    found = find_definitions(document.text, document.blocks)
    definitions = [one.definition for one in found if one.term.endswith(term)]
    assert definitions == [sentence.removesuffix(".")] or definitions == [sentence]


@pytest.mark.parametrize(
    ("sentence", "definition"),
    [
        ('For the purposes of Part 2, "wash" means the waves that a boat makes.',
         "the waves that a boat makes"),
        ('In these rules, "tender" means a small boat that serves a larger one.',
         "a small boat that serves a larger one"),
        ('If it rains, the office opens early, and "early" means before six.',
         "before six"),
    ],
)  # fmt: skip
def test_a_clause_that_names_the_document_or_another_subject_is_not(
    make, sentence, definition
):
    document = make(RULES.format(sentence), "Harbour")
    found = find_definitions(document.text, document.blocks)
    assert definition in [one.definition for one in found]

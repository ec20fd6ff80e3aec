"""Marks of a document's own references: told from other brackets, not shown."""

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import Status, Support
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query.analysis.reference_marks import (
    count_references,
    find_reference_marks,
    remove_spans,
)
from query_world import World, asked, configured, fill, make_document

LIST = "1. Fry J. Diseases. 1974.\n2. Ball T. Colds. 2002.\n3. Lau B. Coughs. 1996.\n"
COLDS = (
    "A child has up to five colds in a year [1], [2,3]. An adult has two or three, "
    "with a dose of 20 mg [5 mg] at night."
)
PAPER = [("Incidence", COLDS), ("References", f"References\n\n{LIST}")]


def bare(text, last):
    return remove_spans(text, find_reference_marks(text, last)).text


@pytest.mark.parametrize(
    ("document", "last"),
    [
        (f"Text.\n\nReferences\n\n{LIST}", 3),
        (f"Text.\n\n## 7 Literatur\n\n{LIST}", 3),
        ("Text.\n\nBibliograf\u00eda:\n[1] Uno\n[2] Dos\n[4] Cuatro\n", 4),
        (f"Text.\n\nReferences\n\n{LIST[:50]}", 0),  # two entries
        (f"As the references say:\n\n{LIST}", 0),
        ("The list of an extract [3] is gone [1, 7], see [12] and [2], [5].", 12),
        ("A share in [0, 1] of each [2], [3], [4], [5] and [6].", 0),
        ("", 0),
    ],
)
def test_the_references_of_a_document_are_counted(document, last):
    assert count_references(document) == last


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Colds are common. [3] [4] They pass.", "Colds are common. They pass."),
        ("as shown [2,3] before", "as shown before"),
        ("as shown[2\u20134].", "as shown."),
        ("a dose [5 mg] at night", "a dose [5 mg] at night"),
        ("in the range [0, 1] of", "in the range [0, 1] of"),
        ("the year [1974] and", "the year [1974] and"),
        ("Rows\n[3] RCT", "Rows\n[3] RCT"),
        ("x = 5 [3]", "x = 5 [3]"),
        ("entry [7]", "entry [7]"),  # the list ends with 6
    ],
)
def test_marks_are_told_from_other_numbers_in_brackets(text, left):
    assert bare(text, 6) == left


def test_what_is_left_leads_back_to_the_original():
    text = "as shown [2,3] before"
    unmarked = remove_spans(text, find_reference_marks(text, 3))
    start = unmarked.text.index("shown before")
    span = unmarked.original(start, start + len("shown before"))
    assert text[slice(*span)] == "shown [2,3] before"
    assert find_reference_marks(text, 0) == ()


@pytest.fixture(scope="module")
def papers(world, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("papers"))
    fill(store, world.models, {"papers": [make_document("Colds", PAPER)]})
    yield World(store, world.models, RagConfig())
    store.close()


def ask(papers, question, *answers, **query):
    llm = ScriptedLLM(list(answers))
    models = Models(papers.models.embedder, llm if answers else None)
    return asked(papers, question, ["papers"], configured(**query), models), llm


def test_no_mark_reaches_the_prompt_and_a_quote_without_marks_is_proven(papers):
    written = (
        "A child has up to five colds in a year [S1].\n\n"
        "A child has up to nine colds in a year [S1]."
    )
    result, llm = ask(
        papers, "How many colds has a child?", written, synthesizer_strategy="compact"
    )
    (prompt,) = llm.prompts
    assert "five colds in a year. An adult" in prompt
    assert "[2,3]" not in prompt
    assert "[5 mg]" in prompt
    (citation,) = result.citations
    assert citation.support is Support.NORMALISED

    assert citation.quote == "A child has up to five colds in a year [1], [2,3]."
    assert [removed.verdict for removed in result.removed] == [Support.CONTRADICTED]


def test_no_mark_reaches_an_answer_of_sentences(papers):
    result, _ = ask(papers, "How many colds in a year does a child have?")
    assert result.status is Status.ANSWERED
    assert result.answer.startswith("A child has up to five colds in a year. [S1]")
    assert (
        result.citations[0].quote
        == "A child has up to five colds in a year [1], [2,3]."
    )
    statement = result.statements[0]
    assert result.answer[statement.start : statement.end] == statement.text

"""Sentences that explain a term, terms nobody defines, and the measures of both."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.definitions import explained
from elt_llm_consumer.evaluation import definition_figures, sentences
from elt_llm_consumer.handbook import Handbook
from elt_llm_consumer.terms import DefinitionSource
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.jobs import JOBS

SAID = [
    ("A ledger is a bound book that holds the accounts of a business.",
     "ledger", "a bound book that holds the accounts of a business"),
    ("A bound book that holds the accounts of a house is called a ledger.",
     "ledger", "A bound book that holds the accounts of a house"),
    ("Clerks keep a day book, which is a list of entries in the order they are made.",
     "day book", "a list of entries in the order they are made"),
]  # fmt: skip
PLAIN = [
    "It is kept in the office.",
    "In 1850 Henry Ashworth became clerk of the Leeds office.",
    "However, they could not find the 12 books.",
    "Who was there?",
]


def told(text):
    return explained(text, [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))])


@pytest.mark.parametrize(("text", "term", "meaning"), SAID)
def test_sentence_that_explains(text, term, meaning):
    (one,) = told(text)
    assert (one.term, one.definition) == (term, meaning)
    assert one.source is DefinitionSource.TEXTBOOK
    assert text[one.start : one.end] == meaning
    assert text[slice(*one.named_at)] == term
    assert 0.5 <= one.confidence < 1


@pytest.mark.parametrize("text", PLAIN)
def test_sentence_that_only_tells(text):
    assert told(text) == []


EXPLAINING = SAID[0][0]


def test_rule_books_keep_to_their_stated_definitions(store, make, add):
    before = [e.found for e in Handbook(store, ["handbook"]).entries]
    add(store, "handbook", make(f"# 1 On books\n{EXPLAINING}", "Essay"))
    assert [e.found for e in Handbook(store, ["handbook"]).entries] == before
    asked = Handbook(store, ["handbook"], textbook=True).entries
    assert "ledger" in {e.found.term for e in asked}


def test_a_book_without_definitions_is_read_as_a_textbook(store, make, add):
    add(store, "essays", make(f"# 1 On books\n{EXPLAINING}", "Essay"))
    (one,) = Handbook(store, ["essays"]).entries
    assert (one.found.term, one.found.source) == ("ledger", DefinitionSource.TEXTBOOK)


USES = """\
# 1 Definitions
1.1 "Ground Lease" means the right to occupy a ground.
# 2 Rules
2.1 The Sinking Fund must be kept. A Ground Lease names the Sinking Fund.
2.2 No Sinking Fund may be lent. The clerk writes to the Ground Leases.
2.3 The "spare key" is kept. A "spare key" is lent. Each "spare key" is numbered.
2.4 The Clerk Of Works and the Clerk Of Works only.
"""


def test_terms_that_are_used_and_not_defined(context, models, store, make, add):
    add(store, "estates", make(USES, "Estates"))
    job = JOBS.load("glossary", {"collections": ("estates",)})
    report = job.build(models)(context)
    said = json.loads(Path(report.files["undefined_terms"]).read_text())
    found = said["undefined_terms"]
    assert [(one["term"], one["uses"]) for one in found] == [
        ("Sinking Fund", 3),
        ("spare key", 3),
    ]
    text = store.document_text(found[0]["document_id"])
    for one in found:
        for place in one["places"]:
            assert text[place["start"] : place["end"]] == one["term"]


def test_measures(tmp_path):
    folder = tmp_path / "nist_sp800_63_4" / "_sp800-63"
    folder.mkdir(parents=True)
    (folder / "definitions.md").write_text(
        "# Definitions\n\nLedger (LG)\n: A bound book.\n\nDay book\n: A list.\n"
    )
    gold = [
        {"term": "Ledger (LG)", "definition": "A bound book."},
        {"term": "Day book", "definition": "Something else."},
    ]
    (tmp_path / "nist_sp800_63_4/definitions_parsed.json").write_text(json.dumps(gold))
    (figure,) = definition_figures(tmp_path)
    assert figure["value"] == 0.5
    assert figure["detail"]["missed"] == ["day book"]


def test_marked_sentences(tmp_path):
    rows = ["A\tf\t0\t1\tO", "ledger\tf\t2\t8\tB-Term", "is\tf\t9\t11\tO",
            "paper\tf\t12\t17\tB-Definition", ".\tf\t17\t18\tO"]  # fmt: skip
    plain = ["Go\tf\t30\t32\tO", ".\tf\t32\t33\tO"]
    (tmp_path / "a.deft").write_text("\n".join(rows) + "\n\n\n" + "\n".join(plain))
    one, two = sentences(tmp_path)
    assert (one.text, one.defines) == ("A ledger is paper.", True)
    assert (two.text, two.defines) == ("Go.", False)

"""Sentences that explain a term, terms nobody defines, and the measures of both."""

import json
from pathlib import Path

import numpy as np
import pytest

from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.definitions.definition_pipeline import SURE, find_definitions
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.jobs import JOBS
from evaluation.definitions import definition_figures
from evaluation.deft import average_scores, predict_held_out, read_sentences
from glossary_scorer import fit
from glossary_sets import Part, Set, may_ship, to_written
from written_documents import read_documents

SAID = [
    ("A ledger is a bound book that holds the accounts of a business.",
     "ledger", "a bound book that holds the accounts of a business"),
    ("A bound book that holds the accounts of a house is called a ledger.",
     "ledger", "A bound book that holds the accounts of a house"),
    ("A clerk is deemed to be absent if he has sent no word by noon of the day.",
     "absent",
     "A clerk is deemed to be absent if he has sent no word by noon of the day."),
]  # fmt: skip
PLAIN = [
    "It is kept in the office.",
    "In 1850 Henry Ashworth became clerk of the Leeds office.",
    "However, they could not find the 12 books.",
    "Who was there?",
    "Please refer to the list of registered clerks that is kept in the office.",
    "Kindly refer to the list of the clerks that is kept in the office.",
    "Clerk refer to the list of registered offices that is kept in the house.",
    "Controlled clinical studies of the drug which is used for the treatment of pain.",
    "b) As the record is a book that is not kept in the office, hours are lost.",
]


def told(text, threshold=SURE):
    blocks = [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))]
    return find_definitions(text, blocks, threshold)


@pytest.mark.parametrize(("text", "term", "meaning"), SAID)
def test_sentence_that_explains(text, term, meaning):
    (one,) = told(text)
    assert (one.term, one.definition) == (term, meaning)
    assert one.source is DefinitionSource.STATEMENT
    assert text[one.start : one.end] == meaning
    assert text[slice(*one.named_at)] == term
    assert SURE <= one.confidence < 1
    assert one.found_by
    assert one.reasons


ANY = 0.0  # a threshold that keeps every candidate


@pytest.mark.parametrize(
    "text",
    [
        "A mooring is a place that costs the following sums:",
        "The mooring fees are set out in Schedule 2.",
        "The moorings are as shown below:",
        "The mooring plans can be found in the table overleaf.",
    ],
)
def test_words_that_only_point_to_others_define_nothing(text):
    assert told(text, ANY) == []
    whole = "A mooring is a place below the pier that is listed in Schedule 2."
    assert [one.term for one in told(whole, ANY)] == ["mooring"]


def test_list_behind_a_colon_makes_the_words_whole():
    text = "A mooring is one of the following:\n\na buoy\n\na ring"
    kinds = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.LIST_ITEM)
    starts, ends = (0, 36, 44), (34, 42, 50)
    places = zip(kinds, starts, ends, strict=True)
    blocks = [Block(kind=kind, start=low, end=high) for kind, low, high in places]
    (one,) = find_definitions(text, blocks, ANY)
    assert one.term == "mooring"
    assert one.definition.endswith("a ring")


@pytest.mark.parametrize(
    "text",
    [
        "Two hulls are a pair that the yard builds from one mould.",
        "The first is a rope that holds the bow to the pier.",
        "Regardless of whether the vessel is a ferry or a barge, the owner pays.",
        "Although there is a pilot that knows the river, boats wait.",
        "In a race of two hulls each of them is considered separately.",
        "A race is considered to have ended if all boats are in.",
    ],
)
def test_counts_clauses_and_adverbs_are_no_terms(text):
    names = {one.term.lower() for one in told(text, ANY)}
    assert not names & {
        "two hulls", "first", "regardless", "although there", "separately",
        "ended", "ended race", "have ended",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Two Hull Class is a class of boats that race in pairs.", "Two Hull Class"),
        ("First aid is the help that a crew gives before a doctor.", "First aid"),
        ("A ferry without a rival on its river is deemed a monopoly.", "monopoly"),
        ("A line to the pier is deemed a water supply.", "water supply"),
        ("A boat is considered lost if no sign of it is seen for a day.", "lost"),
        (
            "A clerk who sends no word is considered to have vacated office.",
            "vacated office",
        ),
    ],
)
def test_names_that_look_like_counts_and_adverbs_are_terms(text, term):
    assert term in {one.term for one in told(text, ANY)}


@pytest.mark.parametrize("text", PLAIN)
def test_sentence_that_only_tells(text):
    assert told(text) == []


EXPLAINING = SAID[0][0]


def test_rule_books_keep_what_they_state(store, make, add):
    before = [e.definition for e in Handbook(store, ["handbook"]).entries]
    add(store, "handbook", make(f"# 1 On books\n{EXPLAINING}", "Essay"))
    after = [e.definition for e in Handbook(store, ["handbook"]).entries]
    (added,) = [one for one in after if one not in before]
    assert [one for one in after if one is not added] == before
    assert (added.term, added.source) == ("ledger", DefinitionSource.STATEMENT)
    stated = [one.confidence for one in before if one.source == "prose"]
    assert all(one > added.confidence for one in stated)


def test_a_book_without_definitions_is_read_as_a_textbook(store, make, add):
    add(store, "essays", make(f"# 1 On books\n{EXPLAINING}", "Essay"))
    (one,) = Handbook(store, ["essays"]).entries
    assert (one.term, one.definition.source) == ("ledger", DefinitionSource.STATEMENT)


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


def undefined_in(store, make, add, rules):
    text = f'# 1 Definitions\n1.1 "Ground Lease" means a right.\n# 2 Rules\n{rules}'
    add(store, "estates", make(text, "Estates"))
    return {one.term: one.uses for one in Handbook(store, ["estates"]).undefined_terms}


NOT_TERMS = [
    "2.1 See the Chapter. A Chapter 3 and a Rule 4 apply. The Chapter ends. A Chapter.",
    "2.1" + " The Basel Committee met." * 4,
    "2.1 An English text, an English name, an English word, an English deed.",
    "2.1 A Fee. Any Fee." + " The Fee of the Ground Lease." * 3,
    "2.1 The EMB sits. An estate board (EMB) is heard. Ask the EMB. The EMB replies.",
    "2.1 The clerk SHALL see that it SHALL be kept and SHALL be read.",
    "2.1 Pay US$5, then US$6, or US$7. See part II, part II and part II.",
]


@pytest.mark.parametrize("rules", NOT_TERMS)
def test_names_that_are_no_terms(store, make, add, rules):
    assert set(undefined_in(store, make, add, rules)) <= {"Fee"}


def test_clause_behind_a_term_is_no_part_of_it(store, make, add):
    rules = "2.1 The Activity of Keeping a plot. An Activity. No Activity of Selling."
    assert undefined_in(store, make, add, rules) == {"Activity": 3}


def test_short_form_that_nobody_spells_out(store, make, add):
    rules = "2.1 The KRT sits. Ask the KRT first. The KRT replies."
    assert undefined_in(store, make, add, rules) == {"KRT": 3}


def test_name_of_one_thing_counts_when_it_is_used_often(store, make, add):
    rules = "2.1 " + "The Official Roll is kept. " * 4 + "The Usher comes. " * 7
    assert undefined_in(store, make, add, rules) == {"Official Roll": 4}


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


def deft(*rows):
    """A sentence of a DEFT file: words with their tags."""
    lines, at = [], 0
    for word, tag in rows:
        lines.append(f"{word}\tf\t{at}\t{at + len(word)}\t{tag}")
        at += len(word) + 1
    return "\n".join(lines)


DEFINES = deft(("A", "O"), ("ledger", "B-Term"), ("is", "O"), ("paper", "B-Definition"))
ADDS = deft(("It", "O"), ("is", "O"), ("blue", "B-Secondary-Definition"))
TELLS = deft(("Go", "O"), ("on", "O"))


def test_marked_sentences(tmp_path):
    (tmp_path / "a.deft").write_text("\n\n\n".join([DEFINES, ADDS, TELLS]))
    found = read_sentences(tmp_path)
    assert [one.text for one in found] == ["A ledger is paper", "It is blue", "Go on"]
    assert [one.defines for one in found] == [True, True, False]
    assert [one.chiefly for one in found] == [True, False, False]


def test_figures_of_marked_sentences(tmp_path):
    folder = tmp_path / "deft_definitions" / "dev"
    folder.mkdir(parents=True)
    for name in "abc":
        (folder / f"{name}.deft").write_text("\n\n".join([DEFINES, TELLS]))
    figures = {one["measure"]: one for one in definition_figures(tmp_path)}
    assert figures["definition_peer_every_sentence"]["value"] == 0.6667
    assert figures["definition_peer_embedder"]["value"] == 1
    assert figures["definition_sentence_f1"]["bar"] == 0.7


def test_no_figures_without_the_data(tmp_path):
    assert list(definition_figures(tmp_path)) == []


def test_held_out_weights_have_not_seen_the_file():
    files = [name for name in "abcdefgh" for _ in range(10)]
    gold = np.array([n % 2 == 0 for n in range(80)])
    telling = gold[:, None].astype(float)
    assert (
        average_scores(predict_held_out(telling, gold, files), gold, files)["f1"] == 1
    )
    # A cue of one file alone says nothing of it once that file is held out.
    own = telling * np.array([[name == "a"] for name in files])
    first = [said[:10].tolist() for said in predict_held_out(own, gold, files)]
    assert all(len(set(said)) == 1 for said in first)


def test_interval_holds_the_mean():
    files = [name for name in "abcdefgh" for _ in range(10)]
    gold = np.array([n % 2 == 0 for n in range(80)])
    said = [np.array([n % 3 == 0 for n in range(80)])]
    found = average_scores(said, gold, files)
    assert found["low"] < found["f1"] < found["high"]


def glossary_set(name, *right):
    """Candidates with one feature that tells right ones from wrong ones."""
    rows = [{"cue": float(one)} for one in right]
    return Set(name, [Part(None, [], rows)], (), list(right), [1.0] * len(right))


@pytest.mark.parametrize(
    "name", ["textbooks", "obliqa/rules.txt", "reading_dev/a.pdf", "handbooks/a.md"]
)
def test_weights_that_ship_are_not_fitted_on_texts_that_may_only_be_measured(name):
    own = glossary_set("sample", 1.0, 0.0, 0.0)
    other = glossary_set(name, 0.0, 1.0, 1.0, 1.0)
    assert fit([own, other], ["cue"]).content() == fit([own], ["cue"]).content()


def test_written_documents_teach_stated_rows_and_leave_weak_ones_aside():
    written = to_written(read_documents()[:2])
    assert may_ship(written.name)
    weights = set(zip(written.right, written.counts, strict=True))
    assert weights >= {(1.0, 0.5), (0.0, 0.5)}
    assert (1.0, 0.0) in weights  # of a weak row

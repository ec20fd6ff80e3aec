"""Fact sheets answer with one line, table rows where a cell is asked for."""

import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from answer_world import node
from elt_llm_core import provenance
from elt_llm_core.provenance import Provenance
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.definition import is_sheet_of
from elt_llm_query.analysis.question import analyse
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.postprocessors.fixed_steps import NamesakeLookUp
from elt_llm_query.synthesizers.extractive.candidates import Passage, find_candidates
from elt_llm_query.synthesizers.extractive.fact_sheet import asks_for_cell, pick_line
from elt_llm_query.synthesizers.extractive.lead_ins import LeadFinder
from elt_llm_query.synthesizers.extractive.synthesizer import (
    ExtractiveOptions,
    ExtractiveSynthesizer,
)
from query_world import fill, packed

LENIENT = ExtractiveSynthesizer(limits=ExtractiveOptions(lexical_threshold=0.6))

CARD = (
    "Library Card\nDomain: LENDING\nSubtype: Papers\nType: DataObject\n"
    "READERS is related to LENDING.\nLENDING is related to ROOMS."
)
TOLD = (
    "Library Card\nType: DataObject\nLevel: 3\nStatus: APPROVED\nProof of membership."
)
OTHER = "Guest Card\nDomain: GUESTS\nType: DataObject"
EDGE = (
    "LENDING is related to ROOMS. Each LENDING has at most one ROOMS (0..1).\n"
    "Source domain: LENDING\nTarget domain: ROOMS\nCardinality: 1..1-0..1"
)


def respond(question, *texts):
    sheets = [node(text, kind="fact_sheet") for text in texts]
    labelled = LabelSources().postprocess_nodes(sheets)
    return LENIENT.synthesize(QueryBundle(question), labelled)


@pytest.mark.parametrize(
    ("question", "said", "quote"),
    [
        (
            "Which domain does the entity Library Card belong to?",
            "Library Card - Domain: LENDING",
            "Library Card\nDomain: LENDING",
        ),
        (
            "Which subtype of the domain LENDING holds the entity Library Card?",
            "Library Card - Subtype: Papers",
            "Subtype: Papers",
        ),
        ("What status has Library Card?", "Library Card - Status: APPROVED", None),
        ("What level does Library Card have?", "Library Card - Level: 3", None),
        ("Is the Library Card approved?", "Library Card - Status: APPROVED", None),
        (
            "What is a Library Card?",
            "Library Card - Proof of membership.",
            "Proof of membership.",
        ),
        (
            "What is the description of the Library Card?",
            "Library Card - Proof of membership.",
            "Proof of membership.",
        ),
        (
            "Which domains is the domain ROOMS related to?",
            "LENDING is related to ROOMS.",
            "LENDING is related to ROOMS.",
        ),
    ],
)
def test_the_line_that_is_asked_for(question, said, quote):
    sheets = (CARD, TOLD, OTHER)
    found = respond(question, *sheets)
    first, *_ = found.metadata["claims"]
    assert first.text == said
    text = sheets[int(first.label[1:]) - 1]
    assert text[first.start : first.end] == (quote or said.partition(" - ")[2])


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "What is the cardinality of the relationship from LENDING to ROOMS?",
            "LENDING is related to ROOMS - Cardinality: 1..1-0..1",
        ),
        (
            "How is LENDING related to ROOMS?",
            "LENDING is related to ROOMS. Each LENDING has at most one ROOMS (0..1).",
        ),
    ],
)
def test_the_line_of_a_relationship(question, said):
    assert pick_line(analyse(question), EDGE).wording == said


def test_relations_that_follow_each_other_are_one_quote():
    found = pick_line(analyse("Which domains is LENDING related to?"), CARD)
    assert CARD[found.start : found.end].count("\n") == 1
    assert found.wording.startswith("READERS is related to LENDING. LENDING is")


def test_the_same_line_of_both_sheets_of_a_name_is_told():
    second = CARD.replace("LENDING", "ACCESS")
    found = respond(
        "In which domains does the entity Library Card appear?",
        *(CARD, second, OTHER),
    )
    said = {c.text for c in found.metadata["claims"]}
    assert said == {"Library Card - Domain: LENDING", "Library Card - Domain: ACCESS"}


def test_a_sheet_without_what_is_asked_for_says_nothing():
    assert pick_line(analyse("Who wrote the Library Card?"), CARD) is None
    described = pick_line(analyse("Describe the Library Card"), CARD)
    assert described.fit == 0
    assert pick_line(analyse("Is Name related to X?"), "Name") is None
    assert pick_line(analyse("What is a Name?"), "Name") is None


ATTRIBUTES = (
    "Loan\nDomain: LENDING\nFact sheet: a-1\nautoSize: 1\nbusiness owner: Front Desk\n"
    "retention_years: 7"
)


@pytest.mark.parametrize(
    "question", ["What is a loan?", "Define loan.", "What is the definition of Loan?"]
)
def test_an_attribute_is_no_meaning(question):
    assert pick_line(analyse(question), ATTRIBUTES) is None
    means = f"{ATTRIBUTES}\ndefinition: A book that a reader has at home."
    assert pick_line(analyse(question), means).wording.endswith(
        "definition: A book that a reader has at home."
    )
    sentence = f"{ATTRIBUTES}\na thing at home: a book or a map."
    described = pick_line(analyse(question), sentence)
    assert described.wording == "Loan - a thing at home: a book or a map."
    sentence = f"{ATTRIBUTES}\nhas two parts: a book and a map."
    described = pick_line(analyse(question), sentence)
    assert described.wording == "Loan - has two parts: a book and a map."


def test_an_attribute_with_a_small_key_answers_by_its_name():
    asked = pick_line(analyse("Who is the business owner of the loan?"), ATTRIBUTES)
    assert asked.wording == "Loan - business owner: Front Desk"


NOTICE = "Boil Notice\nDomain: QUALITY\nType: Shape\nLimit Breach leads to Boil Notice."
DRAWN = (
    "Supply Point is measured by Meter. Each Supply Point has at most one Meter "
    "(0..1). Each Meter has exactly one Supply Point (1..1).\n"
    "Source domain: PROPERTY\nTarget domain: METERING\nCardinality: 1..1-0..1"
)
LEADS = "Limit Breach leads to Boil Notice.\nSource domain: QUALITY"
ROLE = "Billing Lead\nType: Business Role\nBilling Lead approves Payment Plan."
KIND = "Void Property is a specialization of Property.\nSource domain: PROPERTY"


@pytest.mark.parametrize("text", [NOTICE, LEADS])
@pytest.mark.parametrize(
    "question",
    [
        "Who issues a Boil Notice?",
        "Who leads to a Boil Notice?",
        "When does a Limit Breach lead to a Boil Notice?",
        "How long does a Boil Notice last?",
        "How many boil notices are there?",
        "What is a Quality Notice?",
        "What ends a Boil Notice?",
        "Does a Boil Notice lead to a Limit Breach?",
        "Does a Sample lead to a Boil Notice?",
        "Why does a Limit Breach lead to a Boil Notice?",
    ],
)
def test_a_relation_answers_no_question_of_another_kind(question, text):
    assert pick_line(analyse(question), text) is None


@pytest.mark.parametrize(
    ("question", "text", "wording"),
    [
        ("What may lead to a Boil Notice?", LEADS, LEADS.partition("\n")[0]),
        ("Does a Limit Breach lead to a Boil Notice?", LEADS, LEADS.partition("\n")[0]),
        ("Is a Void Property a kind of Property?", KIND, KIND.partition("\n")[0]),
        (
            "Who approves a Payment Plan?",
            ROLE,
            "Billing Lead - Billing Lead approves Payment Plan.",
        ),
        (
            "How many meters can a supply point have?",
            DRAWN,
            "Each Supply Point has at most one Meter (0..1).",
        ),
    ],
)
def test_a_relation_answers_a_question_about_it(question, text, wording):
    assert pick_line(analyse(question), text).wording == wording


PLACES = "customer places order.\nSource domain: SALES"
SMALL = "customer\nType: entity\ncustomer places order."
LENDS = "Warden Approves Loan."
BELONGS = "Member Card belongs to Member."


@pytest.mark.parametrize(
    ("question", "text", "ends"),
    [
        ("What does the customer place?", PLACES, ("customer", "order")),
        ("What does the customer place?", PLACES, ("order", "customer")),
        ("Does a customer place an order?", PLACES, ("customer", "order")),
        ("What does the customer place?", SMALL, None),
        ("What places an order?", SMALL.replace("customer\n", "order\n", 1), None),
        ("What does the Warden approve?", LENDS, ("Warden", "Loan")),
        ("What does the Warden approve?", f"Warden\nType: Post\n{LENDS}", None),
        ("Does Member Card belong to Member?", BELONGS, ("Member Card", "Member")),
        ("Does Member Card belong to Member?", BELONGS, None),
    ],
)
def test_names_and_verbs_of_a_relation_may_be_written_small_or_with_capitals(
    question, text, ends
):
    assert pick_line(analyse(question), text, ends)


@pytest.mark.parametrize(
    ("question", "text", "ends"),
    [
        ("What does the customer cancel?", PLACES, ("customer", "order")),
        ("Does an order place a customer?", PLACES, ("customer", "order")),
        ("What does the customer return?", SMALL, None),
        ("What does the Warden refuse?", LENDS, ("Warden", "Loan")),
        ("Does Member belong to Member Card?", BELONGS, ("Member Card", "Member")),
    ],
)
def test_another_verb_or_order_of_the_ends_is_another_relation(question, text, ends):
    assert pick_line(analyse(question), text, ends) is None


@pytest.mark.parametrize("kind", ["BusinessRole", "BusinessActor", "Business Role"])
def test_a_role_is_somebody_however_its_type_is_written(kind):
    assert pick_line(
        analyse("Who approves a Payment Plan?"), ROLE.replace("Business Role", kind)
    )


@pytest.mark.parametrize(
    ("question", "is_kept"),
    [("Wer bedient das Portal?", True), ("Who repairs the Portal?", False)],
)
def test_of_a_question_in_another_language_the_whole_relation_is_a_candidate(
    question, is_kept
):
    text = "Portal serves Member Desk."
    passage = Passage("S1", "n", text, whole=True, sheet=True)
    asked = analyse(question)
    kept = find_candidates(asked, [passage], asked.weights, LeadFinder([passage]))
    assert bool(kept) is is_kept


@pytest.mark.parametrize(
    "question",
    [
        "How many meters are there?",
        "How many readings can a meter have?",
        "How many meters can a supply point have in winter?",
    ],
)
def test_a_count_of_ends_answers_only_its_own_question(question):
    assert pick_line(analyse(question), DRAWN) is None


def test_a_description_has_the_kind_that_is_asked_for():
    process = "Register Report\nType: Business Process\nFrom call to graded case."
    role = "Control Lead\nType: Business Role\nGrades incoming reports."
    assert pick_line(analyse("Who grades a report?"), process) is None
    assert pick_line(analyse("Who grades a report?"), role)
    assert pick_line(analyse("When is a report graded?"), role) is None
    assert pick_line(analyse("What grades reports?"), role)


@pytest.mark.parametrize(
    "question",
    ["How many entities are in LENDING?", "Which entities are in the LENDING domain?"],
)
def test_one_sheet_is_no_list_of_a_domain(question):
    assert pick_line(analyse(question), CARD) is None


def test_the_name_of_a_sheet():
    assert is_sheet_of("library card", CARD)
    assert not is_sheet_of("card", CARD)
    assert not is_sheet_of("", "")


def test_a_cell_is_asked_for_by_its_row_and_header():
    reading = "Fees - Service: Guest card | Fee: 5 euros | Payable: at once"
    assert asks_for_cell(analyse("What is the fee for a guest card?"), reading)
    assert not asks_for_cell(analyse("What is the fee for a card?"), reading)
    assert not asks_for_cell(analyse("What is the colour of a guest card?"), reading)
    assert not asks_for_cell(analyse("What is the fee for a guest card?"), "no cells")


class Reversed(HashEmbedding):
    """Vectors that put the sheets asked about far from each other."""

    def _get_text_embeddings(self, texts):
        found = super()._get_text_embeddings(texts)
        pairs = zip(texts, found, strict=True)
        return [[-x for x in v] if "ACCESS" in text else v for text, v in pairs]


def test_every_sheet_of_a_name_answers_however_far_its_vector_is():
    more = [CARD.replace("LENDING", f"ACCESS {n}") for n in range(5)]
    sheets = [node(text, kind="fact_sheet") for text in (CARD, *more, OTHER)]
    labelled = LabelSources().postprocess_nodes(sheets)
    question = "In which domains does the entity Library Card appear?"
    strict = ExtractiveSynthesizer(Reversed(), ExtractiveOptions(threshold=0.8))
    found = strict.synthesize(QueryBundle(question), labelled)
    assert [c.text for c in found.metadata["claims"]] == [
        "Library Card - Domain: LENDING",
        *(f"Library Card - Domain: ACCESS {n}" for n in range(5)),
    ]


def sheet_document(name, *texts):
    """A document with a fact sheet a text."""
    text, nodes = "", []
    for ordinal, said in enumerate(texts):
        span = {"span_start": len(text), "span_end": len(text) + len(said)}
        place = Provenance(document=name, ordinal=ordinal, kind="fact_sheet", **span)
        nodes.append(provenance.write(TextNode(text=said), place))
        text += f"{said}\n\n"
    return packed(name, text, [], [], nodes)


def test_the_sheets_of_a_name_are_looked_up_in_every_collection(tmp_path):
    store, models = Store(tmp_path), Models(HashEmbedding())
    second, third = (CARD.replace("LENDING", name) for name in ("ACCESS", "ARCHIVE"))
    far = OTHER.replace("Guest Card", "Guest Library Card")
    one = sheet_document("one", CARD, far, second)
    content = {"one": [one], "two": [sheet_document("two", third)]}
    fill(store, models, content)
    opened = [store.open("one"), store.open("two")]
    first, *_ = store.nodes("one")
    step = NamesakeLookUp().over(opened)
    given = [NodeWithScore(node=first, score=0.5)]
    found = step.postprocess_nodes(given, query_str="Where is the library card?")
    assert [n.node.text for n in found] == [CARD, second, third]
    assert [n.score for n in found] == [0.5] * 3
    assert step.postprocess_nodes(given, query_str="Where is the card?") == given
    only = NamesakeLookUp().over(opened, {"document": "one"})
    found = only.postprocess_nodes(given, query_str="Where is the library card?")
    assert [n.node.text for n in found] == [CARD, second]
    store.close()

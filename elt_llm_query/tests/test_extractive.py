from dataclasses import replace

import pytest
from llama_index.core.schema import QueryBundle

from answer_world import node, respond
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ModelUnavailableError
from elt_llm_core.models.factory import build_models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.question import analyse, defined_term
from elt_llm_query.analysis.stems import pieces, stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.claim_spans import claim_of
from elt_llm_query.synthesizers.extractive.ranking import (
    ScoredCandidate,
    choose,
    keep_in_form,
    keep_proven,
)
from elt_llm_query.synthesizers.extractive.refusal import refusal
from elt_llm_query.synthesizers.extractive.single_rows import is_rivalled
from elt_llm_query.synthesizers.extractive.synthesizer import (
    ExtractiveOptions,
    ExtractiveSynthesizer,
)

FEES = (
    "The fee for an overdue book is 20 cents per day. It must not exceed 10 euros. "
    "Lost books are paid for in full."
)
LIST = (
    "A group room may be used by:\n- readers with a card;\n- teachers with a class.\n"
    "Rooms close at 20:00."
)


def test_the_answer_is_verbatim_and_labelled():
    found = respond("What is the fee for an overdue book?", node(LIST), node(FEES))
    assert found.response == "The fee for an overdue book is 20 cents per day. [S2]"
    (claim,) = found.metadata["claims"]
    assert FEES[claim.start : claim.end] == claim.text
    assert found.metadata["refused"] is False
    assert len(found.source_nodes) == 2


@pytest.mark.parametrize(
    "question",
    [
        "Who is the director?",
        "What is the fee for an overdue film on BluRay?",
        "How many people work at the desk?",
        "When was the fee introduced?",
        "What does ISO 9001 say about an overdue book?",
    ],
)
def test_what_the_sources_do_not_say_is_refused(question):
    found = respond(question, node(FEES), node(LIST))
    assert found.response.startswith(
        "No passage that was found answers this for sure. Nearest: Rules"
    )
    assert found.metadata["claims"] == []
    assert found.metadata["refused"] is True


def test_a_sentence_that_leans_on_another_is_quoted_with_it():
    lenient = ExtractiveSynthesizer(limits=ExtractiveOptions(lexical_threshold=0.7))
    question = QueryBundle("May the fee for an overdue book exceed 10 euros?")
    found = lenient.synthesize(question, [node(FEES)])
    assert found.response.startswith("The fee for an overdue book")
    assert "It must not exceed 10 euros." in found.response


def test_a_list_is_quoted_with_its_items():
    found = respond("Who may use a group room?", node(LIST))
    assert "readers with a card; - teachers with a class. [S1]" in found.response
    assert "20:00" not in found.response


def test_a_table_row_is_said_with_headers_and_quoted_verbatim():
    row = node(
        "North Street\t10 to 14",
        kind="table_row",
        index_text="Opening hours - Branch: North Street | Saturday: 10 to 14",
    )
    found = respond("What opening hours has North Street on Saturday?", row)
    assert found.response == (
        "Opening hours - Branch: North Street | Saturday: 10 to 14 [S1]"
    )
    (claim,) = found.metadata["claims"]
    assert (claim.start, claim.end) == (0, len("North Street\t10 to 14"))


def test_the_same_question_has_the_same_answer_every_time():
    answers = {
        respond("What is the fee for a book?", node(FEES)).response for _ in "ab"
    }
    assert len(answers) == 1


def test_no_source_no_claim():
    found = respond("What is the fee?")
    assert found.metadata["refused"] is True
    assert found.response == "No passage that was found answers this for sure."
    assert (
        refusal([Passage("S1", "n", "text")])
        == "No passage that was found answers this for sure."
    )


def test_an_embedder_that_fails_leaves_the_words():
    class Down(HashEmbedding):
        def _get_query_embedding(self, query):
            raise ModelUnavailableError("http://nowhere", "refused")

    found = respond("What is the fee for an overdue book?", node(FEES), embedder=Down())
    assert found.response == "The fee for an overdue book is 20 cents per day. [S1]"


def test_plain_llama_index_use_on_text_alone():
    said = ExtractiveSynthesizer(HashEmbedding()).get_response(
        "What is the fee for an overdue book?", [FEES, LIST]
    )
    assert said == "The fee for an overdue book is 20 cents per day. [S1]"


async def _asked(synthesizer):
    return await synthesizer.aget_response("the fee for an overdue book", [FEES])


def test_asking_asynchronously_is_the_same():
    import asyncio

    said = asyncio.run(_asked(ExtractiveSynthesizer()))
    assert said.startswith("The fee for an overdue book")


def test_a_number_alone_is_no_answer():
    lenient = ExtractiveSynthesizer(limits=ExtractiveOptions(lexical_threshold=0.0))
    question = "What is the maximum age of a teacher with an overdue book?"
    found = lenient.synthesize(QueryBundle(question), [node(FEES)])
    assert found.metadata["refused"] is True


def test_limits_are_options():
    strict = ExtractiveSynthesizer(limits=ExtractiveOptions(sure=1.0, sure_lacking=1.0))
    assert strict.get_response("overdue fees please hurry", [FEES]).startswith(
        "No passage"
    )
    many = ExtractiveSynthesizer(limits=ExtractiveOptions(most=1))
    assert many.get_response("book fee overdue", [FEES, FEES + " Yes."]).count("[") == 1


def test_a_question_is_taken_apart():
    question = analyse("How many days does ISO 9001 give a Reader in the City Library?")
    assert question.names == {"iso", "9001", "reader", "citi", "librari"}
    assert "mani" not in question.weights
    assert analyse("What is the cost?").weights
    assert (
        defined_term("What is meant by \u201creference stock\u201d?")
        == "reference stock"
    )
    assert defined_term("What is the fee for a book?") == ""


def test_words_match_by_stem_synonym_and_root():
    vocabulary = frozenset(map(stem, ["minimum", "charges", "direct"]))
    assert match(stem("charge"), vocabulary) == 1
    assert 0.5 < match(stem("fee"), vocabulary) < 1
    assert 0 < match(stem("director"), vocabulary) <= 0.5
    assert match(stem("dog"), vocabulary) == 0


def test_pieces_are_verbatim_and_in_order():
    text = "First one, e.g. this. Second!\n\n1.\nA point\n(a) part one;\n(b) part two."
    found = [text[p.start : p.end] for p in pieces(text)]
    assert found == [
        "First one, e.g. this.",
        "Second!",
        "1.\nA point",
        "(a) part one;",
        "(b) part two.",
    ]
    assert pieces("") == []


def test_a_claim_names_its_place():
    from elt_llm_query.synthesizers.extractive.candidates import Candidate

    start = FEES.index("Lost")
    claim = claim_of(Passage("S1", "n", FEES), Candidate(0, start, len(FEES), 1, 1))
    assert (claim.label, claim.node_id, claim.text) == ("S1", "n", FEES[start:])


def test_capitals_everywhere_name_nothing():
    assert analyse("HOW MANY BOOKS MAY A READER BORROW?").names == frozenset()
    assert analyse("WHAT DOES RULE 12 SAY ABOUT BOOKS?").names == {"12"}


@pytest.mark.parametrize(
    "asked",
    [
        "What happens if I've a book due on a Sunday in May?",
        "Is a deposit due for a book worth 700 crowns?",
        "How much must a village of 3,000 pay?",
        "What is due after 13 seconds?",
        "Which rule covers a share of 15 % or 2 million dollars?",
        "What are the top 100 services?",
    ],
)
def test_days_amounts_and_contractions_name_nothing(asked):
    assert analyse(asked).names == frozenset()


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("What did readers pay in 2019?", {"2019"}),
        ("What does bus 42 cost?", {"42"}),
        ("What does form 4711 contain?", {"4711"}),
        ("What is new in version 6.2?", {"6.2"}),
    ],
)
def test_years_and_numbers_of_things_are_names(asked, names):
    assert analyse(asked).names == names


@pytest.mark.parametrize("asked", ["What does bus 42 cost?", "What is form 42?"])
def test_another_number_of_the_same_thing_is_no_answer(asked):
    text = "Bus 41 costs two crowns. Form 41 is the application for a card."
    answerer = ExtractiveSynthesizer(build_models(RagConfig()).embedder)
    assert answerer.synthesize(asked, [node(text)]).metadata["refused"]


def test_no_more_sentences_are_read_than_decide_the_answer():
    question = analyse("How long is a loan?")
    passages = [Passage("S1", "n", "A loan is three weeks. Paint dries.")]
    best = ScoredCandidate(Candidate(0, 0, 22, 1.0, 1.0), 0.9)
    far = ScoredCandidate(Candidate(0, 23, 35, 0.1, 0.5), 0.1)
    given = iter([best, far, far])
    assert choose(given, question, passages, ExtractiveOptions()) == [best]
    assert list(given) == [far]


@pytest.mark.parametrize(
    ("question", "sure", "count"),
    [
        ("What does a reader bring?", (0.9, 0.6), 2),
        ("What does a reader bring?", (0.7, 0.38), 1),  # is not sure itself
        ("How many books does a reader bring?", (0.9, 0.6), 1),  # one number
    ],
)
def test_a_further_sentence_is_sure_itself_and_no_second_number(question, sure, count):
    passages = [Passage("S1", "n", "A reader brings two books. A reader brings a pen.")]
    spans = ((0, 26), (27, 49))
    given = [
        ScoredCandidate(Candidate(0, *span, 0.9, 1.0), 0.9, sure=share)
        for span, share in zip(spans, sure, strict=True)
    ]
    chosen = choose(given, analyse(question), passages, ExtractiveOptions())
    assert len(chosen) == count


def test_a_row_is_not_proven_where_another_has_a_word_that_it_lacks():
    row = ScoredCandidate(Candidate(0, 0, 9, 0.9, 1.0), 0.6, sure=0.1, whole=True)
    assert keep_proven([row], ExtractiveOptions()) == [row]
    assert keep_proven([replace(row, rivalled=True)], ExtractiveOptions()) == []


def test_the_row_that_has_the_word_is_not_rivalled():
    question = analyse("Which boats are moored permanently?")
    rows = [
        Passage("S1", "a", "Moored boats | eight years", whole=True),
        Passage("S2", "b", "Yawls", section="Boats moored permanently", whole=True),
        Passage("S3", "c", "Yawls are moored permanently."),
    ]
    rows[1] = replace(rows[1], heading=rows[1].section)
    assert is_rivalled(question, rows, 0)
    assert not is_rivalled(question, rows, 1)
    assert not is_rivalled(question, rows[::2], 0)  # prose is no other row


@pytest.mark.parametrize(
    ("question", "text", "kept"),
    [
        (
            "Which flag do small yawls and ketches fly?",
            "7b2) Small yawls and ketches.",
            0,
        ),
        (
            "Which flag do small yawls and ketches fly?",
            "7b2) They fly a red one here.",
            1,
        ),
        ("When do small yawls sail?", "Small yawls sail at 20:00.", 1),
        ("May small yawls sail?", "Small yawls sail.", 1),
    ],
)
def test_a_line_that_only_names_what_is_asked_about_says_nothing(question, text, kept):
    only = Candidate(0, 0, len(text), 1.0, 1.0)
    found = keep_in_form(analyse(question), [only], [Passage("S1", "n", text)])
    assert len(found) == kept


@pytest.mark.parametrize(
    "question",
    [
        'What does "Loans of equipment" say?',
        "what does the section on loans of equipment say",
        "What does chapter Loans of equipment state?",
    ],
)
def test_a_section_that_is_named_is_quoted(question):
    text = "13.4 Loans of equipment\nA kite may be lent. It is returned dry."
    there = node(text, section="13 Loans > 13.4 Loans of equipment")
    found = respond(question, node(FEES), there)
    assert found.response == "A kite may be lent. It is returned dry. [S2]"
    (claim,) = found.metadata["claims"]
    assert text[claim.start : claim.end] == claim.text


def test_a_section_of_another_name_is_not_quoted():
    found = respond('What does "Equipment" say?', node(FEES, section="13.4 Loans"))
    assert found.metadata["refused"] is True


def test_a_list_of_references_answers_nothing():
    said = "Smith, J.: The fee of 2 euros for an overdue book in public libraries."
    question = "What is the fee for an overdue book?"
    assert respond(question, node(said, section="Notes")).metadata["claims"]
    for section in ("References", "9 Annex > 12. Bibliography"):
        found = respond(question, node(said, section=section))
        assert found.metadata["refused"] is True


def test_how_tall_is_answered_by_a_length():
    fee = "The certificate costs 18 crowns and is issued by the inspector."
    size = "The certificate is 20 cm by 30 cm and is issued by the inspector."
    asked = "How tall is the certificate?"
    assert respond(asked, node(fee)).metadata["refused"] is True
    (claim,) = respond(asked, node(size), node(fee)).metadata["claims"]
    assert claim.text == size

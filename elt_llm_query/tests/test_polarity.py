"""What is negated in a question is negated in its answer, and nothing else it names."""

import pytest
from llama_index.core.schema import QueryBundle

from answer_world import node, offer
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_query.analysis.negation import Sign, read_signs
from elt_llm_query.grounding.claim_support import supporting
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.prompts import UNSURE_ANSWER
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer

RIDERS = (
    "1.1 A rider who is insured pays no deposit.\n\n"
    "1.2 A rider who is not insured pays a deposit of 50 crowns."
)
GUESTS = (
    "2.1 A member may bring a guest to the quay on Sundays.\n\n"
    "2.2 A person who is not a member must not bring a guest to the quay."
)
PILOTS = (
    "3.3 A licensed pilot pays a fee of 20 crowns.\n\n"
    "3.4 An unlicensed pilot pays a fee of 35 crowns."
)
MARINA = (
    "7.1 Helmets are not compulsory on board.\n\n"
    "7.2 Life jackets are compulsory on board.\n\n"
    "7.3 Cash payments are not accepted."
)
CLINIC = (
    "5.3 Non-sterile gloves are stored in the blue cabinet.\n\n"
    "5.4 Sterile gloves are stored in the steel locker.\n\n"
    "5.5 A nurse may not prescribe antibiotics.\n\n"
    "5.6 A doctor may prescribe antibiotics and inhalers.\n\n"
    "6.3 Employees other than surgeons park in the north garage.\n\n"
    "6.4 Surgeons park in the yard."
)


def without_doubt(lines):
    return [line for line in lines if line != UNSURE_ANSWER]


@pytest.fixture(scope="module")
def ask():
    synthesizer = ExtractiveSynthesizer(build_models(RagConfig()).embedder)
    told = {"Riders": RIDERS, "Guests": GUESTS, "Pilots": PILOTS}
    told |= {"Clinic": CLINIC, "Marina": MARINA}
    sources = [node(text, section=name) for name, text in told.items()]

    def answer(question):
        labelled = LabelSources().postprocess_nodes(list(sources))
        return synthesizer.synthesize(QueryBundle(question), labelled)

    return answer


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("What does a rider who is not insured pay?", "1.2"),
        ("What deposit does a rider without insurance pay?", "1.2"),
        ("What does a rider who is insured pay?", "1.1"),
        ("What deposit does an insured rider pay?", "1.1"),
        ("Does an insured rider pay a deposit?", "1.1"),
        ("May a non-member bring a guest to the quay?", "2.2"),
        ("May a member bring a guest to the quay?", "2.1"),
        ("Who must not bring a guest to the quay?", "2.2"),
        ("What fee does an unlicensed pilot pay?", "3.4"),
        ("Where are gloves stored that are not sterile?", "5.3"),
        ("Where are sterile gloves stored?", "5.4"),
        ("Who may prescribe antibiotics?", "5.6"),
        ("Who may not prescribe antibiotics?", "5.5"),
        ("May a nurse prescribe antibiotics?", "5.5"),
        ("What may a nurse not prescribe?", "5.5"),
        ("What is compulsory on board?", "7.2"),
        ("What is not compulsory on board?", "7.1"),
        ("Where do surgeons park?", "6.4"),
        ("Where do employees other than surgeons park?", "6.3"),
    ],
)
def test_the_sentence_that_agrees_answers(ask, question, rule):
    (line,) = without_doubt(ask(question).response.splitlines())
    assert line.startswith(f"{rule} ")


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("What does an uninsured rider pay?", "1.2"),
        ("What fee does a pilot without a licence pay?", "3.4"),
        ("What fee does a pilot with a licence pay?", "3.3"),
    ],
)
def test_a_negation_in_another_form_is_never_answered_by_the_opposite(
    ask, question, rule
):
    response = ask(question)
    (line,) = without_doubt(response.response.splitlines())
    assert response.metadata["refused"] or line.startswith(f"{rule} ")


@pytest.mark.parametrize(
    "question",
    [
        "What may a nurse prescribe?",
        "What must a doctor not prescribe?",
        "Which payments are accepted?",
    ],
)
def test_what_is_said_of_the_opposite_alone_is_refused(ask, question):
    assert ask(question).metadata["refused"]


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("A rider who is not insured pays.", {"insured"}),
        ("If a rider is not insured, the deposit is due.", {"insured"}),
        ("A pilot without a valid licence pays a fee.", {"valid", "licence"}),
        ("Riders with no lamp stay ashore.", {"lamp"}),
        ("Who other than surgeons or nurses may park?", {"surgeons", "nurses"}),
        ("A non-member may not vote.", {"member"}),
        (
            "Races other than Long Reach and 3x3 Relay may start.",
            {
                "long",
                "reach",
                "3",
                "x",
                "relay",
            },
        ),
        ("Boats except yawls and ketches are blue.", {"yawls"}),
        ("Riders not on duty wait.", {"duty"}),
        ("A rider who is insured must not pay.", set()),
        ("Loans are renewed twice, unless another reader waits.", set()),
        ("They pay no more than 5 crowns, insured or not.", set()),
    ],
)
def test_the_words_that_stand_negated(text, negated):
    assert {w for w, sign in read_signs(text) if sign is Sign.NEGATED} == negated


def test_another_wording_keeps_what_is_negated():
    source = "An unlicensed pilot pays a fee of 35 crowns."
    assert supporting(
        "The fee of an unlicensed pilot is 35 crowns.", offer("S1", source)
    ).stands
    wrong = supporting("The fee of a licensed pilot is 35 crowns.", offer("S1", source))
    assert not wrong.stands
    assert wrong.reason == "the passage has 'unlicensed' for 'licensed'"

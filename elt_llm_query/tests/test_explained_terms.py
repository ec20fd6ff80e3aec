"""Whether a sentence says what a thing is, and answers that only mention it."""

import pytest

from answer_world import node, respond
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_core.provenance import Cell
from elt_llm_query.analysis.explained_term import (
    asks_for_a_kind,
    asks_what_a_thing_is,
    explains,
)
from elt_llm_query.analysis.question import analyse
from elt_llm_query.prompts import UNSURE_ANSWER


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("weighbridge", "A weighbridge is a scale for whole lorries."),
        ("tontine", "The tontine, which pays the last survivor, is not offered."),
        ("carrel", "Each floor has four carrels (small desks with walls)."),
        ("sextant", "Every officer owns an instrument called a sextant."),
        ("kedging", "Kedging consists of hauling a ship by its anchor."),
        ("minor", "A person under 18 is a minor."),
        ("overtime", "Hours beyond 40 a week count as overtime."),
        (
            "escrow",
            "In escrow, that is to say in the hands of a third party, it waits.",
        ),
        ("torpor", "Torpor is usually described as a short sleep."),
        ("vellum", "Vellum is made from the skin of calves."),
        ("jury list", "Each court keeps a jury list. It is a register of voters."),
        (
            "autoclave",
            "Steam kills germs in the autoclave \u2014 a vessel under pressure.",
        ),
        (
            "coleoptile",
            "The shoot is shielded by the coleoptile: the sheath of its tip.",
        ),
        ("crampon", "Wear spikes such as crampons on the ice."),
        ("phloem", "It travels in another tissue, the phloem, whose cells are alive."),
        ("tontine", "The last to live takes all. This is the tontine."),
        ("bailiff", "The bailiff, appointed by the court, collects the debt."),
        ("gorget", "He wears a collar, gorget, of steel."),
        ("copying", "Copying is theft of another person's work."),
    ],
)
def test_what_says_what_a_thing_is(term, text):
    assert explains(term, text)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("weighbridge", "The weighbridge is calibrated every twelve months."),
        ("weighbridge", "Lorries stop at the weighbridge before they leave."),
        ("tontine", "The tontine is also closed to new members."),
        ("carrel", "Carrels are available from nine o'clock."),
        ("sextant", "The sextant cabinet is a gift of the navy."),
        ("kedging", "Users of the kedging anchor are trained people."),
        ("escrow", "The escrow is in the safe."),
        ("torpor", "Notes on torpor are kept for ten years."),
        ("vellum", "Vellum has been sold since 1911."),
        ("uptake", "Uptake is higher in the countryside."),
        ("uptake", "Uptake was 58 % in May."),
        ("guard pin", "Look at the guard pin: it must fall back."),
        ("audit trail", "The audit trail shall be deleted once a year."),
    ],
)
def test_what_only_mentions_it(term, text):
    assert not explains(term, text)


@pytest.mark.parametrize(
    ("question", "thing", "kind"),
    [
        ("What is a weighbridge?", True, True),
        ("What does kedging mean?", True, True),
        ("What is the orlop?", True, False),
        ("What is a penalty?", True, True),
        ("What is included?", False, False),
        ("What is not free?", False, False),
        ("What does undelivered mean?", True, True),
        ("What is the mooring fee?", False, False),
        ("What is the retention period?", False, False),
        ("What are the opening hours?", False, False),
        ("Who is the harbour master?", False, False),
        ("How long is a lease?", False, False),
    ],
)
def test_which_questions_ask_what_a_thing_is(question, thing, kind):
    asked = analyse(question)
    assert (asks_what_a_thing_is(asked), asks_for_a_kind(asked)) == (thing, kind)


@pytest.fixture(scope="module")
def embedded():
    return build_models(RagConfig()).embedder


@pytest.mark.parametrize(
    ("text", "section", "is_certain"),
    [
        ("The weighbridge is calibrated every twelve months.", "Care", False),
        ("A weighbridge is a scale for whole lorries.", "Care", True),
        ("It weighs lorries. The weighbridge is closed at night.", "Care", False),
        ("The weighbridge is closed at night.", "Rules > Weighbridge", False),
        ("What is the weighbridge?\n\nThe weighbridge weighs lorries.", "Care", True),
    ],
)
def test_an_answer_that_only_mentions_the_thing_is_not_certain(
    text, section, is_certain, embedded
):
    answer = respond(
        "What is a weighbridge?", node(text, section=section), embedder=embedded
    )
    assert "weighbridge" in answer.response
    assert (UNSURE_ANSWER not in answer.response) == is_certain


def table_row(headers, values):
    cells, start = [], 0
    for header, value in zip(headers, values, strict=True):
        cells.append(Cell(header=header, start=start, end=start + len(value)))
        start += len(value) + 1
    shown = " | ".join(f"{h}: {v}" for h, v in zip(headers, values, strict=True))
    return node(
        "\t".join(values),
        kind="table_row",
        section="Faults",
        cells=tuple(cells),
        index_text=f"Faults - {shown}",
    )


def test_the_kind_before_a_key_may_be_in_the_header_above_it(embedded):
    headers = ("Code", "Meaning", "Remedy")
    sources = [
        table_row(headers, ("F-7", "Filter full", "Empty it")),
        table_row(headers, ("F-9", "Fan blocked", "Clean it")),
    ]
    answer = respond("What does fault code F-9 mean?", *sources, embedder=embedded)
    assert "Fan blocked" in answer.response
    assert "Filter full" not in answer.response
    other = respond("What does grade F-9 mean?", *sources, embedder=embedded)
    assert "Fan blocked" not in other.response


def test_an_amount_beside_a_thing_is_no_certain_explanation(embedded):
    row = table_row(("Disease", "Isolation"), ("Mumps", "5 days after the swelling"))
    answer = respond("What is mumps?", row, embedder=embedded)
    assert "5 days" not in answer.response or UNSURE_ANSWER in answer.response

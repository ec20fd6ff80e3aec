"""A claim joins no words of two clauses, and leaves out no condition of its own."""

from dataclasses import replace

import pytest

from answer_world import offer
from elt_llm_query.grounding.statement_lookup import check_statement
from elt_llm_query.grounding.statements import DraftStatement

CASES = [
    # of two clauses
    (
        "The width is read on the gauge, the depth on the scale.",
        ["The width is read on the gauge."],
        ["The width is read on the scale."],
    ),
    (
        "The baker weighs the flour at five, and the head cook salts the soup at two.",
        ["The head cook salts the soup at two.", "The baker weighs the flour."],
        ["The baker salts the soup at two.", "The baker weighs the soup at two."],
    ),
    (
        "Nets are dried on the quay; torn sails may be left in the shed.",
        ["Torn sails may be left in the shed."],
        ["Nets may be left in the shed."],
    ),
    (
        "The clerk must seal the box in wax and returns it within four days.",
        ["The clerk must seal the box in wax."],
        ["The clerk must seal the box in wax within four days."],
    ),
    (
        "The choir holds flutes, old drums, and a brown harp.",
        ["The choir holds a harp.", "The choir holds flutes."],
        [],
    ),
    (
        "A wide lane may be rented for a week. The long lane must not be rented.",
        ["A wide lane may be rented for a week."],
        ["The long lane may be rented for a week."],
    ),
    (
        "The mason cuts the slab at his own cost. The tenant lays it.",
        ["The mason cuts the slab at his own cost."],
        ["The mason cuts the slab at the tenant's cost."],
    ),
    # conditions and exceptions
    (
        "If the lamp is red, the gate is closed and the porter rings the bell.",
        ["If the lamp is red, the porter rings the bell."],
        ["The gate is closed.", "The porter rings the bell."],
    ),
    (
        "Skins can be hung in the loft for a month, provided that they are salted.",
        ["Skins that are salted can be hung in the loft for a month."],
        ["Skins can be hung in the loft for a month."],
    ),
    (
        "A guard removes all bolts which he has set, unless the owner keeps them.",
        ["Unless the owner keeps them, a guard removes all bolts which he has set."],
        ["A guard removes all bolts which the owner has set."],
    ),
    (
        "If the pump stops between May and August, the fitter must come at once.",
        ["The fitter must come at once if the pump stops between May and August."],
        ["If the pump stops, the fitter must come at once."],
    ),
    (
        "The pass lasts 20 days from issue and is void if it was lent.",
        ["The pass lasts 20 days from issue.", "The pass is void if it was lent."],
        [],
    ),
    # small words
    (
        "Salt and water are included; oil and wine are not.",
        ["Salt and water are included."],
        ["Salt, water and wine are included."],
    ),
    (
        "The toll is due on the third market day of a month.",
        ["The toll is due on the third market day."],
        ["The toll is due on the third day of a month."],
    ),
    (
        "It is passed if one fifth of the sworn jurors agree.",
        ["It is passed if one fifth of the sworn jurors agree."],
        ["It is passed if one fifth of the jurors agree."],
    ),
    (
        "The crate holds one axe and one long saw.",
        ["The crate holds one long saw and one axe."],
        ["The crate holds one axe or one long saw."],
    ),
    (
        "The tithe is paid by the end of March.",
        ["By the end of March, the tithe is paid."],
        ["The tithe is paid from the end of March."],
    ),
    (
        "Riders under sixteen need a helmet.",
        ["Riders under 16 need a helmet."],
        ["Riders over sixteen need a helmet."],
    ),
    (
        "Only the head cook and the maid hold a key of the cellar.",
        ["Only the head cook and the maid hold a key."],
        ["Only the head cook holds a key."],
    ),
    # who and whom
    (
        "The lender seals each crate in wax.",  # of the document "Rules"
        ["The lender seals each crate."],
        ["The rules seal each crate."],
    ),
    (
        "The cart is weighed and the driver informs the chief ranger in writing.",
        ["The driver informs the chief ranger in writing."],
        ["The chief ranger informs the driver in writing."],
    ),
    (
        "The reeve opens the court; the vice-reeve reads the roll if he is ill.",
        ["The vice-reeve reads the roll if he is ill."],
        ["The vice-reeve opens the court; the reeve reads the roll if he is ill."],
    ),
    (
        "Parts 29 to 36 of Code Alpha and Parts 35 to 43 of Code Beta apply.",
        ["Parts 29 to 36 of Code Alpha apply."],
        ["Parts 29 to 43 of Code Alpha and Parts 35 to 36 of Code Beta apply."],
    ),
]


def stands(claim, *sources, question=""):
    draft = DraftStatement("", f"{claim} [S1]")
    return check_statement(draft, sources, question).stands


@pytest.mark.parametrize(("source", "true", "false"), CASES)
def test_a_claim_keeps_to_its_clause_and_condition(source, true, false):
    where = offer("S1", f"{source} The list hangs in the hall.")
    assert [claim for claim in true if not stands(claim, where)] == []
    assert [claim for claim in false if stands(claim, where)] == []


def test_a_question_states_the_condition_of_its_answer():
    where = offer("S1", "If the lamp is red, the gate is closed. It is not painted.")
    asked = "What happens if the lamp is red?"
    assert stands("The gate is closed.", where, question=asked)
    assert not stands("The gate is closed.", where, question="What is done daily?")


def test_a_passage_in_another_language_than_its_source_has_its_own_guards():
    swedish = "Bilen ska lämnas av föraren i sin ruta på gården och är låst. " * 2
    where = replace(
        offer("S1", f"{swedish}El plazo de aviso es de ocho semanas sin recargo."),
        language="",
    )
    assert stands("El plazo de aviso es de 8 semanas sin recargo.", where)
    assert not stands("El plazo de aviso es de 8 semanas con recargo.", where)

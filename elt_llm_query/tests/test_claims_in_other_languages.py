"""Claims in other languages than English keep what reverses or limits them."""

import pytest

from answer_world import offer
from elt_llm_query.grounding.statement_lookup import check_statement
from elt_llm_query.grounding.statements import DraftStatement

PAIRS = [
    (
        "Hunde sind im Lesesaal nicht erlaubt.",
        "",
        ["Hunde sind im Lesesaal erlaubt.", "Im Lesesaal sind Hunde erlaubt."],
    ),
    (
        "Die Mitglieder zahlen die Gebühr nicht.",
        "Die Mitglieder zahlen die Gebühr nicht.",
        ["Die Mitglieder zahlen die Gebühr."],
    ),
    (
        "Leser ohne Ausweis erhalten keine Bücher.",
        "Leser ohne Ausweis erhalten keine Bücher.",
        ["Leser ohne Ausweis erhalten Bücher."],
    ),
    (
        "Der Lesesaal öffnet nur am Samstag und fasst höchstens vierzig Personen.",
        "Der Lesesaal fasst höchstens vierzig Personen.",
        ["Der Lesesaal fasst vierzig Personen.", "Der Lesesaal öffnet am Samstag."],
    ),
    (
        "Einige Mitglieder zahlen normalerweise einen Beitrag von 20 Euro.",
        "Einige Mitglieder zahlen normalerweise einen Beitrag von 20 Euro.",
        ["Mitglieder zahlen normalerweise einen Beitrag von 20 Euro."],
    ),
    (
        "Los perros no están permitidos en la sala.",
        "En la sala los perros no están permitidos.",
        ["Los perros están permitidos en la sala."],
    ),
    (
        "Los socios nunca pagan la cuota sin recibo.",
        "Los socios nunca pagan la cuota sin recibo.",
        ["Los socios pagan la cuota sin recibo.", "Los socios pagan la cuota."],
    ),
    (
        "Les chiens ne sont pas admis dans la salle.",
        "Dans la salle, les chiens ne sont pas admis.",
        ["Les chiens sont admis dans la salle."],
    ),
    (
        "I cani non sono ammessi nella sala.",
        "I cani non sono ammessi nella sala.",
        ["I cani sono ammessi nella sala."],
    ),
    (
        "Honden worden niet toegelaten in de zaal.",
        "",
        ["Honden worden toegelaten in de zaal."],
    ),
    (
        "Os cães não podem entrar na sala.",
        "Os cães não podem entrar na sala.",
        ["Os cães podem entrar na sala."],
    ),
    ("Hundar får inte vistas i salen.", "", ["Hundar får vistas i salen."]),
    ("Psy nie są wpuszczane do sali.", "", ["Psy są wpuszczane do sali."]),
    ("Собаки не допускаются в зал.", "", ["Собаки допускаются в зал."]),
]


@pytest.mark.parametrize(("source", "true", "false"), PAIRS)
def test_a_claim_keeps_what_limits_its_source(
    source: str, true: str, false: list[str]
) -> None:
    sources = [offer("S1", f"{source} Das ist alles.")]
    for claim in (source, *filter(None, [true])):
        assert check_statement(DraftStatement("", f"{claim} [S1]"), sources).stands
    for claim in false:
        assert not check_statement(DraftStatement("", f"{claim} [S1]"), sources).stands


@pytest.mark.parametrize(
    ("source", "true", "false"),
    [
        (
            "Die Kündigungsfrist beträgt sechs Wochen.",
            "Die Kündigungsfrist beträgt 6 Wochen.",
            "Die Kündigungsfrist beträgt 7 Wochen.",
        ),
        (
            "El plazo de preaviso es de 8 semanas.",
            "El plazo de preaviso es de ocho semanas.",
            "El plazo de preaviso es de nueve semanas.",
        ),
        (
            "Le prêt dure trois semaines.",
            "Le prêt dure 3 semaines.",
            "Le prêt dure 3 jours.",
        ),
    ],
)
def test_number_words_are_numbers(source: str, true: str, false: str) -> None:
    sources = [offer("S1", source)]
    assert check_statement(DraftStatement("", f"{true} [S1]"), sources).stands
    assert not check_statement(DraftStatement("", f"{false} [S1]"), sources).stands

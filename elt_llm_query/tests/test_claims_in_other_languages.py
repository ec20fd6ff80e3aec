"""Claims in other languages than English keep what reverses or limits them."""

from dataclasses import replace

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


@pytest.mark.parametrize(
    ("source", "claim", "known"),
    [
        # "Sin" is "his", "nu" is "now"; Spanish and Romanian negate with them.
        (
            "Bilen ska lämnas av föraren i sin ruta på gården.",
            "Bilen ska lämnas av föraren i ruta på gården.",
            "",
        ),
        (
            "De zaal is nu open voor leden van de club.",
            "Voor leden van de club is de zaal open.",
            "",
        ),
        (
            "Zaal nu open voor leden.",
            "Zaal open voor leden.",
            "nl",
        ),
        (
            "The duo and the solo of the evening are played in the hall.",
            "The duo of the evening is played in the hall.",
            "",
        ),
    ],
)
def test_a_guard_word_of_another_language_is_an_ordinary_word(
    source: str, claim: str, known: str
) -> None:
    sources = [replace(offer("S1", source), language=known)]
    assert check_statement(DraftStatement("", f"{claim} [S1]"), sources).stands


def test_a_quoted_sentence_keeps_the_guards_of_its_language() -> None:
    text = "De zaal is open voor leden. Hunde sind im Lesesaal nicht erlaubt."
    sources = [replace(offer("S1", text), language="nl")]
    claim = DraftStatement("", "Im Lesesaal sind Hunde erlaubt [S1]")
    assert not check_statement(claim, sources).stands


MODALS = [
    (
        "Die Mitglieder müssen im Saal den Ausweis zeigen und dürfen Hunde mitbringen.",
        [
            "Im Saal müssen die Mitglieder den Ausweis zeigen.",
            "Den Ausweis müssen die Mitglieder im Saal zeigen.",
            "Die Mitglieder dürfen Hunde mitbringen.",
        ],
        [
            "Die Mitglieder dürfen im Saal den Ausweis zeigen.",
            "Die Mitglieder müssen Hunde mitbringen.",
            "Hunde müssen die Mitglieder mitbringen.",
            "Die Mitglieder sollen im Saal den Ausweis zeigen.",
        ],
    ),
    (
        "Hunde müssen an der Leine geführt werden. Katzen dürfen frei laufen.",
        ["An der Leine müssen Hunde geführt werden.", "Frei laufen dürfen Katzen."],
        ["An der Leine dürfen Hunde geführt werden.", "Frei laufen müssen Katzen."],
    ),
    (
        "Hunde dürfen nicht im Lesesaal schlafen.",
        [],
        ["Hunde müssen nicht im Lesesaal schlafen.", "Hunde dürfen im Saal schlafen."],
    ),
    (
        "Los socios deben pagar la cuota en enero y pueden usar la sala.",
        [
            "En enero los socios deben pagar la cuota.",
            "Los socios pueden usar la sala.",
        ],
        ["Los socios pueden pagar la cuota.", "Los socios deben usar la sala."],
    ),
    (
        "Les membres doivent payer la cotisation et peuvent utiliser la salle.",
        [
            "Les membres doivent payer la cotisation.",
            "Les membres peuvent utiliser la salle.",
        ],
        [
            "Les membres peuvent payer la cotisation.",
            "Les membres doivent utiliser la salle.",
        ],
    ),
    (
        "I soci devono pagare la quota e possono usare la sala.",
        ["I soci devono pagare la quota.", "I soci possono usare la sala."],
        ["I soci possono pagare la quota.", "I soci devono usare la sala."],
    ),
    (
        "De leden moeten in januari de bijdrage betalen en mogen de zaal gebruiken.",
        ["In januari moeten de leden de bijdrage betalen."],
        [
            "De leden mogen in januari de bijdrage betalen.",
            "De leden moeten de zaal gebruiken.",
        ],
    ),
    (
        "Os sócios devem pagar a quota e podem usar a sala.",
        ["Os sócios devem pagar a quota.", "Os sócios podem usar a sala."],
        ["Os sócios podem pagar a quota.", "Os sócios devem usar a sala."],
    ),
]


@pytest.mark.parametrize(("source", "true", "false"), MODALS)
def test_a_duty_is_no_permission(
    source: str, true: list[str], false: list[str]
) -> None:
    sources = [offer("S1", source)]
    for claim in (source, *true):
        check = check_statement(DraftStatement("", f"{claim} [S1]"), sources)
        assert check.stands, (claim, check.reason)
    for claim in false:
        assert not check_statement(DraftStatement("", f"{claim} [S1]"), sources).stands

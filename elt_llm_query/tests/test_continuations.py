"""A sentence without its verb is quoted with the one that has it."""

import pytest

from answer_world import node, respond

PETS = (
    "Snakes and spiders are forbidden in the house. So are dogs of listed breeds. "
    "The office keeps a list of the breeds."
)
HENS = (
    "Animals that are permitted in the garden: hens. Rabbits, goats and pigs are not."
)
SOAP = "Soap is provided. Towels are not; they are rented at the desk."


@pytest.mark.parametrize(
    ("question", "text", "quoted", "left"),
    [
        ("Which pets are forbidden in the house?", PETS, "dogs of listed", "office"),
        ("Which animals are permitted in the garden?", HENS, "goats and pigs", "-"),
        ("Are towels provided?", SOAP, "Soap is provided. Towels are not", "-"),
        ("Are snakes forbidden in the house?", PETS, "Snakes", "dogs of listed"),
        ("Is soap provided?", SOAP, "Soap is provided.", "Towels"),
    ],
)
def test_what_continues_an_enumeration_is_quoted(question, text, quoted, left):
    answer = str(respond(question, node(text)))
    assert quoted in answer
    assert left not in answer

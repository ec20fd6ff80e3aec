"""Front matter of Markdown files: what it says of a document is stored with it."""

import pytest

from elt_llm_ingest.readers.front_matter import split_front_matter


def read(front):
    body, title, attributes = split_front_matter(f"---\n{front}---\nText.\n")
    assert body == "Text.\n"
    return title, attributes


def test_a_date_authors_and_identifiers_are_kept():
    assert read(
        "title: 'Tides'\nlayout: page\ndate: 2021-03-05 10:00:00\njournal: Sea\n"
        "author:\n  - Jo Doe\n  - {name: Al Roe, orcid: 0000}\ndoi: 10.1000/1\n"
    ) == (
        "Tides",
        {"stated_title": "Tides",
         "date": "2021-03-05", "journal": "Sea", "doi": "10.1000/1",
         "authors": "Jo Doe; Al Roe"},
    )  # fmt: skip


@pytest.mark.parametrize(
    "front",
    [
        "title: Tides: high\nauthor: [Jo\n",
        "title: Tides: high\na: &a [x, x]\nauthor: [*a, *a]\n",
        f"title: Tides: high\nauthor: {'[' * 5000}\n",
    ],
)
def test_what_is_no_plain_yaml_gives_only_its_title(front):
    assert read(front) == ("Tides: high", {"stated_title": "Tides: high"})


def test_a_text_without_front_matter_is_its_body():
    assert split_front_matter("Text.\n---\nMore.\n") == ("Text.\n---\nMore.\n", "", {})

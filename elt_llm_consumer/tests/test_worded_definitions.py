"""Definitions in the wording of an organisation."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.definitions.definition_records import text_units
from elt_llm_consumer.definitions.worded_definitions import FOUND_BY, add_worded
from elt_llm_consumer.glossary import GlossaryJob
from elt_llm_core.config.loader import load_config
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.jobs import JobContext
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding


def worded(text: str, *wordings: str) -> list[tuple[str, str]]:
    block = Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))
    definitions = add_worded([], text, text_units(text, [block]), wordings)
    for one in definitions:
        start, end = one.spans[0]
        assert text[start:end] == one.definition
        assert one.found_by == FOUND_BY
    return [(one.term, one.definition) for one in definitions]


@pytest.mark.parametrize(
    ("wording", "text", "expected"),
    [
        (
            "By {term} we understand {definition}",
            "It rains. By Haulm Day we\nunderstand the last Saturday. Go home.",
            ("Haulm Day", "the last Saturday"),
        ),
        (
            "{definition} goes by the name of {term}",
            "1.2 A plot without a tenant goes by the name of Fallow Plot, here.",
            ("Fallow Plot", "A plot without a tenant"),
        ),
        (
            "{term} = {definition}",
            "(a) NAV = value of assets.",
            ("NAV", "value of assets"),
        ),
        (
            "Unter {term} versteht man {definition}.",
            "Unter Frist versteht man einen Zeitraum.",
            ("Frist", "einen Zeitraum"),
        ),
    ],
)
def test_a_wording_finds_term_and_definition(wording, text, expected):
    assert worded(text, wording) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "We understand the last Saturday.",  # no term
        "Thereby Haulm Day we understand nothing.",  # within a word
        "By Haulm Day. We understand the last Saturday.",  # two sentences
    ],
)
def test_what_is_worded_otherwise_is_no_definition(text):
    assert worded(text, "By {term} we understand {definition}") == []


def test_a_wording_is_a_setting(store, add, make):
    add(store, "rules", make("# Rules\nUnder Haulm Day we put the last Saturday."))

    def terms(wordings: list[str]) -> list[tuple[str, str]]:
        over = {"consumer": {"definition_patterns": wordings}}
        context = JobContext(load_config(environ={}, overrides=over), store)
        job = GlossaryJob(collections=("rules",))
        report = job.build(Models(embedder=HashEmbedding()))(context)
        rows = json.loads(Path(report.files["glossary_json"]).read_text("utf-8"))
        return [(row["term"], row["found_by"]) for row in rows]

    assert terms([]) == []
    assert terms(["Under {term} we put {definition}"]) == [("Haulm Day", FOUND_BY)]

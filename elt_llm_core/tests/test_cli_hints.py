"""Commands in hints run as they stand."""

import shlex

import pytest

from elt_llm_core.cli.common import complete_hint, read_shared_options

ROOT = {"--data-dir": "my data"}


@pytest.mark.parametrize(
    ("hint", "whole"),
    [
        ("run: elt-llm doctor", "run: elt-llm doctor --data-dir 'my data'"),
        (
            "elt-llm store restore latest, or remove x",
            "elt-llm store restore latest --data-dir 'my data', or remove x",
        ),
        (
            "elt-llm a; elt-llm b.",
            "elt-llm a --data-dir 'my data'; elt-llm b --data-dir 'my data'.",
        ),
        (
            "elt-llm ingest a.b/c --collection x or leave it",
            "elt-llm ingest a.b/c --collection x --data-dir 'my data' or leave it",
        ),
        ("see elt-llm store purge --help", "see elt-llm store purge --help"),
        ("elt-llm-data is the default", "elt-llm-data is the default"),
        ("elt-llm doctor --data-dir it", "elt-llm doctor --data-dir it"),
    ],
)
def test_a_command_in_a_hint_is_about_the_same_data(hint: str, whole: str) -> None:
    assert complete_hint(hint, ROOT) == whole
    assert complete_hint(hint, {}) == hint


def test_the_options_are_those_of_the_command_line() -> None:
    words = shlex.split(
        "x --data-dir 'a b' --json --profile=p --config f -- --config c"
    )
    assert read_shared_options(words) == {
        "--data-dir": "a b",
        "--profile": "p",
        "--config": "f",
    }
    assert read_shared_options(["--", "--data-dir", "x"]) == {}

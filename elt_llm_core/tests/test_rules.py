"""Rule numbers are written one way and found by it."""

import pytest

from elt_llm_core.language.rule_numbers import canonical, is_within, parent


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Rule 3.2.1.(2)", "3.2.1(2)"),
        ("rules 3.2", "3.2"),
        ("\u200e1.3.3", "1.3.3"),
        ("Article 5 (2)", "Art. 5(2)"),
        ("Art. 5", "Art. 5"),
        ("Article E", "Art. E"),
        ("\u00a7 3 ( a )", "3(a)"),
        ("9f4)", "9f4"),
        ("C12(a).", "C12(a)"),
        ("2.1.3.Guidance.1.", "2.1.3.Guidance.1"),
        ("articles", "articles"),
        ("", ""),
    ],
)
def test_one_way_to_write_a_number(written, expected):
    assert canonical(written) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize(
    ("rule", "above", "expected"),
    [
        ("3.2.1(a)", "3.2", True),
        ("3.2", "3.2", True),
        ("3.20", "3.2", False),
        ("3.2", "3.2.1", False),
        ("9f4", "9f", True),
        ("9f4", "9", True),
        ("art. 5(2)", "Art. 5", True),
        ("Art. 51", "Art. 5", False),
        ("3.2", "", False),
    ],
)
def test_what_stands_below(rule, above, expected):
    assert is_within(rule, above) is expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("3.2.1(a)", "3.2.1"), ("3.2", "3"), ("3", ""), ("9f4", "9f"), ("9f", "9"),
     ("Art. 5(2)", "Art. 5"), ("Art. 5", "")],
)  # fmt: skip
def test_one_level_up(rule, expected):
    assert parent(rule) == expected

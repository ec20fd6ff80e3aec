"""Names from outside cannot steer the terminal of those who read them."""

import pytest

from elt_llm_core.cli.terminal import Styled, escape_controls, escape_line

NAMES = [
    ("a\x1b[2Jb", "a\\x1b[2Jb"),
    ("gpj\u202efdp", "gpj\\u202efdp"),
    ("a\x9bb\u2066", "a\\x9bb\\u2066"),
    ("a\rb\u2028", "a\\rb\\u2028"),
    ("bad\udcff", "bad\\udcff"),
    ("na\u00efve \u65e5\u672c \u0633\u200c\u0644 'q'", None),
]


@pytest.mark.parametrize(("name", "told"), NAMES)
@pytest.mark.parametrize("escape", [escape_controls, escape_line])
def test_what_steers_a_terminal_is_escaped(escape, name, told):
    assert escape(name) == (told or name)


def test_lines_stay_lines_but_not_in_a_name():
    assert escape_controls("a\n\tb") == "a\n\tb"
    assert escape_line("a\n\tb") == "a\\n\\tb"


def test_colours_of_ours_stay():
    assert escape_controls(Styled("\x1b[1mCitations\x1b[0m")).startswith("\x1b[1m")

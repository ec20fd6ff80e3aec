"""Numbers of figures in captions and sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elt_llm_core.language.figure_numbers import caption_number, mentioned_figures

KNOWN = frozenset({"1", "2", "3", "4", "5", "2-4", "A.1", "3.2", "3.3", "3.4", "S1"})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Figure 3: The quay", "3"),
        ("FIGURE 4", "4"),
        ("Fig. 2a. The quay", "2a"),
        ("Figure 2 (a) left, (b) right", "2"),
        ("Fig. 12-4. The quay", "12-4"),
        ("Figure 12\u20134. The quay", "12-4"),
        ("Figure A.1 The quay", "A.1"),
        ("Abbildung 3: Der Kai", "3"),
        ("Abb. 3.1 Der Kai", "3.1"),
        ("Figura 2. El muelle", "2"),
        ("Figures of speech", ""),
        ("Configure 3", ""),
        ("The quay (Figure 3)", ""),
    ],
)
def test_a_caption_begins_with_its_number(text, number):
    assert caption_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Figure 3. The quay", "3"),
        ("Fig. 3: The quay", "3"),
        ("Figure 3 shows the quay.", ""),
        ("Figure 3.", "3"),
    ],
)
def test_a_marked_caption_is_no_sentence(text, number):
    assert caption_number(text, marked=True) == number


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("see Figure 3", ("3",)),
        ("(Fig. 2a, 3b)", ("2", "3")),
        ("Figs. 1 and 3", ("1", "3")),
        ("siehe Abbildungen 3 und 4", ("3", "4")),
        ("Figures 3-5", ("3", "4", "5")),
        ("Fig. 2-4", ("2-4",)),
        ("Figures 3.2 to 3.4", ("3.2", "3.3", "3.4")),
        ("in Figure A.1, the quay; Fig. S1", ("A.1", "S1")),
        ("Figure 9", ()),
        ("Figure 3 in 2019 and Figure 3 again", ("3",)),
        ("to configure 3 boats", ()),
    ],
)
def test_known_figures_are_found_where_a_text_names_them(text, numbers):
    assert mentioned_figures(text, KNOWN) == numbers


@given(st.text(max_size=200))
def test_any_text_names_known_figures_only(text):
    assert set(mentioned_figures(f"Fig. {text}", KNOWN)) <= KNOWN
    caption_number(f"Figure {text}")

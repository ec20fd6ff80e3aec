"""Where sentences end: not before the number of a reference, but after it."""

import pytest

from elt_llm_core.language.sentences import is_cut_reference, sentence_spans


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Boats are let, except under clause 6.4. The fee is due.", 2),
        ("Boats are let, except under clause\n6.4. The fee is due.", 2),
        ("The fee stands in section 3. It is due in May.", 2),
        ("He keeps berth No. 5 of the quay. It is dry.", 2),
        ("The rule of para. 3 holds.", 1),
        ("Read paras. 4 to 6 and regs. 12 and 13. Then pay.", 2),
        ("Das folgt aus Ziff. 4 und Abs. 3 der Ordnung.", 1),
        ("It is as in section 3.2\n(b) of the rules. It is dry.", 2),
        ("It is as in section 3.2.\n(b) Boats are dry.", 2),
        ("The board says No. 40 boats came.", 1),
    ],
)
def test_a_reference_ends_no_sentence_before_its_number(text, count):
    spans = sentence_spans(text)
    assert len(spans) == count, [text[start:end] for start, end in spans]
    assert "".join(text[start:end] for start, end in spans) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The steps of this section", "1. Open the lid."),
        ("Terms and conditions", "2. Members pay."),
        ("The duties under rule", "1. The skipper steers."),
        ("It is dry.", "6.4 Boats are let."),
        ("Boats are let", "(b) by the day"),
    ],
)
def test_the_items_of_a_list_are_no_references(before, after):
    assert not is_cut_reference(before, after)

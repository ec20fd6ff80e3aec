"""Where sentences end: not before the number of a reference, but after it."""

import pytest
import sentencex

from elt_llm_core.language.sentences import (
    LONG_PARAGRAPH,
    is_cut_reference,
    sentence_spans,
)


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


@pytest.mark.parametrize("text", ["![" * 30_000, "'" * 60_000, "( a" * 20_000])
def test_a_long_paragraph_is_split_in_windows(monkeypatch, text):
    # The time that sentencex takes is quadratic in the length of a paragraph.
    split, sizes = sentencex.get_sentence_boundaries, []

    def record(language, text):
        sizes.append(len(text))
        return split(language, text)

    monkeypatch.setattr(sentencex, "get_sentence_boundaries", record)
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text
    assert max(sizes) < LONG_PARAGRAPH
    assert sum(sizes) < 2 * len(text)


def test_a_long_paragraph_has_the_sentences_of_its_parts():
    part = "The board (see Art. 4) lets it. “Pay! Or go.” Is it dry?\nYes, in No. 5. "
    text = part * 1_000
    assert len(text) > LONG_PARAGRAPH
    once = [text[start:end] for start, end in sentence_spans(part)]
    whole = [text[start:end] for start, end in sentence_spans(text)]
    assert [one.strip() for one in whole] == [one.strip() for one in once] * 1_000

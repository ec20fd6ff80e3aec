"""Answers that were judged by reading: the verdicts stay as good as they were."""

import pytest

import verdicts

# A little worse than was measured, see "Verdicts" in measurements/proof.md: statements
# near the words of their sources, and free paraphrases, most of which are refused.
FLOORS = {
    ("development", "near"): (0.87, 0.02),
    ("held_out", "near"): (0.79, 0.03),
    ("development", "free"): (0.45, 0.02),
    ("held_out", "free"): (0.48, 0.02),
}


@pytest.mark.parametrize(("half", "wording"), FLOORS)
def test_written_answers_get_the_verdicts_of_a_reader(half, wording):
    answers = [
        answer
        for answer in verdicts.read_answers(half)
        if verdicts.wording_of(answer) == wording
    ]
    figures = verdicts.summarise([one for a in answers for one in verdicts.check(a)])
    right, cases = figures["proven or not, right"]
    shown, false = figures["not so, shown as proven"]
    least_right, most_shown = FLOORS[half, wording]
    assert right / cases >= least_right
    assert shown / false <= most_shown


def test_the_halves_share_no_document():
    documents = [
        {a.document for a in verdicts.read_answers(h)} for h in verdicts.HALVES
    ]
    assert documents[0].isdisjoint(documents[1])
    assert sum(len(verdicts.read_answers(half)) for half in verdicts.HALVES) >= 150

import math
from itertools import product

import numpy as np
import pytest

from elt_llm_core.errors import MissingExtraError
from elt_llm_query.evaluation import measures
from elt_llm_query.evaluation.cli import Measure
from elt_llm_query.evaluation.measures import difference, interval, per_question


@pytest.mark.parametrize("name", ["MAP@10", "AP@10", "map@10"])
def test_a_measure_is_known_by_both_names(name):
    assert Measure().convert(name, None, None) == "AP@10"


def test_measures_are_those_of_their_definitions():
    gold = {"a": {"x": 2, "y": 1, "z": 0}, "b": {"x": 1}, "c": {"w": 1}}
    rankings = {
        "a": ["n1", "x", "n2", "y"],
        "b": [f"n{i}" for i in range(11)] + ["x"],
    }
    found = per_question(gold, rankings)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    gain = 2 / math.log2(3) + 1 / math.log2(5)
    assert found["nDCG@10"] == pytest.approx({"a": gain / ideal, "b": 0, "c": 0})
    assert found["R@10"] == {"a": 1, "b": 0, "c": 0}
    assert found["R@100"] == {"a": 1, "b": 1, "c": 0}
    assert found["AP@10"] == pytest.approx({"a": (1 / 2 + 2 / 4) / 2, "b": 0, "c": 0})
    assert found["RR"] == pytest.approx({"a": 1 / 2, "b": 1 / 12, "c": 0})


def test_equal_scores_do_not_reorder_a_ranking():
    order = ["b", "a", "c"]
    assert per_question({"q": {"b": 1}}, {"q": order})["RR"] == {"q": 1}
    assert per_question({"q": {"c": 1}}, {"q": order})["RR"] == {
        "q": pytest.approx(1 / 3)
    }


def test_the_interval_is_near_the_normal_one_and_always_the_same():
    values = np.random.default_rng(1).normal(0.5, 0.2, 400).tolist()
    found = interval(values)
    half = 1.96 * np.std(values) / 20
    assert found.mean == round(float(np.mean(values)), 4)
    assert found.high - found.mean == pytest.approx(half, rel=0.1)
    assert found.mean - found.low == pytest.approx(half, rel=0.1)
    assert interval(values) == found


def test_the_permutation_test_agrees_with_all_permutations():
    first = [0.9, 0.8, 0.4, 0.7, 0.6, 0.9, 0.5, 0.8]
    base = [0.5, 0.7, 0.5, 0.4, 0.6, 0.6, 0.2, 0.9]
    pairs = np.array(first) - np.array(base)
    sums = [abs(np.dot(signs, pairs)) for signs in product((-1, 1), repeat=8)]
    exact = np.mean([total >= abs(pairs.sum()) - 1e-9 for total in sums])
    found = difference(first, base)
    assert found.difference == pytest.approx(pairs.mean(), abs=1e-4)
    assert found.p == pytest.approx(exact, abs=0.02)


def test_equal_values_do_not_differ():
    found = difference([0.5, 0.25], [0.5, 0.25])
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_without_the_extra_the_cure_is_told(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(measures, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"ir-measures.*--extra eval"):
        per_question({"q": {"a": 1}}, {"q": ["a"]})

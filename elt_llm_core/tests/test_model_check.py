"""Rules for models: each finds what breaks it, and nothing else."""

import pytest

from elt_llm_core.enterprise.model import EnterpriseModel, ModelSkip
from elt_llm_core.errors import UsageError
from elt_llm_core.graph.model_check import RULES, check_model, read_threshold
from elt_llm_core.graph.model_graph import graph_of
from graph_models import element, relation

GROUP = element("G", "GROUP", role="domain", domain="GROUP", type="Domain")
PLACE = {"type": "DataObject", "domain": "GROUP", "parent_id": "G"}


def thing(key, name="", **more):
    known = {**PLACE, "documentation": f"What {key} is.", **more}
    return element(key, name or key, **known)


def outcomes(elements, relations=(), skips=(), thresholds=None):
    model = EnterpriseModel(
        name="M", source_file="m.xml", format="drawio", elements=(GROUP, *elements),
        relations=tuple(relations), skips=tuple(skips),
    )  # fmt: skip
    check = check_model(graph_of(model), thresholds)
    return check, {rule.rule: rule for rule in check.rules}


WHOLE = (thing("a"), thing("b"))
LINKS = (relation("r1", "a", "b", "Flow"),)


def test_a_good_model_keeps_every_rule():
    check, rules = outcomes(WHOLE, LINKS)
    assert check.passed
    assert list(rules) == [rule.id for rule in RULES]
    assert {rule.broken for rule in rules.values()} == {0}


def test_an_empty_model_breaks_no_rule():
    check, rules = outcomes(())
    assert check.passed
    assert rules["MOD009"].share == 0


@pytest.mark.parametrize(
    ("rule", "elements", "relations", "broken"),
    [
        ("MOD002", (*WHOLE, thing("c", "A")), LINKS, ["a", "c"]),
        ("MOD002", (*WHOLE, thing("c", "a", type="Role")), LINKS, []),
        ("MOD002", (*WHOLE, thing("c", "a", domain="OTHER")), LINKS, []),
        ("MOD003", WHOLE, [relation("r1", "a", "a", "Composition")], ["a"]),
        (
            "MOD003",
            WHOLE,
            [
                relation("r1", "a", "b", "Composition"),
                relation("r2", "b", "a", "Aggregation"),
            ],
            ["a", "b"],
        ),
        ("MOD003", WHOLE, [relation("r1", "a", "a", "Flow")], []),
        ("MOD007", (thing("a", domain="", parent_id=""), thing("b")), LINKS, ["a"]),
        ("MOD008", (*WHOLE, thing("c")), LINKS, ["c"]),
        ("MOD008", (*WHOLE, thing("c")), [relation("r1", "G", "a")], []),
        ("MOD009", (thing("a", documentation=" "), thing("b")), LINKS, ["a"]),
    ],
)
def test_elements_that_break_a_rule(rule, elements, relations, broken):
    _, rules = outcomes(elements, relations)
    assert [e.id for e in rules[rule].elements] == broken


def counted(key, source, target, one, other, **more):
    return relation(key, source, target, at_source=one, at_target=other, **more)


@pytest.mark.parametrize(
    ("rule", "relations", "broken"),
    [
        ("MOD004", [counted("r1", "a", "b", "1..1", "0..*"),
                    counted("r2", "b", "a", "0..*", "1..1")], []),
        ("MOD004", [counted("r1", "a", "b", "1..1", "0..*"),
                    counted("r2", "a", "b", "0..1", "0..*")], ["r1", "r2"]),
        ("MOD004", [counted("r1", "a", "b", "1..1", "0..*"),
                    counted("r2", "a", "b", "0..1", "0..*", name="owns")], []),
        ("MOD005", [counted("r1", "a", "b", "1..1", "")], ["r1"]),
        ("MOD005", LINKS, []),
        ("MOD006", [relation("r1", "a", "b")], ["r1"]),
    ],
)  # fmt: skip
def test_relations_that_break_a_rule(rule, relations, broken):
    _, rules = outcomes(WHOLE, relations)
    assert [r.id for r in rules[rule].relations] == broken
    assert rules[rule].passed == (not broken)


def test_what_a_file_has_and_the_model_has_not_is_named_with_its_reason():
    skip = ModelSkip(kind="element", id="x", name="", reason="it has no name")
    _, rules = outcomes(WHOLE, LINKS, [skip])
    assert rules["MOD001"].skips == ("element 'x': it has no name",)


def test_a_share_at_the_threshold_is_kept():
    elements = (*WHOLE, thing("c", documentation=""), thing("d", documentation=""))
    _, rules = outcomes(elements, LINKS)
    assert (rules["MOD009"].share, rules["MOD009"].passed) == (0.5, True)
    _, rules = outcomes(elements, LINKS, thresholds={"MOD009": 0.49})
    assert not rules["MOD009"].passed


@pytest.mark.parametrize("thresholds", [{"MOD999": 0.1}, {"MOD001": 1.5}])
def test_a_wrong_threshold_is_refused(thresholds):
    with pytest.raises(UsageError):
        outcomes(WHOLE, LINKS, thresholds=thresholds)


def test_a_threshold_is_read_from_a_line():
    assert read_threshold(" mod007=0.2") == ("MOD007", 0.2)
    for wrong in ("", "MOD007", "MOD007=much"):
        with pytest.raises(UsageError, match="not a threshold"):
            read_threshold(wrong)

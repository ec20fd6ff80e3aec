"""Other names and short forms of what a question names, without a model."""

import pytest
import yaml

from elt_llm_core.errors import ConfigError
from elt_llm_core.language.acronyms import find_acronyms
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.query import search_collections
from query_world import (
    ASK,
    built,
    configured,
    fill,
    make_document,
    question,
    stage,
    texts,
)

LAWS = [
    ("Basics", "Anti Money Laundering (AML) rules bind every firm."),
    (
        "Duties",
        "A firm names an officer against money laundering. AML training is due.",
    ),
    ("Funds", "FSRA (Financial Services Regulatory Authority) registers funds."),
]


def test_names_of_a_ring_stand_for_one_another():
    table = {"fee": ("fine", "charge"), "overdue book": ("late book",)}
    transform, _ = built("aliases", table=table)
    given = question(ASK)
    found = transform.transform(given)
    assert texts(found) == [
        ASK,
        "What is the fine for an overdue book?",
        "What is the charge for an overdue book?",
        "What is the fee for an late book?",
    ]
    assert all(s.bundle.embedding == given[0].bundle.embedding for s in found)
    assert [s.weight for s in found] == [1.0, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A FEE is due", ["A fine is due"]),
        ("coffee is free", []),
        ("the club fee of a member club", ["the club fine of a member club"]),
    ],
)
def test_only_whole_names_are_found(text, found):
    transform, _ = built("aliases", table={"fee": ("fine", "  ")})
    assert texts(transform.transform(question(text)))[1:] == found


def test_a_part_of_the_name_in_use_is_no_other_name():
    transform, _ = built("aliases", table={"aerie": ("member club", "club")})
    given = question("When is a member club founded?")
    assert texts(transform.transform(given))[1:] == ["When is a aerie founded?"]


def test_a_file_of_aliases(tmp_path):
    file = tmp_path / "aliases.yaml"
    file.write_text(yaml.safe_dump({"fee": ["fine"]}))
    transform, _ = built("aliases", file=str(file))
    assert len(transform.transform(question(ASK))) == 2
    for content, said in (("- a", "must map"), ("a: [", "not valid YAML")):
        file.write_text(content)
        with pytest.raises(ConfigError, match=said):
            built("aliases", file=str(file))
    with pytest.raises(ConfigError, match="cannot read"):
        built("aliases", file=str(tmp_path / "none.yaml"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the Anti Money Laundering (AML) rules", [("AML", "Anti Money Laundering")]),
        ("Terms of Trade (TOT), (a) the", [("TOT", "Terms of Trade")]),
        ("Bank of the West (BW)", [("BW", "Bank of the West")]),
        (
            "FSRA (Financial Services Regulatory Authority)",
            [("FSRA", "Financial Services Regulatory Authority")],
        ),
        ("something else (AML) and ADGM (see below)", []),
        ("(AML)", []),
    ],
)
def test_documents_introduce_short_forms(text, found):
    pairs = find_acronyms(text, "initials")
    assert [(pair.short, pair.long) for pair in pairs] == found


@pytest.fixture(scope="module")
def laws(tmp_path_factory):
    store, models = Store(tmp_path_factory.mktemp("laws")), Models(HashEmbedding())
    fill(store, models, {"laws": [make_document("Laws", LAWS)]})
    yield store
    store.close()


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Who gives AML training?", "Who gives Anti Money Laundering training?"),
        ("What is anti money laundering?", "What is AML?"),
        (
            "What does the FSRA do?",
            "What does the Financial Services Regulatory Authority do?",
        ),
        ("What does the SEC do?", None),
    ],
)
def test_short_forms_are_taken_from_the_collections(laws, text, other):
    def added(**options):
        result = search_collections(
            ["laws"],
            text,
            store=laws,
            config=configured(
                transform_strategy=("aliases",), transform_options={"aliases": options}
            ),
            models=Models(HashEmbedding()),
        )
        top = stage(result, "transform:aliases").top
        return [said.split(" | ")[0] for said, _ in top[1:]]

    assert added() == ([other] if other else [])
    assert added(acronyms=False) == []

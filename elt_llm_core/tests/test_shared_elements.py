"""Elements that several files have in common are counted and listed once."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elt_llm_core.enterprise.joining import join_models
from elt_llm_core.enterprise.model import (
    INVENTORY_FORMAT,
    EnterpriseModel,
    ModelElement,
    ModelLocation,
)
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.model_graph import graph_of
from elt_llm_core.graph.shared_elements import SHOWN
from elt_llm_core.records import replace_fields

KINDS = ("Application", "ApplicationComponent")


def model(file: str, *things: tuple[str, str, str]) -> EnterpriseModel:
    """A model of a file: names, types and fact sheet ids."""
    return EnterpriseModel(
        name=file, source_file=file, format="drawio",
        elements=tuple(
            ModelElement(
                id=f"{file}{n}", name=name, type=kind, fact_sheet_id=sheet,
                location=ModelLocation(file=file),
            )
            for n, (name, kind, sheet) in enumerate(things)
        ),
    )  # fmt: skip


def count(*models: EnterpriseModel):
    questions = GraphQuestions(graph_of(join_models(models)))
    return questions.answer("How many applications are there?")


def test_an_application_of_two_files_is_counted_once_and_the_answer_says_it():
    answer = count(
        model("a.xml", ("Till", KINDS[1], ""), ("Web", KINDS[1], "")),
        model("b.xlsx", ("Till", KINDS[0], "f1"), ("Bank", KINDS[0], "f2")),
    )
    assert (answer.number, len(answer.elements)) == (3, 3)
    assert answer.text == (
        "3 in the model: Till, Web, Bank. "
        "In several files (a.xml and b.xlsx) and counted once: Till."
    )


def test_what_a_file_tells_apart_stays_apart():
    twice = model("a.xml", ("Till", KINDS[0], ""), ("Till", KINDS[0], ""))
    assert count(twice).text == "2 in the model: Till (2 of this name)."
    sheets = [model(f, ("Till", KINDS[0], f)) for f in ("a.xml", "b.xml")]
    assert count(*sheets).number == 2
    service = model("c.xml", ("Till", "ApplicationService", ""), ("Web", KINDS[0], ""))
    assert count(twice, service).number == 3


@pytest.mark.parametrize(
    ("drawn", "listed", "number"),
    [
        ([("Till", "", "")], [("Till", KINDS[0], "f1")], 1),
        ([("Till", "shape", "")], [("Till", KINDS[0], "f1")], 1),
        ([("Till", "", ""), ("Till", "DataObject", "")], [("Till", KINDS[0], "f1")], 3),
        ([("Till", "", ""), ("Till", "Role", "f9")], [("Till", KINDS[0], "f1")], 3),
        ([("Till", "", "")], [("Till", KINDS[0], "f1"), ("Till", "Role", "f2")], 3),
    ],
)
def test_a_shape_without_a_type_joins_by_name_only_without_namesakes(
    drawn, listed, number
):
    inventory = replace_fields(model("b.xlsx", *listed), format=INVENTORY_FORMAT)
    joined = join_models([model("a.drawio", *drawn), inventory])
    assert len(joined.elements) == number


THINGS = st.lists(
    st.tuples(
        st.sampled_from(["Till", "till", "Web", "Bank", *map(str, range(70))]),
        st.sampled_from(KINDS),
        st.sampled_from(["", "", "f1", "f2"]),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=15, deadline=None)
@given(st.lists(THINGS, min_size=1, max_size=3))
def test_the_number_and_the_list_agree(files):
    answer = count(*(model(f"{n}.xml", *things) for n, things in enumerate(files)))
    assert answer.number == len(answer.elements)
    listed = answer.text.partition(": ")[2].partition(".")[0]
    more = re.search(r" and (\d+) more$", listed)
    names = listed.removesuffix(more[0] if more else "").split(", ")
    several = [re.search(r"\((\d+) of this name\)", name) for name in names]
    shown = sum(int(match[1]) if match else 1 for match in several)
    assert shown + (int(more[1]) if more else 0) == answer.number
    assert len(names) <= SHOWN

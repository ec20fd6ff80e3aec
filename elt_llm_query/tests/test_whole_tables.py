"""A small table is quoted whole where the question tells none of its rows apart."""

import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from answer_world import node, respond
from elt_llm_core import provenance
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.grounding.labels import LabelSources, label_of
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from elt_llm_query.synthesizers.extractive.whole_tables import (
    MOST_ROWS,
    TableRows,
    with_labels,
)
from query_world import World, asked, configured, fill, packed

HEADERS = ("Class of boat", "Mooring fee")
ROWS = (("Dinghies", "12 euros"), ("Yachts", "30 euros"), ("Barges", "45 euros"))
LEAD = "4.1 The mooring fee of a night depends on the class of the boat:"
SECTION = "Harbour rules > 4. Mooring fee"
ASK = "How much is the mooring fee?"


def row(values, ordinal, section=SECTION, headers=HEADERS):
    cells, start = [], 0
    for header, value in zip(headers, values, strict=True):
        cells.append(Cell(header=header, start=start, end=start + len(value)))
        start += len(value) + 1
    shown = " | ".join(f"{h}: {v}" for h, v in zip(headers, values, strict=True))
    return node(
        "\t".join(values),
        kind="table_row",
        section=section,
        document_id="harbour",
        ordinal=ordinal,
        cells=tuple(cells),
        index_text=f"4. Mooring fee - {shown}",
    )


def lead(ordinal=1):
    text = f"4. Mooring fee\n\n{LEAD}"
    return node(text, section=SECTION, document_id="harbour", ordinal=ordinal)


def rows(*several, first=2):
    return [row(values, at) for at, values in enumerate(several, start=first)]


@pytest.fixture(scope="module")
def embedded():
    return build_models(RagConfig()).embedder


def test_all_rows_are_quoted_after_the_sentence_that_leads_into_them(embedded):
    found = respond(ASK, *rows(*ROWS)[::-1], lead(), embedder=embedded)
    assert found.response.splitlines() == [
        f"{LEAD} [S4]",
        "4. Mooring fee - Class of boat: Dinghies | Mooring fee: 12 euros [S3]",
        "4. Mooring fee - Class of boat: Yachts | Mooring fee: 30 euros [S2]",
        "4. Mooring fee - Class of boat: Barges | Mooring fee: 45 euros [S1]",
    ]


def test_a_row_that_the_question_names_is_quoted_alone(embedded):
    found = respond(
        "How much is the mooring fee for yachts?",
        *rows(*ROWS),
        lead(),
        embedder=embedded,
    )
    assert "30 euros" in found.response
    assert "12 euros" not in found.response


def test_a_table_about_something_else_is_no_answer(embedded):
    question = "How much is the parking fee?"
    found = respond(question, *rows(*ROWS), lead(), embedder=embedded)
    assert found.metadata["refused"]


@pytest.mark.parametrize(
    "question",
    ["What is the mooring fee for canoes?", "What is the average mooring fee?"],
)
def test_a_table_without_the_row_or_the_figure_asked_for_is_not_quoted(
    question, embedded
):
    found = respond(question, *rows(*ROWS), lead(), embedder=embedded)
    assert "30 euros" not in found.response


def test_a_word_in_one_row_does_not_ask_for_all_rows(embedded):
    planned = ["Yachts", "30 euros, or by a payment plan"]
    several = rows(ROWS[0], planned, ROWS[2])
    asked = "When is the mooring payment?"
    found = respond(asked, *several, lead(), embedder=embedded)
    assert "45 euros" not in found.response
    # in each row, or itself above them, it is of all of them
    paid = [[name, f"{fee}, one payment"] for name, fee in ROWS]
    found = respond(asked, *rows(*paid), lead(), embedder=embedded)
    assert "45 euros" in found.response


def test_a_table_says_what_its_name_is_and_defines_nothing_else(embedded):
    several = (*rows(*ROWS), lead())
    named = respond("What is the mooring fee?", *several, embedder=embedded)
    assert "45 euros" in named.response
    other = respond("What is a dinghy?", *several, embedder=embedded)
    assert "45 euros" not in other.response
    letters = respond("What does BOAT stand for?", *several, embedder=embedded)
    assert "45 euros" not in letters.response


def test_a_list_answers_how_many_things_it_lists(embedded):
    text = (
        "The following conditions must be met for a berth:\n"
        "(a) the boat is insured;\n(b) its owner lives in the town."
    )
    found = respond(
        "How many conditions must be met for a berth?", node(text), embedder=embedded
    )
    assert "(a) the boat is insured; (b) its owner lives in the town." in found.response


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (
            "mooring fee of a night",
            "Table 4.2 - Mooring fee of a night\nby class of boat",
        ),
        (ASK, "4. How much the mooring fee is for a boat . . . . 12"),
    ],
)
def test_a_caption_or_a_line_of_a_table_of_contents_is_no_answer(
    question, line, embedded
):
    found = respond(question, node(line, section="Harbour rules"), embedder=embedded)
    assert found.metadata["refused"]


def test_a_long_table_is_not_quoted_whole(embedded):
    several = [(f"Class {n}", f"{n + 10} euros") for n in range(MOST_ROWS + 1)]
    found = respond(ASK, *rows(*several), embedder=embedded)
    assert len(found.metadata["claims"]) <= 3


def test_rows_of_another_table_or_with_a_gap_between_them_are_not_its_rows(embedded):
    other = row(("Monday", "8 to 12"), 4, headers=("Day", "Office hours"))
    far = row(("Ferries", "90 euros"), 9)
    found = respond(ASK, *rows(*ROWS[:2]), other, far, lead(), embedder=embedded)
    assert "12 euros" in found.response
    assert "30 euros" in found.response
    assert "8 to 12" not in found.response
    assert "90 euros" not in found.response


@pytest.fixture
def harbour(tmp_path, embedded):
    """The table in a store, with a paragraph after it."""
    keys = node("5. Keys", section="Harbour rules > 5. Keys")
    parts = [lead(), *rows(*ROWS), keys]
    text, blocks, nodes = "", [], []
    for ordinal, hit in enumerate(parts, start=1):
        place = provenance.read(hit.node)
        start = len(text)
        text += f"{hit.node.text}\n\n"
        cells = tuple(
            cell.model_copy(
                update={"start": start + cell.start, "end": start + cell.end}
            )
            for cell in place.cells
        )
        end = start + len(hit.node.text)
        moved = place.model_copy(
            update={
                "document": "Harbour",
                "document_id": "",
                "ordinal": ordinal,
                "span_start": start,
                "span_end": end,
                "cells": cells,
            }
        )
        nodes.append(provenance.write(TextNode(text=hit.node.text), moved))
        kind = BlockKind.TABLE_ROW if cells else BlockKind.PARAGRAPH
        blocks.append(
            Block(kind=kind, start=start, end=end, section=place.section, cells=cells)
        )
    store = Store(tmp_path / "root")
    models = Models(embedder=embedded)
    fill(store, models, {"harbour": [packed("Harbour", text, blocks, [], nodes)]})
    yield World(store, models, configured(use_tables=False))
    store.close()


def test_rows_that_were_not_found_are_brought(harbour):
    collection = harbour.store.open("harbour")
    first = next(
        n for n in collection.nodes(collection.ids({})).values() if "12 euros" in n.text
    )
    hit = NodeWithScore(node=first, score=1.0)
    brought = TableRows().over([collection]).postprocess_nodes([hit])
    assert [n.node.text.split("\t")[0] for n in brought[:1]] == ["Dinghies"]
    assert {n.node.text for n in brought[1:]} >= {
        "Yachts\t30 euros",
        "Barges\t45 euros",
    }
    where = {"kind": "prose"}
    limited = TableRows().over([collection], where).postprocess_nodes([hit])
    assert not any("euros" in n.node.text for n in limited[1:])
    assert TableRows().postprocess_nodes([hit]) == [hit]


def test_rows_that_were_brought_and_quoted_are_sources(harbour, embedded):
    collection = harbour.store.open("harbour")
    known = collection.nodes(collection.ids({})).values()
    first = next(n for n in known if "12 euros" in n.text)
    synthesizer = ExtractiveSynthesizer(embedded).over([collection])
    found = synthesizer.synthesize(
        QueryBundle(ASK), [NodeWithScore(node=first, score=1.0)]
    )
    labels = {n.node.node_id: label_of(n.node) for n in found.source_nodes}
    assert sorted(labels.values()) == ["S1", "S2", "S3", "S4"]
    assert all(c.label == labels[c.node_id] for c in found.metadata["claims"])
    assert "45 euros" in found.response


def test_every_row_of_the_answer_is_cited_and_verified(harbour):
    found = asked(harbour, "mooring fee class of boat", ["harbour"], harbour.config)
    assert [c.quote for c in found.citations][-3:] == ["\t".join(r) for r in ROWS]
    assert {s.verdict for s in found.statements} == {"verified"}


def test_a_claim_gets_the_label_of_its_node_whatever_label_it_had():
    claims = [Claim("S9", "b", 0, 1, "x"), Claim("S1", "a", 0, 1, "y")]
    nodes = [NodeWithScore(node=TextNode(id_=i, text="xy")) for i in "ab"]
    labelled = LabelSources().postprocess_nodes(nodes)
    assert [c.label for c in with_labels(claims, labelled)] == ["S2", "S1"]


def test_one_measure_is_no_question_for_a_table_of_other_things(embedded):
    headers, section = ("Property", "Value"), "Ferry > Technical data"
    data = (("Beam", "9 m"), ("Speed", "12 knots"), ("Weight", "80 tonnes"))
    sources = [row(v, i, section, headers) for i, v in enumerate(data, start=2)]
    found = respond("How heavy is the ferry?", *sources, embedder=embedded)
    assert "12 knots" not in found.response


def test_a_table_whose_cells_have_the_unit_answers_as_a_whole(embedded):
    headers, section = ("Class", "Allowance"), "Carry-on baggage"
    data = (("Economy", "8 kg"), ("Business", "12 kg"))
    sources = [row(v, i, section, headers) for i, v in enumerate(data, start=2)]
    question = "How heavy may carry-on baggage be?"
    answer = respond(question, *sources, embedder=embedded).response
    assert "8 kg" in answer
    assert "12 kg" in answer

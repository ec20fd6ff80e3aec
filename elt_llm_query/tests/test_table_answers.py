"""Answers that a whole table gives: the highest, a count, a sum, one cell."""

from dataclasses import replace

import pytest
from llama_index.core.schema import QueryBundle, TextNode

from elt_llm_core import provenance
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.provenance import Parent, Provenance
from elt_llm_core.results import Box, Status, Support
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.tables import Relation, Row
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.table_question import Ask, parse_table_question
from elt_llm_query.query import query_collections
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    PlacedCell,
)
from elt_llm_query.synthesizers.extractive.claim_spans import drop_bare_leads
from elt_llm_query.synthesizers.extractive.question_kinds import WHICH_ROW
from elt_llm_query.synthesizers.extractive.single_rows import (
    drop_single_rows,
    split_unnamed_rows,
)
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from elt_llm_query.synthesizers.table_qa.planner import TableWords
from query_world import World, fill, packed

RECORDS = [
    ["S. No.", "Name of record", "Period"],
    ["25", "Drafts lost", "Not less than 8 years"],
    ["26", "Token register", "20 days"],
]
FLEET = [
    ["Boat", "Length (m)", "Price 2023", "Price 2024", "Crew"],
    ["Gull", "7.5", "$ 1,200", "1,300", "2"],
    ["Heron", "12.0", "$ 3,400", "3,100", "6"],
    ["Tern", "n.a.", "$ 900", "950", "6"],
    ["Night heron", "9.5", "$ 2,000", "2,100", "3"],
    ["Total", "", "$ 7,500", "7,450", "17"],
]
HARBOURS = [
    ["Harbour", "Berths", "Fee"],
    *([f"Port {i}", str(10 + i), f"{i} %"] for i in range(1, 15)),
    ['Robert"); drop table t; --', "9", "1 %"],
]
RESULTS = [
    ["Line", "2022", "2023"],
    ["Assets", "", ""],
    ["Cash", "10", "12"],
    ["Debts", "", ""],
    ["Loans", "(4)", "(7)"],
    ["Growth %", "3", "5"],
]

HOURS = [
    ["Branch", "Opens", "Closes"],
    ["North", "9", "17"],
    ["South", "10", "18"],
    ["East", "8", "20"],
]
STAFF = [
    ["Department", "Headcount", "Year"],
    ["Legal", "12", "2021"],
    ["Legal", "15", "2022"],
    ["Finance", "40", "2021"],
    ["Finance", "38", "2022"],
    ["All departments", "105", ""],
]
CATCH = [["Year", "Herring"], ["2021", "7"], ["2022", "9"], ["2023", "4"]]


def in_parent(node, end, leaves):
    parents = (Parent(start=0, end=end, leaves=leaves),)
    place = provenance.read(node).model_copy(update={"parents": parents})
    return provenance.write(node, place)


def table_document(name, title, rows, per_page=8, whole=False):
    """One chunk a row, some rows a page; a `whole` table is their parent."""
    text, blocks, nodes = "", [], []
    for index, row in enumerate(rows):
        start, cells = len(text), []
        page = 1 + index // per_page
        for place, (header, value) in enumerate(zip(rows[0], row, strict=True)):
            text += ("\t" if place else "") + value
            box = Box(page=page, left=0.1 * place, top=0.2, right=0.9, bottom=0.3)
            cell = Cell(
                header=header,
                start=len(text) - len(value),
                end=len(text),
                column=place,
                boxes=(box,),
            )
            cells.append(cell)
        told = {"row": "header"} if index == 0 else {}
        block = Block(
            kind=BlockKind.TABLE_ROW,
            start=start,
            end=len(text),
            page=page,
            table=title,
            table_number=1,
            cells=tuple(cells),
            attributes=told,
        )
        blocks.append(block)
        if index:
            nodes.append(row_node(name, title, text[start:], block, len(nodes)))
        text += "\n"
    if whole:
        nodes = [in_parent(node, len(text), len(nodes)) for node in nodes]
    return packed(name, text, blocks, [], nodes)


def row_node(name, title, text, block, ordinal):
    said = " | ".join(
        f"{c.header}: {text[c.start - block.start : c.end - block.start]}"
        for c in block.cells
    )
    place = Provenance(
        document=name,
        ordinal=ordinal,
        kind="table_row",
        page=block.page,
        span_start=block.start,
        span_end=block.end,
        cells=block.cells,
        index_text=f"{title} - {said}",
        table=title,
    )
    return provenance.write(TextNode(text=text), place)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("tables"))
    models = Models(embedder=HashEmbedding())
    fill(
        store,
        models,
        {
            "fleet": [table_document("fleet.pdf", "Table 1: Fleet of boats", FLEET)],
            "ports": [table_document("ports.pdf", "Harbours of the coast", HARBOURS)],
            "results": [table_document("results.pdf", "Balance", RESULTS)],
            "whole": [table_document("f.pdf", "Fleet of boats", FLEET, whole=True)],
            "hours": [table_document("hours.pdf", "Opening hours by branch", HOURS)],
            "staff": [table_document("staff.pdf", "Staff", STAFF)],
            "catch": [table_document("catch.pdf", "Catch", CATCH)],
            "twice": [
                table_document("a.pdf", "Fleet of boats", FLEET),
                table_document("b.pdf", "Fleet of boats", [*FLEET[:2], FLEET[3]]),
            ],
        },
    )
    yield World(store, models, RagConfig())
    store.close()


def asked(world, collection, question, **changed):
    query = world.config.query.model_copy(update=changed)
    config = world.config.model_copy(update={"query": query})
    return query_collections(
        [collection], question, store=world.store, config=config, models=world.models
    )


def by_table(result):
    return any(s.name == "tables" and s.n_out for s in result.trace.stages)


@pytest.mark.parametrize(
    ("question", "start", "quotes"),
    [
        (
            "Which boat had the highest price in 2023?",
            "Heron: $ 3,400 - the highest of 4 rows by Price 2023",
            ["Heron", "$ 3,400"],
        ),
        (
            "Which boat has the smallest length?",
            "Gull: 7.5 - the lowest of 4 rows (1 without a value) by Length (m)",
            ["Gull", "7.5"],
        ),
        (
            "Which length is the smallest?",
            "Gull: 7.5 - the lowest of 4 rows (1 without a value) by Length (m)",
            ["Gull", "7.5"],
        ),
        (
            "Which boat has the largest crew?",
            "Heron: 6; Tern: 6 - the highest, tied of 4 rows by Crew",
            ["Heron", "6", "Tern", "6"],
        ),
        (
            "How many boats have a price over $1,000 in 2024?",
            "3 of 4 rows by Price 2024",
            ["Gull", "1,300", "Heron", "3,100", "Night heron", "2,100"],
        ),
        (
            "Which boats have a crew of at least 6?",
            "2 of 4 rows by Crew",
            ["Heron", "6", "Tern", "6"],
        ),
        (
            "What is the sum of the prices of Gull and Tern in 2023?",
            "Price 2023: 2,100 - the sum of 2 rows",
            ["Gull", "$ 1,200", "Tern", "$ 900"],
        ),
        (
            "What is the average crew of the boats?",
            "Crew: 4.2 - the average of 4 rows",
            ["Gull", "2", "Heron", "6", "Tern", "6", "Night heron", "3"],
        ),
        (
            "What was the price of the Night heron in 2024?",
            "Night heron - Price 2024: 2,100",
            ["Night heron", "2,100"],
        ),
        (
            "Which had the higher price in 2023, Gull or Tern?",
            "Gull: $ 1,200 - the highest of 2 rows",
            ["Gull", "$ 1,200"],
        ),
        (
            "What was the highest price of the Heron?",
            "Heron - Price 2023: $ 3,400 - the highest of 2 columns",
            ["Heron", "$ 3,400"],
        ),
    ],
)
def test_a_table_answers_with_the_cells_it_rests_on(tables, question, start, quotes):
    result = asked(tables, "fleet", question)
    assert by_table(result), result.answer
    assert result.answer.startswith(start)
    assert result.status is Status.ANSWERED
    assert [c.quote for c in result.citations] == quotes
    assert {c.support for c in result.citations} == {Support.VERIFIED}
    assert all(f"[{c.label}]" in result.answer for c in result.citations)
    text = tables.store.document_text(result.citations[0].document_id)
    for citation in result.citations:
        assert text[citation.span.start : citation.span.end] == citation.quote
        assert len(citation.boxes) == 1


@pytest.mark.parametrize(
    "question",
    [
        "Which boat had the highest price?",  # of which year
        "Which boat had the highest price in 2019?",
        "Which boat had the highest speed in 2023?",
        "Which boat from Norway had the highest price in 2023?",
        "How many boats have a price over 1,000 %?",
        "How many boats have a crew of more than 6 metres?",
        "What was the price of the Pelican in 2024?",
        "What is the largest crew of the boats in winter?",
        "Who paints the boats?",
        "May the price of a boat be more than $1,000?",
        "'; drop table t; --",
    ],
)
def test_it_steps_aside_where_a_word_is_left_or_there_is_doubt(tables, question):
    assert not by_table(asked(tables, "fleet", question))


def test_an_aggregate_covers_all_pages_and_cites_every_cell(tables):
    result = asked(tables, "ports", "What is the sum of the berths of the harbours?")
    assert result.answer.startswith("Berths: 254 - the sum of 15 rows by Berths")
    assert {c.page for c in result.citations} == {1, 2}
    assert len(result.citations) == 30
    labels = [s.label for s in result.sources]
    assert labels == [f"S{i}" for i in range(1, len(labels) + 1)]
    assert {c.label for c in result.citations} <= set(labels)


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("What are the berths of Port 3?", "p. 1"),
        ("What are the berths of Port 14?", "p. 2"),
        ("What is the sum of the berths of Port 9 and Port 14?", "p. 2"),
        ("What is the sum of the berths of Port 3 and Port 14?", "pp. 1-2"),
    ],
)
def test_an_answer_names_the_pages_of_its_citations(tables, question, where):
    result = asked(tables, "ports", question)
    assert by_table(result), result.answer
    assert f"(Harbours of the coast, {where})" in result.answer
    first, last = (f(c.page for c in result.citations) for f in (min, max))
    assert where == (f"p. {first}" if first == last else f"pp. {first}-{last}")


def test_a_hostile_cell_is_only_a_value(tables):
    result = asked(tables, "ports", "Which harbour has the fewest berths?")
    assert result.answer.startswith('Robert"); drop table t; --: 9 - the lowest')
    assert by_table(asked(tables, "ports", "Which harbour has the most berths?"))


@pytest.mark.parametrize(
    "question",
    [
        "Which line had the highest balance in 2023?",  # several tables in one
        "What is the sum of the lines of the balance in 2022?",
    ],
)
def test_a_table_of_sections_or_mixed_units_is_not_compared(tables, question):
    assert not by_table(asked(tables, "results", question))


def test_a_cell_of_it_is_still_looked_up(tables):
    result = asked(tables, "results", "What were the loans in 2023?")
    assert result.answer.startswith("Loans - 2023: (7)")


def test_two_tables_that_differ_answer_nothing(tables):
    question = "Which boat had the highest price in 2023?"
    assert not by_table(asked(tables, "twice", question))
    same = asked(tables, "twice", "What was the price of the Gull in 2023?")
    assert same.answer.startswith("Gull - Price 2023: $ 1,200")


@pytest.mark.parametrize(
    "question",
    [
        "Which branch has the longest opening hours?",
        "Which branch is open the longest?",
        "What are the opening hours of North?",
        "What is the average opening hours of the branches?",
    ],
)
def test_a_noun_of_the_caption_chooses_no_column(tables, question):
    assert not by_table(asked(tables, "hours", question))
    latest = asked(tables, "hours", "Which branch opens latest?")
    assert latest.answer.startswith("South: 10 - the highest of 3 rows by Opens")


@pytest.mark.parametrize(
    ("collection", "question"),
    [
        ("staff", "What is the sum of headcount?"),
        ("staff", "What is the average headcount of the departments?"),
        ("staff", "How many departments have a headcount above 10?"),
        ("staff", "Which departments have a headcount above 10?"),
        ("staff", "Which had the higher headcount, Legal or Finance?"),
        ("catch", "What is the sum of the herring of the catch?"),
    ],
)
def test_rows_of_other_years_are_not_added_up_or_counted(tables, collection, question):
    assert not by_table(asked(tables, collection, question))


def test_the_best_of_rows_that_repeat_and_the_sum_of_named_years_are_told(tables):
    least = asked(tables, "staff", "Which department had the lowest headcount?")
    assert least.answer.startswith("Legal: 12 - the lowest of 4 rows")
    named = asked(tables, "catch", "What is the sum of the herring in 2021 and 2023?")
    assert named.answer.startswith("Herring: 11 - the sum of 2 rows")


def passage_of(row, headers):
    text, cells = "\t".join(row), []
    for header, value in zip(headers, row, strict=True):
        start = cells[-1].end + 1 if cells else 0
        cells.append(PlacedCell(start, start + len(value), header))
    said = " | ".join(f"{h}: {v}" for h, v in zip(headers, row, strict=True))
    return Passage("S1", "n", text, reading=said, whole=True, cells=tuple(cells))


@pytest.mark.parametrize(
    ("rows", "question", "kept"),
    [
        (STAFF, "What is the total headcount in 2022?", []),
        (STAFF, "What is the total headcount?", ["All departments"]),
        (STAFF, "What is the total headcount of Legal?", []),
        (STAFF, "How many departments are there?", []),
        (STAFF, "How many departments have a headcount above 10?", []),
        (FLEET, "How many boats cost more than 3400 in 2023?", []),
        (FLEET, "How many boats have a crew of 6?", []),
        (FLEET[:3], "How many crew boats does the harbour have?", []),
        (FLEET, "Which boat has the highest price?", []),
        (FLEET, "Which has the higher price, Gull or Tern?", []),
        (FLEET, "What is the sum of the prices of Gull and Tern?", []),
        (FLEET, "What is the average crew?", []),
        (FLEET, "What is the highest price of the Heron?", ["Heron"]),
        (FLEET, "What was the total price in 2023?", ["Total"]),
        (FLEET[:3], "How many crew does the Gull have?", ["Gull", "Heron"]),
        (FLEET[:3], "What was the price of the Gull?", ["Gull", "Heron"]),
        (RECORDS, "How many drafts are kept for not less than 8 years?", []),
        (RECORDS, "How many copies of the token register must be kept?", []),
        (RECORDS, "How many days is the token register kept?", ["26"]),
    ],
)
def test_one_row_is_no_answer_to_a_question_of_all(rows, question, kept):
    passages = [passage_of(row, rows[0]) for row in rows[1:]]
    prose = Passage("S1", "n", "There are five of them.")
    found = [
        Candidate(i, 0, len(p.text), 1.0, 1.0) for i, p in enumerate([*passages, prose])
    ]
    left = drop_single_rows(analyse(question), found, [*passages, prose])
    assert left[-1] == found[-1]
    assert [rows[c.passage + 1][0] for c in left[:-1]] == kept


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("How many crew does the Gull have?", ["Gull"]),
        ("What was the price of the Gull?", ["Gull"]),
        ("What were the prices of boats?", []),
        ("Which boat has a crew of 6?", ["Heron"]),
    ],
)
def test_a_row_that_the_question_does_not_tell_from_others_is_no_answer(question, kept):
    rows = FLEET[:3]
    passages = [passage_of(row, rows[0]) for row in rows[1:]]
    found = [Candidate(i, 0, len(p.text), 1.0, 1.0) for i, p in enumerate(passages)]
    named, unnamed = split_unnamed_rows(analyse(question), found, passages)
    assert [rows[c.passage + 1][0] for c in named] == kept
    assert len(named) + len(unnamed) == len(found)


def test_a_number_that_rows_may_hold_is_not_taken_from_a_sentence():
    rows = [
        ["Service", "Grade 1", "Grade 2"],
        ["Less than 10 years", "14 working days", "18 working days"],
        ["10 years or more", "18 working days", "21 working days"],
    ]
    heading = "Policy, Leave > Annual leave"
    prose = "Employees plan leave 14 days ahead."
    sentence = Passage("S1", "n", prose, heading)
    table = []
    for row in rows[1:]:
        bare = passage_of(row, rows[0])
        reading = f"Annual leave of staff: {bare.reading}"
        table.append(replace(bare, label="S2", heading=heading, reading=reading))
    question = QueryBundle("How many days of annual leave do staff get?")
    synthesizer = ExtractiveSynthesizer()
    assert synthesizer.answer(question, [sentence])[0] == f"{prose} [S1]"
    text, claims = synthesizer.answer(question, [sentence, *table])
    assert WHICH_ROW in text
    assert claims == []


def test_a_sentence_that_opens_a_list_of_another_passage_is_no_answer():
    lead = "The official events are:"
    candidate = [Candidate(0, 0, len(lead), 1.0, 1.0)]
    assert drop_bare_leads(candidate, [Passage("S1", "n", lead)]) == []
    whole = f"{lead}\n\n- 3x3x3 Cube\n\n- Clock"
    assert drop_bare_leads(candidate, [Passage("S1", "n", whole)]) == candidate


def test_a_table_read_as_one_source_answers_as_its_rows_do(tables):
    told = {
        "postprocessor_strategy": ("auto_merge",),
        "postprocessor_options": {"auto_merge": {"share": 0.1, "least": 1}},
    }
    question = "Which boat had the highest price in 2024?"
    result = asked(tables, "whole", question, **told)
    assert result.answer.startswith("Heron: 3,100 - the highest of 4 rows")
    assert [c.quote for c in result.citations] == ["Heron", "3,100"]
    assert [len(s.text.splitlines()) for s in result.sources] == [len(FLEET)]
    without = asked(tables, "whole", question, use_tables=False, **told)
    assert without.status is Status.INSUFFICIENT  # no row of it, nor its headers


def test_it_can_be_switched_off(tables):
    result = asked(
        tables, "fleet", "Which boat had the highest price in 2023?", use_tables=False
    )
    assert "tables" not in [s.name for s in result.trace.stages]
    assert not result.answer.startswith("Heron: $ 3,400 -")


def test_a_changed_and_a_removed_document_are_seen_at_once(tmp_path):
    store, models = Store(tmp_path), Models(embedder=HashEmbedding())
    world = World(store, models, RagConfig())
    question = "Which boat had the highest price in 2023?"
    name = ("fleet.pdf", "Table 1: Fleet of boats")
    fill(store, models, {"fleet": [table_document(*name, FLEET)]})
    assert "Heron: $ 3,400" in asked(world, "fleet", question).answer
    less = [row for row in FLEET if row[0] != "Heron"]
    fill(store, models, {"fleet": [table_document(*name, less)]})
    assert "Night heron: $ 2,000 - the highest of 3" in (
        asked(world, "fleet", question).answer
    )
    (document,) = store.documents("fleet")
    with store.writer() as writer:
        writer.remove_document(document.document_id)
    assert asked(world, "fleet", question).status is Status.NO_SOURCES
    store.close()


@pytest.mark.parametrize(
    ("question", "ask", "subject"),
    [
        ("Which country had the highest score?", Ask.MOST, "country"),
        ("Which wholesaler from Norway had the highest sales?", Ask.MOST, "wholesaler"),
        ("In which year was the rate the lowest?", Ask.LEAST, "year"),
        ("How many ports have at least 3 cranes?", Ask.COUNT, "ports"),
        ("Which ports have fewer than 3 cranes?", Ask.ROWS, "ports"),
        ("What is the sum of A and B?", Ask.SUM, ""),
        ("What is the growth in total sales?", Ask.CELL, ""),
        ("What was the fee of A?", Ask.CELL, ""),
        ("How many books may a reader borrow?", Ask.CELL, ""),
        ("Which had the higher fee, A or B?", Ask.MOST, ""),
    ],
)
def test_what_is_asked_of_a_table(question, ask, subject):
    found = parse_table_question(question)
    assert found is not None
    assert (found.ask, found.subject) == (ask, subject)


@pytest.mark.parametrize(
    "question",
    ["Must a reader pay at most 5 euros?", "Explain the rules.", "Is A higher than B?"],
)
def test_what_is_no_question_of_a_table(question):
    found = parse_table_question(question)
    assert found is None or found.limit is not None


def test_an_opening_stands_for_a_label_only_where_little_follows():
    labels = ("Inventories, net", "Berth forms, lists and receipts of lockers ashore")
    rows = tuple(
        Row(n=n, start=0, end=0, label=label, fields=())
        for n, label in enumerate(labels, start=1)
    )
    relation = Relation(
        id="r", document_id="d", document="d", title="Kept", columns=(), rows=rows
    )
    assert TableWords(relation).openings == [("inventori",), ()]

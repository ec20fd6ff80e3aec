"""A list is quoted with all its items, or the answer says how many are missing."""

from dataclasses import replace

import pytest
from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.models.factory import build_models
from elt_llm_core.provenance import Provenance
from elt_llm_core.results import Status
from elt_llm_core.store import Collection, Store
from elt_llm_query.analysis.document_lists import (
    ListBlock,
    list_around,
    list_below,
    read_blocks,
)
from elt_llm_query.analysis.question import analyse
from elt_llm_query.synthesizers.extractive import whole_lists
from elt_llm_query.synthesizers.extractive.source_passages import to_passage
from elt_llm_query.synthesizers.extractive.whole_lists import ListReader
from query_world import World, asked, configured, fill, packed

ITEM, LINE, ROW = BlockKind.LIST_ITEM, BlockKind.PARAGRAPH, BlockKind.TABLE_ROW
HEADING, FURNITURE = BlockKind.HEADING, BlockKind.FURNITURE


def blocks_of(*lines):
    """Blocks of lines; each is a text, or a kind and a text, or a rule as well."""
    blocks, start = [], 0
    for line in lines:
        kind, text, rule = (
            (LINE, line, "") if isinstance(line, str) else (*line, "")[:3]
        )
        blocks.append(ListBlock(start, start + len(text), text, kind, rule))
        start += len(text) + 2
    return read_blocks(blocks)


def items_of(blocks, led):
    text = {b.start: b.text for b in blocks}
    return [[text[start] for start, _ in item] for item in led.items]


def test_items_are_those_of_the_same_marks_over_a_page_break():
    blocks = blocks_of(
        "No boat shall be moved where:",
        (ITEM, "i. the tide is out:"),
        (FURNITURE, "7"),
        (ITEM, "ii. a claim is open,"),
        "or a claim is likely;",
        (ITEM, "iii. fog hides the pier"),
        (ITEM, "(h) Masts are painted."),
    )
    led = list_below(blocks, 0)
    assert items_of(blocks, led) == [
        ["i. the tide is out:"],
        ["ii. a claim is open,", "or a claim is likely;"],
        ["iii. fog hides the pier"],
    ]
    assert list_around(blocks, 3) == led
    assert list_around(blocks, len(blocks) - 1) is None


def test_rules_below_a_rule_are_its_items_with_the_rules_below_them():
    blocks = blocks_of(
        (ITEM, "9b) The classes are:", "9b"),
        (ITEM, "9b1) Yawls.", "9b1"),
        (ITEM, "9b1a) Two masts.", "9b1a"),
        (ITEM, "9b2) Ketches.", "9b2"),
        (ITEM, "9c) Flags are red.", "9c"),
    )
    led = list_below(blocks, 0)
    assert items_of(blocks, led) == [
        ["9b1) Yawls.", "9b1a) Two masts."],
        ["9b2) Ketches."],
    ]


def test_a_deeper_list_belongs_to_its_item():
    blocks = blocks_of(
        "The following are needed:",
        "1. papers:",
        "(a) a licence;",
        "(b) a list of the crew;",
        "2. a flag.",
        "Boats are washed.",
    )
    led = list_below(blocks, 0)
    assert [len(item) for item in led.items] == [3, 1]
    assert items_of(blocks, led)[1] == ["2. a flag."]


def test_another_bullet_after_a_whole_item_is_the_next_item():
    blocks = blocks_of(
        "Do not moor here if you:",
        (ITEM, "\uf0b7 carry explosives."),
        (ITEM, "\uf0a7 have no papers."),
        (ITEM, "\uf0a7 tow another boat, for example"),
        (ITEM, "- a yawl"),
    )
    assert items_of(blocks, list_below(blocks, 0)) == [
        ["\uf0b7 carry explosives."],
        ["\uf0a7 have no papers."],
        ["\uf0a7 tow another boat, for example", "- a yawl"],
    ]


def test_the_steps_below_lead_in_a_list():
    blocks = blocks_of("Follow the steps below.", (ITEM, "1. Moor."))
    assert list_below(blocks, 0) is not None


def test_items_without_a_mark_are_known_by_their_kind():
    blocks = blocks_of(
        "A licence may be shown as:",
        (ITEM, "Paper card"),
        (ITEM, "Entry of the register"),
        "It is renewed each year.",
    )
    assert len(list_below(blocks, 0).items) == 2


def test_lines_between_the_items_name_parts_of_a_list():
    blocks = blocks_of(
        "On the pier, we mean:",
        "Allowed",
        (ITEM, "\u2022 Sport shoes"),
        "Not allowed",
        (ITEM, "\u2022 Sandals"),
        (ITEM, "\u2022 Skates"),
        (LINE, "4.4 Dogs are led.", "4.4"),
    )
    led = list_below(blocks, 0)
    assert [len(item) for item in led.items] == [2, 3]
    assert len(list_below(blocks, 3).items) == 2


def test_rows_below_a_lead_in_and_items_below_a_heading_are_lists():
    rows = blocks_of("The fees are as follows.", (ROW, "Yawl\t2"), (ROW, "Ketch\t3"))
    led = list_below(rows, 0)
    assert led.rows
    assert len(led.items) == 2
    headed = blocks_of(
        (HEADING, "Dangers"), (ITEM, "\u2022 Fog."), (ITEM, "\u2022 Ice.")
    )
    assert list_below(headed, 0).heading


@pytest.mark.parametrize(
    "lines",
    [
        ("Boats are moored.", (ITEM, "(a) yawls;")),
        ("The fees are due:", "They are paid in March."),
        ("The rest is needed:", (ITEM, "(c) a flag;")),
        ("At the end:",),
        (
            (ITEM, "2b) Crews below the age of 18 bring a letter.", "2b"),
            (ITEM, "2c) Crews sign the book.", "2c"),
        ),
        ((ITEM, "2b) The following holds:", "2b"), (ITEM, "2c) Crews sign.", "2c")),
        ("Crews below the age of 18 bring a letter.", (ITEM, "(a) a flag;")),
    ],
)
def test_other_lines_lead_in_nothing(lines):
    assert list_below(blocks_of(*lines), 0) is None


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which boats must be moved?", True),
        ("What are the criteria for a licence?", True),
        ("List the rooms.", True),
        ("Which criteria apply?", True),
        ("Which boat must be moved?", False),
        ("What is the status of a licence?", False),
        ("How many boats may a member own?", False),
    ],
)
def test_a_question_may_ask_for_several_things(question, several):
    assert analyse(question).several is several


LEAD = "Note: No boat shall be moved where:"
CLAIMS = (
    "i. its owner has a dispute with the harbour;",
    "ii. a claim on it is open;",
    "iii. the fee of its berth is not paid;",
    "iv. its papers are with the court.",
)
DANGERS = ("\u2022 Thick fog on the river.", "\u2022 Drifting ice below the bridge.")


PIER = " ".join(["The pier is old."] * 35)
CODE = "Ropes are doubled in winter, and every knot is shown to a warden first."


def place_chunks(parts):
    """A document with a chunk for each part: its section, and its blocks."""
    text, blocks, nodes = "", [], []
    for ordinal, (section, lines) in enumerate(parts):
        start = len(text)
        for kind, line in lines:
            span = {"start": len(text), "end": len(text) + len(line)}
            blocks.append(Block(kind=kind, section=section, **span))
            text += f"{line}\n\n"
        chunk = text[start:].rstrip()
        place = Provenance(
            document="Harbour rules",
            section=section,
            kind="prose",
            ordinal=ordinal,
            span_start=start,
            span_end=start + len(chunk),
        )
        nodes.append(provenance.write(TextNode(text=chunk), place))
    return packed("Harbour rules", text, blocks, [], nodes)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("lists"))
    models = build_models(RagConfig())
    parts = [
        ("Moving", [(LINE, "Boats are moored by their owners.")]),
        ("Moving", [(LINE, LEAD), *((ITEM, c) for c in CLAIMS[:2])]),
        ("Moving", [(ITEM, c) for c in CLAIMS[2:]]),
        ("Moving", [(LINE, "The harbour master keeps a register of berths.")]),
        ("Dangers", [(HEADING, "Dangers"), *((ITEM, d) for d in DANGERS)]),
        ("Mooring code", [(HEADING, "Mooring code"), (LINE, CODE)]),
        ("History", [(HEADING, "History"), (LINE, PIER)]),
        ("History", [(LINE, PIER)]),
        ("Trains > Luggage", [(HEADING, "Luggage"), (LINE, "Two bags by train.")]),
        ("Planes > Luggage", [(HEADING, "Luggage"), (LINE, "One bag by plane.")]),
        ("Not insured", [(HEADING, "Not insured"), (LINE, "Skis and bicycles.")]),
    ]
    fill(store, models, {"harbour": [place_chunks(parts)]})
    yield World(store, models, configured(reranker_top_k=2, similarity_top_k=2))
    store.close()


def test_the_rest_of_a_list_is_read_from_the_document(harbour):
    result = asked(harbour, "Which boats must not be moved?", ["harbour"])
    assert result.status is Status.ANSWERED
    assert [s.text.splitlines() for s in result.statements] == [
        [LEAD, CLAIMS[0], f"{CLAIMS[1]} [{result.citations[0].label}]"],
        [CLAIMS[2], f"{CLAIMS[3]} [{result.citations[1].label}]"],
    ]
    assert [c.quote for c in result.citations] == [
        "\n\n".join([LEAD, *CLAIMS[:2]]),
        "\n\n".join(CLAIMS[2:]),
    ]
    (one,) = result.lists
    assert (one.lead, one.shown, one.total) == (LEAD, 4, 4)


def test_a_sentence_before_the_lead_in_of_its_paragraph_is_kept(tmp_path):
    store, models = Store(tmp_path / "root"), build_models(RagConfig())
    stated = "Tallies are numbers and notes that are required for a safe cargo."
    lead = "Clerks keep them in the following places:"
    lines = [(LINE, f"{stated} {lead}"), (ITEM, "(a) sheds"), (ITEM, "(b) holds")]
    fill(store, models, {"harbour": [place_chunks([("Tallies", lines)])]})
    world = World(store, models, configured())
    result = asked(world, "What are tallies?", ["harbour"])
    assert stated in result.answer
    assert (result.lists[0].shown, result.lists[0].total) == (2, 2)
    store.close()


def test_a_document_is_read_once_until_it_changes(tmp_path, monkeypatch):
    store, models = Store(tmp_path / "root"), build_models(RagConfig())
    more = "v. its anchor is lost."
    lists = [(*CLAIMS,), (*CLAIMS[:3], f"{CLAIMS[3][:-1]};", more)]
    before, after = (
        place_chunks([("Moving", [(LINE, LEAD), *((ITEM, c) for c in each)])])
        for each in lists
    )
    reads = []
    read_blocks_of = Collection.blocks

    def count(self, document_id):
        reads.append(document_id)
        return read_blocks_of(self, document_id)

    monkeypatch.setattr(Collection, "blocks", count)
    world = World(store, models, configured())
    fill(store, models, {"harbour": [before]})
    for question in ("Which boats must not be moved?", "What boats are not moved?"):
        assert asked(world, question, ["harbour"]).lists[0].total == len(CLAIMS)
    assert len(reads) == 1
    fill(store, models, {"harbour": [after]})
    result = asked(world, "Which boats must not be moved?", ["harbour"])
    store.close()
    assert more in result.answer
    assert len(reads) == 2


def test_a_list_that_is_too_long_is_cut_and_says_so(harbour, monkeypatch):
    monkeypatch.setattr(whole_lists, "LONGEST", len(CLAIMS[0]) + len(CLAIMS[1]))
    result = asked(harbour, "Which boats must not be moved?", ["harbour"])
    assert result.answer.endswith("\n2 of 4 items of this list are shown.")
    assert result.statements[-1].verdict.value == "notice"
    (one,) = result.lists
    assert (one.shown, one.total) == (2, 4)


def test_more_items_than_are_read_are_cut_and_the_answer_says_so(harbour, monkeypatch):
    monkeypatch.setattr(whole_lists, "MOST_ITEMS", 3)
    result = asked(harbour, "Which boats must not be moved?", ["harbour"])
    assert CLAIMS[2] in result.answer
    assert CLAIMS[3] not in result.answer
    assert result.answer.endswith("\n3 of 4 items of this list are shown.")
    (one,) = result.lists
    assert (one.shown, one.total) == (3, 4)


def test_a_lead_in_without_a_chunk_for_its_items_is_no_answer(tmp_path):
    store, models = Store(tmp_path / "root"), build_models(RagConfig())
    parts = [("Moving", [(LINE, LEAD)]), ("Moving", [(ITEM, c) for c in CLAIMS])]
    document = place_chunks(parts)
    fill(store, models, {"harbour": [replace(document, nodes=document.nodes[:1])]})
    world = World(store, models, configured())
    result = asked(world, "Which boats must not be moved?", ["harbour"])
    store.close()
    assert result.status is Status.INSUFFICIENT
    assert result.lists == ()


@pytest.mark.parametrize("of", ["", " of the harbour"])
def test_the_list_under_the_heading_that_is_asked_for(harbour, of):
    result = asked(harbour, f"What are the dangers{of}?", ["harbour"])
    (statement,) = result.statements
    assert statement.text.splitlines()[:2] == ["Dangers", DANGERS[0]]
    assert result.lists[0].total == 2


def section_of(harbour, question):
    """The lines of the section that a question asks for."""
    home = harbour.store.open("harbour")
    passages = [to_passage(node, at) for at, node in enumerate(nodes_of(home), 1)]
    whole = ListReader([home]).short_section(analyse(question), passages)
    return whole and [line for c in whole.claims for line in c.text.splitlines()]


def nodes_of(home):
    return list(home.nodes(home.ids({})).values())


def test_a_short_section_that_is_asked_for_is_quoted_whole(harbour):
    question = "What is the mooring code of the harbour?"
    assert section_of(harbour, question) == ["Mooring code", CODE]


@pytest.mark.parametrize(
    "question",
    [
        "What is the history of the harbour?",  # too long to be an answer
        "What is the mooring code of the airfield?",
        "What is the fee of the mooring code?",
        "What is its mooring code?",
        "What is insured?",  # the section says what is not
        "What is not the mooring code?",
        "Who wrote the mooring code?",
    ],
)
def test_other_sections_and_questions_are_not(harbour, question):
    assert section_of(harbour, question) is None


def test_of_two_sections_with_one_heading_the_one_that_is_meant_is_quoted(harbour):
    lines = section_of(harbour, "What is the luggage of planes?")
    assert lines == ["Luggage", "One bag by plane."]


def test_a_section_that_no_source_is_of_is_not_quoted(harbour):
    home = harbour.store.open("harbour")
    question = analyse("What is the mooring code of the harbour?")
    near = [to_passage(node, 1) for node in nodes_of(home) if "moored" in node.text]
    assert near
    assert ListReader([home]).short_section(question, near) is None

"""Every chunker: exact slices, nothing lost, nothing too long; and what is its own."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from llama_index.core import StorageContext
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import Document, NodeWithScore
from llama_index.core.storage.docstore import SimpleDocumentStore

from chunk_documents import BLOCKS, check, count, document
from elt_llm_core.document import BlockKind
from elt_llm_core.errors import ConfigError, ModelUnavailableError
from elt_llm_core.provenance import index_text, read, reading
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_ingest.chunkers.hierarchical import HierarchicalChunker
from elt_llm_ingest.chunkers.proposition import PropositionChunker
from elt_llm_ingest.chunkers.sentence import SentenceChunker
from elt_llm_ingest.chunkers.sentence_window import SentenceWindowChunker
from elt_llm_ingest.chunkers.source_document import CHUNKERS, SourceDocument

LIMIT = 24
NAMES = [
    "hierarchical", "proposition", "section_aware", "semantic", "sentence",
    "sentence_window", "table_aware",
]  # fmt: skip
OPTIONS = {"hierarchical": {"parent_sizes": (40, 120)}}
HEADING, PARAGRAPH, ROW = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.TABLE_ROW


def facts(prompt: str) -> str:
    return '{"fact": "A fee is due.", "sentences": [1]}\nno fact\n{"fact": 3}'


def made(name: str, limit: int = LIMIT, size: int = 16, **options):
    models = Models(HashEmbedding(max_tokens=limit), ScriptedLLM(facts))
    told = {"chunk_size": size, **OPTIONS.get(name, {}), **options}
    return CHUNKERS.load(name, told).build(models)


def cut(name: str, parsed, **options) -> list:
    return made(name, **options).get_nodes_from_documents([SourceDocument.of(parsed)])


def test_these_are_the_chunkers():
    assert sorted(CHUNKERS.known()) == NAMES


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks=BLOCKS)
def test_every_chunk_is_a_slice_and_nothing_is_lost(name, blocks):
    parsed = document(*blocks)
    check(parsed, cut(name, parsed), LIMIT)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_document(name, parsed_handbook):
    nodes = cut(name, parsed_handbook, limit=60, size=40)
    check(parsed_handbook, nodes, 60)
    assert all(read(node).boxes for node in nodes)


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_llama_index_document_and_an_empty_one(name):
    text = "A fee is due. It is paid in June! Is it? " * 30
    documents = [Document(text=text), Document(text=""), Document(text=" \n ")]
    nodes = made(name).get_nodes_from_documents(documents)
    assert {node.ref_doc_id for node in nodes} == {documents[0].doc_id}
    assert all(text[n.start_char_idx : n.end_char_idx] == n.text for n in nodes)


def test_a_sentence_put_in_changes_few_chunks():
    sentences = [
        f"Boat {n} pays a fee of {n * 7 % 50} in month {n % 12}." for n in range(300)
    ]
    added = "A word more is said here than was said before it was changed."
    chunker = SentenceChunker(count=count, chunk_size=60, max_tokens=60)

    def texts(parts: list[str]) -> set[str]:
        parsed = document(*((PARAGRAPH, part) for part in parts))
        return {node.text for node in chunker.chunk(parsed)}

    before = texts(sentences)
    assert len(before) > 40
    for at in range(0, 60, 6):
        changed = texts([*sentences[:at], added, *sentences[at:]]) - before
        assert 0 < len(changed) <= 8


def test_a_table_title_is_said_with_the_rows_and_rows_may_share_a_chunk():
    parsed = document(
        (HEADING, "2 Fees", 1),
        (PARAGRAPH, "Table 4: What is paid"),
        (ROW, ["Item", "Fee", "Note", "More"], 4),
        (ROW, ["Berth", "20"], 4),
        (ROW, ["Crane", "30"], 4),
        (ROW, ["Buoy", "means a float that is chained to the ground"], 4),
        (ROW, ["Mooring", "5"], 4),
    )
    nodes = cut("table_aware", parsed, size=20, table_chunk_size=20)
    title = "Table 4: What is paid - "
    assert [reading(n) for n in nodes if read(n).kind == "table_row"] == [
        f"{title}Item: Berth | Fee: 20\nItem: Crane | Fee: 30",
        f"{title}Item: Buoy | Fee: means a float that is chained to the ground",
        f"{title}Item: Mooring | Fee: 5",
    ]
    assert [n.text for n in nodes if read(n).kind == "prose"] == ["2 Fees"]
    whole = read(nodes[1]).parents[0]
    table = parsed.text[whole.start : whole.end]
    assert table.startswith("Item\tFee")
    assert table.endswith("Mooring\t5")
    assert whole.leaves == 3


def test_one_row_a_chunk_is_the_default_of_tables():
    rows = [(ROW, ["Berth", str(n)], 1) for n in range(4)]
    assert len(cut("table_aware", document(*rows))) == 4


def test_a_section_is_a_chunk_and_a_long_one_is_cut_at_its_rules():
    long = [
        (PARAGRAPH, f"2.{n} Every boat pays:\n(a) in June;\n(b) in May.")
        for n in (1, 2, 3)
    ]
    parsed = document(
        (HEADING, "1 Scope", 1), (PARAGRAPH, "All boats."), (PARAGRAPH, "All quays."),
        (HEADING, "2 Fees", 1), *long,
    )  # fmt: skip
    nodes = cut("section_aware", parsed, size=14)
    assert [read(n).rules for n in nodes] == [
        ("1",),
        ("2", "2.1", "2.1(a)", "2.1(b)"),
        ("2.2", "2.2(a)", "2.2(b)"),
        ("2.3", "2.3(a)", "2.3(b)"),
    ]
    assert nodes[0].text == "1 Scope\n\nAll boats.\n\nAll quays."


def handbook() -> tuple:
    sections = [(HEADING, f"{n} Part", 1) for n in (1, 2)]
    prose = [(PARAGRAPH, f"Boat {n} pays a fee. It pays it in June.") for n in range(6)]
    return document(sections[0], *prose, sections[1], *prose)


def test_parents_are_spans_that_hold_their_leaves():
    parsed = handbook()
    nodes = cut("hierarchical", parsed, size=10, parent_sizes=(80,))
    assert all(read(node).kind == "prose" for node in nodes)
    for node in nodes:
        (parent,) = read(node).parents
        assert parent.start <= node.start_char_idx < node.end_char_idx <= parent.end
        inside = [n for n in nodes if read(n).parents == (parent,)]
        assert len(inside) == parent.leaves
        assert {read(n).section for n in inside} == {read(node).section}


def test_parents_merge_in_plain_llama_index():
    parsed = handbook()
    chunker = HierarchicalChunker(count=count, chunk_size=10, parent_sizes=(40, 200))
    nodes = chunker.get_nodes_from_documents([Document(text=parsed.text)])
    leaves, roots = get_leaf_nodes(nodes), get_root_nodes(nodes)
    assert [parsed.text[n.start_char_idx : n.end_char_idx] for n in nodes] == [
        n.text for n in nodes
    ]
    assert len(roots) == 1
    assert roots[0].text.startswith("1 Part")
    store = SimpleDocumentStore()
    store.add_documents(nodes)

    class Found:
        def retrieve(self, query):
            return [NodeWithScore(node=leaf, score=1.0) for leaf in leaves]

    retriever = AutoMergingRetriever(
        Found(), StorageContext.from_defaults(docstore=store)
    )
    assert [n.node.node_id for n in retriever.retrieve("?")] == [roots[0].node_id]


def test_a_window_is_a_span_of_the_section():
    parsed = handbook()
    nodes = cut("sentence_window", parsed, window_size=1)
    third = nodes[3]
    first, last = read(third).window
    assert third.text == "It pays it in June."
    assert parsed.text[first:last] == f"{nodes[2].text} {third.text}\n\n{nodes[4].text}"
    assert "window" not in third.metadata
    assert all(
        parsed.text[slice(*read(n).window)].startswith(
            ("1 Part", "Boat", "It", "2 Part")
        )
        for n in nodes
    )
    assert "2 Part" not in parsed.text[slice(*read(nodes[11]).window)]


def test_windows_replace_sentences_in_plain_llama_index():
    text = "One boat. Two boats. Three boats. Four boats."
    chunker = SentenceWindowChunker(count=count, window_size=1)
    nodes = chunker.get_nodes_from_documents([Document(text=text)])
    replaced = MetadataReplacementPostProcessor("window").postprocess_nodes(
        [NodeWithScore(node=nodes[1], score=1.0)]
    )
    assert replaced[0].node.get_content() == "One boat. Two boats. Three boats."
    assert nodes[1].metadata["original_text"] == "Two boats."


def test_a_chunk_ends_where_the_subject_changes():
    boats = "The boat pays a fee. The boat pays a fee in June. The boat paid a fee. "
    birds = (
        "Gulls nest on roofs. Gulls nest on old roofs. Roofs with gulls nest badly. "
    )
    nodes = cut("semantic", document((PARAGRAPH, boats + birds)), size=100, limit=200,
                buffer_size=0, breakpoint_percentile=80)  # fmt: skip
    assert [n.text for n in nodes] == [boats.strip(), birds.strip()]


def test_equal_sentences_are_embedded_once():
    class Counting(HashEmbedding):
        def embed_array(self, texts):
            asked.extend(texts)
            return super().embed_array(texts)

    asked: list[str] = []
    models = Models(Counting(max_tokens=60))
    chunker = CHUNKERS.load("semantic", {"buffer_size": 0}).build(models)
    chunker.chunk(document((PARAGRAPH, "A fee is due. " * 9 + "A fine is due.")))
    assert sorted(asked) == ["A fee is due.", "A fine is due."]


ANSWER = """\
{"fact": "The harbour master sets the fee of 20.", "sentences": [1]}
{"fact": "The harbour master sets the fee of 21.", "sentences": [1]}
{"fact": "Whales sing songs under deep water at night.", "sentences": [2]}
{"fact": "Boats pay the fee in June.", "sentences": [2, 9]}
"""


def test_a_fact_is_indexed_and_its_sentence_is_the_text():
    text = (
        "The harbour master sets the fee: 20. Boats pay the fee in June. Gulls do not."
    )
    chunker = PropositionChunker(ScriptedLLM([ANSWER]), count=count)
    nodes = chunker.chunk(document((PARAGRAPH, text)))
    assert [(n.text, index_text(n), reading(n)) for n in nodes] == [
        (
            "The harbour master sets the fee: 20.",
            "The harbour master sets the fee of 20.",
            "The harbour master sets the fee: 20.",
        ),
        ("Boats pay the fee in June.",) * 3,
        ("Gulls do not.",) * 3,
    ]


def test_a_passage_the_model_failed_on_is_kept_whole():
    error = ModelUnavailableError("http://localhost:1", "refused")
    chunker = PropositionChunker(ScriptedLLM([error]), count=count)
    (node,) = chunker.chunk(document((PARAGRAPH, "A fee is due. Boats pay.")))
    assert node.text == "A fee is due. Boats pay."
    assert "refused" in read(node).problem


def test_propositions_need_a_model():
    with pytest.raises(ConfigError, match="needs a language model"):
        CHUNKERS.load("proposition", {}).build(Models(HashEmbedding()))


def test_rules_and_references_are_told():
    parsed = document(
        (HEADING, "3 Fees", 1),
        (PARAGRAPH, "3.1 Every boat pays."),
        (PARAGRAPH, "3.2 It pays as rule 3.1 says, see section 9."),
    )
    nodes = cut("section_aware", parsed, size=12)
    assert [(n.metadata["rule"], read(n).references) for n in nodes] == [
        ("3", ()),
        ("3.2", ("3.1",)),
    ]
    assert json.loads(nodes[0].metadata["rules"]) == ["3", "3.1"]

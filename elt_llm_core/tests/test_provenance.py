"""Where a chunk comes from survives being written on a node."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import MetadataMode, TextNode

from elt_llm_core import provenance
from elt_llm_core.document import Cell, Page
from elt_llm_core.provenance import Parent, Provenance
from elt_llm_core.results import Box

fractions = st.floats(0, 1, allow_nan=False)
boxes = st.builds(
    Box,
    page=st.integers(1, 9),
    left=fractions,
    top=fractions,
    right=fractions,
    bottom=fractions,
)
cells = st.builds(
    Cell,
    header=st.text(max_size=5),
    start=st.integers(0, 99),
    end=st.integers(0, 99),
    boxes=st.tuples(boxes),
)
places = st.builds(
    Provenance,
    ordinal=st.integers(0, 10_000),
    section=st.text(max_size=9),
    page=st.none() | st.integers(1, 99),
    end_page=st.none() | st.integers(1, 99),
    span_start=st.integers(0, 99),
    span_end=st.integers(100, 999),
    boxes=st.lists(boxes, max_size=3).map(tuple),
    cells=st.lists(cells, max_size=3).map(tuple),
    index_text=st.text(max_size=9),
    table=st.text(max_size=9),
    rules=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    references=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    parents=st.lists(
        st.builds(Parent, start=st.just(0), end=st.integers(0, 9), leaves=st.just(2)),
        max_size=2,
    ).map(tuple),
    window_start=st.none() | st.integers(0, 9),
    window_end=st.none() | st.integers(0, 9),
    date=st.sampled_from(["", "2024-05-01"]),
    index_before=st.text(max_size=5),
    index_instead=st.text(max_size=5),
    index_after=st.text(max_size=5),
    problem=st.text(max_size=5),
)


@given(places)
def test_what_is_written_is_read(place: Provenance) -> None:
    node = TextNode(text="text", metadata={"author": "me"})
    written = provenance.write(node, place)
    assert provenance.read(written) == place
    assert node == TextNode(id_=node.id_, text="text", metadata={"author": "me"})
    assert written.metadata["author"] == "me"
    assert all(
        value is None or isinstance(value, str | int | float)
        for value in written.metadata.values()
    )
    assert (written.start_char_idx, written.end_char_idx) == (
        place.span_start,
        place.span_end,
    )


@given(places)
def test_a_model_sees_and_embeds_nothing_but_the_text(place: Provenance) -> None:
    node = provenance.write(TextNode(text="text", metadata={"author": "me"}), place)
    assert node.get_content(MetadataMode.EMBED) == "text"
    assert node.get_content(MetadataMode.LLM) == "text"


def test_every_field_is_a_known_key() -> None:
    assert set(provenance.KEYS) == set(Provenance.model_fields)


def test_a_foreign_node_has_the_place_llamaindex_knows() -> None:
    node = TextNode(text="four", metadata={"page": 3, "x": [1]}, start_char_idx=7)
    place = provenance.read(node)
    assert (place.span_start, place.span_end, place.page) == (7, 11, 3)
    assert provenance.read(TextNode(text="four")).span.end == 4


def test_what_is_indexed_is_the_text_unless_told() -> None:
    node = TextNode(text="a\tb")
    assert provenance.index_text(node) == "a\tb"
    place = Provenance(span_start=0, span_end=3, index_text="Fee: a")
    assert provenance.index_text(provenance.write(node, place)) == "Fee: a"


@pytest.mark.parametrize(
    ("page", "end_page", "pages"),
    [(None, None, ()), (3, None, (3,)), (3, 5, (3, 4, 5))],
)
def test_pages_a_chunk_touches(
    page: int | None, end_page: int | None, pages: tuple[int, ...]
) -> None:
    place = Provenance(span_start=0, span_end=1, page=page, end_page=end_page)
    assert place.pages == pages
    assert place.span.page == page


WORDS = [  # "aa bb\ncc dd", two lines
    (0, 2, 0.1, 0.1, 0.2, 0.12),
    (3, 5, 0.22, 0.1, 0.3, 0.12),
    (6, 8, 0.1, 0.13, 0.2, 0.15),
    (9, 11, 0.22, 0.131, 0.3, 0.151),
]


def page(words: list[tuple[int, int, float, float, float, float]], number: int) -> Page:
    return Page(number=number, width=100, height=100, words=words)


def test_a_span_has_one_box_a_line() -> None:
    pages = [page(WORDS, 4), page([(12, 14, 0.1, 0.1, 0.2, 0.12)], 5)]
    assert provenance.boxes_of_span(pages, 3, 13) == (
        Box(page=4, left=0.22, top=0.1, right=0.3, bottom=0.12),
        Box(page=4, left=0.1, top=0.13, right=0.3, bottom=0.151),
        Box(page=5, left=0.1, top=0.1, right=0.2, bottom=0.12),
    )


def test_a_span_between_the_words_has_no_box() -> None:
    assert provenance.boxes_of_span([page(WORDS, 1)], 2, 3) == ()
    assert provenance.boxes_of_span([page(WORDS, 1)], 4, 4) == ()
    assert provenance.boxes_of_span([], 0, 99) == ()


def test_a_word_that_leaves_the_page_is_cut_at_its_edge() -> None:
    (box,) = provenance.boxes_of_span([page([(0, 2, -0.1, 0.9, 1.2, 1.1)], 1)], 0, 2)
    assert (box.left, box.right, box.bottom) == (0, 1, 1)


ordered = st.tuples(fractions, fractions).map(sorted)
rectangles = st.tuples(ordered, ordered)


@given(st.lists(rectangles, max_size=12), st.integers(0, 40), st.integers(0, 40))
def test_every_word_of_a_span_lies_in_one_of_its_boxes(
    found: list[tuple[list[float], list[float]]], start: int, length: int
) -> None:
    end = start + length
    words = [
        (3 * i, 3 * i + 2, x[0], y[0], x[1], y[1]) for i, (x, y) in enumerate(found)
    ]
    result = provenance.boxes_of_span([page(words, 1)], start, end)
    touched = [w for w in words if w[0] < end and w[1] > start and start < end]
    assert len(result) <= len(touched)
    for _, _, left, top, right, bottom in touched:
        assert any(
            box.left <= left + 1e-5
            and box.top <= top + 1e-5
            and box.right >= right - 1e-5
            and box.bottom >= bottom - 1e-5
            for box in result
        )


@given(places, places)
def test_what_was_written_before_is_replaced(
    first: Provenance, then: Provenance
) -> None:
    node = provenance.write(TextNode(text="text"), first)
    assert provenance.read(provenance.write(node, then)) == then
    assert provenance.write(node, then).metadata.get("rule", "") == then.rule


def test_what_is_indexed_is_not_what_is_read() -> None:
    place = Provenance(span_start=0, span_end=4, index_text="Fee: 20")
    added = {"index_before": "Fees", "index_after": "What is due?"}
    node = provenance.write(TextNode(text="20"), place.model_copy(update=added))
    assert provenance.reading(node) == "Fee: 20"
    assert provenance.index_text(node) == "Fees\n\nFee: 20\n\nWhat is due?"
    instead = place.model_copy(update={"index_instead": "The fee is 20."})
    node = provenance.write(TextNode(text="20"), instead)
    assert provenance.reading(node) == "Fee: 20"
    assert provenance.index_text(node) == "The fee is 20."


def test_chunks_without_more_to_tell_carry_no_more_than_before() -> None:
    node = provenance.write(TextNode(text="a"), Provenance(span_start=0, span_end=1))
    assert not {"rules", "parents", "date", "problem"} & set(node.metadata)

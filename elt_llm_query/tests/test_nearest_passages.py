"""What is shown instead of an answer is whole: rules to their end, rows with heads."""

from dataclasses import replace

from llama_index.core.embeddings import MockEmbedding

from answer_world import locate, offer
from elt_llm_core.document import Cell
from elt_llm_core.results import Status
from elt_llm_query.grounding.nearest import (
    LONGEST,
    READ,
    TextComparison,
    quote_nearest,
)
from elt_llm_query.render import NEAREST_CHARACTERS, answer_text
from elt_llm_query.synthesizers.extractive.meanings import comparison_with
from query_world import asked

ANCHOR = (
    "No skipper may anchor in the fairway. The harbour master tows the boat away. "
    "The skipper pays 90 crowns."
)
LISTED = (
    "Mooring\n\nBoats that may not moor\n\n- rafts\n\n- pontoons\n\nAll others may."
)


def nearest(question, *sources):
    return quote_nearest(Status.INSUFFICIENT, question, sources, locate)


def in_section(source, section):
    return replace(source, source=source.source.model_copy(update={"section": section}))


def test_a_rule_is_quoted_to_its_end():
    (quoted,) = nearest("May I anchor in the fairway at night?", offer("S1", ANCHOR))
    assert quoted.quote == ANCHOR


def test_a_long_paragraph_ends_with_a_whole_sentence():
    text = "A boat is moored. " + "It is moored by a rope of hemp. " * 40
    (quoted,) = nearest("How is a boat moored?", offer("S1", text))
    assert len(quoted.quote) <= LONGEST
    assert quoted.quote.endswith("hemp.")


def test_a_label_is_quoted_with_its_list_and_the_heading_is_not():
    source = in_section(offer("S1", LISTED), "Harbour > Mooring")
    (quoted,) = nearest("Which boats may not moor?", source)
    assert quoted.quote.startswith("Boats that may not moor\n\n- rafts\n\n- pontoons")


def test_the_headings_above_a_section_are_no_passage():
    text = f"Harbour handbook\n\n2 Traffic\n\n2.1 Anchors\n\n{ANCHOR}"
    path = "Harbour handbook > 2 Traffic > 2.1 Anchors"
    source = in_section(offer("S1", text), path)
    (quoted,) = nearest("Where does the harbour handbook name a skipper?", source)
    assert quoted.quote == ANCHOR


def test_the_next_paragraph_is_left_out():
    source = offer("S1", f"{ANCHOR}\n\nSails are dried on Mondays.")
    (quoted,) = nearest("May I anchor in the fairway?", source)
    assert quoted.quote == ANCHOR


def test_a_row_comes_with_its_headers():
    row = offer("S1", "Yawl\t30 euros", "Boat: Yawl | Fee: 30 euros")
    row = replace(row, cells=(Cell(header="Boat", start=0, end=4),))
    row = replace(row, source=row.source.model_copy(update={"kind": "table_row"}))
    (quoted,) = nearest("What is the deposit of a yawl?", row)
    assert (quoted.quote, quoted.reading) == (row.source.text, row.reading)


def test_the_passage_that_means_the_same_comes_first(world):
    question = "How much does it cost to keep a ship overnight?"
    sources = [
        offer("S1", "Ships of the line are shown at night. It costs nothing to look."),
        offer("S2", "A boat that stays in its berth until morning pays 12 crowns."),
    ]
    compare = comparison_with(question, world.models.embedder)
    (first, _) = quote_nearest(Status.INSUFFICIENT, question, sources, locate, compare)
    assert "12 crowns" in first.quote
    assert "line are shown" in nearest(question, *sources)[0].quote


def test_the_likest_are_ordered_by_how_well_they_answer():
    sources = [offer(f"S{at}", f"Rope {at} is of hemp.") for at in range(READ + 4)]
    read = []

    def likeness(texts):
        return [1.0 - text.count("Rope 0") for text in texts]

    def answering(sentences):
        read.extend(one.text for one in sentences)
        return [6.0 * ("Rope 7" in one.text) for one in sentences]

    def first(compare):
        found = quote_nearest(
            Status.INSUFFICIENT, "Which rope?", sources, locate, compare
        )
        return [one.quote.split()[1] for one in found]

    assert first(TextComparison(likeness, answering)) == ["7", "1", "2"]
    assert len(read) == len(set(read)) <= READ
    assert first(TextComparison(likeness)) == ["1", "2", "3"]


def test_a_question_in_another_language_is_not_read(world):
    german = "Wie viel kostet es, wenn ich ein Buch nicht zurückgebe und warum?"
    assert comparison_with(german, world.models.embedder).read is None
    english = "How much does it cost if I do not bring a book back, and why?"
    assert comparison_with(english, world.models.embedder).read is not None


def test_an_embedder_elsewhere_is_not_asked_for_the_nearest_passages():
    assert comparison_with("How much?", MockEmbedding(embed_dim=4)) is None
    assert comparison_with("How much?", None) is None


def test_the_terminal_shows_whole_sentences(world):
    refused = asked(world, "How much does a library card cost?")
    quoted = refused.nearest[0]
    long = quoted.model_copy(update={"quote": "A card is free. " * 80})
    shown = answer_text(refused.model_copy(update={"nearest": (long,)}))
    (line,) = (one for one in shown.splitlines() if "A card is free." in one)
    assert line.endswith('free. ..."')
    assert len(line) <= NEAREST_CHARACTERS + 12
    heads = quoted.model_copy(update={"reading": "Card: none | Cost: none"})
    assert "Cost: none" in answer_text(refused.model_copy(update={"nearest": (heads,)}))

"""Sentences that have most of a question's words, in any language."""

from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.nearest_sentences import find_nearest

OPENING = Passage(
    "S1",
    "a",
    "Öffnungszeiten\n\nDie Bücherei öffnet an jedem Werktag um neun Uhr.\n"
    "An Feiertagen bleibt die Bücherei den Tag über geschlossen.",
    language="de",
)
FEES = Passage(
    "S2",
    "b",
    "Für jedes verspätete Buch zahlen Leser zwanzig Cent am Tag.",
    language="de",
)
ROW = Passage("S3", "c", "Säumnis | 20 Cent", language="de", whole=True)


def quotes(question, *passages, most=3):
    claims = find_nearest(question, passages, most)
    texts = {p.node_id: p.text for p in passages}
    for claim in claims:
        raw = texts[claim.node_id][claim.start : claim.end]
        assert " ".join(raw.split()) == claim.text
        assert raw == raw.strip()
    return [(claim.label, claim.text.split()[0]) for claim in claims]


def test_the_sentence_with_the_rarest_words_comes_first():
    asked = "Wann ist die Bücherei geschlossen?"
    assert quotes(asked, OPENING, FEES) == [("S1", "An"), ("S1", "Die")]
    assert quotes(asked, OPENING, FEES, most=1) == [("S1", "An")]
    assert quotes("Was kostet ein verspätetes Buch?", OPENING, FEES) == [("S2", "Für")]


def test_a_heading_is_left_out_and_a_row_is_whole():
    assert ("S1", "Öffnungszeiten") not in quotes(
        "Öffnungszeiten der Bücherei", OPENING
    )
    assert quotes("Säumnis", OPENING, ROW) == [("S3", "Säumnis")]


def test_a_short_sentence_is_no_heading():
    text = (
        "Hausordnung\n\nDie Frist beträgt sechs Wochen. Hunde sind im Garten erlaubt."
    )
    rules = Passage("S1", "a", text, language="de")
    assert quotes("Wie lang ist die Frist?", rules) == [("S1", "Die")]
    assert quotes("Sind Hunde erlaubt?", rules) == [("S1", "Hunde")]
    assert quotes("Was sagt die Hausordnung?", rules) == []


def test_without_a_word_of_the_question_there_is_none():
    assert quotes("What does a late book cost?", OPENING) == []


def test_pairs_of_characters_are_words_where_there_are_no_spaces():
    text = "図書館は平日の九時に開き、十八時に閉まります。祝日は休館です。"
    hours = Passage("S1", "a", text, language="ja")
    assert quotes("祝日は休館ですか", hours, most=1) == [("S1", "祝日は休館です。")]

"""The written documents are read as they stand, with what was written about them."""

import pytest

import written_documents
import written_handbooks
from elt_llm_core.results import QueryResult, Status

PLAIN = 3333  # questions in the words of the documents


def test_every_question_claim_and_row_names_sentences_of_its_document():
    documents = written_documents.read_documents()
    trained, kept = written_documents.split_documents()
    assert (len(documents), len(trained), len(kept)) == (190, 170, 20)
    questions = [one for document in documents for one in document.questions]
    assert len(questions) == 190 * 24 + PLAIN
    assert sum(one.is_plain for one in questions) == PLAIN
    for document in documents:
        places = range(len(document.sentences))
        for question in document.questions:
            assert all(at in places for at in question.answers)
            first = question.answers[:1]
            assert all(question.words in document.sentences[at].text for at in first)
        assert all(c.evidence[0] in places for c in document.claims)
        assert all(at in places for c in document.claims for at in c.evidence)
        for row in document.glossary:
            text = " ".join(document.sentences[at].text for at in row.places)
            assert row.definition in text
            assert bool(row.definition) == (row.kind != "used")


def test_a_sentence_has_its_heading_and_the_one_before_it_in_its_section(tmp_path):
    lines = "T\tRules\nK\tby-law\nH\tFees\nS1\tA fee is due.\nS2\tIt is 3 euros.\n"
    lines += "H\tPets\nS3\tDogs wait outside.\nQ\thow much?\tS2\t3 euros\n"
    lines += "C\tfalse\tCats wait outside.\tS3\n"
    lines += "G\tfee; dues\tstated\tS2\t3 euros\nG\tdog\tused\tS3\n"
    (tmp_path / "01.tsv").write_text(f"{lines}{lines}", encoding="utf-8")
    first, second = written_documents.read_documents(tmp_path)
    assert first == second
    contexts = [one.context for one in first.sentences]
    assert contexts == ["Fees.", "Fees. A fee is due.", "Pets."]
    assert first.questions == [("how much?", (1,), "3 euros", False)]
    assert first.glossary == [
        (("fee", "dues"), "stated", (1,), "3 euros"),
        (("dog",), "used", (2,), ""),
    ]
    assert first.claims == [("Cats wait outside.", False, (2,))]


def test_a_term_is_asked_for_with_the_places_that_define_it():
    row = written_documents.GlossaryRow
    rows = [
        row(("berth card", "card"), "stated", (2,), "a list"),
        row(("card",), "also", (4,), "the list"),
        row(("dues",), "used", (5,), ""),
        row(("Oak Hall",), "stated", (6, 7), "a hall. It is old"),
        row(("quay",), "weak", (8,), "a wall"),
    ]
    document = written_documents.WrittenDocument("Rules", [], [], [], rows)
    asked = written_documents.definition_questions(document)
    assert [(one.text, one.answers, one.words) for one in asked] == [
        ("What is a berth card?", (2, 4), "a list"),
        ("What are dues?", (), ""),
        ("What is Oak Hall?", (6, 7), "a hall. It is old"),
    ]
    assert all(one.is_plain for one in asked)


def test_every_handbook_is_whole():
    read = list(written_handbooks.read_kinds(every=1))
    assert len({name for _, name, _ in read}) == len(read) == 82
    for _, name, document in read:
        texts = [sentence.text for sentence in document.sentences]
        assert len(document.questions) == 24, name
        assert sum(not q.answers for q in document.questions) == 7, name
        for question in document.questions:
            assert not question.answers or question.words in texts[question.answers[0]]
        for row in document.glossary:
            own = " ".join(texts[place] for place in row.places)
            assert row.definition in own, (name, row)


def test_a_further_place_of_a_row_is_one_of_its_spans():
    row = written_documents.GlossaryRow
    rows = [
        row(("watch",), "stated", (0,), "A watch is a shift."),
        row(("watch",), "also", (1,), "It takes four hours."),
        row(("deck",), "used", (1,), ""),
    ]
    document = written_documents.WrittenDocument("Rules", [], [], [], rows)
    watch, deck = written_handbooks.read_gold(document)
    assert len(watch.spans) == 2
    assert (watch.needed, deck.needed) == (True, False)


UNSURE = "It is not certain that this answers the question; read the quote."


@pytest.mark.parametrize(
    ("answer", "status", "verdict"),
    [
        ("7.2 A guest pays ten crowns a night.", Status.ANSWERED, "right"),
        (f"A guest pays ten crowns. {UNSURE}", Status.ANSWERED, "right, uncertain"),
        ("The boat costs ten crowns.", Status.ANSWERED, "wrong"),
        ("A guest pays ten crowns a night.", Status.INSUFFICIENT, "refused"),
    ],
)
def test_an_answer_is_right_with_the_words_and_the_sentence_of_the_reader(
    answer, status, verdict
):
    text = "7.2 A guest pays ten crowns a night."
    sentence = written_documents.WrittenSentence(text, "Fees", "")
    document = written_documents.WrittenDocument("Rules", [sentence], [], [], [])
    question = written_documents.Question("what do guests pay", (0,), "ten crowns")
    result = QueryResult.model_construct(answer=answer, status=status)
    assert written_handbooks.judge_answer(result, question, document) == verdict

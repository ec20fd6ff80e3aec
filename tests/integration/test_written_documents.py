"""The written documents with their questions and claims are read as they stand."""

import written_documents


def test_every_question_and_claim_names_sentences_of_its_document():
    documents = written_documents.read_documents()
    trained, kept = written_documents.split_documents()
    assert (len(documents), len(trained), len(kept)) == (190, 170, 20)
    questions = [one for document in documents for one in document.questions]
    assert len(questions) == 190 * 34
    assert sum(one.is_plain for one in questions) == 190 * 10
    for document in documents:
        places = range(len(document.sentences))
        for question in document.questions:
            assert all(at in places for at in question.answers)
            first = question.answers[:1]
            assert all(question.words in document.sentences[at].text for at in first)
        assert all(c.evidence[0] in places for c in document.claims)
        assert all(at in places for c in document.claims for at in c.evidence)


def test_a_sentence_has_its_heading_and_the_one_before_it_in_its_section(tmp_path):
    lines = "T\tRules\nK\tby-law\nH\tFees\nS1\tA fee is due.\nS2\tIt is 3 euros.\n"
    lines += "H\tPets\nS3\tDogs wait outside.\nQ\thow much?\tS2\t3 euros\n"
    lines += "C\tfalse\tCats wait outside.\tS3\n"
    (tmp_path / "01.tsv").write_text(f"{lines}{lines}", encoding="utf-8")
    first, second = written_documents.read_documents(tmp_path)
    assert first == second
    contexts = [one.context for one in first.sentences]
    assert contexts == ["Fees.", "Fees. A fee is due.", "Pets."]
    assert first.questions == [("how much?", (1,), "3 euros", False)]
    assert first.claims == [("Cats wait outside.", False, (2,))]

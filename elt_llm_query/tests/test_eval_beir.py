import pytest

from elt_llm_core.errors import UsageError
from elt_llm_query.evaluation.beir import read_beir
from elt_llm_query.evaluation.labelled_questions import (
    Gold,
    LabelledQuestion,
    append_questions,
    read_labelled,
)
from eval_world import PASSAGES, QUESTIONS, write_beir

LOST = (
    "dev.tsv: 1 judged passages are empty or not in the corpus ('nowhere' first); they "
    "count as not found"
)


def test_a_test_set_is_read_in_the_order_of_its_files(tmp_path):
    tests = read_beir(write_beir(tmp_path / "library"), "dev")
    assert (tests.name, tests.split, tests.problems) == ("library", "dev", ())
    assert [p.id for p in tests.passages] == list(PASSAGES)
    assert [q.id for q in tests.questions] == list(QUESTIONS)
    assert dict(tests.questions[2].gold) == {"p3": 2, "p2": 1}
    assert len(read_beir(tmp_path / "library", "dev", 3).questions) == 3


def test_broken_lines_are_named_and_the_others_go_on(tmp_path):
    folder = write_beir(tmp_path / "library")
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "p11", "text": \n[1]\n{"_id": 7, "text": "x"}\n')
        file.write('{"_id": "p1", "text": "again"}\n{"_id": "p12", "text": " "}\n')
    with (folder / "qrels" / "dev.tsv").open("a") as file:
        file.write("q1\tp1\nq9\tnowhere\t1\nq99\tp1\t1\n")
    tests = read_beir(folder, "dev")
    assert len(tests.passages) == len(PASSAGES)
    assert len(tests.questions) == len(QUESTIONS)
    told = [one.detail for one in tests.problems]
    assert told[0].startswith(
        "corpus.jsonl:11: the line is no valid JSON (Expecting value, at character 1)"
    )
    assert told[1:4] == [
        "corpus.jsonl:12: not a JSON object",
        "corpus.jsonl:13: `_id` and `text` must be strings",
        "corpus.jsonl:14: the id 'p1' is used twice",
    ]
    assert told[4:] == [
        "corpus.jsonl: 1 passages without text",
        r"dev.tsv:13: 'q1\tp1'",
        LOST,
        "the judged question 'q99' is missing from queries.jsonl",
    ]


def test_what_cannot_be_evaluated_is_refused(tmp_path):
    folder = write_beir(tmp_path / "library")
    with pytest.raises(UsageError, match=r"no judgements for a split 'deb'.*'dev'"):
        read_beir(folder, "deb")
    (folder / "queries.jsonl").write_text("")
    with pytest.raises(UsageError, match="10 passages and 0 judged questions"):
        read_beir(folder, "dev")
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*corpus\.jsonl: No such file"):
        read_beir(folder, "dev")


def test_labelled_questions_are_joined_and_only_accepted_ones_asked(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(
        '{"question": "How long?", "gold": [{"document": "a.pdf", "page": 2}]}\n'
        '{"question": "How long?", "gold": [{"document": "b.pdf"}], "answer": ["9"]}\n'
        '{"question": "Why?", "gold": [{"page": 2}]}\n'
        '{"question": "Why?", "gold": [], "status": "candidate"}\n'
        '{"question": "??"}\n'
        '{"question": "Who?", "answerable": false}\n'
        "not json\n"
    )
    lines, problems = read_labelled(path)
    assert [line.question for line in lines] == ["How long?", "Who?"]
    assert [g.document for g in lines[0].gold] == ["a.pdf", "b.pdf"]
    assert lines[0].answer == ("9",)
    assert not lines[1].answerable
    assert [p.detail.split(": ")[0] for p in problems] == [
        f"own.jsonl:{number}" for number in (3, 5, 7)
    ]
    assert "`gold` needs a document or a chunk" in problems[0].detail


def test_lines_are_added_at_the_end_and_read_back(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"question": "Who?", "answerable": false}')
    gold = Gold(document="a.pdf", quote="ünd", chunk="c1")
    append_questions(path, [LabelledQuestion(question="What?", gold=(gold,))])
    append_questions(
        path, [LabelledQuestion(question="What?", wrong=(Gold(chunk="c2"),))]
    )
    lines, problems = read_labelled(path)
    assert problems == ()
    assert [line.question for line in lines] == ["Who?", "What?"]
    assert (lines[1].gold, lines[1].wrong) == ((gold,), (Gold(chunk="c2"),))


def test_a_file_without_an_accepted_question_is_refused(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"question": "Who?", "status": "rejected"}\n')
    with pytest.raises(UsageError, match="holds no accepted question"):
        read_labelled(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_labelled(tmp_path / "nothing.jsonl")

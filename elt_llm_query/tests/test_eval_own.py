"""A user's own questions: over collections, generated, judged, and what is answered."""

import asyncio
import json
from dataclasses import replace

import pytest
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.callbacks import CBEventType, EventPayload
from ollama_server import Fault, OllamaServer

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ConfigError, ModelTimeoutError, ModelUnavailableError
from elt_llm_core.jobs import silent
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.evaluation.answer_evaluation import (
    AnswerEvaluator,
    Judge,
    answers_text,
)
from elt_llm_query.evaluation.cached_embedder import (
    CachedQueryEmbedding,
    CallCounter,
    count_usage,
)
from elt_llm_query.evaluation.labelled_questions import (
    Gold,
    GoldLocator,
    LabelledQuestion,
    read_labelled,
)
from elt_llm_query.evaluation.question_generator import generate_questions
from elt_llm_query.query import query_collections
from eval_world import rows
from query_world import CONTENT, fill, make_document

FEE = "What is the fee for an overdue book?"
QUOTE = {"document": "Lending rules", "quote": "the FEE for an overdue\nbook is 20"}
LINES = [
    {"question": FEE, "gold": [QUOTE], "answer": ["20 cents"]},
    {
        "question": "When does the reading room close?",
        "gold": [{"document": "house rules", "page": 1}],
    },
    {"question": "How many wheels has a bicycle?", "answerable": False},
    {
        "question": "Where is it?",
        "gold": [{"document": "Lending rules", "quote": "nowhere"}],
    },
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    store = Store(folder / "data")
    fill(store, build_models(RagConfig()), CONTENT)
    store.close()
    rows(folder / "own.jsonl", LINES)
    return folder


def ran(capsys, place, command, *arguments):
    given = (command, *arguments, "--data-dir", place / "data", "--quiet")
    code = run(elt_llm, ("eval", *map(str, given)))
    out, err = capsys.readouterr()
    return code, out, err


def test_own_questions_are_measured_over_own_collections(place, capsys):
    given = ("--questions", place / "own.jsonl", "--cache", place / "cache", "--json")
    code, out, err = ran(capsys, place, "retrieval", *given)
    assert code == 0, err
    found = json.loads(out)
    assert found["asked"]["questions"] == 2
    assert found["asked"]["split"] == "lending+rooms"
    measures = found["configurations"][0]["measures"]
    assert measures["R@10"]["mean"] == 1
    assert measures["RR"]["mean"] == 1
    asked = ("--explain", FEE)
    code, out, err = ran(capsys, place, "retrieval", *given[:-1], *asked)
    assert code == 0, err
    assert "gold-1: The fee for an overdue book is 20 cents per day." in out
    (problem,) = found["problems"]
    assert "'nowhere' in 'Lending rules' was not found" in problem["detail"]


def test_a_quote_on_two_chunks_and_a_page_are_found_however_text_is_cut(hashed):
    locator = GoldLocator(hashed.store, ["lending"])
    both = "same time.\n\nThe loan period of a book is 21 days."
    row = LabelledQuestion(
        question="?", gold=(Gold(document="Lending rules", quote=both),)
    )
    found = locator.judge(row, [])
    texts = {n.node_id: n.text for n in hashed.store.nodes("lending")}
    held = sorted(texts[chunk][:20] for chunk in found.targets)
    assert held == ["The loan period of a"]  # of the other it holds too little
    (chunk,) = found.targets
    again = locator.judge(LabelledQuestion(question="?", gold=(Gold(chunk=chunk),)), [])
    assert again.targets == found.targets
    problems = []
    lost = LabelledQuestion(question="?", gold=(Gold(chunk="0" * 32),))
    assert locator.judge(lost, problems) is None
    assert "the chunk 000" in problems[0].detail


def test_feedback_becomes_a_question_that_can_be_measured(place, capsys):
    store = Store(place / "data")
    node = next(n for n in store.nodes("lending") if "fee" in n.text)
    store.close()
    given = ("--question", FEE, "--collection", "lending", "--chunk", node.node_id)
    path = place / "feedback.jsonl"
    code, out, err = ran(
        capsys, place, "feedback", *given, "--relevant", "--output", path
    )
    assert code == 0, err
    assert "Lending rules answers" in out
    code, _, _ = ran(
        capsys, place, "feedback", *given, "--not-relevant", "--output", path
    )
    lines, problems = read_labelled(path)
    assert problems == ()
    (line,) = lines
    assert line.gold == line.wrong
    assert (line.gold[0].quote, line.gold[0].chunk) == (node.text, node.node_id)
    other = (*given[:-1], "f" * 32, "--relevant", "--output", path)
    code, _, err = ran(capsys, place, "feedback", *other)
    assert code == 64
    assert "has no chunk 'ffff" in err


def test_questions_are_candidates_until_somebody_accepts_them(hashed):
    slow = ModelTimeoutError("scripted", 1)
    llm = ScriptedLLM(["Question: How many books?\nMore", "No idea.", slow])
    nodes = list(hashed.store.nodes("lending"))
    long = [n.model_copy(update={"text": f"{n.text} " * 3}) for n in nodes]
    found = generate_questions(long, llm, 3, silent)
    (line,) = found.questions
    assert (line.question, line.status) == ("How many books?", "candidate")
    assert line.gold[0].chunk == long[0].node_id
    assert "no self-contained question in 'No idea.'" in found.problems[0].detail
    assert len(found.problems) == 2
    assert (found.failure, found.ended_early) == (slow, False)
    assert f"<passage>\n{long[0].text.strip()}\n</passage>" in llm.prompts[0]


def test_a_question_that_points_at_the_passage_is_no_candidate(hashed):
    # What Qwen2.5-Coder-0.5B-Instruct made of a definition, and its kind of chatter.
    llm = ScriptedLLM(
        [
            "What does the passage mean about the provision?",
            "Certainly! Here is one:\n\n**Question:** When is a book overdue?",
        ]
    )
    nodes = list(hashed.store.nodes("lending"))[:2]
    long = [n.model_copy(update={"text": f"{n.text} </passage> " * 3}) for n in nodes]
    found = generate_questions(long, llm, 2, silent)
    assert [line.question for line in found.questions] == ["When is a book overdue?"]
    (problem,) = found.problems
    assert "no self-contained question" in problem.detail
    assert llm.prompts[0].count("</passage>") == 1  # the document cannot close it


def test_a_server_that_is_away_is_not_asked_again(hashed):
    down = ModelUnavailableError("http://localhost:1", "refused")
    llm = ScriptedLLM(["How many books?", down, "Who may borrow?"])
    nodes = list(hashed.store.nodes("lending"))
    long = [n.model_copy(update={"text": f"{n.text} " * 3}) for n in nodes]
    found = generate_questions(long, llm, 3, silent)
    assert [one.question for one in found.questions] == ["How many books?"]
    assert len(llm.prompts) == 2
    assert (found.failure, found.ended_early) == (down, True)
    assert "ended at chunk 2 of 3" in found.problems[0].detail


def test_questions_without_a_model_tell_the_cure(place, capsys):
    output = ("--output", place / "made.jsonl")
    code, _, err = ran(capsys, place, "questions", "lending", *output)
    assert code == 78
    assert "set models.llm_strategy" in err
    assert not (place / "made.jsonl").exists()


def made_by(capsys, place, server, output):
    mine = place / "ollama.yaml"
    own = {"base_url": server.base_url, "llm_model": "smollm2:135m"}
    mine.write_text(json.dumps({"models": {"llm_strategy": "ollama"}, "ollama": own}))
    given = ("--output", output, "--profile", mine, "--json")
    code, out, err = ran(capsys, place, "questions", "long", *given)
    return code, json.loads(out), err


def test_questions_of_a_server_that_fails_end_with_its_code(tmp_path, capsys):
    store = Store(tmp_path / "data")
    text = "A reader may borrow up to eight books at the same time. " * 3
    rules = make_document("Rules", [("A", text), ("B", text.upper())])
    fill(store, build_models(RagConfig()), {"long": [rules]})
    store.close()
    with OllamaServer(reply=lambda _: "How many books?") as server:
        code, said, _ = made_by(capsys, tmp_path, server, tmp_path / "made.jsonl")
        assert (code, said["written"], said["problems"]) == (0, 2, [])
        server.script.extend([Fault.OK, Fault.MALFORMED])
        code, said, _ = made_by(capsys, tmp_path, server, tmp_path / "some.jsonl")
    assert (code, said["written"], len(said["problems"])) == (2, 1, 1)
    code, said, err = made_by(capsys, tmp_path, server, tmp_path / "away.jsonl")
    assert code == 69
    assert (said["error"]["code"], said["error"]["exit_code"]) == ("MOD002", 69)
    assert "no model server answers" in err
    assert not (tmp_path / "away.jsonl").exists()


def test_answers_are_marked_without_a_model(place, capsys):
    given = ("--questions", place / "own.jsonl", "--json")
    code, out, err = ran(capsys, place, "answers", *given)
    assert code == 0, err
    found = json.loads(out)
    marked = {row["question"]: row for row in found["rows"]}
    assert marked[FEE]["citation_precision"] == 1
    assert marked[FEE]["gold_cited"] == 1
    assert marked[FEE]["answer_words"] == 1
    assert marked["How many wheels has a bicycle?"]["citation_precision"] is None
    assert found["measures"]["quote_support"]["mean"] == 1
    assert found["measures"]["refusal_recall"]["mean"] == 1
    assert found["measures"]["statements_proven"]["mean"] == 1
    assert marked[FEE]["answered"] == 1
    assert marked["How many wheels has a bicycle?"]["answered"] is None


def test_presets_and_models_are_measured_side_by_side(place, capsys):
    sweep = place / "sweep.yaml"
    sweep.write_text("grid: {ollama.llm_model: [small, large]}\n")
    given = ("--questions", place / "own.jsonl", "--preset", "default", "--preset")
    given = (*given, "best", "--sweep", sweep, "--models", "embedded")
    code, out, err = ran(capsys, place, "answers", *given, "--json")
    assert code == 0, err
    found = json.loads(out)["configurations"]
    models = ("llm_model=small", "llm_model=large")
    assert list(found) == [f"{p} {m}" for p in ("default", "best") for m in models]
    for report in found.values():
        assert report["measures"]["refusal_recall"]["mean"] == 1
        assert report["measures"]["model_calls"]["mean"] == 0
    code, out, _ = ran(capsys, place, "answers", *given)
    assert code == 0
    assert "default llm_model=small" in out
    assert "statements proven" in out
    assert "questions went wrong" in out


@pytest.mark.network
def test_answers_of_a_model_that_is_away_are_counted(place, capsys):
    with OllamaServer() as server:
        url = server.base_url
    given = ("--questions", place / "own.jsonl", "--models", "embedded+ollama")
    given = (*given, "--set", f"ollama.base_url={url}")
    presets = ("--preset", "default", "--preset", "best")
    code, out, err = ran(capsys, place, "answers", *given, *presets, "--json")
    assert code == 0, err
    found = json.loads(out)["configurations"]
    degraded = {n: one["measures"]["degraded"]["mean"] for n, one in found.items()}
    assert degraded == {"default": 0, "best": 1}
    code, out, err = ran(capsys, place, "answers", *given, *presets[2:])
    assert code == 0, err
    assert "! 4 of 4 answers lacked something: answered with verbatim" in out


def test_a_line_that_cannot_be_read_leaves_the_others_marked(place, capsys):
    broken = place / "broken.jsonl"
    broken.write_text((place / "own.jsonl").read_text() + "{half\n")
    code, out, _ = ran(capsys, place, "answers", "--questions", broken)
    assert code == 2
    assert "! broken.jsonl:5: " in out
    assert "citation precision" in out


@pytest.fixture
def own_loop():
    """LlamaIndex's evaluators make an event loop that nobody closes."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.usefixtures("own_loop")
def test_a_language_model_judges_what_was_answered(world):
    llm = ScriptedLLM(lambda prompt: "NO" if "query" in prompt.lower() else "YES")
    evaluator = AnswerEvaluator(
        world.store,
        ["lending"],
        lambda question: query_collections(
            ["lending"],
            question,
            store=world.store,
            config=world.config,
            models=world.models,
        ),
        Judge(llm),
    )
    gold = Gold(document="Lending rules", quote="A group room")
    lines = [
        LabelledQuestion(question=FEE, gold=(gold,)),
        LabelledQuestion(question="What is a bicycle?"),
    ]
    found = evaluator.evaluate(lines, silent)
    assert (found.rows[0].faithful, found.rows[0].relevant) == (1, 0)
    assert found.rows[1].faithful is None  # a refusal has nothing to be judged
    assert "What is a bicycle? insufficient, though there is an answer" in answers_text(
        found
    )
    unsure = replace(evaluator, judge=Judge(ScriptedLLM(lambda _: "I cannot tell.")))
    found = unsure.evaluate(lines[:1], silent)
    assert found.rows[0].faithful is None  # and not a bad mark
    assert "neither yes nor no: 'I cannot tell.'" in found.problems[0].detail
    with pytest.raises(ConfigError, match="leave --judge out"):
        Judge(None)


def test_what_models_are_asked_is_counted(tmp_path):
    llm = ScriptedLLM(["one", "two"])
    embedder = CachedQueryEmbedding(HashEmbedding())
    embedder.load(["known question"], tmp_path, silent)
    with count_usage(Models(embedder=embedder, llm=llm)) as use:
        llm.complete("Say one.")
        embedder.get_query_embedding("known question")
        embedder.get_query_embedding("three words more")
        embedder.get_text_embedding_batch(["a text", "another"])
    llm.complete("Say two.")
    found = use()
    assert (found.llm_calls, found.llm_tokens_read) == (1, 0)
    assert (found.embedded_texts, found.embedded_tokens) == (3, 6)


@pytest.mark.parametrize(
    "raw",
    [
        {"prompt_eval_count": 5, "eval_count": 2},
        {"usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    ],
)
def test_tokens_are_those_the_server_tells(raw):
    counter = CallCounter()
    said = CompletionResponse(text="x", raw=raw)
    counter.on_event_end(CBEventType.LLM, {EventPayload.COMPLETION: said})
    counter.on_event_end(CBEventType.TEMPLATING, {})
    assert (counter.calls, counter.read, counter.written) == (1, 5, 2)


def test_question_vectors_are_kept_and_a_damaged_file_is_made_again(tmp_path):
    plain = HashEmbedding()
    first = CachedQueryEmbedding(plain)
    first.load(["What is due?"], tmp_path, silent)
    (file,) = tmp_path.glob("questions-*.npz")
    kept = file.read_bytes()
    file.write_bytes(kept[:50])
    again = CachedQueryEmbedding(plain)
    again.load(["What is due?"], tmp_path, silent)
    assert file.read_bytes() == kept
    vector = again.get_query_embedding("What is due?")
    assert vector == pytest.approx(plain.get_query_embedding("What is due?"))
    assert again.counts == (0, 0)


def test_words_indexed_otherwise_are_asked_in_a_copy(tmp_path, capsys):
    store = Store(tmp_path / "data")
    fill(store, build_models(RagConfig()), CONTENT)
    with store.writer() as writer:
        writer.publish(["lending", "rooms"])
    store.close()
    rows(tmp_path / "own.jsonl", LINES)
    manifest = tmp_path / "data" / "indexes" / "lending" / "MANIFEST.json"
    before = manifest.read_bytes()
    grid = {"keywords.k1": [0.9, 3], "query.num_queries": [1]}
    (tmp_path / "words.yaml").write_text(json.dumps({"grid": grid}))
    given = (
        "--questions",
        tmp_path / "own.jsonl",
        "--cache",
        tmp_path / "words",
        "--json",
    )
    for indexed in (True, False):
        sweep = (*given, "--sweep", tmp_path / "words.yaml")
        code, out, err = ran(capsys, tmp_path, "retrieval", *sweep)
        assert code == 0, err
        found = json.loads(out)
        assert found["measured"]["indexed_now"] == indexed
        changes = [one["changed"] for one in found["configurations"]]
        assert [one.get("keywords.k1") for one in changes] == [None, 3]
    assert manifest.read_bytes() == before
    (copy,) = (tmp_path / "words").glob("words-*")
    assert "k1 3.0" in (copy / "indexes" / "lending" / "MANIFEST.json").read_text()

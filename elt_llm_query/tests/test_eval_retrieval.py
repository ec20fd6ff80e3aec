import json
import math
import re
import sys

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.loader import load_config
from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_query.evaluation.configurations import build_configurations, swept_settings
from elt_llm_query.evaluation.labelled_questions import read_labelled
from eval_world import PASSAGES, QUESTIONS, write_beir

SWEEP = """
configurations:
  now: {}
  words: {query: {fusion_options: {alpha: 0.0}, use_reranker: false}}
grid:
  query.reranker_retrieve_k: [8, 20]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("eval")
    write_beir(folder / "library")
    (folder / "sweep.yaml").write_text(SWEEP)
    return folder


def ran(capsys, *arguments):
    code = run(elt_llm, ("eval", *map(str, arguments)))
    out, err = capsys.readouterr()
    return code, out, err


def evaluated(capsys, place, *arguments):
    given = ("--data", place / "library", "--cache", place / "cache", "--quiet")
    code, out, err = ran(capsys, "retrieval", *given, *arguments)
    assert code == 0, err
    return out


def told(capsys, place, *arguments):
    return json.loads(evaluated(capsys, place, "--json", *arguments))


def test_two_runs_say_the_same_but_for_what_was_measured(place, capsys):
    first = told(capsys, place, "--sweep", place / "sweep.yaml")
    second = told(capsys, place, "--sweep", place / "sweep.yaml")
    assert not second["measured"]["indexed_now"]
    assert first.pop("measured").keys() == second.pop("measured").keys()
    assert first == second
    assert [one["name"] for one in first["configurations"]] == [
        "now reranker_retrieve_k=8",
        "now reranker_retrieve_k=20",
        "words reranker_retrieve_k=8",
        "words reranker_retrieve_k=20",
    ]
    assert first["asked"]["passages"] == len(PASSAGES)
    assert first["asked"]["gold"] == 11
    assert first["configurations"][2]["changed"] == {
        "query.fusion_options": {"alpha": 0.0},
        "query.reranker_retrieve_k": 8,
        "query.use_reranker": False,
    }
    assert {one["against"] for one in first["comparisons"]} == {
        "now reranker_retrieve_k=8"
    }


def test_the_measures_follow_from_the_run_file(place, capsys):
    report = told(capsys, place, "--run", place / "one.trec")
    lines = [line.split() for line in (place / "one.trec").read_text().splitlines()]
    assert {line[1] for line in lines} == {"Q0"}
    ranks = {(line[0], line[2]): int(line[3]) for line in lines}
    scores = [float(line[4]) for line in lines if line[0] == "q1"]
    assert scores == sorted(scores, reverse=True)
    best = [
        min(ranks.get((q, p), math.inf) for p in gold)
        for q, (_, gold) in QUESTIONS.items()
    ]
    measures = report["configurations"][0]["measures"]
    assert measures["RR"]["mean"] == pytest.approx(
        sum(1 / b for b in best) / 10, abs=1e-4
    )
    assert measures["R@10"]["mean"] == 1


def test_stages_tell_where_gold_was_found_and_lost(place, capsys):
    setting = (
        "--set",
        "query.reranker_retrieve_k=2",
        "--set",
        "query.reranker_top_k=2",
    )
    (one,) = told(capsys, place, *setting)["configurations"]
    stages = {stage["stage"]: stage for stage in one["stages"]}
    assert list(stages) == [
        *("dense", "keyword", "fuse", "rerank"),
        *(
            "rule_lookup",
            "namesakes",
            "rule_filter",
            "references",
            "figure_links",
            "label",
            "sources",
        ),
    ]
    assert stages["dense"]["recall"] == 1  # ten passages, fifty hits
    assert stages["dense"]["alone"] > 0  # some share no word with their question
    assert stages["fuse"]["passed"] == 2
    assert stages["fuse"]["lost"] == round((1 - stages["fuse"]["recall"]) * 10)
    assert stages["rerank"]["lost"] == 0
    assert one["measures"]["R@100"]["mean"] == 1  # lost from the sources, still ranked


def test_one_question_is_explained_stage_by_stage(place, capsys):
    found = told(capsys, place, "--explain", "q3")["explanations"]
    passages = {one["passage"]: one for one in found[0]["passages"]}
    assert passages["p3"]["gold"] == 2
    assert passages["p3"]["rank"] == 1
    places = {one["stage"]: one for one in passages["p3"]["places"]}
    assert places["keyword"]["rank"] == 1
    assert places["dense"]["score"] == pytest.approx(0.8, abs=0.2)
    shown = evaluated(capsys, place, "--explain", "q3")
    assert "p3: The fee for an overdue book is 20 cents per day." in shown
    given = ("--data", place / "library", "--cache", place / "cache", "--quiet")
    code, _, err = ran(capsys, "retrieval", *given, "--explain", "q33")
    assert code == 64
    assert "no judged question 'q33'" in err


def test_the_table_names_every_configuration(place, capsys):
    shown = evaluated(capsys, place, "--sweep", place / "sweep.yaml")
    for name in ("now reranker_retrieve_k=8", "words reranker_retrieve_k=20"):
        assert name in shown
    assert "nDCG@10" in shown
    assert "against now reranker_retrieve_k=8" in shown


def test_what_is_indexed_can_be_chosen(place, capsys):
    found = told(capsys, place, "--text", "title=false", "--text", "tokens=16")
    assert found["asked"]["text"]["title"] is False
    assert found["measured"]["indexed_now"]
    (one,) = found["configurations"]
    assert one["measures"]["R@10"]["mean"] == 1  # chunks are judged as their passage


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 64, "either --data or --questions is needed"),
        (("--set", "alpha=3"), 64, "is not SECTION.KEY=VALUE"),
        (
            ("--set", "query.fusion_options.alfa=1"),
            78,
            "'alfa' of the fusions strategy",
        ),
        (("--set", "query.nothing=1"), 78, "unknown key 'query.nothing'"),
        (("--preset", "nope"), 78, "nope"),
        (("--text", "titel=no"), 64, "--text 'titel=no' cannot be used"),
    ],
)
def test_what_cannot_be_run_is_refused(place, capsys, arguments, code, said):
    data = (
        ("--data", place / "library", "--cache", place / "cache") if arguments else ()
    )
    found, _, err = ran(capsys, "retrieval", *data, "--quiet", *arguments)
    assert (found, said in err) == (code, True), err


@pytest.mark.parametrize(
    ("told", "cure"),
    [
        ("{a: [1]}", "the configuration 'a' of the sweep is [1]"),
        ("{a: {query: 3}}", "query = 3 in the configuration 'a' of the sweep"),
    ],
)
def test_a_sweep_of_another_shape_is_told(tmp_path, told, cure):
    (tmp_path / "sweep.yaml").write_text(f"configurations: {told}")
    with pytest.raises(ConfigError, match=re.escape(cure)):
        swept_settings(tmp_path / "sweep.yaml")


def test_a_sweep_may_write_dotted_keys(tmp_path):
    (tmp_path / "sweep.yaml").write_text(
        "configurations:\n  a: {query.fusion_strategy: rrf}\n"
        "  b: {query: {fusion_strategy: rrf}}\n"
    )
    made = build_configurations(
        lambda preset, over: load_config(environ={}, overrides=over),
        [],
        [],
        tmp_path / "sweep.yaml",
    )
    assert made["a"] == made["b"] != load_config(environ={})


def test_a_sweep_that_is_none_is_refused(place, capsys):
    (place / "bad.yaml").write_text("grids: {query.num_queries: [1]}\n")
    data = ("--data", place / "library", "--cache", place / "cache", "--quiet")
    code, _, err = ran(capsys, "retrieval", *data, "--sweep", place / "bad.yaml")
    assert code == 78
    assert "is not a sweep; it may contain `configurations`" in err


def test_a_baseline_is_held_and_its_fall_is_seen(place, capsys):
    evaluated(capsys, place, "--baseline", place / "base.json")
    data = ("--data", place / "library", "--cache", place / "cache", "--quiet")
    gate = ("gate", *data, "--baseline", place / "base.json")
    code, out, _ = ran(capsys, *gate)
    assert code == 0
    assert "10 questions compared" in out
    told_then = json.loads((place / "base.json").read_text())
    for key, values in told_then["questions"].items():
        told_then["questions"][key] = [values[0] + 0.1, *values[1:]]
    (place / "base.json").write_text(json.dumps(told_then))
    code, out, _ = ran(capsys, *gate, "--json")
    found = json.loads(out)["measures"]
    assert code == 1
    assert [name for name, one in found.items() if one["fell"]] == ["nDCG@10"]
    assert found["nDCG@10"]["difference"]["high"] == -0.1


def test_a_gate_tells_what_is_not_as_the_baseline_was(place, capsys):
    evaluated(capsys, place, "--baseline", place / "sound.json")
    write_beir(place / "worse" / "library")
    qrels = place / "worse" / "library" / "qrels" / "dev.tsv"
    broken = qrels.read_text().replace("q1\tp1\t1", "q1 p1").replace("\tp9\t", "\tno\t")
    qrels.write_text(broken)
    data = ("--data", place / "worse" / "library", "--cache", place / "cache")
    gate = ("gate", *data, "--quiet", "--baseline", place / "sound.json")
    code, out, _ = ran(capsys, *gate)
    assert code == 2
    assert "9 questions compared; 1 missing, 0 new; 1 with other gold" in out
    assert "the questions differ from the baseline's; if that is intended" in out
    assert "! dev.tsv:2: 'q1 p1'\n! dev.tsv: 1 judged passages are empty or not" in out
    code, out, _ = ran(capsys, *gate, "--allow-missing", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["gone"], found["changed"], found["allowed"]) == (1, 1, True)
    assert len(found["problems"]) == 2
    older = json.loads((place / "sound.json").read_text())
    del older["gold"]
    (place / "sound.json").write_text(json.dumps(older))
    code, out, _ = ran(capsys, *gate, "--allow-missing")
    assert "! the baseline does not record its gold" in out


def test_a_baseline_of_other_questions_is_refused(place, capsys):
    evaluated(capsys, place, "--limit", 3, "--baseline", place / "other.json")
    changed = json.loads((place / "other.json").read_text())
    changed["questions"] = {"f" * 12: [1.0] * 5}
    (place / "other.json").write_text(json.dumps(changed))
    data = ("--data", place / "library", "--cache", place / "cache", "--quiet")
    code, _, err = ran(capsys, "gate", *data, "--baseline", place / "other.json")
    assert code == 64
    assert "none of the 1 questions of the baseline was asked" in err
    code, _, err = ran(capsys, "gate", *data, "--baseline", place / "sweep.yaml")
    assert code == 64
    assert "not a baseline file" in err


def test_tuning_chooses_on_some_questions_and_reports_on_others(place, capsys):
    data = ("--data", place / "library", "--cache", place / "cache", "--quiet")
    wrote = ("--write", place / "won.yaml", "--baseline", place / "won.json")
    sweep = place / "tune.yaml"
    sweep.write_text(
        "configurations: {words: {query: {fusion_options: {alpha: 0.0}}}, "
        "vectors: {query: {fusion_options: {alpha: 1.0}, use_reranker: false}}}\n"
    )
    code, out, err = ran(capsys, "tune", *data, "--sweep", sweep, *wrote, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert sum(fold["questions"] for fold in found["folds"]) == 10
    assert (found["first"], found["measure"]) == ("now", "nDCG@10")
    assert {fold["chosen"] for fold in found["folds"]} <= {"now", "words", "vectors"}
    code, _, err = ran(
        capsys,
        "gate",
        *data,
        "--profile",
        place / "won.yaml",
        "--baseline",
        place / "won.json",
    )
    assert code == 0, err
    kept = (place / "won.yaml").read_bytes()
    code, _, err = ran(capsys, "tune", *data, "--sweep", sweep, *wrote)
    assert (code, (place / "won.yaml").read_bytes()) == (64, kept)
    assert "may have been edited" in err
    code, _, err = ran(capsys, "tune", *data, "--measure", "MAP@5")
    assert code == 64
    assert "'nDCG@10', 'Recall@10', 'Recall@100', 'MAP@10', 'MRR'" in err
    code, _, err = ran(capsys, "tune", *data, "--limit", 4)
    assert code == 64
    assert "4 questions with gold are too few to choose by" in err


def test_what_finished_before_a_configuration_failed_is_kept(place, tmp_path, capsys):
    """Nothing embeds at that address; the first configuration is done by then."""
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(
        "configurations:\n"
        "  good: {}\n"
        "  away: {models.embedder_strategy: ollama, "
        "ollama.base_url: 'http://127.0.0.1:9'}\n"
        "  plain: {query.use_reranker: false}\n"
    )
    data = ("--data", place / "library", "--cache", tmp_path / "cache", "--quiet")
    more = ("--sweep", sweep, "--run", tmp_path / "run.trec", "--json")
    code, out, err = ran(capsys, "retrieval", *data, *more)
    assert (code, err) == (2, "")
    report = json.loads(out)
    assert [one["name"] for one in report["configurations"]] == ["good", "plain"]
    assert any("'away' was left out" in p["detail"] for p in report["problems"])
    written = {path.name for path in tmp_path.glob("*.trec")}
    assert written == {"run.good.trec", "run.plain.trec"}


@pytest.mark.parametrize("command", ["retrieval", "tune"])
def test_a_missing_extra_is_told_before_any_work(
    place, tmp_path, capsys, monkeypatch, command
):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    data = ("--data", place / "library", "--cache", tmp_path / "cache", "--quiet")
    code, _, err = ran(capsys, command, *data)
    assert code == 78
    assert "--extra eval" in err
    assert not (tmp_path / "cache").exists()


def test_why_no_line_of_a_file_can_be_used_is_told(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text('{"question": "What?", "answer_is": "x"}\n')
    with pytest.raises(UsageError, match="answer_is"):
        read_labelled(file)

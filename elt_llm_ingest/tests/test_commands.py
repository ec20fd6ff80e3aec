"""The commands and the configuration files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import elt_llm_ingest
from elt_llm_core import provenance
from elt_llm_core.cli import failures
from elt_llm_core.cli.collections import collections
from elt_llm_core.config.loader import (
    RagConfig,
    known_profiles,
    load_config,
    reference_file,
)
from elt_llm_core.errors import ConfigError
from elt_llm_core.store import Store
from elt_llm_core.store.database.lock import LOCK, writer_lock
from elt_llm_ingest import cli, runner
from elt_llm_ingest.runner import read_file

OFFLINE = "models:\n  embedder_strategy: embedded\n"


@pytest.fixture
def files(tmp_path, monkeypatch, without_index):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "guide.md").write_text("# Guide\n\nA fee is due in June.\n")
    (tmp_path / "one.yaml").write_text(
        "collection_name: harbour\nfile_paths: [guide.md]\nmetadata: {domain: sea}\n"
        "organisation: Harbour Trust\n"
        "chunking: {strategy: sentence, chunk_size: 64}\n"
    )
    (tmp_path / "both.yaml").write_text("file_paths: [one.yaml, broken.yaml]\n")
    (tmp_path / "broken.yaml").write_text(
        "collection_name: other\nfile_paths: [missing.pdf]\n"
    )
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(runner.main, [*arguments, "--data-dir", "data"])
    return done.exit_code, done.stdout, done.stderr


def test_the_reference_configuration_names_every_key_with_its_default():
    file = reference_file()
    assert file is not None
    loaded = yaml.safe_load(file.read_text())
    defaults = RagConfig()
    assert load_config(file, environ={}) == defaults
    assert loaded.keys() == RagConfig.model_fields.keys()
    for name, section in loaded.items():
        assert section.keys() == type(getattr(defaults, name)).model_fields.keys()


def test_every_profile_loads():
    assert {"best", "local-enterprise", "ollama"} <= known_profiles().keys()
    for name in known_profiles():
        load_config(profile=name, environ={})


def test_public_names_are_sorted_and_there():
    names = elt_llm_ingest.__all__
    assert sorted(names, key=lambda n: (not n.isupper(), n.islower(), n)) == names
    for name in names:
        assert getattr(elt_llm_ingest, name)
    with pytest.raises(AttributeError):
        elt_llm_ingest.nothing  # noqa: B018


def test_ingest_and_remove(files):
    invoke = CliRunner().invoke
    common = ["--collection", "harbour", "--data-dir", "data"]
    done = invoke(cli.ingest, ["guide.md", "nothing.pdf", "--quiet", *common])
    assert done.exit_code == 2
    assert "1 added, 0 updated, 0 unchanged, 1 failed" in done.stdout
    done = invoke(cli.ingest, ["guide.md", "--quiet", "--json", *common])
    assert json.loads(done.stdout)["counts"]["unchanged"] == 1
    done = invoke(cli.remove, ["guide.md", "--quiet", *common])
    assert done.stdout == "1 document removed from harbour.\n"


def test_priority(files, capsys):
    (files / "guide.md").write_text("# Fee\n\nA fee is due in June.\n")
    common = ["--collection", "harbour", "--data-dir", "data"]
    assert failures.run(cli.ingest, ["guide.md", *common]) == 0
    assert failures.run(cli.priority, ["100", *common]) == 0
    capsys.readouterr()
    given = ["0", *common, "--document", "guide.md"]
    assert failures.run(cli.priority, given) == 0
    assert "is excluded from all answers" in capsys.readouterr().out
    store = Store(files / "data")
    assert store.card("harbour").priority == 100
    assert [row.priority for row in store.documents("harbour")] == [0]
    store.close()
    # A file that is read again keeps what was set.
    (files / "guide.md").write_text("# Fee\n\nA fee is due in July.\n")
    assert failures.run(cli.ingest, ["guide.md", *common]) == 0
    store = Store(files / "data")
    assert [row.priority for row in store.documents("harbour")] == [0]
    store.close()
    assert failures.run(cli.priority, ["101", *common]) == 64


def test_rename(files, capsys):
    (files / "guide.md").write_text("# Fee\n\nA fee is due in June.\n")
    common = ["--collection", "harbour", "--data-dir", "data"]
    assert failures.run(cli.ingest, ["guide.md", *common]) == 0
    assert failures.run(cli.rename, ["Harbour Rules", *common]) == 0
    given = ["Fees of June", *common, "--document", "guide.md", "--json"]
    capsys.readouterr()
    assert failures.run(cli.rename, given) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Fees of June"
    store = Store(files / "data")
    assert store.card("harbour").title == "Harbour Rules"
    assert [row.title for row in store.documents("harbour")] == ["Fees of June"]
    store.close()
    assert failures.run(cli.rename, [" ", *common]) != 0
    assert failures.run(cli.rename, ["harbour", *common]) == 0
    other = ["--collection", "harbour-rules", "--data-dir", "data"]
    assert failures.run(cli.ingest, ["guide.md", *other]) == 0
    assert failures.run(cli.rename, ["Harbour Rules", *common]) == 64
    assert "is called 'harbour-rules'" in capsys.readouterr().err


def test_a_file_of_several_documents_says_how_many(files):
    model = (
        '<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" identifier="m">'
        "<name>Harbour</name><elements>"
        '<element identifier="a" xsi:type="BusinessActor"><name>Pilot</name></element>'
        '<element identifier="b" xsi:type="BusinessService"><name>Guidance</name>'
        '</element></elements><relationships><relationship identifier="r" source="a" '
        'target="b" xsi:type="Serving"/></relationships></model>'
    )
    (files / "model.xml").write_text(model)
    common = ["--collection", "model", "--data-dir", "data", "--quiet"]
    invoke = CliRunner().invoke
    planned = invoke(cli.ingest, ["model.xml", "--dry-run", *common]).stdout
    done = invoke(cli.ingest, ["model.xml", *common]).stdout
    for text in (planned, done):
        assert "1 added" in text
        assert "; 2 documents, " in text
    again = invoke(cli.ingest, ["guide.md", *common]).stdout
    assert "1 added" in again
    assert "documents" not in again


def test_a_collection_has_a_name_for_people(files):
    invoke = CliRunner().invoke
    end = ["--data-dir", "data", "--quiet"]
    done = invoke(cli.ingest, ["guide.md", "--collection", "My Harbour", *end])
    assert "Took into My Harbour: 1 added" in done.stdout
    shown = invoke(collections, ["--json", *end])
    (card,) = json.loads(shown.stdout)["collections"]
    assert (card["name"], card["title"]) == ("my-harbour", "My Harbour")
    assert "My Harbour" in invoke(collections, end).stdout
    assert "guide.md" in invoke(collections, ["my harbour", *end]).stdout
    done = invoke(cli.ingest, ["guide.md", "--collection", "my-harbour", *end])
    assert "1 unchanged" in done.stdout


def test_two_names_for_people_are_never_one_collection(files, capsys):
    end = ["--data-dir", "data", "--quiet"]
    invoke = CliRunner().invoke
    invoke(cli.ingest, ["guide.md", "--collection", "C++ rules", *end])
    refused = ["guide.md", "--collection", "C rules", *end]
    assert failures.run(cli.ingest, refused) == 64
    assert "which is called 'C++ rules'" in capsys.readouterr().err
    invoke(cli.remove, ["--all", "--collection", "c-rules", *end])
    again = invoke(cli.ingest, refused)
    assert "1 added" in again.stdout


def test_a_file_name_that_is_not_utf_8_is_told_as_it_is(files, capsys):
    name = os.fsdecode(b"fee-\xff.md")
    common = ["--collection", "hr", "--data-dir", "data", "--quiet"]
    code = failures.run(cli.ingest, [name, "--json", *common])
    out, err = capsys.readouterr()
    out.encode()
    assert (code, name in json.loads(out)["error"]["message"]) == (65, True)
    Path(name).write_text("# Fee\n\nA fee is due in June.\n")
    assert failures.run(cli.ingest, [name, *common]) == 0
    assert failures.run(cli.remove, [name, *common]) == 0
    out, err = capsys.readouterr()
    (out + err).encode()
    assert "1 document removed" in out


def test_a_second_writer_is_refused_before_anything_is_loaded(files):
    """What is imported for the refusal tells how long it takes."""
    code = (
        "import sys\n"
        "from elt_llm_core.cli import elt_llm, failures\n"
        "command = ['ingest', 'guide.md', '--collection', 'hr', '--data-dir', 'data']\n"
        "code = failures.run(elt_llm, command)\n"
        "heavy = {'numpy', 'llama_index', 'chromadb', 'onnxruntime'}\n"
        "loaded = heavy & set(sys.modules)\n"
        "sys.exit(f'loaded {loaded}' if loaded else code)\n"
    )
    with writer_lock(files / "data" / LOCK):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
    assert done.returncode == 75, done.stderr
    assert f"process {os.getpid()}" in done.stderr
    assert "wait for it to finish, or pass --wait SECONDS" in done.stderr


def test_every_failure_is_told_where_nothing_could_be_taken_in(files, capsys):
    (files / "a.pdf").write_bytes(b"%PDF-1.4 broken")
    (files / "b.pdf").write_bytes(b"")
    common = ["--collection", "harbour", "--data-dir", "data"]
    code = failures.run(cli.ingest, ["a.pdf", "b.pdf", "--json", *common])
    out, err = capsys.readouterr()
    told = json.loads(out)["error"]
    assert (code, told["exit_code"], told["code"]) == (65, 65, "ING004")
    assert ["a.pdf" in told["details"][0], "b.pdf" in told["details"][1]] == [True] * 2
    assert "elt-llm: no file could be ingested; 2 failed\n  cannot read " in err
    assert all(f"  {reason}\n" in err for reason in told["details"])


def test_an_ingest_file(files):
    code, out, _ = run("--cfg", "one.yaml", "--json")
    assert code == 0
    assert json.loads(out)["counts"]["added"] == 1
    code, out, _ = run("--status", "--json", "-v")
    (card,) = json.loads(out)["collections"]
    assert card["files"] == ["guide.md"]
    assert '"chunk_size": 64' in card["chunker"]


def test_what_an_ingest_file_tells_can_be_searched_for(files):
    told = "{date: 2021-03-05, authors: [Jo Doe, Al Roe], year: 2021}"
    text = (files / "one.yaml").read_text().replace("{domain: sea}", told)
    (files / "one.yaml").write_text(text)
    assert run("--cfg", "one.yaml")[0] == 0
    database = Store(files / "data").open("harbour")
    (node,) = database.nodes(database.ids({"date": {">=": "2021"}})).values()
    assert provenance.attributes(node) == {
        "authors": "Jo Doe; Al Roe",
        "date": "2021-03-05",
        "year": 2021,
    }
    assert database.ids({"authors": {"contains": "roe"}, "year": "2021"}) == {
        node.node_id
    }
    assert {"authors", "year"} <= database.filter_keys
    (files / "one.yaml").write_text(text.replace("year", "boxes"))
    code, _, err = run("--cfg", "one.yaml")
    assert code == 78
    assert "'boxes' is a reserved key of every chunk" in err


def test_an_ingest_file_is_no_document(files, capsys):
    take = ["--data-dir", "data", "--collection", "harbour"]
    for command in (cli.ingest, cli.watch):
        assert failures.run(command, ["one.yaml", *take]) == 64
        assert "elt-llm-ingest --cfg one.yaml" in capsys.readouterr().err
    (files / "bad.yaml").write_text("file_paths: [guide.md]\ncolection_name: x\n")
    assert failures.run(cli.ingest, ["bad.yaml", *take]) == 78
    err = capsys.readouterr().err
    assert "unknown key 'colection_name' in bad.yaml" in err
    assert "did you mean 'collection_name'? known: chunking, collection_name" in err
    (files / "notes.yaml").write_text("boats: [Tern, Gull]\n")
    assert failures.run(cli.ingest, ["notes.yaml", *take]) == 0


def test_an_empty_name_of_a_collection_is_wrong_usage(files, capsys):
    for name in ("", "   "):
        options = ["guide.md", "--collection", name, "--data-dir", "data"]
        assert failures.run(cli.ingest, options) == 64
        assert "bug" not in capsys.readouterr().err


def test_documents_no_longer_listed_go_unless_told(files):
    run("--cfg", "one.yaml")
    (files / "new.md").write_text("# New\n\nText.\n")
    text = (files / "one.yaml").read_text()
    (files / "one.yaml").write_text(text.replace("guide.md", "new.md"))
    run("--cfg", "one.yaml", "--no-rebuild")
    assert "guide.md" in run("--status", "-v")[1]
    run("--cfg", "one.yaml")
    assert "guide.md" not in run("--status", "-v")[1]


def test_a_batch_goes_on_after_a_failure(files):
    code, out, _ = run("--cfg", "both.yaml")
    assert code == 2
    assert "one: 1 added" in out
    assert "no such file" in out


def test_delete(files):
    run("--cfg", "one.yaml")
    code, out, _ = run("--cfg", "one.yaml", "--delete", "-f")
    assert (code, out) == (0, "Deleted harbour.\n")
    assert (
        run("--cfg", "one.yaml", "--delete", "-f")[1] == "There is nothing to delete.\n"
    )


def test_list_and_errors(files):
    assert run("--list")[0] == 0
    assert run()[0] == 64
    code, out, err = run("--cfg", "nothing", "--json")
    assert code == 78
    assert err.startswith("elt-llm: no ingest configuration named 'nothing'")
    assert json.loads(out)["error"]["code"] == "CFG001"
    assert run("--cfg", "missing.yaml")[0] == 78


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("collection_nam: x\nfile_paths: [a]", "did you mean 'collection_name'"),
        ("collection_name: x\nfile_path: [a]", "did you mean 'file_paths'. known: "),
        (
            "collection_name: x\nfile_paths: [a]\nchunking: {chunk_siz: 3}",
            "'chunk_size'",
        ),
        ("collection_name: x\nfile_paths: [a]\npreprocessor: {}", "delete it"),
        ("collection_name: x\ncollection_prefix: y\nfile_paths: [a]", "set either"),
        ("file_paths: [a.pdf]", "set either"),
        ("collection_name: x", "file_paths"),
        ("- a", "keys and values"),
        ("a: [", "not valid YAML"),
        ("a: !!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
)
def test_bad_ingest_files(tmp_path: Path, text, said):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_file(path)

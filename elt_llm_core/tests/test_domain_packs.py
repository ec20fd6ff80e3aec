"""Settings of a domain pack: where they stand among the others, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from elt_llm_core.config.domain_packs import known_packs, read_pack
from elt_llm_core.config.loader import known_profiles, load_config, profile_file
from elt_llm_core.errors import (
    ConfigError,
    EltLlmError,
    UnknownProfileError,
    UsageError,
)
from elt_llm_core.profile_notes import profile_notes

PACK = {
    "name": "estate",
    "title": "An estate",
    "documents": [{"path": "book.md", "collection": "handbook"}],
    "aliases": "aliases.yaml",
    "table_columns": "columns.yaml",
    "prompts": {"system": "system.md"},
    "definition_patterns": ["By {term} we understand {definition}"],
    "section_rules": {"old rules": 0, "summary": 1.5},
    "profiles": ["profiles/brief.yaml"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pack that has every key."""
    files = {
        "book.md": "# A book",
        "aliases.yaml": "Gate: [door]\n",
        "columns.yaml": "names: {certain: [gate]}\n",
        "system.md": "Speak of gates.\n",
        "profiles/brief.yaml": "# Short.\n# Nothing.\nquery: {reranker_top_k: 2}\n",
        "pack.yaml": yaml.safe_dump(PACK),
    }
    for name, text in files.items():
        (tmp_path / "estate" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "estate" / name).write_text(text)
    return tmp_path / "estate"


def load(pack: Path | str, profile: str | None = None, **over: Any):
    return load_config(
        profile=profile,
        environ={},
        overrides={**over, "consumer": {"pack": str(pack)}},
    )


def test_every_key_of_a_pack_sets_something(folder):
    config = load(folder)
    assert config.query.system_prompt == "Speak of gates.\n"
    assert config.consumer.aliases == folder / "aliases.yaml"
    assert config.consumer.table_columns == folder / "columns.yaml"
    assert config.consumer.definition_patterns == tuple(PACK["definition_patterns"])
    assert config.query.candidate_strategy == ("section_weight",)
    weights = config.query.candidate_options["section_weight"]["weights"]
    assert weights == PACK["section_rules"]
    assert load(folder, "brief").query.reranker_top_k == 2


def test_a_pack_is_below_the_profile_and_above_the_file(folder, tmp_path):
    file = tmp_path / "rag.yaml"
    file.write_text(
        "query: {system_prompt: File., trace_hits: 3}\n"
        f"consumer: {{pack: {folder}}}\n"
    )
    assert load_config(file, environ={}).query.system_prompt == "Speak of gates.\n"
    assert load_config(file, environ={}).query.trace_hits == 3
    own = tmp_path / "own.yaml"
    own.write_text("query: {system_prompt: Profile.}\n")
    assert load_config(file, str(own), {}).query.system_prompt == "Profile."
    environ = {"ELT_LLM_QUERY__SYSTEM_PROMPT": "Environment."}
    assert load_config(file, str(own), environ).query.system_prompt == "Environment."
    none = {"consumer": {"pack": ""}}
    assert load_config(file, None, {}, none).query.system_prompt == "File."


def test_sections_are_weighed_beside_the_steps_of_a_profile(folder, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(
        "query:\n  candidate_strategy: [kind_weight]\n"
        "  candidate_options: {kind_weight: {weights: {figure: 0.5}}}\n"
    )
    query = load(folder, str(own)).query
    assert query.candidate_strategy == ("kind_weight", "section_weight")
    assert query.candidate_options["kind_weight"] == {"weights": {"figure": 0.5}}
    own.write_text("query: {postprocessor_strategy: [section_weight]}\n")
    assert load(folder, str(own)).query.candidate_strategy == ()


def test_the_profiles_of_a_pack_are_known_with_it(folder):
    assert "brief" not in known_profiles()
    assert known_profiles(pack=str(folder))["brief"].is_file()
    assert profile_notes(str(folder))[-1] == ("brief", "Short.", "Nothing.")
    with pytest.raises(UnknownProfileError, match="brief"):
        profile_file("brief")


def test_the_folder_is_found_from_another_one(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert load("estate").consumer.pack == str(folder)
    for name in known_packs():
        assert load(name).consumer.pack == name


def test_everything_of_the_shipped_packs_can_be_loaded():
    for name, folder in known_packs().items():
        for profile in (None, *read_pack(folder).profile_files):
            assert load(name, profile).consumer.pack == name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompts": {"system": "../system.md"}}, "own folder"),
        ({"prompts": {"system": "gone.md"}}, "not in the folder; known: aliases.yaml"),
        ({"aliases": "alias.yaml"}, "did you mean 'aliases.yaml'. known: aliases"),
        ({"titel": "An estate"}, "'titel' in .*'title'. known: aliases, defin"),
        ({"prompts": {"sytem": "system.md"}}, "did you mean 'system'"),
        ({"profiles": ["/etc/brief.yaml"]}, "own folder"),
        ({"profiles": ["book.md"]}, "ends in .yaml"),
        ({"section_rules": {"old": -1}}, "greater than or equal to 0"),
        ({"definition_patterns": ["{term} is"]}, "once each"),
        ({"definition_patterns": ["{term} {definition}"]}, "words or signs"),
        ({"definition_patterns": ["{term} = {definition} {x}"]}, "no other braces"),
    ],
)
def test_refusals(folder, change, said):
    (folder / "pack.yaml").write_text(yaml.safe_dump({**PACK, **change}))
    with pytest.raises(ConfigError, match=said):
        load(folder)


def test_a_misspelt_key_is_named_before_the_one_that_it_leaves_out(folder):
    content = {key: value for key, value in PACK.items() if key != "title"}
    (folder / "pack.yaml").write_text(yaml.safe_dump({**content, "titel": "E"}))
    with pytest.raises(ConfigError, match=r"unknown key 'titel' .* mean 'title'"):
        load(folder)


def test_invalid_yaml_names_the_file_and_the_line(folder):
    (folder / "pack.yaml").write_text("name: estate\ntitle: [\n")
    with pytest.raises(ConfigError, match=r"pack\.yaml is not valid .* at line 3") as e:
        load(folder)
    assert "unicode string" not in str(e.value)


def test_a_link_out_of_the_folder_is_refused(folder, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (folder / "system.md").unlink()
    (folder / "system.md").symlink_to(tmp_path / "secret")
    with pytest.raises(ConfigError, match="leads out of the folder"):
        load(folder)


def test_no_such_pack():
    with pytest.raises(UsageError, match="did you mean 'marrow-hill'"):
        load("marow-hill")


def test_a_wrong_profile_of_a_pack_names_its_key(folder):
    (folder / "profiles" / "brief.yaml").write_text("query: {top_k: 3}\n")
    with pytest.raises(
        EltLlmError, match=r"unknown key 'query\.top_k' in profile brief"
    ):
        load(folder, "brief")

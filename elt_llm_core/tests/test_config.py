"""The configuration: where values come from, and what is refused."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from elt_llm_core.config import loader as module
from elt_llm_core.config.base import Section
from elt_llm_core.config.loader import (
    RagConfig,
    known_profiles,
    load_config,
    profile_file,
    with_models,
)
from elt_llm_core.errors import (
    ConfigError,
    UnknownModelsError,
    UnknownProfileError,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A configuration with one profile beside it."""
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "small.yaml").write_text(
        "query: {similarity_top_k: 3, num_queries: 3}\n"
    )
    path = tmp_path / "rag.yaml"
    path.write_text("query: {similarity_top_k: 2, reranker_top_k: 2, num_queries: 2}\n")
    return path


def fails(path: Path, text: str | bytes) -> ConfigError:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, environ={})
    assert caught.value.exit_code == 78
    return caught.value


def keys(section: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, field in section.model_fields.items():
        inner = field.annotation
        assert isinstance(inner, type)
        for key in inner.model_fields:
            yield name, key


KEYS = list(keys(RagConfig))


def other_value(section: str, key: str) -> Any:
    """A legal value that is not the default."""
    value = getattr(getattr(RagConfig(), section), key)
    known = {
        "citation_policy": "flag",
        "trace": "store",
        "level": "DEBUG",
        "aliases": Path("a.yaml"),
    }
    known |= {"definition_patterns": ("{term} is {definition}",)}
    known |= {"base_url": "http://other:1"}
    known |= {"variant": "atire", "stems": "both", "keep_answers": "all"}
    known |= {"users": {"ann": "s3cret"}}
    roles = ("answer", "rewrite", "judge", "vision")
    known |= {role: [{"strategy": "gguf"}] for role in roles}
    if key in known:
        return known[key]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 0.99 if isinstance(value, float) and value else value + 1
    kinds = {str: "other", SecretStr: "s3cret", dict: {"a": 1}, tuple: ("x",)}
    return kinds.get(type(value), Path("other"))


def test_later_sources_win_over_earlier_ones(file: Path) -> None:
    environ = {"ELT_LLM_QUERY__NUM_QUERIES": "4"}
    assert load_config(file, environ={}).query.num_queries == 2
    merged = load_config(file, "small", environ)
    assert merged.query.similarity_top_k == 3  # the profile
    assert merged.query.reranker_top_k == 2  # the file
    assert merged.query.num_queries == 4  # the environment
    assert merged.query.use_reranker is True  # the default
    over = {"query": {"num_queries": 5}}
    assert load_config(file, "small", environ, over).query.num_queries == 5


def test_the_environment_names_profile_and_data_root(file: Path) -> None:
    environ = {"ELT_LLM_PROFILE": "small", "ELT_LLM_DATA_DIR": "/some/where"}
    found = load_config(file, environ=environ)
    assert found.query.num_queries == 3
    assert found.stores.data_dir == Path("/some/where")
    assert load_config(file, "default", environ).query.num_queries == 2


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").touch()
    assert load_config(tmp_path / "empty.yaml", environ={}) == RagConfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "query: {num_querys: 2}",
            "unknown key 'query.num_querys' in .*; did you mean ",
        ),
        ("quer: {num_queries: 2}", "unknown key 'quer' in .*; did you mean 'query'"),
        ("query: {num_queries: 99}", "query.num_queries = 99 in .*less than"),
        ("query: {num_queries: many}", "query.num_queries = 'many' in .*valid integer"),
        ("query: 5", "query = 5 in "),
        ("query: {reranker_top_k: 30}", r"reranker_top_k \(30\) exceeds"),
        ("chunking: {chunk_overlap: 300}", "must be below chunk_size"),
        ("consumer: {thin: 0.9}", "the bands must descend"),
        ("- a\n- b", "must contain sections, not list"),
        ("just words", "must contain sections, not str"),
        ("query: [", "is not valid YAML"),
        ("query: !!python/object:os.system {}", "is not valid YAML"),
        ("query: {num_queries: 2024-13-45}", "is not valid YAML"),
        ("query: {num_queries: " + "9" * 5000 + "}", "is not valid YAML"),
        ("1: 2", "Keys should be strings"),
        (b"\xff\xfe\xff", "is not valid YAML"),
        ("a: " + "[" * 10_000, "nested too deep"),
        ("# " + "x" * 1_000_001, "is larger than the maximum size of a configuration"),
    ],
)
def test_what_is_not_understood_is_one_sentence(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    path = tmp_path / "bad.yaml"
    error = fails(path, text)
    assert error.code == "CFG001"
    with pytest.raises(ConfigError, match=message):
        raise error
    assert "\n" not in str(error)
    assert len(str(error)) < 600


def test_a_bomb_of_aliases_does_not_go_off(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    lines += ["chunking: {options: {bomb: *a29}}"]
    assert "aliases" in str(fails(tmp_path / "bomb.yaml", "\n".join(lines)))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(ConfigError, match=f"cannot read {path}"):
            load_config(path, environ={})


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(ConfigError, match="larger than"):
        load_config(Path("/dev/zero"), environ={})


def test_an_unknown_profile_names_the_nearest(file: Path) -> None:
    with pytest.raises(UnknownProfileError, match="did you mean 'small'") as caught:
        load_config(file, "smal", environ={})
    assert caught.value.exit_code == 78
    assert "small" in known_profiles(file)


def test_a_profile_may_be_a_path(file: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("query: {num_queries: 7}")
    assert load_config(file, str(own), environ={}).query.num_queries == 7
    assert profile_file("small", file).stem == "small"
    with pytest.raises(UnknownProfileError):
        profile_file("../rag", file)


@pytest.mark.parametrize(
    ("name", "text", "section", "key", "value"),
    [
        ("OLLAMA__LLM_MODEL", "1234", "ollama", "llm_model", "1234"),
        ("QUERY__SYSTEM_PROMPT", "Answer: short", "query", "system_prompt", None),
        ("QUERY__SYSTEM_PROMPT", "[", "query", "system_prompt", None),
        ("QUERY__USE_RERANKER", "no", "query", "use_reranker", False),
        ("PLUGINS__ALLOW", "[a, b]", "plugins", "allow", ("a", "b")),
        ("CHUNKING__OPTIONS", "{a: 1}", "chunking", "options", {"a": 1}),
        ("STORES__DATA_DIR", "007", "stores", "data_dir", Path("007")),
        ("QUERY__SYSTEM_PROMPT", "", "query", "system_prompt", ""),
    ],
)
def test_variables_are_read_as_their_key_wants(
    tmp_path: Path, name: str, text: str, section: str, key: str, value: object
) -> None:
    (tmp_path / "c.yaml").touch()
    found = load_config(tmp_path / "c.yaml", environ={f"ELT_LLM_{name}": text})
    actual = getattr(getattr(found, section), key)
    assert actual == (text if value is None else value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ELT_LLM_QUERY", "x", "ELT_LLM_QUERY names no key"),
        ("ELT_LLM_QUERY__NUM_QUERYS", "1", "query.num_querys.*the environment"),
        ("ELT_LLM_NOTHING__AT_ALL", "1", "unknown key 'nothing'"),
        ("ELT_LLM_QUERY__NUM_QUERIES", "[", "ELT_LLM_QUERY__NUM_QUERIES is not valid"),
        ("ELT_LLM_QUERY__NUM_QUERIES", "", "query.num_queries = ''"),
    ],
)
def test_a_variable_that_is_not_understood_is_told(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / "c.yaml").touch()
    with pytest.raises(ConfigError, match=message):
        load_config(tmp_path / "c.yaml", environ={name: text})


def test_other_variables_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").touch()
    environ = {"HOME": "/", "ELT_LLM_CACHE_DIR": "/x", "ELT_LLM_EVAL_DATA": "/y"}
    assert load_config(tmp_path / "c.yaml", environ=environ) == RagConfig()


def test_the_process_environment_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in os.environ if n.startswith("ELT_LLM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ELT_LLM_QUERY__NUM_QUERIES", "6")
    (tmp_path / "c.yaml").touch()
    assert load_config(tmp_path / "c.yaml").query.num_queries == 6


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_every_key_is_described_and_changes_the_hash(section: str, key: str) -> None:
    inner = RagConfig.model_fields[section].annotation
    assert isinstance(inner, type)
    assert issubclass(inner, Section)
    assert inner.model_fields[key].description
    changed = RagConfig.model_validate({section: {key: other_value(section, key)}})
    assert changed.hash() != RagConfig().hash()
    assert changed.hash(section) != RagConfig().hash(section)
    others = [name for name in RagConfig.model_fields if name != section]
    assert changed.hash(*others) == RagConfig().hash(*others)


def test_hashes_do_not_depend_on_the_run() -> None:
    assert RagConfig().hash("chunking") == "35f24f96dc6a813f"
    assert len(RagConfig().hash()) == 16


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("api: {token: hunter2}\nopenai_like: {api_key: hunter2}\n")
    found = load_config(path, environ={})
    assert found.api.token.get_secret_value() == "hunter2"
    for shown in (repr(found), found.model_dump_json(), str(found.model_dump())):
        assert "hunter2" not in shown
    assert "4711" not in str(fails(path, "api: {token: 4711}"))


def test_a_numeric_secret_may_come_from_the_environment(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").touch()
    environ = {"ELT_LLM_API__TOKEN": "4711"}
    found = load_config(tmp_path / "c.yaml", environ=environ)
    assert found.api.token.get_secret_value() == "4711"


def test_sections_are_frozen_and_closed() -> None:
    for field in RagConfig.model_fields.values():
        assert isinstance(field.annotation, type)
        assert field.annotation.model_config.get("frozen") is True
        assert field.annotation.model_config.get("extra") == "forbid"


def test_option_tables_have_no_mutable_default_in_common() -> None:
    fields = RagConfig().chunking.options
    fields["leak"] = 1
    assert RagConfig.model_validate({"chunking": {}}).chunking.options == {}
    assert all(
        get_origin(f.annotation) is not dict or f.default_factory is dict
        for s in RagConfig.model_fields.values()
        if isinstance(s.annotation, type)
        for f in s.annotation.model_fields.values()
    )
    fields.clear()


def test_allowed_plugins() -> None:
    found = RagConfig.model_validate({"plugins": {"allow": ["a", "b"]}})
    assert found.allowed_plugins() == frozenset("ab")


nested = st.recursive(
    st.integers(),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(st.sampled_from("abc"), nested, max_size=3)


@given(mappings, mappings)
def test_merging_keeps_both_and_changes_neither(
    base: dict[str, Any], over: dict[str, Any]
) -> None:
    before = repr((base, over))
    merged = module._deep_merge(base, over)
    assert repr((base, over)) == before
    assert set(merged) == set(base) | set(over)
    assert module._deep_merge(merged, over) == merged


def test_another_strategy_does_not_take_the_options_of_the_last(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(
        "query:\n  fusion_strategy: convex\n  fusion_options: {alpha: 0.5}\n"
        "  postprocessor_strategy: [mmr]\n  postprocessor_options: {mmr: {top_n: 3}}\n"
    )
    over = {
        "query": {"fusion_strategy": "rrf", "postprocessor_strategy": ["neighbours"]}
    }
    query = load_config(file, environ={}, overrides=over).query
    assert query.fusion_options == {}
    assert query.postprocessor_options == {"mmr": {"top_n": 3}}
    same = load_config(file, environ={"ELT_LLM_QUERY__FUSION_STRATEGY": "convex"}).query
    assert same.fusion_options == {"alpha": 0.5}
    new = {"query": {"fusion_strategy": "rrf", "fusion_options": {"k": 10}}}
    assert load_config(file, environ={}, overrides=new).query.fusion_options == {
        "k": 10
    }


def test_a_fault_is_told_where_it_was_said(tmp_path):
    profile = tmp_path / "mine.yaml"
    profile.write_text("query: {similarity_top_k: -3}")
    with pytest.raises(ConfigError, match=r"-3 in profile .*mine\.yaml:"):
        load_config(profile=str(profile), environ={})
    with pytest.raises(ConfigError, match=r"'query.fusion_stratgy' in what the call"):
        load_config(environ={}, overrides={"query": {"fusion_stratgy": "rrf"}})
    with pytest.raises(ConfigError, match=r"mmr.* in the environment: .* list"):
        load_config(environ={"ELT_LLM_QUERY__POSTPROCESSOR_STRATEGY": "mmr"})


@pytest.mark.parametrize("section", ["ollama", "openai_like"])
@pytest.mark.parametrize(
    "address",
    ["", " ", "localhost:11434", "ftp://x", "http://", "http://a b", "http://x:y"],
)
def test_an_address_that_is_none_is_refused(file, section, address):
    key = f"ELT_LLM_{section.upper()}__BASE_URL"
    with pytest.raises(ConfigError, match="address of a server"):
        load_config(file, environ={key: address})


def test_an_address_is_taken_without_the_blanks_around_it(file):
    environ = {"ELT_LLM_OLLAMA__BASE_URL": " https://models.example:8443/x \n"}
    found = load_config(file, environ=environ)
    assert found.ollama.base_url == "https://models.example:8443/x"


@pytest.mark.parametrize(
    "key",
    [
        "OLLAMA__LLM_MODEL",
        "OLLAMA__EMBEDDING_MODEL",
        "MODELS__LLM_STRATEGY",
        "API__HOST",
        "CHUNKING__STRATEGY",
        "QUERY__SYNTHESIZER_STRATEGY",
    ],
)
@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_refused(file, key, name):
    with pytest.raises(ConfigError, match="at least 1 character"):
        load_config(file, environ={f"ELT_LLM_{key}": name})


@pytest.mark.parametrize(
    ("name", "embedder", "llm"),
    [
        ("embedded", "embedded", "none"),
        ("ollama", "ollama", "ollama"),
        ("openai_like", "openai_like", "openai_like"),
        ("embedded+ollama", "embedded", "ollama"),
        ("gguf", "embedded", "gguf"),
    ],
)
def test_a_choice_of_models_goes_before_the_profile(name, embedder, llm):
    for said in ({"models": name}, {"environ": {"ELT_LLM_MODELS": name}}):
        found = load_config(profile="best", **{"environ": {}, **said})
        assert found.models.embedder_strategy == embedder
        assert found.models.llm_strategy == llm
        assert found.query == load_config(profile="best", environ={}).query


def test_a_choice_keeps_the_options_of_a_strategy_that_stays():
    options = {"llm_strategy": "gguf", "llm_options": {"model_path": "m"}}
    environ = {f"ELT_LLM_MODELS__{k.upper()}": str(v) for k, v in options.items()}
    kept = load_config(environ=environ, models="embedded+gguf").models
    assert kept.llm_options == {"model_path": "m"}
    config = load_config(environ=environ)
    assert with_models(config, "embedded+gguf").models == kept
    assert with_models(config, "ollama").models.llm_options == {}
    assert with_models(config, None) is config


@pytest.mark.parametrize("name", ["olama", "embedded+", "gguf+ollama", "+", " "])
def test_models_that_nobody_knows_are_refused(name):
    with pytest.raises(UnknownModelsError, match="EMBEDDER") as caught:
        load_config(environ={}, models=name)
    assert "embedded" in caught.value.hint

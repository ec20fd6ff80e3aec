"""The one door for strategies: known ones, unknown ones, strangers."""

import importlib
import sys
from pathlib import Path

import pytest
from typing_extensions import override

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import (
    ConfigError,
    MissingExtraError,
    UnknownStrategyError,
)
from elt_llm_core.models import factory
from elt_llm_core.strategy import OUR_PACKAGES, Models, Stage, Strategy
from elt_llm_core.testing.fakes import HashEmbedding


class Loud(Strategy[str]):
    """A strategy with two options."""

    times: int = 2
    word: str = "hey"

    @override
    def build(self, models: Models) -> str:
        return f"{self.word} " * self.times + models.embedder.model_name


CODE = """
from elt_llm_core.strategy import Strategy
class Shout(Strategy[str]):
    times: int = 1
    def build(self, models):
        return "shout" * self.times
not_a_class = 5
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the module path where packages can be installed."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "stranger_shout.py").write_text(CODE)
    (tmp_path / "stranger_needs.py").write_text("import no_such_module_anywhere\n")
    importlib.invalidate_caches()
    yield tmp_path
    for name in ("stranger_shout", "stranger_needs"):
        sys.modules.pop(name, None)


def install(site: Path, package: str, **points: str) -> None:
    """Write the metadata of an installed package with entry points."""
    folder = site / f"{package.replace('-', '_')}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (folder / "entry_points.txt").write_text("\n".join(["[elt_llm.test]", *lines]))
    importlib.invalidate_caches()


@pytest.fixture
def stage() -> Stage[str]:
    """A stage with no strategies but those a test installs."""
    return Stage("test")


def test_a_known_strategy_is_built_with_its_options(
    site: Path, stage: Stage[str]
) -> None:
    install(site, "elt-llm-core", shout="stranger_shout:Shout")
    assert list(stage.known()) == ["shout"]
    built = stage.load("shout", {"times": 2}).build(Models(HashEmbedding()))
    assert built == "shoutshout"
    assert stage.load("shout").build(Models(HashEmbedding())) == "shout"


def test_options_are_fields_frozen_and_closed() -> None:
    assert Loud(times=1).build(Models(HashEmbedding())) == "hey hash"
    with pytest.raises(ValueError, match="frozen"):
        Loud().times = 3  # type: ignore[misc]


def test_an_unknown_name_suggests_the_nearest(site: Path, stage: Stage[str]) -> None:
    with pytest.raises(UnknownStrategyError, match="none are known yet"):
        Stage[str](stage.name).load("shout")
    install(site, "elt-llm-core", shout="stranger_shout:Shout")
    with pytest.raises(UnknownStrategyError, match="did you mean 'shout'") as caught:
        stage.load("shoot")
    assert caught.value.exit_code == 78


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"volume": 1}, "option 'volume' of the test strategy 'shout'.*options: times"),
        ({"times": "x"}, "option 'times'.*valid integer.*got 'x'"),
        ({1: 2}, "option '1' of the test strategy"),
    ],
)
def test_a_bad_option_names_the_options(
    site: Path, stage: Stage[str], options: dict[str, object], message: str
) -> None:
    install(site, "elt-llm-core", shout="stranger_shout:Shout")
    with pytest.raises(ConfigError, match=message):
        stage.load("shout", options)


def test_a_missing_package_names_itself_and_the_cure(
    site: Path, stage: Stage[str]
) -> None:
    install(site, "elt-llm-core", needs="stranger_needs:Needs")
    with pytest.raises(MissingExtraError, match=r"no_such_module_anywhere.*uv sync"):
        stage.load("needs")


@pytest.mark.parametrize(
    "value", ["stranger_shout:Nothing", "stranger_shout:not_a_class"]
)
def test_what_is_no_strategy_is_told(site: Path, stage: Stage[str], value: str) -> None:
    install(site, "elt-llm-core", bad=value)
    with pytest.raises(ConfigError, match=f"is not a Strategy: {value}"):
        stage.load("bad")


def test_a_stranger_is_not_loaded_unless_trusted(site: Path, stage: Stage[str]) -> None:
    install(site, "Some_Stranger", shout="stranger_shout:Shout")
    with pytest.raises(ConfigError, match=r"allow: \[some-stranger\]"):
        stage.load("shout")
    assert "stranger_shout" not in sys.modules
    for name in ("some-stranger", "Some_Stranger", "some.stranger"):
        assert stage.load("shout", allow=frozenset({name}))
    with pytest.raises(ConfigError):
        stage.load("shout", allow=frozenset({"other"}))


def test_a_name_claimed_twice_is_refused(site: Path, stage: Stage[str]) -> None:
    install(site, "elt-llm-core", shout="stranger_shout:Shout")
    install(site, "stranger", shout="stranger_shout:Louder")
    with pytest.raises(ConfigError, match=r"registered twice.*uninstall one"):
        stage.load("shout")


def test_looking_at_the_names_imports_nothing(site: Path, stage: Stage[str]) -> None:
    install(site, "elt-llm-core", shout="stranger_shout:Shout", a="stranger_needs:X")
    assert list(stage.known()) == ["a", "shout"]
    assert not {"stranger_shout", "stranger_needs"} & set(sys.modules)


@pytest.mark.parametrize("group", ["embedders", "llms"])
def test_our_own_strategies_load_with_their_defaults(group: str) -> None:
    stage: Stage[object] = Stage(group)
    assert stage.known()
    for name, point in stage.known().items():
        assert point.dist is not None
        assert point.dist.name in OUR_PACKAGES
        try:
            assert issubclass(stage.strategy_class(name), Strategy)
        except MissingExtraError:
            assert name == "gguf"  # its package is an extra


def test_a_hyphen_in_a_name_is_an_underscore(site: Path, stage: Stage[str]) -> None:
    install(site, "elt-llm-core", very_loud="stranger_shout:Shout")
    assert stage.load("very-loud") == stage.load("very_loud")
    with pytest.raises(UnknownStrategyError, match="did you mean 'very_loud'"):
        stage.load("very-lout")


def test_the_configuration_says_who_is_trusted(
    site: Path, stage: Stage[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "stranger", shout="stranger_shout:Shout")
    monkeypatch.setattr(factory, "EMBEDDERS", stage)
    models = {"embedder_strategy": "shout"}
    with pytest.raises(ConfigError, match=r"allow: \[stranger\]"):
        factory.build_models(RagConfig.model_validate({"models": models}))
    trusting = {"models": models, "plugins": {"allow": ["stranger"]}}
    built = factory.build_models(RagConfig.model_validate(trusting))
    assert built.embedder == "shout"

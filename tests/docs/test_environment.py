"""Every environment variable in the documentation can be set."""

import re
from pathlib import Path

import pytest

from elt_llm_core.config.loader import ENV_PREFIX, load_config
from elt_llm_core.config.sections import RagConfig

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
# The end of a word, so that "ELT_LLM_SECTION__KEY" and "ELT_LLM_..." are no names.
NAME = re.compile(rf"\b{ENV_PREFIX}[A-Z][A-Z0-9_]*[A-Z0-9]\b")
PLACEHOLDERS = {"ELT_LLM_SECTION__KEY"}
DOCUMENTED = sorted(
    {n for page in PAGES for n in NAME.findall(page.read_text(encoding="utf-8"))}
    - PLACEHOLDERS
)
VALUES = {"ELT_LLM_MODELS": "embedded", "ELT_LLM_PROFILE": "default"}


def test_the_pages_name_variables_of_both_kinds() -> None:
    assert {"ELT_LLM_REVIEWER", "ELT_LLM_QUERY__NUM_QUERIES"} <= set(DOCUMENTED)


@pytest.mark.parametrize("name", [n for n in DOCUMENTED if "__" not in n])
def test_a_documented_variable_breaks_no_command(name: str) -> None:
    environ = {name: VALUES.get(name, "a value")}
    assert isinstance(load_config(environ=environ), RagConfig)


@pytest.mark.parametrize("name", [n for n in DOCUMENTED if "__" in n])
def test_a_documented_variable_names_a_key(name: str) -> None:
    section, _, key = name.removeprefix(ENV_PREFIX).lower().partition("__")
    field = RagConfig.model_fields.get(section)
    assert field is not None
    assert key in getattr(field.annotation, "model_fields", {})

"""The docstrings of the public names say what a caller must know."""

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

PACKAGES = ("elt_llm_ingest", "elt_llm_query", "elt_llm_consumer", "elt_llm_api")


def list_public_functions() -> list[Any]:
    functions = []
    for name in PACKAGES:
        package = importlib.import_module(name)
        for each in package.__all__:
            value = getattr(package, each)
            if inspect.isfunction(value):
                functions.append(pytest.param(value, id=f"{name}.{each}"))
    return functions


@pytest.mark.parametrize("function", list_public_functions())
def test_a_public_function_describes_its_parameters_and_result(
    function: Callable[..., Any],
) -> None:
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    described = re.findall(r"^    (\w+): ", text.partition("Args:")[2], re.MULTILINE)
    assert [p for p in signature.parameters if p not in described] == []
    if signature.return_annotation not in (None, "None", inspect.Signature.empty):
        assert "Returns:" in text or "Yields:" in text

"""The tree of errors: drawn as it is, numbered, with codes for every door."""

import inspect
import re

import pytest

from elt_llm_core import errors
from elt_llm_core.errors import EltLlmError, suggest

CLASSES = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, EltLlmError)
]
DOCUMENTED = {0, 1, 2, 64, 65, 69, 73, 75, 78, 130}


def drawn() -> dict[str, str]:
    """Name to code of every class drawn in the module's docstring."""
    text = inspect.getdoc(errors) or ""
    return dict(re.findall(r"── (\w+Error)\s+([A-Z]{3}\d{3})", text))


def test_every_class_is_drawn_with_its_code() -> None:
    actual = {cls.__name__: cls.code for cls in CLASSES if cls is not EltLlmError}
    assert drawn() == actual


def test_the_drawing_has_the_right_parents() -> None:
    parents = {cls.__name__: cls.__bases__[0].__name__ for cls in CLASSES}
    above = ""
    for line in (inspect.getdoc(errors) or "").splitlines():
        match = re.match(r"(.*)── (\w+Error)", line)
        if not match:
            continue
        branch, name = match.groups()
        if len(branch) == 1:
            above = name
        assert parents[name] == ("EltLlmError" if len(branch) == 1 else above)


def test_codes_are_unique() -> None:
    codes = [cls.code for cls in CLASSES]
    assert len(codes) == len(set(codes)) == len(CLASSES)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_class_has_an_exit_code_a_status_and_a_sentence(
    cls: type[EltLlmError],
) -> None:
    assert re.fullmatch(r"[A-Z]{3}\d{3}", cls.code)
    assert cls.exit_code in DOCUMENTED - {0, 2, 130}
    assert 400 <= cls.status < 600
    assert inspect.getdoc(cls)
    wanted = list(inspect.signature(cls).parameters.values())
    samples = {"known": ["aaa", "bbb"], "seconds": 3.0, "sent": 9, "read": 5}
    samples |= {"current": {"revision": 2}, "refused": {"status": "approved"}}
    given = [samples.get(p.name, f"<{p.name}>") for p in wanted if p.default is p.empty]
    error = cls(*given)
    assert error.message
    assert str(error).startswith(error.message)
    assert not error.message.endswith((".", ";"))
    assert error.hint in str(error)


def test_exit_codes_drawn_are_the_ones_in_force() -> None:
    text = inspect.getdoc(errors) or ""
    found = re.findall(r"── (\w+Error)\s+[A-Z]{3}\d{3}\s+exit (\d+)", text)
    assert found
    for name, code in found:
        assert getattr(errors, name).exit_code == int(code)


def test_a_suggestion_is_the_nearest_or_all() -> None:
    assert suggest("qery", ["query", "chat"]) == "did you mean 'query'?"
    assert suggest("zzz", ["query", "chat"]) == "known: chat, query"
    assert suggest("zzz", []) == "none are known yet"


def test_the_message_is_whole_without_a_hint() -> None:
    assert str(EltLlmError("what happened")) == "what happened"
    assert str(EltLlmError("what happened", "the cure")) == "what happened; the cure"


def test_a_new_collection_is_told_how_to_begin() -> None:
    assert "ingest PATH --collection rules" in str(
        errors.CollectionNotFoundError("rules", [])
    )

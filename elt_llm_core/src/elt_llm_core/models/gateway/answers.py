"""Read usage and completeness from an answer of either protocol.

Ollama's client returns objects with fields, the OpenAI protocol nested JSON objects.
"""

import re
from collections.abc import Mapping
from typing import Any

_READ = ("prompt_eval_count", "prompt_tokens")
_WRITTEN = ("eval_count", "completion_tokens")
LENGTH = "length"
# The end of a sentence, with closing marks and cited labels.
_STATEMENT = re.compile(
    r"[.!?\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*(?:\s*\[[^\[\]]{1,40}\])*(?=\s|$)"
)


def tokens_of(answer: Any) -> tuple[int, int]:
    """Return tokens read and tokens written; 0 if the server does not report them."""
    fields = _get(answer, "usage") or answer
    return _first(fields, _READ), _first(fields, _WRITTEN)


def reached_limit(answer: Any) -> bool:
    """Return True for an answer, or a part of one, that reached its maximum length."""
    if _get(answer, "done_reason") == LENGTH:
        return True
    choices = _get(answer, "choices")
    return isinstance(choices, list) and any(
        _get(choice, "finish_reason") == LENGTH for choice in choices
    )


def cut_to_statement(answer: Any) -> None:
    """Remove the text after the last whole sentence of an answer.

    An answer without a whole sentence, or in JSON, is unchanged.
    """
    message = _get(answer, "message")
    if message is None:
        choices = _get(answer, "choices")
        message = _get(choices[0], "message") if choices else None
    text = _get(message, "content")
    if not isinstance(text, str):
        return
    if isinstance(message, dict):
        message["content"] = whole_statements(text)
    else:
        message.content = whole_statements(text)


def whole_statements(text: str) -> str:
    """Return a text up to its last whole sentence, or all of it."""
    if text.lstrip().startswith(("{", "[")):
        return text
    ends = [match.end() for match in _STATEMENT.finditer(text)]
    return text[: ends[-1]] if ends else text


def _get(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def _first(fields: Any, names: tuple[str, ...]) -> int:
    numbers = (_get(fields, name) for name in names)
    return next((n for n in numbers if isinstance(n, int) and n > 0), 0)

"""How long a text is for a model whose tokenizer we do not have."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Protocol, runtime_checkable

from elt_llm_core.errors import PromptTruncatedError

_PIECES = re.compile(r"[A-Za-z]+|\d|[^\sA-Za-z\d]")
_REPEATED = re.compile(r"([\W_])\1+")

LETTERS_PER_TOKEN = 3  # English has about four: the estimate seldom counts too few
SPECIAL_TOKENS = 2

# No model in use has a smaller window, so a shorter prompt was not cut.
SMALLEST_WINDOW = 2048

# How far a cut prompt's count may lie from half the window plus two.
MARK_WIDTH = 4


def most_tokens(text: str) -> int:
    """A count that real tokenizers seldom exceed: for limits.

    Three letters, one digit, one mark or one other character make a token.
    """
    pieces = _PIECES.findall(text)
    return SPECIAL_TOKENS + sum(ceil(len(p) / LETTERS_PER_TOKEN) for p in pieces)


def likely_tokens(text: str) -> int:
    """A count near what a tokenizer finds in prose: for comparing, not for limits.

    Four ASCII characters make a token, as do five of four other characters. A run of
    one mark (dot leaders, rules, indents) counts once, because tokenizers merge it.
    """
    squeezed = _REPEATED.sub(r"\1", text)
    ascii_count = sum(character.isascii() for character in squeezed)
    return round(ascii_count / 4 + (len(squeezed) - ascii_count) * 0.8)


@runtime_checkable
class CountsTokens(Protocol):
    """A model that has its tokenizer at hand."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens of a text."""


def token_counter(llm: object) -> Callable[[str], int]:
    """Return how a prompt for a model is measured.

    Args:
        llm: The model.

    Returns:
        The model's own count where it has a tokenizer in this process. Servers of
        Ollama have no door for it: there it is `most_tokens`, which seldom counts too
        few.
    """
    return llm.count_tokens if isinstance(llm, CountsTokens) else most_tokens


def was_cut(likely: int, read: int, window: int) -> bool:
    """Whether a server that read `read` tokens dropped part of the prompt.

    Ollama answers 200 after cutting a long prompt to half its window plus two, so that
    mark counts as proof as soon as the estimate is clearly above it; elsewhere the
    estimate must be far off, since it is one.
    """
    if likely < SMALLEST_WINDOW * 0.6:
        return False
    at_the_mark = abs(read - (window // 2 + 2)) <= MARK_WIDTH
    return read < likely * 0.6 or (at_the_mark and read < likely * 0.77)


@dataclass(frozen=True)
class Prompt:
    """What was sent to a chat model, to judge what it read. Counts are tokens."""

    model: str
    likely: int
    window: int

    @classmethod
    def of(cls, model: str, texts: Iterable[str], window: int) -> "Prompt":
        """From the texts of the messages; images and tools are not counted."""
        return cls(model, sum(likely_tokens(text) for text in texts), window)

    def check(self, read: int | None) -> None:
        """Raises PromptTruncatedError if the server read clearly less than was sent.

        Nothing is concluded when the server does not say what it read.
        """
        if read is not None and was_cut(self.likely, read, self.window):
            raise PromptTruncatedError(self.model, self.likely, read)

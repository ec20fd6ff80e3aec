"""Estimate the tokens of a text for a model without a local tokenizer."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Protocol, runtime_checkable

from elt_llm_core.errors import PromptTruncatedError

_PIECES = re.compile(r"[A-Za-z]+|\d|[^\sA-Za-z\d]")
_REPEATED = re.compile(r"([\W_])\1+")

LETTERS_PER_TOKEN = 3  # English has about four, so the estimate is seldom too low
SPECIAL_TOKENS = 2

# No model in use has a smaller window, so a shorter prompt was not truncated.
SMALLEST_WINDOW = 2048

# Tolerance around half the window plus two for a truncated prompt.
MARK_WIDTH = 4


def most_tokens(text: str) -> int:
    """Return a count that real tokenizers seldom exceed, for limits.

    Three letters, one digit, one symbol or one other character count as a token.
    """
    pieces = _PIECES.findall(text)
    return SPECIAL_TOKENS + sum(ceil(len(p) / LETTERS_PER_TOKEN) for p in pieces)


def likely_tokens(text: str) -> int:
    """Return a count near a tokenizer's for prose, for comparisons.

    Four ASCII characters count as a token, and four other characters as five. A run of
    one symbol (dot leaders, rules, indentation) counts once, because tokenizers merge
    it.
    """
    squeezed = _REPEATED.sub(r"\1", text)
    ascii_count = sum(character.isascii() for character in squeezed)
    return round(ascii_count / 4 + (len(squeezed) - ascii_count) * 0.8)


@runtime_checkable
class CountsTokens(Protocol):
    """A model with a local tokenizer."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""


def token_counter(llm: object) -> Callable[[str], int]:
    """Return a function that measures prompts for a model.

    Args:
        llm: The model.

    Returns:
        The model's own count if it has a tokenizer in this process; otherwise
        `most_tokens`, which is seldom too low, because Ollama has no API for it.
    """
    return llm.count_tokens if isinstance(llm, CountsTokens) else most_tokens


def was_cut(likely: int, read: int, window: int) -> bool:
    """Return whether a server that read `read` tokens truncated the prompt.

    Ollama answers 200 after truncating a long prompt to half its window plus two, so
    this number is proof if the estimate is clearly above it; otherwise the estimate
    must be far off.
    """
    if likely < SMALLEST_WINDOW * 0.6:
        return False
    at_the_mark = abs(read - (window // 2 + 2)) <= MARK_WIDTH
    return read < likely * 0.6 or (at_the_mark and read < likely * 0.77)


@dataclass(frozen=True)
class Prompt:
    """A prompt sent to a chat model, to check what it read. Counts are tokens."""

    model: str
    likely: int
    window: int

    @classmethod
    def of(cls, model: str, texts: Iterable[str], window: int) -> "Prompt":
        """Create it from the texts of the messages, without images and tools."""
        return cls(model, sum(likely_tokens(text) for text in texts), window)

    def check(self, read: int | None) -> None:
        """Raise PromptTruncatedError if the server read clearly less than was sent.

        Without a report of the server, nothing is concluded.
        """
        if read is not None and was_cut(self.likely, read, self.window):
            raise PromptTruncatedError(self.model, self.likely, read)

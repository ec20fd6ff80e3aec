"""Pack sources into as few prompts as possible: whole, each under its label."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import ModelError
from elt_llm_core.models.token_count import token_counter

BETWEEN = "\n\n"
# Least size of a part of a split source; shorter parts cannot be cited.
FEWEST_TOKENS = 16


class SourcePacker(PromptHelper):
    """LlamaIndex's prompt helper for labelled sources.

    LlamaIndex joins all sources and splits the text where a prompt is full, so that a
    prompt may begin within a source whose label is in another prompt. Here a source
    that does not fit is put into the next prompt as a whole; one that is longer than a
    prompt is split at a line or a word, and each part has the line with the label.

    Args:
        llm: Gives the window, the room of the answer and, where it has one, the
            tokenizer; see `token_counter`.
        most_tokens: Maximum tokens of sources in a prompt; 0 for the size of the
            window.
    """

    _count: Callable[[str], int] = PrivateAttr()

    def __init__(self, llm: LLM, most_tokens: int = 0) -> None:
        count = token_counter(llm)
        super().__init__(
            context_window=llm.metadata.context_window,
            num_output=max(llm.metadata.num_output, 0),
            chunk_overlap_ratio=0.0,  # a repeated sentence is proved twice
            chunk_size_limit=most_tokens or None,
            # Only the number of tokens is asked for.
            tokenizer=lambda text: list(range(count(text))),
        )
        self._count = count

    @override
    def repack(
        self,
        prompt: BasePromptTemplate,
        text_chunks: Sequence[str],
        padding: int = 5,
        llm: LLM | None = None,
        tools: Any = None,
    ) -> list[str]:
        """Return the texts of the prompts, each of one or more whole sources."""
        room = self._room(prompt, padding)
        packed: list[str] = []
        used = 0
        for source in text_chunks:
            for part in self._parts(source.strip(), room):
                length = self._count(part)
                if packed and used + length <= room:
                    packed[-1] += BETWEEN + part
                    used += length
                else:
                    packed.append(part)
                    used = length
        return packed

    def fill(
        self,
        prompt: BasePromptTemplate,
        sources: Sequence[str],
        *,
        taken: str = "",
        most: int = 0,
    ) -> tuple[str, list[str]]:
        """Return the text of one prompt, and the sources that it has no room for.

        Args:
            prompt: The prompt without its sources.
            sources: They are added in order, whole. A source that is longer than a
                prompt is split; its rest, with its first line, comes after the others.
            taken: Other text in the prompt.
            most: Maximum number of sources; 0 for as many as fit.

        Raises:
            ModelError: If the window has no room for sources at all.
        """
        left = self._room(prompt) - self._count(taken)
        filled: list[str] = []
        rest = list(sources)
        while rest and not (most and len(filled) == most):
            length = self._count(rest[0])
            if length > left:
                break
            left -= length
            filled.append(rest.pop(0))
        if not filled and rest and left >= FEWEST_TOKENS:
            part, later = self._cut(rest[0], left)
            filled, rest = [part], [*rest[1:], later]
        return BETWEEN.join(filled), rest

    def _room(self, prompt: BasePromptTemplate, padding: int = 5) -> int:
        """Return how many tokens of sources fit. Raises ModelError for none."""
        try:
            room = self._get_available_chunk_size(prompt, padding=padding)
        except ValueError:  # LlamaIndex's, where less than nothing is left
            room = 0
        if room < FEWEST_TOKENS:
            raise ModelError(
                f"a window of {self.context_window} tokens has no room for a "
                f"source besides the prompt and an answer of {self.num_output} "
                "tokens",
                "raise context_window, or lower num_predict",
            )
        return room

    @override
    def truncate(
        self,
        prompt: BasePromptTemplate,
        text_chunks: Sequence[str],
        padding: int = 5,
        llm: LLM | None = None,
        tools: Any = None,
    ) -> list[str]:
        """Return the beginning of each source, so that one prompt holds all.

        Space that short sources do not need is given to longer ones.
        """
        texts = [text.strip() for text in text_chunks]
        room = self._room(prompt, padding)
        rooms: dict[int, int] = {}
        by_length = sorted((self._count(text), at) for at, text in enumerate(texts))
        for behind, (length, at) in zip(
            range(len(texts), 0, -1), by_length, strict=True
        ):
            rooms[at] = min(length, room // behind)
            room -= rooms[at]
        return [next(self._parts(text, rooms[at]), "") for at, text in enumerate(texts)]

    def _parts(self, source: str, room: int) -> Iterator[str]:
        """Return the source whole, or fitting parts, each under its first line."""
        while source:
            part, source = self._cut(source, room)
            yield part

    def _cut(self, source: str, room: int) -> tuple[str, str]:
        """Return what fits of a source, and the rest, each with its first line."""
        if self._count(source) <= room:
            return source, ""
        head, between, body = source.partition("\n")
        if not between:
            head, body = "", head
        end = self._fitting(body, max(room - self._count(head), FEWEST_TOKENS))
        rest = body[end:].lstrip()
        part = f"{head}{between}{body[:end].rstrip()}"
        return part, f"{head}{between}{rest}" if rest else ""

    def _fitting(self, text: str, room: int) -> int:
        """Return where to cut: after the last line or word that fits, by halving."""
        low, high = 1, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self._count(text[:middle]) <= room:
                low = middle
            else:
                high = middle - 1
        if low == len(text):
            return low
        # Only in the second half, so that a short first line does not end the part.
        at = text.rfind("\n", low // 2, low)
        return at if at > 0 else max(text.rfind(" ", low // 2, low), 0) or low

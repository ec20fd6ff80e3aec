"""Sources put into as few prompts as fit: whole, each under its own label."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.models.token_count import token_counter

BETWEEN = "\n\n"
# Of a cut source's part: less says nothing that could be cited.
FEWEST_TOKENS = 16


class SourcePacker(PromptHelper):
    """LlamaIndex's prompt helper for sources that carry labels.

    LlamaIndex joins all sources and cuts the text where a prompt is full, so that a
    prompt may begin within a source whose label stands in another prompt. Here a source
    that does not fit stands whole in the next prompt; one that is longer than a prompt
    is cut at a line or a word, and each part has the line with the label.

    Args:
        llm: Gives the window, the room of the answer and, where it has one, the
            tokenizer; see `token_counter`.
        most_tokens: Most tokens of sources in a prompt; 0 for what the window holds.
    """

    _count: Callable[[str], int] = PrivateAttr()

    def __init__(self, llm: LLM, most_tokens: int = 0) -> None:
        count = token_counter(llm)
        super().__init__(
            context_window=llm.metadata.context_window,
            num_output=max(llm.metadata.num_output, 0),
            chunk_overlap_ratio=0.0,  # a sentence said twice is proved twice
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
        room = self._get_available_chunk_size(prompt, padding=padding, llm=llm)
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

        What a short source does not need goes to the longer ones.
        """
        texts = [text.strip() for text in text_chunks]
        room = self._get_available_chunk_size(prompt, padding=padding, llm=llm)
        rooms: dict[int, int] = {}
        by_length = sorted((self._count(text), at) for at, text in enumerate(texts))
        for behind, (length, at) in zip(
            range(len(texts), 0, -1), by_length, strict=True
        ):
            rooms[at] = min(length, room // behind)
            room -= rooms[at]
        return [next(self._parts(text, rooms[at]), "") for at, text in enumerate(texts)]

    def _parts(self, source: str, room: int) -> Iterator[str]:
        """Give the source whole, or parts that fit, each under its first line."""
        if self._count(source) <= room:
            if source:
                yield source
            return
        head, _, rest = source.partition("\n")
        left = max(room - self._count(head), FEWEST_TOKENS)
        while rest:
            end = self._fitting(rest, left)
            yield f"{head}\n{rest[:end].rstrip()}"
            rest = rest[end:].lstrip()

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
        # The second half of what fits: a short first line is no reason to cut there.
        at = text.rfind("\n", low // 2, low)
        return at if at > 0 else max(text.rfind(" ", low // 2, low), 0) or low

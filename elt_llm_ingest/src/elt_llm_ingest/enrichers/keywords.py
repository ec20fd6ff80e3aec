"""Keywords that distinguish a chunk from the rest of its document."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from llama_index.core.schema import TextNode, TransformComponent
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import reading
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.enrichers.enricher import Addition, Enricher

_WORD = re.compile(r"[^\W\d_][\w'-]{3,}")
COMMON = 0.2  # words in more than this share of the chunks are not distinctive


class KeywordsEnricher(Enricher):
    """Appends the `count` words of highest tf-idf within the document.

    The frequency is damped (1 + log tf); equal weights are ordered alphabetically. They
    are also in the metadata as `keywords`.
    """

    count: int = Field(default=5, ge=1, le=50, description="words a chunk")

    @classmethod
    @override
    def class_name(cls) -> str:
        return "KeywordsEnricher"

    @override
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        words = [Counter(_WORD.findall(reading(node).lower())) for node in nodes]
        seen = Counter(word for counts in words for word in counts)
        most = max(COMMON * len(nodes), 1)
        for counts in words:
            weights = {
                word: (1 + math.log(n)) * math.log(len(nodes) / seen[word])
                for word, n in counts.items()
                if seen[word] <= most
            }
            best = sorted(weights, key=lambda word: (-weights[word], word))
            keywords = ", ".join(best[: self.count])
            if keywords:
                yield Addition(after=(keywords,), metadata={"keywords": keywords})
            else:
                yield Addition()


class KeywordsEnricherOptions(Strategy[TransformComponent]):
    """`KeywordsEnricher` within the embedder's limit."""

    count: int = Field(default=5, ge=1, le=50)

    @override
    def build(self, models: Models) -> TransformComponent:
        embedder = as_counting(models.embedder)
        return KeywordsEnricher(
            count_tokens=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            count=self.count,
        )

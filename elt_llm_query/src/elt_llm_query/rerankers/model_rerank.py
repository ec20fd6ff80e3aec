"""Order candidates by the relevance that a language model assigns."""

import re

from llama_index.core.llms import LLM
from llama_index.core.postprocessor import LLMRerank
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.errors import ModelError
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.components import NamedComponent
from elt_llm_query.llm_calls import predict_text, require_llm, with_short_answers
from elt_llm_query.prompts import RELEVANCE
from elt_llm_query.resilience import Deadline, run_in_time

TOKENS = 20  # of an answer, for each source
HIGHEST = 10  # the highest relevance a model may assign
_LINE = re.compile(
    r"\bdoc[a-z]*[^\w\n]+(\d+)[^\w\n]+[a-z]*[^\w\n]*(\d+(?:\.\d+)?)", re.IGNORECASE
)


class ModelRerank(NamedComponent, LLMRerank):
    """LlamaIndex's `LLMRerank`, without losing sources or accepting invalid answers.

    The model rates the relevance of `choice_batch_size` sources per call, 0 to 10;
    scores are a tenth of it. Sources without a rating come last with 0, in their given
    order. Raises ModelError if an answer names no source, so that the order stays;
    LlamaIndex's would return nothing. `seconds` is the limit for all calls together.
    """

    seconds: float | None = Field(default=None, gt=0)

    def __init__(self, llm: LLM, top_n: int = 8, choice_batch_size: int = 10) -> None:
        super().__init__(
            llm=llm,
            choice_select_prompt=RELEVANCE,
            choice_batch_size=choice_batch_size,
            top_n=top_n,
        )

    def within(self, seconds: float) -> "ModelRerank":
        """Return a copy that raises ModelError after `seconds`."""
        return self.model_copy(update={"seconds": seconds})

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return list(nodes)[: self.top_n]
        deadline = Deadline(self.seconds)
        scores: list[float] = []
        for batch in self._get_node_batches(nodes):
            scores += self._relevance(batch, query_bundle.query_str, deadline)
        order = sorted(range(len(nodes)), key=lambda i: -scores[i])
        return [
            NodeWithScore(node=nodes[i].node, score=scores[i])
            for i in order[: self.top_n]
        ]

    @override
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._postprocess_nodes(nodes, query_bundle)

    @override
    def _get_predict_kwargs(
        self, nodes_batch: list[BaseNode], query_str: str
    ) -> dict[str, str]:
        shown = (
            f"Document {i}:\n{provenance.reading(node)}"
            for i, node in enumerate(nodes_batch, start=1)
        )
        return {"context_str": "\n\n".join(shown), "query_str": query_str}

    def _relevance(
        self, batch: list[BaseNode], question: str, deadline: Deadline
    ) -> list[float]:
        asked = self._get_predict_kwargs(batch, question)
        answer = run_in_time(
            deadline.seconds_left(),
            lambda: predict_text(self.llm, self.choice_select_prompt, **asked),
            deadline.seconds,
        )
        return relevances(answer, len(batch))


def relevances(answer: str, count: int) -> list[float]:
    """Return the relevance of each of `count` sources, 0 to 1; 0 without a rating.

    Of two lines about one source the first counts. Raises ModelError if no line names
    an existing source.
    """
    by_number: dict[int, float] = {}
    for number, relevance in _LINE.findall(answer):
        if 1 <= int(number) <= count:
            by_number.setdefault(int(number), min(float(relevance) / HIGHEST, 1.0))
    if not by_number:
        raise ModelError(
            "the model named none of the sources it was asked to rank: "
            f"{answer[:80]!r}",
            "use a larger model, or reranker_strategy: embedding",
        )
    return [by_number.get(i, 0.0) for i in range(1, count + 1)]


class ModelRerankOptions(Strategy[BaseNodePostprocessor]):
    """Order by the relevance that the language model assigns."""

    top_n: int = Field(default=8, gt=0, description="sources kept")
    batch_size: int = Field(default=10, gt=0, le=100, description="sources a call")

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        llm = with_short_answers(
            require_llm(models, "the reranker llm", "judge"), TOKENS * self.batch_size
        )
        return ModelRerank(llm, self.top_n, self.batch_size)

"""The `query` section of the configuration: how a question is answered."""

from typing import Any, Literal

from pydantic import Field, model_validator

from elt_llm_core.section import Name, Section


class QuerySection(Section):
    """How a question is answered."""

    similarity_top_k: int = Field(
        default=8, ge=1, le=1000, description="sources without a reranker"
    )
    collection_top_k: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="sources of each collection without a reranker; 0: they compete "
        "for similarity_top_k",
    )
    use_hybrid_search: bool = Field(
        default=True, description="keyword search beside the vectors"
    )
    fusion_strategy: Name = Field(
        default="exact_convex", description="how the lists are joined"
    )
    fusion_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the fusion"
    )
    num_queries: int = Field(
        default=1, ge=1, le=8, description="the question and n-1 rewrites by the model"
    )
    transform_strategy: tuple[str, ...] = Field(
        default=(),
        description="what is searched for instead of the question or beside it, in "
        "this order",
    )
    transform_options: dict[str, Any] = Field(
        default_factory=dict, description="options of each transform by its name"
    )
    router_strategy: Name = Field(
        default="all", description="which of the collections given are searched"
    )
    router_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the router"
    )
    cache_strategy: Name = Field(
        default="none",
        description="whether what a like question found is used again: none, semantic; "
        "held in memory by the server and by `python -m elt_llm_query.runner`, "
        "of no use to a command that asks once",
    )
    cache_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the cache"
    )
    candidate_strategy: tuple[str, ...] = Field(
        default=(),
        description="postprocessors of the candidates before they are reranked, in "
        "this order",
    )
    candidate_options: dict[str, Any] = Field(
        default_factory=dict, description="options of each of them by its name"
    )
    use_reranker: bool = Field(default=True, description="order the candidates again")
    reranker_strategy: Name = Field(default="embedding", description="who reranks")
    reranker_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the reranker"
    )
    reranker_retrieve_k: int = Field(
        default=20, ge=1, le=1000, description="candidates before reranking"
    )
    reranker_top_k: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="sources after reranking; what postprocessors "
        "bring beside them is not counted",
    )
    reranker_timeout: float = Field(
        default=5.0,
        gt=0,
        description="seconds a reranker may take; then the order stays as it was",
    )
    postprocessor_strategy: tuple[str, ...] = Field(
        default=(), description="postprocessors of the sources, in this order"
    )
    postprocessor_options: dict[str, Any] = Field(
        default_factory=dict, description="options of each of them by its name"
    )
    use_tables: bool = Field(
        default=True,
        description="ask whole tables for the highest, a count, a sum or a cell",
    )
    synthesizer_strategy: Name = Field(
        default="extractive",
        description="extractive, compact, refine, tree_summarize, simple_summarize, "
        "accumulate",
    )
    synthesizer_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the synthesizer"
    )
    system_prompt: str = Field(
        default="", description="said to the model before every question"
    )
    citation_policy: Literal["strict", "flag", "lenient"] = Field(
        default="strict",
        description="a claim whose quote is not found: strict removes it, flag marks "
        "it, lenient keeps it",
    )

    question_timeout: float = Field(
        default=300.0,
        gt=0,
        description="seconds a question may take over all its stages; then it is "
        "answered without what models would still say",
    )
    trace_hits: int = Field(
        default=10, ge=0, le=10_000, description="hits of each stage in the trace"
    )

    @model_validator(mode="after")
    def _top_k_fits(self) -> "QuerySection":
        if self.use_reranker and self.reranker_top_k > self.reranker_retrieve_k:
            msg = (
                f"reranker_top_k ({self.reranker_top_k}) exceeds "
                f"reranker_retrieve_k ({self.reranker_retrieve_k})"
            )
            raise ValueError(msg)
        return self

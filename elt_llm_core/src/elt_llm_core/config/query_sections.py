"""The sections of the configuration about questions and conversations."""

from typing import Any, Literal

from pydantic import Field, model_validator

from elt_llm_core.config.base import Name, Section


class QuerySection(Section):
    """How a question is answered."""

    similarity_top_k: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="number of sources when no reranker is used",
    )
    collection_top_k: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="number of sources from each collection when no reranker is "
        "used; 0: all collections compete for similarity_top_k",
    )
    use_hybrid_search: bool = Field(
        default=True, description="search by keywords as well as by vectors"
    )
    fusion_strategy: Name = Field(
        default="exact_convex", description="how the result lists are fused"
    )
    fusion_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the fusion"
    )
    num_queries: int = Field(
        default=1,
        ge=1,
        le=8,
        description="number of search queries: the question "
        "and n-1 rewrites by the model",
    )
    transform_strategy: tuple[str, ...] = Field(
        default=(),
        description="query transforms, in this order; their rewrites are "
        "searched for instead of the question or in addition to it",
    )
    transform_options: dict[str, Any] = Field(
        default_factory=dict, description="options of each transform, by name"
    )
    router_strategy: Name = Field(
        default="all", description="which of the given collections are searched"
    )
    router_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the router"
    )
    cache_strategy: Name = Field(
        default="none",
        description="reuse the search results of similar questions: none, "
        "semantic; the cache lives in the memory of the server or of "
        "`python -m elt_llm_query.runner`, so a single command does "
        "not benefit",
    )
    cache_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the cache"
    )
    candidate_strategy: tuple[str, ...] = Field(
        default=(),
        description="postprocessors applied to the candidates before reranking, "
        "in this order",
    )
    candidate_options: dict[str, Any] = Field(
        default_factory=dict, description="options of each of them by its name"
    )
    use_reranker: bool = Field(default=True, description="rerank the candidates")
    reranker_strategy: Name = Field(default="embedding", description="reranker")
    reranker_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the reranker"
    )
    reranker_retrieve_k: int = Field(
        default=20, ge=1, le=1000, description="number of candidates before reranking"
    )
    reranker_top_k: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="number of sources after reranking; chunks added by "
        "postprocessors do not count",
    )
    reranker_timeout: float = Field(
        default=5.0,
        gt=0,
        description="time limit of the reranker in seconds; after it the fused "
        "order is used",
    )
    postprocessor_strategy: tuple[str, ...] = Field(
        default=(), description="postprocessors applied to the sources, in this order"
    )
    postprocessor_options: dict[str, Any] = Field(
        default_factory=dict, description="options of each of them by its name"
    )
    use_tables: bool = Field(
        default=True,
        description="answer questions about a maximum, a count, a sum or a cell "
        "from whole tables",
    )
    use_model_graph: bool = Field(
        default=True,
        description="query the graph of an enterprise model first, if a "
        "collection has one; it answers only what the model states "
        "explicitly",
    )
    synthesizer_strategy: Name = Field(
        default="extractive",
        description="extractive, statements, compact, refine, tree_summarize, "
        "simple_summarize, accumulate, map_reduce",
    )
    synthesizer_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the synthesizer"
    )
    system_prompt: str = Field(
        default="", description="system prompt sent to the model before every question"
    )
    citation_policy: Literal["strict", "flag", "lenient"] = Field(
        default="strict",
        description="what happens to a claim whose quote is not in the source: "
        "strict removes it, flag marks it, lenient keeps it",
    )
    judge_strategy: Name = Field(
        default="none",
        description="judge that confirms that a source supports a model's "
        "paraphrase: none, llm (one short call per statement)",
    )
    judge_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the judge"
    )
    sufficiency_strategy: Name = Field(
        default="none",
        description="further searches when the sources do not suffice: none, "
        "gaps (a model names what is missing), crag (a model grades "
        "each source), flare (searches for unproven sentences of a "
        "draft), agent (a model chooses tools)",
    )
    sufficiency_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the sufficiency strategy"
    )
    question_timeout: float = Field(
        default=300.0,
        gt=0,
        description="time limit of a question over all stages, in seconds; after "
        "it the question is answered without further model calls",
    )
    trace: Literal["none", "store"] = Field(
        default="none",
        description="store: write a row for every answered question to the "
        "database, with the question, status, times, tokens and "
        "settings; see elt-llm store traces",
    )
    traces_kept: int = Field(
        default=1000,
        ge=1,
        le=1_000_000,
        description="number of trace rows to keep; the oldest are deleted",
    )
    trace_hits: int = Field(
        default=10,
        ge=0,
        le=10_000,
        description="number of hits of each stage in the trace",
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


class ConversationSection(Section):
    """How messages of a conversation are interpreted; not used for single questions."""

    contextualiser_strategy: Name = Field(
        default="auto",
        description='how a message that refers to earlier ones ("its") is '
        "rewritten as a question: none, rules, model, auto (a model "
        "if one is configured); uncertain references lead to a "
        "clarifying question",
    )
    contextualiser_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the contextualiser"
    )
    check_subject: bool = Field(
        default=True,
        description="refuse an answer whose passages do not mention the subject "
        "of the rewritten question",
    )
    # The probability below which an answer to a single question says that it is not
    # certain (`ExtractiveOptions.certain`); see "Follow-ups without a model" in
    # measurements/conversations.md.
    sure: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="probability below which check_subject refuses an answer to a "
        "message that was resolved, and a table row after another question",
    )
    decompose: bool = Field(
        default=True,
        description="split a message with several questions and answer or refuse "
        "each part",
    )
    history_window: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="number of recent exchanges sent to models verbatim; 0: all",
    )
    summarise: bool = Field(
        default=False,
        description="let a model summarise the exchanges before history_window; "
        "otherwise they are omitted",
    )
    clarify: bool = Field(
        default=False,
        description="let a model ask a clarifying question when a question is "
        "ambiguous",
    )
    follow_ups: int = Field(
        default=0,
        ge=0,
        le=5,
        description="number of follow-up questions suggested by a model",
    )
    earlier_sources: int = Field(
        default=0,
        ge=0,
        le=100,
        description="number of sources that may be passages cited by earlier answers; "
        "at most half of the sources",
    )
    earlier_candidates: int = Field(
        default=15,
        ge=1,
        le=1000,
        description="number of cited passages considered for earlier_sources, newest "
        "first",
    )
    speculative: bool = Field(
        default=False,
        description="start answering a message while it is still being "
        "rewritten; for model servers that handle parallel calls",
    )

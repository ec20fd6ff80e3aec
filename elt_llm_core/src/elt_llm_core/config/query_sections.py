"""The sections of the configuration about questions and conversations."""

from typing import Any, Literal

from pydantic import Field, model_validator

from elt_llm_core.config.base import Name, Section


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
        default=True, description="search by keywords as well as by vectors"
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
        description="rewrites of the question that are searched for instead of it or "
        "in addition to it, in this order",
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
        description="sources after reranking; chunks that postprocessors "
        "add do not count",
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
    use_model_graph: bool = Field(
        default=False,
        description="ask the graph of an enterprise model first, if a collection holds "
        "one; it answers what the model states in so many words",
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
        default="", description="said to the model before every question"
    )
    citation_policy: Literal["strict", "flag", "lenient"] = Field(
        default="strict",
        description="a claim whose quote is not found: strict removes it, flag marks "
        "it, lenient keeps it",
    )
    judge_strategy: Name = Field(
        default="none",
        description="who confirms that a passage says what a model's paraphrase of it "
        "says: none, llm (one short call a statement)",
    )
    judge_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the judge"
    )
    sufficiency_strategy: Name = Field(
        default="none",
        description="who searches for what the sources lack: none, gaps (a model says "
        "what is missing), crag (it grades each source), flare (what a draft says and "
        "nothing proves)",
    )
    sufficiency_options: dict[str, Any] = Field(
        default_factory=dict, description="options of that"
    )
    question_timeout: float = Field(
        default=300.0,
        gt=0,
        description="seconds a question may take over all its stages; then it is "
        "answered without what models would still say",
    )
    trace: Literal["none", "store"] = Field(
        default="none",
        description="store keeps a row of every answered question in the database: the "
        "question, its status, times, tokens and settings; see elt-llm store traces",
    )
    traces_kept: int = Field(
        default=1000, ge=1, le=1_000_000, description="the newest rows that are kept"
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


class ConversationSection(Section):
    """How a message of a conversation is understood; a single question is not."""

    contextualiser_strategy: Name = Field(
        default="auto",
        description='who makes a question of a message that points back ("its"): none, '
        "rules, model, auto (a model if there is one); what is uncertain is asked back",
    )
    contextualiser_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the contextualiser"
    )
    check_subject: bool = Field(
        default=True,
        description="refuse an answer whose passages do not speak of what the message "
        "was understood to be about",
    )
    decompose: bool = Field(
        default=True,
        description="answer or refuse each part of a message with several questions",
    )
    history_window: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="newest exchanges that models read word for word; 0: all",
    )
    summarise: bool = Field(
        default=False,
        description="let a model sum up the exchanges before history_window; else they "
        "are left out",
    )
    clarify: bool = Field(
        default=False,
        description="let a model ask back where a question may mean several things",
    )
    follow_ups: int = Field(
        default=0, ge=0, le=5, description="questions to ask next that a model writes"
    )
    speculative: bool = Field(
        default=False,
        description="begin to answer a message while it is still being understood; "
        "for model servers that work on several calls at a time",
    )

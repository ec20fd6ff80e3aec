"""The sections of the configuration: every key, its default, bounds and meaning.

Every section is frozen and closed: a key nobody knows is an error, never ignored.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, model_validator

from elt_llm_core.config.base import Address, Folder, Name, Section
from elt_llm_core.config.bm25 import Recipe


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


class ModelsSection(Section):
    """Which providers answer and embed."""

    embedder_strategy: Name = Field(
        default="embedded", description="who embeds: embedded, ollama, openai_like"
    )
    embedder_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the embedder strategy"
    )
    llm_strategy: Name = Field(
        default="none",
        description="who writes answers: none, ollama, openai_like, gguf; glossary, "
        "catalogue and coverage ask it which terms passages define",
    )
    llm_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the language model strategy"
    )


class ModelChoice(Section):
    """One language model: a strategy with its options."""

    strategy: Name
    options: dict[str, Any] = Field(default_factory=dict)


class RolesSection(Section):
    """Language models by what they do; each list is asked in turn while one fails."""

    answer: tuple[ModelChoice, ...] = Field(
        default=(),
        description="asked in turn when the model of models.llm_strategy fails; each "
        "is {strategy: ollama, options: {llm_model: NAME}}",
    )
    rewrite: tuple[ModelChoice, ...] = Field(
        default=(),
        description="rewrite and route questions; empty: the model that answers",
    )
    judge: tuple[ModelChoice, ...] = Field(
        default=(),
        description="rerank passages and judge answers; empty: the model that answers",
    )


class OllamaSection(Section):
    """The Ollama server and its two models."""

    base_url: Address = Field(
        default="http://localhost:11434", description="where the server listens"
    )
    embedding_model: Name = Field(
        default="nomic-embed-text", description="model that embeds"
    )
    llm_model: Name = Field(default="qwen3:8b", description="model that writes")
    embed_batch_size: int = Field(
        default=16, ge=1, le=512, description="texts a request"
    )
    context_window: int = Field(
        default=8192, ge=512, description="num_ctx of every request, in tokens"
    )
    num_predict: int = Field(default=1024, ge=1, description="most tokens of an answer")
    request_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a byte before giving up"
    )
    temperature: float = Field(default=0.0, ge=0, description="0 is deterministic")
    thinking: bool = Field(default=False, description="let the model think aloud")
    keep_alive: Name = Field(
        default="30m", description="how long the model stays loaded"
    )
    seed: int = Field(default=0, description="of the sampler")


class OpenAILikeSection(Section):
    """A server that speaks OpenAI's protocol: vLLM, llama-server, LM Studio."""

    base_url: Address = Field(
        default="http://localhost:8080/v1", description="address with /v1"
    )
    embedding_model: str = Field(default="", description="model that embeds")
    llm_model: str = Field(default="", description="model that writes")
    context_window: int = Field(
        default=8192, ge=512, description="tokens the server was started with"
    )
    num_predict: int = Field(default=1024, ge=1, description="most tokens of an answer")
    request_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a byte before giving up"
    )
    temperature: float = Field(default=0.0, ge=0, description="0 is deterministic")
    api_key: SecretStr = Field(default=SecretStr(""), description="bearer token")


class GatewaySection(Section):
    """How models are called: tries, rests, queues; each server by itself."""

    retries: int = Field(
        default=2,
        ge=0,
        le=20,
        description="further tries of a call that failed for what may pass: nobody "
        "there, busy (429, 503), a connection that broke, a runner that died",
    )
    retry_seconds: float = Field(
        default=0.5,
        gt=0,
        description="longest wait before the second try; it doubles each time, and "
        "each wait is drawn by chance below it; Retry-After of the server wins",
    )
    longest_wait: float = Field(
        default=30.0,
        gt=0,
        description="seconds; a server that asks for a longer wait is not asked again",
    )
    breaker_failures: int = Field(
        default=3,
        ge=1,
        description="failures in a row (nobody there, runner died) after which a "
        "server is left alone",
    )
    breaker_seconds: float = Field(
        default=30.0, ge=0, description="how long; then one call tries again"
    )
    calls_at_once: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="calls that a server works on at a time; 0: 1 on this machine, "
        "8 elsewhere",
    )
    calls_waiting: int = Field(
        default=64, ge=0, description="calls that may wait for one server; more fail"
    )
    keep_answers: Literal["none", "exact", "all"] = Field(
        default="exact",
        description="keep whole answers to questions in the database and give them "
        "again to the same prompt, options and model: none, exact (temperature 0), "
        "all (of chance too)",
    )
    cut_answers: bool = Field(
        default=True,
        description="end an answer that reached num_predict at its last whole sentence",
    )
    question_calls: int = Field(
        default=0, ge=0, description="most calls to models of a question; 0: no limit"
    )
    question_tokens: int = Field(
        default=0, ge=0, description="most tokens, read and written; 0: no limit"
    )
    question_seconds: float = Field(
        default=0.0, ge=0, description="most seconds of models; 0: no limit"
    )
    job_calls: int = Field(
        default=0, ge=0, description="most calls to models of a job; 0: no limit"
    )
    job_tokens: int = Field(
        default=0, ge=0, description="most tokens, read and written; 0: no limit"
    )
    job_seconds: float = Field(
        default=0.0, ge=0, description="most seconds of models; 0: no limit"
    )
    day_calls: int = Field(
        default=0,
        ge=0,
        description="most calls to models of a day (UTC), of all processes on a data "
        "root; 0: no limit",
    )
    day_tokens: int = Field(
        default=0, ge=0, description="most tokens, read and written; 0: no limit"
    )
    day_seconds: float = Field(
        default=0.0, ge=0, description="most seconds of models; 0: no limit"
    )


class StoresSection(Section):
    """Where everything lies and when indexes are rebuilt."""

    data_dir: Folder = Field(
        default=Path("elt-llm-data"), description="the data root; --data-dir wins"
    )
    delta_fraction: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="share of unpublished chunks at which the next generation is built",
    )
    backup_hours: float = Field(
        default=24.0,
        ge=0,
        description="hours from one backup after an ingest to the next; 0 = off",
    )
    backups_kept: int = Field(
        default=3, ge=1, description="how many backups stay in the data root"
    )


class ChunkingSection(Section):
    """How text is cut."""

    strategy: Name = Field(default="section_aware", description="name of the chunker")
    chunk_size: int = Field(
        default=200, ge=32, description="most tokens a chunk, by the embedder's tokens"
    )
    chunk_overlap: int = Field(
        default=0, ge=0, description="tokens of whole sentences carried over"
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="further options of the chunker"
    )

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "ChunkingSection":
        if self.chunk_overlap >= self.chunk_size:
            msg = (
                f"chunk_overlap ({self.chunk_overlap}) must be below "
                f"chunk_size ({self.chunk_size})"
            )
            raise ValueError(msg)
        return self


class EnrichmentSection(Section):
    """What is put beside the text of chunks into the indexes; nothing by default."""

    strategy: tuple[str, ...] = Field(
        default=(),
        description="names of enrichers; their order is fixed: dates, heading_path, "
        "contextual_prefix, entities, keywords, questions",
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of each enricher by its name"
    )


class IngestSection(Section):
    """Limits of reading a file."""

    parse_timeout: float = Field(
        default=120.0, gt=0, description="seconds one file may take"
    )
    parse_memory_mb: int = Field(
        default=4096, ge=256, description="address space of the reading process"
    )
    max_file_mb: int = Field(default=512, ge=1, description="larger files are refused")
    max_pages: int = Field(default=20_000, ge=1, description="longer PDFs are refused")
    keep_originals: bool = Field(
        default=True, description="keep the file, so that pages can be shown"
    )
    password_file: Path | None = Field(
        default=None, description="lines `PATTERN: PASSWORD` for protected PDFs"
    )


class ConsumerSection(Section):
    """How the batch products decide."""

    strong: float = Field(
        default=0.70, ge=0, le=1, description="coverage score from which STRONG"
    )
    moderate: float = Field(
        default=0.55, ge=0, le=1, description="coverage score from which MODERATE"
    )
    thin: float = Field(
        default=0.40, ge=0, le=1, description="coverage score from which THIN"
    )
    evidence_top_k: int = Field(
        default=5, ge=1, le=100, description="passages looked at for one entity"
    )
    aliases: Path | None = Field(
        default=None, description="YAML file of entity name to synonyms"
    )
    topics: Path | None = Field(
        default=None, description="YAML file of topics; without it sections are topics"
    )
    items_at_once: int = Field(
        default=4,
        ge=1,
        le=64,
        description="sections, topics or groups of mentions that are written at a "
        "time; calls to one model server are bounded by gateway.calls_at_once",
    )
    server_patience: float = Field(
        default=600.0,
        ge=0,
        description="seconds that a batch waits for a model server that is away; then "
        "it ends, and the same command goes on",
    )

    @model_validator(mode="after")
    def _bands_descend(self) -> "ConsumerSection":
        if not self.strong >= self.moderate >= self.thin:
            msg = "the bands must descend: strong >= moderate >= thin"
            raise ValueError(msg)
        return self


class ApiSection(Section):
    """The HTTP server and its page."""

    host: Name = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=7860, ge=0, le=65535, description="0 takes a free one")
    allowed_hosts: tuple[str, ...] = Field(
        default=("localhost", "127.0.0.1", "[::1]"),
        description="Host headers that are answered",
    )
    max_upload_mb: int = Field(default=200, ge=1, description="larger uploads: 413")
    max_waiting_mb: int = Field(
        default=1000,
        ge=1,
        description="files sent to the page that may wait to be added; more get 413",
    )
    token: SecretStr = Field(
        default=SecretStr(""),
        description="bearer token; beyond loopback a must, of 16 characters or more",
    )
    users: dict[Name, SecretStr] = Field(
        default_factory=dict,
        description="bearer token of each user by name; each sees only the own "
        "conversations; who sends the token of all is the user 'local'",
    )
    reconnect_seconds: float = Field(
        default=5.0,
        ge=0,
        le=600,
        description="how long an answer that nobody reads any more goes on; a browser "
        "that lost its connection asks again after 3 seconds",
    )
    questions_at_once: int = Field(
        default=4, ge=1, le=64, description="questions that are worked on at a time"
    )
    questions_waiting: int = Field(
        default=32, ge=0, le=10_000, description="questions that may wait; more get 429"
    )


class LoggingSection(Section):
    """What is written to standard error."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        default="WARNING", description="least severity that is shown"
    )


class PluginsSection(Section):
    """Strangers' strategies."""

    allow: tuple[str, ...] = Field(
        default=(), description="packages whose strategies may be loaded"
    )


class RagConfig(Section):
    """The whole configuration."""

    models: ModelsSection = ModelsSection()
    ollama: OllamaSection = OllamaSection()
    openai_like: OpenAILikeSection = OpenAILikeSection()
    roles: RolesSection = RolesSection()
    gateway: GatewaySection = GatewaySection()
    stores: StoresSection = StoresSection()
    keywords: Recipe = Recipe()
    chunking: ChunkingSection = ChunkingSection()
    enrichment: EnrichmentSection = EnrichmentSection()
    ingest: IngestSection = IngestSection()
    query: QuerySection = QuerySection()
    conversation: ConversationSection = ConversationSection()
    consumer: ConsumerSection = ConsumerSection()
    api: ApiSection = ApiSection()
    logging: LoggingSection = LoggingSection()
    plugins: PluginsSection = PluginsSection()

    def hash(self, *sections: str) -> str:
        """16 hex digits that change with any value of the named sections, or of all."""
        dumped = self.model_dump(mode="json", include=set(sections) or None)
        text = json.dumps(dumped, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def allowed_plugins(self) -> frozenset[str]:
        """Names of packages outside this project whose strategies may load."""
        return frozenset(self.plugins.allow)

"""The sections of the configuration about models and their servers."""

from typing import Any, Literal

from pydantic import Field, SecretStr

from elt_llm_core.config.base import Address, Name, Section


class ModelsSection(Section):
    """Which providers answer and embed."""

    embedder_strategy: Name = Field(
        default="embedded",
        description="embedding provider: embedded, ollama, openai_like",
    )
    embedder_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the embedder strategy"
    )
    llm_strategy: Name = Field(
        default="none",
        description="provider of the language model: none, ollama, openai_like, "
        "gguf; glossary, catalogue and coverage also use it to find "
        "defined terms",
    )
    llm_options: dict[str, Any] = Field(
        default_factory=dict, description="options of the language model strategy"
    )


class ModelChoice(Section):
    """One language model: a strategy with its options."""

    strategy: Name
    options: dict[str, Any] = Field(default_factory=dict)


class RolesSection(Section):
    """Language models by task; each list is tried in turn until a model succeeds."""

    answer: tuple[ModelChoice, ...] = Field(
        default=(),
        description="fallbacks, tried in turn when the model of "
        "models.llm_strategy fails; each is {strategy: ollama, "
        "options: {llm_model: NAME}}",
    )
    rewrite: tuple[ModelChoice, ...] = Field(
        default=(),
        description="models that rewrite and route questions; empty: the "
        "answering model",
    )
    judge: tuple[ModelChoice, ...] = Field(
        default=(),
        description="models that rerank passages and judge answers; empty: the "
        "answering model",
    )
    vision: tuple[ModelChoice, ...] = Field(
        default=(),
        description="models that read pictures, for the enricher "
        "figure_descriptions; empty: no picture is described",
    )


class OllamaSection(Section):
    """The Ollama server and its two models."""

    base_url: Address = Field(
        default="http://localhost:11434", description="address of the server"
    )
    embedding_model: Name = Field(
        default="nomic-embed-text", description="embedding model"
    )
    llm_model: Name = Field(default="qwen3:8b", description="language model")
    embed_batch_size: int = Field(
        default=16, ge=1, le=512, description="texts per request"
    )
    context_window: int = Field(
        default=8192, ge=512, description="num_ctx of every request, in tokens"
    )
    num_predict: int = Field(
        default=1024, ge=1, description="maximum tokens of an answer"
    )
    request_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a byte before a request fails"
    )
    temperature: float = Field(default=0.0, ge=0, description="0 is deterministic")
    thinking: bool = Field(
        default=False, description="enable the model's thinking mode"
    )
    keep_alive: Name = Field(
        default="30m", description="how long the model stays loaded"
    )
    seed: int = Field(default=0, description="seed of the sampler")


class OpenAILikeSection(Section):
    """A server that speaks OpenAI's protocol: vLLM, llama-server, LM Studio."""

    base_url: Address = Field(
        default="http://localhost:8080/v1",
        description="address of the server, including /v1",
    )
    embedding_model: str = Field(default="", description="embedding model")
    llm_model: str = Field(default="", description="language model")
    context_window: int = Field(
        default=8192,
        ge=512,
        description="context window the server was started with, in tokens",
    )
    num_predict: int = Field(
        default=1024, ge=1, description="maximum tokens of an answer"
    )
    request_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a byte before a request fails"
    )
    temperature: float = Field(default=0.0, ge=0, description="0 is deterministic")
    native_tools: bool = Field(
        default=False,
        description="the server accepts tools, for sufficiency_strategy agent",
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="bearer token")


class GatewaySection(Section):
    """Retries, circuit breaker, queue and budgets of model calls, per server."""

    retries: int = Field(
        default=2,
        ge=0,
        le=20,
        description="number of retries after a transient failure: server "
        "unreachable, busy (429, 503), broken connection, crashed "
        "runner",
    )
    retry_seconds: float = Field(
        default=0.5,
        gt=0,
        description="maximum wait before the first retry, in seconds; doubles "
        "with each retry, with random jitter below it; a Retry-After "
        "header takes precedence",
    )
    longest_wait: float = Field(
        default=30.0,
        gt=0,
        description="seconds; a server that asks for a longer wait is not called again",
    )
    breaker_failures: int = Field(
        default=3,
        ge=1,
        description="consecutive failures (unreachable, crashed runner) after "
        "which calls to a server are suspended",
    )
    breaker_seconds: float = Field(
        default=30.0,
        ge=0,
        description="seconds of suspension; after it one call probes the server",
    )
    calls_at_once: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="concurrent calls to one server; 0: 1 for a server on this "
        "machine, 8 otherwise",
    )
    calls_waiting: int = Field(
        default=64,
        ge=0,
        description="calls that may wait for one server; further calls fail",
    )
    keep_answers: Literal["none", "exact", "all"] = Field(
        default="exact",
        description="cache model answers in the database and reuse them for the "
        "same prompt, options and model: none, exact (temperature 0 "
        "only), all (sampled answers too)",
    )
    cut_answers: bool = Field(
        default=True,
        description="cut an answer that reached num_predict after its last "
        "complete sentence",
    )
    question_calls: int = Field(
        default=0, ge=0, description="maximum model calls per question; 0: no limit"
    )
    question_tokens: int = Field(
        default=0, ge=0, description="maximum prompt and completion tokens; 0: no limit"
    )
    question_seconds: float = Field(
        default=0.0, ge=0, description="maximum seconds of model time; 0: no limit"
    )
    job_calls: int = Field(
        default=0, ge=0, description="maximum model calls per job; 0: no limit"
    )
    job_tokens: int = Field(
        default=0, ge=0, description="maximum prompt and completion tokens; 0: no limit"
    )
    job_seconds: float = Field(
        default=0.0, ge=0, description="maximum seconds of model time; 0: no limit"
    )
    day_calls: int = Field(
        default=0,
        ge=0,
        description="maximum model calls per day (UTC), over all processes that "
        "use the data root; 0: no limit",
    )
    day_tokens: int = Field(
        default=0, ge=0, description="maximum prompt and completion tokens; 0: no limit"
    )
    day_seconds: float = Field(
        default=0.0, ge=0, description="maximum seconds of model time; 0: no limit"
    )

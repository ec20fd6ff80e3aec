"""The sections of the configuration about models and their servers."""

from typing import Any, Literal

from pydantic import Field, SecretStr

from elt_llm_core.config.base import Address, Name, Section


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

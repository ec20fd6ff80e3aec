"""Chat models of an Ollama server."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from llama_index.core.llms import LLM
from llama_index.llms.ollama import Ollama
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.config.base import Address, Name
from elt_llm_core.models.gateway.direct import DIRECT, Direct
from elt_llm_core.models.native_tools import has_picture, refuse_pictures
from elt_llm_core.models.ollama.ollama_client import CheckedAsyncClient, CheckedClient
from elt_llm_core.models.structured import StructuredCalls
from elt_llm_core.strategy import Models, Strategy

DEFAULT_URL = "http://localhost:11434"


class CheckedOllama(StructuredCalls, Ollama):
    """A chat model of an Ollama server. Calls raise ModelError and its subclasses."""

    context_window: int = Field(default=8192, gt=0)
    num_predict: int = Field(default=1024, gt=0)
    request_timeout: float = Field(default=300.0, gt=0)
    is_function_calling_model: bool = False

    _digest: str | None = PrivateAttr(default=None)
    _capabilities: tuple[str, ...] | None = PrivateAttr(default=None)
    _gateway: Direct = PrivateAttr(default=DIRECT)

    def use_gateway(self, gateway: Direct) -> None:
        """Make all calls through it."""
        self._gateway = gateway

    @override
    def schema_options(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema as a field of Ollama's requests."""
        return {"format": schema}

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """Return the base class's metadata, with the requested answer length."""
        known: LLMMetadata = super().metadata
        return known.model_copy(update={"num_output": self.num_predict})

    @property
    @override
    def client(self) -> CheckedClient:
        """The client for synchronous calls, made on first use."""
        if not isinstance(self._client, CheckedClient):
            self._client = CheckedClient(self.base_url, self.request_timeout)
            self._client.gateway = self._gateway
        return self._client

    @property
    @override
    def async_client(self) -> CheckedAsyncClient:
        """The client for asynchronous calls, made on first use."""
        if not isinstance(self._async_client, CheckedAsyncClient):
            self._async_client = CheckedAsyncClient(self.base_url, self.request_timeout)
            self._async_client.gateway = self._gateway
        return self._async_client

    @property
    @override
    def _model_kwargs(self) -> dict[str, Any]:
        return {**super()._model_kwargs, "num_predict": self.num_predict}

    def with_tools(self) -> LLM | None:
        """Return the model configured to call tools; None if the server does not.

        Raises:
            ModelError: If the server fails.
        """
        if "tools" not in self.client.capabilities_of(self.model):
            return None
        return self.model_copy(update={"is_function_calling_model": True})

    @override
    def _convert_to_ollama_messages(
        self, messages: Sequence[ChatMessage]
    ) -> dict[Any, Any]:  # as LlamaIndex declares the list
        """Return the messages for the server.

        Raises:
            ModelError: If one has a picture and the server reports that the model has
                no vision: the model would describe what it does not see.
        """
        if any(map(has_picture, messages)):
            if self._capabilities is None:
                self._capabilities = self.client.capabilities_of(self.model)
            # An old server reports none.
            if self._capabilities and "vision" not in self._capabilities:
                raise refuse_pictures(self.model)
        return super()._convert_to_ollama_messages(messages)

    @property
    def model_digest(self) -> str:
        """Return the server's digest of the model, cached. Raises ModelError."""
        if self._digest is None:
            self._digest = self.client.digest_of(self.model)
        return self._digest


class OllamaChat(Strategy[LLM | None]):
    """Answers from a model of an Ollama server."""

    base_url: Address = DEFAULT_URL
    llm_model: Name
    context_window: int = Field(
        default=8192, gt=0, description="tokens, prompt + answer"
    )
    num_predict: int = Field(
        default=1024, gt=0, description="maximum tokens of an answer"
    )
    request_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a byte before a call fails"
    )
    temperature: float = Field(default=0.0, ge=0)
    thinking: bool = False
    keep_alive: str = Field(
        default="30m", description="how long the model stays loaded"
    )
    seed: int = 0

    @override
    def build(self, models: Models | None = None) -> CheckedOllama:
        """Return the model; no server is called yet."""
        return CheckedOllama(
            model=self.llm_model,
            additional_kwargs={"seed": self.seed},
            **self.model_dump(exclude={"llm_model", "seed"}),
        )

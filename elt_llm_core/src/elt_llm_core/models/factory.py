"""Build the models of a configuration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from elt_llm_core.config.base import Section
from elt_llm_core.config.sections import GatewaySection, ModelChoice, RagConfig
from elt_llm_core.models import EMBEDDERS, LLMS
from elt_llm_core.models.weights import embedded_digest
from elt_llm_core.shipped_model import MODEL_NAME
from elt_llm_core.strategy import Models, Stage

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM


NO_LLM = "none"  # the name of the strategy


@dataclass(frozen=True)
class EmbedderIdentity:
    """The known identity of an unbuilt embedder; unknown fields are empty."""

    model_name: str = ""
    digest: str = ""


class LateModels(Models):
    """The models of a configuration, imported and built at first use."""

    def __init__(self, config: RagConfig) -> None:
        self.__dict__["_config"] = config

    @cached_property
    def _models(self) -> Models:
        return build_models(self.__dict__["_config"])

    @cached_property
    @override
    def embedder(self) -> "BaseEmbedding":
        return self._models.embedder

    @cached_property
    @override
    def llm(self) -> "LLM | None":
        config: RagConfig = self.__dict__["_config"]
        if config.models.llm_strategy == NO_LLM and not config.roles.answer:
            return None  # which is known before anything is imported
        return self._models.llm

    @cached_property
    @override
    def roles(self) -> "Mapping[str, LLM]":
        return self._models.roles

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the embedder's identity as far as the configuration determines it."""
        config: RagConfig = self.__dict__["_config"]
        name = config.models.embedder_strategy
        if name == "embedded":
            return EmbedderIdentity(MODEL_NAME, embedded_digest())
        section = getattr(config, name, None)
        default = getattr(section, "embedding_model", "")
        chosen = config.models.embedder_options.get("embedding_model", default)
        return EmbedderIdentity(str(chosen))


def build_models(config: RagConfig) -> Models:
    """Build embedder and language model; nothing is loaded or called before first use.

    A strategy named like a section of the configuration (`ollama`, `openai_like`) takes
    its options from there; `embedder_options` and `llm_options` take precedence. Raises
    ConfigError.
    """
    models = config.models
    embedder = _options(
        EMBEDDERS, config, models.embedder_strategy, models.embedder_options
    )
    allow = config.allowed_plugins()
    nothing = cast("Models", None)  # no models exist yet, and none are needed
    built = EMBEDDERS.load(models.embedder_strategy, embedder, allow).build(nothing)
    join = partial(_join_gateway, config.gateway)
    join(built)
    own = ModelChoice(strategy=models.llm_strategy, options=models.llm_options)
    roles = {
        role: _build_llm(config, getattr(config.roles, role), join)
        for role in ("rewrite", "judge", "vision")
    }
    return Models(
        embedder=built,
        llm=_build_llm(config, (own, *config.roles.answer), join),
        roles={role: llm for role, llm in roles.items() if llm is not None},
    )


def _build_llm(
    config: RagConfig, choices: Sequence[ModelChoice], join: Callable[[Any], None]
) -> "LLM | None":
    """Return the models of a role as one model; None if there are none."""
    allow = config.allowed_plugins()
    nothing = cast("Models", None)
    built = [
        LLMS.load(
            choice.strategy,
            _options(LLMS, config, choice.strategy, choice.options),
            allow,
        ).build(nothing)
        for choice in choices
    ]
    models = [model for model in built if model is not None]
    for model in models:
        join(model)
    if len(models) < 2:  # noqa: PLR2004 - one needs no list
        return models[0] if models else None
    # Imports LlamaIndex, which `--help` does not need.
    from elt_llm_core.models.gateway.fallback import FallbackLLM  # noqa: PLC0415

    return FallbackLLM(models)


def _join_gateway(settings: GatewaySection, model: Any) -> None:
    """Let a model make its calls through a gateway.

    The embedded embedder and third-party models make their calls directly. Gateways
    share the state of a server.
    """
    if hasattr(model, "use_gateway"):
        # Imports httpx, which the embedded embedder does not need.
        from elt_llm_core.models.gateway.gateway import Gateway  # noqa: PLC0415

        model.use_gateway(Gateway(settings))


def _options(
    stage: Stage[Any], config: RagConfig, name: str, own: dict[str, Any]
) -> dict[str, Any]:
    """Return the section's values that the strategy has, then its own options."""
    section = getattr(config, name, None)
    if not isinstance(section, Section):
        return own
    fields = stage.strategy_class(name, config.allowed_plugins()).model_fields
    shared = {
        key: getattr(section, key)
        for key in type(section).model_fields
        if key in fields
    }
    return {**shared, **own}

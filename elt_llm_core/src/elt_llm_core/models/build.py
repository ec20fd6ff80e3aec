"""The models a configuration names."""

from typing import Any, cast

from elt_llm_core.models import EMBEDDERS, LLMS
from elt_llm_core.sections import RagConfig, Section
from elt_llm_core.strategy import Models, Stage


def build_models(config: RagConfig) -> Models:
    """The embedder and the language model; nothing is loaded or asked before first use.

    A strategy named like a section of the configuration (`ollama`, `openai_like`) takes
    its options from there; `embedder_options` and `llm_options` win. Raises
    ConfigError.
    """
    models = config.models
    embedder = _options(
        EMBEDDERS, config, models.embedder_strategy, models.embedder_options
    )
    llm = _options(LLMS, config, models.llm_strategy, models.llm_options)
    allow = config.allowed_plugins()
    nothing = cast("Models", None)  # there are no models yet, and none is asked for
    built = EMBEDDERS.load(models.embedder_strategy, embedder, allow).build(nothing)
    return Models(
        embedder=built,
        llm=LLMS.load(models.llm_strategy, llm, allow).build(Models(built)),
    )


def _options(
    stage: Stage[Any], config: RagConfig, name: str, own: dict[str, Any]
) -> dict[str, Any]:
    """The section's values that the strategy knows, then the strategy's own options."""
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

"""The models that the configuration names: whether they are there."""

from collections.abc import Iterator

from elt_llm_core.doctor.report import Check, fail, good
from elt_llm_core.errors import EltLlmError
from elt_llm_core.models.build import LateModels
from elt_llm_core.models.ollama_status import server_status
from elt_llm_core.sections import RagConfig


def model_checks(config: RagConfig) -> Iterator[Check]:
    """One line a model, or one for all where nothing need be asked."""
    models = config.models
    if "ollama" in (models.embedder_strategy, models.llm_strategy):
        yield from _ollama(config)
    else:
        detail = f"embedder {models.embedder_strategy}, writer {models.llm_strategy}"
        yield good("models", detail)
    if models.llm_strategy not in ("none", "ollama"):
        yield _writer(config)


def _writer(config: RagConfig) -> Check:
    """Whether the writer answers: a word is asked of it."""
    try:
        llm = LateModels(config).llm
        if llm is not None:
            llm.complete("Say yes.", max_tokens=1)
    except EltLlmError as error:
        return fail("writer", error.message, error.hint)
    name = llm.metadata.model_name if llm else config.models.llm_strategy
    return good("writer", f"{name} answers")


def _ollama(config: RagConfig) -> Iterator[Check]:
    models = config.models
    status = server_status(config.ollama.base_url)
    if not status.reachable:
        detail = f"no answer at {config.ollama.base_url}"
        yield fail("ollama", detail, "ollama serve")
        return
    yield good("ollama", f"version {status.version}")
    wanted = {
        "embedder": (models.embedder_strategy, config.ollama.embedding_model),
        "writer": (models.llm_strategy, config.ollama.llm_model),
    }
    for role, (strategy, model) in wanted.items():
        if strategy != "ollama":
            continue
        if any(name in {model, f"{model}:latest"} for name in status.models):
            yield good(f"ollama {role}", model)
        else:
            detail = f"{model} is not on the server"
            yield fail(f"ollama {role}", detail, f"ollama pull {model}")

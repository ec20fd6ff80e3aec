"""The configuration: its sections, and how files and the environment set them."""

from elt_llm_core.config.loader import (
    known_profiles,
    load_config,
    model_choice,
    profile_file,
    reference_file,
    with_models,
)
from elt_llm_core.config.sections import RagConfig

__all__ = [
    "RagConfig",
    "known_profiles",
    "load_config",
    "model_choice",
    "profile_file",
    "reference_file",
    "with_models",
]

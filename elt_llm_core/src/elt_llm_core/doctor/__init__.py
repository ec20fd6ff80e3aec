"""What can be wrong with a machine or a data root, and the command that mends it."""

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.doctor.indexes import index_checks
from elt_llm_core.doctor.machine import machine_checks, model_checks
from elt_llm_core.doctor.repair import Repaired, repair
from elt_llm_core.doctor.report import Check, Level
from elt_llm_core.doctor.store import backup_checks, truth_checks
from elt_llm_core.store import Store

__all__ = ["Check", "Level", "Repaired", "examine", "repair"]


def examine(config: RagConfig, store: Store, *, deep: bool = False) -> list[Check]:
    """Every check, in a fixed order; changes nothing.

    With `deep` every row of the truth, every backup and every index is looked at, which
    takes seconds to minutes.
    """
    return [
        *machine_checks(store),
        *truth_checks(store, deep=deep),
        *backup_checks(store, deep=deep),
        *index_checks(config, store, deep=deep),
        *model_checks(config),
    ]

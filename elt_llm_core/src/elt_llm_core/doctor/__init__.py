"""Checks of the machine and the data root, with commands that fix problems."""

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.doctor.indexes import index_checks
from elt_llm_core.doctor.machine import machine_checks, model_checks
from elt_llm_core.doctor.repair import Repaired, repair
from elt_llm_core.doctor.report import Check, Level
from elt_llm_core.doctor.store import backup_checks, truth_checks
from elt_llm_core.store import Store

__all__ = ["Check", "Level", "Repaired", "examine", "repair"]


def examine(config: RagConfig, store: Store, *, deep: bool = False) -> list[Check]:
    """Run every check, in a fixed order, without changing anything.

    With `deep`, every row of the database, every backup and every index is checked,
    which takes seconds to minutes.
    """
    return [
        *machine_checks(store),
        *truth_checks(store, deep=deep),
        *backup_checks(store, deep=deep),
        *index_checks(config, store, deep=deep),
        *model_checks(config),
    ]

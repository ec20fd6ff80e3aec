"""Checks of the machine and the data root, with commands that fix problems."""

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.doctor.indexes import check_indexes
from elt_llm_core.doctor.machine import check_machine, check_models
from elt_llm_core.doctor.repair import Repaired, repair
from elt_llm_core.doctor.report import Check, Level
from elt_llm_core.doctor.store import check_backups, check_database
from elt_llm_core.store import Store

__all__ = ["Check", "Level", "Repaired", "examine", "repair"]


def examine(config: RagConfig, store: Store, *, deep: bool = False) -> list[Check]:
    """Run every check, in a fixed order, without changing anything.

    With `deep`, every row of the database, every backup and every index is checked,
    which takes seconds to minutes.
    """
    return [
        *check_machine(store),
        *check_database(store, deep=deep),
        *check_backups(store, deep=deep),
        *check_indexes(config, store, deep=deep),
        *check_models(config),
    ]

"""The backups of the truth: whether there is one, how old it is, and whether sound."""

import time
from collections.abc import Iterator
from pathlib import Path

from elt_llm_core.doctor.report import Check, fail, few, good, warn
from elt_llm_core.errors import EltLlmError
from elt_llm_core.store import Store
from elt_llm_core.store.backup import backup_files, check
from elt_llm_core.store.reader import FILE

BACK_UP = "elt-llm store backup"
HOUR = 3600
TWO_DAYS = 48  # in hours


def backup_checks(store: Store, *, deep: bool) -> Iterator[Check]:
    """One line: the newest backup and its age; with `deep` the newest sound one."""
    if not (store.data_dir / FILE).exists():
        return
    files = backup_files(store.data_dir)
    broken = []
    while deep and files and (fault := _fault(files[0])):
        broken.append(fault)
        files = files[1:]
    if broken:
        detail = f"{len(broken)} backups are damaged: {few(broken)}"
        yield fail("backup damage", detail, f"remove them, then: {BACK_UP}")
    if files:
        yield good("backup", f"{files[0].name}, {_age(files[0])}")
    else:
        yield warn("backup", "there is no sound backup of the truth", BACK_UP)


def _fault(path: Path) -> str:
    try:
        check(path)
    except EltLlmError as error:
        return error.message
    return ""


def _age(path: Path) -> str:
    hours = (time.time() - path.stat().st_mtime) / HOUR
    if hours < TWO_DAYS:
        return f"{hours:.0f} hours old"
    return f"{hours / 24:.0f} days old"

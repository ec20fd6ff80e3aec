"""Cut off while indexes and whole roots are changed: nothing is lost."""

from pathlib import Path

import pytest
from crash_scenes import OF_THE_REST, Scenes, faults_at

from elt_llm_core.crash import CrashPoint


@pytest.mark.parametrize("point", OF_THE_REST)
def test_cut_off_at(point: CrashPoint, scenes: Scenes, place: Path) -> None:
    assert list(faults_at(scenes, point, place)) == []

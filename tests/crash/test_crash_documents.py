"""Cut off while documents are read, embedded and stored: nothing is lost."""

from pathlib import Path

import pytest
from crash_scenes import OF_DOCUMENTS, Scenes, faults_at

from elt_llm_core.crash import CrashPoint


@pytest.mark.parametrize("point", OF_DOCUMENTS)
def test_cut_off_at(point: CrashPoint, scenes: Scenes, place: Path) -> None:
    assert list(faults_at(scenes, point, place)) == []

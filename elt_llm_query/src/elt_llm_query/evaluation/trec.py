"""Rankings in the format of trec_eval: question, Q0, passage, rank, score, name."""

import re
from collections.abc import Sequence
from pathlib import Path

from elt_llm_core.files.atomic import write_atomic
from elt_llm_query.evaluation.running import Answered

MOST = 1000
_UNSAFE = re.compile(r"[^\w.=-]+")


def write_runs(path: Path, runs: dict[str, Sequence[Answered]]) -> dict[str, Path]:
    """One file a configuration; with several, their names come before the ending."""
    files = {}
    for name, answered in runs.items():
        tag = _UNSAFE.sub("_", name)
        file = path if len(runs) == 1 else path.with_stem(f"{path.stem}.{tag}")
        write_atomic(file, "".join(_lines(answered, tag)))
        files[name] = file
    return files


def _lines(answered: Sequence[Answered], tag: str) -> list[str]:
    # The score is the rank's: others order by it, and ours mixes stages.
    return [
        f"{a.question.id} Q0 {item} {rank} {MOST + 1 - rank} {tag}\n"
        for a in answered
        for rank, (item, _) in enumerate(a.ranking[:MOST], start=1)
    ]

"""How far one must walk to follow a question, a file and a term through the code.

    uv run python benchmarks/journeys.py

Each job runs once to warm up, then once under a profile hook, on a data root of its own
with a Markdown file. Only frames of our packages are counted: distinct files and
functions that were entered, switches (a call or a return that leads to another file),
and the deepest stack. Comprehensions count as the function around them. With a number
as argument, the pairs of functions that switch most are listed for each journey.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_query import query_collections

ROOT = f"{Path(__file__).resolve().parent.parent}{os.sep}elt_llm_"
TEXT = """# Rules of the harbour

"Berth" means a place at which a boat is made fast.

"Harbour Master" means the person whom the Board appoints to run the harbour.

The fee for a berth is 600 crowns a year and is due in June.

A boat may stay at a guest berth for at most three nights.

The Harbour Master may move a boat that lies at the berth of another.

Lights are shown from sunset to sunrise.
"""
QUESTION = "What is the fee for a berth?"


class Journey:
    """Counts frames of our packages while it is the profile hook of this thread."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.functions: set[tuple[str, str]] = set()
        self.edges: Counter[tuple[str, str]] = Counter()
        self.switches = 0
        self.deepest = 0
        self._stack: list[CodeType] = []

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Count a call or a return."""
        code = frame.f_code
        if event not in ("call", "return") or code.co_name.startswith("<"):
            return
        if not code.co_filename.startswith(ROOT):
            return
        if event == "return":
            if self._stack:
                left = self._stack.pop()
                self.switches += bool(self._stack) and _leaves(self._stack[-1], left)
            return
        if self._stack and _leaves(self._stack[-1], code):
            self.switches += 1
            self.edges[_place(self._stack[-1]), _place(code)] += 1
        self._stack.append(code)
        self.files.add(code.co_filename)
        self.functions.add((code.co_filename, code.co_qualname))
        self.deepest = max(self.deepest, len(self._stack))


def _leaves(caller: CodeType, callee: CodeType) -> bool:
    """Return whether a call leads to another file."""
    return caller.co_filename != callee.co_filename


def _place(code: CodeType) -> str:
    """Return a function with its file, short enough for a line."""
    folder, name = Path(code.co_filename).parts[-2:]
    return f"{folder}/{name} {code.co_qualname}"


def follow(work: Callable[[], object]) -> Journey:
    """Run `work` under the hook."""
    journey = Journey()
    sys.setprofile(journey)
    try:
        work()
    finally:
        sys.setprofile(None)
    return journey


def main(listed: int) -> None:
    """Print a row for each journey, and its `listed` commonest calls between files."""
    config = load_config(environ={})
    models = build_models(config)
    with tempfile.TemporaryDirectory() as root:
        store = Store(Path(root) / "data", config.keywords)
        context = JobContext(config, store)

        def ingest(name: str) -> None:
            path = Path(root) / f"{name}.md"
            path.write_text(TEXT.replace("600", f"6{len(name)}0"))
            options = {"paths": (str(path),), "collection": name}
            JOBS.load("ingest", options).build(models)(context)

        def ask() -> None:
            query_collections(
                ["rules"], QUESTION, store=store, config=config, models=models
            )

        def gloss(fresh: bool = True) -> None:
            options = {
                "collections": ("rules",),
                "output": Path(root) / "glossary.csv",
                "fresh": fresh,
            }
            JOBS.load("glossary", options).build(models)(context)

        ingest("warm")
        ingest("rules")
        for work in (ask, gloss):
            work()
        journeys = {
            "a question": follow(ask),
            "a file": follow(lambda: ingest("notes")),
            "a glossary of two terms": follow(gloss),
        }
        store.close()
    print("| journey | files | functions | switches | deepest |\n|---|---|---|---|---|")
    for name, walked in journeys.items():
        counts = (len(walked.files), len(walked.functions), walked.switches)
        print(f"| {name} | {' | '.join(map(str, counts))} | {walked.deepest} |")
    for name, walked in journeys.items():
        for (caller, callee), calls in walked.edges.most_common(listed):
            print(f"{name}: {calls:4} {caller} -> {callee}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)

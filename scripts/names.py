"""Counts the names in the shipped code that tell a reader too little.

uv run --group dev python scripts/names.py [--list] [--write] [FOLDER]

Four counts, each with the reason it is kept low:
  shared_classes       Two classes of one name are confused in a traceback and a search.
  shared_modules       So are two files: which of eight `tables.py` is it?
  participle_functions `routed()` does not say whether it asks, chooses or returns.
  vague_assignments    `found`, `said` and `told` do not say what they hold.

Fails when a count is above the committed baseline (names.json). `--write` lowers the
baseline to what the code has now and never raises it; `--list` prints the names.
"""

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = Path(__file__).with_suffix(".json")
VAGUE = {"found", "said", "told"}
PARTICIPLE = re.compile(
    r"_?[a-z]+(?:ed|en)"
    r"|_?(?:told|found|held|said|kept|made|left|known|lost|meant|sent|bound|built|drawn"
    r"|shown|gone|done|torn|worn)"
)
# They end like participles and are verbs in the infinitive, or nouns.
_VERBS_AND_NOUNS = """
    open aopen embed aembed listen read feed need seed speed proceed exceed succeed
    children token widen shorten lengthen flatten tighten straighten happen loosen
    sharpen reopen even often seven ten when then screen green hyphen
    """
NO_PARTICIPLES = frozenset(_VERBS_AND_NOUNS.split())
Names = dict[str, dict[str, list[str]]]  # count to name to where it is


def collect_names(root: Path) -> Names:
    """Return the names of each count and the files they are in, below `root`."""
    classes, modules = defaultdict(list), defaultdict(list)
    functions, assignments = defaultdict(list), defaultdict(list)
    for path in sorted(root.glob("elt_llm_*/src/**/*.py")):
        where = str(path.relative_to(root))
        if path.stem not in {"__init__", "__main__"}:
            modules[path.stem].append(where)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(where)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if is_participle(node.name):
                    functions[node.name].append(where)
            elif name := _assigned_name(node):
                assignments[name].append(where)
    return {
        "shared_classes": {k: v for k, v in classes.items() if len(v) > 1},
        "shared_modules": {k: v for k, v in modules.items() if len(v) > 1},
        "participle_functions": functions,
        "vague_assignments": assignments,
    }


def is_participle(name: str) -> bool:
    """Return True if a function's whole name is a past participle."""
    return bool(PARTICIPLE.fullmatch(name)) and name.strip("_") not in NO_PARTICIPLES


def count_names(names: Names) -> dict[str, int]:
    """Return each count: of classes the shared names, of the others the places."""
    return {
        key: len(each) if key == "shared_classes" else sum(map(len, each.values()))
        for key, each in names.items()
    }


def _assigned_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id if node.id in VAGUE else ""
    return node.arg if isinstance(node, ast.arg) and node.arg in VAGUE else ""


def _rises(counts: dict[str, int], baseline: dict[str, int]) -> Iterator[str]:
    for key, count in counts.items():
        if count > baseline[key]:
            yield (
                f"{key}: {count}, the baseline is {baseline[key]}; "
                "choose other names (scripts/names.py --list shows them)"
            )


def main(arguments: list[str]) -> int:
    """Check, list or lower; the exit code is 1 where a count has risen."""
    flags = {argument for argument in arguments if argument.startswith("--")}
    folders = [argument for argument in arguments if argument not in flags]
    names = collect_names(Path(folders[0]) if folders else ROOT)
    counts = count_names(names)
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    if "--list" in flags:
        for key, each in names.items():
            print(key, counts[key])
            for name, places in sorted(each.items()):
                print(" ", name, *sorted(set(places)))
    if "--write" in flags:
        lower = {key: min(count, baseline[key]) for key, count in counts.items()}
        BASELINE.write_text(json.dumps(lower, indent=2) + "\n", encoding="utf-8")
    rises = list(_rises(counts, baseline))
    print(*rises, sep="\n", end="\n" if rises else "", file=sys.stderr)
    return 1 if rises else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

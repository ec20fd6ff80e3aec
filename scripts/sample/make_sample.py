"""Write the sample pack: handbook, model, inventory, gold answers and settings.

    uv run --group dev python scripts/sample/make_sample.py [--check]

The same bytes come out on every run; ``--check`` proves it against what is committed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import gold
import handbook
import inventory
import model
import yaml
from markup import TEXT, read_blocks

NAME = "kite-regatta"
ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "elt_llm_consumer" / "src" / "elt_llm_consumer" / "packs" / NAME
COPIED = {
    "pack.yaml": "pack.yaml",
    "pack-readme.md": "README.md",
    "system-prompt.md": "system-prompt.md",
}


def write(target: Path) -> None:
    """Write every file of the pack into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    blocks = read_blocks()
    pages = handbook.build(blocks, gold.quotes(), target / "handbook.pdf")
    inventory.write(target / "inventory.xlsx")
    answers = json.dumps(gold.build(blocks, pages), ensure_ascii=False, indent=1)
    texts = {
        "gold.json": f"{answers}\n",
        "model.drawio": model.drawio(),
        "aliases.yaml": yaml.safe_dump(model.aliases(), allow_unicode=True),
    }
    for source, name in COPIED.items():
        texts[name] = (TEXT / source).read_text(encoding="utf-8")
    for name, text in texts.items():
        (target / name).write_bytes(text.encode("utf-8"))


def differences(left: Path, right: Path) -> list[str]:
    """Return the names of the files whose bytes are not the same in both folders."""
    names = {path.name for folder in (left, right) for path in folder.glob("*")}
    return sorted(name for name in names if _bytes(left / name) != _bytes(right / name))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def main() -> int:
    """Write the pack, or compare it with a fresh one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args().check:
        write(PACK)
        print(f"Wrote {PACK}.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        write(fresh)
        changed = differences(fresh, PACK)
    for name in changed:
        print(f"{name} differs from what the script writes.", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())

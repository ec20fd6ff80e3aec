"""How many passages of real documents the ingest calls suspicious.

    uv run --group dev python benchmarks/suspicious.py PATH [PATH ...]

PATH is a document or a folder of them (PDF, Markdown, text, web pages, Office). Each is
read and cut as an ingest does it, with nothing configured. Every suspicious passage is
printed with its reasons, then the passages of each folder and of all. Documents that
people wrote for people should have none: each one printed is a false alarm, unless a
person finds that it is not.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from elt_llm_core import provenance
from elt_llm_core.config.loader import load_config
from elt_llm_core.errors import EltLlmError
from elt_llm_core.models.factory import build_models
from elt_llm_ingest.chunking import Chunking
from elt_llm_ingest.sandbox.client import ReadingProcess

ENDINGS = frozenset({".pdf", ".md", ".txt", ".html", ".htm", ".docx"})
SHOWN = 160  # characters of a passage


def main() -> None:
    """Print suspicious passages and how many passages there are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    config = load_config()
    chunking = Chunking(config, build_models(config))
    total = flagged = 0
    with ReadingProcess() as process:
        for path in parser.parse_args().paths:
            count, marked = 0, 0
            for file in list_files(path):
                passages, suspicious = measure_file(process, chunking, file)
                count, marked = count + passages, marked + suspicious
            print(f"{path.name}: {marked} of {count} passages", flush=True)
            total, flagged = total + count, flagged + marked
    print(f"all: {flagged} of {total} passages")


def list_files(path: Path) -> Iterator[Path]:
    """A file, or every document below a folder."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return (file for file in files if file.suffix.lower() in ENDINGS)


def measure_file(
    process: ReadingProcess, chunking: Chunking, file: Path
) -> tuple[int, int]:
    """The passages of a file and the suspicious ones, which are printed."""
    try:
        documents = process.parse(file, file.read_bytes())
    except EltLlmError as error:
        print(f"{file.name}: {error}")
        return 0, 0
    nodes = [node for document in documents for node in chunking.cut(document)]
    marked = 0
    for node in nodes:
        reasons = provenance.read(node).suspicious
        if reasons:
            marked += 1
            text = " ".join(node.text.split())[:SHOWN]
            print(f"{file.name}: {', '.join(reasons)}: {text}")
    return len(nodes), marked


if __name__ == "__main__":
    main()

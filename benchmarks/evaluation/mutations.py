"""Damaged files by the hundred: is every one read or refused with a reason?

Sound files are damaged in ways that disks, networks and strangers damage them; the seed
decides everything, so that a finding can be looked at again.
"""

import io
import random
import re
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.sandbox.client import ReadingProcess
from evaluation.sample_files import MAKERS

KINDS = (".pdf", ".docx", ".xlsx", ".xml", ".html")
LARGEST = 2_000_000  # bytes of an original: larger ones only take longer
ORIGINALS = 4  # of a kind, taken from the folder
PATIENCE = 20.0  # seconds for one file
NUMBER = re.compile(rb"\d+")
TAG = re.compile(rb"</?[A-Za-z][^<>]*>")
Mutation = Callable[[bytes, random.Random], bytes]


@dataclass
class Outcomes:
    """What became of the files; `refused` counts by reason, without its details."""

    files: int = 0
    read: int = 0
    warned: int = 0  # of those read
    refused: Counter[str] = field(default_factory=Counter)
    hangs: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)  # of the reading process
    unnamed: list[str] = field(default_factory=list)
    slowest: float = 0.0

    @property
    def passed(self) -> bool:
        """No file hung, and every failure has a name."""
        return not self.hangs and not self.unnamed


def run_mutations(folder: Path | None, count: int = 300, seed: int = 4) -> Outcomes:
    """Read `count` damaged files in the limited process, and count the outcomes.

    The originals are small files of `folder` and its folders, and small ones that the
    package makes itself for kinds that are missing there. A crash or hang ends the
    reading process, never the run.
    """
    outcomes = Outcomes()
    with ReadingProcess(Limits(timeout=PATIENCE)) as reading:
        for name, data in mutate_files(folder, count, seed):
            outcomes.files += 1
            began = time.monotonic()
            _read(reading, name, data, outcomes)
            outcomes.slowest = max(outcomes.slowest, time.monotonic() - began)
    return outcomes


def _read(reading: ReadingProcess, name: str, data: bytes, outcomes: Outcomes) -> None:
    try:
        documents = reading.parse(Path(name), data)
    except LoadError as error:
        if "took longer" in error.reason:
            outcomes.hangs.append(name)
        elif "crashed" in error.reason:
            outcomes.crashes.append(name)
        if not error.reason.strip():
            outcomes.unnamed.append(name)
        outcomes.refused[_class(error.reason)] += 1
        return
    outcomes.read += 1
    outcomes.warned += any(document.warnings for document in documents)
    if not any(document.text.strip() for document in documents):
        outcomes.unnamed.append(name)  # empty text without a word is no success


def _class(reason: str) -> str:
    """The reason without numbers, names and what stands in brackets."""
    plain = re.sub(r"\(.*\)|'[^']*'|\"[^\"]*\"", "", reason)
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.,]*", "n", plain)).strip(" :,")[:60]


def mutate_files(
    folder: Path | None, count: int, seed: int
) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each damaged file, the same for the same originals and seed."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    originals = _originals(folder)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        name, data = chance.choice(originals[kind])
        mutation = chance.choice(_mutations(kind))
        damaged = mutation(data, chance)
        yield f"{number:04}-{mutation.__name__}-{name}", damaged


def _originals(folder: Path | None) -> dict[str, list[tuple[str, bytes]]]:
    """Of each kind a few, the smallest first; ours where the folder has none."""
    originals: dict[str, list[tuple[str, bytes]]] = {kind: [] for kind in KINDS}
    for path in sorted(folder.rglob("*")) if folder else ():
        kind = path.suffix.lower()
        if kind in originals and path.is_file() and 0 < path.stat().st_size < LARGEST:
            originals[kind].append((path.name, path.read_bytes()))
    for kind, files in originals.items():
        files.sort(key=lambda file: (len(file[1]), file[0]))
        del files[ORIGINALS:]
        files += [(f"sound{n}{kind}", make()) for n, make in enumerate(MAKERS[kind])]
    return originals


def _mutations(kind: str) -> Sequence[Mutation]:
    if kind in (".docx", ".xlsx"):
        return (*ANYWHERE, damage_member, damage_member, damage_member)
    if kind == ".pdf":
        return (*ANYWHERE, change_numbers, change_numbers)
    return (*ANYWHERE, change_tags, change_tags)


def flip_bytes(data: bytes, chance: random.Random) -> bytes:
    """Up to 400 bytes are others."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 400)):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def truncate(data: bytes, chance: random.Random) -> bytes:
    """The end is missing."""
    return data[: chance.randrange(len(data))]


def remove_piece(data: bytes, chance: random.Random) -> bytes:
    """A piece in the middle is missing."""
    start, end = _piece(data, chance)
    return data[:start] + data[end:]


def zero_piece(data: bytes, chance: random.Random) -> bytes:
    """A piece is zeros, as a disk leaves it."""
    start, end = _piece(data, chance)
    return data[:start] + bytes(end - start) + data[end:]


def repeat_piece(data: bytes, chance: random.Random) -> bytes:
    """A piece is there twice."""
    start, end = _piece(data, chance)
    return data[:end] + data[start:]


def change_numbers(data: bytes, chance: random.Random) -> bytes:
    """Some numbers are others: lengths, references, sizes."""
    places = list(NUMBER.finditer(data))
    for match in sorted(chance.sample(places, min(8, len(places))), key=_at)[::-1]:
        value = chance.choice((b"0", b"-1", b"99999999999", match.group() + b"7"))
        data = data[: match.start()] + value + data[match.end() :]
    return data


def change_tags(data: bytes, chance: random.Random) -> bytes:
    """Some tags are missing, doubled, or a thousand times there."""
    places = list(TAG.finditer(data))
    for match in sorted(chance.sample(places, min(6, len(places))), key=_at)[::-1]:
        times = chance.choice((0, 0, 2, 1000))
        data = data[: match.start()] + match.group() * times + data[match.end() :]
    return data


def damage_member(data: bytes, chance: random.Random) -> bytes:
    """The archive is sound, and one of its members is damaged."""
    source = zipfile.ZipFile(io.BytesIO(data))
    names = source.namelist()
    unlucky = chance.choice(names)
    harm = chance.choice(
        (flip_bytes, truncate, remove_piece, repeat_piece, change_numbers, change_tags)
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in names:
            content = source.read(name)
            if name == unlucky and content:
                content = harm(content, chance)
            # A date of its own would make equal archives differ from run to run.
            target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


ANYWHERE: tuple[Mutation, ...] = (
    flip_bytes,
    truncate,
    remove_piece,
    zero_piece,
    repeat_piece,
)


def _piece(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data))
    return start, min(len(data), start + chance.randint(1, max(len(data) // 4, 2)))


def _at(match: re.Match[bytes]) -> int:
    return match.start()

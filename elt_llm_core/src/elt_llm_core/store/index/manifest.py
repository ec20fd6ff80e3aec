"""The published generation of an index, and its integrity."""

import hashlib
import hmac
import json
import re
import secrets
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.errors import GenerationError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.records import Record
from elt_llm_core.store.database.records import INDEXES

CHECKSUMS = "CHECKSUMS.json"
MANIFEST = "MANIFEST.json"
KEY_BYTES = 32  # the digest length of SHA-256, as RFC 2104 recommends
FORMAT = 3  # format of a generation folder; any other is rebuilt
_CHECKSUMS = TypeAdapter(dict[str, str])
_GENERATION = re.compile(r"gen-(\d{6,9})")


class Manifest(Record):
    """One generation of one collection. `seq` is its last change.

    `stamp` belongs to that change and is unknown in any other history. The manifest is
    sealed in the generation's own folder; the published one is a copy.
    """

    format: int = FORMAT
    collection: str
    generation: int = Field(ge=1)
    epoch: int
    seq: int
    stamp: str
    nodes: int = Field(ge=0)
    embedder_digest: str
    dimension: int
    keywords: str = ""  # the name of the keyword index's recipe

    @property
    def recipe(self) -> Recipe:
        """Return the recipe of its keyword index. Raises ValueError."""
        return Recipe.from_name(self.keywords)

    def to_json(self) -> bytes:
        """Return the content of the file."""
        return self.model_dump_json(indent=1).encode()


class IndexFolder:
    """The generations of one collection below `indexes/<collection>`."""

    def __init__(self, data_dir: Path, collection: str) -> None:
        self.collection = collection
        self.folder = data_dir / INDEXES / collection
        self._key_file = data_dir / "KEY"

    def manifest(self) -> Manifest | None:
        """Return the published manifest; None if there is no generation.

        Raises GenerationError if it cannot be read, belongs to another collection, or
        differs from the one in its generation.
        """
        text = self._read(self.folder / MANIFEST)
        if text is None:
            if self.generations():
                raise GenerationError(self.collection, "the manifest is missing")
            return None
        manifest = self._parse(text)
        generation = f"generation {manifest.generation}"
        own = self._read(self.path(manifest.generation) / MANIFEST)
        if own is None:
            raise GenerationError(self.collection, f"{generation} is missing")
        if own != text:
            problem = f"{generation} does not match the manifest"
            raise GenerationError(self.collection, problem)
        return manifest

    def manifests(self) -> list[Manifest]:
        """Return the readable manifests of the generations on disk, the newest first.

        `check` verifies whether the generations are sound.
        """
        manifests = []
        for generation in reversed(self.generations()):
            try:
                text = self._read(self.path(generation) / MANIFEST)
                manifest = self._parse(text or b"")
            except GenerationError:
                continue  # nothing can be opened without it
            if manifest.generation == generation:
                manifests.append(manifest)
        return manifests

    def choices(self) -> tuple[list[Manifest], str]:
        """Return the manifests a reader may open, best first, and errors of the best.

        The published one comes first, then the others from the newest to the oldest.
        """
        try:
            published = self.manifest()
        except GenerationError as error:
            return self.manifests(), error.message
        if published is None:
            return [], ""
        others = [m for m in self.manifests() if m.generation != published.generation]
        return [published, *others], ""

    def oldest_seq(self) -> int | None:
        """Return the last change of the oldest generation; None if there is none.

        Later removals must be kept in the database.
        """
        return min((manifest.seq for manifest in self.manifests()), default=None)

    def _read(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GenerationError(self.collection, str(error.strerror)) from error

    def _parse(self, text: bytes) -> Manifest:
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            raise GenerationError(self.collection, "broken manifest") from error
        if manifest.format != FORMAT:
            problem = f"it has format {manifest.format}, this program reads {FORMAT}"
            raise GenerationError(self.collection, problem)
        try:
            manifest.recipe  # noqa: B018 - asked for what it raises
        except ValueError as error:
            problem = (
                f"its keyword index was built by {manifest.keywords!r}, "
                "which is unknown here"
            )
            raise GenerationError(self.collection, problem) from error
        if manifest.collection != self.collection:
            problem = f"its manifest belongs to {manifest.collection[:80]!r}"
            raise GenerationError(self.collection, problem)
        return manifest

    def manifest_stamp(self) -> tuple[int, int] | None:
        """Return a value that changes when the manifest is replaced; cheap to read."""
        try:
            stat = (self.folder / MANIFEST).stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_mtime_ns

    def path(self, generation: int) -> Path:
        """Return the folder of a generation."""
        return self.folder / f"gen-{generation:06d}"

    def generations(self) -> list[int]:
        """Return the generations on disk, ascending."""
        names = (_GENERATION.fullmatch(path.name) for path in self.folder.glob("gen-*"))
        return sorted(int(name.group(1)) for name in names if name)

    def retire(self) -> None:
        """Unpublish the index. Readers that have a generation open keep it."""
        (self.folder / MANIFEST).unlink(missing_ok=True)
        for generation in self.generations():
            shutil.rmtree(self.path(generation), ignore_errors=True)

    def seal(self, generation_folder: Path) -> None:
        """Write the checksums, keyed with the data root's own secret."""
        sums = {
            str(path.relative_to(generation_folder)): self._sum(path)
            for path in sorted(generation_folder.rglob("*"))
            if path.is_file() and path.name != CHECKSUMS
        }
        text = json.dumps(sums, indent=1, sort_keys=True)
        write_atomic(generation_folder / CHECKSUMS, text)

    def check(self, generation_folder: Path) -> None:
        """Raise GenerationError unless every file matches its keyed checksum.

        A folder copied from elsewhere fails and is never opened, because libraries
        trust its files (Chroma unpickles).
        """
        try:
            self._check(generation_folder)
        except OSError as error:
            raise GenerationError(self.collection, str(error)) from error

    def _check(self, generation_folder: Path) -> None:
        try:
            sums = _CHECKSUMS.validate_json(
                (generation_folder / CHECKSUMS).read_bytes()
            )
        except (OSError, ValidationError) as error:
            raise GenerationError(self.collection, "no readable checksums") from error
        present = {
            str(path.relative_to(generation_folder))
            for path in generation_folder.rglob("*")
            if not path.is_dir() and path.name != CHECKSUMS
        }
        if present != set(sums):
            raise GenerationError(self.collection, "files are missing or were added")
        names = sorted(sums)
        with ThreadPoolExecutor() as pool:
            digests = list(pool.map(self._sum, (generation_folder / n for n in names)))
        for name, actual in zip(names, digests, strict=True):
            if not hmac.compare_digest(actual.encode(), sums[name].encode()):
                raise GenerationError(
                    self.collection, f"{name} was changed after it was built"
                )

    def _sum(self, path: Path) -> str:
        mac = hmac.new(self._key(), digestmod=hashlib.sha256)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                mac.update(chunk)
        return mac.hexdigest()

    def _key(self) -> bytes:
        try:
            key = self._key_file.read_bytes()
        except FileNotFoundError as error:
            raise GenerationError(self.collection, "the key file is missing") from error
        if len(key) != KEY_BYTES:  # anybody could seal with an empty key
            raise GenerationError(self.collection, "the key file is not a key")
        return key

    def ensure_key(self) -> None:
        """Create the data root's secret if it has none. For writers only."""
        there = self._key_file.exists() and self._key_file.stat().st_size == KEY_BYTES
        if not there:
            write_atomic(self._key_file, secrets.token_bytes(KEY_BYTES), mode=0o600)

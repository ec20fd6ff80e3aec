"""The speed of an embedder in past ingests, and time estimates."""

import json
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.jobs import Expected, format_duration
from elt_llm_core.records import Record

NAME = "pace.json"  # in the data root; it may be deleted
ENOUGH = 2_000  # characters; shorter runs are ignored
MOST = 5_000_000  # characters of past runs that are kept, so that newer ones weigh more


class Speed(Record):
    """The embedding time so far with one model."""

    characters: float = Field(gt=0)
    seconds: float = Field(gt=0)

    def seconds_for(self, characters: int) -> float:
        """Return the estimated seconds for so many characters."""
        return characters * self.seconds / self.characters


_SPEEDS = TypeAdapter(dict[str, Speed])


def read_speed(data_dir: Path, model: str) -> Speed | None:
    """Return the speed of the model with this digest; None if unknown."""
    return _read(data_dir).get(model)


def record_speed(data_dir: Path, model: str, characters: int, seconds: float) -> None:
    """Add the time of a run. Raises StoreWriteError."""
    if characters < ENOUGH or seconds <= 0:
        return
    speeds = _read(data_dir)
    if before := speeds.get(model):
        characters_so_far = characters + before.characters
        seconds_so_far = seconds + before.seconds
    else:
        characters_so_far, seconds_so_far = float(characters), seconds
    share = min(1.0, MOST / characters_so_far)
    speeds[model] = Speed(
        characters=characters_so_far * share, seconds=seconds_so_far * share
    )
    shown = {name: speed.model_dump() for name, speed in sorted(speeds.items())}
    write_atomic(data_dir / NAME, json.dumps(shown, indent=1))


def describe_duration(expected: Expected) -> str:
    """Return the estimate as a sentence."""
    if expected.embedding is not None:
        whole = expected.reading + expected.embedding
        return f"It would take about {format_duration(whole)}."
    return (
        f"Reading would take about {format_duration(expected.reading)}; "
        "how long embedding takes is not known before the first ingest with this model."
    )


def _read(data_dir: Path) -> dict[str, Speed]:
    try:
        return _SPEEDS.validate_json((data_dir / NAME).read_bytes())
    except (OSError, ValidationError):
        return {}  # only used for estimates

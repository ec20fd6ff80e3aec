"""The purpose and requirements of each profile, from the top of its file."""

from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from elt_llm_core.config.loader import known_profiles

DEFAULT = "default"


class ProfileNote(NamedTuple):
    """The description of a profile in two lines."""

    name: str
    does: str
    needs: str


DEFAULT_NOTE = ProfileNote(
    DEFAULT,
    "Answers with your configuration as it is, without a profile.",
    "Needs no other program, as shipped: it quotes the documents.",
)


def profile_notes(pack: str = "") -> tuple[ProfileNote, ...]:
    """Return the default, every known profile by name, and those of a pack.

    Args:
        pack: Name or folder of a domain pack; empty for none.
    """
    files = known_profiles(pack=pack).items()
    return (DEFAULT_NOTE, *(_note(name, path) for name, path in files))


def _note(name: str, path: Path) -> ProfileNote:
    """Return the first two comment lines of a profile's file; possibly empty."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = takewhile(lambda line: line.startswith("#"), lines)
    does, needs, *_ = [*(line.lstrip("# ") for line in comment), "", ""]
    return ProfileNote(name, does, needs)

"""The entry points of the installed packages, cached.

Reading the metadata of two hundred packages takes tens of milliseconds of processor
time, and one question needs a dozen groups.
"""

import re
import sys
from functools import cache, lru_cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path

Stamp = tuple[tuple[str, int], ...]


def points_of(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, sorted by name.

    A package that is installed while the process runs is found: the folders of the
    module path are checked again, and scanned only if they have changed.

    Args:
        group: Name of the group, such as `elt_llm.rerankers`.

    Returns:
        The entry points; empty for a group that no package uses.
    """
    points = (point for point in _scan_points(_stamp()) if point.group == group)
    return tuple(sorted(points, key=lambda point: point.name))


def package_of(point: EntryPoint) -> str:
    """Return the canonical name of the package that an entry point comes from.

    Args:
        point: An entry point of an installed package.

    Returns:
        The name in lower case with hyphens; empty if the package is unknown.
    """
    return _name_of(point.dist) if point.dist else ""


def canonical(package: str) -> str:
    """Return a package's name in lower case with hyphens, as indexes compare it."""
    return re.sub(r"[-_.]+", "-", package).lower()


@lru_cache(maxsize=1)
def _scan_points(_stamp_of_now: Stamp) -> tuple[EntryPoint, ...]:
    points = entry_points()
    # Until Python 3.12 it is a mapping, whose own methods are deprecated.
    groups = dict.values(points) if isinstance(points, dict) else [points]
    return tuple(point for group in groups for point in group)


def _stamp() -> Stamp:
    return tuple((folder, _modified_at(folder)) for folder in sys.path)


def _modified_at(folder: str) -> int:
    try:
        return Path(folder or ".").stat().st_mtime_ns
    except OSError:
        return 0


@cache
def _name_of(package: Distribution) -> str:
    # Reading the name parses the whole description.
    return canonical(package.name)

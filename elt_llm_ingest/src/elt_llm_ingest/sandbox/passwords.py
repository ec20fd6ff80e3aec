"""Passwords of protected files: given for all files, or by pattern in a file.

They are kept in this process and sent to the reading process through its pipe, never in
a command line, a log, the configuration or the store.
"""

import fnmatch
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError

VARIABLE = "ELT_LLM_PASSWORD"
MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Passwords:
    """The passwords of a run; `listed` has patterns of names or paths."""

    given: tuple[str, ...] = field(default=(), repr=False)
    listed: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def of(self, path: Path) -> list[str]:
        """Return the passwords to try on a file: its own first, then those for all."""
        names = path.name, str(path.absolute())
        own = [
            password
            for pattern, password in self.listed
            if any(fnmatch.fnmatchcase(name, pattern) for name in names)
        ]
        return list(dict.fromkeys((*own, *self.given)))


def load_passwords(config: RagConfig, given: Sequence[str] = ()) -> Passwords:
    """Return those given, in the environment, and in `ingest.password_file`.

    Raises ConfigError for a file that cannot be read, that lies in the data root, or
    whose lines are not `PATTERN: PASSWORD`.
    """
    file = config.ingest.password_file
    listed = _read(file, config.stores.data_dir) if file is not None else ()
    variable = os.environ.get(VARIABLE)
    return Passwords((*given, *([variable] if variable else ())), listed)


def _read(file: Path, data_dir: Path) -> tuple[tuple[str, str], ...]:
    file = file.expanduser()
    if file.resolve().is_relative_to(data_dir.expanduser().resolve()):
        raise ConfigError(
            f"ingest.password_file is {file}, which lies in the data root",
            "move it elsewhere: a data root is backed up and copied",
        )
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_BYTES).decode("utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot read ingest.password_file {file}: {error.strerror}",
            "check its path and permissions",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", "save it as UTF-8") from error
    lines = enumerate(text.splitlines(), start=1)
    return tuple(
        _pair(file, number, line)
        for number, line in lines
        if line.strip() and not line.startswith("#")
    )


def _pair(file: Path, number: int, line: str) -> tuple[str, str]:
    """Parse pattern and password. Errors never quote the line, which has a password."""
    pattern, colon, password = line.partition(": ")
    if not colon or not pattern.strip() or not password:
        raise ConfigError(
            f"line {number} of {file} is not a pattern with a password",
            "write it as: PATTERN: PASSWORD, for example: minutes-*.pdf: open sesame",
        )
    return pattern.strip(), password

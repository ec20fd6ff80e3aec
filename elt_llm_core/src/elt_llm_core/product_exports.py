"""Products as files of other catalogues: the door by which a server exports them.

Formats and products are the consumer package's. A server finds its exporter by entry
point, so that neither package imports the other.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_core.jobs import PARTIAL
from elt_llm_core.records import Record
from elt_llm_core.strategy import Stage, Strategy

if TYPE_CHECKING:
    from elt_llm_core.store import Store
    from elt_llm_core.strategy import Models

REFUSED = 65  # as of ExchangeError: the data, not the program, is to be changed
EXPORTER = "products"  # the entry point of the shipped exporter


class Problem(Record):
    """One value that the target of a file would refuse.

    `row` counts as an editor does where the format has lines of its own (the header is
    row 1), else by entries from 1. `entry` is the number of the term in the file from
    0; None where the fault is the file's.
    """

    row: int | None = None
    entry: int | None = Field(default=None, ge=0)
    column: str
    value: str
    rule: str
    cure: str
    is_error: bool = Field(
        default=True, description="false if it depends on the content of the target"
    )

    def sentence(self) -> str:
        """Return the problem in one line for the screen."""
        place = f"row {self.row}, " if self.row else ""
        return f"{place}{self.column}: {self.value!r} {self.rule}; {self.cure}"


class Loss(Record):
    """A field of terms of which the file has less than the glossary."""

    field: str
    terms: int = Field(gt=0, description="number of terms that lose information")
    examples: tuple[str, ...]

    def sentence(self) -> str:
        """Return the loss in one line for the screen."""
        names = ", ".join(repr(name) for name in self.examples)
        more = ", …" if self.terms > len(self.examples) else ""
        return f"{self.field}: {self.terms} terms ({names}{more})"


class ExchangeReport(Record):
    """How an export or an import ended.

    `problems` are what the target refuses or may refuse, `losses` what the file does
    not hold of the glossary, `left_out` the terms that were not written.
    """

    action: str
    format: str
    counts: dict[str, int]
    files: dict[str, str] = Field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    losses: tuple[Loss, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0; 2 where terms were left out; 65 where the target would refuse the file."""
        if any(problem.is_error for problem in self.problems):
            return REFUSED
        return PARTIAL if self.left_out else 0


class FormatOption(Record):
    """An option of a format, as a request may set it."""

    name: str
    description: str
    default: Any = None


class FormatNote(Record):
    """What a format is; `needs` tells how to install it where it cannot be used yet."""

    name: str
    title: str
    ending: str = Field(description="of its files, such as .csv")
    media_type: str
    holds: tuple[str, ...] = Field(description="fields of a term that can be read back")
    options: tuple[FormatOption, ...] = ()
    needs: str = ""


class ExportRequest(Record):
    """Which product to write, and how."""

    format: str
    product: Literal["glossary", "catalog"] = "glossary"
    collections: tuple[str, ...]
    name: str = Field(
        default="",
        description="title of the glossary; empty: the names of its collections",
    )
    statuses: tuple[str, ...] = Field(
        default=(), description="(): all except rejected ones"
    )
    leave_out: bool = Field(
        default=False, description="omit terms that the target would reject"
    )
    options: dict[str, Any] = Field(default_factory=dict)


class ExportedFile(Record):
    """A product in a format. `content` is what `report` speaks of, good or not."""

    file_name: str
    media_type: str
    content: bytes
    report: ExchangeReport


class Exporter(Strategy["Exporter"]):
    """Writes products in the formats of other catalogues."""

    @override
    def build(self, models: "Models") -> "Exporter":
        """Return the exporter itself: it uses no model."""
        return self

    @abstractmethod
    def formats(self, allow: frozenset[str]) -> list[FormatNote]:
        """Return every format by name.

        Args:
            allow: Packages outside this project that may be loaded.
        """

    @abstractmethod
    def export(
        self, store: "Store", request: ExportRequest, allow: frozenset[str]
    ) -> ExportedFile:
        """Return a product with all decisions as a file; nothing is written.

        Args:
            store: The data root.
            request: Which product, and how.
            allow: Packages outside this project that may be loaded.

        Raises:
            ConfigError: There is no such format, or an option is wrong.
            UsageError: A status is none, or an option is not for a server.
            ExchangeError: There is no such product.
        """


def parse_options(settings: Iterable[str]) -> dict[str, Any]:
    """Return options from `KEY=VALUE`.

    Args:
        settings: Each a key and a value; a value is read as YAML, so that `true` is a
            truth value.

    Raises:
        UsageError: If one has no value.
    """
    options: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"the option {setting!r} has no value", "write KEY=VALUE")
        try:
            options[key] = yaml.safe_load(value) if value else ""
        except yaml.YAMLError:
            options[key] = value
    return options


EXPORTERS: Stage[Exporter] = Stage("exporters")


def load_exporter(allow: frozenset[str] = frozenset()) -> Exporter:
    """Return the installed exporter.

    Args:
        allow: Packages outside this project that may be loaded.

    Raises:
        ConfigError: None is installed.
    """
    chosen = EXPORTERS.load(EXPORTER, None, allow)
    if not isinstance(chosen, Exporter):
        raise ConfigError(
            f"the exporter {EXPORTER!r} is a {type(chosen).__name__}, not an Exporter",
            "report this to the authors of the package",
        )
    return chosen

"""Products as files for other catalogues: the interface for a server.

Formats and products belong to the consumer package. A server finds its exporter by
entry point, so that neither package imports the other.
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

REFUSED = 65  # as for ExchangeError: the data must be changed
EXPORTER = "products"  # the entry point of the shipped exporter


class Problem(Record):
    """One value that the target of a file would refuse.

    `row` is the row in an editor for line-based formats (the header is row 1),
    otherwise the number of the entry from 1. `entry` is the index of the term in the
    file from 0; None if the whole file is at fault.
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
        """Return the problem as one line."""
        place = f"row {self.row}, " if self.row else ""
        return f"{place}{self.column}: {self.value!r} {self.rule}; {self.cure}"


class Loss(Record):
    """A field of terms that the file cannot fully represent."""

    field: str
    terms: int = Field(gt=0, description="number of terms that lose information")
    examples: tuple[str, ...]

    def sentence(self) -> str:
        """Return the loss as one line."""
        names = ", ".join(repr(name) for name in self.examples)
        more = ", …" if self.terms > len(self.examples) else ""
        return f"{self.field}: {self.terms} terms ({names}{more})"


class ExchangeReport(Record):
    """The outcome of an export or an import.

    `problems` are values that the target refuses or may refuse, `losses` fields missing
    in the file, `left_out` the terms that were not written.
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
        """Return 0; 2 with terms left out; 65 if the target would refuse."""
        if any(problem.is_error for problem in self.problems):
            return REFUSED
        return PARTIAL if self.left_out else 0


class FormatOption(Record):
    """An option of a format, as a request may set it."""

    name: str
    description: str
    default: Any = None


class FormatNote(Record):
    """The description of a format; `needs` is how to install it."""

    name: str
    title: str
    ending: str = Field(description="of its files, such as .csv")
    media_type: str
    holds: tuple[str, ...] = Field(description="fields of a term that can be read back")
    options: tuple[FormatOption, ...] = ()
    needs: str = ""


class ExportRequest(Record):
    """The product to write, and the format with its options."""

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
    """A product in a format. `content` belongs to `report`, valid or not."""

    file_name: str
    media_type: str
    content: bytes
    report: ExchangeReport


class Exporter(Strategy["Exporter"]):
    """Writes products in the formats of other catalogues."""

    @override
    def build(self, models: "Models") -> "Exporter":
        """Return the exporter itself, which uses no model."""
        return self

    @abstractmethod
    def formats(self, allow: frozenset[str]) -> list[FormatNote]:
        """Return every format by name.

        Args:
            allow: Third-party packages that may be loaded.
        """

    @abstractmethod
    def export(
        self, store: "Store", request: ExportRequest, allow: frozenset[str]
    ) -> ExportedFile:
        """Return a product with all decisions as a file, without writing it.

        Args:
            store: The data root.
            request: The product and the format.
            allow: Third-party packages that may be loaded.

        Raises:
            ConfigError: If there is no such format, or an option is wrong.
            UsageError: If a status is unknown, or an option is not allowed on a server.
            ExchangeError: If there is no such product.
        """


def parse_options(settings: Iterable[str]) -> dict[str, Any]:
    """Return options from `KEY=VALUE`.

    Args:
        settings: Keys with values; a value is parsed as YAML, so that `true` is a
            boolean.

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
        allow: Third-party packages that may be loaded.

    Raises:
        ConfigError: If none is installed.
    """
    chosen = EXPORTERS.load(EXPORTER, None, allow)
    if not isinstance(chosen, Exporter):
        raise ConfigError(
            f"the exporter {EXPORTER!r} is a {type(chosen).__name__}, not an Exporter",
            "report this to the authors of the package",
        )
    return chosen

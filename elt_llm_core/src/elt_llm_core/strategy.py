"""Strategies: the configuration of a component, built-in or from another package.

A strategy is a frozen Pydantic class: its fields are its options, and `build` returns a
LlamaIndex component. An entry point in the group `elt_llm.<stage>` gives it its name.
Built-ins use the same groups as other packages. Only the strategy that is named is
imported.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from elt_llm_core.errors import ConfigError, MissingExtraError, UnknownStrategyError
from elt_llm_core.points import canonical, package_of, points_of

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

T = TypeVar("T")

OUR_PACKAGES = frozenset(
    {
        "elt-llm-core",
        "elt-llm-ingest",
        "elt-llm-query",
        "elt-llm-consumer",
        "elt-llm-api",
    }
)


@dataclass(frozen=True)
class Models:
    """The models of one run. `llm` is None if no language model is configured."""

    embedder: "BaseEmbedding"
    llm: "LLM | None" = None
    roles: "Mapping[str, LLM]" = field(default_factory=dict)

    def llm_for(self, role: str) -> "LLM | None":
        """Return the model of a role (`rewrite`, `judge`); by default `llm`."""
        return self.roles.get(role, self.llm)

    @property
    def vision(self) -> "LLM | None":
        """Return the model that reads pictures; `llm` may not be able to."""
        return self.roles.get("vision")


class Strategy(BaseModel, ABC, Generic[T]):
    """Options that build one component."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def build(self, models: Models) -> T:
        """Return the component. A strategy that builds a model ignores `models`."""


def _extra_of(point: EntryPoint, module: str) -> str:
    """Return the extra of the entry point's package that installs a module, or ""."""
    wanted = canonical(module.partition(".")[0])
    for line in (point.dist.requires or []) if point.dist else []:
        match = re.match(r"([\w.-]+).*\bextra\s*==\s*['\"]([\w.-]+)", line)
        if match and canonical(match[1]) == wanted:
            return match[2]
    return ""


class Stage(Generic[T]):
    """One stage of the pipeline, and its strategies."""

    def __init__(self, name: str, noun: str = "") -> None:
        self.name = name
        self.noun = noun or f"{name} strategy"
        self.group = f"elt_llm.{name}"

    def known(self) -> dict[str, EntryPoint]:
        """Return names with entry points, sorted. Raises ConfigError for duplicates."""
        return dict(self._entry_points)

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        points: dict[str, EntryPoint] = {}
        for point in points_of(self.group):
            if point.name in points and point.value != points[point.name].value:
                raise ConfigError(
                    f"the {self.name} strategy {point.name!r} is registered twice: "
                    f"{points[point.name].value} and {point.value}",
                    "uninstall one of the two packages",
                )
            points[point.name] = point
        return points

    def strategy_class(
        self, name: str, allow: frozenset[str] = frozenset()
    ) -> type[Strategy[T]]:
        """Return the class of a name.

        Raises UnknownStrategyError, MissingExtraError, or ConfigError for a third-party
        package that is not in `plugins.allow`.
        """
        known = self.known()
        if name not in known:
            name = name.replace("-", "_")  # as people write names in YAML
        if name not in known:
            raise UnknownStrategyError(self.noun, name, known)
        point = known[name]
        package = package_of(point)
        if package not in OUR_PACKAGES | {canonical(one) for one in allow}:
            raise ConfigError(
                f"the {self.name} strategy {name!r} comes from the package {package!r}",
                f"allow it in the configuration: plugins: {{allow: [{package}]}}",
            )
        try:
            loaded: type[Strategy[T]] = point.load()
        except ModuleNotFoundError as error:
            module = error.name or ""
            extra = _extra_of(point, module)
            raise MissingExtraError(self.name, name, module, extra) from error
        except AttributeError as error:
            raise self._not_a_strategy(name, point) from error
        if not (isinstance(loaded, type) and issubclass(loaded, Strategy)):
            raise self._not_a_strategy(name, point)
        return loaded

    def _not_a_strategy(self, name: str, point: EntryPoint) -> ConfigError:
        return ConfigError(
            f"the {self.name} strategy {name!r} is not a Strategy: {point.value}",
            "report this to the authors of the package",
        )

    def load(
        self,
        name: str,
        options: Mapping[str, Any] | None = None,
        allow: frozenset[str] = frozenset(),
    ) -> Strategy[T]:
        """Return the named strategy with validated options. Raises ConfigError."""
        cls = self.strategy_class(name, allow)
        try:
            return cls.model_validate(dict(options or {}))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or name
            raise ConfigError(
                f"option {where!r} of the {self.name} strategy {name!r}: "
                f"{first['msg']} (got {first['input']!r})",
                f"its options: {', '.join(sorted(cls.model_fields)) or 'none'}",
            ) from error

"""Synonyms for names in a question, without a model."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from llama_index.core.schema import QueryBundle
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import override

from elt_llm_core.errors import ConfigError, describe_yaml_error
from elt_llm_core.language.acronyms import SHORT_FORM, find_acronyms
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.retrieval.query_transform import Search, SearchTransform

Ring = tuple[str, ...]

DEPTH = 20  # hits that are checked for the long form of a short form
MOST_BYTES = 1_000_000  # of an alias file, which is written by hand
_TABLE = TypeAdapter(dict[str, list[str]])


class AliasTransform(SearchTransform):
    """Adds searches with a synonym in the place of a name in the question.

    The names of a ring replace one another. With `over`, short forms and their long
    forms also do if the collections contain "Long Name (LN)". At most `most` searches
    are added. They use the keyword index; the vector is the question's own.
    """

    def __init__(
        self,
        rings: Iterable[Ring],
        most: int = 3,
        weight: float = 0.5,
        collections: Sequence[Collection] = (),
    ) -> None:
        self._rings = tuple(rings)
        self._most = most
        self._weight = weight
        self._collections = tuple(collections)

    def over(
        self,
        collections: Sequence[Collection],
        where: Mapping[str, Any] | None = None,  # noqa: ARG002 - it adds no chunk
    ) -> "AliasTransform":
        """Return a copy that looks for short forms in these collections."""
        return AliasTransform(self._rings, self._most, self._weight, collections)

    @override
    def transform(self, searches: Sequence[Search]) -> list[Search]:
        question = searches[0].bundle
        rings = [*self._rings, *self._short_forms(question.query_str)]
        texts = dict.fromkeys(exchange_names(question.query_str, rings))
        return [*searches, *(self._search(question, t) for t in [*texts][: self._most])]

    def _search(self, question: QueryBundle, text: str) -> Search:
        bundle = QueryBundle(
            text,
            custom_embedding_strs=question.embedding_strs,
            embedding=question.embedding,
        )
        return Search(bundle, self._weight)

    def _short_forms(self, question: str) -> Iterator[Ring]:
        """Return pairs of short and long forms of which one is in `question`."""
        asked = [question, *dict.fromkeys(SHORT_FORM.findall(question))]
        for collection in self._collections:
            ids = [i for a in asked for i, _ in collection.search_keyword(a, DEPTH)]
            nodes = collection.nodes(ids)
            for item in dict.fromkeys(ids):
                if item in nodes:
                    for pair in find_acronyms(nodes[item].text, "initials"):
                        yield pair.short, pair.long


class AliasTransformOptions(Strategy[SearchTransform]):
    """Also search for synonyms of names in the question."""

    table: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="maps a name to its synonyms"
    )
    file: Path | None = Field(default=None, description="YAML file with such a map")
    acronyms: bool = Field(
        default=True, description="find short forms in the collections: Long Name (LN)"
    )
    most: int = Field(
        default=3, ge=1, le=8, description="maximum number of added searches"
    )
    weight: float = Field(
        default=0.5,
        gt=0,
        le=10,
        description="weight of each added search; the question has 1",
    )

    @override
    def build(self, models: Models) -> SearchTransform:
        rings = [(name, *others) for name, others in self.table.items()]
        rings += read_rings(self.file) if self.file else []
        kind = AliasTransform if self.acronyms else _TableOnly
        return kind(rings, self.most, self.weight)


class _TableOnly(AliasTransform):
    """The transform without short forms of the collections."""

    @override
    def over(
        self, collections: Sequence[Collection], where: Mapping[str, Any] | None = None
    ) -> "AliasTransform":
        return self


def exchange_names(text: str, rings: Iterable[Ring]) -> Iterator[str]:
    """Return a text with other names of the same things, one exchange each.

    Args:
        text: A question.
        rings: The names of each thing.
    """
    for ring in rings:
        yield from _other(text, ring)


def read_rings(file: Path) -> list[Ring]:
    """Return the names of each thing of an alias file.

    Raises:
        ConfigError: If the file cannot be read or has another shape.
    """
    return [(name, *others) for name, others in _read(file).items()]


def _other(text: str, ring: Ring) -> Iterator[str]:
    """Return the text with each other name of the ring."""
    names = sorted((n for n in ring if n.strip()), key=lambda n: (-len(n), n))
    any_name = "|".join(re.escape(name) for name in names)
    used = re.search(rf"(?<!\w)(?:{any_name})(?!\w)", text, re.IGNORECASE)
    if not names or used is None:
        return
    for name in ring:
        # A part of the used name finds nothing new.
        if name.strip() and not _within(name, used[0]):
            yield f"{text[: used.start()]}{name}{text[used.end() :]}"


def _within(name: str, other: str) -> bool:
    return f" {name.casefold()} " in f" {other.casefold()} "


def _read(file: Path) -> Mapping[str, tuple[str, ...]]:
    """Return names with sorted synonyms. Raises ConfigError for anything else."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{file} exceeds the maximum size of an alias file")
        table = _TABLE.validate_python(
            yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        )
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        detail = describe_yaml_error(error)
        raise ConfigError(f"{file} is not valid YAML: {detail}") from error
    except ValidationError as error:
        raise ConfigError(
            f"{file} must map each name to a list of other names",
            "write it as: ground lease: [lease, tenancy agreement]",
        ) from error
    return {name: tuple(table[name]) for name in sorted(table)}

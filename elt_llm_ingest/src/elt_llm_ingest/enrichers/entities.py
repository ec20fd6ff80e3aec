"""The entities of a domain pack that a chunk mentions, with all their names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from llama_index.core.schema import TextNode, TransformComponent
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import ConfigError
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import reading
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.enrichers.enricher import Addition, Enricher


class EntitiesEnricher(Enricher):
    """Adds names of the mentioned entities that the chunk does not use.

    `aliases` maps the name of each entity to its other names. Names are matched as
    whole words, ignoring case. The entities are also in the metadata as `entities`,
    separated by bars.
    """

    aliases: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "EntitiesEnricher"

    @override
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        patterns = {
            name: _pattern([name, *others]) for name, others in self.aliases.items()
        }
        for node in nodes:
            text = reading(node)
            named = [name for name in sorted(patterns) if patterns[name].search(text)]
            folded = text.lower()
            told = [
                ", ".join(
                    n for n in (name, *self.aliases[name]) if n.lower() not in folded
                )
                for name in named
            ]
            metadata = {"entities": " | ".join(named)} if named else {}
            yield Addition(after=tuple(filter(None, told)), metadata=metadata)


class EntitiesEnricherOptions(Strategy[TransformComponent]):
    """`EntitiesEnricher` with the names in a YAML file."""

    aliases: Path = Field(description="YAML file that maps entity names to synonyms")

    @override
    def build(self, models: Models) -> TransformComponent:
        embedder = as_counting(models.embedder)
        return EntitiesEnricher(
            count_tokens=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            aliases=read_aliases(self.aliases),
        )


def read_aliases(path: Path) -> dict[str, tuple[str, ...]]:
    """Return entity names with their aliases. Raises ConfigError for anything else."""
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid YAML: {error}") from error
    listed = isinstance(loaded, dict) and all(
        isinstance(name, str) and isinstance(others, list)
        for name, others in loaded.items()
    )
    if not listed:
        raise ConfigError(
            f"{path} must map each entity name to a list of synonyms",
            "write it as: ground lease: [lease, tenancy agreement]",
        )
    return {name: tuple(map(str, loaded[name])) for name in sorted(loaded)}


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    longest = sorted(names, key=lambda name: (-len(name), name))
    either = "|".join(re.escape(name) for name in longest if name.strip())
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)

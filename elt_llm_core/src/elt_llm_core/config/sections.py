"""The sections of the configuration: every key, its default, bounds and meaning.

Every section is frozen and has no unknown keys: they are errors, never ignored.
"""

import hashlib
import json

from elt_llm_core.config.base import Section
from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.config.ingest_sections import (
    ChunkingSection,
    EnrichmentSection,
    IngestSection,
    StoresSection,
)
from elt_llm_core.config.model_sections import (
    GatewaySection,
    ModelChoice,
    ModelsSection,
    OllamaSection,
    OpenAILikeSection,
    RolesSection,
)
from elt_llm_core.config.query_sections import ConversationSection, QuerySection
from elt_llm_core.config.service_sections import (
    ApiSection,
    ConsumerSection,
    LoggingSection,
    PluginsSection,
)


class RagConfig(Section):
    """The whole configuration."""

    models: ModelsSection = ModelsSection()
    ollama: OllamaSection = OllamaSection()
    openai_like: OpenAILikeSection = OpenAILikeSection()
    roles: RolesSection = RolesSection()
    gateway: GatewaySection = GatewaySection()
    stores: StoresSection = StoresSection()
    keywords: Recipe = Recipe()
    chunking: ChunkingSection = ChunkingSection()
    enrichment: EnrichmentSection = EnrichmentSection()
    ingest: IngestSection = IngestSection()
    query: QuerySection = QuerySection()
    conversation: ConversationSection = ConversationSection()
    consumer: ConsumerSection = ConsumerSection()
    api: ApiSection = ApiSection()
    logging: LoggingSection = LoggingSection()
    plugins: PluginsSection = PluginsSection()

    def hash(self, *sections: str) -> str:
        """Return 16 hex digits over the values of the named sections, or of all."""
        dumped = self.model_dump(mode="json", include=set(sections) or None)
        text = json.dumps(dumped, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def allowed_plugins(self) -> frozenset[str]:
        """Return the third-party packages whose strategies may be loaded."""
        return frozenset(self.plugins.allow)


__all__ = [
    "ApiSection",
    "ChunkingSection",
    "ConsumerSection",
    "ConversationSection",
    "EnrichmentSection",
    "GatewaySection",
    "IngestSection",
    "LoggingSection",
    "ModelChoice",
    "ModelsSection",
    "OllamaSection",
    "OpenAILikeSection",
    "PluginsSection",
    "QuerySection",
    "RagConfig",
    "RolesSection",
    "StoresSection",
]

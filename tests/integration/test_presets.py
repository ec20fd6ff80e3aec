"""The six presets: what each says is what happens to a question."""

from pathlib import Path
from typing import Any

import pytest

from elt_llm_core.config.loader import RagConfig, known_profiles, load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.results import QueryTrace, SearchResult
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query import search_collections
from elt_llm_query.caching.semantic_cache import build_cache

QUESTION = "How long may a member keep a borrowed boat?"
SECTIONS = 12
PRESETS: dict[str, dict[str, Any]] = {
    "grounded-docs": {
        "chunking": {"strategy": "sentence", "chunk_size": 500, "chunk_overlap": 50},
        "transform_strategy": ["decompose"],
        "fusion_strategy": "convex",
        "fusion_options": {"alpha": 0.5, "depth": 30},
        "candidate_strategy": ["kind_weight"],
        "reranker_strategy": "cross_encoder",
        "reranker_retrieve_k": 60,
        "reranker_top_k": 10,
        "postprocessor_strategy": ["kind_weight", "neighbours", "token_budget"],
        "cache_options": {"full": 0.9, "partial": 0.7},
        "sufficiency_strategy": "gaps",
        "sufficiency_options": {"most_rounds": 2},
        "citation_policy": "flag",
    },
    "literature-chat": {
        "chunking": {"strategy": "section_aware", "chunk_size": 512},
        "use_hybrid_search": False,
        "candidate_strategy": ["same_document"],
        "reranker_strategy": "cross_encoder",
        "reranker_retrieve_k": 20,
        "reranker_top_k": 5,
        "citation_policy": "flag",
    },
    "verified-monograph": {
        "router_strategy": "llm",
        "transform_strategy": ["decompose"],
        "fusion_strategy": "convex",
        "fusion_options": {"alpha": 0.65},
        "use_reranker": False,
        "collection_top_k": 4,
        "sufficiency_strategy": "gaps",
        "synthesizer_strategy": "statements",
        "conversation": {
            "history_window": 5,
            "summarise": True,
            "clarify": True,
            "follow_ups": 3,
        },
        "citation_policy": "flag",
    },
    "local-enterprise": {
        "models": {"embedder_strategy": "ollama", "llm_strategy": "ollama"},
        "use_hybrid_search": True,
        "fusion_strategy": "rrf",
        "num_queries": 1,
        "reranker_strategy": "embedding",
        "reranker_retrieve_k": 20,
        "reranker_top_k": 8,
    },
    "textbook-tutor": {
        "chunking": {"strategy": "hierarchical"},
        "use_hybrid_search": False,
        "use_reranker": False,
        "similarity_top_k": 5,
        "transform_options": {"terminology": {"mode": "replace"}},
        "postprocessor_strategy": ["auto_merge", "figures"],
        "citation_policy": "flag",
    },
    "best": {
        "transform_options": {
            "terminology": {"mode": "both"},
            "decompose": {"most": 3},
        },
        "cache_options": {"full": 0.9, "partial": 0.7},
        "citation_policy": "strict",
    },
}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_what_it_is_known_for(name: str) -> None:
    said = load_config(profile=name, environ={}).model_dump(mode="json")
    for key, value in PRESETS[name].items():
        if key in said:
            assert said[key] == {**said[key], **value}
        else:
            assert said["query"][key] == value


def test_every_preset_is_a_profile() -> None:
    assert PRESETS.keys() <= known_profiles().keys()


def test_grounded_docs_reads_neighbours_of_ten(tmp_path: Path) -> None:
    found = Asked(tmp_path, "grounded-docs", reranker_strategy="embedding").found
    stages = sizes(found.trace)
    assert stages["transform:decompose"] == (1, 3)
    assert stages["rerank"][1] == 10
    assert stages["postprocessor:neighbours"][1] > 10
    assert "postprocessor:token_budget" in stages
    assert "keyword:book" in stages


def test_literature_chat_looks_further_into_its_documents(tmp_path: Path) -> None:
    found = Asked(tmp_path, "literature-chat", reranker_strategy="embedding").found
    stages = sizes(found.trace)
    assert "keyword:book" not in stages
    assert stages["candidate:same_document"][1] > stages["candidate:same_document"][0]
    assert len(found.sources) == 5


def test_verified_monograph_takes_four_of_each_collection_it_is_routed_to(
    tmp_path: Path,
) -> None:
    asked = Asked(tmp_path, "verified-monograph", names=("book", "other"))
    stages = sizes(asked.found.trace)
    assert stages["route"] == (2, 1)
    assert {s.collection for s in asked.found.sources} == {"book"}
    assert len(asked.found.sources) == 4
    assert "rerank" not in stages


def test_local_enterprise_is_joined_by_ranks_and_reranked_to_eight(
    tmp_path: Path,
) -> None:
    found = Asked(tmp_path, "local-enterprise").found
    stages = sizes(found.trace)
    assert stages["rerank"][1] == 8 == len(found.sources)
    assert not [name for name in stages if name.startswith("transform")]


def test_textbook_tutor_asks_in_the_books_terms_and_reads_sections(
    tmp_path: Path,
) -> None:
    asked = Asked(tmp_path, "textbook-tutor")
    stages = sizes(asked.found.trace)
    assert stages["transform:terminology"] == (1, 1)
    assert "rerank" not in stages
    assert stages["postprocessor:auto_merge"][0] == 5
    assert any(s.text.count("\n") for s in asked.found.sources)


def test_best_searches_for_parts_and_remembers(tmp_path: Path) -> None:
    asked = Asked(tmp_path, "best")
    stages = sizes(asked.found.trace)
    assert stages["transform:terminology"][1] == 2
    assert stages["transform:decompose"][1] > 2
    calls = len(asked.llm.prompts)
    again = asked.ask()
    assert len(asked.llm.prompts) == calls
    assert again.sources == asked.found.sources


class Asked:
    """A small book asked under a preset, with a model that follows a script."""

    def __init__(
        self, folder: Path, name: str, names: tuple[str, ...] = ("book",), **query: Any
    ) -> None:
        over = {"query": query, "models": {"embedder_strategy": "embedded"}}
        config = load_config(profile=name, environ={}, overrides=over)
        self.config = config
        self.llm = ScriptedLLM(answer)
        self.models = Models(HashEmbedding(), self.llm)
        self.store = Store(folder / "data")
        self.names = names
        self.cache = build_cache(config, self.models)
        for collection in names:
            fill(self.store, config, self.models, folder / collection)
        self.found = self.ask()

    def ask(self) -> SearchResult:
        """What is found, with the transforms that a search has."""
        return search_collections(
            self.names,
            QUESTION,
            store=self.store,
            config=self.config,
            models=self.models,
            cache=self.cache,
        )


def fill(store: Store, config: RagConfig, models: Models, folder: Path) -> None:
    """A book of short sections in a collection named as the folder."""
    folder.mkdir()
    lines = ["# Boat house rules"]
    for number in range(1, SECTIONS + 1):
        lines.append(f"## Part {number}")
        lines += [
            f"A member may keep borrowed boat {number}.{line} for {line + 1} days.\n"
            for line in range(6)
        ]
    (folder / "rules.md").write_text("\n\n".join(lines), encoding="utf-8")
    chunking = config.chunking.model_copy(update={"chunk_size": 40, "chunk_overlap": 0})
    small = config.model_copy(update={"chunking": chunking})
    options = {"paths": [str(folder)], "collection": folder.name}
    JOBS.load("ingest", options).build(models)(JobContext(small, store))


def answer(prompt: str) -> str:
    """What a model may say: the first collection, two parts, or other words."""
    if "(1) book" in prompt:
        return "[1]"
    if "several" in prompt:
        return "How long may a boat be kept?\nWho may keep a borrowed boat?"
    return "What is the loan period of a boat?"


def sizes(trace: QueryTrace) -> dict[str, tuple[int, int]]:
    """How many went into each stage and how many came out."""
    return {s.name: (s.n_in, s.n_out) for s in trace.stages}

"""Split a parsed document into chunks, as configured."""

import json
from collections.abc import Callable, Iterable, Sequence

from llama_index.core.schema import TextNode, TransformComponent
from pydantic import BaseModel

from elt_llm_core import provenance
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import ConfigError
from elt_llm_core.jobs import never
from elt_llm_core.language.detect import chunk_languages
from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.models.gateway.kept_answers import Answers
from elt_llm_core.strategy import Models
from elt_llm_core.suspicion import Suspicion, describe, find_suspicions
from elt_llm_ingest.chunkers.source_document import CHUNKERS, SourceDocument
from elt_llm_ingest.enrichers.document_enricher import (
    DocumentEnricher,
    Enriched,
    SourceFile,
)
from elt_llm_ingest.enrichers.enricher import ENRICHERS
from elt_llm_ingest.llm_cache import RememberingLLM, model_identity

# Additions nearest to the text come first and take precedence; others by name.
ORDER = (
    "figure_descriptions",
    "dates",
    "heading_path",
    "contextual_prefix",
    "entities",
    "keywords",
    "questions",
)
FRAGMENT = 50  # characters: half a line
# Share of the prose characters that lie in fragments. How many chunks are short says
# nothing: headings, captions and list items are short in sound documents, up to a
# quarter of the prose chunks. In 30 sound documents of 20 and more prose chunks
# (policies, monographs, papers, filings, rule books) the share is .000 to .022; in a
# file where every line is a section of its own it is 1.
FRAGMENTED = 0.1
FEWEST_CHUNKS = 20  # of prose; an invoice or a cover page is mostly short lines


class Chunking:
    """The configured chunker, then the enrichers in their fixed order.

    With `answers` every prompt is sent to the language model only once. `name` changes
    with everything that affects a chunk or its indexed text. Raises ConfigError.
    """

    def __init__(
        self, config: RagConfig, models: Models, answers: Answers | None = None
    ) -> None:
        if answers is not None:
            models = _with_cache(models, answers)
        self._models = models
        _check_options(config)
        allow = config.allowed_plugins()
        wanted = config.chunking
        sizes = {"chunk_size": wanted.chunk_size, "chunk_overlap": wanted.chunk_overlap}
        chosen = CHUNKERS.load(wanted.strategy, {**sizes, **wanted.options}, allow)
        self._chunker = chosen.build(models)
        self.name = f"{wanted.strategy} {_dump_options(chosen)}"
        self._enrichers: list[TransformComponent] = []
        self._document_enrichers: list[DocumentEnricher] = []
        for name in _sort_enrichers(config.enrichment.strategy):
            options = config.enrichment.options.get(name, {})
            strategy = ENRICHERS.load(name, options, allow)
            enricher = strategy.build(models)
            if isinstance(enricher, DocumentEnricher):
                self._document_enrichers.append(enricher)
            else:
                self._enrichers.append(enricher)
            self.name += f" + {name} {_dump_options(strategy)}"
        if models.llm is not None and self._asks():
            self.name += f" by {model_identity(models.llm)}"

    @property
    def calls(self) -> int:
        """Return the number of calls to the language model, without cached answers."""
        llm = self._models.llm
        return llm.calls if isinstance(llm, RememberingLLM) else 0

    @property
    def enriches_documents(self) -> bool:
        """Return whether documents get additions before they are cut."""
        return bool(self._document_enrichers)

    def enrich(
        self,
        parsed: ParsedDocument,
        file: SourceFile,
        stopped: Callable[[], bool] = never,
    ) -> Enriched:
        """Return the document with the additions of the enrichers of documents.

        Args:
            parsed: The document.
            file: The file that it was read from.
            stopped: Whether the run shall end.
        """
        complete = True
        for enricher in self._document_enrichers:
            parsed, done = enricher.enrich(parsed, file, stopped)
            complete = complete and done
        return Enriched(parsed, complete)

    def cut(self, parsed: ParsedDocument) -> list[TextNode]:
        """Return the chunks in reading order, with provenance and additions.

        Chunks in other languages than English, and suspicious ones, are marked.
        """
        document = SourceDocument.of(parsed)
        nodes_cut = self._chunker.get_nodes_from_documents([document])
        nodes = [node for node in nodes_cut if isinstance(node, TextNode) and node.text]
        for enrich in self._enrichers:
            made = enrich(nodes, parsed=parsed)
            nodes = [node for node in made if isinstance(node, TextNode)]
        return _mark_suspicious(_with_languages(nodes), parsed.title)

    def _asks(self) -> bool:
        parts = (self._chunker, *self._enrichers)
        return any(getattr(part, "_llm", None) is not None for part in parts)


def _with_cache(models: Models, answers: Answers) -> Models:
    """Return the models with cached answers of the answering and the vision model."""
    llm = models.llm and RememberingLLM(models.llm, answers)
    vision = models.vision and RememberingLLM(models.vision, answers)
    return Models(models.embedder, llm, {"vision": vision} if vision else {})


def _with_languages(nodes: Sequence[TextNode]) -> list[TextNode]:
    """Return the chunks of one document, marked if they are not in English."""
    languages = chunk_languages([node.text for node in nodes])
    return [
        node if language == ENGLISH else _in_language(node, language)
        for node, language in zip(nodes, languages, strict=True)
    ]


def _in_language(node: TextNode, language: str) -> TextNode:
    place = provenance.read(node).model_copy(update={"text_language": language})
    return provenance.write(node, place)


def _mark_suspicious(nodes: Sequence[TextNode], title: str) -> list[TextNode]:
    """Return the chunks of one document, suspicious ones marked with reasons.

    Title and section are part of the prompt, so they are checked too.
    """
    of_title = find_suspicions(title)
    return [_add_suspicions(node, of_title) for node in nodes]


def _add_suspicions(node: TextNode, of_title: tuple[Suspicion, ...]) -> TextNode:
    place = provenance.read(node)
    shown = f"{place.section}\n{provenance.reading(node)}"
    reasons = {*place.suspicious, *of_title, *find_suspicions(shown)}
    if not reasons:
        return node
    ordered = tuple(reason for reason in Suspicion if reason in reasons)
    return provenance.write(node, place.model_copy(update={"suspicious": ordered}))


def count_problems(nodes: Iterable[TextNode]) -> list[str]:
    """Return the problems of enrichers, each once with the number of chunks."""
    counts: dict[str, int] = {}
    for node in nodes:
        problem = provenance.read(node).problem
        if problem:
            counts[problem] = counts.get(problem, 0) + 1
    return [f"{n} chunks: {problem}" for problem, n in sorted(counts.items())]


def list_suspicions(nodes: Iterable[TextNode]) -> list[str]:
    """Return a warning for each suspicious passage, in reading order."""
    places = (provenance.read(node) for node in nodes)
    return [
        f"suspicious passage{f', p. {one.page}' if one.page else ''}"
        f"{f', {one.section}' if one.section else ''}: {describe(one.suspicious)}"
        for one in places
        if one.suspicious
    ]


def fragment_warning(nodes: Sequence[TextNode]) -> str:
    """Return a warning if much of a document's prose lies in very short chunks.

    Args:
        nodes: The chunks of one document.

    Returns:
        The warning; empty for a sound document.
    """
    lengths = [
        len(n.get_content()) for n in nodes if provenance.read(n).kind == "prose"
    ]
    if len(lengths) < FEWEST_CHUNKS:
        return ""
    short = [length for length in lengths if length < FRAGMENT]
    share = sum(short) / (sum(lengths) or 1)
    if share <= FRAGMENTED:
        return ""
    return (
        f"{share:.0%} of the text lies in {len(short)} chunks of under {FRAGMENT} "
        "characters: it may have been read badly, or every line is a heading; see what "
        "is extracted: elt-llm inspect FILE"
    )


def _sort_enrichers(names: Sequence[str]) -> list[str]:
    rank = {name: place for place, name in enumerate(ORDER)}
    return sorted(set(names), key=lambda name: (rank.get(name, len(rank)), name))


def _dump_options(strategy: BaseModel) -> str:
    return json.dumps(strategy.model_dump(mode="json"), sort_keys=True)


def _check_options(config: RagConfig) -> None:
    options_by_name, wanted = config.enrichment.options, config.enrichment.strategy
    unused = sorted(set(options_by_name) - set(wanted))
    if unused:
        raise ConfigError(
            f"enrichment.options has {', '.join(unused)}, which is not in "
            "enrichment.strategy",
            f"enrichment.strategy has: {', '.join(wanted) or 'nothing'}",
        )
    for name, options in sorted(options_by_name.items()):
        if not isinstance(options, dict):
            raise ConfigError(
                f"enrichment.options.{name} is {options!r}, not a map of options",
                f"write: enrichment: {{options: {{{name}: {{OPTION: VALUE}}}}}}",
            )

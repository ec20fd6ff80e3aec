"""What the thresholds of the extractive answerer do when they are halved or doubled.

    python benchmarks/thresholds.py --data DATA_DIR

DATA_DIR holds `clapnq_dev` and `xquad_dev`. Each question is answered from its own
passages by the embedded model: those of ClapNQ from one passage, those of XQuAD from
the five paragraphs of their article. Prints for each threshold how many answerable
questions of ClapNQ were answered, in how many of these answers the first quote is a
sentence that people marked, how many unanswerable questions were answered, and how many
first quotes of XQuAD hold the answer. A share is doubled to 1 at most.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from elt_llm_core.provenance import Provenance
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.term_match import stems_match
from elt_llm_query.synthesizers.extractive.constraints import demands_of
from elt_llm_query.synthesizers.extractive.synthesizer import (
    ExtractiveOptions,
    ExtractiveSynthesizer,
)

PACKAGE = "elt_llm_query"
ROOM = f"{PACKAGE}.synthesizers.extractive"
FOREIGN = f"{PACKAGE}.synthesizers.foreign_words"
OPTIONS = {
    "most": 10,
    "threshold": 2.0,
    "lexical_threshold": 1.0,
    "compared": 60,
    "sure": 1.0,
    "sure_lacking": 1.0,
}
# The modules of each threshold, and whether it is a share of 1.
CONSTANTS: dict[str, tuple[Sequence[str], bool]] = {
    "OWN": ([f"{ROOM}.candidates"], True),
    "HEADING": ([f"{ROOM}.candidates"], True),
    "NEIGHBOUR": ([f"{ROOM}.candidates"], True),
    "REST": ([f"{ROOM}.candidates"], True),
    "AROUND": ([f"{ROOM}.candidates"], False),
    "_LONGEST_TITLE": ([f"{ROOM}.candidates"], False),
    "_TITLE_WORD": ([f"{ROOM}.candidates"], False),
    "CLOSE": ([f"{ROOM}.ranking"], True),
    "HALF": ([f"{ROOM}.ranking"], True),
    "_FIT": ([f"{ROOM}.ranking"], False),
    "NEARNESS": ([f"{ROOM}.ranking"], False),
    "_FEWEST_WORDS": ([f"{ROOM}.ranking"], False),
    "CLOSE_SENTENCE": ([f"{ROOM}.ranking"], True),
    "FAR": ([FOREIGN], True),
    "_MOST_WORDS": ([FOREIGN], False),
    "_REPEATS": ([f"{ROOM}.meanings"], True),
    "_SAME": ([f"{ROOM}.claim_spans"], True),
    "_LONGEST_LIST": ([f"{ROOM}.claim_spans"], False),
    "NEAR": ([f"{ROOM}.form_fit"], False),
    "UNCOUNTED": ([f"{ROOM}.form_fit"], True),
    "_CHARACTERS": ([f"{ROOM}.synthesizer"], False),
    "PLAIN": ([f"{PACKAGE}.analysis.definition", f"{ROOM}.ranking"], True),
    "TOLD": ([f"{PACKAGE}.analysis.definition", f"{ROOM}.ranking"], True),
    "SYNONYM": ([f"{PACKAGE}.analysis.term_match", f"{ROOM}.fact_sheet"], True),
    "ROOT": ([f"{PACKAGE}.analysis.term_match"], True),
    "EVERYWHERE": ([f"{PACKAGE}.analysis.term_match"], True),
    "WORDS_BETWEEN": ([f"{PACKAGE}.analysis.term_match"], False),
    "_ROOT_LENGTH": ([f"{PACKAGE}.analysis.term_match"], False),
    "_LONGEST_ENDING": ([f"{PACKAGE}.analysis.term_match"], False),
    "COMMON_WEIGHT": ([f"{PACKAGE}.analysis.question"], True),
    "_SHOUTED": ([f"{PACKAGE}.analysis.question"], True),
    "_LONGEST_TERM": ([f"{PACKAGE}.analysis.question"], False),
    "_REACH": ([f"{PACKAGE}.analysis.negation"], False),
}


class RememberingEmbedding(BaseEmbedding):
    """Embeds each text once."""

    _inner: BaseEmbedding = PrivateAttr()
    _known: dict[str, list[float]] = PrivateAttr(default_factory=dict)

    def __init__(self, inner: BaseEmbedding) -> None:
        super().__init__(model_name=inner.model_name, embed_batch_size=512)
        self._inner = inner

    @override
    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        new = list(dict.fromkeys(t for t in texts if t not in self._known))
        if new:
            vectors = self._inner.get_text_embedding_batch(new)
            self._known.update(zip(new, vectors, strict=True))
        return [self._known[text] for text in texts]

    @override
    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    @override
    def _get_query_embedding(self, query: str) -> list[float]:
        key = f"query: {query}"
        if key not in self._known:
            self._known[key] = self._inner.get_query_embedding(query)
        return self._known[key]

    @override
    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


@dataclass(frozen=True)
class Case:
    """A question with its passages, and what a right first quote is or holds."""

    question: str
    nodes: list[NodeWithScore]
    marked: Sequence[str] = ()
    held: Sequence[str] = ()

    def is_right(self, quote: str) -> bool:
        """Return whether the quote is a marked sentence, or holds the answer."""
        return any(quote in s or s.strip() in quote for s in self.marked) or any(
            answer in quote for answer in self.held
        )


def to_node(text: str, title: str, section: str = "") -> NodeWithScore:
    """Return a passage as the answerer gets it."""
    place = Provenance(
        document=title,
        section=section,
        kind="prose",
        span_start=0,
        span_end=len(text),
    )
    return NodeWithScore(node=provenance.write(TextNode(text=text), place), score=1.0)


def read_cases(folder: Path) -> dict[str, list[Case]]:
    """Return the questions of the data sets by what is measured of them."""
    cases: dict[str, list[Case]] = {"answerable": [], "unanswerable": [], "xquad": []}
    for name in ("answerable", "unanswerable"):
        path = folder / "clapnq_dev" / f"{name}.jsonl"
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            passage = row["passages"][0]
            marked = row["output"][0].get("selected_sentences", ())
            nodes = [to_node(passage["text"], passage["title"])]
            cases[name].append(Case(row["input"], nodes, marked=marked))
    articles = json.loads((folder / "xquad_dev/en.json").read_text(encoding="utf-8"))
    for article in articles:
        title = str(article["title"]).replace("_", " ")
        nodes = [to_node(text, title) for text in article["paragraphs"]]
        for asked in article["questions"]:
            held = asked["answers"]
            cases["xquad"].append(Case(asked["question"], nodes, held=held))
    return cases


def measure(
    cases: dict[str, list[Case]],
    embedder: BaseEmbedding | None,
    options: ExtractiveOptions,
) -> str:
    """Return the four counts of one setting, as cells of a table."""
    for cached in (analyse, stems_match, demands_of):
        cached.cache_clear()
    synthesizer = ExtractiveSynthesizer(embedder, options)
    answered: dict[str, int] = dict.fromkeys(cases, 0)
    right: dict[str, int] = dict.fromkeys(cases, 0)
    for name, several in cases.items():
        for case in several:
            response = synthesizer.synthesize(case.question, case.nodes)
            metadata = response.metadata or {}
            if metadata["refused"]:
                continue
            answered[name] += 1
            first = metadata["claims"][0]
            by_id = {n.node.node_id: n.node.get_content() for n in case.nodes}
            quote = by_id[first.node_id][first.start : first.end]
            right[name] += case.is_right(quote)
    return (
        f"{answered['answerable']}, {right['answerable']}, "
        f"{answered['unanswerable']}; {right['xquad']} of {answered['xquad']}"
    )


@contextmanager
def changed(name: str, value: float) -> Iterator[None]:
    """Inside it a constant has another value in every module that reads it."""
    modules = [import_module(module) for module in CONSTANTS[name][0]]
    before = [getattr(module, name) for module in modules]
    for module in modules:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, old in zip(modules, before, strict=True):
            setattr(module, name, old)


def steps(value: float, most: float | None) -> list[float]:
    """Return the value halved and doubled; a whole number stays one."""
    double = value * 2 if most is None else min(value * 2, most)
    if isinstance(value, int):
        return [max(value // 2, 1), int(double)]
    return [value / 2, double]


def rows(
    run: Callable[[ExtractiveOptions], str],
) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield each threshold, its value, and the steps with what they give."""
    for name, (modules, share) in CONSTANTS.items():
        value = getattr(import_module(modules[0]), name)
        given = []
        for step in steps(value, 1 if share else None):
            with changed(name, step):
                given.append((step, run(ExtractiveOptions())))
        yield name, value, given
    for name, most in OPTIONS.items():
        value = getattr(ExtractiveOptions(), name)
        yield (
            name,
            value,
            [(s, run(ExtractiveOptions(**{name: s}))) for s in steps(value, most)],
        )


def main() -> None:
    """Print a row for each threshold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    cases = read_cases(options.data)
    embedder = RememberingEmbedding(build_models(load_config(environ={})).embedder)

    def run(chosen: ExtractiveOptions) -> str:
        return measure(cases, embedder, chosen)

    print("| threshold | value | halved | doubled |\n|---|---|---|---|")
    print(f"| as shipped | | {run(ExtractiveOptions())} | |", flush=True)
    print(f"| without an embedder | | {measure(cases, None, ExtractiveOptions())} | |")
    for name, value, given in rows(run):
        cells = [f"{step:g}: {counts}" for step, counts in given]
        print(f"| `{name}` | {value:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

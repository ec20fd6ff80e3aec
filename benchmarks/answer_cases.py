"""Cases of the answer scorer: questions with passages, and which sentences are right.

A case is a question with passages: of ClapNQ one with a marked answer or a near miss,
alone and among the four that share most words with the question; of XQuAD (English) the
paragraphs of the article, with and without the one that answers; of our own questions
the sources that the default search finds, with and without those that answer; of the
written documents that the reader was not trained on their sections. Candidates and
features are those of the synthesizer itself.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray

from answer_checks import fill
from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from elt_llm_core.models.sentence_reader import ReadSentence
from elt_llm_core.store import Collection, Store
from elt_llm_core.strategy import Models
from elt_llm_query.analysis.question import QuestionAnalysis, analyse
from elt_llm_query.analysis.term_match import coverage, vocabulary
from elt_llm_query.engine import build_engine
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.compared_candidates import (
    scorer_rows,
    to_embedded_sentence,
)
from elt_llm_query.synthesizers.extractive.meanings import Features
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from elt_llm_query.synthesizers.extractive.whole_tables import read_tables
from thresholds import Case, to_node
from written_documents import definition_questions, split_documents

OWN = "own"  # begins the names of cases of our own questions
DISTRACTORS = 4
QUESTIONS = Path(__file__).with_name("answer_questions.tsv")
MANUAL_QUESTIONS = Path(__file__).with_name("manual_questions.tsv")
DOCUMENTS = {
    "bank": ["policy_pdf/Banking_Policy_Document/Policy_Document.pdf"],
    "rulebooks": [
        "obliqa/rulebooks-txt/AML_VER09.211223.txt",
        "obliqa/rulebooks-txt/CIB_VER04.030220.txt",
        "obliqa/rulebooks-txt/COBS_VER15.150823.txt",
    ],
    "monographs": [
        "drug_monographs/docs/lipitor.pdf",
        "drug_monographs/docs/metformin.pdf",
    ],
    "wca": [f"rules_wca/wca-{n}.md" for n in ("regulations", "guidelines", "states")],
    "nist": ["nist_sp800_63_4"],
    "statistics": [
        f"tables_icdar2013_eu/eu-0{number}.pdf"
        for number in ("01", "02", "04", "05", "06", "07", "08", "10", "12", "13")
    ],
    "funds": ["obliqa/rulebooks-txt/FUNDS_VER08.040723.txt"],
    "general": ["obliqa/rulebooks-txt/GEN_VER08.181223.txt"],
    "markets": ["obliqa/rulebooks-txt/MKT_VER08.181223.txt"],
    "earnings": [
        "financebench/ULTABEAUTY_2023Q4_EARNINGS.pdf",
        "financebench/AMCOR_2023Q4_EARNINGS.pdf",
    ],
    "statements": ["reading_dev/veterans.pdf", "reading_dev/telecom.pdf"],
    "public_reports": ["reading_dev/imf.pdf", "reading_dev/p230014b.pdf"],
    "papers": [
        f"reading_dev/{name}.pdf"
        for name in ("bert", "red_teaming", "task2vec", "megatron", "llama")
    ],
    "guides": [
        "rules_wca/style-guide.md",
        "rules_wca/README.md",
        "nist_sp800_63_4/_sp800-63c",
    ],
}


class NamedCase(NamedTuple):
    """A case, the set it is of, and whether it has an answer.

    Where no source was taken out, the tables of `collection` are read whole. Where one
    was, none is: the other rows of a table would bring back the row that was taken.
    """

    name: str
    answerable: bool
    case: Case
    collection: Collection | None = None


@dataclass(frozen=True, eq=False)
class Group:
    """A case: the features of its sentences, and which of them are right.

    `sentences` are what the sentence reader reads.
    """

    name: str
    question: str
    answerable: bool
    rows: list[Features]
    right: NDArray[np.bool_]
    sentences: list[ReadSentence]

    @classmethod
    def from_json(cls, line: str) -> "Group":
        """Return the case of a line of `to_json`."""
        fields = json.loads(line)
        fields["right"] = np.array(fields["right"], dtype=bool)
        fields["sentences"] = [ReadSentence(*one) for one in fields["sentences"]]
        return cls(**fields)

    def to_json(self) -> str:
        """Return the case as a line."""
        return json.dumps({**vars(self), "right": self.right.tolist()})

    @property
    def home(self) -> str:
        """The document it is of, or the public set."""
        return self.name.removesuffix(" among five")


def read_cases(folder: Path, store: Store, models: Models) -> Iterator[NamedCase]:
    """Yield the cases of all sets.

    Args:
        folder: Holds `clapnq_dev`, `xquad_dev` and the documents of `DOCUMENTS`.
        store: Has the collections of `DOCUMENTS`, or gets them.
        models: Embed and search them.
    """
    yield from read_clapnq(folder)
    yield from read_xquad(folder)
    yield from read_asked(QUESTIONS, folder, DOCUMENTS, store, models)
    yield from read_written()


def read_clapnq(folder: Path) -> Iterator[NamedCase]:
    """Yield each question with its passage, alone and among the likest others."""
    read: list[tuple[bool, Case, str, str]] = []
    for name in ("answerable", "unanswerable"):
        path = folder / "clapnq_dev" / f"{name}.jsonl"
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            (passage,) = row["passages"]
            marked = row["output"][0].get("selected_sentences", ())
            nodes = [to_node(passage["text"], passage["title"])]
            case = Case(row["input"], nodes, marked=marked)
            read.append((name == "answerable", case, passage["title"], passage["text"]))
    words = [vocabulary(f"{title} {text}") for _, _, title, text in read]
    for answerable, case, title, _ in read:
        yield NamedCase("clapnq", answerable, case)
        weights = analyse(case.question).weights
        likeness = [coverage(weights, ((w, 1.0),)) for w in words]
        order = sorted(range(len(read)), key=lambda i: (-likeness[i], i))
        others = [read[i][1].nodes[0] for i in order if read[i][2] != title]
        nodes = [*case.nodes, *others[:DISTRACTORS]]
        among = Case(case.question, nodes, marked=case.marked)
        yield NamedCase("clapnq among five", answerable, among)


def read_xquad(folder: Path) -> Iterator[NamedCase]:
    """Yield each question with its article, whole and without the answer."""
    articles = json.loads((folder / "xquad_dev/en.json").read_text(encoding="utf-8"))
    for article in articles:
        title = str(article["title"]).replace("_", " ")
        nodes = [to_node(text, title) for text in article["paragraphs"]]
        for asked in article["questions"]:
            question, held = asked["question"], asked["answers"]
            gold = nodes[asked["paragraph"]]
            yield NamedCase("xquad", True, Case(question, nodes, held=held))
            others = [node for node in nodes if node is not gold]
            yield NamedCase("xquad", False, Case(question, others))


def read_manuals(folder: Path, store: Store, models: Models) -> Iterator[NamedCase]:
    """Yield the questions of `manual_questions.tsv`, as those of `read_asked`.

    Args:
        folder: Has a folder of documents for each collection.
        store: Where the collections are.
        models: Embed and search them.
    """
    lines = MANUAL_QUESTIONS.read_text(encoding="utf-8").splitlines()
    documents = {name: [name] for name in sorted({li.split("\t")[0] for li in lines})}
    yield from read_asked(MANUAL_QUESTIONS, folder, documents, store, models, "manuals")


def read_asked(
    questions: Path,
    folder: Path,
    documents: Mapping[str, Sequence[str]],
    store: Store,
    models: Models,
    kind: str = OWN,
) -> Iterator[NamedCase]:
    """Yield questions on documents, with what the default search finds.

    Args:
        questions: A line is a collection, a question, and words of the sentence or row
            that answers, none if no sentence does.
        folder: Where the documents are.
        documents: The documents of each collection, which are taken into the store
            unless it has the collection.
        store: Where the collections are.
        models: Embed and search them.
        kind: Begins the names of the cases.
    """
    config = load_config(environ={})
    fill(folder, store, models, config, documents)
    for line in questions.read_text(encoding="utf-8").splitlines():
        collection, question, held = line.split("\t")
        home = store.open(collection)
        engine = build_engine([home], config, models)
        nodes = engine.retrieve(QueryBundle(question))
        gold = [n for n in nodes if held and held in _plain(n)]
        yield NamedCase(
            f"{kind} {collection}",
            bool(gold),
            Case(question, nodes, held=[held] * bool(held)),
            home,
        )
        if gold:
            others = [n for n in nodes if n not in gold]
            yield NamedCase(f"{kind} {collection}", False, Case(question, others))


def read_written() -> Iterator[NamedCase]:
    """Yield the questions of written documents that the reader was not trained on."""
    for document in split_documents()[1]:
        sections: dict[str, list[str]] = {}
        for one in document.sentences:
            sections.setdefault(one.heading, []).append(one.text)
        nodes = [
            to_node(" ".join(texts), document.title, heading)
            for heading, texts in sections.items()
        ]
        for asked in [*document.questions, *definition_questions(document)]:
            marked = [document.sentences[i].text for i in asked.answers]
            name = "written, plain" if asked.is_plain else "written"
            yield NamedCase(name, bool(marked), Case(asked.text, nodes, marked=marked))


def _plain(node: NodeWithScore) -> str:
    return " ".join(node.node.get_content().split())


def find_groups(
    read: Callable[[Store, Models], Iterator[NamedCase]],
    root: Path,
    kept: Path | None = None,
) -> list[Group]:
    """Return cases with their candidates.

    Args:
        read: Yields the cases.
        root: The data root that has the collections, or gets them.
        kept: Where the cases are kept; if the file exists, they are read from it.
    """
    if kept and kept.exists():
        lines = kept.read_text(encoding="utf-8").splitlines()
        return [Group.from_json(line) for line in lines]
    store, models = Store(root), build_models(load_config(environ={}))
    synthesizer = ExtractiveSynthesizer(models.embedder)
    groups = [to_group(case, synthesizer) for case in read(store, models)]
    if kept:
        lines = [f"{group.to_json()}\n" for group in groups]
        kept.write_text("".join(lines), encoding="utf-8")
    return groups


def to_group(named: NamedCase, synthesizer: ExtractiveSynthesizer) -> Group:
    """The case as the synthesizer sees it."""
    case = named.case
    if named.collection is not None:
        synthesizer = synthesizer.over([named.collection])
    passages, _ = synthesizer.read(case.nodes)
    if named.collection is not None:
        passages += read_tables(passages)
    compared = synthesizer.compare(QueryBundle(case.question), passages)
    question = analyse(case.question)
    candidates, rows = scorer_rows(question, compared, passages)
    right = np.array(
        [
            case.is_right(" ".join(c.text_in(passages).split()))
            or case.is_right(_quoted(synthesizer, question, c, passages))
            for c in candidates
        ],
        dtype=bool,
    )
    # The answer may stand in a list or a lead-in that was not found itself.
    answerable = named.answerable or (named.collection is not None and right.any())
    shown = [to_embedded_sentence(passages, c) for c in candidates]
    return Group(
        named.name,
        case.question,
        bool(answerable),
        rows,
        right & bool(answerable),
        [ReadSentence(one.text, one.context or "") for one in shown],
    )


def _quoted(
    synthesizer: ExtractiveSynthesizer,
    question: QuestionAnalysis,
    candidate: Candidate,
    passages: Sequence[Passage],
) -> str:
    """What an answer quotes for a candidate: with its lead-ins and its whole list."""
    claims = synthesizer.quote(question, [candidate], passages).claims
    return " ".join(" ".join(c.text for c in claims).split())

"""ClapNQ: passages with and without the answer; nobody of us wrote them."""

import json
import os
from pathlib import Path

import pytest

from answer_world import node
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer

# The scorer was fitted on these rows: the floors are what it reached on rows unseen.
ANSWERED = 0.57
RIGHT = 0.77
ANSWERED_WRONGLY = 0.114

pytestmark = [pytest.mark.data, pytest.mark.long]


@pytest.fixture(scope="module")
def folder() -> Path:
    root = os.environ.get("ELT_LLM_EVAL_DATA", "")
    if not root or not (found := Path(root) / "clapnq_dev").is_dir():
        pytest.skip("ELT_LLM_EVAL_DATA does not name a folder with clapnq_dev")
    return found


def asked(folder, name):
    """Each row with the answer of the embedded model."""
    synthesizer = ExtractiveSynthesizer(build_models(RagConfig()).embedder)
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, lines):
        passage = row["passages"][0]
        source = node(passage["text"], document=passage["title"], section="")
        yield row, synthesizer.synthesize(row["input"], [source])


def test_answers_come_from_the_sentences_people_marked(folder):
    rows = list(asked(folder, "answerable"))
    answered = [(r, found) for r, found in rows if not found.metadata["refused"]]
    assert len(answered) / len(rows) >= ANSWERED
    right = 0
    for row, found in answered:
        text = row["passages"][0]["text"]
        quotes = [text[c.start : c.end] for c in found.metadata["claims"]]
        marked = row["output"][0]["selected_sentences"]
        right += any(q in s or s.strip() in q for s in marked for q in quotes)
    assert right / len(answered) >= RIGHT


def test_what_the_passage_does_not_say_is_refused(folder):
    rows = list(asked(folder, "unanswerable"))
    answered = sum(not found.metadata["refused"] for _, found in rows)
    assert answered / len(rows) <= ANSWERED_WRONGLY

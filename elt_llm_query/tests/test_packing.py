"""Sources in as few prompts as fit, each whole and under its label."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import NodeWithScore, TextNode

from elt_llm_core.models.token_count import most_tokens
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.prompts import answer_template
from elt_llm_query.synthesizers.prompt_packer import SourcePacker
from elt_llm_query.synthesizers.response_modes import SimpleSummarizeOptions

PROMPT = answer_template()


class Counted(ScriptedLLM):
    """A model with a tokenizer: a token a character."""

    def count_tokens(self, text):
        return len(text)


def packed(texts, room, llm=None):
    return SourcePacker(llm or ScriptedLLM([]), room).repack(PROMPT, texts)


def source(number, words):
    return f"[S{number}] Rules, p. {number}\n" + " ".join(["word"] * words)


def test_sources_stand_whole_in_as_few_prompts_as_fit():
    texts = [source(n, 20) for n in (1, 2, 3)]
    one = most_tokens(texts[0])
    assert packed(texts, 3 * one) == ["\n\n".join(texts)]
    assert packed(texts, 2 * one) == ["\n\n".join(texts[:2]), texts[2]]
    assert packed(texts, one) == texts
    assert packed([], 100) == []


def test_each_part_of_a_long_source_has_its_label():
    text = source(7, 200)
    parts = packed([text], 60)
    assert len(parts) > 3
    assert all(part.startswith("[S7] Rules, p. 7\nword") for part in parts)
    assert all(most_tokens(part) <= 60 for part in parts)
    assert sum(part.count("word") for part in parts) == 200


@given(
    st.lists(st.text(alphabet="ab 1\n.", min_size=1, max_size=300), max_size=5),
    st.integers(60, 200),
)
def test_no_word_is_lost_and_no_prompt_too_long(bodies, room):
    texts = [f"[S{n}] T\n{body}" for n, body in enumerate(bodies, 1)]
    prompts = packed(texts, room)
    assert all(most_tokens(prompt) <= room for prompt in prompts)
    said = "".join("".join(prompt.split()) for prompt in prompts)
    for number, body in enumerate(bodies, 1):
        mine = said.replace(f"[S{number}]T", "")
        assert "".join(body.split()) in mine or f"[S{number}]T" in said


def test_a_model_with_a_tokenizer_counts_itself():
    text = source(1, 20)
    llm = Counted([])
    assert packed([text, text], 2 * len(text), llm) == [f"{text}\n\n{text}"]
    assert len(packed([text, text], most_tokens(text) * 2, llm)) > 2


def test_truncating_keeps_the_beginning_of_each_source():
    texts = [source(n, 100) for n in (1, 2)]
    packer = SourcePacker(ScriptedLLM([], context_window=600, num_output=100))
    cut = packer.truncate(PROMPT, texts)
    assert [c.splitlines()[0] for c in cut] == [t.splitlines()[0] for t in texts]
    assert all(
        text.startswith(c) and len(c) < len(text)
        for c, text in zip(cut, texts, strict=True)
    )


@pytest.mark.parametrize("window", [512, 8192])
def test_the_room_is_what_prompt_and_answer_leave(window):
    packer = SourcePacker(ScriptedLLM([], context_window=window, num_output=128))
    prompts = packer.repack(PROMPT, [source(1, 4000)])
    room = window - 128
    assert all(
        most_tokens(PROMPT.format(context_str=p, query_str="")) <= room + 8
        for p in prompts
    )


def test_one_prompt_and_what_it_left_out_are_the_same_when_awaited():
    nodes = [
        NodeWithScore(node=TextNode(text=source(n, 400)), score=1.0) for n in (1, 2)
    ]
    llm = ScriptedLLM(lambda _: "Yes. [S1]", context_window=1600, num_output=100)
    one = SimpleSummarizeOptions().build(Models(HashEmbedding(), llm))
    waited = asyncio.run(one.asynthesize("Why?", nodes))
    assert waited.metadata == one.synthesize("Why?", nodes).metadata
    (note,) = waited.metadata["notes"]
    assert note.kind == "prompt_shortened"
    assert llm.prompts[0] == llm.prompts[1]
    assert "[S2]" in llm.prompts[0]

import pytest

from elt_llm_core.models import prompt_for
from elt_llm_core.models.token_count import likely_tokens, most_tokens, was_cut


@pytest.mark.parametrize(
    ("model", "query", "text"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("all-minilm:l6-v2", "", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
        ("bge-m3:latest", "", ""),
        ("intfloat/multilingual-e5-base", "query: ", "passage: "),
        ("snowflake-arctic-embed2", "query: ", ""),
    ],
)
def test_a_known_model_has_its_prompts(model, query, text):
    found = prompt_for(model)
    assert (found.query, found.text, found.known) == (query, text, True)


@pytest.mark.parametrize("model", ["BAAI/bge-small-en-v1.5", "mxbai-embed-large:335m"])
def test_search_instruction_stands_before_queries_only(model):
    found = prompt_for(model)
    assert found.query.startswith("Represent this sentence")
    assert found.query.endswith(": ")
    assert found.text == ""


@pytest.mark.parametrize("model", ["bge-m30", "nomic-embed-textual", "my-model", ""])
def test_an_unknown_model_has_none_and_says_so(model):
    found = prompt_for(model)
    assert (found.query, found.text, found.known) == ("", "", False)


def test_the_longest_entry_wins():
    assert prompt_for("bge-large-zh-v1.5") != prompt_for("bge-large-en-v1.5")
    assert prompt_for("snowflake-arctic-embed-m-v2.0").query == "query: "


def test_the_limit_estimate_is_above_the_likely_one():
    for text in ("The pump shall be checked weekly.", "1,204.5 | 17 | 88", "中文文本"):
        assert most_tokens(text) >= likely_tokens(text)


def test_runs_of_one_mark_count_once():
    assert likely_tokens("Contents" + "." * 400 + "7") < 10


@pytest.mark.parametrize(
    ("likely", "read", "window", "cut"),
    [
        (12_000, 4098, 8192, True),  # half the window plus two
        (6000, 4098, 8192, True),  # at the mark, and the estimate is well above it
        (4600, 4098, 8192, False),  # a whole prompt that happens to be that long
        (12_000, 2050, 8192, True),  # cut to the model's own smaller window
        (3000, 2600, 8192, False),
        (900, 300, 8192, False),  # too short to have been cut by anything
    ],
)
def test_a_cut_prompt_is_told_from_a_wrong_estimate(likely, read, window, cut):
    assert was_cut(likely, read, window) is cut

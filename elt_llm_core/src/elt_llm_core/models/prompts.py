"""The prompts that embedders were trained with: one table.

A retrieval model trained with a prompt ranks worse without it, and one trained without
ranks worse with it. A model that is not listed gets none, and `known` is False so that
the result can say so.
"""

from elt_llm_core.results import Record

_SEARCH = "Represent this sentence for searching relevant passages: "
_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_INSTRUCT = f"Instruct: {_TASK}\nQuery: "

# Model name to what stands before a query and before a document.
_PROMPTS: dict[str, tuple[str, str]] = {
    "all-minilm": ("", ""),
    "all-mpnet": ("", ""),
    "bge-base": (_SEARCH, ""),
    "bge-base-zh": ("为这个句子生成表示以用于检索相关文章：", ""),  # noqa: RUF001
    "bge-large": (_SEARCH, ""),
    "bge-large-zh": ("为这个句子生成表示以用于检索相关文章：", ""),  # noqa: RUF001
    "bge-m3": ("", ""),
    "bge-small": (_SEARCH, ""),
    "bge-small-zh": ("为这个句子生成表示以用于检索相关文章：", ""),  # noqa: RUF001
    "e5-base": ("query: ", "passage: "),
    "e5-large": ("query: ", "passage: "),
    "e5-mistral-7b-instruct": (_INSTRUCT, ""),
    "e5-small": ("query: ", "passage: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "granite-embedding": ("", ""),
    "gte-base": ("", ""),
    "gte-large": ("", ""),
    "gte-small": ("", ""),
    "multilingual-e5-base": ("query: ", "passage: "),
    "multilingual-e5-large": ("query: ", "passage: "),
    "multilingual-e5-large-instruct": (_INSTRUCT, ""),
    "multilingual-e5-small": ("query: ", "passage: "),
    "mxbai-embed-large": (_SEARCH, ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "paraphrase-multilingual": ("", ""),
    "qwen3-embedding": (_INSTRUCT, ""),
    "snowflake-arctic-embed": (_SEARCH, ""),
    "snowflake-arctic-embed-l-v2.0": ("query: ", ""),
    "snowflake-arctic-embed-m-v2.0": ("query: ", ""),
    "snowflake-arctic-embed2": ("query: ", ""),
}


class EmbedderPrompt(Record):
    """What stands before a query and before a document; `known` if it was listed."""

    query: str = ""
    text: str = ""
    known: bool


def prompt_for(model: str) -> EmbedderPrompt:
    """The prompts of a model, by its name without owner and tag.

    The longest entry wins that equals the name or is followed by a dash in it, so
    `bge-m3` never borrows from `bge-large`, nor `e5-base` from `multilingual-e5-base`.
    """
    name = model.rsplit("/", 1)[-1].split(":", 1)[0].lower()
    fits = [key for key in _PROMPTS if name == key or name.startswith(f"{key}-")]
    if not fits:
        return EmbedderPrompt(known=False)
    query, text = _PROMPTS[max(fits, key=len)]
    return EmbedderPrompt(query=query, text=text, known=True)

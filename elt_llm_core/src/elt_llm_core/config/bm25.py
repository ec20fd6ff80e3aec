"""The recipe of a keyword index, which each index records."""

import re
from typing import Literal

from pydantic import Field

from elt_llm_core.config.base import Section

Variant = Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]
Stems = Literal["language", "english", "none", "both"]

# Incremented when the same text gives other tokens. The English one is that of indexes
# made before languages were distinguished.
_TOKENIZERS: dict[Stems, str] = {
    "language": "language-1",
    "english": "stems-1",
    "none": "words-2",
    "both": "both-2",
}
# Earlier ones differ only in languages other than English, which they did not support.
_EARLIER: dict[str, Stems] = {"words-1": "none", "both-1": "both"}
_STEMS: dict[str, Stems] = {
    **{name: stems for stems, name in _TOKENIZERS.items()},
    **_EARLIER,
}
_KEPT = " with stop words"
_NAME = re.compile(
    r"bm25 (?P<variant>[a-z0-9+]+)(?: delta (?P<delta>[-\d.e]+))?, "
    r"k1 (?P<k1>[-\d.e]+), b (?P<b>[-\d.e]+), pairs (?P<pair_weight>[-\d.e]+), "
    rf"(?P<tokenizer>[a-z]+-\d+)(?P<kept>{_KEPT})?"
)


class Recipe(Section):
    """How words are indexed and weighed. A change counts from the next ingest on."""

    variant: Variant = Field(
        default="lucene",
        description="BM25 variant: lucene, robertson, atire, bm25l, bm25+",
    )
    k1: float = Field(
        default=0.9,
        gt=0,
        le=100,
        description="term frequency saturation: the higher, the more repetitions "
        "of a word count",
    )
    b: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="length normalisation: the higher, the lower long chunks "
        "score; 0: none",
    )
    delta: float = Field(
        default=0.5,
        ge=0,
        le=100,
        description="lower bound on the weight of a word in a long chunk; bm25l only",
    )
    pair_weight: float = Field(
        default=0.5,
        ge=0,
        le=100,
        description="weight of a pair of adjacent words relative to a single "
        "word; 0: no pairs",
    )
    stems: Stems = Field(
        default="language",
        description="terms to index: language (stems in the document's "
        "language), english (English stems), none (unstemmed words), "
        "both (stems and unstemmed words)",
    )
    stop_words: bool = Field(default=True, description="omit stop words")

    @property
    def name(self) -> str:
        """Return one line with every setting that changes an index."""
        delta = f" delta {self.delta}" if self.variant == "bm25l" else ""
        tokenizer = _TOKENIZERS[self.stems] + ("" if self.stop_words else _KEPT)
        return (
            f"bm25 {self.variant}{delta}, k1 {self.k1}, b {self.b}, "
            f"pairs {self.pair_weight}, {tokenizer}"
        )

    @classmethod
    def from_name(cls, name: str) -> "Recipe":
        """Return the recipe of this name. Raises ValueError for an unknown one."""
        match = _NAME.fullmatch(name)
        stems = match and _STEMS.get(match["tokenizer"])
        if not match or not stems:
            raise ValueError(name)
        recipe = cls.model_validate(
            {
                "variant": match["variant"],
                "delta": float(match["delta"] or cls().delta),
                **{key: float(match[key]) for key in ("k1", "b", "pair_weight")},
                "stems": stems,
                "stop_words": not match["kept"],
            }
        )
        now = _TOKENIZERS[stems]
        if recipe.name != name.replace(match["tokenizer"], now):
            raise ValueError(name)
        return recipe


DEFAULT = Recipe()

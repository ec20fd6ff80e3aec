"""How texts are made searchable by words; an index tells the recipe it was made by."""

import re
from typing import Literal

from pydantic import Field

from elt_llm_core.section import Section

Variant = Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]
Stems = Literal["english", "none", "both"]

# The number rises when the same text gives other tokens.
_TOKENIZERS: dict[Stems, str] = {
    "english": "stems-1",
    "none": "words-1",
    "both": "both-1",
}
_STEMS: dict[str, Stems] = {name: stems for stems, name in _TOKENIZERS.items()}
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
        description="formula of BM25: lucene, robertson, atire, bm25l, bm25+",
    )
    k1: float = Field(
        default=0.9,
        gt=0,
        le=100,
        description="how much a word said again in a chunk still counts",
    )
    b: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="how much a long chunk is weighed down; 0 = not at all",
    )
    delta: float = Field(
        default=0.5,
        ge=0,
        le=100,
        description="what a word in a long chunk is worth at least; bm25l alone",
    )
    pair_weight: float = Field(
        default=0.5,
        ge=0,
        le=100,
        description="of two words side by side, against a single word; 0 = off",
    )
    stems: Stems = Field(
        default="english",
        description="what is compared: english (stems), none (words as they are), both",
    )
    stop_words: bool = Field(
        default=True, description="leave out the most common English words"
    )

    @property
    def name(self) -> str:
        """One line that tells whatever changes an index; equal ones are one recipe."""
        delta = f" delta {self.delta}" if self.variant == "bm25l" else ""
        tokenizer = _TOKENIZERS[self.stems] + ("" if self.stop_words else _KEPT)
        return (
            f"bm25 {self.variant}{delta}, k1 {self.k1}, b {self.b}, "
            f"pairs {self.pair_weight}, {tokenizer}"
        )

    @classmethod
    def named(cls, name: str) -> "Recipe":
        """The recipe of this name. Raises ValueError for one that is not known."""
        told = _NAME.fullmatch(name)
        stems = told and _STEMS.get(told["tokenizer"])
        if not told or not stems:
            raise ValueError(name)
        found = cls.model_validate(
            {
                "variant": told["variant"],
                "delta": float(told["delta"] or cls().delta),
                **{key: float(told[key]) for key in ("k1", "b", "pair_weight")},
                "stems": stems,
                "stop_words": not told["kept"],
            }
        )
        if found.name != name:
            raise ValueError(name)
        return found


DEFAULT = Recipe()

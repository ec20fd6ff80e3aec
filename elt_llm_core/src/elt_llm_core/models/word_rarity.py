"""How rare a word is in general language, by the vocabulary of the embedded model.

The vocabulary was learnt from an encyclopedia and books and lists whole words roughly
by how frequent they are there (BERT: Devlin et al. 2019, arXiv:1810.04805). No list of
words is written by hand, and the embedder in use does not matter.
"""

import json
import math
from functools import cache

from elt_llm_core.models.weights import tokenizer_file

# Ranks: below are the signs and the words that any text has; the vocabulary ends above.
_COMMONEST, _RAREST = math.log(2000), math.log(30522)


def rarity(word: str) -> float:
    """Return 0 for one of the commonest words, 1 for one the vocabulary has not.

    Args:
        word: A single word; case does not count.
    """
    rank = _ranks().get(word.lower())
    if rank is None:
        return 1.0
    share = (math.log(max(rank, 1)) - _COMMONEST) / (_RAREST - _COMMONEST)
    return min(1.0, max(0.0, share))


@cache
def _ranks() -> dict[str, int]:
    vocabulary: dict[str, int] = json.loads(tokenizer_file())["model"]["vocab"]
    return vocabulary

"""The sentences with most of a question's words, in any language.

They are not an answer, because the form of the question is not analysed. They are shown
for languages without answer rules.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.sentences import sentence_spans
from elt_llm_core.language.tokens import question_tokens, tokenize
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.list_stems import with_stems

# Shorter texts without a stop are headings or labels, which repeat the question without
# answering it.
SHORTEST = 5
# With a stop: "Die Frist beträgt sechs Wochen." On XQuAD in German and Spanish as many
# first sentences hold the answer with 3 as with 5, and one fewer with 2.
SHORTEST_ENDED = 3
_ENDED = re.compile(r"[^\W\d_]{2,}[\"\u201d\u00bb)]*[.!\u3002\uff01]\W*$")


class _Sentence(NamedTuple):
    passage: int
    start: int
    end: int
    tokens: frozenset[str]


def find_nearest(question: str, passages: Sequence[Passage], most: int) -> list[Claim]:
    """Return the sentences that cover most of the question, best first.

    The weight of a token is its inverse document frequency among the sentences
    (Robertson and Zaragoza, 2009, formula 3.15, plus one inside the logarithm). Ties
    are resolved by the order of the passages.

    Args:
        question: The question as it was asked.
        passages: The sources, best first.
        most: Maximum number of sentences, at least 1.

    Returns:
        Claims that quote them; empty if no sentence has a word of the question.
    """
    sentences = [
        sentence
        for number, passage in enumerate(passages)
        for sentence in _split(number, passage)
    ]
    weights = _weigh(sentences)
    asked = {
        code: frozenset(question_tokens(question, [code]))
        for code in {_language_of(passage) for passage in passages}
    }
    scores = [
        _cover(asked[_language_of(passages[one.passage])], one, weights)
        for one in sentences
    ]
    order = sorted(range(len(sentences)), key=lambda at: (-scores[at], at))
    claims = [
        _quote(passages[sentences[at].passage], sentences[at])
        for at in order[:most]
        if scores[at] > 0
    ]
    return with_stems(claims, passages)


def _split(number: int, passage: Passage) -> list[_Sentence]:
    spans = sentence_spans(passage.text, _language_of(passage))
    if passage.whole:
        spans = [(0, len(passage.text))]
    texts = [passage.text[start:end] for start, end in spans]
    codes = [_language_of(passage)] * len(texts)
    return [
        _Sentence(number, start, end, frozenset(tokens))
        for (start, end), tokens in zip(
            spans, tokenize(texts, languages=codes), strict=True
        )
        if passage.whole or len(tokens) >= _fewest(passage.text[start:end])
    ]


def _fewest(sentence: str) -> int:
    """Return the fewest tokens of a text that is no heading or label."""
    return SHORTEST_ENDED if _ENDED.search(sentence) else SHORTEST


def _weigh(sentences: Sequence[_Sentence]) -> Mapping[str, float]:
    counts = Counter(token for one in sentences for token in one.tokens)
    n = len(sentences)
    return {
        token: math.log(1 + (n - df + 0.5) / (df + 0.5)) for token, df in counts.items()
    }


def _cover(
    asked: frozenset[str], sentence: _Sentence, weights: Mapping[str, float]
) -> float:
    # Sorted, so that the sum is the same whatever the hash seed.
    return sum(weights[token] for token in sorted(asked & sentence.tokens))


def _language_of(passage: Passage) -> str:
    return passage.language or ENGLISH


def _quote(passage: Passage, sentence: _Sentence) -> Claim:
    raw = passage.text[sentence.start : sentence.end]
    start = sentence.start + len(raw) - len(raw.lstrip())
    end = sentence.end - len(raw) + len(raw.rstrip())
    text = " ".join(raw.split())
    return Claim(passage.label, passage.node_id, start, end, text)

"""How texts are made searchable by words; an index made otherwise is rebuilt."""

TOKENIZER = "stems-1"  # the next one when the same text gives other tokens
K1 = 0.9
B = 0.6
PAIR_WEIGHT = 0.5  # of words that stand side by side, against a single word
RECIPE = f"bm25 lucene, k1 {K1}, b {B}, pairs {PAIR_WEIGHT}, {TOKENIZER}"

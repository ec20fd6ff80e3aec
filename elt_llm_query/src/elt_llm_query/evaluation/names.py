"""What the measures are called: by trec_eval, in JSON, and by people.

AP@10 and RR are said of one question, MAP@10 and MRR of the mean over all.
"""

MEASURES = ("nDCG@10", "R@10", "R@100", "AP@10", "RR")
SPOKEN = ("nDCG@10", "Recall@10", "Recall@100", "MAP@10", "MRR")
NAMES = dict(zip(MEASURES, SPOKEN, strict=True))


def known(name: str) -> str | None:
    """The measure that either name means, in any case; None for none."""
    wanted = name.casefold()
    pairs = NAMES.items()
    return next((m for m, n in pairs if wanted in {m.casefold(), n.casefold()}), None)

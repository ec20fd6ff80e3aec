"""How many altered claims are shown as proven, and how many true ones are refused.

    uv run python benchmarks/claims.py --data DIR [--count 500] [--list KIND]

Claims are made from passages of public rule books, drug monographs and a handbook
(`claim_cases.py`). Each is an answer of its own with five sources, checked under the
policy `strict`. Printed are shares with 95 % Wilson intervals. `--list` prints the
wrong cases of one kind.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

from claim_cases import ClaimCase, Passage, make_altered, make_true, read_passages
from elt_llm_core.results import Source, Span, Status
from elt_llm_query.grounding.citations import Checked, cite_answer
from elt_llm_query.grounding.sources import Offered, QuotePlace


def offer(passage: Passage) -> list[Offered]:
    """The passage as S1 and its neighbours as S2 ..."""
    return [
        Offered(
            Source(
                label=f"S{i}",
                node_id=f"n{i}",
                document_id="d",
                collection="c",
                document=passage.document,
                text=text,
                score=1.0,
                span=Span(start=0, end=len(text)),
            )
        )
        for i, text in enumerate((passage.text, *passage.others), start=1)
    ]


def check(case: ClaimCase) -> Checked:
    """The claim as an answer of its own, under `strict`."""
    sources = offer(case.passage)
    return cite_answer(case.claim, sources, lambda *_: QuotePlace(None, ()), "strict")


def interval(hits: int, of: int) -> str:
    """The share with its Wilson interval, in per cent."""
    z, p = 1.96, hits / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * (p * (1 - p) / of + z * z / (4 * of * of)) ** 0.5
    low, high = 100 * (middle - half), 100 * (middle + half)
    return f"{100 * p:5.1f} % [{max(low, 0):.1f}, {high:.1f}] of {of}"


def main() -> None:
    """Make the cases, check each, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500, help="cases a kind and form")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", default="", metavar="KIND", help="print wrong cases")
    options = parser.parse_args()
    passages = read_passages(options.data)
    cases = make_altered(passages, options.count, options.seed)
    cases += make_true(passages, options.count, options.seed)
    print(f"{len(passages)} passages, {len(cases)} claims, seed {options.seed}")
    total: Counter[tuple[bool, str, str]] = Counter()
    wrong: Counter[tuple[bool, str, str]] = Counter()
    start = time.process_time()
    for case in cases:
        key = case.true, case.kind, case.form
        total[key] += 1
        if (check(case).status is Status.ANSWERED) != case.true:
            wrong[key] += 1
            if options.list in (case.kind, "all"):
                reason = [r.reason for r in check(case).removed]
                print(f"- [{case.kind}, {case.form}] {case.claim!r}")
                print(f"  from {case.sentence!r}: {reason}")
    seconds = time.process_time() - start
    for key, of in total.items():
        label = "true, refused" if key[0] else "altered, shown"
        print(f"{label:15} {key[1]:13} {key[2]:9} {interval(wrong[key], of)}")
    print(f"{1000 * seconds / len(cases):.1f} ms a claim")


if __name__ == "__main__":
    main()

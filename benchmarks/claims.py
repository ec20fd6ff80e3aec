"""How many altered claims are shown as proven, and how many true ones are refused.

    uv run python benchmarks/claims.py --data DIR [--count 500] [--list KIND] [--time]

Claims are made from passages of public rule books, drug monographs and a handbook
(`claim_cases.py`). Each is an answer of its own with five sources, checked under the
policy `strict`. Printed are shares with 95 % Wilson intervals. `--list` prints the
wrong cases of one kind. `--time` checks answers of 300 words over ten sources instead.
"""

# ruff: noqa: S311 - the claims are random by a seed

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from claim_cases import ClaimCase, make_altered, make_true
from claim_paraphrases import reorder
from claim_passages import Passage, read_passages, split_passage
from elt_llm_core.results import Source, Span, Status
from elt_llm_query.grounding.citations import Checked, cite_answer
from elt_llm_query.grounding.sources import Offered, QuotePlace

ANSWERS = 60


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


def time_answers(passages: Sequence[Passage], seed: int) -> None:
    """Print the processor milliseconds that the check of a long answer takes.

    Half of the statements are verbatim, the others have another order or another duty.
    """
    rng = random.Random(seed)
    seconds = []
    while len(seconds) < ANSWERS:
        first = rng.randrange(len(passages) - 10)
        group = [p for p in passages[first : first + 10] if split_passage(p.text)]
        if len(group) < len(passages[first : first + 10]):
            continue
        sources = offer(Passage("d", group[0].text, tuple(p.text for p in group[1:])))
        answer, words = "", 0
        while words < 300:
            number = rng.randrange(10)
            sentence = rng.choice(split_passage(group[number].text))
            if rng.random() < 0.5:
                other = reorder(sentence, group[number], rng)
                sentence = other or sentence.replace("must", "should")
            answer += f"{sentence[:-1]} [S{number + 1}]. "
            words += len(sentence.split())
        start = time.process_time()
        cite_answer(answer, sources, lambda *_: QuotePlace(None, ()), "strict")
        seconds.append(time.process_time() - start)
    quantiles = statistics.quantiles(seconds, n=10)
    print(
        f"{ANSWERS} answers of 300 words over 10 sources: p50 "
        f"{1000 * statistics.median(seconds):.0f} ms, p90 {1000 * quantiles[8]:.0f} ms"
    )


def main() -> None:
    """Make the cases, check each, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500, help="cases a kind and form")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", default="", metavar="KIND", help="print wrong cases")
    parser.add_argument("--time", action="store_true", help="time long answers")
    options = parser.parse_args()
    passages = read_passages(options.data)
    if options.time:
        time_answers(passages, options.seed)
        return
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

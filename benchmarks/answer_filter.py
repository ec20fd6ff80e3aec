"""The filter of streamed answers: the same text however it is cut, and what it costs.

    python benchmarks/answer_filter.py [--examples 10000] [--seed 1]

Makes answers of headings, labels, thoughts and words, cuts each at random into tokens
and compares what is shown with what is shown of the whole; then measures the processor
time that the filter takes for a token, over all of them and over long answers.
"""

import argparse
import random
import sys
import time
from itertools import pairwise
from pathlib import Path

from elt_llm_query.synthesizers.answer_stream import OPENING, AnswerFilter

sys.path.append(str(Path(__file__).parents[1] / "elt_llm_query" / "tests"))
from stream_texts import LABELS, PIECES, PLAIN

LONG = 5000  # tokens of the long answer


def make_text(chance: random.Random) -> str:
    """Return an answer of pieces that a filter may stumble over, and of plain words."""
    pieces = chance.choices([*PIECES, *PLAIN], k=chance.randint(0, 60))
    return "".join(pieces)


def cut(text: str, chance: random.Random) -> list[str]:
    """Return the text as tokens of any length."""
    inner = range(1, max(len(text), 1))
    ends = [0, *sorted(chance.sample(inner, chance.randint(0, len(inner)))), len(text)]
    return [text[a:b] for a, b in pairwise(ends)]


def show(tokens: list[str], opening: int, times: list[float]) -> str:
    """Return what is shown of tokens; the seconds of each are added to the times."""
    shown = AnswerFilter(LABELS, opening)
    parts = []
    for token in tokens:
        start = time.thread_time()
        parts.append(shown.feed(token))
        times.append(time.thread_time() - start)
    return "".join([*parts, shown.flush()])


def print_times(name: str, times: list[float]) -> None:
    """Print what a token cost."""
    ordered = sorted(times)
    mean = 1000 * sum(times) / len(times)
    at = [1000 * ordered[int(share * (len(times) - 1))] for share in (0.5, 0.999, 1)]
    columns = " | ".join(f"{ms:.3f}" for ms in (mean, *at))
    print(f"| {name} | {len(times):,} | {columns} |")


def main() -> None:
    """Compare, then measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 - texts, no secrets
    times: list[float] = []
    other = 0
    for _ in range(options.examples):
        text, opening = make_text(chance), chance.choice([0, OPENING])
        whole = show([text], opening, [])
        other += show(cut(text, chance), opening, times) != whole
    print(f"{options.examples:,} texts, each cut once: {other} shown otherwise\n")
    print("| answers | tokens | mean, ms | median | 99.9 % | longest |")
    print("|---|---|---|---|---|---|")
    print_times("of all texts", times)
    words = [f"{word} " for word in chance.choices([*PLAIN, "[S1]", "[S1, "], k=LONG)]
    long_times: list[float] = []
    show(words, OPENING, long_times)
    print_times(f"one of {LONG:,} tokens", long_times)
    held_times: list[float] = []
    show(["[S1, "] * LONG, 0, held_times)
    print_times("beginnings of labels only", held_times)
    thought_times: list[float] = []
    show(["<think>", *words], OPENING, thought_times)
    print_times("a thought that does not end", thought_times)


if __name__ == "__main__":
    main()

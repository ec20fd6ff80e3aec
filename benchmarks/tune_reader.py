"""Train the sentence reader further on questions on real documents.

    uv run --with torch python benchmarks/tune_reader.py --manuals FOLDER --root ROOT
        [--start FILE] [--cases FILE] [--left-out N] [--write FILE] [--threads N]

`train_reader.py` trains it on documents that were written for it. Here the reader that
it wrote to `--start`, or else the shipped one, goes on with the candidates that the
program itself finds for `manual_questions.tsv`, whose documents are in FOLDER: a
question has to choose a right sentence, or none. A quarter of the steps are questions
of the written documents, so that nothing is forgotten. The scorer is fitted on other
documents (`answer_scorer.py`), so that it meets the scores of a reader that has not
seen the question.

`--cases` keeps the cases, which take longer to find than to learn. `--left-out` does
not train on every Nth collection, and prints how the reader judges those before and
after. `--write` writes the layers as they ship.
"""

import argparse
import random
import time
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from answer_cases import Group, find_groups, read_manuals
from elt_llm_core.models.minilm import load_tokenizer
from elt_llm_core.models.sentence_reader import (
    join_pair,
    trained_arrays,
    without_number,
)
from train_reader import (
    QUESTIONS,
    SEED,
    Material,
    Pair,
    Reader,
    optimise,
    read_reader,
    shuffle_forever,
    to_arrays,
)
from written_documents import split_documents

RATE, WARM = 4e-5, 0.1
PASSES = 1.5
REPEATED = 0.25  # of the steps: questions of the written documents
EVERY = 200


def to_pairs(groups: Sequence[Group]) -> list[list[Pair]]:
    """Return the candidates of each case as pairs with its question."""
    tokenizer = load_tokenizer()

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    return [
        [
            Pair(
                *join_pair(
                    ids(group.question), ids(one.context), ids(without_number(one.text))
                ),
                bool(right),
            )
            for one, right in zip(group.sentences, group.right, strict=True)
        ]
        for group in groups
    ]


def is_known(group: Group) -> bool:
    """Return whether the right choice of a case is known."""
    return bool(group.right.any()) or not group.answerable


def read_start(file: Path | None) -> Reader:
    """Return the reader to begin with: that of a file, or the shipped one."""
    if file is None:
        return read_reader(trained_arrays())
    with np.load(file, allow_pickle=False) as arrays:
        return read_reader(dict(arrays))


def tune(
    model: Reader, questions: Sequence[list[Pair]], repeated: Sequence[list[Pair]]
) -> None:
    """Train a reader further."""
    torch.manual_seed(SEED)
    chance = random.Random(SEED)  # noqa: S311 - an order, no secret
    steps = int(PASSES * len(questions) / QUESTIONS / (1 - REPEATED))
    new, old = (shuffle_forever(one, chance) for one in (questions, repeated))

    def draw() -> list[list[Pair]]:
        source = old if chance.random() < REPEATED else new
        return list(islice(source, QUESTIONS))

    for step in optimise(model, iter(draw, []), steps, RATE, WARM):
        if step % EVERY == 0:
            print(f"{step} of {steps}", flush=True)


@torch.no_grad()
def score(model: Reader, questions: Sequence[Sequence[Pair]]) -> list[np.ndarray]:
    """Return the log odds of each candidate against "none", by question."""
    return [(model(pairs)[0] - model.none).numpy() for pairs in questions]


def judge(groups: Sequence[Group], scores: Sequence[np.ndarray]) -> str:
    """Return how well the choices are made: loss, and how often the first is right."""
    losses, first, most = [], 0, 0
    for group, own in zip(groups, scores, strict=True):
        odds = np.append(own, 0.0)
        right = [*np.flatnonzero(group.right)] or [len(own)]
        losses.append(np.logaddexp.reduce(odds) - np.logaddexp.reduce(odds[right]))
        most += group.right.any()
        first += group.right.any() and group.right[int(own.argmax())]
    return f"loss {np.mean(losses):.3f}, right first {first} of {most}"


def report(
    groups: Sequence[Group],
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
) -> None:
    """Print a line for each collection."""
    for home in sorted({group.home for group in groups}):
        at = [i for i, group in enumerate(groups) if group.home == home]
        own = [groups[i] for i in at]
        old, new = ([one[i] for i in at] for one in (before, after))
        print(f"{home}, {len(own)}: {judge(own, old)} -> {judge(own, new)}", flush=True)


def main() -> None:
    """Train, judge what is left out, and write the layers if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--manuals", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--start", type=Path, default=None)
    parser.add_argument("--cases", type=Path, default=None)
    parser.add_argument("--left-out", type=int, default=0)
    parser.add_argument("--write", type=Path, default=None)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    started = time.monotonic()
    every = find_groups(
        partial(read_manuals, options.manuals), options.root, options.cases
    )
    groups = [group for group in every if group.rows and is_known(group)]
    homes = sorted({group.home for group in groups})
    left = set(homes[:: options.left_out]) if options.left_out else set[str]()
    trained = [group for group in groups if group.home not in left]
    written = Material(split_documents()[0], plain=True).questions
    print(f"{len(trained)} of {len(every)} cases, {len(written)} written questions")
    kept = [group for group in groups if group.home in left]
    pairs, model = to_pairs(kept), read_start(options.start)
    before = score(model, pairs)
    tune(model, to_pairs(trained), written)
    report(kept, before, score(model, pairs))
    if options.write:
        np.savez_compressed(options.write, **to_arrays(model))
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()

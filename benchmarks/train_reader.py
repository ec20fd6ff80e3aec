"""Train a reader of questions and sentences on `written_documents/`.

    uv run --with torch python benchmarks/train_reader.py [--plain] [--threads N]
        [--write FILE]

Trains the upper four layers of MiniLM with a head that scores a sentence as the answer
to a question: a cross-encoder, which reads both together (Nogueira and Cho, 2019,
"Passage Re-ranking with BERT"). A question is put to the sentences that answer it and
to those of its document that are nearest to it by vectors; it has to choose one of them
or none. Two documents in nineteen are left out and judged now and then. `--plain` also
trains on the plain questions and on questions for the terms of the glossaries.
`--write` writes the trained layers in eight bits, which ship as
`elt_llm_core/models/data/answer_reader.npz` (change `TRAINED_SHA256` with it, and fit
the scorer again: `answer_scorer.py --write`). Takes about half an hour on two cores.
"""

import argparse
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor, nn

from elt_llm_core.models.minilm import OnnxEmbedding, load_tokenizer
from elt_llm_core.models.minilm_graph import MATRICES, layer_names
from elt_llm_core.models.sentence_reader import SENTENCE, join_pair, without_number
from elt_llm_core.models.weights import shipped_weights
from written_documents import (
    WrittenDocument,
    definition_questions,
    split_documents,
)

LAYERS, WIDTH, HEADS, INNER = 6, 384, 12, 1536
QUESTIONS = 4  # of a step
NEAREST, MOST_RIGHT = 6, 2  # wrong sentences and right ones of a question
EPOCHS, RATE, DECAY, WARM = 1.3, 1.3e-4, 0.01, 0.08
SPANS = 0.3  # weight of finding the words of the answer
EVERY, SEED = 300, 1
FIRST_TRAINED = 2  # of six layers


class Pair(NamedTuple):
    """Tokens of a pair, how many are of its first part, and the answer's places."""

    ids: list[int]
    first: int
    right: bool
    answer: tuple[int, ...] = ()


class Batch(NamedTuple):
    """Pairs as tensors: tokens and types (n, length), and which tokens are real."""

    ids: Tensor
    types: Tensor
    real: Tensor

    def spread(self, states: Tensor) -> Tensor:
        """Return states of the real tokens in their places, shape (n, length, -1)."""
        whole = states.new_zeros(*self.ids.shape, states.shape[-1])
        whole[self.real] = states
        return whole


class Layer(nn.Module):
    """A layer of BERT (Devlin et al., 2019) without dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.i, self.p = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.l1, self.l2 = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Return the next states of the real tokens; padding is computed nowhere else.

        Attention alone needs the pairs apart.
        """

        def split(states: Tensor) -> Tensor:
            size, length = batch.ids.shape
            return batch.spread(states).view(size, length, HEADS, -1).transpose(1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        seen = batch.real[:, None, None, :]
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        joined = attended.transpose(1, 2).flatten(2)[batch.real]
        x = self.l1(x + self.o(joined))
        return self.l2(x + self.p(F.gelu(self.i(x))))


class Reader(nn.Module):
    """MiniLM with a head that scores sentences as answers."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.places = nn.Embedding(512, WIDTH)
        self.types = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.rank, self.tok = nn.Linear(2 * WIDTH, 1), nn.Linear(WIDTH, 1)
        self.none, self.mix = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.ones(1))
        self.load_state_dict(shipped_state(), strict=False)
        fixed = (self.words, self.places, self.types, self.norm)
        for module in (*fixed, *self.layers[:FIRST_TRAINED]):
            module.requires_grad_(requires_grad=False)

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the states (n, length, 384), and their first beside their mean.

        The mean is that of the tokens of type 1.
        """
        places = self.places(torch.arange(batch.ids.shape[1]))[None]
        embedded = self.words(batch.ids) + places + self.types(batch.types)
        x = self.norm(embedded[batch.real])
        for layer in self.layers:
            x = layer(x, batch)
        states, inside = batch.spread(x), batch.types.float()[..., None]
        mean = (states * inside).sum(1) / inside.sum(1)
        return states, torch.cat([states[:, 0], mean], -1)

    def forward(self, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor]:
        """Return the scores as answers, and those of the tokens."""
        batch = to_batch([(p.ids, [0] * p.first + [1] * len(p.ids)) for p in pairs])
        states, both = self.read(batch)
        tokens = self.tok(states)[..., 0]
        top = tokens.masked_fill(batch.types == 0, -30).max(1).values
        return self.rank(both)[:, 0] + self.mix * top, tokens


def to_batch(rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """Return rows of tokens and types as tensors, padded at the end."""
    length = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    types, real = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    for row, (own, kinds) in enumerate(rows):
        size = len(own)
        ids[row, :size] = torch.tensor(own)
        types[row, :size] = torch.tensor(kinds[:size])
        real[row, :size] = True
    return Batch(ids, types, real)


def shipped_state() -> dict[str, Tensor]:
    """Return the weights of the embedder by our names."""
    graph = onnx.load_from_string(shipped_weights()).graph
    arrays = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    inner = "inner.embeddings."

    def full(name: str) -> Tensor:
        return torch.tensor(arrays[f"{name}_q"] * arrays[f"{name}_scale"])

    state = {
        "words.weight": full(f"{inner}word_embeddings.weight"),
        "places.weight": full(f"{inner}position_embeddings.weight"),
        "types.weight": torch.tensor(arrays[f"{inner}token_type_embeddings.weight"]),
        "norm.weight": torch.tensor(arrays[f"{inner}LayerNorm.weight"]),
        "norm.bias": torch.tensor(arrays[f"{inner}LayerNorm.bias"]),
    }
    for layer in range(LAYERS):
        for kind, name in layer_names(list(arrays), layer):
            part, what = kind.split(".")
            if what == "weight" and part in MATRICES:
                state[f"layers.{layer}.{kind}"] = full(name.removesuffix("_q")).T
            elif what != "scale":
                state[f"layers.{layer}.{kind}"] = torch.tensor(arrays[name])
    return state


class Material:
    """The questions of documents as groups of pairs.

    Args:
        documents: The documents.
        plain: Whether to take the plain questions as well.
    """

    def __init__(self, documents: Sequence[WrittenDocument], *, plain: bool) -> None:
        self._plain = plain
        self._tokenizer, self._embedder = load_tokenizer(), OnnxEmbedding()
        self.questions = [g for one in documents for g in self._read_questions(one)]

    def _ids(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def _read_questions(self, document: WrittenDocument) -> Iterator[list[Pair]]:
        texts = [f"{one.heading}: {one.text}" for one in document.sentences]
        vectors = self._embedder.embed_array(texts)
        asked = [*document.questions, *definition_questions(document)]
        for question in asked:
            if question.is_plain and not self._plain:
                continue
            cosines = vectors @ self._embedder.embed_array([question.text])[0]
            order = [int(i) for i in np.argsort(-cosines)]
            wrong = [i for i in order if i not in question.answers]
            chosen = [*question.answers[:MOST_RIGHT], *wrong[:NEAREST]]
            yield [self._answer_pair(document, question, i) for i in chosen]

    def _answer_pair(self, document: WrittenDocument, question: Any, at: int) -> Pair:
        sentence = document.sentences[at]
        text = without_number(sentence.text)
        parts = (question.text, sentence.context, text)
        ids, first = join_pair(*map(self._ids, parts))
        right = at in question.answers
        start = text.find(question.words) if right and question.words else -1
        if start < 0:
            return Pair(ids, first, right)
        end = start + len(question.words)
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        spans = encoded.offsets[:SENTENCE]
        inside = (first + i for i, (a, b) in enumerate(spans) if a < end and b > start)
        return Pair(ids, first, right, tuple(inside))


def question_loss(model: Reader, groups: Sequence[Sequence[Pair]]) -> Tensor:
    """Return the loss of choosing right answers or none, and of finding their words."""
    pairs = [pair for group in groups for pair in group]
    scores, tokens = model(pairs)
    loss, at = torch.zeros(()), 0
    for group in groups:
        options = torch.cat([scores[at : at + len(group)], model.none])
        right = [i for i, pair in enumerate(group) if pair.right] or [len(group)]
        loss = loss + torch.logsumexp(options, 0) - torch.logsumexp(options[right], 0)
        at += len(group)
    spans = [_span_loss(tokens[i], one) for i, one in enumerate(pairs) if one.answer]
    found = torch.stack(spans).mean() if spans else torch.zeros(())
    return loss / len(groups) + SPANS * found


def _span_loss(tokens: Tensor, pair: Pair) -> Tensor:
    wanted = torch.zeros(len(pair.ids))
    wanted[list(pair.answer)] = 1
    inside = slice(pair.first, len(pair.ids))
    return F.binary_cross_entropy_with_logits(tokens[inside], wanted[inside])


def shuffle_forever(items: Sequence[Any], chance: random.Random) -> Iterator[Any]:
    """Yield all items in a random order, again and again."""
    while True:
        yield from chance.sample(items, len(items))


def optimise(
    model: Reader, batches: Iterator[Any], steps: int, rate: float, warm: float
) -> Iterator[int]:
    """Train a model on batches of questions, and yield the number of each step made.

    Args:
        model: The model, which is changed.
        batches: The questions of each step.
        steps: How many there are.
        rate: The highest rate of learning.
        warm: The share of the steps in which the rate rises; then it falls.
    """
    weights = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=DECAY)
    rising = max(int(warm * steps), 1)
    rise_and_fall = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda at: min((at + 1) / rising, max(0.02, (steps - at) / (steps - rising))),
    )
    for step in range(1, steps + 1):
        loss = question_loss(model, next(batches))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        rise_and_fall.step()
        yield step


def train(material: Material, held_out: Material) -> Reader:
    """Return the trained model; prints how it judges what is left out."""
    torch.manual_seed(SEED)
    chance, model = random.Random(SEED), Reader()  # noqa: S311 - an order, no secret
    steps = int(EPOCHS * len(material.questions) / QUESTIONS)
    questions = shuffle_forever(material.questions, chance)
    batches = iter(lambda: list(islice(questions, QUESTIONS)), [])
    for step in optimise(model, batches, steps, RATE, WARM):
        if step % EVERY == 0 or step == steps:
            print(f"{step} of {steps}: {judge(model, held_out)}", flush=True)
    return model


@torch.no_grad()
def judge(model: Reader, held_out: Material) -> str:
    """Return the share of answerable questions whose first sentence is right."""
    answerable = [g for g in held_out.questions if any(pair.right for pair in g)]
    first = sum(g[int(model(g)[0].argmax())].right for g in answerable)
    return f"right first {first / len(answerable):.3f} of {len(answerable)}"


def to_arrays(model: Reader) -> dict[str, np.ndarray]:
    """Return the trained weights as they ship: matrices in eight bits per column."""
    arrays: dict[str, np.ndarray] = {}
    for name, value in model.state_dict().items():
        numbers = value.float().numpy()
        if name.startswith("layers."):
            _, layer, part, kind = name.split(".")
            if int(layer) < FIRST_TRAINED:
                continue
            key = f"{layer}.{part}"
            if part in MATRICES and kind == "weight":
                scale = np.abs(numbers.T).max(0, keepdims=True) / 127
                arrays[f"{key}.weight"] = np.round(numbers.T / scale).astype(np.int8)
                arrays[f"{key}.scale"] = scale.astype(np.float32)
            else:
                arrays[f"{key}.{kind}"] = numbers
        elif name.partition(".")[0] in {"rank", "tok", "none", "mix"}:
            arrays[name] = numbers.reshape(-1)
    return arrays


def read_reader(arrays: Mapping[str, np.ndarray]) -> Reader:
    """Return the model with trained layers as they ship: the inverse of `to_arrays`."""
    model, state = Reader(), dict[str, Tensor]()
    for name, array in arrays.items():
        first, *rest = name.split(".")
        if not first.isdigit():
            state[name] = torch.tensor(array)
        elif rest[1] != "scale":
            number = array
            if rest[0] in MATRICES and rest[1] == "weight":
                number = (array * arrays[f"{first}.{rest[0]}.scale"]).T
            state[f"layers.{name}"] = torch.tensor(number)
    own = model.state_dict()
    shaped = {name: value.reshape(own[name].shape) for name, value in state.items()}
    model.load_state_dict(shaped, strict=False)
    return model


def main() -> None:
    """Train, and write the trained layers if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--write", type=Path, default=None)
    # Two threads wait for each other where something else runs.
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    started = time.monotonic()
    material = (Material(one, plain=options.plain) for one in split_documents())
    model = train(*material)
    print(f"{time.monotonic() - started:.0f} s")
    if options.write:
        np.savez_compressed(options.write, **to_arrays(model))


if __name__ == "__main__":
    main()

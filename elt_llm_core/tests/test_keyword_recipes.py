"""Every way to index words, and what a change of it does to a store."""

from collections import Counter
from itertools import pairwise
from math import isfinite, log
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from core_stores import new_document, put
from elt_llm_core.config.bm25 import DEFAULT, Recipe
from elt_llm_core.config.sections import RagConfig, StoresSection
from elt_llm_core.doctor.indexes import check_indexes
from elt_llm_core.language.tokens import tokenize
from elt_llm_core.store import Store
from elt_llm_core.store.index.bm25 import DeltaKeywords, KeywordIndex
from elt_llm_core.store.index.manifest import IndexFolder

VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
SENTENCES = [f"kite {'kite ' * (i % 3)}and sail {i} near buoys" for i in range(20)]


def idf(variant: str, n: int, total: int) -> float:
    return {
        "lucene": log(1 + (total - n + 0.5) / (n + 0.5)),
        "robertson": log(max((total - n + 0.5) / (n + 0.5), 1)),
        "atire": log(total / n),
        "bm25l": log((total + 1) / (n + 0.5)),
        "bm25+": log((total + 1) / n),
    }[variant]


def part(recipe: Recipe, count: int, share: float) -> float:
    """What a word is worth beside its idf, less what its absence is worth."""
    k1, delta = recipe.k1, recipe.delta
    if recipe.variant == "bm25l":
        even = count / share + delta
        return (k1 + 1) * even / (k1 + even) - (k1 + 1) * delta / (k1 + delta)
    plain = count / (count + k1 * share)
    return plain if recipe.variant in ("lucene", "robertson") else plain * (k1 + 1)


def by_the_formula(
    recipe: Recipe, texts: list[list[str]], question: list[str]
) -> dict[int, float]:
    average = sum(map(len, texts)) / len(texts)
    weights: list[tuple[str | tuple[str, str], float]]
    weights = [(word, 1.0) for word in question]
    weights += [(pair, recipe.pair_weight) for pair in pairwise(question)]
    bags = [Counter([*text, *pairwise(text)]) for text in texts]
    scores = dict.fromkeys(range(len(texts)), 0.0)
    for one, weight in weights:
        held = [row for row, bag in enumerate(bags) if bag[one]]
        for row in held:
            share = 1 - recipe.b + recipe.b * len(texts[row]) / average
            found = part(recipe, bags[row][one], share)
            scores[row] += weight * idf(recipe.variant, len(held), len(texts)) * found
    return {row: score for row, score in scores.items() if score > 0}


@pytest.mark.parametrize("pair_weight", [0, 0.5])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_scores_by_its_formula(
    tmp_path: Path, variant: str, pair_weight: float
) -> None:
    recipe = Recipe(variant=variant, k1=1.3, b=0.7, delta=0.4, pair_weight=pair_weight)
    chance = np.random.default_rng(5)
    sizes = chance.integers(1, 30, 40)
    texts = [[*map(str, chance.integers(100, 125, size))] for size in sizes]
    for name, part_of in (("whole", texts), ("half", texts[20:])):
        (tmp_path / name).mkdir()
        joined = [" ".join(text) for text in part_of]
        KeywordIndex.build(joined, tmp_path / name, recipe)
    whole = KeywordIndex(tmp_path / "whole", recipe)
    base = KeywordIndex(tmp_path / "half", recipe)
    for size in (1, 2, 4, 9):
        question = [*map(str, chance.integers(100, 128, size))]
        expected = by_the_formula(recipe, texts, question)
        found = whole.search(question, 99)
        assert dict(found) == pytest.approx(expected, rel=1e-5)
        assert all(isfinite(score) for _, score in found)
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
        rows = np.arange(40)
        exact = dict(zip(rows.tolist(), whole.scores_of(question, rows), strict=True))
        assert {r: s for r, s in exact.items() if s > 0} == pytest.approx(dict(found))
        newer = dict(DeltaKeywords(texts[:20], base).search(question, 99))
        kept = {row: score for row, score in expected.items() if row < 20}
        assert newer == pytest.approx(kept)


def test_what_is_compared_is_chosen() -> None:
    text = ["The reading rooms of 3.2.1"]
    stems = ["read", "room", "3.2.1", "3", "2", "1"]
    words = ["reading", "rooms", "3.2.1", "3", "2", "1"]
    assert tokenize(text) == [stems]
    assert tokenize(text, Recipe(stems="none")) == [words]
    assert tokenize(text, Recipe(stems="both")) == [[*stems, "reading", "rooms"]]
    kept = tokenize(text, Recipe(stop_words=False))
    assert kept == [["the", "read", "room", "of", *stems[2:]]]


@pytest.mark.parametrize(
    "recipe",
    [
        DEFAULT,
        *(Recipe(variant=variant, k1=2, b=1e-7, delta=0) for variant in VARIANTS),
        *(Recipe(stems=stems, stop_words=False) for stems in ("none", "both")),
    ],
)
def test_a_recipe_is_told_by_its_name(recipe: Recipe) -> None:
    again = Recipe.from_name(recipe.name)
    assert again.name == recipe.name
    again = again.model_copy(update={"delta": recipe.delta})
    assert again == recipe


def test_indexes_of_earlier_versions_keep_their_name() -> None:
    old = "bm25 lucene, k1 0.9, b 0.6, pairs 0.5, stems-1"
    assert Recipe(stems="english").name == old
    assert Recipe.from_name(old) == Recipe(stems="english")
    assert DEFAULT.name == old.replace("stems-1", "language-1")
    for stems, name in (("none", "words-1"), ("both", "both-1")):
        assert Recipe.from_name(old.replace("stems-1", name)) == Recipe(stems=stems)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "bm25 of old",
        DEFAULT.name.replace("language-1", "stems-2"),
        DEFAULT.name.replace("0.9", "0.90"),
        DEFAULT.name.replace("0.9", "1e999"),
        DEFAULT.name.replace("0.9", "-1.0"),
        DEFAULT.name.replace("0.9", "e"),
        DEFAULT.name.replace("lucene", "atari"),
        f"{DEFAULT.name}\n",
    ],
)
def test_a_recipe_that_is_not_known_is_no_recipe(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Recipe.from_name(name or "\t")


@pytest.mark.parametrize(
    "wrong",
    [{"k1": 0}, {"k1": float("nan")}, {"b": 1.1}, {"pair_weight": -1}, {"stems": "de"}],
)
def test_a_recipe_has_bounds(wrong: dict[str, float | str]) -> None:
    with pytest.raises(ValidationError):
        Recipe.model_validate(wrong)


def words(store: Store) -> dict[str, float]:
    return dict(store.open("rules").search_keyword("kites and 7 sails", 50))


def published_by(store: Store) -> str:
    manifest = IndexFolder(store.data_dir, "rules").manifest()
    assert manifest is not None
    return manifest.keywords


def test_what_is_published_is_searched_as_it_was_made(tmp_path: Path) -> None:
    ours = Recipe(variant="bm25l", k1=1.7, stems="both", pair_weight=0)
    writer = Store(tmp_path, ours)
    put(writer, "rules", new_document("a.txt", SENTENCES))
    before = words(writer)
    put(writer, "rules", new_document("b.txt", ["kites sail 7 times"]), publish=False)
    wanted = words(writer)
    for keywords in (None, DEFAULT, Recipe(variant="atire", stems="none")):
        reader = Store(tmp_path, keywords)
        assert words(reader) == wanted
        assert reader.open("rules").recipe == ours
        assert reader.open("rules").degradations == ()
    plain = Store(tmp_path / "plain")
    put(plain, "rules", new_document("a.txt", SENTENCES))
    assert max(words(plain).values()) != pytest.approx(max(before.values()))
    with writer.writer() as open_writer:
        assert open_writer.publish(["rules"], force=True) == {"rules": 2}
    (newer,) = wanted.keys() - before.keys()
    assert words(writer)[newer] == pytest.approx(wanted[newer], rel=1e-5)


def test_another_recipe_is_built_once(tmp_path: Path) -> None:
    first = Store(tmp_path)
    put(first, "rules", new_document("a.txt", SENTENCES))
    before = words(first)
    other = Recipe(variant="robertson", k1=2, stop_words=False)
    second = Store(tmp_path, other)
    assert words(second) == before
    config = RagConfig(stores=StoresSection(data_dir=tmp_path), keywords=other)
    checks = {c.name: c for c in check_indexes(config, second, deep=False)}
    check = checks["collection rules"]
    assert check.level == "WARN"
    assert "robertson" in check.detail
    for built in ({"rules": 2}, {}):
        with second.writer() as writer:
            assert writer.is_outdated("rules") == bool(built)
            assert writer.publish(["rules"]) == built
    assert published_by(second) == other.name
    assert words(first) == words(second) != before
    # A writer that is configured to nothing keeps what is there.
    with first.writer() as writer:
        assert writer.publish(["rules"]) == {}
        assert writer.publish(["rules"], force=True) == {"rules": 3}
    assert published_by(first) == other.name


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_chunks_are_published_by_any_recipe(tmp_path: Path, variant: str) -> None:
    store = Store(tmp_path, Recipe(variant=variant))
    put(store, "rules", new_document("a.txt", ["kite on a buoy", "kite and anchor"]))
    assert store.open("rules").degradations == ()
    assert published_by(store).startswith(f"bm25 {variant}")

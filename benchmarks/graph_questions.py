"""Questions about models, generated with their answers, and how many are answered.

uv run --no-sync python benchmarks/graph_questions.py --data DIR [--show]

Over the sample (drawing and inventory as one model) and three ArchiMate models. The
right answers are computed here, from the lists of elements and relations, without the
graph. Each question is asked in every phrasing of graph_questions.tsv: the rules were
made with those marked `seen`, and those marked `unseen` were written afterwards.
"""

import argparse
import csv
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import elt_llm_consumer
from elt_llm_core.enterprise.joining import join_models
from elt_llm_core.enterprise.model import SIDECAR_KIND, EnterpriseModel
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.graph_records import GraphAnswer
from elt_llm_core.graph.model_graph import graph_of
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.archimate import archimate_model
from elt_llm_ingest.readers.enterprise import drawio, inventory

PACK = Path(elt_llm_consumer.__file__).parent / "packs" / "kite-regatta"
PHRASINGS = Path(__file__).with_suffix(".tsv")
ITEMS = 2  # of each kind and model
FORMS = {
    "Access": ("accesses", "access", "accessed"),
    "Aggregation": ("aggregates", "aggregate", "aggregated"),
    "Influence": ("influences", "influence", "influenced"),
    "Realization": ("realizes", "realize", "realized"),
    "Serving": ("serves", "serve", "served"),
    "Triggering": ("triggers", "trigger", "triggered"),
}
GIVES = set("Serving Realization Assignment Triggering Flow Influence".split())  # noqa: SIM905 - reads better
NEEDS = {"Access", "Aggregation", "Composition", "Specialization"}
Gold = Any


class Item(NamedTuple):
    """A question without its words: what is put into a phrasing, and the answer."""

    kind: str
    slots: dict[str, str]
    gold: Gold


def read_models(data: Path) -> Iterator[tuple[str, EnterpriseModel]]:
    """The sample, and the ArchiMate models of the evaluation data."""
    path = PACK / "model.drawio"
    drawing, _ = drawio.read_model(path, path.read_bytes())
    sheet = PACK / "inventory.xlsx"
    (document,) = inventory.parse(sheet, sheet.read_bytes(), Limits())
    (listed,) = [s for s in document.sidecars if s.kind == SIDECAR_KIND]
    yield (
        "sample",
        join_models([drawing, EnterpriseModel.model_validate(listed.content)]),
    )
    for name in (
        "Archisurance.archimate",
        "archi_banking_group_case.xml",
        "archisurance_3.1-revised.xml",
    ):
        path = data / "archimate" / name
        yield path.stem, archimate_model.read_model(path, path.read_bytes())[0]


class Oracle:
    """The right answers, from the lists of the model."""

    def __init__(self, model: EnterpriseModel, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - chooses questions
        self.model = model
        self.by_id = {e.id: e for e in model.elements}
        self.entities = [e for e in model.elements if e.role == "entity"]
        counts: dict[str, int] = defaultdict(int)
        for e in model.elements:
            counts[e.name.casefold()] += 1
        # An association may end at a relation, which has no name of its own.
        beside = {
            r.source.element_id
            for r in model.relations
            if r.target.element_id not in self.by_id
        } | {
            r.target.element_id
            for r in model.relations
            if r.source.element_id not in self.by_id
        }
        self.unique = [
            e
            for e in model.elements
            if counts[e.name.casefold()] == 1
            and e.role != "note"
            and e.type != "Folder"
            and "(" not in e.name
            and e.id not in beside
        ]
        self.at: dict[str, list[Any]] = defaultdict(list)
        for r in model.relations:
            for end in {r.source.element_id, r.target.element_id}:
                self.at[end].append(r)
        self.inside: dict[str, list[Any]] = defaultdict(list)
        for e in model.elements:
            seen, above = {e.id}, e.parent_id
            while above in self.by_id and above not in seen:
                seen.add(above)
                self.inside[above].append(e)
                above = self.by_id[above].parent_id

    def pick(self, listed: list[Any]) -> list[Any]:
        """Return some of a list, the same for a seed."""
        return self.rng.sample(listed, min(ITEMS, len(listed)))

    def name(self, key: str) -> str:
        """Return the name of an element."""
        return self.by_id[key].name if key in self.by_id else key

    def others(self, key: str, relations: list[Any]) -> set[str]:
        """Return the names at the other ends of relations."""
        names = set()
        for r in relations:
            ends = [r.source.element_id, r.target.element_id]
            names.add(self.name(ends[1] if ends[0] == key else ends[0]))
        return names

    def items(self) -> Iterator[Item]:
        """Yield the questions about the model."""
        types = sorted({e.type for e in self.entities if e.type})
        for kind in self.pick(types):
            same = [e for e in self.entities if e.type == kind]
            yield Item("count_types", {"types": plural(kind)}, len(same))
            yield Item("list_types", {"types": plural(kind)}, {e.name for e in same})
        domains = [e for e in self.model.elements if e.role == "domain"]
        yield Item("count_domains", {}, len(domains))
        for group in self.pick([d for d in domains if d in self.unique]):
            inner = [e for e in self.inside[group.id] if e.role == "entity"]
            for kind in self.pick(sorted({e.type for e in inner})):
                same = [e for e in inner if e.type == kind]
                slots = {"types": plural(kind), "a": group.name}
                yield Item("count_in_domain", slots, len(same))
                yield Item("list_in_domain", slots, {e.name for e in same})
        yield from self.of_elements()
        yield from self.of_relations()
        yield from self.refusals()

    def of_elements(self) -> Iterator[Item]:
        """Yield the questions about one element."""
        related = [e for e in self.unique if self.at[e.id]]
        for e in self.pick(related):
            yield Item("relations", {"a": e.name}, self.others(e.id, self.at[e.id]))
            yield Item("hops", {"a": e.name}, self.ring(e.id, 2))
        for e in self.pick([e for e in self.unique if e.role == "entity" and e.domain]):
            yield Item("domain_of", {"a": e.name}, {e.domain.casefold()})
            yield Item("type_of", {"a": e.name}, e.type)
        flows = [
            e
            for e in related
            if any(r.type in {"Flow", "Triggering"} for r in self.at[e.id])
        ]
        for e in self.pick(flows):
            mine = [r for r in self.at[e.id] if r.type in {"Flow", "Triggering"}]
            yield Item("flows", {"a": e.name}, self.others(e.id, mine))
        for e in self.pick([e for e in related if self.needs(e.id, "up")]):
            yield Item("dependents", {"a": e.name}, self.needs(e.id, "up"))
        for e in self.pick([e for e in related if self.needs(e.id, "down")]):
            yield Item("dependencies", {"a": e.name}, self.needs(e.id, "down"))
        whole = [e for e in self.unique if self.parts(e)]
        for e in self.pick(whole):
            yield Item("contents", {"a": e.name}, self.parts(e))

    def parts(self, e: Any) -> set[str]:
        """Return the names of what is in an element."""
        names = {c.name for c in self.model.elements if c.parent_id == e.id}
        return names | {
            self.name(r.target.element_id)
            for r in self.at[e.id]
            if r.type in {"Composition", "Aggregation"} and r.source.element_id == e.id
        }

    def needs(self, key: str, way: str) -> set[str]:
        """Return the names of what depends on an element, or of what it depends on."""
        names = set()
        for dependent, on in (pair for r in self.at[key] for pair in dependence(r)):
            if dependent != on and key == (on if way == "up" else dependent):
                names.add(self.name(dependent if way == "up" else on))
        return names

    def ring(self, key: str, steps: int) -> set[str]:
        """Return the names of what is some steps away."""
        return {self.name(k) for k, n in self.distances(key).items() if n == steps}

    def distances(self, key: str) -> dict[str, int]:
        """Return how many steps away each element is."""
        far, front = {key: 0}, [key]
        while front:
            following = []
            for one in front:
                for r in self.at[one]:
                    for end in (r.source.element_id, r.target.element_id):
                        if end not in far:
                            far[end] = far[one] + 1
                            following.append(end)
            front = following
        return far

    def of_relations(self) -> Iterator[Item]:
        """Yield the questions about relations."""
        near = [
            (a, self.by_id[k], n)
            for a in self.pick([e for e in self.unique if self.at[e.id]])
            for k, n in self.distances(a.id).items()
            if n > 1 and k in self.by_id and self.by_id[k] in self.unique
        ]
        for a, b, steps in self.pick(near):
            yield Item("path", {"a": a.name, "b": b.name}, steps)
        for r in self.pick(
            [
                r
                for r in self.model.relations
                if r.cardinality and r.source.element_id != r.target.element_id
            ]
        ):
            both = [
                x
                for x in self.at[r.source.element_id]
                if {x.source.element_id, x.target.element_id}
                == {r.source.element_id, r.target.element_id}
            ]
            slots = {"a": r.source.name, "b": r.target.name}
            yield Item("cardinality", slots, {x.id for x in both if x.cardinality})
        for kind, forms in FORMS.items():
            words = dict(zip(("verbs", "verb", "past"), forms, strict=True))
            stated = [r for r in self.model.relations if r.type == kind]
            for r in self.pick(
                [
                    r
                    for r in stated
                    if self.by_id.get(r.target.element_id) in self.unique
                ]
            )[:1]:
                sources = {
                    self.name(x.source.element_id)
                    for x in stated
                    if x.target.element_id == r.target.element_id
                }
                yield Item("verb_sources", {"a": r.target.name, **words}, sources)
            for r in self.pick(
                [
                    r
                    for r in stated
                    if self.by_id.get(r.source.element_id) in self.unique
                ]
            )[:1]:
                targets = {
                    self.name(x.target.element_id)
                    for x in stated
                    if x.source.element_id == r.source.element_id
                }
                yield Item("verb_targets", {"a": r.source.name, **words}, targets)
        yield from self.users()

    def users(self) -> Iterator[Item]:
        """Yield the questions about who uses something."""
        served = [r for r in self.model.relations if r.type == "Serving"]
        accessed = [r for r in self.model.relations if r.type == "Access"]
        uses = [(r.target.element_id, r.source.element_id) for r in served]
        uses += [(r.source.element_id, r.target.element_id) for r in accessed]
        known = [
            (u, x)
            for u, x in uses
            if u in self.by_id and self.by_id.get(x) in self.unique
        ]
        for user, used in self.pick(known):
            kind = self.by_id[user].type
            of_kind = {
                self.name(u)
                for u, x in uses
                if x == used and u in self.by_id and self.by_id[u].type == kind
            }
            every = {self.name(u) for u, x in uses if x == used}
            slots = {"a": self.name(used), "types": plural(kind)}
            yield Item("uses", slots, (of_kind, every))

    def refusals(self) -> Iterator[Item]:
        """Yield elements of which things are asked that no model has."""
        for e in self.pick(self.unique):
            yield Item("refused", {"a": e.name}, None)


def dependence(r: Any) -> list[tuple[str, str]]:
    """Return the pairs of a relation: what depends, and on what."""
    a, b = r.source.element_id, r.target.element_id
    if r.type in GIVES:
        return [(b, a)]
    if r.type in NEEDS:
        return [(a, b)]
    if r.source.cardinality or r.target.cardinality:
        ends = ((r.target, (a, b)), (r.source, (b, a)))
        return [pair for end, pair in ends if end.cardinality[:1] == "1"]
    return [(a, b)] if r.direction == "forward" else []


def plural(kind: str) -> str:
    """Return the plural of a type, in words."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith("s") else "s")


def is_exact(item: Item, template: str, answer: GraphAnswer) -> bool:
    """Return whether an answer is exactly the right one."""
    if item.kind == "refused" or answer.status == "refused":
        return item.kind == answer.status
    names = {e.name for e in answer.elements}
    gold = item.gold
    if item.kind == "uses":
        gold = gold[0 if "{types}" in template else 1]
    given: dict[str, Any] = {
        "path": len(answer.paths[0].steps) if answer.paths else 0,
        "type_of": gold if f" {gold}." in answer.text else "",
        "domain_of": {n.casefold() for n in names},
        "cardinality": {r.id for r in answer.relations},
    }
    default = answer.number if item.kind.startswith("count") else names
    return bool(given.get(item.kind, default) == gold)


def main() -> None:
    """Ask every question and print how many are answered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--show", action="store_true", help="print what is not exact")
    asked = parser.parse_args()
    with PHRASINGS.open(encoding="utf-8") as file:
        phrasings = list(csv.DictReader(file, delimiter="\t"))
    totals: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for name, model in read_models(asked.data):
        questions = GraphQuestions(graph_of(model))
        for item in list(Oracle(model, asked.seed).items()):
            for row in (p for p in phrasings if p["kind"] == item.kind):
                text = row["question"].format(**item.slots)
                answer = questions.answer(text)
                exact = is_exact(item, row["question"], answer)
                wrong = "refused" if answer.status == "refused" else "wrong"
                totals[name, row["split"]].update(
                    ["asked", "exact" if exact else wrong]
                )
                if asked.show and not exact:
                    print(
                        f"{row['split']} {item.kind}: {text}\n  {wrong}: {answer.text}"
                    )
                    print(f"  right: {item.gold}")
    columns = ("asked", "exact", "refused", "wrong")
    print("model", "phrasing", *columns, sep="\t")
    for split in sorted({split for _, split in totals}):
        totals["all", split] = sum(
            (n for (_, s), n in totals.items() if s == split), Counter()
        )
    for (name, split), numbers in totals.items():
        print(name, split, *(numbers[c] for c in columns), sep="\t")


if __name__ == "__main__":
    main()

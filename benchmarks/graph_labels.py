"""Questions in the words of a model: its edge labels and its properties.

uv run --no-sync python benchmarks/graph_labels.py [--seed N] [--show seen|unseen]

Four generated models with labels such as "owns", "is steward of" or "belongs to". The
right answers are read off the list of edges, without the graph. The rules were made
with the questions about the `seen` models; the `unseen` models, labels and phrasings
were written before the rules and only counted. Some questions have a word that no model
has, and must be refused. The target of a label's first edge is the source of another
one, so that an answer in the wrong direction is wrong.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from elt_llm_core.enterprise.model import (
    EnterpriseModel,
    ModelElement,
    ModelLocation,
    ModelRelation,
    RelationEnd,
)
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.graph_records import GraphAnswer
from elt_llm_core.graph.model_graph import graph_of


class Label(NamedTuple):
    """An edge label with its forms; `after` is the preposition behind the verb."""

    text: str
    verb: str = ""
    past: str = ""
    noun: str = ""
    after: str = ""


class Plan(NamedTuple):
    """What a model is generated from."""

    split: str
    names: tuple[str, ...]
    labels: tuple[Label, ...]
    property_name: str
    values: tuple[str, ...]


PLANS = (
    Plan(
        "seen",
        (
            "Archive Asset",
            "Archive Asset Owner",
            "Parish Council",
            "Ledger",
            "Hold Notice",
            "Receipt",
            "Vault",
            "Member of Staff",
            "Issue",
        ),
        (
            Label("owns", "own", "owned"),
            Label("issues", "issue", "issued"),
            Label("is steward of", noun="steward"),
            Label("belongs to", "belong", after="to"),
            Label("feeds", "feed", "fed"),
        ),
        "reviewer",
        ("A. Lind", "Board of Works"),
    ),
    Plan(
        "seen",
        (
            "Ward",
            "Ward Round",
            "Consultant",
            "Blood Sample",
            "Test Order",
            "Chart",
            "Pharmacy",
            "Dose",
        ),
        (
            Label("submits", "submit", "submitted"),
            Label("is approved by", "approve", "approved"),
            Label("reports to", "report", after="to"),
            Label("holds", "hold", "held"),
            Label("is part of", noun="part"),
        ),
        "data classification",
        ("Restricted", "Open"),
    ),
    Plan(
        "unseen",
        (
            "Signal",
            "Signal Box",
            "Track Section",
            "Driver",
            "Depot",
            "Timetable",
            "Line Manager",
            "Speed Limit",
            "Interlocking",
        ),
        (
            Label("controls", "control", "controlled"),
            Label("writes", "write", "written"),
            Label("is custodian of", noun="custodian"),
            Label("depends upon", "depend", after="upon"),
            Label("is checked by", "check", "checked"),
        ),
        "maintainer",
        ("North Team", "Contractor 7"),
    ),
    Plan(
        "unseen",
        (
            "Script",
            "Prop",
            "Prop Store",
            "Stage Manager",
            "Scene",
            "Costume",
            "Ticket Office",
            "Season Ticket",
        ),
        (
            Label("keeps", "keep", "kept"),
            Label("sells", "sell", "sold"),
            Label("is author of", noun="author"),
            Label("appears in", "appear", after="in"),
            Label("carries", "carry", "carried"),
        ),
        "insurance class",
        ("Class A", "Uninsured"),
    ),
)
# To ask for the source of an edge, {t} is the target; to ask for the target, {s}.
VERB = {
    "seen": (
        "Who {s3} {t}?", "What {s3} {t}?", "By what is {t} {past}?",
        "{t} is {past} by whom?", "What does {s} {verb}?", "What is {past} by {s}?",
        "Which elements does {s} {verb}?",
    ),
    "unseen": (
        "Which things {verb} {t}?", "Who is {t} {past} by?", "Tell me who {s3} {t}.",
        "List everything {s} {s3}.", "Which elements are {past} by {s}?",
        "{s} {s3} what?", "Can you tell me what {s} {s3}?",
    ),
}  # fmt: skip
PASSIVE = {  # of a label such as "is approved by": the target is who does it
    "seen": (
        "Who {s3} {s}?", "By whom is {s} {past}?", "What does {t} {verb}?",
        "What is {past} by {t}?",
    ),
    "unseen": (
        "Who is {s} {past} by?", "List the things that are {past} by {t}.",
        "Which elements {verb} {s}?",
    ),
}  # fmt: skip
NOUN = {
    "seen": (
        "Who is the {noun} of {t}?", "What is {noun} of {t}?",
        "What is {s} {noun} of?", "Of what is {s} the {noun}?",
    ),
    "unseen": (
        "Which element is the {noun} of {t}?", "Who is {t}'s {noun}?",
        "Name everything that {s} is {noun} of.",
    ),
}  # fmt: skip
AFTER = {
    "seen": (
        "What {s3} {after} {t}?", "What does {s} {verb} {after}?",
        "{after} what does {s} {verb}?",
    ),
    "unseen": (
        "Which elements {verb} {after} {t}?", "{s} {s3} {after} what?",
        "List the elements that {verb} {after} {t}.",
    ),
}  # fmt: skip
PROPERTY = {
    "seen": ("Who is the {p} of {e}?", "What is the {p} of {e}?", "{e} has which {p}?"),
    "unseen": (
        "What is {e}'s {p}?", "Which {p} does {e} have?", "Give the {p} of {e}.",
    ),
}  # fmt: skip
REFUSED = {
    "seen": ("Who painted {e}?", "Who {s3} {e} on Mondays?"),
    "unseen": (
        "Why does {e} exist?", "Who formerly {s3} {e}?", "Who cannot {verb} {e}?",
    ),
}  # fmt: skip


class Item(NamedTuple):
    """A question and its answer: names of elements, a value, or a refusal."""

    text: str
    names: frozenset[str] = frozenset()
    value: str = ""
    refused: bool = False


def generate_model(plan: Plan, rng: random.Random) -> EnterpriseModel:
    """Return a model with two or three edges of every label, the same for a seed."""
    elements = tuple(
        ModelElement(
            id=f"e{n}",
            name=name,
            type="DataObject",
            properties={plan.property_name: rng.choice(plan.values)},
            location=ModelLocation(file="generated", key=f"e{n}"),
        )
        for n, name in enumerate(plan.names)
    )
    edges = []
    for label in plan.labels:
        chosen = rng.sample(elements, 4)
        pairs = [(chosen[0], chosen[1]), (chosen[0], chosen[2]), (chosen[1], chosen[3])]
        edges += [(a, label.text, b) for a, b in pairs]
    relations = tuple(
        ModelRelation(
            id=f"r{n}",
            source=RelationEnd(element_id=a.id, name=a.name),
            target=RelationEnd(element_id=b.id, name=b.name),
            name=text,
            direction="forward",
        )
        for n, (a, text, b) in enumerate(edges)
    )
    return EnterpriseModel(
        name="generated",
        source_file="generated",
        format="drawio",
        elements=elements,
        relations=relations,
    )


def items(plan: Plan, model: EnterpriseModel) -> Iterator[Item]:
    """Yield the questions about a model with their answers."""
    for label in plan.labels:
        stated = [r for r in model.relations if r.name == label.text]
        edge = stated[0]
        sources = {r.source.name for r in stated if r.target == edge.target}
        targets = {r.target.name for r in stated if r.source == edge.source}
        for template in phrasings(plan.split, label):
            asks_source = "{t}" in template
            text = fill(template, label, s=edge.source.name, t=edge.target.name)
            yield Item(text, frozenset(sources if asks_source else targets))
        for template in REFUSED[plan.split]:
            if label.verb and label.past and "by" not in label.text:
                yield Item(
                    fill(template, label, e=edge.target.name), frozenset(), "", True
                )
    for element in model.elements[:2]:
        for template in PROPERTY[plan.split]:
            text = template.format(p=plan.property_name, e=element.name)
            yield Item(text, value=element.properties[plan.property_name])


def phrasings(split: str, label: Label) -> tuple[str, ...]:
    """Return the phrasings for a label, each with the end that it names."""
    if label.noun:
        return NOUN[split]
    if label.after:
        return AFTER[split]
    return PASSIVE[split] if label.text.endswith(" by") else VERB[split]


def fill(template: str, label: Label, **names: str) -> str:
    """Return a question, with the third person of the label's verb as `s3`."""
    active = "" if label.text.startswith("is ") else label.text.split()[0]
    text = template.format(
        **names,
        s3=active or f"{label.verb}s",
        verb=label.verb,
        past=label.past,
        noun=label.noun,
        after=label.after,
    )
    return text[0].upper() + text[1:]


def is_exact(item: Item, answer: GraphAnswer) -> bool:
    """Return whether an answer is exactly the right one."""
    if item.refused or answer.status == "refused":
        return item.refused == (answer.status == "refused")
    if item.value:
        return item.value in answer.text
    return {e.name for e in answer.elements} == item.names


def main() -> None:
    """Ask every question and print how many are answered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--models", type=int, default=1, help="of each plan")
    parser.add_argument("--show", choices=("seen", "unseen"))
    asked = parser.parse_args()
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for number, plan in enumerate(PLANS * asked.models):
        model = generate_model(plan, random.Random(asked.seed + number))  # noqa: S311 - chooses edges
        questions = GraphQuestions(graph_of(model))
        for item in items(plan, model):
            answer = questions.answer(item.text)
            exact = is_exact(item, answer)
            wrong = "refused" if answer.status == "refused" else "wrong"
            totals[plan.split].update(["asked", "exact" if exact else wrong])
            if asked.show == plan.split and not exact:
                print(f"{item.text}\n  {wrong}: {answer.text}\n  right: {item[1:]}")
    columns = ("asked", "exact", "refused", "wrong")
    print("phrasing", *columns, sep="\t")
    for split, numbers in totals.items():
        print(split, *(numbers[c] for c in columns), sep="\t")


if __name__ == "__main__":
    main()

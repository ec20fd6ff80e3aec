"""`elt-llm graph`: the enterprise model as a graph: explored, listed and drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.cli.terminal import count_of, escape_line, text_table

if TYPE_CHECKING:
    from elt_llm_core.graph.graph_records import (
        ElementDetail,
        GraphAnswer,
        GraphPath,
        GraphSummary,
        Neighbor,
        RelationRef,
    )
    from elt_llm_core.graph.model_check import ModelCheck, RuleOutcome
    from elt_llm_core.graph.model_graph import ModelGraph

SHOWN = 40  # rows of a printed list; --json has them all

collection_option = click.option(
    "--collection",
    "collections",
    multiple=True,
    type=COLLECTION,
    help="Collection with a model (repeatable). [default: all of them, joined]",
)
type_option = click.option(
    "--type", "types", multiple=True, help="Only elements of this type (repeatable)."
)
hops_option = click.option(
    "--hops", type=click.IntRange(1, 20), default=1, show_default=True
)


@click.group()
def graph() -> None:
    """The enterprise model as a graph: neighbours, paths, dependents, pictures.

    ELEMENT is a name in any case, a fact sheet id, or an id that the list shows.
    Drawings, inventories and exchange files of all collections are one model. Exit
    codes: 0 done, 2 there is no path, the question is refused or a rule fails, 64 no
    model, 65 no such element.
    """


@graph.command()
@click.argument("element", required=False)
@collection_option
@common_options
def show(ctx: CommandContext, element: str | None, collections: Sequence[str]) -> None:
    """Show the number of elements of each type, or all details of an ELEMENT."""
    model = _open(ctx, collections)
    if element is None:
        summary = model.summary()
        ctx.emit(summary, lambda: _summary_text(summary))
        return
    detail = model.detail(model.resolve(element).id)
    ctx.emit(detail, lambda: _detail_text(detail))


@graph.command("list")
@type_option
@click.option("--domain", default="", help="Only elements of this domain.")
@click.option(
    "--search",
    default="",
    help="Only elements with this text in their name or documentation.",
)
@collection_option
@common_options
def list_elements(
    ctx: CommandContext,
    types: Sequence[str],
    domain: str,
    search: str,
    collections: Sequence[str],
) -> None:
    """List the elements."""
    from elt_llm_core.graph.graph_records import ElementRef

    model = _open(ctx, collections)
    refs = [
        ElementRef.of(e)
        for e in model.elements(types=types, domain=domain, search=search)
    ]
    rows = [[r.name, r.type, r.domain, r.subtype, r.id] for r in refs]
    header = ("element", "type", "domain", "subtype", "id")
    ctx.emit(
        {"elements": [ref.model_dump(mode="json") for ref in refs]},
        lambda: text_table(header, rows) if rows else "No element matches.",
    )


@graph.command()
@click.argument("element")
@hops_option
@click.option(
    "--direction",
    type=click.Choice(["out", "in", "both"]),
    default="both",
    show_default=True,
    help="Follow relations forwards, backwards, or both.",
)
@type_option
@collection_option
@common_options
def neighbors(
    ctx: CommandContext, /, element: str, collections: Sequence[str], **how: Any
) -> None:
    """Show the elements related to an ELEMENT, up to --hops relations away."""
    model = _open(ctx, collections)
    start = model.resolve(element)
    around = model.neighbors(start.id, **how)
    _emit_neighbors(ctx, start.name, around, "is related to nothing")


@graph.command()
@click.argument("element")
@click.option("--reverse", is_flag=True, help="List what ELEMENT depends on instead.")
@click.option("--hops", type=click.IntRange(1, 20), default=20, show_default=True)
@collection_option
@common_options
def dependents(
    ctx: CommandContext,
    element: str,
    *,
    reverse: bool,
    hops: int,
    collections: Sequence[str],
) -> None:
    """Show what depends on an ELEMENT, directly or through others."""
    model = _open(ctx, collections)
    start = model.resolve(element)
    walk = model.dependencies if reverse else model.dependents
    nothing = "depends on nothing" if reverse else "has no dependents"
    _emit_neighbors(ctx, start.name, walk(start.id, hops), nothing)


@graph.command()
@click.argument("question")
@collection_option
@common_options
def ask(ctx: CommandContext, question: str, collections: Sequence[str]) -> None:
    """Answer a QUESTION about the model exactly, or refuse it.

    Counts, lists, domains, relations, paths, dependents and cardinalities, in English.
    A question with an unknown word is refused; the proof names elements and relations
    with their places in the file.
    """
    from elt_llm_core.graph.graph_questions import GraphQuestions

    answer = GraphQuestions(_open(ctx, collections)).answer(question)
    ctx.emit(answer, lambda: _answer_text(answer))
    if answer.status == "refused":
        ctx.exit(2)


@graph.command()
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="RULE=SHARE",
    help="Fraction of violations allowed for a rule, from 0 to 1 (repeatable).",
)
@collection_option
@common_options
def check(
    ctx: CommandContext, thresholds: Sequence[str], collections: Sequence[str]
) -> None:
    """Check the model against rules: names, groups, relations, documentation.

    A rule passes while the fraction of violations is at most its threshold. Exit code 2
    if a rule fails.
    """
    from elt_llm_core.graph.model_check import check_model, read_threshold

    shares = dict(map(read_threshold, thresholds))
    outcome = check_model(_open(ctx, collections), shares)
    ctx.emit(outcome, lambda: _check_text(outcome))
    if not outcome.passed:
        ctx.exit(2)


@graph.command()
@click.argument("source")
@click.argument("target")
@click.option(
    "--directed", is_flag=True, help="Follow relations in their direction only."
)
@click.option("--most", type=click.IntRange(1, 50), default=3, show_default=True)
@collection_option
@common_options
def path(
    ctx: CommandContext,
    source: str,
    target: str,
    *,
    directed: bool,
    most: int,
    collections: Sequence[str],
) -> None:
    """Show the shortest paths from SOURCE to TARGET."""
    model = _open(ctx, collections)
    ends = model.resolve(source), model.resolve(target)
    ways = model.paths(ends[0].id, ends[1].id, most=most, directed=directed)

    def human() -> str:
        if not ways:
            return f"There is no path between {ends[0].name} and {ends[1].name}."
        if ends[0].id == ends[1].id:
            return f"{escape_line(ends[0].name)}: both ends are the same element."
        return "\n\n".join(map(_path_text, ways))

    ctx.emit({"paths": [way.model_dump(mode="json") for way in ways]}, human)
    if not ways:
        ctx.exit(2)


@graph.command()
@click.option(
    "--format",
    "kind",
    type=click.Choice(["mermaid", "svg", "json"]),
    default="mermaid",
    show_default=True,
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Output file. [default: standard output]",
)
@click.option("--element", default="", help="Only this element and its neighbours.")
@hops_option
@click.option("--domain", default="", help="Only this domain.")
@click.option("--view", default="", help="Only this view or page.")
@collection_option
@common_options
def export(
    ctx: CommandContext,
    /,
    kind: str,
    target: Path | None,
    collections: Sequence[str],
    **part: Any,
) -> None:
    """Write the model, or a part of it, as a picture or as data."""
    from elt_llm_core.cli.terminal import json_text
    from elt_llm_core.files.atomic import write_named_file
    from elt_llm_core.graph.diagram import DiagramScope, draw_diagram
    from elt_llm_core.graph.drawing import mermaid_text, svg_text

    model = _open(ctx, collections)
    diagram = draw_diagram(model, DiagramScope(**part, most=len(model.model.elements)))
    if kind == "json":
        text = json_text(diagram.model_dump(mode="json")) + "\n"
    else:
        text = {"mermaid": mermaid_text, "svg": svg_text}[kind](diagram)
    if target is None:
        ctx.emit({"format": kind, "text": text}, text.rstrip("\n"))
        return
    write_named_file(target, text)
    counts = {"elements": len(diagram.nodes), "relations": len(diagram.edges)}
    ctx.emit(
        {"file": str(target), **counts},
        f"{target}: {count_of(len(diagram.nodes), 'element')}, "
        f"{count_of(len(diagram.edges), 'relation')}",
    )


def _open(ctx: CommandContext, collections: Sequence[str]) -> "ModelGraph":
    ctx.require_named_data()
    from elt_llm_core.graph.model_graph import open_graph

    return open_graph(ctx.store, collections)


def _summary_text(summary: "GraphSummary") -> str:
    roles = [f"{role} {n}" for role, n in summary.roles.items() if role != "note"]
    whose = summary.organisation
    lines = [
        f"{escape_line(summary.name)} ({escape_line(', '.join(summary.files))})",
        *([f"organisation: {escape_line(whose)}"] if whose else []),
        (
            f"{count_of(summary.elements, 'element')} "
            f"({', '.join(roles)}), "
            f"{count_of(summary.relations, 'relation')}, "
            f"{count_of(summary.views, 'view')}; "
            f"left out of the files: {count_of(summary.skips, 'thing')}"
        ),
    ]
    for title, counts in (
        ("types of entities", summary.types),
        ("entities in each domain", summary.domains),
        ("relations", summary.relation_types),
    ):
        rows = [[name, str(n)] for name, n in counts.items()]
        lines += ["", text_table((title, ""), rows)] if rows else []
    return "\n".join(lines)


def _detail_text(detail: "ElementDetail") -> str:
    element = detail.element
    labelled = {
        "Type": element.type,
        "Role": element.role,
        "In": " < ".join(ref.name for ref in detail.above),
        "Id": element.id,
        "Attributes": ", ".join(element.attributes),
        **element.properties,
        "Documentation": element.documentation,
        "Holds": ", ".join(ref.name for ref in detail.children),
        "Views": ", ".join(detail.views),
    }
    lines = [escape_line(element.name)]
    lines += [f"  {escape_line(k)}: {escape_line(v)}" for k, v in labelled.items() if v]
    for title, relations in (
        ("Relations", detail.relations),
        ("Relations of its containers", detail.inherited),
    ):
        lines += [f"{title}:", *_relation_lines(relations)] if relations else []
    return "\n".join(lines)


def _relation_lines(relations: "Sequence[RelationRef]") -> list[str]:
    return [f"  {escape_line(r.label)}" for r in relations]


def _emit_neighbors(
    ctx: CommandContext, name: str, around: "Sequence[Neighbor]", nothing: str
) -> None:
    def human() -> str:
        rows = [
            [str(n.distance), n.element.label, " ".join(r.text for r in n.relations)]
            for n in around
        ]
        if not rows:
            return f"{escape_line(name)} {nothing}."
        more = [f"({len(rows) - SHOWN} more with --json)"] if len(rows) > SHOWN else []
        table = text_table(("steps", "element", "by"), rows[:SHOWN])
        return "\n".join([table, *more])

    ctx.emit({"neighbors": [n.model_dump(mode="json") for n in around]}, human)


def _answer_text(answer: "GraphAnswer") -> str:
    proof = answer.proof
    rows = [[ref.location.label, ref.label] for ref in proof[:SHOWN]]
    lines = [escape_line(answer.text)]
    lines += ["", text_table(("proof", ""), rows)] if rows else []
    if len(proof) > SHOWN:
        lines.append(f"({len(proof) - SHOWN} more with --json)")
    return "\n".join(lines)


def _check_text(outcome: "ModelCheck") -> str:
    rows = [
        [
            "kept" if rule.passed else "broken",
            rule.rule,
            rule.title,
            f"{rule.broken} of {rule.checked}",
            f"{rule.threshold:g}",
        ]
        for rule in outcome.rules
    ]
    lines = [text_table(("", "rule", "demands", "break it", "allowed share"), rows)]
    for rule in outcome.rules:
        if not rule.passed:
            lines += ["", f"{rule.rule} {rule.title}:", *_broken_lines(rule)]
    return "\n".join(lines)


def _broken_lines(rule: "RuleOutcome") -> list[str]:
    texts = [f"  {e.label} ({e.location.label})" for e in rule.elements]
    texts += [f"  {r.label} ({r.location.label})" for r in rule.relations]
    texts += [f"  {skip}" for skip in rule.skips]
    more = [f"  ({len(texts) - SHOWN} more with --json)"] if len(texts) > SHOWN else []
    return [*map(escape_line, texts[:SHOWN]), *more]


def _path_text(way: "GraphPath") -> str:
    lines = []
    for step in way.steps:
        lines.append(
            f"  {escape_line(step.source.label)} -> {escape_line(step.target.label)}"
        )
        lines.append(f"    {escape_line(step.text)}")
    return "\n".join(lines)

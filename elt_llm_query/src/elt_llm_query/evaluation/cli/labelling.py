"""`elt-llm eval questions` and `feedback`: how labelled questions come about."""

from pathlib import Path

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_query.evaluation.cli.options import OUT


@click.command()
@click.argument("collection")
@click.option("--output", type=OUT, required=True, help="JSON lines, added at the end.")
@click.option("--count", type=click.IntRange(1, 10_000), default=50, show_default=True)
@common_options
def questions(
    ctx: CommandContext, collection: str, *, output: Path, count: int
) -> None:
    """Let the language model write questions about a COLLECTION.

    They are candidates: set `status` to accepted or rejected in the file. Exit code 2:
    some chunks gave no question, the others are written. 69: the model server is away;
    what was made before is written.
    """
    from elt_llm_core.cli.failures import PARTIAL
    from elt_llm_query.evaluation.generating import generate
    from elt_llm_query.evaluation.labelled import append

    nodes = list(ctx.store.nodes(collection))
    found = generate(nodes, ctx.models.llm, count, ctx.progress)
    if found.failure and not found.lines:
        raise found.failure
    if found.lines:
        append(output, found.lines)
    told = {
        "written": len(found.lines),
        "file": str(output) if found.lines else None,
        "problems": [one.detail for one in found.problems],
    }
    lines = [f"{len(found.lines)} candidates added to {output}"]
    lines += [f"! {one.detail}" for one in found.problems]
    ctx.emit(told, "\n".join(lines))
    if found.failure and found.ended_early:
        ctx.exit(found.failure.exit_code)
    if found.problems:
        ctx.exit(PARTIAL)


@click.command()
@click.option("--question", required=True, help="What was asked.")
@click.option(
    "--collection", required=True, type=COLLECTION, help="Where the chunk is."
)
@click.option("--chunk", required=True, help="Id of a chunk, as `search --json` tells.")
@click.option("--relevant/--not-relevant", required=True, help="Does it answer?")
@click.option("--output", type=OUT, required=True, help="JSON lines, added at the end.")
@common_options
def feedback(
    ctx: CommandContext,
    *,
    question: str,
    collection: str,
    chunk: str,
    relevant: bool,
    output: Path,
) -> None:
    """Add a user's judgement to a file of labelled questions."""
    from elt_llm_core.errors import UsageError
    from elt_llm_core.provenance import read
    from elt_llm_query.evaluation.labelled import Gold, Labelled, append

    node = ctx.store.nodes_by_id(collection, [chunk]).get(chunk)
    if node is None:
        raise UsageError(
            f"the collection {collection!r} has no chunk {chunk!r}",
            "its ids: elt-llm search QUESTION --json",
        )
    place = read(node)
    # The text is said too: it is found again when chunks are cut anew.
    gold = Gold(document=place.document, page=place.page, quote=node.text, chunk=chunk)
    side = {"gold": (gold,)} if relevant else {"wrong": (gold,)}
    line = Labelled(question=question, **side)
    append(output, [line])
    said = "answers" if relevant else "does not answer"
    ctx.emit(line, f"noted in {output}: {place.document} {said} {question!r}")

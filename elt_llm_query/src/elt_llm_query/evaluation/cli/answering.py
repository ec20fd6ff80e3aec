"""`elt-llm eval answers`."""

from pathlib import Path

import click

from elt_llm_core.cli.common import CommandContext, common_options
from elt_llm_query.evaluation.cli.options import FILE, collection_option


@click.command()
@click.option("--questions", "file", type=FILE, required=True, help="JSON lines.")
@collection_option
@click.option("--judge", is_flag=True, help="Let the language model judge as well.")
@common_options
def answers(
    ctx: CommandContext, *, file: Path, collections: tuple[str, ...], judge: bool
) -> None:
    """Measure answers to labelled questions: citations, quotes, refusals.

    With --judge the configured language model says whether each answer is faithful to
    its sources and relevant. Exit code 2: lines were left out, or could not be judged;
    the others are good.
    """
    from elt_llm_core.cli.failures import PARTIAL
    from elt_llm_core.results import QueryResult
    from elt_llm_query.evaluation.answering import Judge, Marker, answers_text
    from elt_llm_query.evaluation.labelled import read_labelled
    from elt_llm_query.query import query_collections
    from elt_llm_query.render import names_of

    names = names_of(ctx.store, collections)
    lines, problems = read_labelled(file)
    models = ctx.models

    def answer(question: str) -> QueryResult:
        """The product's own answer."""
        return query_collections(
            names, question, store=ctx.store, config=ctx.config, models=models
        )

    marker = Marker(ctx.store, names, answer, Judge(models.llm) if judge else None)
    found = marker.mark(lines, ctx.progress)
    found = found.model_copy(update={"problems": (*problems, *found.problems)})
    ctx.emit(found, lambda: answers_text(found))
    if found.problems:
        ctx.exit(PARTIAL)

"""What the measuring commands share: which questions are asked of what."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from typing_extensions import override

from elt_llm_core.cli.common import COLLECTION, CommandContext
from elt_llm_core.errors import UsageError
from elt_llm_query.evaluation.names import SPOKEN, known

if TYPE_CHECKING:
    from elt_llm_query.evaluation.collection_ground import CollectionGround
    from elt_llm_query.evaluation.grounds import Ground

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
OUT = click.Path(path_type=Path, dir_okay=False)

collection_option = click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    multiple=True,
    help="Collection to ask; may be given again.  [default: all]",
)
cache_option = click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where indexes are kept.  [default: the user's cache]",
)


class Measure(click.Choice[str]):
    """A measure by either of its names; shown are those of the tables."""

    def __init__(self) -> None:
        super().__init__(SPOKEN)

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        return known(str(value)) or super().convert(value, param, ctx)


class Asking:
    """Where questions are from; see `ground`."""

    def __init__(self, **given: Any) -> None:
        self._given = given

    def ground(self, ctx: CommandContext) -> "Ground":
        """The test set, or the user's questions over his collections."""
        from elt_llm_query.evaluation.beir import read_beir
        from elt_llm_query.evaluation.configurations import text_of
        from elt_llm_query.evaluation.grounds import BeirGround

        data, questions = self._given["data"], self._given["questions"]
        if (data is None) == (questions is None):
            raise UsageError(
                "either --data or --questions is needed, and not both",
                "--data FOLDER is a test set, --questions FILE are questions of yours",
            )
        if questions is not None:
            return self._own(ctx)
        tests = read_beir(data, self._given["split"], self._given["limit"])
        return BeirGround(tests, self._cache(), text_of(self._given["text_options"]))

    def _own(self, ctx: CommandContext) -> "CollectionGround":
        return own_ground(
            ctx, self._given["questions"], self._given["collections"], self._cache()
        )

    def _cache(self) -> Path:
        from elt_llm_query.evaluation.grounds import cache_folder

        return self._given["cache"] or cache_folder()


def own_ground(
    ctx: CommandContext, questions: Path, collections: tuple[str, ...], cache: Path
) -> "CollectionGround":
    """Labelled questions over the collections given, else over all."""
    from elt_llm_query.evaluation.collection_ground import CollectionGround
    from elt_llm_query.evaluation.labelled import read_labelled
    from elt_llm_query.render import names_of

    lines, problems = read_labelled(questions)
    return CollectionGround(
        name=questions.name,
        lines=lines,
        problems=problems,
        collections=tuple(names_of(ctx.store, collections)),
        config=ctx.config,
        folder=cache,
    )


def asking_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the function gets an `Asking` as `asking`."""

    @click.option("--data", type=FOLDER, help="Test set: a folder in the BEIR layout.")
    @click.option("--split", default="dev", show_default=True, help="qrels/SPLIT.tsv.")
    @click.option("--limit", type=click.IntRange(1), help="Only its first questions.")
    @click.option(
        "--text",
        "text_options",
        multiple=True,
        metavar="KEY=VALUE",
        help="What of it is indexed: title=false, tokens=200, document=KEY, "
        "section=KEY (keys of the passages' metadata).",
    )
    @click.option("--questions", type=FILE, help="Questions of your own, JSON lines.")
    @collection_option
    @cache_option
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        names = ("data", "split", "limit", "text_options", "questions", "collections")
        given = {name: kwargs.pop(name) for name in (*names, "cache")}
        return function(*args, asking=Asking(**given), **kwargs)

    return wrapper


def setting_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --preset, --set and --sweep."""
    options = [
        click.option(
            "--preset",
            "presets",
            multiple=True,
            help="Profile to measure; may be given again.",
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="KEY=VALUE",
            help="Setting of all configurations, as query.fusion_strategy=rrf.",
        ),
        click.option("--sweep", type=FILE, help="YAML file of configurations."),
    ]
    for option in reversed(options):
        function = option(function)
    return function

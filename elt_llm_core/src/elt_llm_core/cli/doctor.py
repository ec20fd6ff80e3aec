"""`elt-llm doctor`: check the system, and how to fix problems."""

from typing import TYPE_CHECKING

import click

from elt_llm_core.cli.common import CommandContext, common_options

if TYPE_CHECKING:
    from elt_llm_core.doctor import Check, Repaired

BAD_DATA = 65


@click.command()
@click.option("--deep", is_flag=True, help="Read every row, backup and index.")
@click.option(
    "--repair",
    is_flag=True,
    help="Rebuild indexes from the database and delete leftovers. "
    "Nothing is re-embedded.",
)
@common_options
def doctor(ctx: CommandContext, *, deep: bool, repair: bool) -> None:
    """Check this machine, the data root, the indexes and the models.

    Every line is OK, WARN or FAIL, with the command that fixes it. The exit code is 65
    if a line says FAIL.
    """
    from elt_llm_core.doctor import Level, Repaired, examine
    from elt_llm_core.doctor import repair as mend

    done = mend(ctx.config, ctx.store) if repair else Repaired()
    checks = examine(ctx.config, ctx.store, deep=deep)
    checks = [c.model_copy(update={"fix": ctx.hint(c.fix)}) for c in checks]
    shown = [check.model_dump(mode="json") for check in checks]
    ctx.emit(
        {"checks": shown, **done.model_dump(mode="json")}, lambda: _human(checks, done)
    )
    failed = done.failed or any(check.level is Level.FAIL for check in checks)
    ctx.exit(BAD_DATA if failed else 0)


def _human(checks: "list[Check]", done: "Repaired") -> str:
    lines = [f"rebuilt {name}: generation {n}" for name, n in done.rebuilt.items()]
    lines += [f"could not rebuild {name}: {why}" for name, why in done.failed.items()]
    lines += [f"removed {name}" for name in done.removed]
    lines += ["rebuilt the word table"] if done.words else []
    if done.vectors:
        lines.append(f"deleted {done.vectors} damaged cached vectors")
    width = max(len(check.name) for check in checks) + 2
    for check in checks:
        lines.append(f"{check.level:<6}{check.name:<{width}}{check.detail}")
        if check.fix:
            lines.append(f"{'':<{width + 6}}fix: {check.fix}")
    return "\n".join(lines)

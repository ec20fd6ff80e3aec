"""`elt-llm doctor`: is everything well, and if not, what mends it."""

import click

from elt_llm_core.cli.common import CommandContext, common_options


@click.command()
@click.option("--repair", is_flag=True, help="Rebuild indexes that cannot serve.")
@common_options
def doctor(ctx: CommandContext, *, repair: bool) -> None:
    """Check this machine, the data root, the indexes and the models."""
    from elt_llm_core.doctor import Level, examine, repair_indexes

    rebuilt = repair_indexes(ctx.config, ctx.store) if repair else {}
    checks = examine(ctx.config, ctx.store)

    def human() -> str:
        lines = [f"rebuilt {name}: generation {n}" for name, n in rebuilt.items()]
        width = max(len(check.name) for check in checks) + 2
        for check in checks:
            lines.append(f"{check.level:<6}{check.name:<{width}}{check.detail}")
            if check.fix:
                lines.append(f"{'':<{width + 6}}fix: {check.fix}")
        return "\n".join(lines)

    shown = [check.model_dump(mode="json") for check in checks]
    ctx.emit({"checks": shown, "rebuilt": rebuilt}, human)
    ctx.exit(1 if any(check.level is Level.FAIL for check in checks) else 0)

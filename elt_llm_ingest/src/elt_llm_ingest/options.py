"""Options that several commands share."""

from collections.abc import Sequence

import click

ASK = "-"

password_option = click.option(
    "--password",
    multiple=True,
    metavar="TEXT",
    help="Of protected PDFs, several if need be; - asks for it. Or ELT_LLM_PASSWORD.",
)


def said_passwords(given: Sequence[str]) -> tuple[str, ...]:
    """The passwords of a command line, each `-` of it asked for on the terminal."""
    return tuple(
        click.prompt("Password", hide_input=True, err=True) if word == ASK else word
        for word in given
    )

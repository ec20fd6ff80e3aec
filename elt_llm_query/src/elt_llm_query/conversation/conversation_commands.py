"""`elt-llm conversations`: the stored conversations of the data root."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from elt_llm_core.cli.common import CommandContext, common_options
from elt_llm_core.cli.terminal import escape_line, text_table

if TYPE_CHECKING:
    from elt_llm_core.conversation import Conversation

_owner = click.option(
    "--owner",
    default="local",
    show_default=True,
    help="Owner of the conversations; those of the terminal belong to `local`.",
)
_conversation = click.argument("conversation")


@click.group()
def conversations() -> None:
    """List, show, export, rename and delete conversations."""


@conversations.command("list")
@_owner
@common_options
def list_conversations(ctx: CommandContext, owner: str) -> None:
    """List conversations, the most recently used first."""
    ctx.require_named_data()
    rows = ctx.store.conversations.by_owner(owner)

    def human() -> str:
        if not rows:
            return "No conversations yet."
        header = ("conversation", "last used", "messages", "title or first question")
        table = [
            (
                row.conversation_id,
                row.last_used,
                str(row.message_count),
                escape_line(row.title or row.first_message),
            )
            for row in rows
        ]
        return text_table(header, table)

    plain = [row.model_dump(mode="json") for row in rows]
    ctx.emit({"conversations": plain}, human)


@conversations.command("show")
@_conversation
@_owner
@common_options
def show_conversation(ctx: CommandContext, conversation: str, owner: str) -> None:
    """Print a CONVERSATION with the numbers of its sources."""
    from elt_llm_query.conversation.conversation_text import conversation_text

    held = _read(ctx, conversation, owner)
    ctx.emit(held, lambda: conversation_text(held))


@conversations.command("export")
@_conversation
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_owner
@common_options
def export_command(
    ctx: CommandContext, conversation: str, file: Path, owner: str
) -> None:
    """Write a CONVERSATION to FILE: .md, .html, or .bib for what it cites."""
    from elt_llm_core.files.atomic import write_named_file
    from elt_llm_query.conversation.export import export_conversation, format_of

    form = format_of(file)
    text = export_conversation(_read(ctx, conversation, owner), form)
    write_named_file(file, text)
    ctx.emit({"file": str(file), "format": form}, f"Written: {file}")


@conversations.command("rename")
@_conversation
@click.argument("title")
@_owner
@common_options
def rename_conversation(
    ctx: CommandContext, conversation: str, title: str, owner: str
) -> None:
    """Change the TITLE of a CONVERSATION."""
    ctx.require_named_data()
    ctx.store.conversations.rename(conversation, owner, title)
    ctx.emit({"conversation": conversation, "title": title.strip()}, "Renamed.")


@conversations.command("delete")
@_conversation
@_owner
@common_options
def delete_conversation(ctx: CommandContext, conversation: str, owner: str) -> None:
    """Delete a CONVERSATION; `elt-llm store purge` erases its bytes from the files."""
    ctx.require_named_data()
    ctx.store.conversations.delete(conversation, owner)
    ctx.emit({"deleted": conversation}, "Deleted.")


def _read(ctx: CommandContext, conversation: str, owner: str) -> "Conversation":
    ctx.require_named_data()
    return ctx.store.conversations.read(conversation, owner)

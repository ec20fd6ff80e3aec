"""Conversations and their sources as text for people."""

from collections.abc import Sequence

from elt_llm_core.cli.terminal import Styled, escape_controls, escape_line, one_line
from elt_llm_core.conversation import Conversation, Speaker
from elt_llm_query.conversation.source_numbers import (
    NumberedSource,
    number_sources,
    numbered_sources,
    show_text,
)


def conversation_text(conversation: Conversation) -> str:
    """Return every message, then the numbered sources."""
    numbers = number_sources(conversation.messages)
    lines = []
    for message in conversation.messages:
        if message.role is Speaker.USER:
            lines += [f"> {escape_controls(message.text)}", ""]
            continue
        if message.searched:
            lines += [f"Understood as: {escape_line(message.searched)}", ""]
        lines += [escape_controls(show_text(message.text, numbers)), ""]
    sources = numbered_sources(conversation)
    return Styled("\n".join([*lines, *source_lines(sources)]).rstrip())


def source_lines(sources: Sequence[NumberedSource]) -> list[str]:
    """Return a line with the place of each source, and one for each quote."""
    lines = []
    for source in sources:
        page = f"p. {source.page}" if source.page is not None else ""
        place = ", ".join(p for p in (source.document, page, source.section) if p)
        lines.append(escape_line(f"[{source.number}] {place}"))
        lines += [f'     "{one_line(quote)}"' for quote in source.quotes]
    return lines

"""The conversations of a user: listed, read, renamed, exported and deleted."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from elt_llm_api.chat_schemas import (
    CONVERSATION_ID,
    ConversationList,
    ConversationOut,
    ConversationPatch,
    UndoOut,
)
from elt_llm_api.routes.dependencies import Data, Owner, problems
from elt_llm_query.conversation.export import ENDINGS, export_conversation

router = APIRouter(prefix="/v1/conversations", tags=["chat"])
Key = Annotated[str, Path(pattern=CONVERSATION_ID)]
PROBLEMS = problems(404, 422)
TYPES = {
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "bibtex": "application/x-bibtex; charset=utf-8",
}


@router.get("", operation_id="list_conversations")
def list_conversations(
    store: Data,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[
        int, Query(ge=0, description="next_cursor of the previous page")
    ] = 0,
) -> ConversationList:
    """Your conversations, the most recently used first."""
    end = cursor + limit
    rows = store.conversations.by_owner(owner, end + 1)
    more = end < len(rows)
    return ConversationList(
        data=list(rows[cursor:end]), has_more=more, next_cursor=end if more else None
    )


@router.get("/{conversation_id}", operation_id="get_conversation", responses=PROBLEMS)
def get_conversation(
    conversation_id: Key, store: Data, owner: Owner
) -> ConversationOut:
    """A conversation with its messages and their citations."""
    return ConversationOut.of(store.conversations.read(conversation_id, owner))


@router.patch(
    "/{conversation_id}", operation_id="rename_conversation", responses=PROBLEMS
)
def rename_conversation(
    conversation_id: Key, body: ConversationPatch, store: Data, owner: Owner
) -> ConversationOut:
    """Change the title of a conversation."""
    store.conversations.rename(conversation_id, owner, body.title)
    return get_conversation(conversation_id, store, owner)


@router.delete(
    "/{conversation_id}",
    operation_id="delete_conversation",
    status_code=204,
    responses=PROBLEMS,
)
def delete_conversation(conversation_id: Key, store: Data, owner: Owner) -> None:
    """Delete a conversation; the next purge erases its bytes."""
    store.conversations.delete(conversation_id, owner)


@router.post("/{conversation_id}/undo", operation_id="undo_turn", responses=PROBLEMS)
def undo_turn(conversation_id: Key, store: Data, owner: Owner) -> UndoOut:
    """Remove the last question and its answer, to ask it again or differently."""
    return UndoOut(message=store.conversations.undo(conversation_id, owner))


@router.get(
    "/{conversation_id}/export.{form}",
    operation_id="export_conversation",
    responses=PROBLEMS,
    response_class=Response,
)
def export(
    conversation_id: Key,
    form: Annotated[str, Path(pattern="^(markdown|html|bibtex|md|bib)$")],
    store: Data,
    owner: Owner,
) -> Response:
    """A conversation as a file for saving; `md` is `markdown`, `bib` is `bibtex`."""
    form = ENDINGS.get(f".{form}", form)
    conversation = store.conversations.read(conversation_id, owner)
    text = export_conversation(conversation, form)
    ending = next(end for end, name in ENDINGS.items() if name == form)
    name = f'attachment; filename="{conversation_id}{ending}"'
    headers = {"content-disposition": name}
    return Response(text, media_type=TYPES[form], headers=headers)

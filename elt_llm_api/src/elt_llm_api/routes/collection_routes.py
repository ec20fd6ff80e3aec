"""Collections, their documents and their tables."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from elt_llm_api.routes.dependencies import Data, Jobs, problems
from elt_llm_api.schemas import (
    CollectionList,
    CollectionOut,
    DocumentList,
    DocumentOut,
    Renaming,
    TableList,
    TableOut,
)
from elt_llm_api.services import stored_documents
from elt_llm_api.services.collection_edits import change, remove
from elt_llm_api.services.stored_documents import find_table, open_collections
from elt_llm_core.tables import Relation

router = APIRouter(prefix="/v1/collections", tags=["collections"])
Name = Annotated[str, Path(max_length=200, examples=["handbook"])]


@router.get("", operation_id="list_collections")
def list_collections(store: Data) -> CollectionList:
    """Every collection, with the state of its index."""
    return CollectionList(data=[CollectionOut.of(c) for c in open_collections(store)])


@router.get("/{name}", operation_id="get_collection", responses=problems(404, 422))
def get_collection(name: Name, store: Data) -> CollectionOut:
    """One collection, with the state of its index."""
    return CollectionOut.of(store.open(name))


@router.delete(
    "/{name}",
    operation_id="remove_collection",
    status_code=204,
    responses=problems(404, 409, 422),
)
def remove_collection(name: Name, store: Data, jobs: Jobs) -> None:
    """Remove a collection with its documents and indexes."""
    jobs.check_idle()
    remove(store, name)


@router.patch(
    "/{name}", operation_id="rename_collection", responses=problems(404, 409, 422)
)
def rename_collection(
    name: Name, body: Renaming, store: Data, jobs: Jobs
) -> CollectionOut:
    """Change a collection's title or priority; its id stays."""
    jobs.check_idle()
    change(store, name, body.title, body.priority)
    return CollectionOut.of(store.open(name))


@router.get(
    "/{name}/documents", operation_id="list_documents", responses=problems(404, 422)
)
def list_documents(
    name: Name,
    store: Data,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[
        int, Query(ge=0, description="next_cursor of the previous page")
    ] = 0,
) -> DocumentList:
    """The documents of a collection, by source and part."""
    rows = store.documents(store.card(name).name)
    end = cursor + limit
    return DocumentList(
        data=[DocumentOut.of(row) for row in rows[cursor:end]],
        has_more=end < len(rows),
        next_cursor=end if end < len(rows) else None,
    )


@router.get("/{name}/tables", operation_id="list_tables", responses=problems(404, 422))
def list_tables(
    name: Name,
    store: Data,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[
        int, Query(ge=0, description="next_cursor of the previous page")
    ] = 0,
) -> TableList:
    """The tables of a collection, in the order of its documents, without their rows."""
    relations = stored_documents.list_tables(store, name)
    end = cursor + limit
    return TableList(
        data=[TableOut.of(one) for one in relations[cursor:end]],
        has_more=end < len(relations),
        next_cursor=end if end < len(relations) else None,
    )


@router.get(
    "/{name}/tables/{table_id}",
    operation_id="get_table",
    responses=problems(404, 422),
)
def get_table(
    name: Name, table_id: Annotated[str, Path(max_length=100)], store: Data
) -> Relation:
    """One table with its rows; each cell has its text, value and place."""
    return find_table(store, name, table_id)

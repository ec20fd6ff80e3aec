"""The tools of MCP with the SDK's own client: a real subprocess, and a real server."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from endless_server import EndlessServer, Way
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from elt_llm_core.config.sections import ApiSection, RagConfig
from elt_llm_core.results import QueryResult, SearchResult, Status
from elt_llm_core.store import Store
from test_load import LONG, written_by

TOOLS = {"ask", "search", "read", "tables", "collections", "glossary", "graph"}
COMMAND = [sys.executable, "-c", "from elt_llm_core.cli import main; main()", "mcp"]
FEE = "What is the registration fee for each Player?"
TOKEN = "a-token-of-more-than-16-letters"  # noqa: S105 - of a test


def parameters(root) -> StdioServerParameters:
    command, *arguments = [*COMMAND, "--data-dir", str(root)]
    return StdioServerParameters(
        command=command, args=arguments, env=dict(os.environ), cwd="/"
    )


@asynccontextmanager
async def over_http(url, token=""):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=LONG) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


@pytest.fixture(scope="module")
def by_stdio(filled_root, tmp_path_factory):
    """Calls a coroutine function with the client of one process for all tests.

    None of these calls changes its data.
    """
    copy = shutil.copytree(filled_root, tmp_path_factory.mktemp("mcp") / "data")
    with start_blocking_portal() as portal:
        connected = Client(stdio_client(parameters(copy)))
        with portal.wrap_async_context_manager(connected) as client:
            yield lambda work: portal.start_task_soon(work, client).result(120)


@pytest.fixture(params=["stdio", "http"])
def use(request):
    """Calls a coroutine function with a client that is connected."""
    if request.param == "stdio":
        return request.getfixturevalue("by_stdio")
    server = request.getfixturevalue("server")

    async def connected(work):
        async with over_http(server) as client:
            return await work(client)

    return lambda work: asyncio.run(asyncio.wait_for(connected(work), 120))


@pytest.fixture
def document(filled_root):
    """The id and the text of the only document."""
    store = Store(filled_root)
    (row,) = store.documents("handbook")
    text = store.document_text(row.document_id)
    store.close()
    return row.document_id, text


async def call(client, name, **arguments):
    """A result, after its structured content was checked against the tool's schema."""
    schemas = {t.name: t.output_schema for t in (await client.list_tools()).tools}
    assert schemas.keys() == TOOLS
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    Draft202012Validator(schemas[name]).validate(result.structured_content)
    return result


@pytest.mark.network
def test_an_answer_is_whole_and_links_to_its_pages(use):
    async def work(client):
        answer = await call(client, "ask", question=FEE, collections=["handbook"])
        whole = QueryResult.model_validate(answer.structured_content)
        assert whole.status is Status.ANSWERED
        assert "25 pounds" in answer.content[0].text
        assert whole.citations[0].quote in answer.content[0].text
        link = answer.content[1]
        assert (link.type, link.mime_type) == ("resource_link", "image/jpeg")
        picture = (await client.read_resource(link.uri)).contents[0]
        assert base64.b64decode(picture.blob).startswith(b"\xff\xd8\xff")
        passages = await call(client, "search", question="suspend a Player", limit=1)
        (source,) = SearchResult.model_validate(passages.structured_content).sources
        assert source.text in passages.content[0].text

    use(work)


@pytest.mark.network
def test_a_part_of_a_document_is_its_text(use, document):
    key, text = document

    async def read(client, **arguments):
        part = (await call(client, "read", **arguments)).structured_content
        assert part["text"] == text[part["start"] : part["end"]]
        return part

    async def work(client):
        page = await read(client, document=key, page=2)
        assert page["pages"] == [2]
        assert "registration fee" in page["text"]
        part = await read(client, document="handbook.pdf", section="3 discipline")
        assert "six matches" in part["text"]
        assert "registration fee" not in part["text"]
        begin = await read(client, document="handbook.pdf")
        assert "2 Registration" in begin["sections"]
        rest = await read(client, document="handbook.pdf", start=part["start"])
        assert rest["text"].startswith("3 Discipline")
        assert rest["sections"] == []

    use(work)


@pytest.mark.network
def test_collections_tables_and_terms_are_listed(use, document):
    _, text = document

    async def work(client):
        every = (await call(client, "collections")).structured_content
        assert [one["name"] for one in every["collections"]] == ["handbook"]
        one = (
            await call(client, "collections", collection="handbook")
        ).structured_content
        assert [row["name"] for row in one["documents"]] == ["handbook.pdf"]
        tables = await call(client, "tables", collection="handbook")
        assert tables.structured_content["tables"] == []
        terms = (await call(client, "glossary", term="season")).structured_content
        (season,) = terms["terms"]
        assert season["definition"] in text[season["start"] : season["end"]]
        assert "31 May" in season["definition"]

    use(work)


@pytest.mark.network
def test_a_refusal_is_no_error_and_says_so(use):
    async def work(client):
        result = await client.call_tool("ask", {"question": "What does bread cost?"})
        assert not result.is_error
        assert result.structured_content["status"] in {"insufficient", "no_sources"}
        assert result.content[0].text.startswith("status: ")
        assert "not an answer" in result.content[0].text

    use(work)


WRONG = [
    ("ask", {"question": "?"}, "question", ""),
    ("ask", {}, "question", "required"),
    ("ask", {"question": FEE, "collections": ["handbok"]}, "handbok", "did you mean"),
    ("ask", {"question": FEE, "profile": "nix"}, "nix", "default"),
    ("ask", {"question": FEE, "where": {"pgae": 1}}, "pgae", "section"),
    ("search", {"question": FEE, "limit": 0}, "limit", "greater"),
    ("read", {"document": "handbok.pdf"}, "handbok", "did you mean"),
    ("read", {"document": "handbook.pdf", "page": 99}, "99", "pages 1 to 3"),
    ("read", {"document": "handbook.pdf", "section": "Tea"}, "Tea", "3 Discipline"),
    ("read", {"document": "handbook.pdf", "start": 10**9}, "no text", "start"),
    ("read", {"document": "../../etc/passwd"}, "no document", "handbook.pdf"),
    ("tables", {"collection": "handbook", "table": "nix"}, "nix", "tables"),
    ("tables", {"collection": "nix"}, "nix", "handbook"),
    ("glossary", {"collections": ["nix"]}, "nix", "handbook"),
]


@pytest.mark.network
def test_what_is_wrong_is_a_tool_error_with_the_cure(use):
    async def work(client):
        for name, arguments, what, cure in WRONG:
            result = await client.call_tool(name, arguments)
            assert result.is_error, (name, arguments)
            text = result.content[0].text
            assert what in text
            assert cure in text
            assert "Traceback" not in text
            assert "pydantic" not in text
        for uri in ("nix/pages/1.jpg", "0/pages/0.jpg", "x/pages/1.jpg?boxes=9"):
            with pytest.raises(MCPError):
                await client.read_resource(f"elt-llm://documents/{uri}")

    use(work)


def test_standard_output_carries_only_the_protocol(root):
    """Also where the data root is damaged and the log is as loud as it can be."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    asked = [("ask", {"question": FEE}), ("glossary", {"term": "club"})]
    lines = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments, "_meta": meta},
        }
        for number, (name, arguments) in enumerate(asked, 1)
    ]
    shutil.rmtree(root / "indexes", ignore_errors=True)
    process = subprocess.Popen(
        [*COMMAND, "--data-dir", str(root), "--log-level", "DEBUG"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in lines]
        out, err = process.communicate(timeout=60)  # closes its input, which ends it
    finally:
        process.kill()
    assert {reply["id"] for reply in replies} == {1, 2}
    assert all(not reply["result"]["isError"] for reply in replies), replies
    assert out == ""
    assert process.returncode == 0
    assert "DEBUG" in err
    assert "Traceback" not in err


@pytest.mark.network
def test_http_has_the_defences_of_the_rest(serve, root):
    config = RagConfig(api=ApiSection(token=TOKEN))
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with serve(config, root) as url:

        def post(**headers):
            return httpx2.post(f"{url}/mcp", json=body, headers=headers).status_code

        right = {"authorization": f"Bearer {TOKEN}"}
        assert post() == 401
        assert post(authorization="Bearer wrong") == 401
        assert post(**right, host="evil.example") == 400
        assert post(**right, origin="http://evil.example") == 403
        huge = httpx2.post(f"{url}/mcp", content=b"x" * 2_000_000, headers=right)
        assert huge.status_code == 413

        async def work():
            async with over_http(url, TOKEN) as client:
                return {tool.name for tool in (await client.list_tools()).tools}

        assert asyncio.run(work()) == TOOLS


@pytest.mark.network
@pytest.mark.usefixtures("warm_commands")
@pytest.mark.parametrize("door", ["stdio", "http"])
def test_a_call_that_is_cancelled_ends_the_call_to_the_model(
    serve, root, door, monkeypatch
):
    async def leave(client, model):
        call = asyncio.create_task(client.call_tool("ask", {"question": FEE}))
        assert await asyncio.to_thread(model.asked.wait, LONG)
        call.cancel()
        await asyncio.wait([call])
        assert await asyncio.to_thread(model.left.wait, LONG)

    async def by_http(url, model):
        async with over_http(url) as client:
            await leave(client, model)

    async def by_stdio(model):
        async with Client(stdio_client(parameters(root))) as client:
            await leave(client, model)

    with EndlessServer(Way.PARTS) as model:
        if door == "http":
            with serve(written_by(model.base_url), root) as url:
                asyncio.run(by_http(url, model))
            return
        monkeypatch.setenv("ELT_LLM_MODELS__LLM_STRATEGY", "ollama")
        monkeypatch.setenv("ELT_LLM_OLLAMA__BASE_URL", model.base_url)
        monkeypatch.setenv("ELT_LLM_OLLAMA__NUM_PREDICT", "10000000")
        monkeypatch.setenv("ELT_LLM_OLLAMA__CONTEXT_WINDOW", "20000000")
        monkeypatch.setenv("ELT_LLM_QUERY__SYNTHESIZER_STRATEGY", "compact")
        asyncio.run(by_stdio(model))


@pytest.mark.network
def test_without_the_package_the_cure_is_told(serve, root, monkeypatch):
    with serve(RagConfig(), root) as url:
        monkeypatch.setitem(sys.modules, "mcp", None)
        reply = httpx2.post(f"{url}/mcp", json={})
    assert reply.status_code == 501
    assert "--extra mcp" in reply.json()["hint"]

"""The HTTP API over a real server, store, ingest and query."""

import io
import re
import time

import httpx
import pytest
from PIL import Image

from elt_llm_api.problems import FAILED_MODELS, choose_route, describe, redact_result
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import (
    CollectionMismatchError,
    CollectionNotFoundError,
    ConversationNotFoundError,
    JobNotFoundError,
    ModelError,
    ModelUnavailableError,
    StoreLockedError,
    UnknownElementError,
    VersionNotFoundError,
)
from elt_llm_core.results import (
    Citation,
    Degradation,
    DegradationKind,
    QueryResult,
    QueryTrace,
    SearchResult,
)
from elt_llm_core.store import Store

pytestmark = pytest.mark.network
QUESTION = "By which date shall a Member Club register each Player?"
REFUSED = "What is the boiling point of tungsten carbide?"


def finished(client: httpx.Client, location: str) -> dict:
    for _ in range(300):
        job = client.get(location).json()
        if job["state"] != "running":
            return job
        time.sleep(0.1)
    pytest.fail(f"the job did not end: {job}")


def ingest(client, name, data, collection="pool"):
    return client.post(
        "/v1/jobs",
        data={"kind": "ingest", "collection": collection},
        files={"files": (name, data)},
    )


@pytest.mark.parametrize(
    ("error", "route"),
    [
        (VersionNotFoundError("report", "x"), "/v1/reports"),
        (ConversationNotFoundError("x"), "/v1/conversations"),
        (JobNotFoundError("x"), "/v1/jobs"),
        (UnknownElementError("x", ["Till", "Bank"]), "/v1/graph/elements"),
        (CollectionNotFoundError("x", []), "/v1/collections"),
    ],
)
def test_a_hint_over_http_names_a_route_and_no_command(client, error, route):
    hint = choose_route(error, error.hint)
    assert hint.startswith(f"GET {route}")
    assert route in client.get("/openapi.json").json()["paths"]
    assert choose_route(error, "did you mean 'y'?") == "did you mean 'y'?"


def test_an_answer_comes_with_citations_that_stand_in_the_document(client, filled_root):
    reply = client.post("/v1/query", json={"question": QUESTION})
    assert reply.status_code == 200
    result = QueryResult.model_validate(reply.json())
    assert result.status == "answered"
    assert "31 July" in result.answer
    citation = result.citations[0]
    assert citation.page == 2
    assert citation.document == "handbook.pdf"
    assert f"[{citation.label}]" in result.answer
    text = Store(filled_root).document_text(citation.document_id)
    assert text[citation.span.start : citation.span.end] == citation.quote
    assert set(reply.json()["citations"][0]) == set(Citation.model_fields)


def test_what_the_documents_do_not_say_is_refused(client):
    result = client.post("/v1/query", json={"question": REFUSED}).json()
    assert result["status"] in {"insufficient", "no_sources"}
    assert result["citations"] == []


def test_search_gives_the_best_passages(client):
    reply = client.post("/v1/search", json={"question": "registration fee", "k": 2})
    result = SearchResult.model_validate(reply.json())
    assert 1 <= len(result.sources) <= 2
    assert "25 pounds" in result.sources[0].text


def test_collections_and_documents_are_listed(client):
    [card] = client.get("/v1/collections").json()["data"]
    assert card["name"] == "handbook"
    assert card["documents"] == 1
    assert client.get("/v1/collections/handbook").json()["chunks"] == card["chunks"] > 0
    page = client.get("/v1/collections/handbook/documents").json()
    [row] = page["data"]
    assert (row["name"], row["pages"], page["has_more"]) == ("handbook.pdf", 3, False)


def test_the_original_comes_back_byte_for_byte(client, handbook_pdf):
    [row] = client.get("/v1/collections/handbook/documents").json()["data"]
    reply = client.get(row["content_url"])
    assert reply.content == handbook_pdf
    assert reply.headers["content-type"] == "application/pdf"
    assert reply.headers["content-disposition"].startswith("inline")


def test_the_page_of_a_citation_is_drawn_with_its_boxes(client):
    result = client.post("/v1/query", json={"question": QUESTION}).json()
    citation = result["citations"][0]
    [box] = citation["boxes"][:1]
    marks = ",".join(str(box[side]) for side in ("left", "top", "right", "bottom"))
    url = f"/v1/documents/{citation['document_id']}/pages/{citation['page']}.jpg"
    reply = client.get(url, params={"boxes": marks, "scale": 2})
    assert reply.headers["content-type"] == "image/jpeg"
    image = Image.open(io.BytesIO(reply.content))
    across = (box["left"] + box["right"]) / 2 * image.width
    down = (box["top"] + box["bottom"]) / 2 * image.height
    window = image.crop((across - 20, down - 8, across + 20, down + 8))
    paper = max(window.getcolors(2000), key=lambda found: found[0])[1]
    assert paper[0] - paper[2] > 40, "yellow where the quote stands"
    # The next edition of the document has the same address.
    assert reply.headers["cache-control"] == "private, no-cache"
    tag = {"if-none-match": reply.headers["etag"]}
    again = client.get(url, params={"boxes": marks, "scale": 2}, headers=tag)
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "query",
    [
        "boxes=1,2",
        "boxes=0,0,2,1",
        "boxes=a,b,c,d",
        "boxes=nan,0,1,1",
        "boxes=0.5,0,0.1,1",
        "boxes=" + ";".join(["0,0,1,1"] * 300),
        "scale=9",
        "scale=0.1",
    ],
)
def test_a_bad_view_of_a_page_is_refused(client, query):
    [row] = client.get("/v1/collections/handbook/documents").json()["data"]
    reply = client.get(f"/v1/documents/{row['document_id']}/pages/1.jpg?{query}")
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/v1/collections/handbok", None, 404, "STO002"),
        ("GET", "/v1/collections/..", None, 404, "API006"),
        ("GET", "/v1/collections/A", None, 422, "CFG005"),
        ("GET", "/v1/collections/..%2f..%2fetc", None, 404, "API006"),
        ("GET", "/v1/documents/" + "0" * 32 + "/content", None, 404, "API006"),
        ("GET", "/v1/documents/" + "0" * 32 + "/pages/1.jpg", None, 404, "API006"),
        ("GET", "/v1/documents/x/content", None, 422, "API002"),
        ("GET", "/v1/jobs/none", None, 404, "API006"),
        ("GET", "/v1/nothing", None, 404, "API006"),
        ("DELETE", "/v1/query", None, 405, "API007"),
        ("POST", "/v1/query", {"question": ""}, 422, "API002"),
        ("POST", "/v1/query", {"question": "   "}, 422, "API002"),
        ("POST", "/v1/query", {"question": "x" * 5000}, 422, "API002"),
        ("POST", "/v1/query", {"question": "x", "foo": 1}, 422, "API002"),
        ("POST", "/v1/query", {"question": "x", "profile": "none-such"}, 422, "CFG004"),
        (
            "POST",
            "/v1/query",
            {"question": "x", "profile": "/etc/x.yaml"},
            422,
            "CFG004",
        ),
        (
            "POST",
            "/v1/query",
            {"question": "x", "collections": ["handbok"]},
            404,
            "STO002",
        ),
        (
            "POST",
            "/v1/query",
            {"question": "x", "collections": ["../"]},
            422,
            "CFG005",
        ),
        ("POST", "/v1/search", {"question": "x", "k": 0}, 422, "API002"),
    ],
)
def test_every_refusal_is_a_problem_document(client, method, path, body, status, code):
    reply = client.request(method, path, json=body)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["type"] == f"urn:elt-llm:error:{code}"
    assert problem["title"]
    assert problem["detail"]
    assert problem["instance"].startswith("/v1")


def test_a_wrong_name_is_told_with_the_near_one(client):
    problem = client.get("/v1/collections/handbok").json()
    assert problem["code"] == "STO002"
    assert "handbook" in problem["hint"]


@pytest.fixture
def own(serve, root):
    """A client of a server over data that the test may change."""
    with serve(RagConfig(), root) as url, httpx.Client(base_url=url, timeout=30) as c:
        yield c


def test_an_uploaded_file_can_be_asked_about(own, pool_pdf):
    reply = ingest(own, "pool.pdf", pool_pdf)
    assert reply.status_code == 202
    assert reply.headers["location"] == f"/v1/jobs/{reply.json()['id']}"
    job = finished(own, reply.headers["location"])
    assert job["state"] == "succeeded", job
    question = {"question": "When does the pool open?", "collections": ["pool"]}
    result = own.post("/v1/query", json=question).json()
    assert "7:00" in result["answer"]
    assert result["citations"][0]["document"] == "pool.pdf"
    again = finished(own, ingest(own, "pool.pdf", pool_pdf).headers["location"])
    assert again["state"] == "succeeded"
    [row] = own.get("/v1/collections/pool/documents").json()["data"]
    assert row["name"] == "pool.pdf", "the same name replaces, never doubles"
    assert [j["id"] for j in own.get("/v1/jobs").json()["data"]][1] == job["id"]


def test_a_broken_file_fails_and_tells_why_without_a_path(own):
    job = finished(own, ingest(own, "broken.pdf", b"%PDF-1.7 no").headers["location"])
    assert job["state"] in {"failed", "partial"}
    told = str(job)
    assert "broken.pdf" in told
    assert "/tmp" not in told


def test_an_uploaded_page_is_given_back_as_a_file_to_save(own):
    html = b"<html><body><h1>Hours</h1><p>Open at nine.</p><script>x</script></body>"
    assert finished(own, ingest(own, "opening hours.html", html).headers["location"])
    [row] = own.get("/v1/collections/pool/documents").json()["data"]
    assert row["name"] == "opening hours.html"
    reply = own.get(row["content_url"])
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("name", ["../x.pdf", "a\\..\\x.pdf", "x" * 300, "CON", ".x"])
def test_a_file_name_with_a_folder_in_it_is_refused(client, name):
    reply = ingest(client, name, b"x")
    assert reply.status_code == 422
    assert reply.json()["code"] == "USE001"


@pytest.mark.parametrize("name", ["../x", "C:\\x", "a\0b", "a", "x" * 300])
def test_a_collection_name_with_a_folder_in_it_is_refused(client, name):
    reply = ingest(client, "a.txt", b"x", collection=name)
    assert reply.status_code == 422


def test_a_second_writer_is_told_to_wait(own, root, pool_pdf):
    with Store(root).writer():
        reply = ingest(own, "pool.pdf", pool_pdf)
    assert reply.status_code == 409
    assert reply.json()["code"] == "STO004"


def test_a_document_and_a_collection_are_renamed_and_removed(own, pool_pdf):
    reply = ingest(own, "pool.pdf", pool_pdf)
    assert finished(own, reply.headers["location"])["state"] == "succeeded"
    renamed = own.patch("/v1/collections/pool", json={"title": "The Pool"})
    assert renamed.json()["title"] == "The Pool"
    assert own.get("/v1/collections/pool").json()["title"] == "The Pool"
    taken = own.patch("/v1/collections/pool", json={"title": "Handbook"})
    assert (taken.status_code, taken.json()["code"]) == (409, "CFG006")
    taken = ingest(own, "x.txt", b"A rule.", collection="the-pool")
    assert finished(own, taken.headers["location"])["problem"]["code"] == "CFG006"
    (row,) = own.get("/v1/collections/pool/documents").json()["data"]
    address = f"/v1/documents/{row['document_id']}"
    assert own.patch(address, json={"title": "Hours"}).json()["title"] == "Hours"
    assert own.patch(address, json={"title": "a\nb"}).status_code == 422
    assert own.patch(address, json={"priority": 101}).status_code == 422
    assert own.patch(address, json={"priority": 10}).json()["priority"] == 10
    lifted = own.patch("/v1/collections/pool", json={"priority": 100})
    assert lifted.json()["priority"] == 100
    assert own.delete(address).status_code == 204
    assert own.get("/v1/collections/pool/documents").json()["data"] == []
    assert own.delete(address).status_code == 404
    assert own.delete("/v1/collections/pool").status_code == 204
    assert own.get("/v1/collections/pool").status_code == 404
    assert own.delete("/v1/collections/pool").status_code == 404


def test_nothing_is_removed_while_another_writes(own, root):
    with Store(root).writer():
        reply = own.delete("/v1/collections/handbook")
        named = own.patch("/v1/collections/handbook", json={"title": "Rules"})
    for refused in (reply, named):
        assert (refused.status_code, refused.json()["code"]) == (409, "STO004")
        assert refused.json()["hint"] == "try again when it has finished"
    assert own.get("/v1/collections/handbook").json()["documents"] == 1


def test_an_empty_server_answers_with_the_cure(serve, tmp_path):
    missing = tmp_path / "nothing"
    with serve(RagConfig(), missing) as url, httpx.Client(base_url=url) as client:
        assert client.get("/v1/collections").json() == {"data": []}
        assert client.get("/readyz").json() == {"status": "ok", "collections": 0}
        reply = client.post("/v1/query", json={"question": "x"})
        assert reply.status_code == 422
        assert "elt-llm demo" in reply.json()["hint"]
    assert not missing.exists(), "reading creates nothing"


def test_what_goes_wrong_inside_stays_inside(serve, root, caplog):
    for file in root.glob("truth*"):
        file.write_bytes(b"SQLite format 3\0" + b"junk" * 1000)
    with serve(RagConfig(), root) as url, httpx.Client(base_url=url) as client:
        reply = client.get("/v1/collections")
        assert reply.status_code == 500
        assert str(root) not in reply.text
        assert "sqlite" not in reply.text.lower()
        assert str(root) in caplog.text
        assert not any(record.exc_info for record in caplog.records)
        assert client.get("/livez").status_code == 200
        assert client.get("/readyz").status_code == 500


def test_health_and_status(client):
    assert client.get("/livez").json()["status"] == "ok"
    assert client.get("/healthz").json() == client.get("/readyz").json()
    status = client.get("/v1/status").json()
    assert status["collections"][0]["name"] == "handbook"
    assert status["profiles"][0] == "default"
    assert status["embedder"]
    assert status["disk_free_mb"] > 0


def test_every_route_has_a_stable_name_and_an_example(client):
    document = client.get("/openapi.json").json()
    names = [op["operationId"] for p in document["paths"].values() for op in p.values()]
    assert sorted(names) == [
        "ask_graph",
        "cancel_job",
        "change_item",
        "change_items",
        "chat",
        "chat_stream",
        "check_export",
        "check_graph",
        "create_chat_completion",
        "create_concept_report",
        "create_job",
        "create_report",
        "create_summaries",
        "delete_concept_report",
        "delete_conversation",
        "delete_report",
        "delete_summary",
        "draw_diagram",
        "export_conversation",
        "export_product",
        "export_sheet",
        "find_in_document",
        "find_path",
        "get_collection",
        "get_concept_report",
        "get_concept_report_file",
        "get_conversation",
        "get_diagram",
        "get_document",
        "get_document_content",
        "get_element",
        "get_graph",
        "get_item",
        "get_job",
        "get_job_events",
        "get_job_file",
        "get_model",
        "get_outline",
        "get_page_blocks",
        "get_page_image",
        "get_report",
        "get_report_file",
        "get_summary",
        "get_summary_file",
        "get_table",
        "get_turn_events",
        "healthz",
        "import_sheet",
        "list_collections",
        "list_concept_report_versions",
        "list_concept_reports",
        "list_conversations",
        "list_dependents",
        "list_documents",
        "list_elements",
        "list_examples",
        "list_exports",
        "list_items",
        "list_jobs",
        "list_models",
        "list_neighbors",
        "list_products",
        "list_profiles",
        "list_relations",
        "list_report_templates",
        "list_report_versions",
        "list_reports",
        "list_summary_versions",
        "list_tables",
        "list_topics",
        "livez",
        "metrics",
        "query",
        "readyz",
        "remove_collection",
        "remove_document",
        "rename_collection",
        "rename_conversation",
        "rename_document",
        "search",
        "status",
        "stop_turn",
        "undo_item",
        "undo_turn",
    ]
    schemas = document["components"]["schemas"]
    assert schemas["QueryRequest"]["examples"]
    assert schemas["SearchRequest"]["examples"]


def test_a_locked_store_names_no_process(caplog):
    body = describe(StoreLockedError("process 4711 (/opt/secret/bin/python)"))
    assert body["status"] == 409
    assert "4711" not in str(body)
    assert "secret" not in str(body)
    assert "4711" in caplog.text
    own = describe(StoreLockedError("job 0123 (ingest)"))
    assert "job 0123" in own["detail"]


def test_a_hint_over_http_names_no_option_of_a_command():
    locked = describe(StoreLockedError("process 1"))
    assert locked["hint"] == "try again when it has finished"
    down = describe(ModelUnavailableError("http://x", "refused"))
    assert down["hint"].endswith("or work without a model server: profile default")


@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailableError("http://10.1.2.3:11434", "refused by gpu-7"),
        ModelError("'m' at http://10.1.2.3 failed (500: stack of gpu-7)", "look"),
    ],
)
def test_a_failed_model_names_no_address_and_none_of_its_words(error, caplog):
    body = describe(error)
    assert (body["status"], body["code"]) == (503, error.code)
    assert "10.1.2.3" not in str(body)
    assert "gpu-7" not in str(body)
    assert "gpu-7" in caplog.text


def test_degradations_name_no_address_and_no_words_of_a_model_server(caplog):
    notes = tuple(
        Degradation(kind=kind, collection="c", detail="at http://10.1.2.3: gpu-7 broke")
        for kind in FAILED_MODELS
    )
    other = Degradation(kind=DegradationKind.EXACT_ENGINE, detail="index is missing")
    trace = QueryTrace(query_id="q", config_hash="c")
    found = SearchResult(
        question="q", sources=(), degradations=(*notes, other), trace=trace
    )
    told = redact_result(found)
    assert "10.1.2.3" not in told.model_dump_json()
    assert "gpu-7" not in told.model_dump_json()
    assert [d.kind for d in told.degradations] == [*FAILED_MODELS, other.kind]
    assert told.degradations[-1] == other
    assert caplog.text.count("gpu-7") == len(notes)
    failing = {k for k in DegradationKind if k.value.endswith("_unavailable")}
    assert {*failing, DegradationKind.OTHER_MODEL} == {*FAILED_MODELS}


def test_a_mismatch_tells_what_a_client_can_do():
    body = describe(CollectionMismatchError("rules", "the embedder", "a", "b"))
    assert (body["status"], body["code"]) == (409, "STO003")
    assert "other collections" in body["hint"]
    assert "elt-llm ingest" not in body["hint"]


def test_the_schema_names_what_any_route_may_refuse(client):
    paths = client.get("/openapi.json").json()["paths"]
    for methods in paths.values():
        for operation in methods.values():
            assert {"400", "401", "403", "413", "429"} <= {*operation["responses"]}
    asked = paths["/v1/query"]["post"]["responses"]
    assert {"404", "409", "422", "503"} <= {*asked}


@pytest.mark.parametrize("question", ["", "   ", "???", "_"])
def test_a_question_without_a_word_is_refused_as_the_schema_says(client, question):
    reply = client.post("/v1/query", json={"question": question})
    assert (reply.status_code, reply.json()["code"]) == (422, "API002")
    schema = client.get("/openapi.json").json()["components"]["schemas"]
    pattern = schema["QueryRequest"]["properties"]["question"]["pattern"]
    assert not re.search(pattern, question)


@pytest.mark.parametrize(
    ("method", "path", "body", "told"),
    [
        ("POST", "/v1/query", {"question": "???"}, "must contain a letter or a digit"),
        ("GET", "/v1/documents/x/content", None, "must be 32 hexadecimal digits"),
    ],
)
def test_a_text_of_another_form_is_refused_in_words(client, method, path, body, told):
    reply = client.request(method, path, json=body)
    assert reply.status_code == 422
    assert told in reply.json()["detail"]
    assert "pattern" not in reply.json()["detail"]
    assert "pattern" in reply.json()["errors"][0]["type"]

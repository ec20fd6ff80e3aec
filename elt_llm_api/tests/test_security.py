"""Foreign hosts, foreign pages, strangers, large bodies: refused, and told so."""

import base64
import os
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from elt_llm_api import create_app
from elt_llm_api.server.exposure import is_loopback
from elt_llm_api.server.security import GUESS_SECONDS, MOST_GUESSES, Guesses
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError
from elt_llm_core.store import Store

PATHS = ("/", "/ui/", "/livez", "/v1/collections", "/ui/config", "/openapi.json")
EVIL = "evil.example"
UPLOADS = ("/v1/jobs", "/ui/gradio_api/upload")


@pytest.mark.network
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", [EVIL, "127.0.0.1.evil.example", "", "localhost@x"])
def test_a_foreign_host_is_refused_everywhere(client, path, host):
    reply = client.get(path, headers={"host": host, "origin": f"http://{EVIL}"})
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/problem+json"
    assert (reply.json()["code"], reply.json()["instance"]) == ("API003", path)
    assert reply.json()["hint"]
    assert "access-control-allow-origin" not in reply.headers


@pytest.mark.network
@pytest.mark.parametrize("path", PATHS)
def test_every_reply_carries_the_headers(client, path):
    reply = client.get(path)
    assert reply.status_code in {200, 307}
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"


@pytest.mark.network
@pytest.mark.parametrize("path", [*UPLOADS, "/v1/query", "/ui/gradio_api/queue/join"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": f"http://{EVIL}"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_change_asked_for_by_another_site_is_refused(client, path, headers):
    files = {"files": ("a.txt", b"x")}
    data = {"kind": "ingest", "collection": "evil"}
    reply = client.post(path, headers=headers, files=files, data=data)
    assert reply.status_code == 403
    assert reply.headers["content-type"] == "application/problem+json"
    names = [c["name"] for c in client.get("/v1/collections").json()["data"]]
    assert "evil" not in names


@pytest.mark.network
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": f"http://{EVIL}"},
        {"origin": "null"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
def test_another_site_does_not_read_either(client, path, headers):
    for method in ("GET", "HEAD", "OPTIONS"):
        reply = client.request(method, path, headers=headers)
        assert reply.status_code == 403
    assert client.get(path, headers=headers).json()["code"] == "API005"


@pytest.mark.network
@pytest.mark.parametrize("path", PATHS)
def test_a_link_on_another_site_may_be_followed(client, path):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get(path, headers=headers).status_code in {200, 307}
    assert client.post("/v1/query", headers=headers).status_code == 403


@pytest.mark.network
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("docs.example.org", 200),
        ("DOCS.example.org:80", 200),
        ("a.b.example.org", 200),
        ("example.org", 400),
        ("evilexample.org", 400),
        ("[::1]:7860", 200),
        ("::1", 400),
        ("docs.example.org:x", 400),
        ("docs.example.org@evil.example", 400),
    ],
)
def test_hosts_are_those_that_are_configured(serve, filled_root, host, status):
    allowed = ["127.0.0.1", "[::1]", "*.example.org"]
    config = RagConfig.model_validate({"api": {"allowed_hosts": allowed}})
    with serve(config, filled_root) as url:
        reply = httpx.get(f"{url}/v1/collections", headers={"host": host})
        assert reply.status_code == status


@pytest.mark.network
def test_the_own_origin_is_served(client):
    reply = client.post(
        "/v1/search",
        json={"question": "player"},
        headers={"origin": str(client.base_url).rstrip("/")},
    )
    assert reply.status_code == 200


@pytest.mark.network
@pytest.mark.parametrize("path", ["/v1/query", "/ui/gradio_api/upload"])
def test_no_other_origin_is_ever_allowed(client, path):
    for origin in (f"http://{EVIL}", "http://localhost:3000"):
        reply = client.options(
            path,
            headers={"origin": origin, "access-control-request-method": "POST"},
        )
        assert not [k for k in reply.headers if k.startswith("access-control-")]


@pytest.mark.network
def test_json_must_say_that_it_is_json(client):
    reply = client.post(
        "/v1/search",
        content=b'{"question": "player"}',
        headers={"content-type": "text/plain"},
    )
    assert reply.status_code == 422


def chunks(total: int):
    for _ in range(total // 65_536 + 1):
        yield b"x" * 65_536


@pytest.mark.network
def test_a_large_json_body_is_refused_announced_or_not(client):
    json = {"content-type": "application/json"}
    announced = client.post("/v1/query", content=b"x" * 1_100_000, headers=json)
    assert announced.status_code == 413
    streamed = client.post("/v1/query", content=chunks(1_100_000), headers=json)
    assert streamed.status_code == 413
    assert announced.json()["code"] == streamed.json()["code"] == "API008"


@pytest.mark.network
@pytest.mark.parametrize("path", UPLOADS)
def test_a_large_upload_is_refused_announced_or_not(serve, filled_root, path):
    config = RagConfig.model_validate({"api": {"max_upload_mb": 1}})
    with serve(config, filled_root) as url, httpx.Client(base_url=url) as client:
        kind = {"content-type": "multipart/form-data; boundary=b"}
        head = (
            b'--b\r\ncontent-disposition: form-data; name="files"; filename="a.txt"'
            b"\r\n\r\n"
        )

        def streamed():
            yield head
            yield from chunks(2_000_000)

        assert client.post(path, content=streamed(), headers=kind).status_code == 413
        whole = head + b"x" * 2_000_000
        assert client.post(path, content=whole, headers=kind).status_code == 413
        assert client.get("/v1/jobs").json()["data"] == []


@pytest.mark.network
def test_a_false_content_length_is_refused(server):
    parts = urlsplit(server)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as raw:
        raw.sendall(
            b"POST /v1/query HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            b"content-type: application/json\r\ncontent-length: 99999999\r\n\r\n{}"
        )
        assert raw.recv(200).startswith(b"HTTP/1.1 413")


@pytest.mark.network
@pytest.mark.parametrize(
    "path",
    [
        "/ui/gradio_api/file=/etc/passwd",
        "/ui/gradio_api/file=../../../../etc/passwd",
        "/ui/gradio_api/file=https://evil.example/x",
        "/ui/file=/etc/passwd",
        "/ui/static/../../../etc/passwd",
        "/ui/gradio_api/proxy=https://evil.example/",
        "/v1/documents/..%2f..%2fetc%2fpasswd/content",
        "/v1/jobs/x/files/..%2f..%2fetc%2fpasswd",
    ],
)
def test_no_file_of_the_machine_is_served(client, path):
    reply = client.get(path)
    assert reply.status_code >= 400 or "root:" not in reply.text
    assert reply.status_code != 200 or "/etc/passwd" not in reply.text


@pytest.mark.network
def test_gradio_offers_no_endpoints(client):
    info = client.get("/ui/gradio_api/info").json()
    assert info == {"named_endpoints": {}, "unnamed_endpoints": {}}


@pytest.mark.network
def test_with_a_token_nothing_is_served_without_it(serve, filled_root):
    config = RagConfig.model_validate({"api": {"token": "a-b-c"}})
    basic = base64.b64encode(b"me:a-b-c").decode()
    with serve(config, filled_root) as url, httpx.Client(base_url=url) as client:
        assert client.get("/livez").status_code == 200
        for wrong in ("", "Bearer", "Bearer a-b-d", "Basic !!", "Digest a-b-c"):
            reply = client.get("/v1/collections", headers={"authorization": wrong})
            assert reply.status_code == 401
            assert reply.headers["www-authenticate"].startswith("Basic")
            assert reply.json()["code"] == "API004"
        assert client.get("/ui/").status_code == 401
        for right in ("Bearer a-b-c", f"Basic {basic}"):
            headers = {"authorization": right}
            assert client.get("/v1/collections", headers=headers).status_code == 200
            assert client.get("/ui/", headers=headers).status_code == 200


@pytest.mark.parametrize("host", ["192.0.2.1", "::", "192.168.1.5", "example.org"])
def test_strangers_need_a_token(host, tmp_path):
    config = RagConfig.model_validate({"api": {"host": host}})
    with pytest.raises(ConfigError, match="token") as caught:
        create_app(config, Store(tmp_path))
    assert caught.value.exit_code == 78


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("192.0.2.1", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_the_rest(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    "token", [" ", "a b", "token-with-a-blank-behind ", "t\u00f6ken", "\t"]
)
def test_a_token_that_no_client_can_send_is_refused(token, tmp_path):
    config = RagConfig.model_validate({"api": {"token": token}})
    with pytest.raises(ConfigError, match="cannot send"):
        create_app(config, Store(tmp_path))


def test_a_short_token_is_refused_beyond_loopback(tmp_path):
    api = {"token": "fifteen-letters", "host": "0.0.0.0"}  # noqa: S104
    with pytest.raises(ConfigError, match="has 15 characters"):
        create_app(RagConfig.model_validate({"api": api}), Store(tmp_path))


def test_an_address_with_many_wrong_tokens_is_not_listened_to():
    now = [0.0]
    guesses = Guesses(lambda: now[0])
    for _ in range(MOST_GUESSES - 1):
        guesses.note("a")
    assert guesses.wait("a") == 0
    guesses.note("a")
    assert guesses.wait("a") == GUESS_SECONDS
    assert guesses.wait("b") == 0
    now[0] = GUESS_SECONDS - 0.5
    assert guesses.wait("a") == 1
    now[0] = GUESS_SECONDS
    assert guesses.wait("a") == 0


@pytest.mark.network
def test_guesses_are_limited_over_http(serve, filled_root):
    config = RagConfig.model_validate({"api": {"token": "a-b-c"}})
    with serve(config, filled_root) as url, httpx.Client(base_url=url) as client:

        def ask(token):
            headers = {"authorization": f"Bearer {token}"} if token else {}
            return client.get("/v1/jobs", headers=headers)

        assert {ask("").status_code for _ in range(20)} == {401}
        assert {ask("x").status_code for _ in range(MOST_GUESSES)} == {401}
        refused = ask("a-b-c")
        assert (refused.status_code, refused.json()["code"]) == (429, "API010")
        assert 1 <= int(refused.headers["retry-after"]) <= GUESS_SECONDS
        assert client.get("/livez").status_code == 200


@pytest.mark.network
def test_one_who_was_let_in_is_not_locked_out_by_others_of_the_address(
    serve, filled_root
):
    tokens = {"ada": "long-token-of-ada", "ben": "long-token-of-ben", "cy": "cy"}
    config = RagConfig.model_validate({"api": {"users": tokens}})
    with serve(config, filled_root) as url, httpx.Client(base_url=url) as client:

        def ask(token):
            headers = {"authorization": f"Bearer {token}"}
            return client.get("/v1/jobs", headers=headers).status_code

        assert (ask("long-token-of-ada"), ask("cy")) == (200, 200)
        assert {ask("x") for _ in range(MOST_GUESSES)} == {401}
        assert ask("long-token-of-ada") == 200
        assert [ask(one) for one in ("long-token-of-ben", "cy", "x")] == [429] * 3


@pytest.mark.network
@pytest.mark.parametrize(
    "path",
    [
        "http://192.0.2.1/x",
        "HTTPS://evil.example/x",
        " http://evil.example/x",
        "//evil.example/x",
        "\\\\evil.example\\x",
        "file:///etc/passwd",
    ],
)
def test_a_file_of_the_page_is_never_fetched(client, path, monkeypatch):
    away = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def watched_connect(self, address):
        away.append(address)
        return connect(self, address)

    def watched_look_up(host, *args, **kwargs):
        away.append((host,))
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", watched_connect)
    monkeypatch.setattr(socket, "getaddrinfo", watched_look_up)
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    for data in ([[file], "c", ""], [{"deep": [file]}], [file]):
        for route in ("queue/join", "api/predict", "run/predict", "component_server"):
            for number in range(8):
                sent = {"data": data, "fn_index": number, "session_hash": "abc"}
                reply = client.post(f"/ui/gradio_api/{route}", json=sent)
                assert reply.status_code == 422
                assert reply.json()["code"] == "API002"
    assert [one for one in away if one[0] != "127.0.0.1"] == []


@pytest.mark.network
def test_a_refused_upload_to_the_page_leaves_nothing(serve, filled_root, tmp_path):
    config = RagConfig.model_validate({"api": {"max_upload_mb": 1}})
    with serve(config, filled_root) as url:
        sent = Path(os.environ["GRADIO_TEMP_DIR"])
        head = (
            b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"'
            b"\r\n\r\n"
        )

        def endless():
            yield head
            for _ in range(3):
                yield b"x" * 1_000_000

        kind = {"content-type": "multipart/form-data; boundary=x"}
        reply = httpx.post(
            f"{url}/ui/gradio_api/upload", content=endless(), headers=kind
        )
        assert reply.status_code == 413
        # The reply goes out first; what had come is removed right after.
        deadline = time.monotonic() + 30
        while left := [p for p in sent.rglob("*") if p.is_file()]:
            assert time.monotonic() < deadline, left
            time.sleep(0.05)


@pytest.mark.network
def test_files_that_wait_have_a_quota(serve, filled_root):
    config = RagConfig.model_validate(
        {"api": {"max_upload_mb": 1, "max_waiting_mb": 2}}
    )
    with serve(config, filled_root) as url, httpx.Client(base_url=url) as client:

        def send(name):
            files = {"files": (name, b"x" * 900_000)}
            return client.post("/ui/gradio_api/upload", files=files)

        assert send("a.txt").status_code == 200
        assert send("b.txt").status_code == 200
        refused = send("c.txt")
        assert (refused.status_code, refused.json()["code"]) == (413, "API008")
        assert "not added yet" in refused.json()["detail"]

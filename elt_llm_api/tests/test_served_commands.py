"""`elt-llm query` and `search` answered by a running server of the same data root."""

import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib import metadata

import pytest

from elt_llm_api.api_context import build_context
from elt_llm_api.server import command_socket
from elt_llm_api.server.command_socket import reply_to, serving_commands
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_core.cli import elt_llm, served
from elt_llm_core.cli.failures import run
from elt_llm_core.config.loader import load_config
from elt_llm_core.errors import BusyError
from elt_llm_core.models.bounds import SILENCES
from elt_llm_core.store import Store

ASK = "What is the registration fee?"
LONG = 60.0
DECLINED = "server_declined"
MOMENTS = re.compile(r'"(milliseconds|seconds)": [0-9.e-]+')


@contextmanager
def listening(root, config=None, gate=None):
    """A server of commands over `root`, and the questions it is asked."""
    store = Store(root)
    gate = gate or QuestionQueue(2, 8)
    context = build_context(config or load_config(), store)
    asked = []
    answer = command_socket.reply_to

    def heard(*arguments):
        reply = answer(*arguments)
        asked.append(reply)
        return reply

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_socket, "reply_to", heard)
        patch.setattr(served, "PATIENCE", 60.0)
        with serving_commands(context, gate):
            yield asked
    gate.close()
    store.close()


@pytest.fixture(scope="module")
def served_root(filled_root, tmp_path_factory):
    import shutil

    return shutil.copytree(filled_root, tmp_path_factory.mktemp("commands") / "data")


@pytest.fixture(scope="module")
def asked(served_root):
    with listening(served_root) as replies:
        yield replies


@pytest.fixture(autouse=True)
def forget_failures():
    """Ask a server that is not there again, in every test and in between."""
    SILENCES._until.clear()
    SILENCES._failures.clear()


def ran(capsys, root, *arguments):
    code = run(elt_llm, [*arguments, "--data-dir", str(root)])
    out, err = capsys.readouterr()
    return code, MOMENTS.sub(r'"\1": 0', out), err


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", ASK),
        ("query", ASK, "--json"),
        ("query", "Who painted the Mona Lisa?"),
        ("query", ASK, "--collection", "handbook", "--where", "page=2", "--json"),
        ("search", ASK),
        ("search", ASK, "--top-k", "1"),
        ("search", ASK, "--top-k", "2", "--json"),
        ("search", "fine for late fixtures", "--where", "page=3", "--where", "page=2"),
        ("query", ASK, "--collection", "handbok"),
        ("query", ASK, "--collection", "handbok", "--json"),
        ("query", ASK, "--where", "colour=red"),
        ("query", ASK, "--where", "page"),
        ("search", "  "),
    ],
)
def test_a_server_and_the_command_itself_print_the_same(
    served_root, asked, capsys, arguments
):
    before = len(asked)
    by_server = ran(capsys, served_root, *arguments)
    assert len(asked) == before + 1
    assert "declined" not in asked[-1]
    assert ran(capsys, served_root, *arguments, "--local") == by_server
    assert len(asked) == before + 1


@pytest.mark.parametrize(
    ("options", "environ"),
    [
        (("--profile", "textbook-tutor"), {}),
        ((), {"ELT_LLM_QUERY__RERANKER_TOP_K": "2"}),
        ((), {"ELT_LLM_PROFILE": "textbook-tutor"}),
        (("--log-level", "ERROR"), {}),
    ],
)
def test_other_settings_are_obeyed(
    served_root, asked, capsys, monkeypatch, options, environ
):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    arguments = ("search", ASK, "--json", *options)
    code, out, err = ran(capsys, served_root, *arguments)
    plain = json.loads(out)
    declined = [d["detail"] for d in plain["degradations"] if d["kind"] == DECLINED]
    if "--log-level" in options:  # its server is not asked
        assert (declined, err) == ([], "")
    else:
        why = f"the server of {served_root} was not used: it has other settings"
        assert declined == [f"{why}; working without it"]
        assert err == f"elt-llm: {declined[0]}\n"
    SILENCES._until.clear()  # a server that is not there is asked again
    SILENCES._failures.clear()
    local = ran(capsys, served_root, *arguments, "--local")
    plain["degradations"] = [d for d in plain["degradations"] if d["kind"] != DECLINED]
    assert (code, plain) == (local[0], json.loads(local[1]))
    assert code == 0
    monkeypatch.undo()


def test_an_update_in_place_is_told_by_the_command(root, capsys, monkeypatch):
    """The command has the new version; the server still runs the old one."""
    with listening(root):
        monkeypatch.setattr(served, "version", lambda _: "99.0.0")
        monkeypatch.setattr(metadata, "version", lambda _: "99.0.0")
        code, out, err = ran(capsys, root, "query", ASK)
        assert (code, "25 pounds" in out) == (0, True)
        assert err == (
            f"elt-llm: the server of {root} was not used: it has a different version "
            "and must be restarted; working without it\n"
        )
        _, out, _ = ran(capsys, root, "query", ASK, "--json")
    kinds = [note["kind"] for note in json.loads(out)["degradations"]]
    assert kinds == [DECLINED]


def test_a_configuration_of_another_root_is_not_answered(
    served_root, asked, tmp_path, capsys, monkeypatch
):
    """The file names another data root; --data-dir does not."""
    file = tmp_path / "my.yaml"
    file.write_text(f"stores: {{data_dir: {tmp_path / 'other'}}}\n")
    monkeypatch.chdir(served_root.parent)
    (served_root.parent / "elt-llm-data").symlink_to(served_root)
    arguments = ["query", ASK, "--config", str(file)]
    assert run(elt_llm, arguments) == run(elt_llm, [*arguments, "--local"]) != 0
    assert asked[-1] == {"declined": "it has other settings"}
    (served_root.parent / "elt-llm-data").unlink()


def test_the_socket_is_for_one_user_and_goes_with_the_server(root, capsys):
    path = root / served.SOCKET
    with listening(root) as asked:
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        assert ran(capsys, root, "query", ASK)[0] == 0
        assert "stdout" in asked[-1]
        path.chmod(0o666)
        assert ran(capsys, root, "query", ASK)[0] == 0
        assert len(asked) == 1
    assert not path.exists()


def test_a_server_older_than_its_data_root_answers_once_there_is_one(
    root, tmp_path, capsys
):
    later = tmp_path / "later" / "data"
    later.parent.mkdir()
    with listening(later) as asked:
        assert not later.exists()
        root.rename(later)
        while not served.is_ours(later / served.SOCKET):
            time.sleep(0.05)
        assert ran(capsys, later, "query", ASK)[0] == 0
        assert "stdout" in asked[-1]
    assert not (later / served.SOCKET).exists()


def test_a_server_whose_data_root_never_comes_ends(tmp_path):
    with listening(tmp_path / "never"):
        pass
    assert not (tmp_path / "never").exists()


def test_a_socket_that_a_killed_server_left_behind_is_replaced(root, capsys):
    path = root / served.SOCKET
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    path.chmod(0o600)
    assert ran(capsys, root, "query", ASK)[::2] == (0, "")
    with listening(root) as asked:
        assert ran(capsys, root, "query", ASK)[0] == 0
        assert len(asked) == 1


def test_a_second_server_leaves_the_first_ones_socket_alone(root, caplog, capsys):
    with listening(root) as asked:
        with listening(root):
            assert "another server" in caplog.text
        assert ran(capsys, root, "query", ASK)[0] == 0
        assert "stdout" in asked[-1]


def test_a_server_that_hangs_is_told_and_done_without(root, capsys, monkeypatch):
    monkeypatch.setattr(served, "PATIENCE", 0.2)
    path = root / served.SOCKET
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(path))
        path.chmod(0o600)
        hung.listen()
        code, out, err = ran(capsys, root, "query", ASK)
    assert code == 0
    assert "25 pounds" in out
    assert err == (
        f"elt-llm: the server of {root} does not answer; working without it\n"
    )


def test_another_users_server_is_not_asked(root, capsys, monkeypatch):
    with listening(root) as asked:
        monkeypatch.setattr(served, "peer_of", lambda _: os.geteuid() + 1)
        code, _, err = ran(capsys, root, "query", ASK)
    assert (code, asked) == (0, [])
    assert "belongs to another user" in err


def test_a_path_longer_than_an_address_is_served(root, tmp_path, capsys):
    deep = tmp_path.joinpath(*["a-long-name-of-a-folder" for _ in range(6)])
    deep.parent.mkdir(parents=True)
    root.rename(deep)
    with listening(deep) as asked:
        assert ran(capsys, deep, "query", ASK)[0] == 0
        assert "stdout" in asked[-1]
    assert not (deep / served.SOCKET).exists()


def test_a_file_system_without_sockets_is_logged(root, caplog, capsys, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("elt_llm_api.server.command_socket._Listener", refuse)
    with listening(root):
        assert "commands are not served, no socket at" in caplog.text
        assert ran(capsys, root, "query", ASK)[0] == 0


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"nonsense", b'{"protocol": 0}', b"\xff\xfe"]
)
def test_what_is_not_understood_is_declined(root, line):
    context = build_context(load_config(), Store(root))
    assert "declined" in reply_to(line, context, QuestionQueue(1, 0))


def test_another_version_is_declined(root):
    request = {
        "protocol": served.PROTOCOL,
        "version": "0.0.0",
        "settings": {"folder": str(root), "environ": {}},
        "asked": {"command": "query", "question": ASK},
    }
    context = build_context(load_config(), Store(root))
    reply = reply_to(json.dumps(request).encode(), context, QuestionQueue(1, 0))
    assert reply == {"declined": command_socket.OTHER_VERSION}


def test_many_commands_are_answered_at_once(served_root, asked, capsys):
    before, codes = len(asked), []

    def ask():
        request = {
            "settings": {"folder": "/", "data_dir": str(served_root), "environ": {}},
            "asked": {
                "command": "query",
                "question": ASK,
                "collections": [],
                "filters": [],
            },
        }
        codes.append(served.ask_server(served_root, request))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == before + 6
    assert len({reply["stdout"] for reply in codes}) == 1


def test_a_command_is_refused_when_too_many_questions_wait(root, capsys):
    gate, hold = QuestionQueue(1, 0), threading.Event()
    with listening(root, gate=gate) as replies:
        gate.submit(hold.wait, LONG)
        code, out, err = ran(capsys, root, "query", ASK)
        assert [reply["fault"]["code"] for reply in replies] == ["API009"]
        assert out == ""
        assert "the server is answering as many questions as it can" in err
        assert code == BusyError(1).exit_code
        hold.set()


def test_the_question_of_a_command_that_left_stops(root):
    gate, hold = QuestionQueue(1, 1), threading.Event()
    request = {
        "protocol": served.PROTOCOL,
        "version": served.version("elt-llm-core"),
        "settings": {"folder": "/", "data_dir": str(root), "environ": {}},
        "asked": {
            "command": "query",
            "question": ASK,
            "collections": [],
            "filters": [],
        },
    }
    with listening(root, gate=gate) as replies:
        gate.submit(hold.wait, LONG)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            with served.address_of(root) as address:
                client.connect(address)
            client.sendall(json.dumps(request).encode() + b"\n")
            client.recv(1)  # a sign of life: it waits
        while not replies:  # the sign that cannot be sent ends it
            threading.Event().wait(0.05)
        assert "stdout" not in replies[0]
        hold.set()


IMPORTED = """
import json, sys
from elt_llm_core.cli import elt_llm, served
from elt_llm_core.cli.failures import run
served.PATIENCE = 60.0
code = run(elt_llm, sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def test_a_command_that_is_served_imports_hardly_anything(served_root, asked):
    before = len(asked)
    arguments = ["query", ASK, "--data-dir", str(served_root)]
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "stdout" in asked[before]
    code, loaded = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    heavy = {"llama_index", "numpy", "onnxruntime", "pydantic", "sqlite3", "yaml"}
    assert not heavy & set(loaded)

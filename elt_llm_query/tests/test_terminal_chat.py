"""`elt-llm chat` from a pipe and on a real terminal."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from endless_server import EndlessServer, Way

from elt_llm_core.cli import elt_llm
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ConversationNotFoundError
from elt_llm_query import Library
from elt_llm_query.conversation.conversation_text import source_lines
from elt_llm_query.conversation.source_numbers import NumberedSource
from query_world import CONTENT, World, fill

PERIOD = "What is the loan period of a book?"
FEE = "What is the fee for an overdue book?"


@pytest.fixture
def data(world: World, tmp_path: Path) -> Path:
    """A data root of its own."""
    with Library(tmp_path / "data", config=RagConfig(), models=world.models) as library:
        fill(library.store, world.models, CONTENT)
    return tmp_path / "data"


def talk(
    data: Path, *lines: str, options: tuple[str, ...] = (), ends_with: int = 0
) -> tuple[str, str]:
    """What a conversation from a pipe prints, and what it says beside it."""
    given = "".join(f"{line}\n" for line in lines)
    args = ["chat", "--data-dir", str(data), *options]
    ended = CliRunner().invoke(elt_llm, args, input=given, catch_exceptions=False)
    assert ended.exit_code == ends_with, ended.output
    return ended.stdout, ended.stderr


def test_lines_of_a_pipe_are_questions_and_commands(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "talk.md"
    out, err = talk(
        data,
        *(PERIOD, FEE, "", "/sources 2", f"/export {file}", "/undo", "/new"),
        *("/sources", "/sourcs", "/export x.docx", "/1", "/x", "/quit", PERIOD),
        ends_with=64,
    )
    assert "\n[1] " in out
    assert "\n[2] " in out
    assert f"Taken back: {FEE}" in out
    assert "A new conversation." in out
    assert out.count("[1] ") == 1  # nothing after /quit
    assert FEE in file.read_text()
    assert "did you mean 'sources'" in err
    assert "names no format" in err
    assert "nothing was asked yet" in err
    assert "no question /1" in err
    assert "known: export, help, new, quit, sources, undo" in err


def test_a_refusal_shows_the_nearest_passages(data: Path) -> None:
    out, _ = talk(data, "Who paints the roof of the library?")
    assert "Nearest passages, not an answer" in out
    assert '     "' in out


def test_a_folder_that_does_not_exist_is_not_made(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "no" / "talk.md"
    _, err = talk(data, PERIOD, f"/export {file}", ends_with=73)
    assert "its folder does not exist" in err
    assert not file.parent.exists()


def test_models_that_no_profile_lets_write_are_noted(data: Path) -> None:
    _, err = talk(data, PERIOD, options=("--models", "embedded+ollama"))
    assert "the language model writes no answers" in err
    _, err = talk(data, PERIOD, options=("--models", "embedded"))
    assert "writes no answers" not in err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--collection", "nope"), 65, "no collection 'nope'"),
        (("--where", "foo=bar"), 64, "unknown filter 'foo'"),
    ],
)
def test_the_worst_error_of_a_pipe_is_its_exit_code(
    data: Path, options: tuple[str, ...], code: int, said: str
) -> None:
    lines = ("/sourcs", PERIOD, "/sourcs")
    out, err = talk(data, *lines, options=options, ends_with=code)
    assert said in err
    assert out == ""
    out, _ = talk(data, *lines, options=(*options, "--json"), ends_with=code)
    errors = [json.loads(line)["error"] for line in out.splitlines()]
    assert [error["exit_code"] for error in errors] == [64, code, 64]
    assert said in errors[1]["message"]


def test_with_json_commands_are_lines_of_json(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "talk.md"
    commands = ("/sources", "/sources 1", f"/export {file}", "/undo", "/new", "/help")
    out, _ = talk(data, PERIOD, *commands, options=("--json",))
    answer, listed, whole, exported, undone, new, helped = map(
        json.loads, out.splitlines()
    )
    assert listed == {"command": "sources", "sources": answer["sources"]}
    assert whole["sources"][0]["passage"]
    assert exported == {"command": "export", "file": str(file)}
    assert undone == {"command": "undo", "taken_back": PERIOD}
    assert new == {"command": "new"}
    assert "/quit" in helped["help"]


def test_white_space_of_a_quote_is_a_space() -> None:
    source = NumberedSource(
        number=1,
        chunk="c",
        document_id="d",
        collection="c",
        document="leave.md",
        page=None,
        section="",
        quotes=("Grade N1\t3 months\u2028of\nleave\x1b.",),
        citations=(),
    )
    assert source_lines([source])[1] == '     "Grade N1 3 months of leave\\x1b."'


def test_with_json_every_answer_is_a_line_and_a_conversation_goes_on(
    data: Path,
) -> None:
    out, _ = talk(data, PERIOD, options=("--json",))
    first = json.loads(out)
    again = ("--json", "--conversation", first["conversation_id"])
    out, _ = talk(data, "And how long may it be renewed?", FEE, options=again)
    _, second = map(json.loads, out.splitlines())
    assert second["conversation_id"] == first["conversation_id"]
    assert second["message_id"] == 5


def test_a_conversation_that_is_not_there_is_told(data: Path) -> None:
    args = ["chat", "--data-dir", str(data), "--conversation", "none"]
    with pytest.raises(ConversationNotFoundError):
        CliRunner().invoke(elt_llm, args, input="x\n", catch_exceptions=False)


def read_until(screen: int, words: str) -> str:
    shown = ""
    while words not in shown:
        part = os.read(screen, 10_000).decode(errors="replace")
        assert part, shown
        shown += part
    return shown


@pytest.mark.network
def test_ctrl_c_leaves_the_question_and_not_the_program(data: Path) -> None:
    with EndlessServer(Way.PARTS) as model:
        settings = {
            "ELT_LLM_MODELS__LLM_STRATEGY": "ollama",
            "ELT_LLM_OLLAMA__BASE_URL": model.base_url,
            "ELT_LLM_OLLAMA__NUM_PREDICT": "10000000",
            "ELT_LLM_OLLAMA__CONTEXT_WINDOW": "20000000",
            "ELT_LLM_QUERY__SYNTHESIZER_STRATEGY": "compact",
        }
        controller, terminal = pty.openpty()
        # A run in the background of a shell script ignores Ctrl-C, and so its children.
        listen = "import signal; signal.signal(2, signal.default_int_handler)"
        code = f"{listen}; from elt_llm_core.cli import elt_llm; elt_llm()"
        command = [sys.executable, "-c", code, "chat", "--data-dir", str(data)]
        process = subprocess.Popen(
            command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            env={**os.environ, **settings, "TERM": "xterm"},
        )
        os.close(terminal)
        try:
            read_until(controller, "? ")
            os.write(controller, f"{PERIOD}\n".encode())
            assert model.asked.wait(60)
            os.kill(process.pid, 2)
            read_until(controller, "nothing of it is kept")
            assert model.left.wait(60)
            os.write(controller, b"/sources\n")
            read_until(controller, "nothing was asked yet")
            os.write(controller, b"/quit\n")
            assert process.wait(60) == 0
        finally:
            process.kill()
            os.close(controller)

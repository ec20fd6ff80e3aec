"""Conversations: owned, ordered, whole after any crash, gone when deleted."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core_stores import new_document, put
from elt_llm_core.conversation import Conversation, Message, Speaker
from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.errors import (
    ConversationNotFoundError,
    ForeignConversationError,
    NoDataError,
    TurnReplacedError,
    UsageError,
)
from elt_llm_core.results import Status
from elt_llm_core.store import Store
from elt_llm_core.store.database.conversations import Conversations

pytestmark = pytest.mark.usefixtures("warm_commands")

A, B = "a" * 32, "b" * 32


@pytest.fixture
def kept(store: Store) -> Iterator[Conversations]:
    """The conversations of a data root that is there."""
    put(store, "rules", new_document("a.txt", ["A kite may fly."]), publish=False)
    yield store.conversations
    store.close()


def answer(text: str, *chunks: str) -> Message:
    return Message(
        role=Speaker.ASSISTANT, text=text, status=Status.ANSWERED, chunks=chunks
    )


def ask(kept: Conversations, key: str, question: str, *, owner: str = "ann") -> None:
    turn = kept.begin(key, owner, question)
    kept.complete(turn, answer(f"Answer to {question}", A))


def texts(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages]


def test_a_turn_is_read_back_by_another_process_as_it_was(
    kept: Conversations, store: Store
) -> None:
    turn = kept.begin("c1", "ann", "  May a kite fly?  ")
    given = answer(f"A kite may fly. [chunk:{A}]", A)
    kept.complete(turn, given)
    other = Store(store.data_dir)
    question, reply = other.conversations.read("c1", "ann").messages
    assert (question.role, question.text) == (Speaker.USER, "May a kite fly?")
    assert reply.model_copy(update={"created": ""}) == given
    assert reply.created.endswith("+00:00")
    other.close()


def test_a_question_is_not_seen_before_its_answer(kept: Conversations) -> None:
    ask(kept, "c1", "one")
    turn = kept.begin("c1", "ann", "two")
    assert texts(kept.read("c1", "ann")) == ["one", "Answer to one"]
    kept.complete(turn, answer("2"))
    assert texts(kept.read("c1", "ann")) == ["one", "Answer to one", "two", "2"]


def test_a_cancelled_question_leaves_nothing(kept: Conversations) -> None:
    kept.cancel(kept.begin("c1", "ann", "one"))
    with pytest.raises(ConversationNotFoundError):
        kept.read("c1", "ann")
    ask(kept, "c1", "one")
    kept.cancel(kept.begin("c1", "ann", "two"))
    assert texts(kept.read("c1", "ann")) == ["one", "Answer to one"]


def test_a_named_conversation_stays_when_its_first_question_is_cancelled(
    kept: Conversations,
) -> None:
    made = kept.create("ann", title="Kites")
    kept.cancel(kept.begin(made.conversation_id, "ann", "one"))
    assert kept.read(made.conversation_id, "ann").label == "Kites"


def test_of_two_questions_at_once_the_later_is_answered(kept: Conversations) -> None:
    first = kept.begin("c1", "ann", "one")
    second = kept.begin("c1", "ann", "two")
    with pytest.raises(TurnReplacedError) as raised:
        kept.complete(first, answer("1"))
    assert raised.value.status == 409
    kept.cancel(first)
    kept.complete(second, answer("2"))
    assert texts(kept.read("c1", "ann")) == ["two", "2"]


def test_an_answer_to_a_deleted_conversation_is_refused(kept: Conversations) -> None:
    turn = kept.begin("c1", "ann", "one")
    kept.delete("c1", "ann")
    with pytest.raises(TurnReplacedError):
        kept.complete(turn, answer("1"))


@pytest.mark.parametrize("action", ["read", "begin", "rename", "delete", "undo"])
def test_the_conversation_of_another_is_refused_and_unchanged(
    kept: Conversations, action: str
) -> None:
    ask(kept, "c1", "one")
    rest = ("x",) if action in {"begin", "rename"} else ()
    with pytest.raises(ForeignConversationError) as raised:
        getattr(kept, action)("c1", "bob", *rest)
    assert raised.value.status == 403
    assert "ann" not in str(raised.value)
    assert texts(kept.read("c1", "ann")) == ["one", "Answer to one"]


@pytest.mark.parametrize("action", ["read", "rename", "delete", "undo"])
def test_an_unknown_conversation_is_not_found(kept: Conversations, action: str) -> None:
    rest = ("x",) if action == "rename" else ()
    with pytest.raises(ConversationNotFoundError) as raised:
        getattr(kept, action)("nowhere", "ann", *rest)
    assert raised.value.status == 404


def test_the_list_has_the_last_used_first_and_only_ones_own(
    kept: Conversations,
) -> None:
    ask(kept, "c1", "first " + "x" * 200)
    ask(kept, "c2", "second")
    ask(kept, "c3", "of bob", owner="bob")
    ask(kept, "c1", "again")
    listed = kept.by_owner("ann")
    assert [row.conversation_id for row in listed] == ["c1", "c2"]
    assert [row.message_count for row in listed] == [4, 2]
    assert listed[0].first_message == ("first " + "x" * 200)[:100]
    assert [row.conversation_id for row in kept.by_owner("ann", limit=1)] == ["c1"]


def test_what_a_dead_process_left_is_neither_listed_nor_kept(
    kept: Conversations,
) -> None:
    kept.begin("c1", "ann", "never answered")
    assert kept.by_owner("ann") == ()
    ask(kept, "c1", "asked again")
    assert texts(kept.read("c1", "ann")) == ["asked again", "Answer to asked again"]


def test_a_title_is_what_people_call_it(kept: Conversations) -> None:
    ask(kept, "c1", "May a\nkite fly?")
    assert kept.read("c1", "ann").label == "May a kite fly?"
    kept.rename("c1", "ann", " Kites ")
    assert kept.read("c1", "ann").label == "Kites"
    kept.rename("c1", "ann", "")
    assert kept.read("c1", "ann").label == "May a kite fly?"


def test_undo_takes_the_last_turn_back(kept: Conversations) -> None:
    ask(kept, "c1", "one")
    ask(kept, "c1", "two")
    assert kept.undo("c1", "ann") == "two"
    assert texts(kept.read("c1", "ann")) == ["one", "Answer to one"]
    assert kept.undo("c1", "ann") == "one"
    assert kept.undo("c1", "ann") == ""
    ask(kept, "c1", "three")
    assert texts(kept.read("c1", "ann")) == ["three", "Answer to three"]


@pytest.mark.parametrize(
    ("key", "owner", "text"),
    [
        ("c1", "ann", " "),
        ("c1", "ann", "x" * 10_001),
        ("c1", "ann", "\ud800"),
        ("../c1", "ann", "x"),
        ("c1" * 60, "ann", "x"),
        ("c1", "", "x"),
        ("c1", "ann bell", "x"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_creates_nothing(
    kept: Conversations, key: str, owner: str, text: str
) -> None:
    with pytest.raises(UsageError):
        kept.begin(key, owner, text)
    assert kept.by_owner("ann") == ()


@pytest.mark.parametrize("title", ["x" * 201, "two\nlines", "\x1b[31m"])
def test_a_title_that_cannot_be_one_is_refused(kept: Conversations, title: str) -> None:
    ask(kept, "c1", "one")
    with pytest.raises(UsageError):
        kept.rename("c1", "ann", title)
    assert kept.read("c1", "ann").title == ""


def test_an_id_is_not_given_twice(kept: Conversations) -> None:
    kept.create("ann", "c1")
    with pytest.raises(UsageError, match="'c1' already"):
        kept.create("bob", "c1")
    assert len(kept.create("ann").conversation_id) == 32


def test_reading_creates_no_data_root(store: Store) -> None:
    assert store.conversations.by_owner("ann") == ()
    with pytest.raises(ConversationNotFoundError):
        store.conversations.read("c1", "ann")
    with pytest.raises(NoDataError):
        store.conversations.begin("c1", "ann", "one")
    assert not store.data_dir.exists()


def test_threads_ask_in_conversations_of_their_own(kept: Conversations) -> None:
    def run(number: int) -> None:
        for question in range(5):
            ask(kept, f"c{number}", f"{number}.{question}")

    threads = [threading.Thread(target=run, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(20):
        held = texts(kept.read(f"c{number}", "ann"))[::2]
        assert held == [f"{number}.{question}" for question in range(5)]


def test_deleted_bytes_go_with_a_purge(kept: Conversations, store: Store) -> None:
    ask(kept, "c1", "zeppelin" * 50)
    kept.delete("c1", "ann")
    with store.writer() as writer:
        writer.purge(backups=True)
    store.close()
    for path in store.data_dir.rglob("*"):
        assert not path.is_file() or b"zeppelinzeppelin" not in path.read_bytes()


def test_any_text_comes_back(kept: Conversations) -> None:
    @settings(max_examples=50, deadline=None)
    @given(st.text(min_size=1, max_size=300).filter(str.strip))
    def check(text: str) -> None:
        turn = kept.begin("c1", "ann", text)
        kept.complete(turn, answer(text))
        *_, question, reply = kept.read("c1", "ann").messages
        assert (question.text, reply.text) == (text.strip(), text)

    check()


TURNS = """
import sys
from pathlib import Path
from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.store import Store
kept = Store(Path(sys.argv[1])).conversations
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    turn = kept.begin("c1", "ann", f"question {number}")
    kept.complete(turn, Message(role=Speaker.ASSISTANT, text=f"answer {number}"))
    print(number, flush=True)
"""


def run_turns(
    store: Store, first: int, end: int, **environ: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", TURNS, str(store.data_dir), str(first), str(end)],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        text=True,
    )


def require_whole(held: list[str]) -> None:
    """Every question is followed by its own answer."""
    assert len(held) % 2 == 0
    for question, reply in zip(held[::2], held[1::2], strict=True):
        assert question.replace("question", "answer") == reply


@pytest.mark.parametrize(
    ("point", "kept_turns"),
    [
        (CrashPoint.TURN_BEGUN, 1),
        (CrashPoint.TURN_HALF, 1),
        (CrashPoint.TURN_STORED, 2),
    ],
)
def test_killed_in_the_second_turn(
    kept: Conversations, store: Store, point: CrashPoint, kept_turns: int
) -> None:
    with run_turns(store, 0, 5, **{VARIABLE: f"{point}:2"}) as process:
        assert process.wait(60) == -signal.SIGKILL
    held = texts(kept.read("c1", "ann"))
    require_whole(held)
    assert len(held) == 2 * kept_turns
    with run_turns(store, 7, 8) as process:
        assert process.wait(60) == 0
    assert texts(kept.read("c1", "ann"))[-2:] == ["question 7", "answer 7"]


def test_deletion_is_done_when_the_process_is_killed_after_it(
    kept: Conversations, store: Store
) -> None:
    ask(kept, "c1", "one")
    script = (
        "import sys; from pathlib import Path; from elt_llm_core.store import Store\n"
        "Store(Path(sys.argv[1])).conversations.delete('c1', 'ann')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(store.data_dir)],
        env={**os.environ, VARIABLE: CrashPoint.CONVERSATION_DELETED},
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    with pytest.raises(ConversationNotFoundError):
        kept.read("c1", "ann")


def test_killed_at_any_moment_nothing_reported_is_lost(
    kept: Conversations, store: Store
) -> None:
    """Kill a process at a random moment of its turns, again and again."""
    chance = random.Random(15)  # noqa: S311 - moments, no secrets
    first = 0
    for _ in range(int(os.environ.get("ELT_LLM_KILLS", "12"))):
        with run_turns(store, first, first + 10_000) as process:
            assert process.stdout is not None
            process.stdout.readline()  # it has begun
            time.sleep(chance.random() * 0.05)
            process.kill()
            reported = [int(n) for n in process.stdout.read().split()]
        held = texts(kept.read("c1", "ann"))
        require_whole(held)
        for number in [first, *reported]:
            assert f"question {number}" in held
        first += 10_000


def test_kept_content_is_plain_json(kept: Conversations, store: Store) -> None:
    ask(kept, "c1", "one")
    ((content,),) = store._database.rows(
        "select content from message where ordinal = 1"
    )
    assert json.loads(content) == {"status": "answered", "chunks": [A]}

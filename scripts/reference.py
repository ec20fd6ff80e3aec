"""Writes docs/reference from the code, or checks that it is as the code says.

uv run --group dev python scripts/reference.py [--check]
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import click
from pydantic import BaseModel

from elt_llm_api import create_app
from elt_llm_core import errors, results
from elt_llm_core.cli import elt_llm
from elt_llm_core.config.base import Section
from elt_llm_core.config.sections import RagConfig, StoresSection
from elt_llm_query import Library

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "<!-- written by scripts/reference.py -->\n"
HOW_TO = "[how to use it](../how-to/use-from-python.md)"
RECORDS = "whose JSON schemas are in [schema](schema/).\n"
STAGES = {
    "elt_llm.caches": "use again what a like question found",
    "elt_llm.chunkers": "cut text into chunks",
    "elt_llm.commands": "subcommands of `elt-llm`",
    "elt_llm.contextualisers": "make a question of a message that points back",
    "elt_llm.embedders": "turn text into vectors",
    "elt_llm.enrichers": "put more into the indexes",
    "elt_llm.exporters": "write products for `GET /v1/exports`",
    "elt_llm.fusions": "join the lists of several retrievers",
    "elt_llm.formats": "write and read glossaries of other catalogues",
    "elt_llm.jobs": "work that runs for a while",
    "elt_llm.judges": "confirm what a model says in words of its own",
    "elt_llm.llms": "write",
    "elt_llm.loaders": "read a file",
    "elt_llm.postprocessors": "weigh, widen, cut and order sources",
    "elt_llm.rerankers": "order the candidates again",
    "elt_llm.routers": "choose among the collections",
    "elt_llm.sufficiency": "search for what the sources lack",
    "elt_llm.synthesizers": "make the answer",
    "elt_llm.transforms": "search for more than the question",
}


HTTP_RULES = """# HTTP

`elt-llm serve` answers on 127.0.0.1:7860; `/openapi.json` has the schemas.
Errors are `application/problem+json` with `code` and `hint` as in
[errors](errors.md); only what the page itself asks for, below `/ui/`, may be
refused in words of Gradio's. An error that is ours to fix tells a number that
the server's log has; one of the configuration tells what is wrong and how to
mend it, without values and folders. Where a form cannot be read the status may
differ from that of its code.

Beyond loopback a token is a must (`api.token`, or one a user in `api.users`), sent as
`Authorization: Bearer` or as the password of Basic authentication; without it
the answer is 401, API004. What is sent is plain HTTP: put a proxy that speaks HTTPS
in front. Whatever the method and the path:

| request | answer |
|---|---|
| `Host` is not one of `api.allowed_hosts` | 400, API003 |
| `Origin` is another than `Host` (`null` too) | 403, API005 |
| `Sec-Fetch-Site` is another site, and no link is followed | 403, API005 |
| the body is too large, or files that wait on the page fill their room | 413, API008 |
| ten wrong tokens came from its address within a minute | 429, API010, `Retry-After` |

Programs such as curl send neither `Origin` nor `Sec-Fetch-Site`.

| route | does |
|---|---|
"""
MCP_ROUTE = """| `POST /mcp` | Tools of the Model Context Protocol; \
see [other programs](../how-to/connect-other-programs.md). |
"""
HTTP_EXAMPLE = """
```bash
curl -s http://127.0.0.1:7860/v1/query \\
  -H 'Content-Type: application/json' \\
  -d '{"question": "Who may register?", "collections": ["handbook"]}'
```

The `profile` of a query is one of those that `/v1/status` lists; `incomplete`
there tells what some of them lack here. Removing and renaming answer when they
are done; while a job or another process writes they are refused with 409,
STO004. Files that are sent to `/v1/jobs` are deleted when the job ends; its
field `password` opens protected PDFs and is kept
nowhere.

`top_k`, `top_n` and `use_reranker` of a query take the place of the profile's
numbers: `top_k` candidates are found, of which the answer is made from
`top_n`. Without a reranker there are no candidates, and either one is the
number of sources.

`/v1/chat/completions` and `/v1/models` take and give the shapes of OpenAI's
API, errors too; see [other programs](../how-to/connect-other-programs.md).

`/v1/jobs/{job_id}/events` sends `progress` as it comes and, last, `end` with
the job as `/v1/jobs/{job_id}` has it; a comment every 15 seconds keeps the
connection open. Events are numbered: who sends the number of the last one as
`Last-Event-ID`, as a browser's `EventSource` does, misses none and gets none
twice (the newest 1,000 are kept). Close an `EventSource` at `end`.
`DELETE /v1/jobs/{job_id}` asks the job to end after the item at hand; the answer
is 202, and `state` becomes `cancelled` unless the job ends first. What it has done
is kept, and the same request goes on with the rest. Jobs but those of ingest are
kept in the database: the list ends with those of earlier servers and of commands,
without their files; a server that was killed leaves its jobs `interrupted`.

`/v1/chat/stream` sends what a turn of a conversation does, as it does it:

| event | data |
|---|---|
| `start` | `conversation_id`, `message` and the `turn_id` by which it is stopped |
| `status` | a step as it `begun`, or `ended` with `n_out` and `milliseconds` |
| `token` | words as a model writes them: provisional, and with labels of the prompt |
| `statements` | the checked `answer`; it replaces all tokens |
| `citations` | `sources` by the numbers of the conversation; of a refusal `nearest` |
| `follow_ups` | `questions` to ask next, if `conversation.follow_ups` wants some |
| `complete` | what `/v1/chat` answers; the turn is stored |
| `error` | a problem document; nothing of the turn is stored |

Send the request again with the `id` of the last event as `Last-Event-ID` to read
on. Who left for longer than `api.reconnect_seconds`, or deletes
`/v1/chat/turns/{turn_id}`, ends the turn and its call to the model. What fails
within half a second is told by the status. A conversation is its user's
(`api.users`, else `local`): another's is 403, STO010.

```bash
curl -sN http://127.0.0.1:7860/v1/chat/stream \\
  -H 'Content-Type: application/json' \\
  -d '{"message": "Who may register?", "conversation_id": "mine"}'
```

The answer is a [QueryResult](schema/QueryResult.json); its citations have
the shape that `elt-llm query --json` prints.

The server works on `api.questions_at_once` questions at a time, and
`api.questions_waiting` more wait; further ones get 429, API009, with
`Retry-After`. A question has `query.question_timeout` seconds over all of its
stages, waiting included; then it is answered without what models would still
say, and `degradations` says so. A client that closes its connection ends its
question: the model server sees its own connection close. `/livez`, `/readyz`
and `/healthz` never wait for questions. What a model server said, and where it
is, stands in the server's log and in no answer.

A collection that another embedder indexed is left out of a question that names
no collections (`collection_left_out`); named, it is refused with 409, STO003.

Every text in it (`answer`, `quote`, `text`, `section`, `document`, `removed`,
`degradations`) is plain text, and much of it is copied letter for letter from
documents that strangers may have written. Show it as text: escape it in HTML
and never give it to a Markdown renderer, or an image or link that stands in a
document becomes active. Where the answer must go through Markdown, ask with
`"format": "markdown"`: every mark in `answer` is then escaped, so that a
renderer shows just that text. From Python,
`elt_llm_query.grounding.plain_text.as_markdown` does the same for any text.
"""


def configuration() -> str:
    """Every section and key with its default and meaning."""
    lines = [
        "# Configuration",
        "",
        "One YAML file, one profile on top (`--profile NAME`), then the environment:",
        "`ELT_LLM_QUERY__NUM_QUERIES=3` sets `query.num_queries`. An unknown key is an",
        "error. `elt-llm config shipped > my.yaml` writes the reference with every key",
        "and its comment, to be changed and passed as `--config my.yaml`;",
        "`elt-llm config shipped NAME` prints a profile, `elt-llm config show` what is",
        "in force.",
        "",
    ]
    for name, field in RagConfig.model_fields.items():
        section = field.annotation
        assert isinstance(section, type)  # noqa: S101 - a fault of this script
        assert issubclass(section, Section)  # noqa: S101
        lines += [f"## {name}", "", (section.__doc__ or "").splitlines()[0], ""]
        lines += ["| key | default | meaning |", "|---|---|---|"]
        defaults = section().model_dump(mode="json")
        for key, value in section.model_fields.items():
            shown = json.dumps(defaults[key])
            lines.append(f"| `{key}` | `{shown}` | {value.description} |")
        lines.append("")
    return "\n".join(lines)


def error_tree() -> str:
    """Every error with its code, exit code and HTTP status."""
    lines = [
        "# Errors",
        "",
        "A message says what happened with the value, then the command that mends it.",
        '`--json` prints it as `{"error": {code, message, hint, exit_code}}`, the',
        "HTTP API as `application/problem+json`. Where several things went wrong, both",
        "have them as the list `details`, and people see a line for each.",
        "",
    ]
    for cls in sorted(_tree(errors.EltLlmError), key=lambda c: c.code):
        summary = (cls.__doc__ or "").splitlines()[0]
        lines += [
            f"## {cls.code} {cls.__name__}",
            "",
            f"{summary} Exit code {cls.exit_code}, HTTP {cls.status}.",
            "",
        ]
    lines += [
        "## Exit codes",
        "",
        "| code | meaning |",
        "|---|---|",
        "| 0 | good; an honest refusal to answer is good too |",
        "| 1 | unexpected |",
        "| 2 | partial: some items failed, the others are good |",
        "| 64 | wrong usage |",
        "| 65 | bad input data, no such collection, or `doctor` found a failure |",
        "| 69 | the model server is not available |",
        "| 73 | cannot write: disk full, read-only |",
        "| 75 | locked: another process writes; try again |",
        "| 78 | the configuration is wrong |",
        "| 130 | interrupted; the same command goes on where it stopped |",
        "| 143 | ended by SIGTERM; the same command goes on where it stopped |",
        "",
    ]
    return "\n".join(lines)


def _tree(cls: type[errors.EltLlmError]) -> Iterator[type[errors.EltLlmError]]:
    yield cls
    for child in cls.__subclasses__():
        if child.__module__.startswith(errors.__name__):
            yield from _tree(child)


def commands() -> str:
    """The help of every command as it stands."""
    context = click.Context(elt_llm, info_name="elt-llm")
    lines = ["# Commands", ""]
    for name, command, parent in _commands(elt_llm, context):
        child = click.Context(command, info_name=name, parent=parent)
        lines += [f"## {child.command_path}", "", "```text"]
        lines += [command.get_help(child), "```", ""]
    return "\n".join(lines)


def _commands(
    group: click.Group, context: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        yield name, command, context
        if isinstance(command, click.Group):
            child = click.Context(command, info_name=name, parent=context)
            yield from _commands(command, child)


def strategies() -> str:
    """Every stage and the strategies that ship, with their options."""
    lines = [
        "# Strategies",
        "",
        "Named in the configuration as `<stage>_strategy`, with `<stage>_options`.",
        "A stranger's package adds one by an entry point of the same group.",
        "",
    ]
    for group, purpose in STAGES.items():
        lines += [f"## {group.removeprefix('elt_llm.')}", "", f"These {purpose}.", ""]
        lines += ["| name | what | options |", "|---|---|---|"]
        for point in sorted(entry_points(group=group), key=lambda p: p.name):
            lines.append(_strategy_row(point.name, point.load))
        lines.append("")
    return "\n".join(lines)


def _strategy_row(name: str, load: object) -> str:
    assert callable(load)  # noqa: S101
    try:
        loaded = load()
    except ModuleNotFoundError as error:
        return f"| `{name}` | needs the package `{error.name}` | |"
    text = getattr(loaded, "help", None) or loaded.__doc__ or ""
    summary = text.strip().splitlines()[0]
    fields = getattr(loaded, "model_fields", {})
    options = ", ".join(f"`{key}`" for key in fields)
    return f"| `{name}` | {summary} | {options} |"


def http() -> str:
    """Every route as the OpenAPI document has it."""
    app = create_app(RagConfig(stores=StoresSection(data_dir=Path("nowhere"))))
    lines = [HTTP_RULES]
    for path, methods in sorted(app.openapi()["paths"].items()):
        for method, operation in sorted(methods.items()):
            summary = operation.get("description") or operation.get("summary", "")
            first = " ".join(summary.split("\n\n")[0].split())
            lines.append(f"| `{method.upper()} {path}` | {first} |\n")
    lines.append(MCP_ROUTE)
    return "".join([*lines, HTTP_EXAMPLE])


def library() -> str:
    """The methods of `Library` with their docstrings."""
    lines = ["# Python\n\n`from elt_llm_query import Library`; see ", HOW_TO, ".\n"]
    lines += ["\nResults are records of `elt_llm_core.results`, ", RECORDS]
    for name in ("__init__", *(n for n in vars(Library) if not n.startswith("_"))):
        member = vars(Library)[name]
        head = name if isinstance(member, property) else _call(name, member)
        lines.append(f"\n## `{head}`\n\n```text\n{inspect.getdoc(member)}\n```\n")
    return "".join(lines)


def _call(name: str, function: Callable[..., object]) -> str:
    """The call with its arguments and their defaults, without types."""
    signature = inspect.signature(function)
    arguments = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in list(signature.parameters.values())[1:]
    ]
    plain = signature.replace(
        parameters=arguments, return_annotation=inspect.Signature.empty
    )
    text = re.sub(r"<function (\w+) at \w+>", r"\1", str(plain))
    return f"{'Library' if name == '__init__' else name}{text}"


def schemas() -> Iterator[tuple[str, str]]:
    """JSON schemas of what comes out of a question."""
    records: list[type[BaseModel]] = [results.QueryResult, results.SearchResult]
    for record in records:
        text = json.dumps(record.model_json_schema(), indent=2, sort_keys=True)
        yield f"schema/{record.__name__}.json", text + "\n"


def pages() -> dict[str, str]:
    """File name to content."""
    return {
        "configuration.md": NOTE + configuration(),
        "errors.md": NOTE + error_tree(),
        "commands.md": NOTE + commands(),
        "strategies.md": NOTE + strategies(),
        "http.md": NOTE + http(),
        "python.md": NOTE + library(),
        **dict(schemas()),
    }


def main(arguments: list[str]) -> int:
    """Write, or with --check compare; the exit code."""
    stale = []
    for name, content in pages().items():
        path = FOLDER / name
        if "--check" in arguments:
            if not path.exists() or path.read_text(encoding="utf-8") != content:
                stale.append(name)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    if stale:
        click.echo(f"stale: {', '.join(stale)}; run scripts/reference.py", err=True)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

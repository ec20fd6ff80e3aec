"""Writes docs/reference from the code, or checks that it is up to date.

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
    "elt_llm.caches": "reuse the search results of similar questions",
    "elt_llm.chunkers": "split text into chunks",
    "elt_llm.commands": "subcommands of `elt-llm`",
    "elt_llm.contextualisers": "rewrite messages that refer to earlier ones",
    "elt_llm.embedders": "turn text into vectors",
    "elt_llm.enrichers": "add text to the indexes",
    "elt_llm.exporters": "write products for `GET /v1/exports`",
    "elt_llm.fusions": "fuse the result lists of several retrievers",
    "elt_llm.formats": "exchange glossaries with other catalogues",
    "elt_llm.jobs": "work that runs for a while",
    "elt_llm.judges": "confirm paraphrases of a model",
    "elt_llm.llms": "language models",
    "elt_llm.loaders": "read a file",
    "elt_llm.postprocessors": "weight, extend, filter and order sources",
    "elt_llm.rerankers": "rerank the candidates",
    "elt_llm.routers": "select the collections to search",
    "elt_llm.sufficiency": "search again when the sources do not suffice",
    "elt_llm.synthesizers": "write the answer",
    "elt_llm.transforms": "derive search queries from the question",
}


HTTP_RULES = """# HTTP

`elt-llm serve` answers on 127.0.0.1:7860; `/openapi.json` has the schemas.
Errors are `application/problem+json` with `code` and `hint` as in
[errors](errors.md); only requests of the page itself, below `/ui/`, may get an
error message of Gradio. An internal error has a number that is also in the
server's log. A configuration error says what is wrong and how to fix it, without
values and paths. For a form that cannot be read the status may differ from the
status of its code.

If the server listens on more than loopback, every request needs a token (`api.token`,
or the token of a user in `api.users`), sent as `Authorization: Bearer` or as the
password of Basic authentication; without it the response is 401, API004. The server
speaks plain HTTP: put a proxy with HTTPS in front of it. For every method and path:

| request | response |
|---|---|
| `Host` is not one of `api.allowed_hosts` | 400, API003 |
| `Origin` differs from `Host` (or is `null`) | 403, API005 |
| `Sec-Fetch-Site` is another site, and no link was followed | 403, API005 |
| the body or the uploads waiting on the page are too large | 413, API008 |
| its address sent ten wrong tokens within a minute | 429, API010, `Retry-After` |

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
lists what some of them lack on this machine. Removing and renaming respond when
they are done; while a job or another process writes they are refused with 409,
STO004. Files sent to `/v1/jobs` are deleted when the job ends; its field
`password` opens encrypted PDFs and is never stored.

`top_k`, `top_n` and `use_reranker` of a query override the profile: `top_k`
candidates are retrieved, and the answer is written from the best `top_n`. Without
a reranker there are no candidates, and both set the number of sources.

`/v1/chat/completions` and `/v1/models` use the request, response and error
formats of OpenAI's API; see [other programs](../how-to/connect-other-programs.md).

`/v1/jobs/{job_id}/events` sends `progress` events and finally `end` with the job
as `/v1/jobs/{job_id}` returns it; a comment every 15 seconds keeps the connection
open. Events are numbered: a client that sends the number of the last one as
`Last-Event-ID`, as a browser's `EventSource` does, receives every later event
exactly once (the newest 1,000 are kept). Close an `EventSource` at `end`.
`DELETE /v1/jobs/{job_id}` asks the job to stop after the current item; the response
is 202, and `state` becomes `cancelled` unless the job ends first. Finished items
are kept, and the same request continues with the rest. All jobs except ingests are
stored in the database: the list ends with the jobs of earlier servers and of
commands, without their files; the jobs of a server that was killed are `interrupted`.

`/v1/chat/stream` sends the events of a conversation turn as they happen:

| event | data |
|---|---|
| `start` | `conversation_id`, `message` and the `turn_id` by which it is stopped |
| `status` | a step has `begun`, or `ended` with `n_out` and `milliseconds` |
| `token` | text as the model writes it: provisional, with the labels of the prompt |
| `statements` | the checked `answer`; it replaces all tokens |
| `citations` | `sources`, numbered within the conversation; `nearest` for a refusal |
| `follow_ups` | suggested `questions`, if `conversation.follow_ups` is set |
| `complete` | the response of `/v1/chat`; the turn is stored |
| `error` | a problem document; nothing of the turn is stored |

To continue after a lost connection, send the request again with the `id` of the last
event as `Last-Event-ID`. A turn and its model call end when the client is away for
longer than `api.reconnect_seconds` or sends `DELETE /v1/chat/turns/{turn_id}`. An
error within the first half second sets the HTTP status. A conversation belongs to
its user (`api.users`, else `local`): for other users it is 403, STO010.

```bash
curl -sN http://127.0.0.1:7860/v1/chat/stream \\
  -H 'Content-Type: application/json' \\
  -d '{"message": "Who may register?", "conversation_id": "mine"}'
```

The answer is a [QueryResult](schema/QueryResult.json); its citations have
the shape that `elt-llm query --json` prints.

The server processes `api.questions_at_once` questions at a time, and
`api.questions_waiting` more may wait; further ones get 429, API009, with
`Retry-After`. A question has `query.question_timeout` seconds over all stages,
including the wait; after that it is answered without further model calls, and
`degradations` reports it. If a client closes its connection, its question stops,
and so does the call to the model server. `/livez`, `/readyz` and `/healthz` never
wait for questions. The messages and addresses of model servers appear in the
server's log only, never in a response.

A question that names no collections skips a collection that was indexed with
another embedder (`collection_left_out`); if the question names it, the response is
409, STO003.

Every text in the result (`answer`, `quote`, `text`, `section`, `document`,
`removed`, `degradations`) is plain text, much of it copied verbatim from documents
of unknown origin. Show it as text: escape it in HTML and never pass it to a
Markdown renderer, because images and links in a document would become active. If
the answer must pass through Markdown, ask with `"format": "markdown"`: every markup
character in `answer` is then escaped, so that a renderer shows exactly that text.
From Python,
`elt_llm_query.grounding.plain_text.as_markdown` does the same for any text.
"""


def configuration() -> str:
    """Every section and key with its default and meaning."""
    lines = [
        "# Configuration",
        "",
        "One YAML file, a [domain pack](../how-to/your-organisation.md) on top",
        "(`--pack NAME`), then one profile (`--profile NAME`), then the environment:",
        "`ELT_LLM_QUERY__NUM_QUERIES=3` sets `query.num_queries`. An unknown key is an",
        "error. `elt-llm config shipped > my.yaml` writes the reference with every key",
        "and its comment; change it and pass it as `--config my.yaml`.",
        "`elt-llm config shipped NAME` prints a profile, `elt-llm config show` the",
        "configuration in force.",
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
        "A message says what happened, with the value, then the command that fixes it.",
        '`--json` prints it as `{"error": {code, message, hint, exit_code}}`, the',
        "HTTP API as `application/problem+json`. If several things went wrong, both",
        "have the list `details`, and the terminal shows one line for each.",
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
        "| 0 | success; a refusal to answer is a success too |",
        "| 1 | unexpected |",
        "| 2 | partial: some items failed, the others succeeded |",
        "| 64 | wrong usage |",
        "| 65 | bad input data, no such collection, or `doctor` found a failure |",
        "| 69 | the model server is not available |",
        "| 73 | cannot write: disk full, read-only |",
        "| 75 | locked: another process writes; try again |",
        "| 78 | the configuration is wrong |",
        "| 130 | interrupted; the same command resumes where it stopped |",
        "| 143 | ended by SIGTERM; the same command resumes where it stopped |",
        "",
    ]
    return "\n".join(lines)


def _tree(cls: type[errors.EltLlmError]) -> Iterator[type[errors.EltLlmError]]:
    yield cls
    for child in cls.__subclasses__():
        if child.__module__.startswith(errors.__name__):
            yield from _tree(child)


def commands() -> str:
    """The help of every command."""
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
        "A third-party package adds one by an entry point of the same group.",
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

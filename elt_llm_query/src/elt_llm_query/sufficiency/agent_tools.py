"""The tools of an agent: search, read a section or a table, query the model's graph.

Every tool returns passages of the collections and nothing else. They are numbered in
the order in which the agent saw them.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.core.tools import FunctionTool

from elt_llm_core import provenance
from elt_llm_core.errors import AbandonedError, EltLlmError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.tables import Relation
from elt_llm_query.grounding.labels import escape_labels
from elt_llm_query.llm_calls import fence
from elt_llm_query.postprocessors.expansion import Neighbours
from elt_llm_query.sufficiency.gap_rounds import FoundSources, Nodes

# Passages of one search; few, because the agent reads them all and may search again.
SHOWN = 5
# Chunks before and after a passage that are read as its section.
AROUND = 6
NOTHING = "Nothing was found."


class PassageTools:
    """The tools of one question, and the passages that they returned.

    Args:
        sources: The passages of the question, and functions to find more.
        tokens: Maximum number of tokens of one result.
        count: Counts tokens.
    """

    def __init__(
        self, sources: FoundSources, tokens: int, count: Callable[[str], int]
    ) -> None:
        self._sources = sources
        self._tokens = tokens
        self._count = count
        self._shown: dict[str, NodeWithScore] = {}
        self._asked: set[tuple[str, str]] = set()

    @property
    def passages(self) -> Nodes:
        """Return the passages so far; their numbers count from 1."""
        return list(self._shown.values())

    def show(self, nodes: Iterable[NodeWithScore]) -> str:
        """Return passages as text for the agent: whole ones, at least one.

        Args:
            nodes: The passages, best first.
        """
        written: list[str] = []
        room = self._tokens
        for hit in nodes:
            known = hit.node.node_id in self._shown
            passage = self._write(hit, known=known)
            room -= self._count(passage)
            if written and room < 0:
                break
            self._shown.setdefault(hit.node.node_id, hit)
            written.append(passage)
        if not written:
            return NOTHING
        return "\n".join(["<passages>", *written, "</passages>"])

    def tools(self) -> list[FunctionTool]:
        """Return the tools in the form of LlamaIndex's agents."""
        own: list[Callable[..., str]] = [
            *(self.search, self.read_section, self.read_table)
        ]
        if self._sources.ask_graph is not None:
            own.append(self.ask_model)
        return [_make_tool(function) for function in own]

    def search(self, query: str) -> str:
        """Search the documents for passages, by words and by meaning."""

        def find(asked: str) -> Nodes:
            return self._sources.search(asked)[:SHOWN]

        return self._bring("search", str(query).strip(), find)

    def read_section(self, passage: int) -> str:
        """Read what stands before and after a passage in its section, by its number."""
        return self._bring("read_section", str(passage), self._read_section)

    def read_table(self, passage: int) -> str:
        """Read all rows of the table that a passage is part of or stands beside."""
        return self._bring("read_table", str(passage), self._read_table)

    def ask_model(self, question: str) -> str:
        """Ask the enterprise model for its elements and their relations."""
        graph = self._sources.ask_graph
        assert graph is not None  # noqa: S101 - otherwise the tool is not offered
        return self._bring("ask_model", str(question).strip(), graph)

    def _bring(self, tool: str, asked: str, find: Callable[[str], Nodes]) -> str:
        """Return the passages of a tool call, or an error message."""
        log = self._sources.log
        with log.stage(f"tool:{tool}", 1) as note:
            note.top = ((asked, 0.0),)
            if not asked:
                return "The argument is empty."
            if (tool, asked) in self._asked:
                return "This was asked already; see above."
            self._asked.add((tool, asked))
            try:
                nodes = find(asked)
            except ValueError as error:
                return str(error)
            except AbandonedError:
                raise
            except EltLlmError as error:
                kind = DegradationKind.STAGE_LEFT_OUT
                detail = f"the agent's tool {tool} failed: {error}"
                log.degrade(Degradation(kind=kind, detail=detail))
                return "The tool failed."
            before = len(self._shown)
            text = self.show(nodes)
            note.n_out = len(self._shown) - before
        return text

    def _read_section(self, number: str) -> Nodes:
        step = Neighbours(before=AROUND, after=AROUND)
        around = step.over(self._sources.collections, self._sources.where)
        return around.postprocess_nodes([self._passage(number)])

    def _read_table(self, number: str) -> Nodes:
        hit = self._passage(number)
        place = provenance.read(hit.node)
        home = next(
            (c for c in self._sources.collections if c.name == place.collection), None
        )
        if home is None:
            return []
        tables, rows = home.tables(place.document_id)
        table = _choose_table(tables, place)
        if table is None:
            raise ValueError("There is no table beside this passage.")
        where = self._sources.where
        allowed = home.ids(where) if where else None
        return [
            NodeWithScore(node=row, score=hit.score)
            for row in rows
            if _is_in(table, provenance.read(row).span_start)
            and (allowed is None or row.node_id in allowed)
        ]

    def _passage(self, number: str) -> NodeWithScore:
        """Return a passage by number. Raises ValueError for the model."""
        passages = self.passages
        at = int(number) if number.isdecimal() else 0
        if not 1 <= at <= len(passages):
            raise ValueError(f"The passages have the numbers 1 to {len(passages)}.")
        return passages[at - 1]

    def _write(self, hit: NodeWithScore, *, known: bool) -> str:
        place = provenance.read(hit.node)
        number = len(self._shown) + 1
        if known:
            number = 1 + list(self._shown).index(hit.node.node_id)
        page = f"p. {place.page}" if place.page is not None else ""
        head = ", ".join(p for p in (place.document, place.section, page) if p)
        text = provenance.reading(hit.node) or hit.node.get_content(MetadataMode.NONE)
        return fence(escape_labels(f"[{number}] {head}: {' '.join(text.split())}"))


def _make_tool(function: Callable[..., str]) -> FunctionTool:
    async def apart(**arguments: Any) -> str:
        # LlamaIndex's own thread would not have the context of the waiting client.
        return await asyncio.to_thread(function, **arguments)

    return FunctionTool.from_defaults(
        fn=function, async_fn=apart, description=function.__doc__
    )


def _choose_table(
    tables: Sequence[Relation], place: provenance.Provenance
) -> Relation | None:
    """Return the table that contains a passage, or the first one of its section."""
    holding = (table for table in tables if _is_in(table, place.span_start))
    beside = (t for t in tables if place.section and t.section == place.section)
    return next(holding, None) or next(beside, None)


def _is_in(table: Relation, start: int) -> bool:
    rows = table.rows
    return bool(rows) and rows[0].start <= start < rows[-1].end

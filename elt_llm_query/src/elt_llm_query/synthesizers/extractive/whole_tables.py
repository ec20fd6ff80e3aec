"""Small tables quoted whole, if no word of the question distinguishes their rows.

"How many days of annual leave do I get?" is answered by all rows of a table under
"Annual leave" together, with the sentence that introduces it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from typing_extensions import override

from elt_llm_core.document import BlockKind
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read, sentences
from elt_llm_query.analysis.table_question import Ask
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.grounding.labels import label_of
from elt_llm_query.postprocessors.collection_step import CollectionStep, Outlines
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Part, Passage
from elt_llm_query.synthesizers.extractive.constraints import is_measured
from elt_llm_query.synthesizers.extractive.single_rows import (
    counts_in_rows,
    excludes_rows,
    names_a_row,
    of_all_rows,
    selects_rows,
)

# Rows of a table that can be read at a glance; questions to a longer one want one row
# or figure.
MOST_ROWS = 12


class TableRows(CollectionStep):
    """Appends to the nodes the other rows of their tables, and the text before.

    Only for small tables: those with at most `MOST_ROWS` rows under one heading.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        outlines, taken = Outlines(), {n.node.node_id for n in nodes}
        added: list[NodeWithScore] = []
        for hit in nodes:
            if not _is_row(hit):
                continue
            for node in self._rows_around(hit, outlines):
                if node.node_id not in taken:
                    taken.add(node.node_id)
                    added.append(NodeWithScore(node=node, score=hit.score))
        return [*nodes, *added]

    def _rows_around(self, hit: NodeWithScore, outlines: Outlines) -> list[TextNode]:
        """Return the chunks of the row's section that may belong to its table."""
        home = self.home(hit.node)
        if home is None:
            return []
        outline, at = outlines.around(home, hit.node)
        near = (
            outline[max(at - MOST_ROWS - 1, 0) : at + MOST_ROWS + 1] if at >= 0 else []
        )
        ids = [one.node_id for one in near if one.section == outline[at].section]
        known = home.nodes(self.filter_permitted(home, ids))
        return [known[i] for i in ids if i in known]


def _is_row(hit: NodeWithScore) -> bool:
    return bool(hit.node.metadata.get("kind") == BlockKind.TABLE_ROW)


def read_tables(passages: Sequence[Passage]) -> list[Passage]:
    """Return the small tables of the passages, each as one passage of its rows.

    Args:
        passages: The sources and the chunks added to them.
    """
    return [_to_table(run, passages) for run in _runs(passages)]


def _runs(passages: Sequence[Passage]) -> Iterator[list[int]]:
    """Return the indexes of consecutive rows under the same headers."""
    rows = [i for i, p in enumerate(passages) if p.place and _holds_values(p)]
    rows.sort(key=lambda i: passages[i].place or ("", 0))
    runs: list[list[int]] = []
    for row in rows:
        if runs and _follows(passages[runs[-1][-1]], passages[row]):
            runs[-1].append(row)
        else:
            runs.append([row])
    for run in runs:
        small = 1 < len(run) <= MOST_ROWS
        if small and any(not passages[i].beside for i in run):
            yield run


def _holds_values(passage: Passage) -> bool:
    """Return True for a row of values; False for the header row."""
    headers = " ".join(cell.header for cell in passage.cells)
    row = passage.whole and bool(passage.cells)
    return row and read(passage.text).folded_line != read(headers).folded_line


def _follows(before: Passage, row: Passage) -> bool:
    if before.place is None or row.place is None:
        return False
    (document, number), one = before.place, {c.header for c in before.cells}
    other = {c.header for c in row.cells}
    return row.place == (document, number + 1) and bool(one & other)


def _to_table(run: Sequence[int], passages: Sequence[Passage]) -> Passage:
    rows = [passages[i] for i in run]
    best = next(row for row in rows if not row.beside)
    parts = [*_lead_in(rows[0], passages)]
    lead = " ".join(passages[i].text[start:end] for i, start, end in parts)
    parts += [(i, 0, len(passages[i].text)) for i in run]
    cells = "; ".join(_with_headers(row) for row in rows)
    text = "\n".join(passages[i].text[start:end] for i, start, end in parts)
    return replace(
        best,
        text=text,
        reading=f"{lead} {cells}".strip(),
        cells=(),
        parts=tuple(parts),
        reading_of_head=" ".join([lead, *(c.header for c in rows[0].cells)]),
    )


def _lead_in(first: Passage, passages: Sequence[Passage]) -> Iterator[Part]:
    """Return the sentence before the first row, if it ends in a colon."""
    document, number = first.place or ("", 0)
    for i, passage in enumerate(passages):
        prose = not passage.whole and passage.section == first.section
        if prose and passage.place == (document, number - 1):
            *_, last = sentences(passage.text) or (None,)
            if last is not None and last.text.endswith(":"):
                yield i, last.start, last.end


def _with_headers(row: Passage) -> str:
    cells = ((c.header, row.text[c.start : c.end]) for c in row.cells)
    return " | ".join(f"{header}: {text}" if header else text for header, text in cells)


def keep_unnamed_tables(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates without tables that are no answer as a whole.

    A table is left out if one of its rows is itself a candidate, if its rows would have
    to be selected, counted or compared, or if it lacks a content word of the question,
    which would name a row or a column of it.

    Args:
        question: The question.
        candidates: Sentences, tables, and rows that the question distinguishes.
        passages: The sources, then the tables.
    """
    taken = {c.passage for c in candidates if passages[c.passage].whole}
    telling = [term for term, weight in question.weights.items() if weight == 1]

    def answers(table: Passage) -> bool:
        alone = not any(row in taken for row, _, _ in table.parts)
        whole = alone and _needs_no_operation(question, table, passages, telling)
        about = whole and all(match(t, table.stems) for t in telling)
        # "How heavy is it?" asks for one row of a table whose rows are not all weights.
        above = f"{table.section.rpartition(' > ')[2]} {table.reading_of_head}"
        rows = [passages[row] for row, _, _ in table.parts if passages[row].cells]
        about = about and all(is_measured(question, f"{above} {r.text}") for r in rows)
        return about and not _names_some_rows(table, passages, telling)

    return [
        c
        for c in candidates
        if not passages[c.passage].parts or answers(passages[c.passage])
    ]


def _names_some_rows(
    table: Passage, passages: Sequence[Passage], telling: Sequence[str]
) -> bool:
    """Return True if a word is in the cells of some rows, and not itself above them.

    "When is a payment due?" is not answered by all steps of a reminder because one of
    them offers a payment plan. A synonym above the table ("charges") tells less.
    """
    over = read(f"{table.heading} {table.reading_of_head}").stems
    rows = [passages[i].stems for i, _, _ in table.parts if passages[i].cells]
    counts = [sum(match(term, row) == 1 for row in rows) for term in telling]
    return any(
        0 < count < len(rows) and match(term, over) < 1
        for term, count in zip(telling, counts, strict=True)
    )


def _needs_no_operation(
    question: QuestionAnalysis,
    table: Passage,
    passages: Sequence[Passage],
    telling: Sequence[str],
) -> bool:
    """Return False if rows would have to be selected, counted or compared first.

    A question with the label of a row asks for that row. A list of all rows is no
    selection: "Which official events are there?" below a
    heading of that name. No word of it is in a cell or in the header of a column.
    """
    asked = of_all_rows(question)
    rows = [
        Candidate(i, start, end, 0.0, 0.0)
        for i, start, end in table.parts
        if passages[i].cells
    ]
    if asked is not None and asked.ask is Ask.CELL:
        return counts_in_rows(question, rows, passages)
    if asked is not None:
        return False
    if not selects_rows(question):
        return not names_a_row(question, rows, passages)
    first = passages[rows[0].passage] if rows else table
    title = first.reading.rpartition(" - ")[0]
    labels = first.cells[0].header if first.cells else ""
    over = read(f"{table.heading} {title} {labels}")
    return not excludes_rows(question) and all(match(t, over.stems) for t in telling)


def parts_of(passages: Sequence[Passage], candidate: Candidate) -> list[Candidate]:
    """Return the lead-in and rows of a table as candidates; other candidates alone."""
    parts = passages[candidate.passage].parts
    return [
        replace(candidate, passage=i, start=start, end=end) for i, start, end in parts
    ] or [candidate]


def with_labels(claims: Sequence[Claim], nodes: Sequence[NodeWithScore]) -> list[Claim]:
    """Return the claims with the labels that their sources have now.

    Args:
        claims: Quotes of the sources.
        nodes: The sources with their new labels.
    """
    labels = {n.node.node_id: label_of(n.node) for n in nodes}
    return [replace(claim, label=labels[claim.node_id]) for claim in claims]

"""Checks of passages by a model: gaps, CRAG grades, and unproven parts of a draft."""

import re
from collections.abc import Sequence

from llama_index.core.llms import LLM
from llama_index.core.schema import MetadataMode
from pydantic import BaseModel, Field
from typing_extensions import override

from elt_llm_core.models.structured import load_json
from elt_llm_core.models.token_count import token_counter
from elt_llm_core.strategy import Models
from elt_llm_query.llm_calls import (
    Prompted,
    faithful_lines,
    predict_shape,
    predict_text,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import GAPS, GRADES
from elt_llm_query.sufficiency.gap_rounds import (
    MOST_QUERIES,
    FoundSources,
    GapRounds,
    Nodes,
    RoundsOptions,
    SourceGap,
)

TOKENS = 200  # limit of a response: a sentence on what is missing, and two questions
_GRADE = re.compile(r"(\d{1,3})\W+(yes|no|part(?:ly)?)", re.IGNORECASE)


class Gaps(BaseModel):
    """What the passages lack."""

    sufficient: bool = Field(description="whether they suffice to answer")
    queries: list[str] = Field(description="at most two searches; none if they suffice")


class GapLook(Prompted, GapRounds):
    """A model lists missing information; the prompt asks it to be conservative."""

    def __init__(self, llm: LLM, most_rounds: int, context_tokens: int) -> None:
        Prompted.__init__(self, with_short_answers(llm, TOKENS), GAPS)
        GapRounds.__init__(self, most_rounds)
        self._context_tokens = context_tokens

    @override
    def look(self, sources: FoundSources, nodes: Nodes) -> SourceGap:
        shown = show_passages(self._llm, nodes, self._context_tokens)
        answer = predict_shape(
            self._llm, self._prompt, Gaps, question=sources.question, passages=shown
        )
        queries = _read_queries(answer)
        kept = faithful_lines(
            f"{sources.question}\n{shown}", "\n".join(queries), MOST_QUERIES
        )
        return SourceGap(tuple(kept), nodes, "gaps" if kept else "sufficient")


class GapOptions(RoundsOptions):
    """Search for what a model finds missing, two searches a round."""

    @override
    def build(self, models: Models) -> GapRounds:
        llm = require_llm(models, "query.sufficiency_strategy: gaps")
        return GapLook(llm, self.most_rounds, self.context_tokens)


class CragLook(Prompted, GapRounds):
    """CRAG's verdict: correct keeps, incorrect searches again, ambiguous does both.

    Yan et al. 2024, "Corrective Retrieval Augmented Generation", with grades of a model
    instead of the trained evaluator, and searches of the same collections instead of
    the web.
    """

    def __init__(self, llm: LLM, most_rounds: int, context_tokens: int) -> None:
        Prompted.__init__(self, with_short_answers(llm, TOKENS), GRADES)
        GapRounds.__init__(self, most_rounds)
        self._context_tokens = context_tokens

    @override
    def look(self, sources: FoundSources, nodes: Nodes) -> SourceGap:
        shown = show_passages(self._llm, nodes, self._context_tokens)
        answer = predict_text(
            self._llm, self._prompt, question=sources.question, passages=shown
        )
        grades = {int(number): g.lower() for number, g in _GRADE.findall(answer)}
        queries = tuple(
            faithful_lines(sources.question, _GRADE.sub("", answer), MOST_QUERIES)
        )
        if "yes" in grades.values():
            return SourceGap((), nodes, "right")
        if grades and set(grades.values()) == {"no"}:
            # Passages beyond the shown ones were not graded.
            kept = [hit for n, hit in enumerate(nodes, 1) if grades.get(n) != "no"]
            return SourceGap(queries, kept, "wrong")
        return SourceGap(queries, nodes, "ambiguous")


class CragOptions(RoundsOptions):
    """Let a model grade the passages; search again if they are wrong."""

    @override
    def build(self, models: Models) -> GapRounds:
        llm = require_llm(models, "query.sufficiency_strategy: crag")
        return CragLook(llm, self.most_rounds, self.context_tokens)


class FlareLook(GapRounds):
    """FLARE: searches for statements of a draft that the passages do not support.

    Jiang et al. 2023, "Active Retrieval Augmented Generation", with statements that
    fail the checks instead of tokens of low probability, which servers do not report.
    """

    @override
    def look(self, sources: FoundSources, nodes: Nodes) -> SourceGap:
        unproven = sources.draft(nodes)[:MOST_QUERIES]
        return SourceGap(tuple(unproven), nodes, "unproven" if unproven else "proven")


class FlareOptions(RoundsOptions):
    """Search for the statements of a draft that nothing proves."""

    @override
    def build(self, models: Models) -> GapRounds:
        require_llm(models, "query.sufficiency_strategy: flare", "answer")
        return FlareLook(self.most_rounds)


def show_passages(llm: LLM, nodes: Nodes, tokens: int) -> str:
    """Return numbered passages, as many whole ones as fit, at least one.

    Args:
        llm: Counts the tokens.
        nodes: The passages, the best first.
        tokens: Maximum number of tokens.
    """
    count = token_counter(llm)
    shown: list[str] = []
    for number, hit in enumerate(nodes, 1):
        text = " ".join(hit.node.get_content(metadata_mode=MetadataMode.NONE).split())
        passage = f"{number}. {text}"
        if shown and count("\n".join([*shown, passage])) > tokens:
            break
        shown.append(passage)
    return "\n".join(shown)


def _read_queries(answer: Gaps | str) -> Sequence[str]:
    """Return the searches of an answer, also from plain text."""
    if isinstance(answer, Gaps):
        return [] if answer.sufficient else answer.queries
    given = load_json(answer)
    if isinstance(given, dict):
        if given.get("sufficient") is not False:
            return []
        queries = given.get("queries")
        return [q for q in queries if isinstance(q, str)] if queries else []
    return [line for line in answer.splitlines() if line.rstrip(" \"'*").endswith("?")]

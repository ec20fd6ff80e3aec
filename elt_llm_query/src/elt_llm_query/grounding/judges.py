"""A second opinion on paraphrases: does the passage support the statement?

The lexical checks prove that a passage contains every number, name, "not" and content
word of a paraphrase. A judge may only withdraw such a verdict: what the checks refuse
stays refused.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixin, PromptMixinType
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import ModelError
from elt_llm_core.results import Degradation, DegradationKind, Support
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_query.grounding.quote_match import QuoteMatch
from elt_llm_query.grounding.statement_lookup import ClaimMatch, StatementCheck
from elt_llm_query.llm_calls import (
    Prompted,
    predict_text,
    require_llm,
    with_short_answers,
)
from elt_llm_query.prompts import ENTAILMENT
from elt_llm_query.trace import TraceLog

TOKENS = 8  # of an answer that is one word
NOT_CONFIRMED = "the judge model finds no support for it in the passage"
_VERDICT = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_MOST_CHARACTERS = 60  # of an answer that is shown in an error


class ClaimJudge(Protocol):
    """Decides whether a passage supports a claim."""

    def confirms(self, claim: str, passage: str) -> bool:
        """Return whether everything in the claim follows from the passage.

        Args:
            claim: One statement, without labels.
            passage: The cited sentences, below their title and section.

        Raises:
            ModelError: If it cannot be decided.
        """


JUDGES: Stage[ClaimJudge | None] = Stage("judges")


class NoJudgeOptions(Strategy[ClaimJudge | None]):
    """The lexical checks decide alone."""

    @override
    def build(self, models: Models) -> None:
        """Return None."""


class ModelJudgeOptions(Strategy[ClaimJudge | None]):
    """The model of the role `judge` confirms each paraphrase, one short call each."""

    prompt: str = Field(
        default=ENTAILMENT,
        description="prompt with {claim} and {passage} that asks for Yes or No",
    )

    @override
    def build(self, models: Models) -> ClaimJudge:
        llm = require_llm(models, "query.judge_strategy: llm", "judge")
        return ModelJudge(llm, self.prompt)


class ModelJudge(Prompted, PromptMixin):
    """Asks a language model for Yes or No.

    Args:
        llm: The model.
        prompt: A prompt with `{claim}` and `{passage}`.
    """

    def __init__(self, llm: LLM, prompt: str = ENTAILMENT) -> None:
        super().__init__(with_short_answers(llm, TOKENS), prompt)

    @override
    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def confirms(self, claim: str, passage: str) -> bool:
        """Return whether the model answers Yes; see `ClaimJudge`."""
        answer = predict_text(self._llm, self._prompt, claim=claim, passage=passage)
        verdict = _VERDICT.search(answer)
        if verdict is None:
            raise ModelError(
                f"the judge answered neither yes nor no: {answer[:_MOST_CHARACTERS]!r}",
                "use a larger model for roles.judge, or judge_strategy: none",
            )
        return verdict[1].lower() == "yes"


def confirm_paraphrases(
    checks: Sequence[StatementCheck], judge: ClaimJudge | None, log: TraceLog
) -> list[StatementCheck]:
    """Return the checks, refusing paraphrases that the judge does not confirm.

    Args:
        checks: The check of each statement against the sources.
        judge: Called once for each pair of claim and passage; None changes nothing.
        log: Gets a degradation if the judge fails; the lexical checks are then final.
    """
    if judge is None:
        return list(checks)
    known: dict[tuple[str, str], bool] = {}
    failures: dict[str, int] = {}

    def apply_verdict(match: ClaimMatch, plain: str) -> ClaimMatch:
        if match.match.support is not Support.SUPPORTED:
            return match
        pair = (plain, passage_of(match))
        if pair not in known:
            try:
                known[pair] = judge.confirms(*pair)
            except ModelError as error:
                known[pair] = True
                failures[str(error)] = failures.get(str(error), 0) + 1
        if known[pair]:
            return match
        refused = QuoteMatch(Support.UNSUPPORTED, 0.0, reason=NOT_CONFIRMED)
        return replace(match, match=refused)

    judged = [
        replace(
            one,
            matches=tuple(apply_verdict(m, one.statement.plain) for m in one.matches),
        )
        for one in checks
    ]
    for reason, count in failures.items():
        detail = f"{count} paraphrases were not judged by the model: {reason}"
        kind = DegradationKind.STAGE_LEFT_OUT
        log.degrade(Degradation(kind=kind, detail=detail))
    return judged


def passage_of(match: ClaimMatch) -> str:
    """Return the cited passage below its title and section."""
    source, quote = match.where.source, match.match
    text = match.where.reading or source.text[quote.start : quote.end]
    heading = ", ".join(part for part in (source.document, source.section) if part)
    return f"{heading}\n{text}"

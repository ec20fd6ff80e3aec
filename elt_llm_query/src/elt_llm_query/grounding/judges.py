"""A second opinion on paraphrases: does the passage support the statement?

The lexical checks prove that a passage contains every number, name, "not" and content
word of a paraphrase. A judge withdraws such a verdict if it does not confirm it. A
judge that `accepts` also decides on paraphrases that are refused for their wording
alone; it never decides where a number, a name, a "not", a duty or a limit differs.
"""

import re
from collections import Counter
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
ACCEPTED = "in other words; the judge model finds support for it in the passage"
NOT_CONFIRMED = "the judge model finds no support for it in the passage"
_VERDICT = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_MOST_CHARACTERS = 60  # of an answer that is shown in an error


class ClaimJudge(Protocol):
    """Decides whether a passage supports a claim.

    Attributes:
        accepts: Whether it decides on paraphrases that the lexical checks refuse for
            their wording alone.
    """

    accepts: bool

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

    accepts: bool = Field(
        default=False,
        description="also let it accept paraphrases whose words the passage lacks, if "
        "no number, name, negation, duty or limit differs",
    )
    prompt: str = Field(
        default=ENTAILMENT,
        description="prompt with {claim} and {passage} that asks for Yes or No",
    )

    @override
    def build(self, models: Models) -> ClaimJudge:
        llm = require_llm(models, "query.judge_strategy: llm", "judge")
        return ModelJudge(llm, self.prompt, accepts=self.accepts)


class ModelJudge(Prompted, PromptMixin):
    """Asks a language model for Yes or No.

    Args:
        llm: The model.
        prompt: A prompt with `{claim}` and `{passage}`.
        accepts: Whether it may accept a paraphrase that the lexical checks refuse.
    """

    def __init__(
        self, llm: LLM, prompt: str = ENTAILMENT, *, accepts: bool = False
    ) -> None:
        super().__init__(with_short_answers(llm, TOKENS), prompt)
        self.accepts = accepts

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
    """Return the checks with the judge's verdicts on paraphrases.

    Args:
        checks: The check of each statement against the sources.
        judge: Called once for each pair of claim and passage; None changes nothing.
        log: Gets a degradation if the judge fails; the lexical checks are then final.
    """
    if judge is None:
        return list(checks)
    verdicts = _Verdicts(judge)
    judged = [
        replace(
            one,
            matches=tuple(
                verdicts.apply(match, one.statement.plain) for match in one.matches
            ),
        )
        for one in checks
    ]
    for reason, count in verdicts.failures.items():
        detail = f"{count} paraphrases were not judged by the model: {reason}"
        kind = DegradationKind.STAGE_LEFT_OUT
        log.degrade(Degradation(kind=kind, detail=detail))
    return judged


class _Verdicts:
    """The verdicts of a judge, each asked for once, and its failures."""

    def __init__(self, judge: ClaimJudge) -> None:
        self._judge = judge
        self._known: dict[tuple[str, str], bool | None] = {}
        self.failures: Counter[str] = Counter()

    def apply(self, match: ClaimMatch, plain: str) -> ClaimMatch:
        """Return the match as the judge decides, or unchanged."""
        lookup = match.match
        if lookup.support is Support.SUPPORTED:
            if self._decide(plain, match) is False:
                refused = QuoteMatch(Support.UNSUPPORTED, 0.0, reason=NOT_CONFIRMED)
                return replace(match, match=refused)
        elif self._judge.accepts and lookup.open_span is not None:
            span = lookup.open_span
            accepted = QuoteMatch(Support.SUPPORTED, 1.0, *span, reason=ACCEPTED)
            new = replace(match, match=accepted)
            if self._decide(match.quote, new):
                return new
        return match

    def _decide(self, claim: str, match: ClaimMatch) -> bool | None:
        """Return the verdict; None if the judge fails."""
        pair = claim, passage_of(match)
        if pair not in self._known:
            try:
                self._known[pair] = self._judge.confirms(*pair)
            except ModelError as error:
                self._known[pair] = None
                self.failures[str(error)] += 1
        return self._known[pair]


def passage_of(match: ClaimMatch) -> str:
    """Return the cited passage below its title and section."""
    source, quote = match.where.source, match.match
    text = match.where.reading or source.text[quote.start : quote.end]
    heading = ", ".join(part for part in (source.document, source.section) if part)
    return f"{heading}\n{text}"

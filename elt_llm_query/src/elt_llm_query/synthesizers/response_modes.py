"""Response modes like LlamaIndex's with our prompts: labels, quotes, refusals.

LlamaIndex's own make one call per source or full prompt. These make at most
`most_calls` calls, pack sources whole under their labels, and report sources that the
model did not read.
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain
from math import ceil
from typing import ClassVar

from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import NodeWithScore
from typing_extensions import override

from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models
from elt_llm_query.prompts import (
    REFUSAL,
    answer_template,
    combine_template,
    refine_template,
)
from elt_llm_query.synthesizers.prompt_packer import BETWEEN
from elt_llm_query.synthesizers.written_answer import (
    Budget,
    ModelSynthesizer,
    Written,
    WrittenOptions,
    label_texts,
    note_unread,
    require_writer,
)

ANSWER, REFINE, COMBINE = "text_qa_template", "refine_template", "combine_template"


class CompactOptions(WrittenOptions):
    """All sources in as few prompts as fit, each improving the answer."""

    @override
    def build(self, models: Models) -> "Compact":
        prompts = {
            ANSWER: answer_template(self.system_prompt),
            REFINE: refine_template(self.system_prompt),
        }
        return Compact(require_writer(models, "compact"), self, **prompts)


class Compact(ModelSynthesizer):
    """An answer to the first prompt, improved with the further prompts."""

    spread: ClassVar[bool] = False

    @override
    def write(
        self, question: str, nodes: Sequence[NodeWithScore], budget: Budget
    ) -> Written:
        context, rest = self._next(question, label_texts(nodes), budget)
        values = {"query_str": question}
        answer = self.ask(ANSWER, budget, context_str=context, **values)
        while rest and budget.remaining > 0:
            context, rest = self._next(question, rest, budget, answer)
            if not context:  # the answer itself fills the window
                break
            values["existing_answer"] = answer
            answer = self.ask(REFINE, budget, context_msg=context, **values)
        return Written(answer, note_unread(len(rest), len(nodes)))

    def _next(
        self, question: str, rest: Sequence[str], budget: Budget, answer: str = ""
    ) -> tuple[str, list[str]]:
        prompt = REFINE if answer else ANSWER
        most = ceil(len(rest) / max(budget.remaining, 1)) if self.spread else 0
        return self.fill(prompt, question, rest, taken=answer, most=most)


class RefineOptions(WrittenOptions):
    """One prompt a source while calls suffice, each improving the answer."""

    @override
    def build(self, models: Models) -> "Refine":
        prompts = {
            ANSWER: answer_template(self.system_prompt),
            REFINE: refine_template(self.system_prompt),
        }
        return Refine(require_writer(models, "refine"), self, **prompts)


class Refine(Compact):
    """Like `Compact`, with the sources distributed evenly over the calls."""

    spread = True


class AccumulateOptions(WrittenOptions):
    """One answer a source while calls suffice, put together."""

    @override
    def build(self, models: Models) -> "Accumulate":
        prompts = {ANSWER: answer_template(self.system_prompt)}
        return Accumulate(require_writer(models, "accumulate"), self, **prompts)


class Accumulate(ModelSynthesizer):
    """Concatenated answers, without "Response 1:", which is in no source."""

    @override
    def write(
        self, question: str, nodes: Sequence[NodeWithScore], budget: Budget
    ) -> Written:
        answers, rest = [], label_texts(nodes)
        while rest and budget.remaining > 0:
            most = ceil(len(rest) / budget.remaining)
            context, rest = self.fill(ANSWER, question, rest, most=most)
            values = {"query_str": question, "context_str": context}
            answers.append(self.ask(ANSWER, budget, **values))
        text = BETWEEN.join(_without_refusals(answers)) or REFUSAL
        return Written(text, note_unread(len(rest), len(nodes)))


class TreeSummarizeOptions(WrittenOptions):
    """Prompts over parts of the sources, then one over their answers."""

    @override
    def build(self, models: Models) -> "TreeSummarize":
        llm = require_writer(models, "tree_summarize")
        return TreeSummarize(llm, self, **_combine_prompts(self.system_prompt))


class MapReduceOptions(WrittenOptions):
    """One prompt a collection, then one over their answers."""

    @override
    def build(self, models: Models) -> "MapReduce":
        llm = require_writer(models, "map_reduce")
        return MapReduce(llm, self, **_combine_prompts(self.system_prompt))


class PartsSynthesizer(ModelSynthesizer):
    """An answer to each part of the sources, then one from these answers."""

    @abstractmethod
    def parts(
        self, question: str, nodes: Sequence[NodeWithScore], most: int
    ) -> tuple[list[str], int]:
        """Return the text of each prompt, and how many sources are incomplete.

        Args:
            question: The question.
            nodes: The labelled sources, best first.
            most: Maximum number of parts, if there is more than one.
        """

    @override
    def write(
        self, question: str, nodes: Sequence[NodeWithScore], budget: Budget
    ) -> Written:
        contexts, unread = self.parts(question, nodes, max(budget.remaining - 1, 1))
        values = {"query_str": question}
        answers = _without_refusals(
            [self.ask(ANSWER, budget, context_str=one, **values) for one in contexts]
        )
        text = answers[0] if answers else REFUSAL
        if len(answers) > 1:
            template = self.get_prompts()[COMBINE].partial_format(**values)
            shown = self.packer.truncate(template, answers)
            text = self.ask(COMBINE, budget, context_str=BETWEEN.join(shown), **values)
        return Written(text, note_unread(unread, len(nodes)))


class TreeSummarize(PartsSynthesizer):
    """Parts as large as the window, the best sources first."""

    @override
    def parts(
        self, question: str, nodes: Sequence[NodeWithScore], most: int
    ) -> tuple[list[str], int]:
        contexts: list[str] = []
        rest = label_texts(nodes)
        while rest and len(contexts) < most:
            context, rest = self.fill(ANSWER, question, rest)
            contexts.append(context)
        return contexts, len(rest)


class MapReduce(TreeSummarize):
    """A part for each collection; the last ones share a part if calls are few.

    Sources of one collection are split by the size of the window.
    """

    @override
    def parts(
        self, question: str, nodes: Sequence[NodeWithScore], most: int
    ) -> tuple[list[str], int]:
        groups = _by_collection(nodes)
        if len(groups) == 1:
            return super().parts(question, nodes, most)
        groups[most - 1 :] = [list(chain.from_iterable(groups[most - 1 :]))]
        filled = [self.fill(ANSWER, question, label_texts(one)) for one in groups]
        return [context for context, _ in filled], sum(len(rest) for _, rest in filled)


class SimpleSummarizeOptions(WrittenOptions):
    """One prompt with the beginning of every source, cut to fit."""

    @override
    def build(self, models: Models) -> "SimpleSummarize":
        prompts = {ANSWER: answer_template(self.system_prompt)}
        llm = require_writer(models, "simple_summarize")
        return SimpleSummarize(llm, self, **prompts)


class SimpleSummarize(ModelSynthesizer):
    """One prompt with every source, or the beginning of each."""

    @override
    def write(
        self, question: str, nodes: Sequence[NodeWithScore], budget: Budget
    ) -> Written:
        texts = label_texts(nodes)
        template = self.get_prompts()[ANSWER].partial_format(query_str=question)
        shown = self.packer.truncate(template, texts)
        values = {"query_str": question, "context_str": BETWEEN.join(shown)}
        answer = self.ask(ANSWER, budget, **values)
        pairs = zip(texts, shown, strict=True)
        cut = sum(len(part) < len(text) for text, part in pairs)
        if not cut:
            return Written(answer)
        detail = f"the model read the beginning of {cut} of {len(nodes)} sources"
        kind = DegradationKind.PROMPT_SHORTENED
        return Written(answer, (Degradation(kind=kind, detail=detail),))


def _combine_prompts(system_prompt: str) -> dict[str, BasePromptTemplate]:
    return {
        ANSWER: answer_template(system_prompt),
        COMBINE: combine_template(system_prompt),
    }


def _by_collection(nodes: Sequence[NodeWithScore]) -> list[list[NodeWithScore]]:
    """Return the sources by collection, the collection of the best source first."""
    groups: dict[str, list[NodeWithScore]] = {}
    for node in nodes:
        name = str(node.node.metadata.get("collection", ""))
        groups.setdefault(name, []).append(node)
    return list(groups.values())


def _without_refusals(answers: Sequence[str]) -> list[str]:
    """Return the answers that are not refusals: a part may contain no answer."""
    return [one for one in answers if one.strip() and one.strip(' "') != REFUSAL]

"""Filter a streamed answer so that it can be shown before it is checked.

The output is a function of the whole text: for every split into tokens, the joined
output is the same. A label such as `[S1]` is shown whole or not at all, and an unknown
one is left out. So are reasoning, a heading `Answer` and everything after a heading
`References`, which was not requested.
"""

import re
from collections.abc import Generator, Sequence
from contextlib import closing
from enum import Enum, auto

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate

from elt_llm_core.models.gateway.answers import whole_statements
from elt_llm_core.models.gateway.spending import count_cut_answers
from elt_llm_query.grounding.labels import LABEL_GROUP, parse_group
from elt_llm_query.grounding.statements import LABEL
from elt_llm_query.step_events import TokenEvent, is_watched, report

# Maximum number of characters held back as a possible label: a list of ten labels, each
# with its word ("SOURCE 12, ").
LONGEST_GROUP = 120
# How long to wait for a heading `Answer` that the prompt requests: 100 tokens of four
# characters, the longest wait without visible text.
OPENING = 400

_DECORATION = "#*_ \t"
_MAY_BE_GROUP = re.compile(
    r"(?:\[{1,2}|\(|<{1,2}|\u3010)"
    rf"[\s\d,;&\u2013_\-acdefnorsu]{{0,{LONGEST_GROUP}}}[\])>\u3011]?\Z",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"^[#*_ \t]{0,8}references[*_ \t]*(?::|$)", re.IGNORECASE | re.MULTILINE
)
_ANSWER = re.compile(
    r"^[#*_ \t]{0,8}answer[*_ \t]*(?::[*_ \t]*|\n|\Z)\s*", re.IGNORECASE | re.MULTILINE
)
_ASKED = re.compile(r"^#+ *answer\b", re.IGNORECASE | re.MULTILINE)
_THINK, _THOUGHT = "<think>", "</think>"


class _State(Enum):
    """The position in the text."""

    OPENING = auto()  # before the first word of the answer
    BODY = auto()
    REFERENCES = auto()  # nothing of it is shown


class AnswerFilter:
    """Takes tokens and returns the text that may be shown.

    Args:
        labels: The labels of the sources; None keeps all as written.
        opening: Characters for which a heading `Answer` is waited for.
    """

    def __init__(self, labels: Sequence[str] | None, opening: int = 0) -> None:
        self._labels = None if labels is None else frozenset(labels)
        self._opening = opening
        self._held = ""
        self._state = _State.OPENING
        self._line_start = True
        self._begun = False

    def feed(self, token: str) -> str:
        """Add a token; return the text that can be shown now, often empty."""
        self._held += token
        return self._show(last=False)

    def flush(self) -> str:
        """Return the remaining text at the end of the answer."""
        return self._show(last=True)

    def _show(self, *, last: bool) -> str:
        if self._state is _State.OPENING and not self._open(last=last):
            return ""
        if self._state is _State.REFERENCES:
            self._held = ""
            return ""
        end = len(self._held) if last else self._certain()
        heading = self._find_references(last=last)
        if heading is not None:
            self._state = _State.REFERENCES
            end = heading
        ready, self._held = self._held[:end], self._held[end:]
        if heading is not None or last:
            ready, self._held = ready.rstrip(), ""
        if ready:
            self._line_start = ready.endswith("\n")
        return self._write(ready)

    def _open(self, *, last: bool) -> bool:
        """Remove the text before the answer; False while that is uncertain."""
        text = self._held.lstrip()
        lowered = text[: len(_THINK)].lower()
        if not last and len(lowered) < len(_THINK) and _THINK.startswith(lowered):
            return False
        if lowered == _THINK:
            end = text.lower().find(_THOUGHT)
            if end < 0 and not last:
                return False
            self._held = text[end + len(_THOUGHT) :] if end >= 0 else ""
            return self._open(last=last) if self._held or last else False
        return self._leave_out_heading(text, last=last)

    def _leave_out_heading(self, text: str, *, last: bool) -> bool:
        """Remove the heading `Answer` and the text before it."""
        heading = _ANSWER.search(text)
        near = heading if heading and heading.start() <= self._opening else None
        if near and (last or near.end() < len(text)):
            text = text[near.end() :]
        elif not last and (near or self._may_open(text)):
            return False
        self._held = text
        self._state = _State.BODY
        return True

    def _may_open(self, text: str) -> bool:
        """Return whether a heading `Answer` may still come."""
        if self._opening:
            return len(text) <= self._opening + LONGEST_GROUP
        return len(text) <= LONGEST_GROUP and _may_be_heading(text, "answer")

    def _certain(self) -> int:
        """Return how much of the held text no later token can change."""
        held = self._held
        end = len(held)
        group = _MAY_BE_GROUP.search(held, max(0, end - LONGEST_GROUP - 3))
        if group:
            end = group.start()
        newline = held.rfind("\n")
        line = held[newline + 1 :]
        if (newline >= 0 or self._line_start) and _may_be_heading(line, "references"):
            end = min(end, newline + 1)
        return len(held[:end].rstrip())

    def _find_references(self, *, last: bool) -> int | None:
        """Return where a heading of references begins in the held text."""
        for match in _REFERENCES.finditer(self._held):
            at_line_start = match.start() > 0 or self._line_start
            ended = last or match[0].endswith(":") or match.end() < len(self._held)
            if at_line_start and ended:
                return match.start()
        return None

    def _write(self, text: str) -> str:
        """Return the text with its labels in one form, without unknown ones."""

        def rewrite(bracket: re.Match[str]) -> str:
            labels = parse_group(bracket) if len(bracket[0]) <= LONGEST_GROUP else None
            if labels is None or self._labels is None:
                return bracket[0]
            good = [label for label in labels if label in self._labels]
            if bracket["open"] == "(" and good != labels:
                return bracket[0]
            return "".join(f"[{label}]" for label in good) or "\x00"

        written = re.sub(r"\s*\x00", "", LABEL_GROUP.sub(rewrite, text))
        if not self._begun:  # a removed label may have been its first word
            written = written.lstrip()
            self._begun = bool(written)
        return written


def predict_answer(
    llm: LLM, prompt: BasePromptTemplate, *, again: bool = False, **values: str
) -> str:
    """Return an answer without reasoning, heading and list of references.

    If the question has an observer, the answer is streamed; a truncated answer then
    ends at a whole statement, as without streaming.

    Args:
        llm: The model.
        prompt: Its template.
        again: Whether the answer replaces one that was shown before.
        **values: The values for the template, which contain the labels of the prompt.

    Raises:
        ModelError: If the model fails, also while it writes.
    """
    opening = OPENING if _ASKED.search(prompt.get_template()) else 0
    if is_watched():
        offered = (text for name, text in values.items() if name != "query_str")
        shown = AnswerFilter(LABEL.findall("\n".join(offered)), opening)
        text = _read_tokens(llm.stream(prompt, **values), shown, again=again)
    else:
        text = llm.predict(prompt, **values)
    bare = AnswerFilter(None, opening)
    return bare.feed(text) + bare.flush()


def _read_tokens(
    tokens: Generator[str, None, None], shown: AnswerFilter, *, again: bool
) -> str:
    """Return the text of all tokens, showing each as soon as possible."""
    parts = []
    cut = count_cut_answers()
    # Closed at once if the client has left; else the connection to the model stays open
    # until the traceback is freed.
    with closing(tokens):
        for token in tokens:
            parts.append(token)
            if ready := shown.feed(token):
                report(TokenEvent(text=ready, restart=again))
                again = False
    if ready := shown.flush():
        report(TokenEvent(text=ready, restart=again))
    text = "".join(parts)
    return whole_statements(text) if count_cut_answers() > cut else text


def _may_be_heading(line: str, word: str) -> bool:
    """Return whether an unfinished line may become a heading of one word."""
    rest = line.lstrip(_DECORATION).lower()
    if word.startswith(rest):
        return True
    return rest.startswith(word) and not rest[len(word) :].strip("*_ \t")

"""How sure a judge model is of true and false statements in free wordings.

    uv run --extra llm python benchmarks/judged_statements.py MODEL.gguf --answers FILE
        [--most N]

Puts statements of `written_answers/` in free wordings to the model, each with the text
of its cited sources, and reads the probability of "Yes" from the first token. FILE
keeps the probabilities, so that a run goes on where it stopped. Prints the area under
the ROC curve, and how many true and false statements a limit of the probability
accepts: alone, and where the lexical checks also contradict nothing.
"""

import argparse
import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from claims import interval
from elt_llm_core.models.gguf import open_server
from elt_llm_core.results import Support
from elt_llm_query.grounding.statements import LABEL
from elt_llm_query.prompts import ENTAILMENT
from verdicts import HALVES, PROVEN, Outcome, check, read_answers, wording_of

LIMITS = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7)
WINDOW, THREADS = 2048, 2
LONGEST = 3000  # characters of the sources of a statement
SEED = 7  # of the order in which statements are put
NO_CLAIM = ("lead-in", "refusal")
Request = dict[str, Any]


class Judged(NamedTuple):
    """A statement with the lexical verdict and the probability of "Yes"."""

    outcome: Outcome
    yes: float

    @property
    def is_true(self) -> bool:
        """True if a reader found it proven."""
        return self.outcome.statement.verdict == PROVEN

    @property
    def is_open(self) -> bool:
        """True if the lexical checks prove it or find nothing that differs."""
        return self.outcome.verdict in (PROVEN, Support.UNSUPPORTED)


def read_outcomes() -> list[Outcome]:
    """Return the statements in free wordings with their lexical verdicts, shuffled."""
    outcomes = [
        one
        for half in HALVES
        for answer in read_answers(half)
        if wording_of(answer) == "free"
        for one in check(answer)
        if one.statement.kind not in NO_CLAIM
    ]
    random.Random(SEED).shuffle(outcomes)  # noqa: S311 - an order, no secret
    return outcomes


def write_prompt(outcome: Outcome) -> str:
    """Return the question to the judge, with the sources that the statement cites."""
    text, sources = outcome.statement.text, outcome.answer.sources
    cited = [s for s in sources if f"[{s.source.label}]" in text] or list(sources)
    texts = "\n".join(s.source.text for s in cited)[:LONGEST]
    passage = f"{outcome.answer.document}\n{texts}"
    return ENTAILMENT.format(passage=passage, claim=LABEL.sub("", text).strip())


def ask(server: Any, prompt: str) -> float:
    """Return the probability of "Yes" against "No" in the first token."""
    request: Request = {
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 20,
    }
    answer = server.handle_chat_completions(request)
    first = answer["choices"][0]["logprobs"]["content"][0]
    weights = {"yes": 1e-9, "no": 1e-9}
    for token in first["top_logprobs"]:
        word = token["token"].strip().lower()
        if word in weights:
            weights[word] += math.exp(token["logprob"])
    return weights["yes"] / sum(weights.values())


def judge(outcomes: Sequence[Outcome], model: Path, kept: Path) -> Iterator[Judged]:
    """Yield the statements with their probabilities, asking for those not in `kept`."""
    known = json.loads(kept.read_text()) if kept.exists() else {}
    server: Any = None
    for outcome in outcomes:
        prompt = write_prompt(outcome)
        if prompt not in known:
            server = server or open_server(model, WINDOW, THREADS)
            known[prompt] = ask(server, prompt)
            kept.write_text(json.dumps(known))
        yield Judged(outcome, known[prompt])


def area(judged: Sequence[Judged]) -> float:
    """Return the chance that a true statement has a higher probability than a false."""
    true = [one.yes for one in judged if one.is_true]
    false = [one.yes for one in judged if not one.is_true]
    higher = sum((t > f) + 0.5 * (t == f) for t in true for f in false)
    return higher / (len(true) * len(false))


def main() -> None:
    """Ask, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--most", type=int, default=None)
    options = parser.parse_args()
    outcomes = read_outcomes()[: options.most]
    judged = list(judge(outcomes, options.model, options.answers))
    print(f"{len(judged)} statements, area under the curve {area(judged):.2f}")
    print("| limit | true accepted | false accepted | true, no difference | false |")
    print("|---|---|---|---|---|")
    for limit in LIMITS:
        cells = []
        for is_open in (False, True):
            for is_true in (True, False):
                group = [one for one in judged if one.is_true == is_true]
                hits = [o for o in group if o.yes >= limit and o.is_open >= is_open]
                cells.append(interval(len(hits), len(group)))
        print(f"| {limit} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

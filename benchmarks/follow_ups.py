"""Follow-ups: how many are resolved, asked back, and answered wrongly.

    python benchmarks/follow_ups.py --data-dir ROOT [--show] [--config FILE]
        [--set seen|held|fresh|late|late-held|new|last|clean|unseen]

No model is asked unless the configuration FILE names one, for example
`models: {llm_strategy: gguf, llm_options: {model_path: model.gguf}}`.

Asks each line of follow_ups.tsv in a conversation of its own. ROOT has the collections
`sample` (the handbook of the sample), `rules` (the competition rules), `hr` and `bank`
(the two policies) and `drugs` (the monographs) of the evaluation data:

    elt-llm ingest FILES --collection NAME --data-dir ROOT --models embedded

A line has the question before, the follow-up, the question that a person makes of it
(`ask` where it cannot be known, `courtesy` where it asks nothing), words that a right
answer is about (`nothing` where the documents have none), and words of the passage that
answers it. Lines of the set `held` were not looked at while the rules were
made, those of `fresh` were written afterwards and are about other documents. `late` and
`late-held` are about documents of their own, written before the rules were changed for
the former: `nist` (NIST SP 800-63-4), `colds` (three reviews), `adgm` (the rule books
AML, CIB and FUNDS), `telecom`, `imf` and `veterans` (pages of `reading_dev`).
`new` and `last` were written by people who did not know the rules: the former over
`general` and `markets` (the rule books GEN and MKT), `earnings` (two press releases of
`financebench`), `papers` (five papers of `reading_dev`) and `guides` (style guide and
README of the rules), the latter, after the rules were changed for the former, over
`funds` (FUNDS), `filing` (a quarterly report), `device` (`p230014b`, `imf`), `identity`
(NIST SP 800-63C) and `lipitor`. `clean` was written before certainty was checked, over
`conduct` (COBS), `results` (two releases of `financebench`), `guidelines` (of the
rules), `sinus` (the CT study, JSON), `finland` (`eu-012` to `014`) and `zoonoses`
(`eu-016` to `019`).
`unseen` was written with the right outcome of each before any was asked, over `bank`,
`metformin` (its monograph alone), `losses` (`eu-008` and `eu-026`) and `encyclopaedia`
(the twelve English articles of `xquad_dev`, a text file each, as `conflicts.py` writes
them).

Wrong is an answer about something else than is meant, or to what nobody can know; one
that says that it is not certain is counted apart, and so is a right answer to a message
that was searched as it was written. R@5
says whether one of the first five sources has the passage, for the question as it was
understood and for the person's.
"""

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elt_llm_core.results import Status
from elt_llm_query import Library
from elt_llm_query.analysis.noun_phrases import stems_of
from elt_llm_query.conversation.turn import ChatResult
from elt_llm_query.prompts import UNSURE_ANSWER

CASES = Path(__file__).with_suffix(".tsv")
SETS = ["seen", "held", "fresh", "late", "late-held", "new", "last", "clean"]
SETS += ["unseen", ""]
ANSWERED = {Status.ANSWERED, Status.PARTIAL}
FIRST = 5
COURTESY = "courtesy"  # in place of the question, of a message that asks nothing
NOTHING = "nothing"  # in place of the words, of what the documents do not say


class Case(NamedTuple):
    """One follow-up."""

    collection: str
    before: str
    message: str
    standalone: str
    about: str
    gold: str
    set: str


class Outcome(NamedTuple):
    """How a follow-up was taken."""

    case: Case
    first: Status
    turn: ChatResult
    has_gold: bool | None
    person_has_gold: bool | None

    @property
    def is_answered(self) -> bool:
        """Whether it was answered."""
        return self.turn.result.status in ANSWERED

    @property
    def is_wrong(self) -> bool:
        """Whether it was answered about something else than is meant."""
        if not self.is_answered:
            return False
        if self.case.standalone in {"ask", COURTESY} or self.case.about == NOTHING:
            return True
        meant = stems_of(self.case.about)
        return not all(
            meant <= stems_of(f"{quotes} {cited.section} {cited.document}")
            for statement in self.turn.result.statements
            for quotes in [" ".join(c.quote for c in statement.citations)]
            for cited in statement.citations
        )

    @property
    def is_unsure(self) -> bool:
        """Whether the answer says that it is not certain."""
        return any(UNSURE_ANSWER in s.text for s in self.turn.result.statements)

    @property
    def name(self) -> str:
        """What happened, in one word or two."""
        if self.is_wrong:
            return "wrong, said to be uncertain" if self.is_unsure else "wrong"
        if self.turn.courtesy:
            return "courtesy" if self.case.standalone == COURTESY else "asked back"
        if self.turn.unclear:
            refused = self.first not in ANSWERED
            return "asked back, last refused" if refused else "asked back"
        how = "resolved" if self.turn.searched else "as written"
        return f"{how}, answered" if self.is_answered else f"{how}, refused"


def read_cases(which: str) -> list[Case]:
    """Return the cases of a set; all of them where it is empty."""
    with CASES.open(encoding="utf-8") as lines:
        cases = [Case(**row) for row in csv.DictReader(lines, delimiter="\t")]
    return [case for case in cases if which in {"", case.set}]


def run(library: Library, cases: list[Case]) -> Iterator[Outcome]:
    """Ask each follow-up in a conversation of its own."""
    conversations = library.store.conversations
    for number, case in enumerate(cases):
        key = f"follow-up-{number}"
        first = library.chat(case.before, key, case.collection)
        turn = library.chat(case.message, key, case.collection)
        conversations.delete(key, "local")
        yield Outcome(
            case,
            first.result.status,
            turn,
            _has_gold(library, case, turn.searched),
            _has_gold(library, case, case.standalone),
        )


def _has_gold(library: Library, case: Case, question: str) -> bool | None:
    """Whether the first sources have the passage; None without a question or gold."""
    if not question or not case.gold or case.standalone in {"ask", COURTESY}:
        return None
    result = library.search(question, case.collection)
    texts = (" ".join(s.text.split()) for s in result.sources[:FIRST])
    return any(case.gold.lower() in text.lower() for text in texts)


def print_table(outcomes: list[Outcome]) -> None:
    """Print one row a collection, and one of all."""
    kinds = [
        *("resolved, answered", "resolved, refused"),
        *("asked back", "asked back, last refused"),
        *("as written, answered", "as written, refused", "courtesy", "wrong"),
        "wrong, said to be uncertain",
    ]
    print(f"| collection | follow-ups | {' | '.join(kinds)} | R@5 | a person's |")
    print("|---" * (len(kinds) + 4) + "|")
    names = [*dict.fromkeys(o.case.collection for o in outcomes), ""]
    for name in names:
        chosen = [o for o in outcomes if name in {"", o.case.collection}]
        counts = Counter(o.name for o in chosen)
        judged = [o for o in chosen if o.has_gold is not None]
        own = sum(bool(o.has_gold) for o in judged)
        person = sum(bool(o.person_has_gold) for o in judged)
        row = [name or "all", len(chosen), *(counts[kind] for kind in kinds)]
        row += [f"{own} of {len(judged)}", f"{person} of {len(judged)}"]
        print(f"| {' | '.join(map(str, row))} |")


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--set", choices=SETS, default="")
    parser.add_argument("--show", action="store_true", help="each follow-up too")
    parser.add_argument("--config", type=Path, help="by default the embedded models")
    options = parser.parse_args()
    models = None if options.config else "embedded"
    with Library(options.data_dir, config=options.config, models=models) as library:
        outcomes = list(run(library, read_cases(options.set)))
    if options.show:
        for o in outcomes:
            print(f"{o.name}: {o.case.before} {o.case.message}")
            print(f"    meant      {o.case.standalone}")
            print(f"    understood {o.turn.searched or o.turn.text}")
            if o.is_answered:
                print(f"    answered   {' '.join(o.turn.text.split())[:160]}")
    print_table(outcomes)


if __name__ == "__main__":
    main()

"""How often a claim near the words of a document is shown, if true and if false.

    uv run python benchmarks/near_claims.py [--list]

The documents and claims of `near_claims/` (see its README) are checked under the policy
`strict`, each claim as an answer of its own over all sections of its document. `--list`
prints the wrong ones.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from claims import interval
from elt_llm_core.results import Source, Span, Status
from elt_llm_query.grounding.citations import Checked, cite_answer
from elt_llm_query.grounding.sources import Offered, QuotePlace

FOLDER = Path(__file__).parent / "near_claims"
_CLAIM = re.compile(r"(TRUE|FALSE) (S\d+) (.+)\.")
_SECTION = re.compile(r"## (S\d+) (.+)")


class NearClaim(NamedTuple):
    """A claim on one section, and whether the section says it."""

    text: str
    label: str
    true: bool


def read_claims(path: Path) -> tuple[list[Offered], list[NearClaim]]:
    """Return the sections of a document as sources, and its claims."""
    title, *lines = path.read_text("utf-8").splitlines()
    claims = [
        NearClaim(m[3], m[2], m[1] == "TRUE") for m in map(_CLAIM.fullmatch, lines) if m
    ]
    return list(_read_sections(title.removeprefix("# "), lines)), claims


def _read_sections(document: str, lines: list[str]) -> Iterator[Offered]:
    for heading, text in pairwise(lines):
        if match := _SECTION.fullmatch(heading):
            source = Source(
                label=match[1],
                node_id=match[1],
                document_id="d",
                collection="c",
                document=document,
                section=match[2],
                text=text,
                score=1.0,
                span=Span(start=0, end=len(text)),
            )
            yield Offered(source)


def check(claim: NearClaim, sources: list[Offered]) -> Checked:
    """Return the claim as an answer of its own, under `strict`."""
    answer = f"{claim.text} [{claim.label}]."
    return cite_answer(answer, sources, lambda *_: QuotePlace(None, ()), "strict")


def main() -> None:
    """Check the claims of each document, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print wrong ones")
    options = parser.parse_args()
    for path in sorted(FOLDER.glob("*.txt")):
        sources, claims = read_claims(path)
        total = Counter(claim.true for claim in claims)
        wrong: Counter[bool] = Counter()
        for claim in claims:
            checked = check(claim, sources)
            if (checked.status is Status.ANSWERED) != claim.true:
                wrong[claim.true] += 1
                if options.list:
                    reason = [one.reason for one in checked.removed]
                    print(f"- {claim.true} [{claim.label}] {claim.text}: {reason}")
        print(f"{path.stem:13} false, shown {interval(wrong[False], total[False])}")
        print(f"{'':13} true, refused {interval(wrong[True], total[True])}")


if __name__ == "__main__":
    main()

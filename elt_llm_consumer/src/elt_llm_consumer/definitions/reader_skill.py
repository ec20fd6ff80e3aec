"""Estimate the reliability of a second reader without labels.

The scorer gives the probability of each candidate. A reliable reader lists the probable
ones far more often than the others; one that accepts everything does not. Both rates
are estimated by expectation maximisation, as Dawid and Skene do for several readers
("Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979),
with the scorer's probabilities as priors.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Verdict = tuple[float, bool]
_ROUNDS, _SETTLED = 100, 1e-6
# A reader without errors on a few candidates may err on the next: add one of each
# (Laplace's rule of succession).
_ONE_MORE = 1.0
_LEAST = 1e-6  # limit of a probability, so that nothing is certain


@dataclass(frozen=True)
class ReaderSkill:
    """How often a reader lists right candidates (`sees`) and wrong ones (`errs`).

    A reader with equal rates gives no information, and one that errs more often is
    treated in the same way.
    """

    sees: float
    errs: float

    def revise(self, probability: float, written: bool) -> float:
        """Return a probability after the reader's verdict, by Bayes' rule.

        Args:
            probability: Before it.
            written: Whether the reader wrote the candidate down.
        """
        if self.errs >= self.sees:
            return probability
        prior = min(max(probability, _LEAST), 1 - _LEAST)
        right = self.sees if written else 1 - self.sees
        wrong = self.errs if written else 1 - self.errs
        return prior * right / (prior * right + (1 - prior) * wrong)


def measure_skill(verdicts: Sequence[Verdict]) -> ReaderSkill:
    """Estimate how often a reader is right.

    Args:
        verdicts: For each candidate its probability before, and whether the reader
            wrote it down.
    """
    skill = ReaderSkill(sees=0.5, errs=0.1)
    for _ in range(_ROUNDS):
        posterior = [skill.revise(p, written) for p, written in verdicts]
        right, wrong = sum(posterior), len(verdicts) - sum(posterior)
        seen = sum(
            q for q, (_, written) in zip(posterior, verdicts, strict=True) if written
        )
        erred = sum(written for _, written in verdicts) - seen
        new = ReaderSkill(
            sees=(seen + _ONE_MORE) / (right + 2 * _ONE_MORE),
            errs=(erred + _ONE_MORE) / (wrong + 2 * _ONE_MORE),
        )
        change = abs(new.sees - skill.sees) + abs(new.errs - skill.errs)
        skill = new
        if change < _SETTLED:
            break
    return skill

"""What an evaluation says: figures that are equal in every run, and measured times."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from elt_llm_core.records import Record
from elt_llm_core.results import Degradation
from elt_llm_query.evaluation.measures import Difference, Interval


class Asked(Record):
    """What the questions were asked of."""

    data: str
    split: str
    passages: int
    questions: int
    gold: int
    embedder: str
    embedder_digest: str
    text: dict[str, bool | int | str | None] = Field(
        description="what of a passage was indexed"
    )


class ModelUse(Record):
    """What models were asked while the questions ran, the questions' own vectors apart.

    Tokens of a language model are those its server tells of.
    """

    llm_calls: int = 0
    llm_tokens_read: int = 0
    llm_tokens_written: int = 0
    embedded_texts: int = 0
    embedded_tokens: int = 0


class StageRecall(Record):
    """What one stage does to the gold passages of all questions together.

    `lost` counts gold passages that came in and did not go on; `alone` those that only
    this list found.
    """

    stage: str
    recall_at_10: float = Field(ge=0, le=1)
    recall: float = Field(ge=0, le=1, description="of what it passes on")
    passed: float = Field(ge=0, description="passages it passes on, on average")
    lost: int | None = Field(default=None, ge=0)
    alone: int | None = Field(default=None, ge=0)


class Configured(Record):
    """One configuration's figures. `changed` are its settings that are not default."""

    name: str
    config_hash: str
    changed: dict[str, object]
    measures: dict[str, Interval]
    stages: tuple[StageRecall, ...]
    use: ModelUse
    degradations: tuple[Degradation, ...] = ()


class Compared(Record):
    """A configuration against the first one, measure by measure."""

    name: str
    against: str
    measures: dict[str, Difference]


class Milliseconds(Record):
    """The middle and the slow end of some times, and the mean time on a processor."""

    p50: float
    p95: float
    cpu: float

    @classmethod
    def of(cls, values: Sequence[float], cpu: float) -> "Milliseconds":
        """Percentiles of at least one value, and the processor's share of all."""
        p50, p95 = np.percentile(values, [50, 95])
        return cls(
            p50=round(float(p50), 2),
            p95=round(float(p95), 2),
            cpu=round(cpu / len(values), 2),
        )


class Measured(Record):
    """What differs from run to run. Searches are timed without the embedding."""

    search: dict[str, Milliseconds]
    embedding: Milliseconds
    seconds: float
    cpu_seconds: float
    peak_megabytes: float
    indexed_now: bool


class RetrievalReport(Record):
    """What `elt-llm eval retrieval` found; only `measured` differs in two runs."""

    asked: Asked
    configurations: tuple[Configured, ...]
    comparisons: tuple[Compared, ...]
    problems: tuple[Degradation, ...] = ()
    measured: Measured

    @property
    def all_problems(self) -> tuple[Degradation, ...]:
        """Those of the data and those of every configuration, each once."""
        found = [d for one in self.configurations for d in one.degradations]
        return tuple(dict.fromkeys((*self.problems, *found)))

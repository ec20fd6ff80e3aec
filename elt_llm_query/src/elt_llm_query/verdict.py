"""What a response amounts to: nothing found, refused, or claims that were checked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from elt_llm_core.results import Status
from elt_llm_core.store import Store
from elt_llm_query.cite import Checked, Policy, cite_answer, cite_claims
from elt_llm_query.guards import UNSERVED_KEY, WRITTEN_BY_KEY
from elt_llm_query.rows import texts
from elt_llm_query.sources import Offered, locator
from elt_llm_query.synthesizers.extractive import CLAIMS_KEY

NOTHING_FOUND = "Nothing was found in the collections for this question."


def verdict(
    response: Any, sources: Sequence[Offered], store: Store, policy: Policy
) -> Checked:
    """The checked answer of a LlamaIndex response over `sources`."""
    if not sources:
        return Checked(NOTHING_FOUND, Status.NO_SOURCES)
    metadata = response.metadata or {}
    answer, locate = str(response), locator(store)
    if metadata.get(WRITTEN_BY_KEY, True) is False and CLAIMS_KEY in metadata:
        claims = metadata[CLAIMS_KEY]
        checked = cite_claims(answer, claims, sources, locate, texts(store))
        if UNSERVED_KEY in metadata and checked.status is Status.ANSWERED:
            # Passages that are shown because nothing could pick an answer are none.
            return replace(checked, status=Status.PARTIAL)
        return checked
    return cite_answer(answer, sources, locate, policy)

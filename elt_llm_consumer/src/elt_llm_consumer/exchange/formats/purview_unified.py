"""Terms for a governance domain of Microsoft Purview's Unified Catalog, as CSV.

There is no bulk import; `pvw uc term import-csv` sends a row at a time and reads these
columns (its guide of October 2025): names of up to 200 characters, a definition, the
status Draft or Approved, one acronym, one owner by Entra object id, one link.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from elt_llm_consumer.exchange.glossary_format import TargetRules
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    Resource,
    Term,
    TermStatus,
)
from elt_llm_consumer.exchange.tabular_format import Cells, TabularFormat

_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_URL = re.compile(r"https?://\S+")


class PurviewUnifiedCsv(TabularFormat):
    """The CSV file from which `pvw` fills a governance domain."""

    title: ClassVar[str] = "Purview Unified Catalog CSV"
    ending: ClassVar[str] = ".csv"
    holds: ClassVar[frozenset[str]] = frozenset(
        {"name", "definition", "status", "acronyms", "owners", "resources"}
    )
    columns: ClassVar[tuple[str, ...]] = (
        *("name", "description", "status", "acronym", "owner_id"),
        *("resource_name", "resource_url"),
    )
    required: ClassVar[frozenset[str]] = frozenset({"name", "description", "status"})
    column_of: ClassVar[Mapping[str, str]] = {"definition": "description"}
    status_names: ClassVar[Mapping[TermStatus, str]] = {
        TermStatus.PENDING: "Draft",
        TermStatus.PROPOSED_NEW_TAXONOMY: "Draft",
        TermStatus.NEEDS_CLARIFICATION: "Draft",
        TermStatus.REOPENED: "Draft",
        TermStatus.REJECTED: "Draft",
        TermStatus.APPROVED: "Approved",
    }
    rules: ClassVar[TargetRules] = TargetRules(
        name_length=200, needs_definition=True, unique_names=True
    )

    @override
    def keep(self, term: Term) -> Term:
        """Return the term with the first valid acronym, owner and link."""
        kept = super().keep(term)
        owners = tuple(one for one in kept.owners if _GUID.fullmatch(one))
        links = tuple(one for one in kept.resources if _URL.fullmatch(one.url))
        first = {"owners": owners[:1], "resources": links[:1]}
        return kept.model_copy(update={"acronyms": kept.acronyms[:1], **first})

    @override
    def cells(self, term: Term, glossary: Glossary) -> Cells:
        link = term.resources[0] if term.resources else None
        return {
            "name": term.name,
            "description": term.definition,
            "status": self.status_names[term.status],
            "acronym": "".join(term.acronyms),
            "owner_id": "".join(term.owners),
            "resource_name": link.label if link else "",
            "resource_url": link.url if link else "",
        }

    @override
    def terms(self, rows: Sequence[Cells]) -> list[Term]:
        return [self._term(cells) for cells in rows]

    def _term(self, cells: Cells) -> Term:
        fields: dict[str, Any] = {
            "name": cells.get("name", ""),
            "definition": cells.get("description", ""),
            "acronyms": (cells.get("acronym", ""),),
            "owners": (cells.get("owner_id", ""),),
        }
        status = self.statuses().get(cells.get("status", ""))
        if status:
            fields["status"] = status
        if url := cells.get("resource_url", ""):
            label = cells.get("resource_name", "")
            fields["resources"] = (Resource(label=label, url=url),)
        return Term(**fields)

    @override
    def row_problems(self, cells: Cells) -> list[tuple[str, str, str, str]]:
        faults = []
        owner, url = cells.get("owner_id", ""), cells.get("resource_url", "")
        if owner and not _GUID.fullmatch(owner):
            rule, cure = "is not an Entra object id", "copy the owner's object id"
            faults.append(("owner_id", owner, rule, cure))
        if url and not _URL.fullmatch(url):
            rule, cure = "is not a web address", "start it with https://"
            faults.append(("resource_url", url, rule, cure))
        if not cells.get("status"):
            rule, cure = "is empty and is required", "write Draft or Approved"
            faults.append(("status", "", rule, cure))
        return faults

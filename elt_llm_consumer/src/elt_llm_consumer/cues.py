"""By which words a sentence is known to state a rule, a limit, a state and so on.

The words belong to how English states rules, not to any field of knowledge.
"""

import re


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(parts)})\b", re.IGNORECASE)


FIELDS = (
    "formal_definition",
    "domain_context",
    "governance_rules",
    "business_rules",
    "lifecycle_states",
    "data_classification",
    "regulatory_context",
    "associated_agreements",
)

# A "must" in a sentence makes it a rule; what it regulates may put it in more fields.
CUES = {
    "governance_rules": _any(
        r"must(?:\s+not)?",
        r"shall(?:\s+not)?",
        r"may\s+not",
        r"may\s+only",
        r"(?:is|are)\s+(?:not\s+)?(?:required|permitted|allowed|prohibited|forbidden|"
        r"entitled|obliged|responsible)",
        r"cannot",
        r"nobody\s+may",
        r"no\s+\w+\s+may",
    ),
    "business_rules": _any(
        r"at\s+least",
        r"at\s+most",
        r"no\s+(?:more|less|fewer|later|earlier)\s+than",
        r"not\s+(?:more|less|later|earlier)\s+than",
        r"up\s+to\s+\S*\d",
        r"within\s+(?:\S+\s+){0,3}?(?:minutes?|hours?|days?|weeks?|months?|years?)",
        r"(?:minimum|maximum|limit|deadline|threshold|lowest|highest)",
        r"only\s+if",
        r"unless",
        r"eligib\w+",
        r"qualif\w+",
        r"disqualif\w+",
        r"exactly\s+\w+",
    ),
    "lifecycle_states": _any(
        r"expir\w+",
        r"renew\w*",
        r"suspen\w+",
        r"terminat\w+",
        r"withdraw\w*|withdrawn",
        r"cancel\w*",
        r"revok\w+",
        r"reinstat\w+",
        r"lapse[sd]?",
        r"becomes?",
        r"ceases?",
        r"approved",
        r"rejected",
        r"pending",
        r"closed",
        r"archived",
        r"superseded",
        r"(?:comes|came)\s+into\s+force",
        r"takes?\s+effect",
    ),
    "data_classification": _any(
        r"personal\s+(?:data|information|records?)",
        r"confidential\w*",
        r"sensitive",
        r"special\s+categor\w+",
        r"privacy",
        r"data\s+protection",
        r"secret",
        r"retention",
        r"retained",
        r"anonymi[sz]\w+",
        r"consent",
    ),
    "regulatory_context": re.compile(
        r"\b(?:[A-Z][\w-]+\s+){1,6}(?:Act|Regulations?|Directive|Code|Statute|Ordinance|"
        r"Convention|Treaty)\b(?:\s+(?:of\s+)?\d{4})?|\b(?:statut\w+|legislation|"
        r"by\s+law|the\s+law(?:s)?)\b"
    ),
    "associated_agreements": _any(
        r"agreements?",
        r"contracts?",
        r"memorand(?:um|a)",
        r"leases?",
        r"licen[cs]es?",
        r"deeds?",
        r"undertakings?",
        r"terms\s+and\s+conditions",
        r"signed\s+by",
    ),
}
_RULE = CUES["governance_rules"]
CONTEXT = _any(
    r"(?:is|are)\s+(?:an?|the|one|part|made|kept|held|divided)",
    r"consists?\s+of",
    r"includes?",
    r"compris\w+",
    r"belongs?\s+to",
    r"(?:is|are)\s+used",
)


def fields_of(sentence: str) -> list[str]:
    """The context fields a sentence speaks to, in their order; none for most."""
    found = [name for name in FIELDS if name in CUES and CUES[name].search(sentence)]
    if not _RULE.search(sentence) and CONTEXT.search(sentence):
        found.insert(0, "domain_context")
    return found

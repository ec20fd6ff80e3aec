"""What a handbook says about an entity, sentence by sentence, each with its proof."""

import re
from collections.abc import Mapping, Sequence

from elt_llm_consumer.corpus import Evidence, Handbook, Passage, quoted
from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.names import clean
from elt_llm_consumer.linking.mentions import Hit, Mentions
from elt_llm_consumer.linking.similarity import Semantics
from elt_llm_core.results import Support


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


MOST_SENTENCES = 3
BELIEVED = frozenset({Support.VERIFIED.value, Support.NORMALISED.value})


def context_of(
    name: str,
    hits: Sequence[Hit],
    handbook: Handbook,
    mentions: Mentions,
    semantics: Semantics,
) -> dict[str, list[Evidence]]:
    """Field name to the sentences that fill it, best first; every field is a key.

    Only sentences that name the entity or an alias of it count. Those of the passages
    nearest to the name come first; a quote that is not found again is left out.
    """
    found: dict[str, list[Evidence]] = {field: [] for field in FIELDS}
    if not hits:
        return found
    scores = semantics.scores(name)
    order = sorted(
        hits,
        key=lambda h: (
            h.alias != "",
            h.plain,
            -round(float(scores[h.number]), 6),
            *h[:2],
        ),
    )
    seen: set[str] = set()
    for hit in order:
        passage = handbook.passages[hit.number]
        start, end = mentions.sentence(hit)
        _file(found, passage, start, end, seen)
    return found


def naming(
    hits: Sequence[Hit], handbook: Handbook, mentions: Mentions
) -> list[Evidence]:
    """The first sentence that names an entity; a heading or a row if there is none."""
    ranked = sorted(
        (*_rank(handbook.passages[hit.number].text, *mentions.sentence(hit)), hit)
        for hit in hits
    )
    for *_, hit in ranked:
        passage = handbook.passages[hit.number]
        start, end = mentions.sentence(hit)
        evidence = quoted(passage, _begin(passage.text, start, end), end)
        if evidence.support in BELIEVED:
            return [evidence]
    return []


def _rank(text: str, start: int, end: int) -> tuple[bool, bool]:
    said = text[_begin(text, start, end) : end].strip()
    return "\t" in said, not said.endswith((".", ";", ":", "!", "?", "; and", "; or"))


def _begin(text: str, start: int, end: int) -> int:
    """Where the words begin, after a number or a bullet."""
    mark = patterns.LEAD.match(text, start, end)
    return mark.end() if mark and mark.end() < end else start


def _file(
    found: Mapping[str, list[Evidence]],
    passage: Passage,
    start: int,
    end: int,
    seen: set[str],
) -> None:
    start = _begin(passage.text, start, end)
    said = clean(passage.text[start:end])
    if said in seen or "\t" in passage.text[start:end].strip():
        return
    seen.add(said)
    for field in fields_of(said):
        if field == "domain_context" and not said[:1].isupper():
            continue
        if len(found[field]) >= MOST_SENTENCES:
            continue
        evidence = quoted(passage, start, end)
        if evidence.support in BELIEVED:
            found[field].append(evidence)


def as_text(evidence: Sequence[Evidence]) -> str:
    """The sentences as the text of a field, one a line."""
    return "\n".join(clean(one.quote) for one in evidence)

"""What a handbook says about an entity: sentences by context field, as evidence."""

import re
from collections.abc import Mapping, Sequence

from elt_llm_consumer.corpus import Evidence, Handbook, HandbookPassage, quote_passage
from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.terms import clean
from elt_llm_consumer.linking.mentions import EntityMention, MentionIndex
from elt_llm_consumer.linking.similarity import SemanticIndex
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

# "must" makes a sentence a governance rule; what it regulates may add more fields.
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
    """Return the context fields of a sentence, in order; most sentences have none."""
    fields = [name for name in FIELDS if name in CUES and CUES[name].search(sentence)]
    if not _RULE.search(sentence) and CONTEXT.search(sentence):
        fields.insert(0, "domain_context")
    return fields


_MOST_SENTENCES = 3  # per field, so that a record stays readable
_ACCEPTED = frozenset({Support.VERIFIED.value, Support.NORMALISED.value})


def collect_context(
    name: str,
    mentions: Sequence[EntityMention],
    handbook: Handbook,
    index: MentionIndex,
    semantics: SemanticIndex,
) -> dict[str, list[Evidence]]:
    """Return field name to its sentences, best first; every field is a key.

    Only sentences that mention the entity or an alias of it are used, those of the
    passages most similar to the name first. Quotes that cannot be verified are dropped.
    """
    evidence: dict[str, list[Evidence]] = {field: [] for field in FIELDS}
    if not mentions:
        return evidence
    scores = semantics.scores(name)
    order = sorted(
        mentions,
        key=lambda m: (
            m.alias != "",
            m.plain,
            -round(float(scores[m.number]), 6),
            *m[:2],
        ),
    )
    seen: set[str] = set()
    for mention in order:
        passage = handbook.passages[mention.number]
        _add_sentence(evidence, passage, index.sentence(mention), seen)
    return evidence


def first_mention(
    mentions: Sequence[EntityMention], handbook: Handbook, index: MentionIndex
) -> list[Evidence]:
    """Return the first sentence that mentions an entity, else a heading or a row."""
    ranked = sorted(
        (*_rank(handbook.passages[m.number].text, *index.sentence(m)), m)
        for m in mentions
    )
    for *_, mention in ranked:
        passage = handbook.passages[mention.number]
        start, end = index.sentence(mention)
        evidence = quote_passage(passage, _skip_mark(passage.text, start, end), end)
        if evidence.support in _ACCEPTED:
            return [evidence]
    return []


def _rank(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Sort key: sentences, then headings, then rows of a table."""
    words = text[_skip_mark(text, start, end) : end].strip()
    return "\t" in words, not words.endswith((".", ";", ":", "!", "?", "; and", "; or"))


def _skip_mark(text: str, start: int, end: int) -> int:
    """Where the words begin after a number or a bullet."""
    mark = patterns.LEAD.match(text, start, end)
    return mark.end() if mark and mark.end() < end else start


def _add_sentence(
    evidence: Mapping[str, list[Evidence]],
    passage: HandbookPassage,
    span: tuple[int, int],
    seen: set[str],
) -> None:
    start, end = _skip_mark(passage.text, *span), span[1]
    sentence = clean(passage.text[start:end])
    if sentence in seen or "\t" in passage.text[start:end].strip():
        return
    seen.add(sentence)
    for field in fields_of(sentence):
        if field == "domain_context" and not sentence[:1].isupper():
            continue
        if len(evidence[field]) >= _MOST_SENTENCES:
            continue
        quote = quote_passage(passage, start, end)
        if quote.support in _ACCEPTED:
            evidence[field].append(quote)


def as_text(evidence: Sequence[Evidence]) -> str:
    """Return the sentences as the text of a field, one per line."""
    return "\n".join(clean(one.quote) for one in evidence)

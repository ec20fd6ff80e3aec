"""What a handbook says about an entity, sentence by sentence, each with its proof."""

from collections.abc import Mapping, Sequence

from elt_llm_consumer import patterns
from elt_llm_consumer.cues import FIELDS, fields_of
from elt_llm_consumer.handbook import Evidence, Handbook, Passage, quoted
from elt_llm_consumer.mentions import Hit, Mentions
from elt_llm_consumer.phrases import clean
from elt_llm_consumer.semantics import Semantics
from elt_llm_core.results import Support

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

"""Context fields of an entity: sentences of a handbook by field, as evidence."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from elt_llm_consumer.corpus import Evidence, Handbook, HandbookPassage, quote_passage
from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.terms import clean
from elt_llm_consumer.linking.mentions import (
    EntityMention,
    MentionIndex,
    is_whole_name,
)
from elt_llm_consumer.linking.similarity import SemanticIndex
from elt_llm_core.results import Support
from elt_llm_query.analysis.stems import refers_back


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

_MODAL = r"must|shall|should|may|can|cannot|need|needs"
_CHANGED = (
    r"suspended|terminated|withdrawn|cancel(?:l)?ed|revoked|renewed|reinstated|approved|"
    r"rejected|archived|superseded|abandoned|dissolved|expelled|pending|valid|"
    r"closed(?!\s+(?:for|between|from|on|at)\b)"
)
# A step before it, as in "is requested, sent out and approved".
_DONE = r"(?:\w+ed|made|held|given|paid|sent|taken|set|written|drawn|put|done|built)"
_STEP = (
    rf"{_DONE}(?:\s+(?:out|in|up))?"
    r"(?:,\s+(?:(?:and|or|then)\s+)?|\s+(?:and|or)(?:,(?:\s+\w+){1,4},)?\s+(?:then\s+)?)"
)
# What goes through many steps has a course, whatever they are called.
_COURSE = rf"(?:is|are)\s+(?:{_STEP}){{3,9}}{_DONE}"
# Verbs of a change of state, active or passive.
_STATE_OF_SUBJECT = (
    r"(?:expires?|lapses?|becomes?\s+(?:an?|\w*(?:valid|void|final|due|active|effective))|"
    r"ceases?|takes?\s+effect|comes?\s+into\s+force|"
    rf"(?:is|are|be|been|was|were|remains?)\s+(?:{_STEP})*(?:\w+\s+)?(?:{_CHANGED})|"
    rf"{_COURSE})\b"
)
# Verbs applied to it, and their nouns: "suspend an", "the expiry of its".
_STATE_OF_OBJECT = (
    r"(?:(?:renew|suspend|terminate|withdraw|cancel|revoke|reinstate|archive|"
    r"dissolve|expel)s?|(?:expiry|expiration|renewal|suspension|termination|"
    # "Could have become an Incident" tells what was not.
    r"withdrawal|cancellation|revocation|reinstatement|lapse)\s+of|(?<!\bhave )become|"
    r"suspended|expired|withdrawn|cancel(?:l)?ed|revoked|lapsed)"
)
# Statements about data: how it is classified, kept, shown and destroyed.
_CLASSES = (
    r"confidential(?:ly)?",
    r"sensitive",
    r"secret(?!\s+\w)",
    r"personal\s+(?:data|information)",
    r"special\s+categor\w+",
    r"anonymi[sz]ed",
    r"encrypted",
    r"publicly\s+available",
    r"(?:kept|retained|stored|preserved)\s+for\s+(?:\S+\s+){0,4}?(?:days?|years?|ever)",
    r"(?:destroyed|deleted|erased)",
    # "Released to public sale" puts a thing into use, and discloses nothing.
    (
        r"(?:disclosed|released)\s+(?:only|to)"
        r"(?!\s+(?:the\s+)?(?:public\s+)?(?:sale|market|service|use|production)\b)"
    ),
)

# "must" makes a sentence a governance rule; its subject matter may add more fields.
CUES = {
    "governance_rules": _any(
        r"must(?:\s+not)?",
        r"shall(?:\s+not)?",
        r"should(?:\s+not)?",
        r"may\s+not",
        r"(?:may|can)\s+(?:\S+\s+){0,8}?only",
        # "a third party who is responsible" is bound, and not the subject.
        r"(?<!who\s)(?<!which\s)(?<!that\s)"
        r"(?:is|are)\s+(?:not\s+)?(?:required\s+to|permitted|allowed|prohibited|forbidden|"
        r"entitled|obliged|responsible)",
        r"cannot",
        r"(?:is|are)\s+owned\s+by",
        r"nobody\s+may",
        r"no\s+(?:\S+\s+){1,4}?(?:may|can|is\s+allowed)",
    ),
    "business_rules": _any(
        r"at\s+least",
        r"at\s+most",
        r"no\s+(?:more|less|fewer|later|earlier)\s+than",
        r"not\s+(?:more|less|later|earlier)\s+than",
        r"(?:more|less|fewer|longer|shorter|higher|lower|older|younger)\s+than\s+"
        r"(?:\S+\s+){0,2}?\S*\d",
        r"up\s+to\s+\S*\d",
        r"only\s+(?:once|twice)",
        r"pro[\s-]?rat(?:a|ed)",
        r"(?:is|are|be)\s+(?:calculated|computed)",
        r"within\s+(?:\S+\s+){0,3}?(?:minutes?|hours?|days?|weeks?|months?|years?)",
        r"(?:minimum|maximum|limit|deadline|threshold|lowest|highest)",
        r"only\s+if",
        r"unless",
        r"eligib\w+",
        # Not "the qualifying period", which only names one, and not "may disqualify",
        # which is somebody's power.
        r"qualif(?:y|ies|ied|ications?)",
        r"disqualifi(?:ed|es|cations?)",
        r"exactly\s+\w+",
    ),
    "regulatory_context": re.compile(
        r"\b(?:[A-Z][\w-]+\s+){1,6}(?:Act|Regulations?|Directive|Code|Statute|Ordinance|"
        r"Convention|Treaty)\b(?:\s+(?:of\s+)?\d{4})?|\b(?:statut\w+|legislation|"
        r"by\s+law|the\s+law(?:s)?)\b"
    ),
    "associated_agreements": _any(
        # Not "with the agreement of", "subject to mutual agreement": a consent.
        r"(?<!mutual )(?<!with the )(?<!the prior )agreements?(?!\s+of\b)",
        r"contracts?",
        r"memorand(?:um|a)",
        r"leases?",
        r"deeds?",
        r"undertakings?",
        r"terms\s+and\s+conditions",
    ),
}
# The end of the subject's noun phrase, or the start of another clause.
_NOT_BEFORE_SUBJECT = _any(
    r"of|for|to|in|on|at|by|with|without|from|under|over|between|among|through|before|"
    r"after|until|against|into|within|during|about|beside|upon|per|than|as|like|"
    r"that|which|who|whose|whom|if|when|where|whether|while|unless|because|"
    r"is|are|was|were|be|been|has|have|had|does|do|did|will|would|should|could|means?",
    _MODAL,
)
# "On a race day the marshal must": text before the subject up to a comma, or a short
# circumstance without one; and a main clause followed by another one.
_CIRCUMSTANCE = re.compile(
    r"^(?:(?:on|in|at|under|before|after|during|for|until|if|when|where|unless|as|with|by|"
    r"once|while)\s[^,]{2,120},\s+|[^,]{3,120},\s+(?:and|but|or)\s+(?=(?:an?|the|each|"
    r"every|any|no|its|their)\s)|(?:on|in|at|during|for|under)\s+(?:an?|the|each|every|"
    r"any)\s+(?:(?!of\b|to\b|for\b|with\b|by\b)[\w-]+\s+){1,3}?"
    r"(?=(?:an?|the|each|every|any|no|its|their)\s))",
    re.IGNORECASE,
)
# A second determiner follows a verb: in "A Protest names the heat" the heat is not the
# subject. "The Flyer or the Captain" and "all the rounds" are one phrase.
_OBJECT = re.compile(
    r"[\w)'\u2019-](?<!\band)(?<!\bor)(?<!\bnor)(?<!\ball)(?<!\bboth)(?<!\bonly)(?<!\bnot)"
    r"\s+(?:an?|the|each|every|any|its|their|his|her|this|such|no)\s",
    re.IGNORECASE,
)
# Words that may follow a singular noun. Another noun may not: "the verifier
# identifier", "session management" are about something else.
_BEHIND_NOUN = re.compile(
    rf"\s*(?:$|[^\w\s]|{_NOT_BEFORE_SUBJECT.pattern}|(?:and|or|but|not|nor|only|also|"
    r"already|often|never|always|so|due|free|above|below|whenever|wherever|each|every|"
    r"an?|the|no|sent|held|made|kept|paid|found|lent|put|set|left|lost|built|met|"
    r"[\w-]+(?:s|ed|ing|ly|en|ble))\b)",
    re.IGNORECASE,
)
_MOST_BEFORE = 6  # words of a subject before the entity: "A Flyer, a Captain or a "
# The entity as the object of a rule: "may lend a Flyer", "must initial the List".
_DONE_TO = re.compile(
    rf"\b(?:{_MODAL})\s+(?:not\s+|only\s+|also\s+|first\s+)?(?!be\b)[a-z]+\s+"
    r"(?:(?:no\s+more\s+than|not\s+more\s+than|up\s+to|at\s+least|at\s+most)\s+)?"
    r"(?:(?:an?|the|each|every|any|all|its|their|his|her|no|another|\d+|one|two|three)\s+)?"
    r"(?:[\w-]+\s+)?$"
    # "is eligible for up to seven days of", "shall be granted".
    r"|\b(?:eligible\s+for|entitled\s+to|(?:be|is|are)\s+(?:granted|given|awarded|allowed|paid))\s+"
    r"(?:(?!that\b|which\b|if\b|when\b|as\b)[\w-]+\s+){0,9}?(?:of\s+)?$",
    re.IGNORECASE,
)
# A modal in such a clause states no rule: "if he cannot reach his".
_SUBORDINATE = re.compile(
    r"\b(?:if|when|where|while|unless|until|because|event\s+that)\b[^,;:]*$",
    re.IGNORECASE,
)
# A state within this many words after the entity, or directly before it.
_STATE_BEHIND = re.compile(
    rf"^(?:\s+[\w-]+){{0,2}}?\s+{_STATE_OF_SUBJECT}", re.IGNORECASE
)
# A time is no state: "may be ended before the expiry of the term".
_STATE_BEFORE = re.compile(
    r"(?<!\bbefore the )(?<!\buntil the )(?<!\bduring the )"
    rf"\b{_STATE_OF_OBJECT}\s+"
    r"(?:(?:an?|the|each|every|any|its|their|his|her|this|such)\s+)?(?:[\w-]+\s+)?$",
    re.IGNORECASE,
)
_CLASSIFIED = re.compile(
    r"^(?:\s+(?!that\b|which\b|who\b)[\w-]+){0,6}?\s+(?:is|are|be|remains?|contains?|holds?)\s+"
    r"(?:(?!that\b|which\b|to\b|aware\b)[\w-]+\s+){0,5}?"
    rf"(?:{'|'.join(_CLASSES)})\b",
    re.IGNORECASE,
)
# "The records of Tenants are confidential" classifies data about the entity.
_DATA_OF = re.compile(
    r"(?:[\w-]+\s+){0,4}?(?:data|information|records|details|addresses|files)\s+"
    r"(?:of|about|on)\s+(?:(?:an?|the|each|every|any|all|our|its|their)\s+)?",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"^[\"\u201d\u2019')*_]*\s*(?:\([^)]*\)\s*)?"
    r"(?:(?:means?|shall\s+mean|refers?\s+to)\b|[-\u2013\u2014]\s)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    rf"[,;]\s|\sand\s+(?=(?:{_MODAL}|is|are|has|have|was|were)\b)|\s(?:but|whereas)\s",
    re.IGNORECASE,
)
# "The clerk must:" says nothing without the items below it.
_BARE_LEAD = re.compile(rf"\b(?:{_MODAL})(?:\s+not)?\s*:\s*$", re.IGNORECASE)
# A party to an agreement: "a lease with the", "agreements between the".
_PARTY = re.compile(
    rf"{CUES['associated_agreements'].pattern}\s+(?:\w+\s+)?"
    r"(?:with|between|of|by|for|to)\s+(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)
# "Clerks shall ensure that;" continues in the next text.
_ANNOUNCES = re.compile(r"(?:[:,]|\bthat\W*)\s*$")
# "It" and "them" are of another sentence if only the entity stands before them, because
# an object of a clause is not its subject: behind the noun ("every load containing
# them") and as the object of the verb ("must not start without it", "must sign for
# them"), but not behind another noun ("carry insurance for it"), nor as the subject of
# a clause ("must ensure it is clean").
_PREPOSITION = (
    r"(?:with|without|for|of|to|in|on|at|by|from|over|under|about|against|into|upon|"
    r"after|before|through|behind|near)"
)
_HANGING = re.compile(
    r"\s+(?:not\s+)?(?:[a-z]+ing|(?:[a-z]+\s+)?with(?:out)?)\s+(?:them|it)\b"
    r"|\s+(?:(?:must|shall|should|may|can|cannot|will|is|are|do|does)\s+(?:not\s+)?)?"
    r"(?:be\s+)?(?:(?:only|also|always|never|first|[a-z]+ly)\s+)?(?:[a-z]+\s+to\s+)?"
    r"(?!(?:and|or|but|that|which|who|if|when|while|where|as|than)\b)[a-z]+\s+"
    rf"(?:(?:together|along|away|out|up|back|off)\s+)?(?:{_PREPOSITION}\s+)?"
    rf"(?:them\b|it(?=\s*[.;,:)]|\s+(?:{_PREPOSITION}|within|until)\b))"
)
# "Such leave" and "this form" may still say enough.
_PERSONAL = re.compile(r"\W*(?:they|it|he|she)\b", re.IGNORECASE)
_BARE = re.compile(
    r"\W*(?:an?|the|each|every|any|all|no|some)?\s*(?:\w+\s+)?", re.IGNORECASE
)
_EXAMPLE = re.compile(r"\W*(?:for\s+)?(?:examples?|instance)\b\s*[:,]", re.IGNORECASE)
_ENDS = (".", ";", ":", "!", "?", "; and", "; or", ",")


class MentionSentence(NamedTuple):
    """A sentence around a mention of an entity, split into three parts."""

    before: str
    mention: str
    after: str

    @property
    def is_noun(self) -> bool:
        """Return False for "the holder's report", "holder-led", "the holder report"."""
        if not (self.mention.endswith("s") or _BEHIND_NOUN.match(self.after)):
            return False
        if self.mention[:1].isupper() and re.match(r"\s[A-Z][a-z]", self.after):
            return False
        end = f"{self.mention[-2:]}{self.after[:1]}"
        return not re.search(r"['\u2019]s.?$|['\u2019\u2010\u2011-]$", end)

    @property
    def is_subject(self) -> bool:
        """Return True if the mention is in the phrase of the sentence's subject."""
        phrase = _CIRCUMSTANCE.sub("", patterns.LEAD.sub("", self.before))
        few = len(phrase.split()) <= _MOST_BEFORE
        return few and not (
            _NOT_BEFORE_SUBJECT.search(phrase) or _OBJECT.search(phrase)
        )

    @property
    def has_whole_name(self) -> bool:
        """Return False for part of a longer name, such as "the Chief Judge"."""
        text, start = "".join(self), len(self.before)
        return is_whole_name(text, start, start + len(self.mention))

    @property
    def hangs(self) -> bool:
        """Return True if it needs another sentence: "Every load with them must …"."""
        if _PERSONAL.match(self.before):
            return True
        if not _BARE.fullmatch(self.before):
            return False
        return _HANGING.match(self.after) is not None

    @property
    def is_example(self) -> bool:
        """Return True for "Example: two loads weigh 40 tonnes.", which binds nobody."""
        return _EXAMPLE.match(self.before) is not None

    @property
    def is_whole(self) -> bool:
        """Return False for a heading and a line of a table of contents."""
        says_more = any(map(str.isalpha, self.before + self.after))
        return says_more and self.after.rstrip().endswith(_ENDS)


@lru_cache(maxsize=2**15)  # read for the verdict on an entity, and for its record
def fields_of(sentence: MentionSentence) -> tuple[str, ...]:
    """Return the context fields that a sentence fills for the mentioned entity.

    A cue anywhere in the sentence is not enough: the statement must be about the
    entity, as the subject of the sentence or, for a rule, as its object. Most sentences
    fill no field.
    """
    if not (sentence.is_whole and sentence.is_noun and sentence.has_whole_name):
        return ()
    before, after = sentence.before, sentence.after
    if _DEFINES.match(after) or _BARE_LEAD.search(after):
        return ()
    about = sentence.is_subject
    # If a sentence is about something else, use only the clause that names the entity.
    clause = after if about else _CLAUSE.split(after, maxsplit=1)[0]
    bound = about or _is_ruled(before)
    statement = f"{before}{sentence.mention}{clause}"
    ruled = bound and CUES["governance_rules"].search(statement)
    limited = bound and CUES["business_rules"].search(statement)
    fills = {
        "governance_rules": ruled,
        "business_rules": limited,
        "lifecycle_states": (about and _STATE_BEHIND.search(after))
        or _STATE_BEFORE.search(before),
        "data_classification": (about or _DATA_OF.fullmatch(before))
        and _CLASSIFIED.match(after),
        "regulatory_context": about and CUES["regulatory_context"].search(after),
        "associated_agreements": (
            (about and CUES["associated_agreements"].search(after))
            or _PARTY.search(before)
        ),
    }
    filled = tuple(field for field, fills_it in fills.items() if fills_it)
    # The context consists of sentences about the entity that belong to no other field.
    return filled or (("domain_context",) if about and _stands_alone(sentence) else ())


def _stands_alone(sentence: MentionSentence) -> bool:
    """Return False for "Starting the heat:" and "This ends"."""
    announces = _ANNOUNCES.search(sentence.after) is not None
    return not (announces or refers_back(sentence.before))


def _is_ruled(before: str) -> bool:
    """Return whether the entity after `before` is the object of a rule."""
    match = _DONE_TO.search(before)
    return match is not None and not _SUBORDINATE.search(before, 0, match.start())


_MOST_SENTENCES = 3  # per field, so that a record stays readable
_ACCEPTED = frozenset({Support.VERIFIED.value, Support.NORMALISED.value})


def collect_context(
    name: str,
    mentions: Sequence[EntityMention],
    handbook: Handbook,
    index: MentionIndex,
    semantics: SemanticIndex,
) -> dict[str, list[Evidence]]:
    """Return fields with their sentences, best first; every field is a key.

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
    seen: set[tuple[str, str]] = set()
    for mention in order:
        passage = handbook.passages[mention.number]
        _add_sentence(evidence, passage, mention, index.sentence(mention), seen)
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
        evidence = quote_passage(passage, skip_mark(passage.text, start, end), end)
        if evidence.support in _ACCEPTED:
            return [evidence]
    return []


def _rank(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Sort key: sentences, then headings, then table rows."""
    words = text[skip_mark(text, start, end) : end].strip()
    return "\t" in words, not words.endswith((".", ";", ":", "!", "?", "; and", "; or"))


def skip_mark(text: str, start: int, end: int) -> int:
    """Return the start of a span's words, after a number or a bullet."""
    mark = patterns.LEAD.match(text, start, end)
    return mark.end() if mark and mark.end() < end else start


def _add_sentence(
    evidence: Mapping[str, list[Evidence]],
    passage: HandbookPassage,
    mention: EntityMention,
    span: tuple[int, int],
    seen: set[tuple[str, str]],
) -> None:
    start, end = skip_mark(passage.text, *span), span[1]
    sentence = clean(passage.text[start:end])
    # A table row, or an item that is only part of the sentence before it.
    if "\t" in passage.text[start:end].strip() or not sentence[:1].isupper():
        return
    text = passage.text
    around = MentionSentence(
        text[start : mention.start],
        text[mention.start : mention.end],
        text[mention.end : end],
    )
    if around.hangs or around.is_example:
        return
    for field in fields_of(around):
        if len(evidence[field]) >= _MOST_SENTENCES or (field, sentence) in seen:
            continue
        seen.add((field, sentence))
        quote = quote_passage(passage, start, end)
        if quote.support in _ACCEPTED:
            evidence[field].append(quote)


def as_text(evidence: Sequence[Evidence]) -> str:
    """Return the sentences as the text of a field, one per line."""
    return "\n".join(clean(one.quote) for one in evidence)

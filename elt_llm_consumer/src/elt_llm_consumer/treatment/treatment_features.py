"""Named features of an entity in a handbook: does the handbook treat the thing?

The words of a name do not prove that the handbook means the thing of the model: "in the
event that" is not about an entity "Events". The features describe where the words
occur, how they are used, and whether the handbook names other things of the model.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from elt_llm_consumer.context_fields import MentionSentence, fields_of, skip_mark
from elt_llm_consumer.corpus import GlossaryEntry, Handbook
from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.definitions.terms import WORD, fold
from elt_llm_consumer.definitions.usage import heading_names
from elt_llm_consumer.linking.mentions import EntityMention, MentionIndex
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_core.document import BlockKind
from elt_llm_core.models.word_rarity import rarity

Features = Mapping[str, float]

# More sentences are no further evidence; a long handbook has any word that often.
_MANY = math.log1p(10)
# A share of few names is unreliable, so it is smoothed towards one of five.
_PRIOR, _PRIOR_OF = 1, 5
_DETERMINERS = patterns.ARTICLES | {
    "each", "every", "any", "no", "its", "their", "his", "her", "this", "such", "all",
    "these", "those",
}  # fmt: skip
_LAST = re.compile(rf"({WORD.pattern})[ \n]+$")
_NEXT = re.compile(rf"[ \n]+({WORD.pattern})")
# "The keeper, that is the party registered for it, pays": the subject of a sentence
# and, behind a comma, what it is. "Which is" says so only with "a": "the train, which
# is the first one" is one of many.
_SUBJECT = re.compile(r"\W*(?:(?:an?|the|each|every)\s+)?", re.IGNORECASE)
_APPOSED = re.compile(
    r"\s*[,(]\s*(?:(?:that\s+is|i\.\s?e\.|in\s+other\s+words|namely|meaning),?\s+"
    r"(?:an?|the|any|all|each|every|one|those|what\w*|who\w*)|which\s+(?:is|means)\s+an?)\s",
    re.IGNORECASE,
)
# Such a sentence says something else and defines on the way; the weights take it for a
# definition that is as probably right as wrong.
_DEFINED_ON_THE_WAY = 0.5


def count_headings(handbook: Handbook) -> Counter[str]:
    """Return how many headings of a handbook have a folded name."""
    headings: Counter[str] = Counter()
    for document in handbook.documents:
        text = handbook.text(document.document_id)
        for block in handbook.store.blocks(document.document_id):
            if block.kind is BlockKind.HEADING:
                names = heading_names(text[block.start : block.end])
                headings.update({fold(name) for name in names})
    return headings


class ModelShare:
    """The share of a model's names in a handbook.

    A name of several words rarely occurs by chance, so the share of such names shows
    whether the handbook has the subject of the model.

    Args:
        entities: The entities of the model.
        named: Folded names that the handbook has or defines.
    """

    def __init__(self, entities: Sequence[Entity], named: Collection[str]) -> None:
        self._named = frozenset(named)
        self._keys = {fold(entity.name) for entity in entities} - {""}
        self._long = {key for key in self._keys if " " in key}

    def describe(self, key: str) -> Features:
        """Return the shares without the entity itself, also for its kind of name."""
        names, long = self._share(self._keys, key), self._share(self._long, key)
        several = " " in key
        return {
            "one word: share of names": 0.0 if several else names,
            "one word: share of long names": 0.0 if several else long,
            "several words: share of long names": long if several else 0.0,
        }

    def _share(self, keys: set[str], key: str) -> float:
        others = keys - {key}
        return (len(others & self._named) + _PRIOR) / (len(others) + _PRIOR_OF)


class EntityUse:
    """The distinct sentences that name an entity, by aliases if there are no others.

    Args:
        mentions: The mentions of the entity.
        index: Has the sentences around them.
        handbook: The documents.
    """

    def __init__(
        self,
        mentions: Sequence[EntityMention],
        index: MentionIndex,
        handbook: Handbook,
    ) -> None:
        own = [mention for mention in mentions if not mention.alias]
        self.only_alias = bool(mentions) and not own
        self.mentions = own or list(mentions)
        self._index, self._handbook = index, handbook

    @cached_property
    def sentences(self) -> list[MentionSentence]:
        """Return a sentence for each mention, cut around it."""
        cut = map(self._cut, self.mentions)
        return list({"".join(one): one for one in cut}.values())

    def _cut(self, mention: EntityMention) -> MentionSentence:
        text = self._handbook.passages[mention.number].text
        start, end = self._index.sentence(mention)
        start = min(skip_mark(text, start, end), mention.start)
        return MentionSentence(
            text[start : mention.start],
            text[mention.start : mention.end],
            text[mention.end : max(end, mention.end)],
        )

    @cached_property
    def statements(self) -> int:
        """Return how many sentences state something about the entity."""
        return sum(bool(fields_of(one)) for one in self.sentences)

    @cached_property
    def is_explained(self) -> bool:
        """Return whether a sentence says on the way what the entity is."""
        return not self.only_alias and any(
            _SUBJECT.fullmatch(one.before) and _APPOSED.match(one.after)
            for one in self.sentences
        )

    @cached_property
    def frame(self) -> tuple[str, int]:
        """Return the most common words around the name, and their frequency."""
        frames = Counter(" ".join(_frame(one)) for one in self.sentences)
        return frames.most_common(1)[0] if frames else ("", 0)

    def describe(self, *, several_words: bool) -> Features:
        """Return how the name is used."""
        count = max(len(self.sentences), 1)
        signs = Counter(sign for one in self.sentences for sign in _signs(one))
        plain = sum(mention.plain for mention in self.mentions)
        capital = 1 - plain / max(len(self.mentions), 1)
        return {
            "one word: capital": 0.0 if several_words else capital,
            "use: sentences": min(math.log1p(len(self.sentences)), _MANY),
            "use: in one frame": max(self.frame[1] - 1, 0) / count,
            "use: behind a determiner": signs["determiner"] / count,
            "use: behind to or a modal": signs["verb"] / count,
            "says: something": min(math.log1p(self.statements), _MANY),
        }


def _frame(sentence: MentionSentence) -> tuple[str, str, str]:
    """Return the words before and after a mention, with the mention between."""
    last, behind = _LAST.search(sentence.before), _NEXT.match(sentence.after)
    return (
        last[1].lower() if last else "",
        sentence.mention.lower(),
        behind[1].lower() if behind else "",
    )


def _signs(sentence: MentionSentence) -> Iterator[str]:
    """Return the features of the words next to a mention."""
    last = _frame(sentence)[0]
    if last in _DETERMINERS:
        yield "determiner"
    if last == "to" or last in patterns.VERB_BEFORE:
        yield "verb"


def describe_name(name: str, headings: Counter[str]) -> Features:
    """Return features of the name, and whether headings have it."""
    key = fold(name)
    several = " " in key
    inside = sum(
        count for heading, count in headings.items() if f" {key} " in f" {heading} "
    )
    return {
        "name: several words": float(several),
        "one word: rarity": 0.0 if several else min(rarity(key), rarity(name)),
        "place: a heading": float(headings[key] > 0),
        "place: in headings": min(math.log1p(inside), _MANY),
    }


def describe_definitions(
    name: str, entries: Sequence[GlossaryEntry], *, is_explained: bool
) -> Features:
    """Return how certainly the handbook defines the name, or an alias.

    The long form of a short form defines neither.
    """
    apposed = _DEFINED_ON_THE_WAY if is_explained else 0.0
    sure: dict[bool, float] = {True: apposed, False: 0.0}
    for entry in entries:
        if entry.definition.source is DefinitionSource.ACRONYM:
            continue
        own = fold(entry.term) == fold(name)
        sure[own] = max(sure[own], entry.definition.confidence)
    return {"defined: the name": sure[True], "defined: an alias": sure[False]}

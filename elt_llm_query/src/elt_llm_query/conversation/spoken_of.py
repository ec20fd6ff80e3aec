"""Evidence from documents about the things that a conversation names."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.store import Collection, Store
from elt_llm_query.analysis.lexicon import NUMBER_WORDS
from elt_llm_query.analysis.noun_phrases import stems_of

# Characters between two items of one list: fourteen items of three words, the longest
# list in running text of the rule books that were looked at.
WINDOW = 300
# Passages of the collections that are searched for a phrase: a term that is explained
# is among its best fifty, and they are read in some milliseconds.
FOUND = 50
ITEM = 5  # words of an item; a longer one is a clause

LEADING = 3  # words before the subject of a sentence: "5.1 The", "In addition, the"

_NUMBERING = re.compile(r"^(?:[^\W_]{0,3}\d[\w.]*|\W)+\s*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
# "F01", "3.", "a)", "E-08"; "COVID-19" and "Type 2 diabetes" are names.
_CODED = re.compile(r"^\W*(?:\w?|[^\W\d_]{0,3}\W?\d[\w.\-/]*)\W*$")
_BETWEEN_ITEMS = re.compile(r"\s*(?:,|;|/|\band\b|\bor\b|&)\s*", re.IGNORECASE)

Passage = tuple[str, str]  # its text, and its headings and titles


class SpokenOf:
    """Texts, headings and titles of documents, as evidence for similar things.

    Args:
        texts: The texts of the documents.
        sections: Section paths, with " > " between levels.
        titles: Titles of the documents that may be meant.
        find: Finds passages with a phrase anywhere in the collections, each with its
            headings and titles; by default the texts are searched, without any.
        rows: Rows of tables, each with its section, its text with tabs between cells,
            and the header of its first cell.
    """

    def __init__(
        self,
        texts: Iterable[str],
        sections: Iterable[str] = (),
        titles: Iterable[str] = (),
        find: Callable[[str], Iterable[Passage]] | None = None,
        rows: Iterable[tuple[str, str, str]] = (),
    ) -> None:
        self._rows = rows
        self._texts = texts
        self._sections = sections
        self._titles = titles
        self._find = cache(self._find_in_texts if find is None else find)

    def has(self, phrase: str) -> bool:
        """Return whether a text or the name of a row contains a phrase."""
        if _phrase(phrase, "").search(self._text):
            return True
        stems = stems_of(phrase)
        # "policy who" is not the name of a row "Policy", whose stems are the same.
        is_name = bool(stems) and len(stems) == len(phrase.split())
        return is_name and any(stems in names for names in self._row_names)

    def knows(self, phrase: str) -> bool:
        """Return whether a text or any other passage contains a phrase."""
        pattern = _phrase(phrase)
        return bool(pattern.search(self._text)) or any(
            pattern.search(text) for text, _ in self._find(phrase)
        )

    def are_alike(self, one: str, other: str) -> bool:
        """Return whether both are headings of one section or items of one list.

        What the rows of a table are about is a list, too.
        """
        keys = stems_of(one), stems_of(other)
        if not all(keys) or keys[0] == keys[1]:
            return False
        return any(
            set(keys) <= names
            for names in (*self._siblings, *self._row_names, self._named_titles)
        ) or self._are_listed(one, other)

    def tells(
        self, phrase: str, stems: frozenset[str], *, number: bool, first: bool
    ) -> bool:
        """Return whether a sentence says something of a phrase.

        Args:
            phrase: The phrase.
            stems: Stems of other words that the sentence must contain.
            number: Whether it must also contain a number.
            first: Whether it must begin with the phrase, as with its subject.
        """
        begin = re.compile(
            rf"\W*(?:\w+\W+){{0,{LEADING}}}{_phrase(phrase).pattern}", re.IGNORECASE
        )
        return any(
            stems <= stems_of(sentence)
            for sentence in self._sentences(phrase)
            if (not number or _NUMBER.search(sentence))
            and (not first or begin.match(sentence))
        )

    def is_attribute(
        self, noun: str, stems: frozenset[str], *, placed: bool = True
    ) -> bool:
        """Return whether passages speak of the noun of a thing.

        That is "the weight of oak", "oak weight", or the weight in a passage whose
        headings or titles name oak.

        Args:
            noun: The noun.
            stems: Stems of the words of the thing.
            placed: Whether headings or titles that name the thing suffice.
        """
        if placed and any(
            stems <= stems_of(place)
            for text, place in self._find(noun)
            if _phrase(noun).search(text)
        ):
            return True
        around = re.compile(
            rf"(?P<before>(?:\S+\s+){{0,{ITEM}}}){_phrase(noun).pattern}"
            rf"(?P<after>\s+(?:of|for)(?:\s+\S+){{1,{ITEM}}})?",
            re.IGNORECASE,
        )
        return any(
            stems <= stems_of(match["after"] or "")
            or stems <= stems_of(" ".join(match["before"].split()[-len(stems) :]))
            for sentence in self._sentences(noun)
            for match in around.finditer(sentence)
        )

    def _sentences(self, phrase: str) -> Iterator[str]:
        """Return the sentences of the found passages that contain a phrase."""
        pattern = _phrase(phrase)
        for text, _ in self._find(phrase):
            for sentence in _SENTENCE.split(" ".join(text.split())):
                if pattern.search(sentence):
                    yield sentence

    def _find_in_texts(self, phrase: str) -> tuple[Passage, ...]:
        return ((self._text, ""),) if self.has(phrase) else ()

    @cached_property
    def _text(self) -> str:
        return " ".join(" ".join(self._texts).split())

    @cached_property
    def _siblings(self) -> tuple[frozenset[frozenset[str]], ...]:
        """Return the headings of each section, without numbers, as stems."""
        below: dict[str, set[frozenset[str]]] = {}
        for section in self._sections:
            above, _, name = section.rpartition(" > ")
            below.setdefault(above, set()).add(stems_of(_NUMBERING.sub("", name)))
        return tuple(map(frozenset, below.values()))

    @cached_property
    def _row_names(self) -> tuple[frozenset[frozenset[str]], ...]:
        """Return what the rows of the tables of each section are about, as stems.

        Below the header "Record" the row "Policy" is about policies, or policy records.
        """
        below: dict[str, set[frozenset[str]]] = {}
        for section, row, header in self._rows:
            if own := stems_of(_name_of(row)):
                below.setdefault(section, set()).update({own, own | stems_of(header)})
        return tuple(map(frozenset, below.values()))

    @cached_property
    def _named_titles(self) -> frozenset[frozenset[str]]:
        return frozenset(stems_of(title.replace("_", " ")) for title in self._titles)

    def _are_listed(self, one: str, other: str) -> bool:
        """Return whether both are items of one list: "cats, rabbits and dogs"."""
        for first, second in ((one, other), (other, one)):
            later = _phrase(second)
            for match in _phrase(first).finditer(self._text):
                after = self._text[match.end() : match.end() + WINDOW]
                match_after = later.search(after)
                if match_after and _is_list(after[: match_after.start()]):
                    return True
        return False


def read_spoken_of(store: Store, documents: Sequence[str]) -> SpokenOf:
    """Return evidence from documents, read when needed.

    Args:
        store: The data root.
        documents: Their ids.
    """

    def sections() -> Iterable[str]:
        return (b.section for one in documents for b in store.blocks(one))

    def find(phrase: str) -> Sequence[Passage]:
        return [
            passage
            for name in dict.fromkeys(row.collection for row in rows)
            for passage in _find_passages(store.open(name), store, phrase)
        ]

    def table_rows() -> Iterator[tuple[str, str, str]]:
        for one in documents:
            text, header = store.document_text(one), ""
            for b in store.blocks(one):
                if b.kind is not BlockKind.TABLE_ROW:
                    header = ""
                elif "row" in b.attributes:
                    header = text[b.start : b.end].partition("\t")[0]
                else:
                    yield f"{one} {b.section}", text[b.start : b.end], header

    rows = [row for one in documents if (row := store.document(one))]
    beside = (
        title
        for name in dict.fromkeys(row.collection for row in rows)
        for row in store.documents(name)
        for title in (row.title, row.name.rpartition(".")[0])
    )
    texts = (store.document_text(one) for one in documents)
    return SpokenOf(texts, sections(), beside, find, table_rows())


def _find_passages(
    collection: Collection, store: Store, phrase: str
) -> Iterator[Passage]:
    """Return the passages that a keyword search finds, with headings and titles."""
    ids = [node for node, _ in collection.search_keyword(phrase, FOUND)]
    for node in collection.nodes(ids).values():
        place = provenance.read(node)
        row = store.document(place.document_id)
        titles = f"{row.title} {row.name}" if row else ""
        yield node.get_content(), f"{titles} {place.section}".replace("_", " ")


def _name_of(row: str) -> str:
    """Return the first cell of a row, or the second beside a number or a code."""
    cells = row.split("\t")
    names = (c for c in cells[:2] if not _CODED.search(c))
    name = next(names, "").strip()
    return name if len(name.split()) <= ITEM else ""


def _phrase(phrase: str, ending: str = "(?:s|es)?") -> re.Pattern[str]:
    """A phrase as whole words, singular or plural, whatever their case."""
    return re.compile(rf"(?<!\w){re.escape(phrase)}{ending}(?!\w)", re.IGNORECASE)


def _is_list(between: str) -> bool:
    """Return whether the text between two things makes them items of one list."""
    if re.search(r"[.:()]\s|[()\[\]]", between):
        return False
    items = _BETWEEN_ITEMS.split(between)
    return (
        len(items) > 1
        and all(len(item.split()) <= ITEM for item in items)
        and (not items[0].strip() and _is_determiner(items[-1]))
    )


def _is_determiner(text: str) -> bool:
    return text.strip().lower() in {"", "a", "an", "the"}

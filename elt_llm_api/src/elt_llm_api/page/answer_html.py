"""Render answers and their sources as HTML, from records only."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from elt_llm_api.page.rendering import join_with_dots, render
from elt_llm_core.results import (
    Box,
    Citation,
    DegradationKind,
    QueryResult,
    Source,
    Status,
    Support,
)
from elt_llm_core.suspicion import Suspicion, describe

PageUrl = Callable[[str, int, Sequence[Box]], str | None]
"""URL of the picture of a document's page with boxes marked, or None without one."""

LABEL = re.compile(r"\[([SF]\d+)\]")
CONTEXT = 160  # characters shown around a quote: about two lines on each side


class Banner(NamedTuple):
    """The explanation of a status: a title and a sentence."""

    title: str
    text: str


class Badge(NamedTuple):
    """The verdict on a quote: its colour, its words and their explanation."""

    tone: str
    text: str
    reason: str


BANNERS = {
    Status.PARTIAL: Banner(
        "Part of this could not be proved",
        "What the documents do not say was taken out; see below.",
    ),
    Status.INSUFFICIENT: Banner(
        "No sure answer",
        "No passage answers this well enough to be quoted.",
    ),
    Status.NO_SOURCES: Banner(
        "Not in the documents",
        "No passage is close to this question.",
    ),
    Status.VALIDATION_FAILED: Banner(
        "No answer could be proved",
        "An answer was written, but none of it is in the documents.",
    ),
}
UNSERVED = Banner(
    "The nearest sentences, not an answer",
    "The built-in answerer reads English only; a language model may answer.",
)
# For profiles that mark or keep unproved statements instead of removing them.
KEPT_BANNERS = {
    Status.PARTIAL: Banner(
        "Part of this could not be proved",
        "This profile shows it all the same; only verified sources prove a statement.",
    ),
    Status.VALIDATION_FAILED: Banner(
        "Not proved",
        "This profile shows what a model wrote; no document proves it.",
    ),
}
ORDER_DOUBTFUL = Badge(
    "near",
    "≈ Order doubtful",
    "The page has these words, but may be read in another order",
)
BADGES = {
    Support.VERIFIED: Badge(
        "good", "✓ Verified", "The source has it letter for letter"
    ),
    Support.NORMALISED: Badge(
        "good", "✓ Verified", "The same except for spaces and hyphens"
    ),
    Support.FUZZY: Badge(
        "near", "≈ Near match", "The same but for endings or articles"
    ),
    Support.SUPPORTED: Badge(
        "near", "≈ Supported", "In other words; numbers, names and negations agree"
    ),
    Support.GENERATED: Badge(
        "near",
        "≈ By a model",
        "A model described the picture; no words of the document",
    ),
    Support.MISATTRIBUTED: Badge("bad", "✗ Other source", "Another source has it"),
    Support.CONTRADICTED: Badge("bad", "✗ Contradicted", "The source says otherwise"),
    Support.UNSUPPORTED: Badge("bad", "✗ Not supported", "The source does not say it"),
    Support.FABRICATED: Badge("bad", "✗ Not found", "No source has it"),
    Support.UNCITED: Badge("bad", "✗ No proof", "No quote was given"),
}


def no_picture(document_id: str, number: int, boxes: Sequence[Box]) -> None:  # noqa: ARG001
    """Return no URL: a `PageUrl` for documents without page images."""
    return


def render_answer(
    result: QueryResult,
    policy: str = "strict",
    page_url: PageUrl = no_picture,
    address: str = "",
) -> str:
    """Render an answer with links to its sources, or a refusal.

    Args:
        result: The outcome of a question.
        policy: The `query.citation_policy` of the answer.
        page_url: Returns the URL of the nearest pages of a refusal.
        address: The query string of this answer.

    Returns:
        HTML with the answer as verbatim text, without Markdown.
    """
    is_refusal = not _shows_text(result, policy)
    links = {c.label: CitationLink.of(c) for c in reversed(result.citations)}
    return render(
        "answer",
        result=result,
        address=address,
        banner=_choose_banner(result, policy),
        parts=None
        if is_refusal and result.sources
        else split_labels(result.answer, links),
        nearest=list_nearest(result.nearest, page_url) if is_refusal else (),
        conflicts=[
            (one.reason, list_nearest(one.quotes, page_url)) for one in result.conflicts
        ],
    )


def render_sources(result: QueryResult, page_url: PageUrl) -> str:
    """Render a card for each section the answer cites, then the other sources.

    Args:
        result: The outcome of a question.
        page_url: Where the pages of the sources are shown.
    """
    sections: dict[tuple[object, ...], list[CitedPassage]] = {}
    for label, citations in groupby(
        sorted(result.citations, key=_label_order), key=lambda c: c.label
    ):
        source = next((s for s in result.sources if s.label == label), None)
        passage = CitedPassage(label, tuple(citations), source)
        sections.setdefault(passage.section, []).append(passage)
    cited = {citation.label for citation in result.citations}
    others = [source for source in result.sources if source.label not in cited]
    return render(
        "sources",
        cards=[SourceCard.of(passages, page_url) for passages in sections.values()],
        others=group_by_place(others),
        other_count=len(others),
    )


class CitationLink(NamedTuple):
    """The link from a label in the answer to its source."""

    href: str
    place: str
    name: str

    @classmethod
    def of(cls, citation: Citation) -> "CitationLink":
        """Return the link to the source of a citation."""
        place = _place(citation)
        name = f"{_in_words([citation.label])}, {place}"
        return cls(f"#{_anchor(citation.label)}", place, name)


@dataclass(frozen=True)
class CitedPassage:
    """A source with its label, and the cited quotes of it."""

    label: str
    citations: tuple[Citation, ...]
    source: Source | None

    @property
    def section(self) -> tuple[object, ...]:
        """Return the key of passages that share a card: one table or section."""
        first = self.citations[0]
        return first.document_id, first.section, first.page

    @property
    def anchor(self) -> str:
        """Return the id of its element."""
        return _anchor(self.label)

    @property
    def name(self) -> str:
        """Return label and place as text, for screen readers."""
        return f"{_in_words([self.label])}, {_place(self.citations[0])}"

    @property
    def badges(self) -> dict[Badge, float]:
        """Return the verdicts of its quotes, each with its lowest score."""
        return _badge_scores(self.citations)

    @property
    def suspicion(self) -> str:
        """Return why it is suspicious, as text; possibly empty."""
        return _suspicion_note(self.citations[0].suspicious)

    @property
    def parts(self) -> list[tuple[str, bool]]:
        """Return the text around the quotes; True marks a quote."""
        return mark_quotes(self.citations, self.source)

    @property
    def boxes(self) -> list[Box]:
        """Return the boxes of the quotes, or of the source if they have none."""
        page = self.citations[0].page
        boxes = [box for c in self.citations for box in c.boxes if box.page == page]
        if not boxes and self.source is not None:
            boxes = [box for box in self.source.boxes if box.page == page]
        return boxes


class FigurePlace(NamedTuple):
    """A figure that a passage mentions, and where its page is shown, if it has one."""

    number: str
    caption: str
    url: str | None


@dataclass(frozen=True)
class SourceCard:
    """Passages of one section on one page, and the picture of that page, if any."""

    passages: tuple[CitedPassage, ...]
    page_url: str | None
    figures: tuple[FigurePlace, ...] = ()

    @classmethod
    def of(cls, passages: Sequence[CitedPassage], page_url: PageUrl) -> "SourceCard":
        """Return the card of at least one passage of a section."""
        first = passages[0].citations[0]
        boxes = [box for passage in passages for box in passage.boxes]
        url = page_url(first.document_id, first.page or 1, boxes)
        linked = {
            figure.node_id: FigurePlace(
                figure.number,
                _shorten(figure.text),
                page_url(first.document_id, figure.page, figure.boxes)
                if figure.page
                else None,
            )
            for passage in passages
            for figure in (passage.source.figures if passage.source else ())
        }
        return cls(tuple(passages), url, tuple(linked.values()))

    @property
    def first(self) -> Citation:
        """Return the citation that determines the card's place."""
        return self.passages[0].citations[0]

    @property
    def name(self) -> str:
        """Return labels and place as text, for screen readers."""
        labels = [passage.label for passage in self.passages]
        return f"{_in_words(labels)}, {_place(self.first)}"

    @property
    def page(self) -> str:
        """Return the page as text."""
        return _page(self.first.page)

    @property
    def badges(self) -> dict[Badge, float]:
        """Return the verdicts of its quotes, each with its lowest score."""
        return _badge_scores([c for p in self.passages for c in p.citations])

    @property
    def picture_url(self) -> str:
        """Return the URL of the part of the page around the quotes."""
        return f"{self.page_url}&crop=true"

    @property
    def picture_text(self) -> str:
        """Return a description of the picture."""
        return (
            f"Page {self.first.page} of {self.first.document}, the quoted lines marked"
        )

    @property
    def document_url(self) -> str:
        """Return the URL of the file, opened at the page if it has page images."""
        url = f"/v1/documents/{self.first.document_id}/content"
        shows_page = self.page_url and self.first.page
        return f"{url}#page={self.first.page}" if shows_page else url


def split_labels(
    text: str, links: dict[str, CitationLink]
) -> list[tuple[str, CitationLink | None]]:
    """Split an answer at linked labels; unknown labels stay text."""
    parts: list[tuple[str, CitationLink | None]] = []
    at = 0
    for match in LABEL.finditer(text):
        link = links.get(match[1])
        if link is not None:
            parts += [(text[at : match.start()], None), (match[0], link)]
            at = match.end()
    return [*parts, (text[at:], None)]


def mark_quotes(
    citations: Sequence[Citation], source: Source | None
) -> list[tuple[str, bool]]:
    """Split the text around quotes into parts; True marks a quote.

    Quotes that are not in the source are listed separately, each on a line.
    """
    text = source.text if source else ""
    spans = sorted({(text.find(c.quote), len(c.quote)) for c in citations})
    if spans[0][0] < 0:
        first, *rest = dict.fromkeys(c.quote for c in citations)
        lines = [part for quote in rest for part in (("\n", False), (quote, True))]
        return [(first, True), *lines]
    at = max(0, spans[0][0] - CONTEXT)
    last = min(len(text), max(start + size for start, size in spans) + CONTEXT)
    parts = [("… " if at else "", False)]
    for start, size in spans:
        if start >= at or len(parts) == 1:
            parts += [(text[at:start], False), (text[start : start + size], True)]
            at = start + size
    return [*parts, (text[at:last], False), (" …" if last < len(text) else "", False)]


def group_by_place(
    sources: Sequence[Source],
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Group sources by place: the shortened text of each, and its suspicion."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for source in sources:
        place = join_with_dots(source.document, _page(source.span.page), source.section)
        text = _shorten(source.text)
        if source.generated:
            text = f"A model's description of a picture: {text}"
        groups.setdefault(place, []).append((text, _suspicion_note(source.suspicious)))
    return list(groups.items())


def list_nearest(
    quotes: Sequence[Citation], page_url: PageUrl
) -> list[tuple[str, str | None, str, str]]:
    """List place, URL of the page if known, words and suspicion of each quote."""
    return [
        (
            join_with_dots(one.document, one.section, _page(one.page)),
            page_url(one.document_id, one.page, one.boxes) if one.page else None,
            one.reading or one.quote,
            _suspicion_note(one.suspicious),
        )
        for one in quotes
    ]


def _choose_banner(result: QueryResult, policy: str) -> Banner | None:
    """Return the explanation of the status, unless it is simply an answer."""
    banners = KEPT_BANNERS if _keeps_unproved(result, policy) else BANNERS
    banner = banners.get(result.status)
    kinds = {degradation.kind for degradation in result.degradations}
    if banner is not None and DegradationKind.LANGUAGE_NOT_SERVED in kinds:
        return UNSERVED
    return banner


def _keeps_unproved(result: QueryResult, policy: str) -> bool:
    """Return True if the answer contains unproved statements."""
    # A removed label is not a statement.
    taken_out = any(LABEL.fullmatch(f"[{c.text}]") is None for c in result.removed)
    return policy != "strict" and result.status in KEPT_BANNERS and not taken_out


def _shows_text(result: QueryResult, policy: str) -> bool:
    """Return True if the answer is more than a refusal."""
    is_answered = result.status in {Status.ANSWERED, Status.PARTIAL}
    return is_answered or _keeps_unproved(result, policy)


def _suspicion_note(suspicions: Iterable[Suspicion]) -> str:
    """Return why a passage is suspicious, as text; possibly empty."""
    reasons = tuple(dict.fromkeys(suspicions))
    return f"Suspicious: {describe(reasons)}" if reasons else ""


def _badge_scores(citations: Sequence[Citation]) -> dict[Badge, float]:
    badges: dict[Badge, list[float]] = {}
    for citation in citations:
        badges.setdefault(_badge(citation), []).append(citation.score)
    return {badge: min(scores) for badge, scores in badges.items()}


def _badge(citation: Citation) -> Badge:
    """Return the verdict of a quote; not "verified" if its order is doubtful."""
    badge = BADGES[citation.support]
    is_doubtful = citation.reading_order and badge.tone == "good"
    return ORDER_DOUBTFUL if is_doubtful else badge


def _anchor(label: str) -> str:
    """Return the id of a source's element: src-1 for S1, fig-2 for F2."""
    return f"{'src' if label.startswith('S') else 'fig'}-{label[1:]}"


def _in_words(labels: Sequence[str]) -> str:
    """Return labels as text: "Sources 1, 3", "Figure 2"."""
    parts = []
    for letter, noun in (("S", "Source"), ("F", "Figure")):
        numbers = [label[1:] for label in labels if label.startswith(letter)]
        if numbers:
            plural = "s" if len(numbers) > 1 else ""
            parts.append(f"{noun}{plural} {', '.join(numbers)}")
    return ", ".join(parts)


def _place(citation: Citation) -> str:
    """Return document and page as text."""
    return " ".join(part for part in (citation.document, _page(citation.page)) if part)


def _label_order(citation: Citation) -> tuple[bool, int, str]:
    kind, number = citation.label[:1], citation.label[1:]
    return (kind != "S", int(number) if number.isdecimal() else 0, citation.label)


def _page(page: int | None) -> str:
    return f"page {page}" if page else ""


def _shorten(text: str) -> str:
    return text if len(text) <= 2 * CONTEXT else f"{text[: 2 * CONTEXT].rstrip()} …"

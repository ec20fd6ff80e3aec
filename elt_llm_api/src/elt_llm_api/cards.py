"""Answers, sources and states as HTML. No model, no store: records in, HTML out."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from elt_llm_api.markup import Safe, el, esc, join
from elt_llm_core.results import (
    Box,
    Citation,
    Degradation,
    DegradationKind,
    QueryResult,
    RemovedClaim,
    Source,
    Status,
    Support,
)

PageUrl = Callable[[str, int, Sequence[Box]], str | None]
"""Address of the picture of a document's page with boxes marked, where there is one."""

LABEL = re.compile(r"\[([SF]\d+)\]")
NEAREST = 4
CONTEXT = 160  # characters shown around a quote

BANNERS = {
    Status.PARTIAL: (
        "Part of this could not be proved",
        "What did not stand in the documents was taken out; see below.",
    ),
    Status.INSUFFICIENT: (
        "Not in the documents",
        "No passage answers this well enough to be quoted.",
    ),
    Status.NO_SOURCES: (
        "Not in the documents",
        "No passage comes near this question.",
    ),
    Status.VALIDATION_FAILED: (
        "No answer could be proved",
        "An answer was written, but nothing of it stands in the documents.",
    ),
}
UNSERVED = (
    "The nearest passages, not an answer",
    "The built-in answerer reads English only; a language model may answer.",
)
# Where the profile marks or keeps what is not proved, instead of taking it out.
KEPT_BANNERS = {
    Status.PARTIAL: (
        "Part of this could not be proved",
        "This profile shows it all the same; only verified sources prove a statement.",
    ),
    Status.VALIDATION_FAILED: (
        "Not proved",
        "This profile shows what a model wrote; no document proves it.",
    ),
}
ORDER_DOUBTFUL = (
    "near",
    "≈ Order doubtful",
    "The words stand there; the page may be read in another order",
)
BADGES = {
    Support.VERIFIED: (
        "good",
        "✓ Verified",
        "Stands there letter for letter",
    ),
    Support.NORMALISED: ("good", "✓ Verified", "The same but for spaces and hyphens"),
    Support.FUZZY: ("near", "≈ Near match", "Nearly the same; numbers all agree"),
    Support.MISATTRIBUTED: ("bad", "✗ Other source", "Stands in another source"),
    Support.FABRICATED: ("bad", "✗ Not found", "Stands in no source"),
    Support.UNCITED: ("bad", "✗ No proof", "No quote was given"),
}


def no_picture(document_id: str, number: int, boxes: Sequence[Box]) -> None:  # noqa: ARG001
    """A `PageUrl` for documents without pictures of their pages."""
    return


def answer(
    result: QueryResult, policy: str = "strict", page_url: PageUrl = no_picture
) -> str:
    """The answer with clickable labels, or the refusal with the nearest sections.

    Args:
        result: The outcome of a question.
        policy: The `query.citation_policy` it was answered under.
        page_url: Where the pages are shown that a refusal names as nearest.

    Returns:
        HTML in which the answer is text, letter for letter, and no Markdown.
    """
    refused = not _shows_text(result, policy)
    labels = {c.label: c for c in reversed(result.citations)}
    text = link_labels(Safe(esc(result.answer)), labels)
    body = el("div", text, class_="answer-text")
    return esc(
        el(
            "div",
            el("h2", result.question, class_="asked"),
            banner(result, policy),
            None if refused and result.sources else body,
            nearest(result.sources, page_url) if refused else None,
            removed(result.removed),
            degradations(result.degradations),
            class_=f"result status-{result.status.value}",
        )
    )


def sources(result: QueryResult, page_url: PageUrl) -> str:
    """A card for each section the answer cites, then what else was looked at."""
    passages = [
        Passage(label, tuple(group), _source(result.sources, label))
        for label, group in groupby(
            sorted(result.citations, key=_order), key=lambda c: c.label
        )
    ]
    shared: dict[tuple[object, ...], list[Passage]] = {}
    for passage in passages:
        shared.setdefault(passage.section, []).append(passage)
    cited = [card(group, page_url) for group in shared.values()]
    labels = {citation.label for citation in result.citations}
    others = [s for s in result.sources if s.label not in labels]
    heading = el("h2", "Sources") if cited else None
    return esc(join([heading, *cited, other_sources(others)]))


class Passage(NamedTuple):
    """A source under its label, with what the answer cites of it."""

    label: str
    citations: tuple[Citation, ...]
    source: Source | None

    @property
    def section(self) -> tuple[object, ...]:
        """Where it stands; passages of one table or section share a card."""
        first = self.citations[0]
        return first.document_id, first.section, first.page

    @property
    def boxes(self) -> list[Box]:
        """What is cited of its page, or all of the source where that is not known."""
        page = self.citations[0].page
        boxes = [box for c in self.citations for box in c.boxes if box.page == page]
        if not boxes and self.source is not None:
            boxes = [box for box in self.source.boxes if box.page == page]
        return boxes


def card(passages: Sequence[Passage], page_url: PageUrl) -> Safe:
    """A section that is cited: where it is, what is quoted, how the page looks.

    Args:
        passages: Passages of one section on one page, at least one.
        page_url: Where the page is shown.
    """
    alone = len(passages) == 1
    first = passages[0].citations[0]
    boxes = [box for passage in passages for box in passage.boxes]
    url = page_url(first.document_id, first.page or 1, boxes)
    labels = [passage.label for passage in passages]
    quotes = [quoted(p.citations, p.source) if alone else _passage(p) for p in passages]
    words = el(
        "div",
        _where(labels[0] if alone else "", first, _badges(passages) if alone else None),
        *quotes,
        _links(first, url),
        class_="card-words",
    )
    numbers = ", ".join(label[1:] for label in labels)
    return el(
        "article",
        words,
        _picture(first, url),
        id=anchor(labels[0]) if alone else None,
        tabindex="-1" if alone else None,
        class_="source-card" if url else "source-card no-page",
        aria_label=f"{'Source' if alone else 'Sources'} {numbers}, {place(first)}",
    )


def _passage(passage: Passage) -> Safe:
    """One of several passages on a card; its label leads here."""
    head = el(
        "p",
        el("span", passage.label, class_="label", aria_hidden="true"),
        " ",
        _badges([passage]),
        class_="passage-head",
    )
    return el(
        "div",
        head,
        quoted(passage.citations, passage.source),
        id=anchor(passage.label),
        tabindex="-1",
        role="group",
        class_="passage",
        aria_label=f"Source {passage.label[1:]}, {place(passage.citations[0])}",
    )


def quoted(citations: Sequence[Citation], source: Source | None) -> Safe:
    """The quotes, marked, in what stands around them in the source."""
    text = source.text if source else ""
    found = sorted({(text.find(c.quote), len(c.quote)) for c in citations})
    if found[0][0] < 0:
        quotes = list(dict.fromkeys(c.quote for c in citations))
        return el("blockquote", join((el("mark", quote) for quote in quotes), "\n"))
    at = max(0, found[0][0] - CONTEXT)
    last = min(len(text), max(start + size for start, size in found) + CONTEXT)
    parts: list[Safe | str] = ["… " if at else ""]
    for start, size in found:
        if start >= at or not parts[1:]:
            parts += [text[at:start], el("mark", text[start : start + size])]
            at = start + size
    parts += [text[at:last], " …" if last < len(text) else ""]
    return el("blockquote", join(parts))


def other_sources(others: Sequence[Source]) -> Safe | None:
    """What was looked at and not cited, folded away."""
    if not others:
        return None
    shared: dict[tuple[str, str, str], list[str]] = {}
    for source in others:
        where = source.document, _page(source.span.page), source.section
        shared.setdefault(where, []).append(_shorten(source.text))
    rows = (
        el(
            "li",
            el("div", " · ".join(part for part in where if part), class_="where"),
            "\n",
            join((el("div", text, class_="words") for text in texts), "\n"),
        )
        for where, texts in shared.items()
    )
    count = "1 passage" if len(others) == 1 else f"{len(others)} passages"
    summary = el("summary", f"Also looked at: {count}")
    return el("details", summary, el("ul", join(rows)), class_="others")


def banner(result: QueryResult, policy: str) -> Safe | None:
    """What the status means, where it is not simply an answer."""
    shown = KEPT_BANNERS if _keeps_unproved(result, policy) else BANNERS
    if result.status not in shown:
        return None
    title, text = shown[result.status]
    if any(d.kind is DegradationKind.LANGUAGE_NOT_SERVED for d in result.degradations):
        title, text = UNSERVED
    return el("div", el("strong", title), el("span", text), class_="banner warn")


def _keeps_unproved(result: QueryResult, policy: str) -> bool:
    """True where statements that were not proved stand in the answer."""
    taken_out = any(LABEL.fullmatch(f"[{c.text}]") is None for c in result.removed)
    return policy != "strict" and result.status in KEPT_BANNERS and not taken_out


def _shows_text(result: QueryResult, policy: str) -> bool:
    """True where the answer is more than a refusal."""
    answered = result.status in {Status.ANSWERED, Status.PARTIAL}
    return answered or _keeps_unproved(result, policy)


def nearest(found: Sequence[Source], page_url: PageUrl = no_picture) -> Safe | None:
    """Where to look instead: links to the pages, where these can be shown."""
    if not found:
        return None
    seen: dict[str, Safe] = {}
    for source in found:
        text = " · ".join(
            part for part in (source.document, source.section, _page(source.span.page))
            if part
        )  # fmt: skip
        page = source.span.page
        url = page_url(source.document_id, page, source.boxes) if page else None
        new = {"target": "_blank", "rel": "noopener"}
        seen.setdefault(text, el("li", el("a", text, href=url, **new) if url else text))
    items = join(list(seen.values())[:NEAREST])
    return el("div", el("p", "Nearest sections:"), el("ul", items), class_="nearest")


def removed(claims: Sequence[RemovedClaim]) -> Safe | None:
    """What did not pass the checks, and why."""
    if not claims:
        return None
    items = (
        el("li", el("del", claim.text), " ", el("span", claim.reason, class_="reason"))
        for claim in claims
    )
    summary = el("summary", f"Taken out: {len(claims)} unproved")
    return el("details", summary, el("ul", join(items)), class_="removed")


def degradations(notes: Sequence[Degradation]) -> Safe | None:
    """What made the result poorer."""
    if not notes:
        return None
    items = (
        el("li", note.detail, f" ({note.collection})" if note.collection else "")
        for note in notes
    )
    return el("div", el("strong", "Limited: "), el("ul", join(items)), class_="limited")


def link_labels(text: Safe, known: dict[str, Citation]) -> Safe:
    """The text with each known [S1] as a link to its card; unknown ones stay text."""

    def link(found: re.Match[str]) -> str:
        citation = known.get(found[1])
        if citation is None:
            return found[0]
        name = f"Source {found[1][1:]}, {place(citation)}"
        return esc(
            el(
                "a",
                f"[{found[1]}]",
                href=f"#{anchor(found[1])}",
                class_="cite",
                title=place(citation),
                aria_label=name,
            )
        )

    return Safe(LABEL.sub(link, text.html))


def anchor(label: str) -> str:
    """The id of a source's card: src-1 for S1, fact-2 for F2."""
    return f"{'src' if label.startswith('S') else 'fact'}-{label[1:]}"


def place(citation: Citation) -> str:
    """Document and page in words."""
    return " ".join(part for part in (citation.document, _page(citation.page)) if part)


def _badge(citation: Citation) -> tuple[str, str, str]:
    """What is told of a quote; not plainly verified where its order is doubtful."""
    badge = BADGES[citation.support]
    return ORDER_DOUBTFUL if citation.reading_order and badge[0] == "good" else badge


def _where(label: str, first: Citation, badges: Safe | None) -> Safe:
    return el(
        "header",
        el("span", label, class_="label", aria_hidden="true") if label else None,
        el(
            "div",
            el("h3", first.document),
            el("p", " · ".join(p for p in (_page(first.page), first.section) if p)),
        ),
        badges,
        class_="" if label else "shared",
    )


def _badges(passages: Sequence[Passage]) -> Safe:
    """How well the quotes stand there: the least score of each verdict."""
    citations = [c for passage in passages for c in passage.citations]
    badges = {_badge(c): min(d.score for d in citations) for c in citations}
    return join(
        el("span", text, f" {score:.0%}", class_=f"badge {tone}", title=why)
        for (tone, text, why), score in badges.items()
    )


def _picture(citation: Citation, url: str | None) -> Safe | None:
    if url is None:
        return None
    words = f"Page {citation.page} of {citation.document}, the quoted lines marked"
    image = el("img", src=f"{url}&crop=true", alt=words, loading="lazy")
    link = el("a", image, href=url, target="_blank", rel="noopener", title="Whole page")
    return el("figure", link, class_="page")


def _links(citation: Citation, url: str | None) -> Safe:
    content = f"/v1/documents/{citation.document_id}/content"
    if url and citation.page:
        content = f"{content}#page={citation.page}"
    new = {"target": "_blank", "rel": "noopener"}
    whole = el("a", "Whole page", href=url, **new) if url else None
    links = join([whole, el("a", "Open document", href=content, **new)], " ")
    return el("p", links, class_="links")


def _source(found: Sequence[Source], label: str) -> Source | None:
    return next((source for source in found if source.label == label), None)


def _order(citation: Citation) -> tuple[bool, int, str]:
    kind, number = citation.label[:1], citation.label[1:]
    return (kind != "S", int(number) if number.isdecimal() else 0, citation.label)


def _page(page: int | None) -> str:
    return f"page {page}" if page else ""


def _shorten(text: str) -> str:
    return text if len(text) <= 2 * CONTEXT else f"{text[: 2 * CONTEXT].rstrip()} …"

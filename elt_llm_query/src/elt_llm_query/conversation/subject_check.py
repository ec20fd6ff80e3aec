"""Check whether an answer is about the subject of its question."""

from collections.abc import Sequence
from functools import partial

from elt_llm_core.results import Citation, QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.analysis.message_form import asks, ends_in_that, may_be_foreign
from elt_llm_query.analysis.noun_phrases import stems_of, telling_stems, telling_words
from elt_llm_query.analysis.referents import NamedThing, names_a_thing
from elt_llm_query.analysis.stems import stem
from elt_llm_query.conversation.asked_check import (
    COMPUTED,
    has_words,
    have_one_role,
    own_words,
    tells_any,
    tells_asked,
    tells_asked_of,
    tells_count_of,
    tells_dimension_of,
)
from elt_llm_query.conversation.exchanges import (
    Exchange,
    answered_before,
    count_mentions,
    last_answered,
    last_asked,
    named_things,
)
from elt_llm_query.conversation.later_parts import (
    is_of_another,
    speaks_of,
    tells_of_part,
)
from elt_llm_query.conversation.naming import naming_headings, row_names
from elt_llm_query.conversation.source_numbers import plain_text
from elt_llm_query.conversation.spoken_of import SpokenOf
from elt_llm_query.conversation.understood_message import Understood
from elt_llm_query.prompts import UNSURE_ANSWER

NO_SUBJECT = "No passage that was found answers this of {subject} for sure."
NOT_SURE = (
    "It is not certain enough that what was found answers this after the question "
    "before. Ask in full."
)
NOT_SURE_ALONE = "It is not certain enough that what was found answers this."
NOT_TOLD = "What was found is about this, but does not say what is asked. Ask in full."
OTHER_OWNER = "No passage that was found answers this of the {noun} that is meant here."
OTHER_SUBJECT = (
    "The question does not say whether it is about {subject}, and what was found is "
    "about something else. Name what it is about."
)
# Occurrences from which a document is about a thing: five, because a passing mention in
# a list of references or exceptions occurs once or twice.
OFTEN = 5


class SubjectCheck:
    """Compares the passages of an answer with the subject of the conversation.

    Args:
        store: The data root.
        exchanges: Earlier questions, with the sources of their answers.
        sure: The probability that an answer after another question must have, where
            one was estimated.
    """

    def __init__(
        self, store: Store, exchanges: Sequence[Exchange], sure: float = 0.0
    ) -> None:
        self._store = store
        self._exchanges = exchanges
        self._sure = sure

    def find_fault(
        self, part: Understood, result: QueryResult, before: QueryResult | None = None
    ) -> tuple[str, str]:
        """Return why an answer is about something else, and the unclear words.

        Args:
            part: The message, or a part of it.
            result: Its answer.
            before: The answer to the part before it in the same message.
        """
        if result.status not in {Status.ANSWERED, Status.PARTIAL}:
            return "", ""
        if reply := self._wrong_subject(part, result, before):
            return reply, ""
        if part.in_quote:
            result = self._without_repeated(result, part)
        if not self._tells_asked(part, result):
            return NOT_TOLD, ""
        if self._is_unsure(part, result):
            return (NOT_SURE if part.is_resolved else NOT_SURE_ALONE), ""
        subject = "" if part.subject else self._left_subject(part.question, result)
        return (
            (OTHER_SUBJECT.format(subject=subject), part.question)
            if subject
            else ("", "")
        )

    def _wrong_subject(
        self, part: Understood, result: QueryResult, before: QueryResult | None
    ) -> str:
        """Return the reply to an answer that is about something else, or nothing."""
        if part.spoken and not speaks_of(part, result):
            return NOT_TOLD
        if before and not tells_of_part(part, result, before):
            return NOT_TOLD
        if part.noun and before and is_of_another(part, result, before):
            return OTHER_OWNER.format(noun=part.noun)
        if part.in_quote:
            result = self._without_repeated(result, part)
        if part.subject and not self._is_about(result, part):
            return NO_SUBJECT.format(subject=part.subject)
        return ""

    def _is_unsure(self, part: Understood, result: QueryResult) -> bool:
        """Return whether an answer is too uncertain for a conversation.

        A resolved message may mean something else than it was understood to mean,
        beside all that may be wrong with an answer, so that an answer which is not
        certain is shown as the nearest passages. A whole question keeps an answer that
        says that it is not certain. Rows and sheets are chosen without regard to the
        probability and do not say so; after another question they are refused.
        """
        is_low = result.sure is not None and result.sure < self._sure
        says_so = any(UNSURE_ANSWER in one.text for one in result.statements)
        if part.is_resolved:
            return is_low or says_so
        return is_low and not says_so and last_asked(self._exchanges) is not None

    def _tells_asked(self, part: Understood, result: QueryResult) -> bool:
        """Return whether the quotes say what a message after another question asks.

        A question of one word, "Are there exceptions?", is only answered by a text that
        has the word. What says something in another language than English is unknown.
        """
        # A refused question in between does not make an older answer a new one.
        last = answered_before(self._exchanges) or last_asked(self._exchanges)
        if last is None or _is_foreign(part, last):
            return True
        if not part.is_resolved:
            if ends_in_that(part.question) and not _speaks_on(part, last, result):
                return False
            quoted = " ".join(f"{c.quote} {c.section}" for c in result.citations)
            asked = telling_stems(part.question)
            was_refused = last_answered(self._exchanges) is None
            return was_refused or len(asked) != 1 or has_words(asked, quoted)
        own = own_words(part.question, last.question)
        quoted = _named_by(result)
        stated = _statement_of(result)
        is_computed = any(citation.kind in COMPUTED for citation in result.citations)
        return (
            tells_asked(part.question, stated)
            # All cells of a row are about what names it.
            and (is_computed or _tells_of(part, stated))
            and tells_any(part.question, own, quoted)
            and _keeps_clause(part, last, quoted)
            and (
                not _is_repeated(result, self._exchanges)
                or _tells_new(
                    part,
                    _quoted_by(result, self._exchanges) or last,
                    _quotes_of(result),
                )
            )
        )

    def _left_subject(self, question: str, result: QueryResult) -> str:
        """Return the earlier subject that the answer may have left.

        "What is the maximum dose?", asked after one medicine, must not be answered from
        the leaflet of another. A question with a new name, or with a subject that the
        cited documents hardly mention, begins a new subject.
        """
        last = last_answered(self._exchanges)
        documents = {citation.document_id for citation in result.citations}
        if last is None or not documents or documents & {*last.documents}:
            return ""
        rows = [row for d in sorted(documents) if (row := self._store.document(d))]
        titles = [part for row in rows for part in (row.title, row.name)]
        if names_a_thing(question, titles):
            return ""
        telling = telling_stems(question)
        known = sum(1 for one in telling if last.mentions(one))
        if not telling or known < len(telling) / 2:
            return ""
        things = [t for t in named_things(last) if not t.owner]
        return next((t.text for t in things if self._is_left(t, last, documents)), "")

    def _is_left(self, thing: NamedThing, last: Exchange, now: set[str]) -> bool:
        """Return whether only the earlier documents are about a thing."""
        before = min(map(last.mentions, thing.stems))
        count = partial(count_mentions, self._store, sorted(now))
        return before >= OFTEN and min(map(count, thing.stems)) * OFTEN <= before

    def _without_repeated(self, result: QueryResult, part: Understood) -> QueryResult:
        """Return an answer without statements that an earlier answer had already.

        They stand beside the one that names the new subject, and prove nothing of it.
        """
        subject = stems_of(part.subject)
        quotes = {c.quote for e in self._exchanges if e.text for c in e.citations}
        new = tuple(
            one
            for one in result.statements
            if not {c.quote for c in one.citations} <= quotes
        )
        quoted = [" ".join(c.quote for c in one.citations) for one in new]
        if not new or not all(subject <= stems_of(quote) for quote in quoted):
            return result
        cited = tuple(c for one in new for c in one.citations)
        return result.model_copy(update={"statements": new, "citations": cited})

    def _is_about(self, result: QueryResult, part: Understood) -> bool:
        texts = {source.label: source.text for source in result.sources}
        for statement in result.statements:
            # The cells of a row are separate quotes: one names, one answers; the header
            # of the answering cell names too.
            quotes = " ".join(citation.quote for citation in statement.citations)
            quoted = f"{quotes} {row_names(statement)}"
            for citation in statement.citations:
                row = self._store.document(citation.document_id)
                titles = f"{row.title} {row.name}" if row else ""
                passage = texts.get(citation.label, citation.quote)
                is_named = (
                    _is_quoted_about(citation, quoted, titles, part)
                    if part.in_quote
                    else is_about(citation, passage, titles, part.subject)
                )
                if not is_named or not all(
                    is_about(citation, passage, titles, thing) for thing in part.kept
                ):
                    return False
        return True


def _is_quoted_about(
    citation: Citation, quoted: str, titles: str, part: Understood
) -> bool:
    """Return whether a quote, or a heading that names one thing, names the subject.

    Under such a heading a quote that names the thing asked about before is about that.
    """
    subject = stems_of(part.subject)
    if subject <= stems_of(quoted):
        return True
    replaced = stems_of(part.replaced) - subject
    if replaced and replaced <= stems_of(quoted):
        return False
    headings = naming_headings(citation.section)
    above = citation.model_copy(update={"section": headings})
    return is_about(above, quoted, titles, part.subject)


def _is_foreign(part: Understood, last: Exchange) -> bool:
    """Return whether a message may be of another language than English.

    One of a single noun is in the language of the question before.
    """
    return may_be_foreign(part.question) or not asks(last.question)


def _statement_of(result: QueryResult) -> str:
    """Return the quotes of an answer, and the text of one that may be computed.

    A number of rows or elements is in no quote.
    """
    stated = " ".join(citation.quote for citation in result.citations)
    is_computed = any(citation.kind in COMPUTED for citation in result.citations)
    return f"{stated} {plain_text(result.answer)}" if is_computed else stated


def _tells_of(part: Understood, stated: str) -> bool:
    """Return whether sentences give the size or number of the subject itself."""
    asked = part.question, part.subject, stated
    return tells_dimension_of(*asked) and tells_count_of(*asked)


def _keeps_clause(part: Understood, last: Exchange, quoted: str) -> bool:
    """Return whether quotes speak of a clause in which no thing was recognised.

    Its words that the documents of the answer before have must be in them too.
    """
    if not part.continued or part.subject:
        return True
    shared = telling_stems(part.question) & telling_stems(last.question)
    return has_words({one for one in shared if last.mentions(one)}, quoted)


def _quotes_of(result: QueryResult) -> str:
    """Return the quotes of an answer, and the headers of quoted cells."""
    rows = (row_names(statement) for statement in result.statements)
    return " ".join([*(citation.quote for citation in result.citations), *rows])


def _named_by(result: QueryResult) -> str:
    """Return the quotes of an answer with the headings that name one thing."""
    headings = (naming_headings(citation.section) for citation in result.citations)
    return " ".join([_quotes_of(result), *headings])


def _is_repeated(result: QueryResult, exchanges: Sequence[Exchange]) -> bool:
    """Return whether an answer only quotes what earlier answers quoted."""
    quotes = {c.quote for e in exchanges if e.text for c in e.citations}
    return all(citation.quote in quotes for citation in result.citations)


def _quoted_by(result: QueryResult, exchanges: Sequence[Exchange]) -> Exchange | None:
    """Return the newest exchange whose answer has all the quotes of an answer."""
    quotes = {citation.quote for citation in result.citations}
    whole = [
        e for e in exchanges if e.text and quotes <= {c.quote for c in e.citations}
    ]
    return whole[-1] if whole else None


def _tells_new(part: Understood, last: Exchange, quoted: str) -> bool:
    """Return whether quotes that answered another question say what is new in this.

    They match every question about their subject. So the new words of the message must
    be in them, not only in a heading, and a value must stand beside the new name.
    """
    if (
        part.in_quote
        and not _is_listed(part, last, quoted)
        and not (
            tells_asked_of(part.question, part.subject, quoted)
            and have_one_role(part.replaced, part.subject, quoted)
        )
    ):
        return False
    return has_words(own_words(part.question, last.question), quoted)


def _speaks_on(part: Understood, last: Exchange, result: QueryResult) -> bool:
    """Return whether an answer to "Who decides that?" is of what was spoken of.

    It must be in the same documents and share a word with the last question.
    """
    documents = {citation.document_id for citation in result.citations}
    spoken = telling_stems(last.question) - telling_stems(part.question)
    quoted = stems_of(" ".join(citation.quote for citation in result.citations))
    return documents <= {*last.documents} and bool(spoken & quoted)


def _is_listed(part: Understood, last: Exchange, quoted: str) -> bool:
    """Return whether a quote names the new thing in one list with the old one.

    "Two dogs are welcome on Heron and Kingfisher" says the same of both.
    """
    evidence = SpokenOf((quoted,))
    old = telling_stems(last.question) - telling_stems(part.question)
    names = (w for w in telling_words(last.question) if stem(w) in old)
    return any(evidence.are_alike(name, part.subject) for name in names)


def is_about(citation: Citation, text: str, titles: str, subject: str) -> bool:
    """Return whether a cited passage is about a subject.

    Args:
        citation: The citation.
        text: The whole chunk.
        titles: Title and name of its document.
        subject: Its words must all be in the passage, its headings or its titles.
    """
    passage = f"{text} {citation.section} {citation.document} {titles}".replace(
        "_", " "
    )
    return stems_of(subject) <= stems_of(passage)

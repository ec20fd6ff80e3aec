"""The meaning of a later part of a message, in the light of the part before it.

The question before is not answered yet, so a part may refer to anything it names: "Who
signs the form and by when?", "When is the sauna open and who holds the key?".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from elt_llm_core.results import Citation, QueryResult, Source
from elt_llm_query.analysis.follow_up import (
    Dependence,
    Pointer,
    find_dependence,
    put_referent,
)
from elt_llm_query.analysis.lexicon import COMMON, STOP_WORDS
from elt_llm_query.analysis.message_form import names_nothing
from elt_llm_query.analysis.noun_phrases import (
    DETERMINER,
    NOUNS,
    PREP,
    STOPS,
    WORD,
    stems_of,
    telling_stems,
    telling_words,
)
from elt_llm_query.analysis.question import Form, analyse
from elt_llm_query.analysis.question_phrase import (
    ask_before,
    continue_for_actor,
    continue_question,
    is_question_phrase,
    refers_to_order,
)
from elt_llm_query.analysis.referents import (
    NamedThing,
    choose_referent,
    find_candidates,
)
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.conversation.asked_check import COMPUTED, has_words, own_words
from elt_llm_query.conversation.clarifying_reply import as_fragment, ask_back
from elt_llm_query.conversation.reference_rules import (
    about_all,
    understand_by_rules,
)
from elt_llm_query.conversation.understood_message import Understood

# "Who holds the key?": one noun with "the", of which nothing says what it belongs to.
_THE_NOUN = re.compile(
    rf"\bthe\s+(?P<noun>{STOPS}{WORD})(?=\W*$|\s+(?:{PREP})\b)", re.IGNORECASE
)
_OWNED = re.compile(
    rf"\s+(?:of|for|to|in|at|on|from)\s+(?:(?:{DETERMINER})\s+)?(?P<owner>{NOUNS})"
    rf"(?=\W|$)",
    re.IGNORECASE,
)
# "the annual fee", "a signed form": not of whom or what it is.
_DESCRIBING = re.compile(
    r"\w+(?:ed|al|ly|able|ible|ic|ful|ive|ous|en|ing|ary|er|est)$", re.IGNORECASE
)
_ORDER = re.compile(
    r"\b(?:before|after|afterwards|first|then|prior|once|until|unless|only\s+(?:if|when)"
    r"|next|subsequently|thereafter|immediately|at\s+once)\b",
    re.IGNORECASE,
)
_WHO_VERB = re.compile(r"\W*who\s+[a-z]+s\W*$", re.IGNORECASE)


def understand_first(text: str) -> Understood:
    """Return the meaning of the first part of a message.

    Args:
        text: The part. A pronoun in it stands for nothing: "Who signs it?".
    """
    if find_dependence(text).kind is Pointer.PRONOUN:
        return understand_by_rules(text, ())
    return Understood(text)


def understand_part(text: str, before: str) -> Understood:
    """Return the meaning of a later part of a message.

    Args:
        text: The part.
        before: The question before it in the same message. It is not answered yet, so
            the part may refer to anything it names.
    """
    things = find_candidates(before, ())
    if same := _of_the_same_act(text, before, things):
        return same
    dependence = find_dependence(text)
    if dependence.kind is Pointer.NONE:
        return _of_what_is_spoken_of(text, before, things)
    referent = choose_referent(dependence, things)
    if dependence.kind is Pointer.BARE_NOUN and referent is None:
        return Understood(text)
    if dependence.kind is Pointer.FRAGMENT or referent is None:
        return ask_back(text, dependence, things)
    question = put_referent(text, dependence, referent.text)
    return Understood(question, subject=referent.text)


def _of_the_same_act(
    text: str, before: str, things: Sequence[NamedThing]
) -> Understood | None:
    """Return a part that asks of the act of the question before: "by when?", or None.

    It is asked back if that question does not say which act: "Who signs it?".
    """
    if find_dependence(before).kind is not Pointer.PRONOUN:
        if continued := continue_question(text, before):
            return about_all(continued, things)
        if of_actor := continue_for_actor(text, before):
            return replace(about_all(of_actor, things), spoken=before)
        if of_order := ask_before(text, before):
            same = about_all(of_order, things)
            return replace(same, spoken=before, ordered=True)
    if is_question_phrase(text) or refers_to_order(text):
        return ask_back(text, as_fragment(text), ())
    return None


def _of_what_is_spoken_of(
    text: str, before: str, things: Sequence[NamedThing]
) -> Understood:
    """Return a part without a pronoun: "who pays?", "who holds the key?".

    A verb without an object has that of the question before. "The key" may belong to
    what was named there; whether it does is seen from the answer.
    """
    owners = [thing for thing in things if not thing.owner]
    owner = owners[0].text if len(owners) == 1 else ""
    if names_nothing(text):
        if not owner or not _WHO_VERB.match(text):
            return ask_back(text, as_fragment(text), ())
        question = f"{text.rstrip('?!. ')} {owner}?"
        return Understood(question, subject=owner, in_quote=True)
    noun = _THE_NOUN.search(text)
    is_new = noun is not None and not stems_of(noun["noun"]) <= stems_of(before)
    if noun is None or not is_new or _OWNED.match(text, noun.end()):
        return Understood(text)
    words_of_noun = Dependence(
        Pointer.BARE_NOUN, noun[0], noun.start(), noun.end(), noun=noun["noun"]
    )
    fuller = put_referent(text, words_of_noun, owner) if owner else ""
    return Understood(text, noun=noun["noun"], fuller=fuller)


def with_owner(part: Understood) -> Understood:
    """Return the fuller question of a part, whose quotes must name the owner.

    Args:
        part: A part with a `fuller` question.
    """
    owner = find_candidates(part.fuller, ())
    named = next((thing.text for thing in owner if not thing.owner), part.fuller)
    return Understood(part.fuller, subject=named, in_quote=True)


def tells_of_part(part: Understood, result: QueryResult, before: QueryResult) -> bool:
    """Return whether an answer says what a part asks, not only what was asked first.

    "The box is kept in the kitchen" answers "Where is it kept?", and not "Who fills
    it?". What is first or next needs a word of order, unless its own word is there.

    Args:
        part: A later part.
        result: Its answer.
        before: The answer to the part before.
    """
    quoted = " ".join(c.quote for c in result.citations)
    own = telling_stems(part.question) - telling_stems(before.question)
    if part.ordered:
        asked = own - {stem(word) for word in COMMON}
        has_own = bool(asked) and has_words(asked, quoted)
        is_prose = all(c.kind not in COMPUTED for c in result.citations)
        return is_prose and (has_own or bool(_ORDER.search(quoted)))
    earlier = {c.quote for c in before.citations}
    if any(c.quote not in earlier for c in result.citations):
        return True
    own = own_words(part.question, before.question)
    if analyse(part.question).form is Form.PERSON:
        return own <= stems_of(quoted)  # "it costs 25 florins" does not tell who pays
    return has_words(own, quoted)


def speaks_of(part: Understood, result: QueryResult) -> bool:
    """Return whether each quote of an answer has a word of the question before.

    Args:
        part: A part that was completed by the question before it.
        result: Its answer.
    """
    common = {stem(word) for word in COMMON}
    asked = telling_stems(part.spoken)
    asked = asked - common or asked
    return not asked or all(
        any(has_words([one], f"{c.quote} {_last_heading(c)}") for one in asked)
        for c in result.citations
    )


def is_of_another(part: Understood, result: QueryResult, before: QueryResult) -> bool:
    """Return whether an answer tells of the same noun of something else.

    After "When is the sauna open?", "The key to the boat shed is kept by the bosun"
    does not tell who holds the key: its owner is named neither by the question before
    nor by its answer. A quote that names no owner is of another one if the sources
    name several, and it stands in another section and shares no word.

    Args:
        part: A part with a noun that may belong to what was spoken of.
        result: Its answer.
        before: The answer to the part before.
    """
    spoken = " ".join(f"{c.quote} {_last_heading(c)}" for c in before.citations)
    known = stems_of(f"{before.question} {spoken}")
    noun = stem(part.noun.lower())
    quotes = [c for c in result.citations if noun in stems_of(c.quote)]
    return any(
        _is_others(quote, noun, known, before.citations, result.sources)
        for quote in quotes
    )


def _is_others(
    citation: Citation,
    noun: str,
    known: frozenset[str],
    before: Sequence[Citation],
    sources: Sequence[Source],
) -> bool:
    owners = [*_owners(citation.quote, noun)]
    if any(owners):
        return not any(owner and owner <= known for owner in owners)
    every = {owner for one in sources for owner in _owners(one.text, noun)}
    if not any(every):
        return False
    near = any(
        (c.document_id, c.section) == (citation.document_id, citation.section)
        for c in before
    )
    shared = (stems_of(citation.quote) - {noun}) & known
    return not near and not shared


def _owners(text: str, noun: str) -> Iterator[frozenset[str]]:
    """Yield what each occurrence of a noun belongs to, as stems; empty if unsaid.

    "the key to the boat shed", "the locker key".
    """
    for match in re.finditer(WORD, text):
        if stem(match[0].lower()) != noun:
            continue
        if after := _OWNED.match(text, match.end()):
            yield stems_of(after["owner"])
            continue
        previous = words(text[: match.start()])[-1:]
        word = previous[0].lower() if previous else ""
        adjacent = re.search(r"\w\s+$", text[: match.start()])
        is_owner = (
            adjacent
            and word not in STOP_WORDS
            and not _DESCRIBING.match(word)
            and telling_words(word)
        )
        yield stems_of(word) if is_owner else frozenset()


def _last_heading(citation: Citation) -> str:
    return citation.section.rpartition(" > ")[2]

"""What a sentence excepts: "open daily except Sundays", "forbidden, except outside".

A question for yes or no about the exception is answered by such a sentence, although it
negates a word that the question affirms.
"""

import re
from collections.abc import Iterable

from elt_llm_query.analysis.noun_phrases import telling_stems, telling_words
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match

_EXCEPTION = re.compile(
    r"[,;]?\s+(?:except(?:ing)?(?:\s+(?:for|on|in|at|during|that|when|if))?|excluding"
    r"|apart\s+from|aside\s+from|other\s+than|with\s+the\s+exception\s+of|unless)\s+",
    re.IGNORECASE,
)


def split_exception(text: str) -> tuple[str, str]:
    """Return a sentence before its exception, and the exception; or it and "".

    Args:
        text: The sentence.
    """
    match_of = _EXCEPTION.search(text)
    if match_of is None:
        return text, ""
    return text[: match_of.start()], text[match_of.end() :]


def asks_for_exception(terms: Iterable[str], question: str, text: str) -> bool:
    """Return whether a sentence excepts what a question is about.

    "The sauna in the clubhouse is open daily except Sundays" tells whether the sauna is
    open on Sundays, and not whether the clubhouse is.

    Args:
        terms: The stems of the question.
        question: The question, which must make no exception itself.
        text: The sentence. It must have every term, some only in its exception, and
            its subject must be that of the question, or be what it excepts.
    """
    rule, exception = split_exception(text)
    if not exception or split_exception(question)[1]:
        return False
    general, excepted = read(rule).stems, read(exception).stems
    rest = [term for term in terms if not match(term, general)]
    if not rest or not all(match(term, excepted) for term in rest):
        return False
    first = [stem(word) for word in telling_words(question)[:1]]
    subject = [stem(word) for word in telling_words(rule)[:1]]
    asked = telling_stems(question)
    return any(match(one, asked) for one in subject) or any(
        match(one, excepted) and not match(one, general) for one in first
    )

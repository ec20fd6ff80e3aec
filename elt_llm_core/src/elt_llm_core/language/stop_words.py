"""The stop words of each language, one list for each purpose."""

from functools import cache
from typing import Literal

from elt_llm_core.language.languages import ENGLISH, language_of

# `index`: left out of the keyword index; part of stored recipes, so it never changes.
# `question`: left out where a question is compared with a text. Wider than `index`,
#     because "most" and "again" say nothing about what a sentence is about.
# `acronym`: may be left out of the initials of a short form.
# `name`: written in lower case inside a name with capitals, in English texts also the
#     particles of Romance and Dutch names ("de", "del", "la").
Purpose = Literal["index", "question", "acronym", "name"]

_ENGLISH: dict[Purpose, str] = {
    "index": """
        a an and are as at be been being but by can could did do does for from had has
        have he her his how i if in into is it its may me my of on or our shall she
        should so than that the their them then there these they this those to was we
        were what when where which who whom whose why will with would you your
        """,
    "question": """
        a about above after again against all also am an and any are aren't as at be
        because been before being below between both but by can can't cannot could
        couldn't did didn't do does doesn't doing don't done down during each either
        else etc ever every few for from further get give given go got had has hasn't
        have haven't having he her here hers herself him himself his how i if in into
        is isn't it its itself just let like may me might more most much must my myself
        no nor not now of off on once only or other our ours out over own per please s
        same say says shall she should so some such t tell than that the their theirs
        them then there these they this those through to too under until up upon us
        very was wasn't we were what what's when where whether which while who who's
        whom whose why will with within without would you your yours yourself
        """,
    "acronym": "a an and at by for from in of on or the to",
    "name": """
        a an and as at by de del du for from in la le of off on onto or out over per the
        to up via vs with within without
        """,
}


@cache
def stop_words(language: str = ENGLISH, purpose: Purpose = "index") -> frozenset[str]:
    """Return the stop words of a language.

    Args:
        language: ISO 639-1 code; empty for English.
        purpose: The text that the words are removed from. Languages other than English
            have a list for `index` only, and some have none.

    Returns:
        Words in lower case; empty if the language has no list.
    """
    if (language or ENGLISH) == ENGLISH:
        return frozenset(_ENGLISH[purpose].split())
    name = language_of(language).stop_words
    if purpose != "index" or not name:
        return frozenset()
    # Imported here, because an English collection needs no other list.
    from bm25s import stopwords  # noqa: PLC0415

    return frozenset(getattr(stopwords, name))

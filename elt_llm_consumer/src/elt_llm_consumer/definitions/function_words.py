"""English function words, as data: where they stand tells a term from a sentence."""

from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.stop_words import stop_words


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A definition of one term cannot start with one of these words.
NOT_FIRST = _words(
    """
    all also always and another any are as at be because been being both but by can
    could did do does each either every example for from had has have he hence her
    here his how however i if in is it its may might moreover must my neither never
    no nor not note of often on only or other our over per same see shall she should
    since so some sometimes such that their then there therefore these they this
    those through thus to under usually was we were what when where which while who
    whom whose why will with within without would you your
    """
)
# Nor with a word of address: "Please refer to the list" asks, and defines nothing.
ADDRESS = _words(
    """
    kindly please
    """
)
# Nor end with one of these.
NOT_LAST = _words(
    """
    a all also an and any are as be been but by for generally has have in is it
    merely no normally not of often only or other simply some sometimes such that
    the therefore these they this those thus to typically usually what which who
    with
    """
)
# Nor hold one of these after its first word.
NOT_INSIDE = _words(
    """
    are be because been being but can could did do does had has have however if is
    it may might must not shall should therefore these they this those was were what
    when which while who will would
    """
)
# Written small inside a name with capitals.
SMALL = stop_words(ENGLISH, "name")
ARTICLES = _words(
    """
    a an the
    """
)
# A bare noun after one of these is in a fixed phrase: "in charge", "under protest".
FIXED_BEFORE = _words(
    """
    at in on under without
    """
)
# A bare word after one of these is a verb: "may appeal", "to protest".
VERB_BEFORE = _words(
    """
    can cannot could may must shall should to will would
    """
)

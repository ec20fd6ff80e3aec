"""Questions about two things: "How much is the rent, and the water charge?".

An answer that quotes only one of them is shown with the line that it is not certain.
"""

import re
from collections.abc import Sequence

from elt_llm_query.analysis.noun_phrases import DETERMINER, NOUNS, PREP
from elt_llm_query.analysis.question import QuestionAnalysis, analyse
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.term_match import list_missing
from elt_llm_query.grounding.claim import Claim

_THINGS = re.compile(
    rf"(?<![\w'\u2019-])(?P<first>{NOUNS})(?P<comma>,)?\s+and\s+"
    rf"(?:(?:{PREP})\s+)?(?:(?:{DETERMINER})\s+)?(?P<last>{NOUNS})\W*$",
    re.IGNORECASE,
)


def lacks_a_thing(
    question: QuestionAnalysis, claims: Sequence[Claim], sections: Sequence[str]
) -> bool:
    """Return whether an answer has only one of two things that are asked for.

    After a comma the second thing has the words of the first question ("Where are gulls
    released, and terns?"), so that all of them must be quoted.

    Args:
        question: The question.
        claims: The quotes of the answer.
        sections: The sections of the sources that they are from.
    """
    asked = _THINGS.search(question.text)
    if asked is None:
        return False
    if asked["comma"]:
        telling = [t for t, weight in question.weights.items() if weight == 1]
    else:
        telling = [*analyse(f"{asked['first']} {asked['last']}").weights]
    quoted = read("\n".join([*(claim.text for claim in claims), *sections])).stems
    return bool(list_missing(telling, quoted))

"""Phrases at the beginning of a written sentence that claim nothing of a document.

"Based on the provided sources, …", "Laut den Quellen …", "In summary, …": models begin
answers with them, and no source contains them. "According to rule 4, …" names a place
and stays part of the claim.
"""

import re

_GIVEN = r"(?:(?:provided|given|available|above|supplied|retrieved|relevant|cited)\s+)"
_NOUN = (
    r"(?:sources?|documents?|context|information|passages?|texts?|excerpts?|evidence)"
)
_SOURCES = (
    rf"(?:the\s+|these\s+|this\s+|your\s+)?{_GIVEN}{{0,2}}{_NOUN}"
    rf"(?:\s+(?:provided|given|above|available|supplied)"
    rf"|\s+(?:in|from)\s+the\s+{_GIVEN}?{_NOUN})?"
)
_ENGLISH = (
    rf"(?:based\s+(?:(?:only|solely)\s+)?(?:up)?on|according\s+to|from|per|as\s+per"
    rf"|as\s+\w+ed\s+(?:in|by))\s+{_SOURCES}\s*,"
    rf"|{_SOURCES}\s+(?:clearly\s+|explicitly\s+)?"
    r"(?:states?|says?|shows?|indicates?|specify|specifies|mentions?|notes?)\s+that\b"
    r"|(?:in|to)\s+(?:summary|conclusion|short|brief|summari[sz]e|conclude|sum\s+up)\s*,"
    r"|in\s+(?:addition|particular)\s*,|specifically\s*,|(?:please\s+)?note\s+that\b"
    r"|i\s+(?:found|can\s+see)\s+that\b"
)
_GERMAN = (
    r"(?:laut|gemäß|nach|(?:basierend|gestützt)\s+auf|auf\s+(?:der\s+)?(?:basis|grundlage))"
    r"\s+(?:den|der|dem|des)\s+(?:(?:bereitgestellten|vorliegenden|angegebenen|gegebenen"
    r"|verfügbaren|genannten)\s+)?(?:quellen?|dokumente?n?|dokuments|texte?n?|textes"
    r"|unterlagen|informationen|kontexte?s?|auszügen?)\b\s*,?"
)
_SPANISH = (
    r"(?:según|de\s+acuerdo\s+con|conforme\s+a|basado\s+en|con\s+base\s+en)\s+(?:las?|los|el)"
    r"\s+(?:fuentes?|documentos?|textos?|información|contexto|pasajes?)"
    r"(?:\s+(?:proporcionad|dad|facilitad)[oa]s?|\s+disponibles?)?\s*,"
)
_FRENCH = (
    r"(?:selon|d['\u2019]après|sur\s+la\s+base\s+d(?:e|es|u))\s+(?:les?\s+|la\s+|l['\u2019])?"
    r"(?:sources?|documents?|textes?|information[s]?|contexte|extraits?|passages?)"
    r"(?:\s+(?:fourni|donné)e?s?|\s+disponibles?)?\s*,"
)
_OPENING = re.compile(
    rf"^\W*(?:{_ENGLISH}|{_GERMAN}|{_SPANISH}|{_FRENCH})\s*(?=\w|[\"\u201c\u00ab])",
    re.IGNORECASE,
)
_MOST = 3  # "In summary, based on the sources, note that": a further one claims nothing


def without_opening(claim: str) -> str:
    """Return a claim without the phrases before it that claim nothing.

    Args:
        claim: One statement, without labels.
    """
    for _ in range(_MOST):
        opening = _OPENING.match(claim)
        if opening is None:
            break
        claim = claim[opening.end() :]
    return claim

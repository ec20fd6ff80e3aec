"""Detect passages that address a language model or hide text; nothing is removed.

A document is read and quoted unchanged. A passage that was written for a model is
marked from ingest to the citation, so that the readers of an answer know. The patterns
are short phrases that ordinary documents do not contain; "Suspicious passages" in
measurements/proof.md has their false-positive rate.
"""

import json
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum


class Suspicion(StrEnum):
    """The reason why a passage is suspicious."""

    ADDRESSES_MODEL = "addresses_model"  # gives instructions to a language model
    CHAT_MARKUP = "chat_markup"  # contains tokens that separate the turns of a chat
    REMOTE_PICTURE = "remote_picture"  # a picture's address that carries text away
    HIDDEN_CHARACTERS = "hidden_characters"  # contained invisible text


WORDS = {
    Suspicion.ADDRESSES_MODEL: "addresses a language model",
    Suspicion.CHAT_MARKUP: "imitates turns of a chat",
    Suspicion.REMOTE_PICTURE: "would send text to another server",
    Suspicion.HIDDEN_CHARACTERS: "held characters that no reader sees",
}

_MODEL = (
    r"(?:(?:large )?language models?|llms?|chat ?bots?|(?:ai|virtual|helpful) "
    r"(?:assistants?|models?|systems?|agents?)|artificial intelligence|ai|gpt-?\w*)"
)
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|system|original)"
_ORDERS = (
    r"(?:instructions?|prompts?|directions?|directives?|orders|commands|messages?|"
    r"guidelines|sources)"
)
_READER = r"(?:the )?(?:users?|humans?|person (?:who asks|asking))"
_ADDRESSES = (
    # English
    (
        rf"\b(?:ignore|disregard|forget|override|bypass) (?:\w+ ){{0,3}}{_EARLIER} "
        rf"(?:\w+ )?{_ORDERS}\b"
    ),
    rf"\b(?:ignore|disregard|forget|override) (?:all |any )?your (?:\w+ )?{_ORDERS}\b",
    (
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything|whatever)"
        r"(?: (?:that|you|was|were|have|has|been|told|said|written|read)){0,5} "
        r"(?:above|before|earlier|previously|so far)\b"
    ),
    rf"\byou are (?:now )?(?:an? |the )(?:\w+ )?{_MODEL}\b",
    (
        rf"\b(?:as an? {_MODEL},? you|(?:attention|note|message|instructions?|hint)"
        rf"(?: to| for|,|:) (?:the |an? |any |all )?{_MODEL})\b"
        r"(?! of| in| on| that| which)"
    ),
    rf"\b(?:if|when) you are an? {_MODEL}\b",
    (
        r"\b(?:reveal|print|repeat|output|show|leak|disclose|send|expose) (?:me )?"
        r"(?:your|the) (?:full |whole |entire )?(?:system|hidden|initial) prompt\b"
    ),
    (
        rf"\bdo not (?:tell|mention|reveal|disclose|show)(?: \w+){{0,3}} to {_READER} "
        r"(?:that|about)"
    ),
    r"\bfrom now on,? (?:you (?:are|will|must|shall)|answer|respond|reply|act)\b",
    (
        r"\byour (?:new|real|true|only|actual) (?:instructions?|task|role|orders|goal) "
        r"(?:is|are)\b"
    ),
    r"\b(?:developer|jailbreak|god|admin) mode (?:is )?(?:enabled|activated|on)\b",
    (
        r"\b(?:append|prepend|insert|embed|render)(?: \w+){1,8} (?:in|into|to|at) "
        r"(?:the (?:end|start|beginning) of )?your (?:final |next )?(?:answer|output)\b"
    ),
    (
        r"\b(?:answer|respond|reply) (?:to )?(?:every|all|any) (?:\w+ )?questions? "
        r"(?:with|by|as|that)\b"
    ),
    r"\bsystem (?:prompt|override|instructions?) ?:",
    # German, Spanish, French
    (
        r"\b(?:ignorier\w*|vergiss|vergessen|missacht\w*)(?: \w+){0,4} "
        r"(?:vorherigen|vorigen|bisherigen|obigen|früheren|vorangehenden)(?: \w+)? "
        r"(?:anweisungen|instruktionen|befehle|vorgaben|hinweise)\b"
    ),
    r"\bdu bist (?:jetzt |nun )?ein\w* (?:ki|sprachmodell|chatbot|ki-?\w+)\b",
    (
        r"\b(?:ignor[ae]|olvid[ae]|descart[ae]|omit[ae])n?(?: \w+){0,3} "
        r"(?:instrucciones|órdenes|indicaciones) (?:anteriores|previas|precedentes)\b"
    ),
    r"\b(?:ahora )?eres (?:ahora )?una? (?:ia|modelo de lenguaje|chatbot)\b",
    (
        r"\b(?:ignore[zr]?|oublie[zr]?)(?: \w+){0,3} (?:instructions|consignes) "
        r"(?:précédentes|antérieures|ci-dessus)\b"
    ),
)
_CHAT = (
    (
        r"<\|\s*(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|"
        r"begin_of_text|start_header_id|end_header_id)\s*\|>"
    ),
    r"\[/?inst\]",
    r"<</?sys>>",
    r"<(?:start|end)_of_turn>",
    r"</?\s*(?:system|assistant)(?:[ _-]?(?:prompt|message|instructions?))?\s*>",
    r"</\s*sources?\b[^>]{0,40}>",
    (
        r"^\W{0,4}(?:system|assistant)\W{0,3}: [^\n]*\n(?:[^\n]*\n){0,3}?"
        r"\W{0,4}(?:user|human|assistant)\W{0,3}:"
    ),
)
# A picture is fetched when it is shown, and its query would send text.
_PICTURE = (
    r"!\[[^\]\n]{0,200}\]\(\s*<?https?://[^\s)]{1,500}[?&][^\s)=]{1,40}=",
    r"<img\b[^>]{0,200}\bsrc\s*=\s*[\"']?https?://[^\s\"'>]{1,500}[?&][^\s\"'>=]{1,40}=",
)
_PATTERNS = tuple(
    (kind, re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE))
    for kind, patterns in (
        (Suspicion.ADDRESSES_MODEL, _ADDRESSES),
        (Suspicion.CHAT_MARKUP, _CHAT),
        (Suspicion.REMOTE_PICTURE, _PICTURE),
    )
)
_BLANKS = re.compile(r"[^\S\n]+")


def find_suspicions(text: str) -> tuple[Suspicion, ...]:
    """Return why a passage is suspicious.

    Args:
        text: The text for a model, without invisible characters.

    Returns:
        The reasons, in the order of `Suspicion`; mostly none.
    """
    plain = _BLANKS.sub(" ", unicodedata.normalize("NFKC", text))
    # A sentence may span lines; a turn of a chat starts on its own line.
    line = plain.replace("\n", " ")
    return tuple(
        kind
        for kind, pattern in _PATTERNS
        if pattern.search(line if kind is Suspicion.ADDRESSES_MODEL else plain)
    )


def read_reasons(written: str) -> tuple[Suspicion, ...]:
    """Parse the reasons in a chunk's metadata. Raises ValueError."""
    return tuple(Suspicion(reason) for reason in json.loads(written))


def describe(reasons: Iterable[Suspicion]) -> str:
    """Return the reasons as text, on one line."""
    return ", ".join(WORDS[reason] for reason in reasons)

"""The supported languages, and how the words of each are compared."""

import re
from typing import NamedTuple

ENGLISH = "en"
# Scripts without spaces between words; Korean has spaces, but joins particles to words.
_CJK_CHARACTERS = (
    "\u3005\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
CJK = re.compile(f"[{_CJK_CHARACTERS}]")
CJK_RUN = re.compile(f"[{_CJK_CHARACTERS}]+")
HANGUL = re.compile("[\uac00-\ud7a3]")
KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff]")


class Language(NamedTuple):
    """A language as the keyword index treats it.

    `stemmer` names a Snowball algorithm, `stop_words` a list of bm25s; both may be
    empty. Without a stemmer words are compared as they are. With `bigrams`, pairs of
    characters are used as words.
    """

    name: str
    stemmer: str = ""
    stop_words: str = ""
    bigrams: bool = False


LANGUAGES: dict[str, Language] = {
    "ar": Language("Arabic", "arabic"),
    "bg": Language("Bulgarian"),
    "ca": Language("Catalan", "catalan"),
    "cs": Language("Czech", "czech"),
    "da": Language("Danish", "danish", "STOPWORDS_DANISH"),
    "de": Language("German", "german", "STOPWORDS_GERMAN"),
    "el": Language("Greek", "greek"),
    "en": Language("English", "english"),
    "es": Language("Spanish", "spanish", "STOPWORDS_SPANISH"),
    "et": Language("Estonian", "estonian"),
    "eu": Language("Basque", "basque"),
    "fa": Language("Persian", "persian"),
    "fi": Language("Finnish", "finnish"),
    "fr": Language("French", "french", "STOPWORDS_FRENCH"),
    "ga": Language("Irish", "irish"),
    "he": Language("Hebrew"),
    "hi": Language("Hindi", "hindi"),
    "hr": Language("Croatian"),
    "hu": Language("Hungarian", "hungarian"),
    "hy": Language("Armenian", "armenian"),
    "id": Language("Indonesian", "indonesian"),
    "it": Language("Italian", "italian", "STOPWORDS_ITALIAN"),
    "ja": Language("Japanese", bigrams=True),
    "ko": Language("Korean", bigrams=True),
    "lt": Language("Lithuanian", "lithuanian"),
    "nl": Language("Dutch", "dutch", "STOPWORDS_DUTCH"),
    "no": Language("Norwegian", "norwegian", "STOPWORDS_NORWEGIAN"),
    "pl": Language("Polish", "polish"),
    "pt": Language("Portuguese", "portuguese", "STOPWORDS_PORTUGUESE"),
    "ro": Language("Romanian", "romanian"),
    "ru": Language("Russian", "russian", "STOPWORDS_RUSSIAN"),
    "sk": Language("Slovak"),
    "sl": Language("Slovenian"),
    "sr": Language("Serbian", "serbian"),
    "sv": Language("Swedish", "swedish", "STOPWORDS_SWEDISH"),
    "th": Language("Thai"),
    "tr": Language("Turkish", "turkish", "STOPWORDS_TURKISH"),
    "uk": Language("Ukrainian"),
    "vi": Language("Vietnamese"),
    "zh": Language("Chinese", bigrams=True),
}


def language_of(code: str) -> Language:
    """Return the language of a code; English for an empty one.

    For an unknown code, it is a language whose words are compared as they are.
    """
    return LANGUAGES.get(code or ENGLISH, Language(code))


def name_of(code: str) -> str:
    """Return the English name of a language, or the code if it is unknown."""
    return language_of(code).name

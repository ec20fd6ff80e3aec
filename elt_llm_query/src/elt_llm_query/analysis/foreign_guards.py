"""Words of other languages that negate, limit, oblige or count: "nicht", "nur", "doit".

All but numbers have the classes of `lexicon.GUARD_CLASSES`, so that a claim may not
leave them out or put another one in their place. Only words that stand alone are
listed: a negation that is part of the verb, as in Czech, makes another word of it,
which a claim may not have anyway.

A word counts in its own language only: "sin" is "without" in Spanish and "his" in
Swedish. Where the language of a text is unknown, the words of all languages count.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from elt_llm_core.language.detect import function_word_languages
from elt_llm_query.analysis.normalise import normal_text

Languages = frozenset[str]  # ISO 639-1 codes; empty if unknown
UNKNOWN: Languages = frozenset()

# Languages that are mistaken for each other share a row. Not "ne": "ne … pas" is one.
# For `must` and the like those of English handbooks' nearest neighbours; Danish "må"
# is "may", and Norwegian "må" is "must".
_ROWS = {
    "not": {
        "de": """nicht kein keine keinen keinem keiner keines nie niemals niemand nichts
            weder ohne""",
        "es pt ca": """nunca jamás ningún ninguna ninguno nadie nada tampoco sin não
            nenhum nenhuma ninguém sem""",
        "fr ca": "pas jamais aucun aucune rien sans",
        "it ro": """non nessun nessuno nessuna niente senza nu niciodată fără""",
        "nl": "niet geen nooit niemand niets zonder",
        "da no sv": """ikke ingen intet aldrig uden aldri ingenting uten inte ej inga
            inget utan""",
        "fi et": "ei eivät ilman",
        "hu": "nem soha nélkül",
        "pl hr sl sr cs sk": "nie nigdy bez nije nisu nikad niso ni",
        "ru uk bg sr": "не нет никогда без ні немає няма",
        "el": "δεν μην χωρίς ποτέ",
        "tr": "değil yok",
        "id": "tidak bukan tanpa",
    },
    "only": {
        "de": "nur ausschließlich lediglich",
        "es pt ca": "solo sólo solamente únicamente apenas somente",
        "fr": "seulement uniquement",
        "it ro": "solo soltanto",
        "nl": "alleen slechts uitsluitend",
        "da no sv": "kun endast bara",
        "pl hr sl sr cs sk": "tylko",
        "ru uk bg sr": "только",
    },
    "some": {
        "de": "einige manche mehrere",
        "es pt ca": "algunos algunas varios varias alguns algumas",
        "fr": "quelques certains certaines",
        "it ro": "alcuni alcune",
        "nl": "sommige",
        "da no sv": "nogle noen några",
        "pl hr sl sr cs sk": "niektórzy",
        "ru uk bg sr": "некоторые",
    },
    "few": {
        "de": "wenige",
        "es pt ca": "pocos pocas poucos poucas",
        "it ro": "pochi poche",
        "nl": "weinig",
    },
    "most": {
        "de": "meisten",
        "es pt ca": "mayoría maioria",
        "fr": "plupart",
        "nl": "meeste",
    },
    "usually": {
        "de": "normalerweise üblicherweise meistens gewöhnlich",
        "es pt ca": "normalmente generalmente habitualmente geralmente",
        "fr": "normalement généralement habituellement",
        "it ro": "normalmente generalmente",
        "nl": "meestal gewoonlijk",
    },
    "sometimes": {
        "de": "manchmal gelegentlich bisweilen",
        "fr": "parfois",
        "it ro": "talvolta",
        "nl": "soms",
    },
    "except": {
        "de": "außer ausgenommen",
        "es pt ca": "excepto salvo exceto",
        "fr": "excepté sauf hormis",
        "it ro": "tranne eccetto salvo",
        "nl": "behalve",
    },
    "minimum": {
        "de": "mindestens wenigstens",
        "es pt ca": "mínimo",
        "it ro": "minimo",
        "nl": "minstens",
    },
    "maximum": {
        "de": "höchstens",
        "es pt ca": "máximo",
        "it ro": "massimo",
        "nl": "hoogstens",
    },
}
_MODALS = {
    "must": {
        "de": "muss müssen muß",
        "es pt ca": "debe deben deberá deberán deve devem deverá deverão",
        "fr": "doit doivent devra devront",
        "it ro": "deve devono dovrà dovranno",
        "nl": "moet moeten",
    },
    "may": {
        "de": "darf dürfen kann können",
        "es pt ca": "puede pueden podrá podrán pode podem poderá poderão",
        "fr": "peut peuvent pourra pourront",
        "it ro": "può possono potrà potranno",
        "nl": "mag mogen kan kunnen",
    },
    "should": {
        "de": "soll sollen sollte sollten",
        "es pt ca": "debería deberían deveria deveriam",
        "fr": "devrait devraient",
        "it ro": "dovrebbe dovrebbero",
    },
}
# 2 to 12; left out are words of English, and those for "one", which are articles too.
_NUMBERS = {
    "2": {"de": "zwei", "es pt ca": "dois", "fr": "deux", "nl": "twee"},
    "3": {"de": "drei", "es pt ca": "tres três", "fr": "trois", "nl": "drie"},
    "4": {
        "de": "vier",
        "es pt ca": "cuatro quatro",
        "fr": "quatre",
        "it ro": "quattro",
        "nl": "vier",
    },
    "5": {
        "de": "fünf",
        "es pt ca": "cinco",
        "fr": "cinq",
        "it ro": "cinque",
        "nl": "vijf",
    },
    "6": {"de": "sechs", "es pt ca": "seis", "nl": "zes"},
    "7": {"de": "sieben", "es pt ca": "siete sete", "it ro": "sette", "nl": "zeven"},
    "8": {"de": "acht", "es pt ca": "ocho oito", "fr": "huit", "nl": "acht"},
    "9": {
        "de": "neun",
        "es pt ca": "nueve nove",
        "fr": "neuf",
        "it ro": "nove",
        "nl": "negen",
    },
    "10": {
        "de": "zehn",
        "es pt ca": "diez dez",
        "fr": "dix",
        "it ro": "dieci",
        "nl": "tien",
    },
    "11": {
        "de": "elf",
        "fr": "onze",
        "es pt ca": "onze",
        "it ro": "undici",
        "nl": "elf",
    },
    "12": {
        "de": "zwölf",
        "es pt ca": "doce doze",
        "fr": "douze",
        "it ro": "dodici",
        "nl": "twaalf",
    },
}
_Rows = Mapping[str, Mapping[str, str]]


@lru_cache(maxsize=64)
def guard_words(languages: Languages = UNKNOWN) -> Mapping[str, str]:
    """Return the class of each guard word of some languages.

    Args:
        languages: Of the text; empty if unknown, which gives those of all.
    """
    return {**_read(_ROWS, languages), **_read(_MODALS, languages)}


@lru_cache(maxsize=64)
def number_words(languages: Languages = UNKNOWN) -> Mapping[str, str]:
    """Return the digits of each number word of some languages, of all if empty."""
    return _read(_NUMBERS, languages)


def negating_words(languages: Languages = UNKNOWN) -> frozenset[str]:
    """Return the words that negate in some languages, in all if empty."""
    return frozenset(w for w, name in guard_words(languages).items() if name == "not")


@lru_cache(maxsize=2048)
def languages_of(text: str, known: str = "") -> Languages:
    """Return the languages whose guards count in a text.

    Args:
        text: A few sentences of a source.
        known: The language of the source as it was detected; empty for English and if
            it is unknown. The text may still quote another language.
    """
    return function_word_languages(text) | frozenset([known] if known else [])


def languages_of_sentences(
    sentences: Iterable[str], source: str, known: str = ""
) -> Languages:
    """Return the languages whose guards count in some sentences of a source.

    Args:
        sentences: Sentences of the source.
        source: Its text, which decides for a sentence that is too short.
        known: The language of the source as it was detected; see `languages_of`.
    """
    each = (languages_of(one, known) for one in sentences)
    return frozenset().union(*(one or languages_of(source, known) for one in each))


def _read(rows: _Rows, languages: Languages) -> dict[str, str]:
    return {
        word: name
        for name, by_language in rows.items()
        for codes, words in by_language.items()
        if not languages or not languages.isdisjoint(codes.split())
        for word in _words(words)
    }


def _words(text: str) -> Iterable[str]:
    return normal_text(text).split()


FOREIGN_MODALS = frozenset(_read(_MODALS, UNKNOWN))

"""Words of other languages that negate, limit or count: "nicht", "nur", "sechs".

Those that negate or limit have the classes of `lexicon.GUARD_CLASSES`, so that a claim
may not leave them out. Only words that stand alone are listed: a negation that is part
of the verb, as in Czech, makes another word of it, which a claim may not have anyway.
Common words of another language are left out ("mai", never in Italian, is May in
German).
"""

from elt_llm_query.analysis.normalise import normal_text

# A row for German; Spanish and Portuguese; French; Italian and Romanian; Dutch; Danish,
# Norwegian and Swedish; Finnish and Hungarian; Polish, Croatian and Slovene; Russian,
# Ukrainian and Bulgarian; Greek; Turkish; Indonesian. Not "ne": "ne … pas" is one.
_NOT = """
    nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne
    nunca jamás ningún ninguna ninguno nadie nada tampoco sin não nenhum
    nenhuma ninguém sem
    pas jamais aucun aucune rien sans
    non nessun nessuno nessuna niente senza nu niciodată fără
    niet geen nooit niemand niets zonder
    ikke ingen intet aldrig uden aldri ingenting uten inte ej aldrig inga inget utan
    ei eivät ilman nem soha nélkül
    nie nigdy bez nije nisu nikad niso ni
    не нет никогда без ні немає няма
    δεν μην χωρίς ποτέ
    değil yok
    tidak bukan tanpa
"""
_ONLY = """
    nur ausschließlich lediglich solo sólo solamente únicamente seulement uniquement
    soltanto alleen slechts uitsluitend apenas somente kun endast bara
    tylko только
"""
_SOME = """
    einige manche mehrere algunos algunas varios varias quelques certains certaines
    alcuni alcune sommige alguns algumas nogle noen några niektórzy некоторые
"""
_FEW = "wenige pocos pocas pochi poche weinig poucos poucas"
_MOST = "meisten mayoría plupart meeste maioria"
_USUALLY = """
    normalerweise üblicherweise meistens gewöhnlich normalmente generalmente
    habitualmente normalement généralement habituellement meestal gewoonlijk
    geralmente
"""
_SOMETIMES = "manchmal gelegentlich bisweilen parfois talvolta soms"
_EXCEPT = "außer ausgenommen excepto salvo sauf hormis tranne eccetto behalve exceto"
_MINIMUM = "mindestens wenigstens mínimo minimo minstens"
_MAXIMUM = "höchstens máximo massimo hoogstens"


# 2 to 12; left out are words of English, and those for "one", which are articles too.
_NUMBERS = (
    ("2", "zwei deux twee dois"),
    ("3", "drei tres trois drie três"),
    ("4", "vier cuatro quatre quattro quatro"),
    ("5", "fünf cinco cinq cinque vijf"),
    ("6", "sechs seis zes"),
    ("7", "sieben siete sette zeven sete"),
    ("8", "acht ocho huit oito"),
    ("9", "neun nueve neuf nove negen"),
    ("10", "zehn diez dix dieci tien dez"),
    ("11", "elf onze undici"),
    ("12", "zwölf doce douze dodici twaalf"),
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(normal_text(text).split())


FOREIGN_GUARDS = {
    "not": _words(_NOT),
    "only": _words(_ONLY),
    "some": _words(_SOME),
    "few": _words(_FEW),
    "most": _words(_MOST),
    "usually": _words(_USUALLY),
    "sometimes": _words(_SOMETIMES),
    "except": _words(_EXCEPT),
    "minimum": _words(_MINIMUM),
    "maximum": _words(_MAXIMUM),
}
FOREIGN_NEGATIONS = frozenset(FOREIGN_GUARDS["not"])
FOREIGN_NUMBERS = {
    word: number for number, several in _NUMBERS for word in _words(several)
}

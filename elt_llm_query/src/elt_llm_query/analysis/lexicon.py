"""English word lists, as data: words without content, and words that must not change.

No list contains vocabulary of a particular field.
"""

import re

from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.stop_words import stop_words


def _list(text: str) -> list[str]:
    return text.split()


def _set(text: str) -> frozenset[str]:
    return frozenset(_list(text))


STOP_WORDS = stop_words(ENGLISH, "question")

# Words of a question that express its form, not its subject.
QUESTION_WORDS = _set("""
    according allow allowed answer apply call called come consider considered count deem
    deemed define defined definition describe described describes description document
    documents explain find happen happens handbook have involve kind know list long many
    mean meaning means mention mentioned name need needed needs ok permit permitted
    provide provided purpose refer referred refers regard require required requirement
    requirements rule rules say set sort source sources specify specified state stated
    stand stands take takes term text type types use used uses word work
    """)

# Question words, which represent the answer.
INTERROGATIVES = _set("who whom whose when where why how which what")
# Phrases that introduce a reason; their last word may be inflected.
CAUSES = (
    "because",
    "due to",
    "so that",
    "in order",
    "since",
    "as a result",
    "therefore",
    "caus",
    "reason",
)

NEGATIONS = _set("""
    not no never none nor neither cannot can't don't doesn't didn't won't isn't aren't
    wasn't weren't shouldn't mustn't couldn't wouldn't hasn't haven't without nobody
    nothing nowhere unless except excluding
    """)

# Swapping one of these for another changes the meaning of a quote.
GUARDED = NEGATIONS | _set("""
    must may shall should can might will would could only all any every each some both
    either before after until more less fewer least most at above below over under
    minimum maximum increase increases increased decrease decreases decreased first last
    always sometimes permitted prohibited allowed forbidden required optional
    """)

# An exemption from a duty as one word: "need not", "is not required to".
EXEMPT = "neednot"
# A condition as one word: "subject to", "provided that".
PROVIDED = "providedthat"

# Guards by meaning: words of one class are equivalent.
GUARD_CLASSES = {
    name: _list(ring)
    for name, ring in (
        ("must", "must shall"),
        (EXEMPT, EXEMPT),
        ("may", "may can might could"),
        ("should", "should ought"),
        ("will", "will would"),
        ("not", "not no never none nor neither nobody nothing nowhere without"),
        ("all", "all every each"),
        ("any", "any either"),
        ("some", "some several"),
        ("most", "most"),
        ("many", "many"),
        ("few", "few"),
        ("only", "only solely exclusively"),
        ("both", "both"),
        ("more", "more"),
        ("less", "less fewer"),
        ("always", "always"),
        ("sometimes", "sometimes occasionally"),
        ("usually", "usually generally typically normally often"),
        ("before", "before"),
        ("after", "after"),
        ("until", "until till"),
        ("unless", "unless"),
        ("except", "except excluding"),
        (PROVIDED, PROVIDED),
        ("within", "within"),
        ("than", "than"),
        ("off", "off"),  # switched on, switched off
        ("minimum", "minimum minimal"),  # "at least" too, see `agreement`
        ("maximum", "maximum maximal"),
    )
}
# Classes whose omission extends the meaning of a sentence. A "must" or an "all" may be
# omitted: "the holder pays", "members vote".
NEVER_DROPPED = _set("""
    may should not some most many few only minimum maximum more less sometimes usually
    until unless except within before after both off
    """) | {EXEMPT, PROVIDED}
# Verbs whose past is no ending; left out are forms that are words of their own ("left",
# "found", "saw").
_IRREGULAR = """
    begin began begun/break broke broken/bring brought/build built/burn burnt/buy bought
    catch caught/choose chose chosen/come came/deal dealt/do did done/draw drew drawn
    drink drank drunk/drive drove driven/eat ate eaten/fall fell fallen/feed fed
    fight fought/fly flew flown/forbid forbade forbidden/forget forgot forgotten
    freeze froze frozen/give gave given/go went gone goes/grow grew grown/hang hung
    hear heard/hide hid hidden/hold held/keep kept/know knew known/lay laid/lead led
    learn learnt/lend lent/lose lost/make made/mean meant/meet met/pay paid
    ride rode ridden/ring rang rung/rise rose risen/run ran/seek sought/sell sold
    send sent/shake shook shaken/shoot shot/show showed shown/sing sang sung
    sink sank sunk/sleep slept/speak spoke spoken/spend spent/stand stood
    steal stole stolen/stick stuck/strike struck/swear swore sworn/swim swam swum
    take took taken/teach taught/tear tore torn/tell told/think thought
    throw threw thrown/understand understood/wear wore worn/win won
    withdraw withdrew withdrawn/write wrote written
    """
IRREGULAR = {
    form: base
    for verb in re.split(r"[/\n]", _IRREGULAR)
    if verb.strip()
    for base, *forms in [verb.split()]
    for form in forms
}
# "The rules say that", "according to": reporting words, which need not be in the
# passage.
REPORTING = _set("""
    according says say said states state stated specifies specify mentions mention rule
    rules document documents source sources text passage handbook excerpt context word
    words see answer quote since because therefore thus otherwise
    """)

# Words that ask for a text verbatim.
TELLING = _set("say tell show content contents wording quote cite read")
# Verbs of a question for all that a rule lays down: "What does rule 3.1 exclude?".
RULING = _set("""
    add allow ban change contain cover define demand exclude forbid govern grant include
    lay limit oblige permit prescribe prohibit promise provide regulate require restrict
    rule state
    """)

# The scope of "not", "without" ... ends at one of these; see `negation`.
AUXILIARIES = _set("""
    am is are was were be been being do does did has have had can could may might must
    shall should will would
    """)
DETERMINERS = _set("a an the my your our any every each some no all")
RELATIVES = _set("who whom whose which that")
SUBORDINATORS = _set("if when where while whenever wherever because since")
DENIALS = _set("""
    never none nobody nothing nowhere neither nor unless cannot forbid forbids forbidden
    prohibit prohibits prohibited ban bans banned
    """)
EXCEPTIONS = _set("without except excepting excluding")
# Words of absence that negate no other word.
LACKS = _set("""
    lack lacks lacking fail fails failed failing forget forgets forgot forgotten lose
    loses lost losing miss misses missing refuse refuses refused absent besides beside
    """)
# The minimum length of a word after a negative prefix.
NEGATIVE_PREFIXES = {"non": 4, "un": 4, "in": 5, "im": 5, "il": 5, "ir": 5}

NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        _list("""
        zero one two three four five six seven eight nine ten eleven twelve thirteen
        fourteen fifteen sixteen seventeen eighteen nineteen twenty
        """)
    )
} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "seventy": "70",
    "eighty": "80",
    "ninety": "90",
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
    "half": "0.5",
    "dozen": "12",
}

MONTHS = _set("""
    january february march april may june july august september october november
    december
    """)

# Names of upper and lower bounds; a question for one is not answered by the other.
UPPER = _list("""
    maximum maximal most highest largest longest latest biggest greatest
    """)
LOWER = _list("minimum minimal least fewest lowest smallest shortest earliest")

# Phrases that set a bound without naming it; the last word may be inflected.
UPPER_PHRASES = (
    "at most",
    "no more than",
    "not more than",
    "no later than",
    "not later than",
    "no longer than",
    "not longer than",
    "not exceed",
    "never exceed",
    "up to",
    "strictly less than",
)
LOWER_PHRASES = (
    "at least",
    "no less than",
    "not less than",
    "no fewer than",
    "not fewer than",
    "no earlier than",
    "not earlier than",
    "no shorter than",
    "not shorter than",
    "strictly more than",
)

# Interchangeable words in paraphrases; too loose for a search.
PARAPHRASES = tuple(
    frozenset(ring.split())
    for ring in (
        "want intend wish",
        "keep continue remain stay",
        "give provide supply",
        "near close nearby",
        "quick prompt immediate",
        "ask request",
        "help assist support",
        "use employ utilise utilize",
        "about approximately roughly around",
        "rise increase grow climb growth",
        "fall drop decrease decline reduce reduction",
        "storey story floor",
        "happen occur arise",
        "live reside inhabit",
    )
)

# Variants of one word with equal weight. A closed list: bounds and periods.
EQUIVALENT = tuple(
    tuple(ring.split())
    for ring in (
        "maximum maximal max",
        "minimum minimal min",
        "hourly hour",
        "daily day",
        "weekly week",
        "monthly month",
        "quarterly quarter",
        "annual annually yearly year annum",
    )
)

# Parts of a document: a number after one of these is not a quantity.
PARTS = _list("""
    annex appendix article chapter clause figure item no page paragraph part regulation
    rule schedule sec section table volume
    """)

# What a text calls itself: "in this policy" refers to no sentence before it.
WRITINGS = _set("""
    act agreement appendix article book chapter clause code document guidance guide
    guideline handbook manual page paper paragraph part policy regulation report rule
    rulebook schedule section standard table volume
    """)

CURRENCIES = _set("""
    euro dollar pound cent pence franc crown krona krone kroner kronor mark zloty rupee
    yen yuan rouble ruble peso shilling guilder florin guinea thaler lira dirham dinar
    rand real reais
    """)
LARGE_NUMBERS = _set("thousand thousands million millions billion billions")

FREQUENCY = _set("""
    once twice thrice hourly daily weekly fortnightly monthly quarterly yearly annually
    """)

TIME_UNITS = _set("""
    second seconds minute minutes hour hours day days week weeks month months quarter
    quarters year years annually monthly weekly daily
    """)

# Days and their parts, which answer "when".
DAYS = _set("""
    monday tuesday wednesday thursday friday saturday sunday weekday weekend mondays
    tuesdays wednesdays thursdays fridays saturdays sundays weekdays weekends morning
    mornings afternoon afternoons evening evenings night nights noon midday midnight
    dawn dusk sunrise sunset
    """)

# General words that a question may contain and its answer need not: low weight.
COMMON = _set("""
    able actual agree amount apart appear ask available aware base become begin behave
    believe belong big bring build bring carry case cause certain change choose clear
    close collect complete concern condition consist contain continue correct create
    current date deal decide depend detail determine differ different do ensure exact
    exist expect fact fall feature feel fill find follow form full function general good
    great group handle hand happen help high hold hope important include individual
    information instance intend interest issue item keep kind large late lead leave
    length level look low main make manner matter meet method move necessary new next
    normal note number occur old open option order own part particular people perform
    person place play point possible practice prepare present prevent process produce
    proper prove put reach read reason receive relate relevant remain result return role
    run second see seem select separate serve show similar simple single situation size
    small special standard start stay step stop submit subject suitable support system
    thing think time total treat try understand usual valid value want way whole wish
    write wrong year
    """)

# Synonyms: general words that rules and handbooks use for one another.
RINGS = tuple(
    tuple(ring.split())
    for ring in (
        "minimum least fewest lowest smallest shortest",
        "maximum most highest largest longest limit",
        "cost price fee charge pay payment payable",
        "begin start commence",
        "end finish stop cease terminate",
        "buy purchase acquire",
        "old age aged",
        "often frequency frequent frequently every periodically once per",
        "long length duration period",
        "heavy weight weigh kg kilogram kilo gram tonne ton",
        "hot warm heat temperature celsius fahrenheit",
        "tall height",
        "wide width broad breadth",
        "deep depth",
        "thick thickness",
        "deadline due within latest",
        "penalty sanction punishment consequence fine",
        "responsible responsibility duty accountable",
        "choose select appoint elect",
        "change amend modify alter amendment",
        "keep retain retention store stored",
        "remove delete erase",
        "show display present",
        "forbid forbidden prohibit prohibited",
        "allow allowed permit permitted may permission",
        "need require required must requirement",
        "broken defective damaged damage",
        "tell inform notify notification",
        "send submit deliver",
        "get receive obtain",
        "give grant award",
        "quick fast speed",
        "big large size",
        "people person persons individual individuals",
        "child children minor",
        "worker employee staff",
        "illness ill sick sickness",
        "car vehicle",
        "rank ranking ranked",
        "win winner won",
        "email e-mail mail",
        "phone telephone",
        "house home",
        "refund reimburse reimbursement repay",
        "approve approval approved",
        "loan borrow lend borrowing lending",
        "return give back returned",
        "renew extend extension renewal",
    )
)

# "How tall" asks for a height. "How long", "how far" and "how high" ask for other
# things as well, a time or a share.
MEASURED = {
    "tall": "height",
    "wide": "width",
    "deep": "depth",
    "heavy": "weight",
    "old": "age",
    "hot": "temperature",
}
# Words directly before what they count.
ORDINAL_NUMBERS = _set("""
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    last
    """)
# Rings of ordinals by place, then those without one.
ORDINALS = tuple(
    frozenset(ring.split())
    for ring in (
        "first 1st initial initially original originally earliest",
        "second 2nd",
        "third 3rd",
        "fourth 4th",
        "fifth 5th",
        "sixth 6th",
        "seventh 7th",
        "eighth 8th",
        "ninth 9th",
        "tenth 10th",
        "last final finally finale latest",
        "final last finally finale",
        "next following subsequent subsequently",
    )
)

_LENGTHS = "metre meter centimetre millimetre kilometre km cm mm m foot feet inch mile"
_MONEY = "$ \u20ac \u00a3 \u00a5 euro dollar pound cent"
# Measurable quantities, and their units.
ATTRIBUTES = {
    noun: tuple(units.split())
    for nouns, units in (
        ("age", "year old aged"),
        ("area surface", "square hectare acre \u00b2"),
        ("weight mass load", "kilogram kg gram g tonne ton pound lb"),
        ("length height width depth distance altitude", _LENGTHS),
        ("speed", "knot km/h mph m/s"),
        ("temperature", "degree \u00b0 celsius fahrenheit"),
        ("volume capacity", "litre liter gallon ml cubic"),
        ("fee price cost fine salary rent deposit", _MONEY),
    )
    for noun in nouns.split()
}

# "What is the penalty?" asks for the content of a known thing, not what a penalty is.
VALUES = _set("""
    address aim answer area cause charge colour color consequence criterion date
    deadline difference duration effect email frequency function goal height hours
    interval length level limit location maximum minimum name number objective
    option order password penalty percentage period policy principle procedure
    process punishment purpose range rate ratio reason requirement result role rule
    salary score size solution standard status step symptom tariff threshold time
    title total type use value version voltage website width
    """)

# Words before a noun of which one excludes the others: a statement about short loans is
# none about long loans. A slash separates words of one meaning.
# Only pairs of general language are listed.
CONTRASTS = tuple(
    tuple(frozenset(one.split("/")) for one in ring.split())
    for ring in (
        "long/lengthy/extended short/brief",
        "long-term short-term",
        "large/big/great small/little/minor medium",
        "major minor/small",
        "tall/high short/low",
        "heavy light",
        "wide/broad narrow",
        "deep shallow",
        "thick thin",
        "high/higher low/lower",
        "upper/top lower/bottom ground middle",
        "inner outer",
        "indoor/inside outdoor/outside",
        "inland coastal",
        "internal/inner external/outer",
        "left right",
        "front back/rear",
        "northern/north southern/south eastern/east western/west",
        "daily weekly fortnightly monthly quarterly annual/yearly",
        "hourly daily weekly monthly annual/yearly",
        "spring summer autumn winter",
        "morning afternoon evening night",
        "day night",
        # without May, which is a verb as well
        "january february march april june july august september october november",
        "monday tuesday wednesday thursday friday saturday sunday",
        "weekday weekend",
        "early/earlier late/later",
        "red blue green yellow black white orange brown purple pink grey/gray",
        "junior/young/younger senior/old/older/elderly adult",
        "new old existing",
        "former current/present future",
        "male female",
        "public private",
        "permanent temporary/provisional",
        "ordinary/regular extraordinary/special",
        "primary secondary tertiary",
        "full half/partial",
        "full-time part-time",
        "single double triple",
        "solid liquid gaseous",
        "wet/moist/damp dry",
        "hot warm cold/cool frozen",
        "raw cooked",
        "fresh frozen dried tinned",
        "soft hard",
        "electric manual",
        "digital analogue/analog printed",
        "written oral/verbal",
        "active passive/inactive",
        "simple complex",
        "domestic foreign international/overseas",
        "national regional local municipal",
        "residential commercial industrial",
        "urban rural",
        "civil military criminal",
        "voluntary compulsory/mandatory/obligatory",
        "direct indirect",
        "fixed variable/flexible",
        "gross net",
        "incoming outgoing",
        "natural artificial",
        "open closed",
        "positive negative",
        "personal corporate",
        "rising falling",
        "safe dangerous/hazardous",
        "spare master",
        "standard premium",
    )
)

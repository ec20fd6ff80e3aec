"""Rule numbers: how they are recognised, normalised and nested.

`C12(a)`, `3.2.1`, `Art. 5(2)`, `9f4`. One number is written in several ways ("Rule
3.2.1.(2)", "§ 3.2.1 (2)", "Article 5"); the canonical form is stored and looked up.
Only articles keep their word, because laws number articles and chapters independently.

What counts as a number depends on the context: a question names rules in running text,
a chunker has plain lines, a PDF has blocks with a known layout. A `RuleGrammar` has one
pattern for each of these contexts.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from elt_llm_core.language.languages import ENGLISH

# Some exports put text-direction marks before numbers.
_UNSEEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_WORD = re.compile(
    r"(?:(?:rule|section|regulation|paragraph|clause|chapter|part)s?\b|§+)\s*",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"art(?:icles?|ikel|\.)?\s*(?=\d|(?-i:[A-Z]\b))", re.IGNORECASE)
_PARENTHESIS = re.compile(r"[\s.]*\(\s*(\w+)\s*\)")


def canonical(rule: str) -> str:
    """Return the canonical form of a rule number; empty for empty text.

    It has no spaces, no dot before a parenthesis or at the end, and no word except
    `Art. `.
    """
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", rule)).strip()
    article = _ARTICLE.match(text)
    text = text[article.end() :] if article else _WORD.sub("", text, count=1)
    text = _PARENTHESIS.sub(r"(\1)", text).strip()
    if text.count(")") > text.count("("):
        text = text.removesuffix(")")
    text = "".join(text.rstrip(".:,; ").split())
    return f"Art. {text}" if article and text else text


def is_within(rule: str, above: str) -> bool:
    """Return True if `rule` is `above` or below it: 3.2.1(a) is in 3.2, 3.20 is not.

    Both are canonical; case does not matter.
    """
    low, high = rule.lower(), above.lower()
    if not high or not low.startswith(high):
        return False
    pair = low[len(high) - 1 : len(high) + 1]
    same = (pair.isdigit() or pair.isalpha()) and len(pair) > 1
    return not same


def parent(rule: str) -> str:
    """Return the rule one level up; empty at the top. `3.2.1(a)` gives `3.2.1`."""
    match = re.fullmatch(r"(.+?)(?:\(\w+\)|\.\w+|(?<=[a-z])\d+|(?<=\d)[a-z]+)", rule)
    return match[1] if match else ""


@dataclass(frozen=True)
class RuleGrammar:
    """The patterns of rule numbers in the texts of one language."""

    line: re.Pattern[str]
    """Start of a line with a number: groups `named`, `dotted`, `mixed`, `plain` or
    `sub`, and `after`, the first character behind it."""
    reference: re.Pattern[str]
    """A mention of rules in running text: groups `word`, `first` and `more`."""
    number: re.Pattern[str]
    """One number among the `more` of a reference."""
    other_work: re.Pattern[str]
    """What follows a reference into another work: "of the Companies Act"."""
    question: re.Pattern[str]
    """A number in a question: groups `word`, `book`, `number` and `unit`."""
    named: re.Pattern[str]
    """The word of a rule ("section", "§") at the start of a text."""
    paragraph: re.Pattern[str]
    """Start of a paragraph of a PDF with a rule's number."""
    heading: re.Pattern[str]
    """Start of a heading of a PDF with a rule's number."""
    item: re.Pattern[str]
    """Start of a list item of a PDF below a rule: "(a)"."""
    definition_target: re.Pattern[str]
    """Where a definition points: groups `kind` and `number`."""

    def starts_with(self, text: str, rules: Iterable[str]) -> bool:
        """Return True if a text begins with the number of one of these canonical rules.

        "3.1 applies" begins with 3.1, "3.1.2" and "3.1a" do not.
        """
        any_number = "|".join(re.escape(rule.removeprefix("Art. ")) for rule in rules)
        own = rf"\W*(?:{self.named.pattern})?\s*(?:{any_number})(?!\.?\w)"
        return re.match(own, text, re.IGNORECASE) is not None


def rule_grammar(language: str = ENGLISH) -> RuleGrammar:
    """Return the grammar of a language, by default the English one.

    English texts quote laws of other countries, so its grammar also reads the German
    "Artikel 5 bis 7".
    """
    return _GRAMMARS.get(language, _english_grammar)()


# Blocks of a PDF: digits are ASCII, a code has a letter before or dots between.
_PDF_WORD = r"(?:rules?|sections?|articles?|art\.|regulations?|clauses?|§)\s*"
_PDF_SUB = r"(?:\.?\((?:[a-z]{1,4}|[A-Z]|[0-9]{1,3})\))*"

# With a book's letters before it: GEN 8.10.1.
_QUESTION_NUMBER = (
    r"(?P<book>(?<![\w-])(?-i:[A-Z]{2,6})\s)?"
    r"(?P<number>(?<![\w.,$\u20ac\u00a3-])[A-Z]{0,3}\d[^\W_]*(?:\.[^\W_]+)*"
    r"(?:\s?\.?\(\w{1,4}\))*)"
    r"(?P<unit>\s*(?:%|\u00b0|(?-i:[a-z\u00b5])))?"
)
_DEFINITION_TARGET = re.compile(
    r"\b(?P<kind>[A-Za-z]+)\s+(?P<number>[A-Z]{0,3}\d+(?:\.\d+)*(?:\([a-z0-9]+\))*)"
)


@cache
def _english_grammar() -> RuleGrammar:
    sub = r"(?:\.?\((?:[a-z]{1,4}|[A-Z]|\d{1,3})\))"
    dotted = (
        rf"\d{{1,3}}[A-Z]?(?:\.(?:\d{{1,3}}[A-Z]?|[A-Z][a-z]{{2,}}(?=[.\s])))+{sub}*"
    )
    mixed = (
        rf"(?:[A-Z]{{1,2}}\d{{1,3}}|\d{{1,3}}[a-z])(?:[a-z]?\d{{0,2}}){{0,4}}"
        rf"\+{{0,3}}{sub}*"
    )
    plain = rf"\d{{1,3}}(?!\d)[A-Z]?{sub}*"
    number = rf"(?:{dotted}|{mixed}|{plain}|[A-Z](?![\w'\u2019]))"
    word = (
        r"Rules?|Sections?|Articles?|Artikel|Art\.|Regulations?|Chapters?|Clauses?|§§?"
    )
    lower_word = r"(?:rules?|sections?|articles?|clauses?|chapters?)"
    blank = r"[ \t\u200b-\u200f]*"
    joint = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|to|und|bis)\s+|\s*[-\u2013]\s*)"
    named = (
        r"(?:rule|section|regulation|paragraph|clause|chapter|part|article|artikel)s?\b"
        r"|art\b\.?|\u00a7+"
    )
    pdf_code = (
        rf"(?:[A-Z]{{1,3}}[0-9]{{1,3}}|[0-9]{{1,3}}(?:\.[0-9]{{1,3}})+)[A-Z]?{_PDF_SUB}"
    )
    pdf_plain = rf"[0-9]{{1,3}}[A-Z]?{_PDF_SUB}"
    return RuleGrammar(
        line=re.compile(
            rf"{blank}(?:[-*•]\s+)?(?:"
            rf"(?P<named>(?:{word}|PART){blank}(?:{dotted}|{mixed}|{plain}|[A-Z]\b))"
            rf"|(?P<dotted>{dotted})|(?P<mixed>{mixed}(?=[).:]))"
            rf"|(?P<plain>{plain})|(?P<sub>\((?:[a-z]{{1,4}}|[A-Z]|\d{{1,2}})\))"
            r")[.):]*(?=\s|$|:)(?P<after>\s*\S?)"
        ),
        reference=re.compile(
            rf"(?<!\w)(?:(?P<word>{word}|[Pp]aragraphs?|{lower_word})\s*"
            rf"|\b(?:[Ss]ee|[Uu]nder|[Ii]n)\s+(?=\[?(?:{dotted}|{mixed})))"
            rf"\[?[\u200b-\u200f]*(?P<first>{number}|{sub}+)"
            rf"(?P<more>(?:{joint}[\u200b-\u200f]*(?:{number}|{sub}+))*)"
        ),
        number=re.compile(rf"{number}|{sub}+"),
        other_work=re.compile(r"\s+of\s+(?:the\s+)?((?:[A-Z][\w.-]*\s?)+)"),
        question=re.compile(
            rf"(?P<word>(?<!\w)(?:{named})\s*)?{_QUESTION_NUMBER}", re.IGNORECASE
        ),
        named=re.compile(named, re.IGNORECASE),
        # No measure such as "2.5 mg": text begins with a capital or a bracket.
        paragraph=re.compile(
            rf"(?:(?i:{_PDF_WORD})(?:{pdf_code}|{pdf_plain})(?=[.:)]?(?:\s|$))"
            rf"|{pdf_code}(?=[.:)]?\s+[\"\u201c\u2018(\[]?[A-Z]))"
        ),
        heading=re.compile(
            rf"(?:(?i:{_PDF_WORD}))?(?:{pdf_code}|{pdf_plain})"
            r"(?=[.:)]?(?:\s|$)|[.)][A-Z][^\W\d_]{2})"
        ),
        item=re.compile(r"\((?:[a-z]{1,4}|[0-9]{1,2})\)(?=\s)"),
        definition_target=_DEFINITION_TARGET,
    )


_GRAMMARS = {ENGLISH: _english_grammar}

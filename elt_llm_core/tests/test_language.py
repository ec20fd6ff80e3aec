"""Languages: told apart, cut into words, and asked about together."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from elt_llm_core.config.bm25 import DEFAULT, Recipe
from elt_llm_core.language.detect import chunk_languages, detect, question_language
from elt_llm_core.language.languages import LANGUAGES
from elt_llm_core.language.sentences import sentence_spans
from elt_llm_core.language.stemmer import stem_word
from elt_llm_core.language.stop_words import stop_words
from elt_llm_core.language.tokens import GAP, question_tokens, tokenize
from elt_llm_core.store.index.bm25 import DeltaKeywords, KeywordIndex

TEXTS = {
    "de": "Die Bücherei öffnet jeden Werktag um neun Uhr und schließt am Abend. Wer "
    "ein Buch zu spät zurückgibt, zahlt eine Gebühr von zwanzig Cent für jeden Tag.",
    "en": "The library opens at nine on every working day and closes in the evening. "
    "Whoever returns a book late pays a fee of twenty cents for each day.",
    "es": "La biblioteca abre a las nueve todos los días laborables y cierra por la "
    "tarde. Quien devuelve un libro con retraso paga veinte céntimos por cada día.",
    "fr": "La bibliothèque ouvre à neuf heures chaque jour ouvrable et ferme le soir. "
    "Celui qui rend un livre en retard paie vingt centimes pour chaque jour.",
    "it": "La biblioteca apre alle nove di ogni giorno feriale e chiude la sera. Chi "
    "restituisce un libro in ritardo paga venti centesimi per ogni giorno.",
    "ja": "図書館は平日の九時に開き、夕方に閉まります。本を遅れて返す人は、"
    "一日につき二十セントの料金を払います。",
    "ko": "도서관은 평일 아홉 시에 열고 저녁에 닫습니다. 책을 늦게 반납하는 사람은 "
    "하루에 이십 센트의 요금을 냅니다.",
    "nl": "De bibliotheek gaat elke werkdag om negen uur open en sluit 's avonds. Wie "
    "een boek te laat terugbrengt, betaalt twintig cent voor elke dag.",
    "pl": "Biblioteka jest otwarta w każdy dzień roboczy od dziewiątej i zamyka się "
    "wieczorem. Kto oddaje książkę za późno, płaci dwadzieścia centów za dzień.",
    "pt": "A biblioteca abre às nove horas em todos os dias úteis e fecha à noite. "
    "Quem devolve um livro com atraso paga vinte cêntimos por cada dia.",
    "ru": "Библиотека открывается в девять часов каждый рабочий день и закрывается "
    "вечером. Кто возвращает книгу поздно, платит двадцать центов за каждый день.",
    "sv": "Biblioteket öppnar klockan nio varje vardag och stänger på kvällen. Den som "
    "lämnar tillbaka en bok för sent betalar tjugo cent för varje dag.",
    "zh": "图书馆每个工作日九点开门，晚上关门。逾期还书的人每天支付二十分钱的费用。",  # noqa: RUF001
}
QUESTIONS = {
    "de": "Wie hoch ist die Gebühr für ein verspätetes Buch?",
    "en": "How high is the fee for a late book?",
    "es": "¿Cuánto se paga por un libro con retraso?",
    "fr": "Combien paie-t-on pour un livre en retard ?",
    "ja": "遅れた本の料金はいくらですか",
    "ko": "늦게 반납하면 요금이 얼마입니까?",
    "pl": "Ile wynosi opłata za spóźnioną książkę?",
    "zh": "逾期还书要付多少钱？",  # noqa: RUF001
}


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_a_paragraph_tells_its_language(code: str) -> None:
    assert detect(TEXTS[code]).language == code


@pytest.mark.parametrize("code", sorted(QUESTIONS))
def test_a_question_tells_its_language(code: str) -> None:
    assert question_language(QUESTIONS[code]) == code


def test_words_that_tell_nothing_have_no_language() -> None:
    assert question_language("rule 9.1") == ""
    assert question_language("") == ""
    assert question_language("料金", {"ja"}) == "ja"
    assert question_language("料金", {"zh", "ja"}) == "ja"
    assert question_language("料金", {"en"}) == "zh"


def test_short_chunks_go_with_what_stands_before_them() -> None:
    chunks = ["Table 1", TEXTS["en"], "9.1", TEXTS["de"], "§ 4", "Gebühr\t0,20"]
    assert chunk_languages(chunks) == ["en", "en", "en", "de", "de", "de"]


def test_a_quotation_does_not_make_a_second_language() -> None:
    chunks = [TEXTS["en"]] * 12 + [TEXTS["fr"]] + [TEXTS["en"]] * 3
    assert set(chunk_languages(chunks)) == {"en"}
    assert chunk_languages([]) == []
    assert chunk_languages(["", "12"]) == ["en", "en"]
    assert chunk_languages(["SUMMARY"]) == ["en"]
    assert chunk_languages(["Kündigungsfristen und Gebühren"]) == ["de"]


def test_english_needs_no_detector() -> None:
    code = (
        "import sys; from elt_llm_core.language.detect import chunk_languages; "
        "from elt_llm_core.language.tokens import question_tokens; "
        f"assert chunk_languages([{TEXTS['en']!r}]) == ['en']; "
        f"assert question_tokens({QUESTIONS['en']!r}); "
        "assert not {'py3langid', 'bm25s'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_wide_space_before_a_full_stop_does_not_stop_the_splitter() -> None:
    text = "Vitamin A\u00a0. Vitamin B\u2028. Vitamin C. It helps."
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert len(spans) > 1


def test_each_purpose_has_its_stop_words() -> None:
    index, question = stop_words("en"), stop_words("en", "question")
    assert stop_words("") == index
    assert "most" in question - index
    assert stop_words("de") != index
    assert stop_words("de", "question") == stop_words("fi") == frozenset()


@pytest.mark.parametrize(
    ("language", "word", "stem"),
    [
        ("en", "Deposits", "deposit"),
        ("de", "Geb\u00fchren", "gebuhr"),
        ("th", "Abc", "abc"),
    ],
)
def test_stems_follow_their_language(language: str, word: str, stem: str) -> None:
    assert stem_word(word, language) == stem


def test_words_follow_their_language() -> None:
    text = "Die Gebühren der Büchereien"
    assert tokenize([text], languages=["de"]) == [["gebuhr", "bucherei"]]
    assert tokenize([text])[0] == ["die", "gebühren", "der", "büchereien"]
    plain = Recipe(stems="none")
    assert tokenize([text], plain, ["de"]) == [["gebühren", "büchereien"]]
    both = tokenize([text], Recipe(stems="both"), ["de"])[0]
    assert both[2:] == ["gebühren", "büchereien"]


def test_a_language_without_rules_is_compared_as_it_is() -> None:
    assert tokenize(["Двері та вікна"], languages=["uk"]) == [["двері", "та", "вікна"]]
    assert tokenize(["abc def"], languages=["xx"]) == [["abc", "def"]]


@pytest.mark.parametrize("code", ["ja", "ko", "zh", "en"])
def test_characters_without_blanks_become_pairs(code: str) -> None:
    assert tokenize(["料金表"], languages=[code]) == [["料金", "金表"]]
    assert tokenize(["税, GILの3条"], languages=[code]) == [
        ["税", "gil", "の", "3", "条"]
    ]
    # Half-width letters are the same letters; a middle dot joins nothing.
    assert tokenize(["ﾃｰﾌﾞﾙ・席"], languages=[code]) == [["テー", "ーブ", "ブル", "席"]]


def test_every_language_has_a_working_stemmer() -> None:
    for code in LANGUAGES:
        assert tokenize(["kite 12 Straße"], languages=[code])[0]


def test_a_question_is_analysed_for_every_language_present() -> None:
    asked = "What is the notice period called Kündigungsfristen?"
    tokens = question_tokens(asked, {"en", "de"})
    english, german = tokens[: tokens.index(GAP)], tokens[tokens.index(GAP) + 1 :]
    assert english == tokenize([asked])[0]
    assert "kundigungsfrist" in german
    # A stop word of the question is none among German texts either.
    assert not {"the", "what", "is"} & set(tokens)
    assert question_tokens(asked, {"en"}) == tokenize([asked])[0]
    assert question_tokens(asked, {"en", "ja"}) == tokenize([asked])[0]
    old = Recipe(stems="english")
    assert question_tokens(asked, {"en", "de"}, old) == tokenize([asked], old)[0]


def test_an_index_of_several_languages_and_its_delta_agree(tmp_path: Path) -> None:
    codes = sorted(TEXTS)
    texts = [TEXTS[code] for code in codes]
    for name, size in (("whole", len(codes)), ("half", len(codes) // 2)):
        (tmp_path / name).mkdir()
        KeywordIndex.build(texts[-size:], tmp_path / name, DEFAULT, codes[-size:])
    whole, half = KeywordIndex(tmp_path / "whole"), KeywordIndex(tmp_path / "half")
    assert whole.languages == tuple(codes)
    rest = len(codes) - len(codes) // 2
    delta = DeltaKeywords(tokenize(texts[:rest], DEFAULT, codes[:rest]), half)
    for code, question in QUESTIONS.items():
        tokens = question_tokens(question, codes)
        found = whole.search(tokens, 99)
        assert codes[found[0][0]] == code
        expected = {row: score for row, score in found if row < rest}
        assert dict(delta.search(tokens, 99)) == pytest.approx(expected, rel=1e-5)
        scores = whole.scores_of(tokens, np.arange(len(codes)))
        assert scores[found[0][0]] == pytest.approx(found[0][1])


@pytest.mark.parametrize(
    ("code", "text", "first"),
    [
        ("de", "Er zahlt gem. § 5 Abs. 2. Danach nicht.", "Er zahlt gem. § 5 Abs. 2."),
        ("ja", "雨です。晴れです。", "雨です。"),
        ("", "It rains, e.g. today. It stops.", "It rains, e.g. today."),
        ("xx", "It rains. It stops.", "It rains."),
    ],
)
def test_sentences_follow_their_language(code: str, text: str, first: str) -> None:
    start, end = sentence_spans(text, code)[0]
    assert text[start:end].strip() == first

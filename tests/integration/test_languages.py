"""Documents in other languages: read, searched, never refused for a wrong reason."""

from pathlib import Path

import pytest

from elt_llm_api.page import answer_html
from elt_llm_core.config.bm25 import DEFAULT
from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import DegradationKind, QueryResult, Status, Support
from elt_llm_core.store import Collection, Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_query import query_collections
from elt_llm_query.render import answer_text

PAGES = {
    "de": """# Benutzungsordnung

## Öffnungszeiten

Die Bücherei öffnet an jedem Werktag um neun Uhr und schließt um achtzehn Uhr. An
Feiertagen bleibt sie geschlossen.

## Gebühren

Für jedes Buch, das zu spät zurückgegeben wird, sind zwanzig Cent pro Tag zu zahlen.
Kinder unter zwölf Jahren zahlen keine Gebühren.

## Kündigung

Der Ausweis kann mit einer Frist von vier Wochen gekündigt werden.
""",
    "fr": """# Règlement de la bibliothèque

## Horaires

La bibliothèque ouvre à neuf heures chaque jour ouvrable et ferme à dix-huit heures.

## Retards

Celui qui rend un livre en retard paie vingt centimes pour chaque jour de retard.

## Résiliation

La carte peut être résiliée avec un préavis de quatre semaines.
""",
    "ja": """# 図書館の規則

## 開館時間

図書館は平日の九時に開き、十八時に閉まります。祝日は休館です。

## 延滞料

本を遅れて返す人は、一日につき二十円の延滞料を払わなければなりません。

## 解約

利用者カードは四週間前の予告で解約できます。
""",
    "ko": """# 도서관 규칙

## 개관 시간

도서관은 평일 아홉 시에 열고 열여덟 시에 닫습니다. 공휴일에는 쉽니다.

## 연체료

책을 늦게 반납하는 사람은 하루에 이백 원의 연체료를 내야 합니다.

## 해지

이용자 카드는 사 주 전에 알리면 해지할 수 있습니다.
""",
    "zh": """# 图书馆规则

## 开放时间

图书馆每个工作日九点开门，十八点关门。节假日不开放。

## 逾期费用

逾期归还图书的读者每天须支付二角钱的费用。

## 注销

读者证可以在提前四周通知后注销。
""",  # noqa: RUF001 - the comma of Chinese
    "en": """# House rules

## Opening hours

The reading room opens at nine on every working day and closes at six.

## Fees

A reader who returns a book late pays a fee of twenty cents for each day.
""",
}
ASKED = {
    "de": ("Wie viel Gebühr zahlt man für ein verspätetes Buch?", "zwanzig Cent"),
    "fr": ("Combien coûte un livre rendu en retard ?", "vingt centimes"),
    "ja": ("延滞料はいくらですか", "二十円"),
    "ko": ("연체료는 얼마입니까?", "이백 원"),
    "zh": ("逾期费用是多少", "二角钱"),
}
NAMES = {
    "de": "German",
    "fr": "French",
    "ja": "Japanese",
    "ko": "Korean",
    "zh": "Chinese",
}


class Desk:
    """A collection of each language, and one of all."""

    def __init__(self, folder: Path) -> None:
        self.config = load_config(environ={})
        self.models = build_models(self.config)
        self.store = Store(folder / "data")
        for code, page in PAGES.items():
            (folder / f"{code}.md").write_text(page, encoding="utf-8")
            self._take_in(f"books-{code}", [folder / f"{code}.md"])
        self._take_in("books-all", [folder / f"{code}.md" for code in PAGES])

    def _take_in(self, name: str, paths: list[Path]) -> None:
        told = {"paths": list(map(str, paths)), "collection": name}
        job = JOBS.load("ingest", told).build(self.models)
        job(JobContext(self.config, self.store))

    def ask(self, collection: str, question: str) -> QueryResult:
        return query_collections(
            [collection],
            question,
            store=self.store,
            config=self.config,
            models=self.models,
        )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


@pytest.mark.parametrize("collection", ["own", "all"])
@pytest.mark.parametrize("code", sorted(ASKED))
def test_the_nearest_sentence_is_shown_with_the_reason(
    desk: Desk, code: str, collection: str
) -> None:
    question, answer = ASKED[code]
    result = desk.ask(f"books-{code}" if collection == "own" else "books-all", question)
    assert answer in result.sources[0].text
    assert answer in result.citations[0].quote
    assert all(c.support is Support.VERIFIED for c in result.citations)
    assert result.status is Status.PARTIAL
    assert "answers this for sure" not in result.answer
    (limit,) = result.degradations
    assert limit.kind is DegradationKind.LANGUAGE_NOT_SERVED
    assert NAMES[code] in limit.detail
    shown = answer_text(result)
    assert "No answer was picked" in shown
    assert f"in {NAMES[code]}" in shown or NAMES[code] in shown
    page = str(answer_html.render_answer(result))
    assert "The nearest sentences, not an answer" in page
    assert "No sure answer" not in page
    assert NAMES[code] in page


def test_a_question_in_german_to_documents_in_english_says_why(desk: Desk) -> None:
    result = desk.ask("books-en", "Wann wurde die erste Brücke über den Fluss gebaut?")
    assert result.status is Status.PARTIAL
    assert "the question is in German" in result.answer
    assert "answers this for sure" not in result.answer


def test_english_is_answered_and_refused_as_before(desk: Desk) -> None:
    asked = "What fee does a reader pay for a late book?"
    for name in ("books-en", "books-all"):
        result = desk.ask(name, asked)
        assert result.status is Status.ANSWERED
        assert "twenty cents" in result.citations[0].quote
        assert not result.degradations
    result = desk.ask("books-en", "Which wine goes with the lobster of the captain?")
    assert result.status is Status.INSUFFICIENT
    assert result.answer.startswith("No passage that was found answers this for sure.")
    assert not result.degradations


def test_passages_in_other_languages_do_not_keep_a_question_from_a_refusal(
    desk: Desk,
) -> None:
    result = desk.ask("books-all", "Which wine goes with the late book of the reader?")
    assert "in English" not in result.answer
    assert {s.document for s in result.sources} > {"en.md"}
    assert result.sources[0].document == "en.md"
    assert result.status is Status.INSUFFICIENT
    assert not result.degradations


def _words_alone(one: Collection, question: str) -> list[str]:
    return [node for node, _ in one.search_keyword(question, 20)]


@pytest.mark.parametrize("code", sorted(ASKED))
def test_words_are_found_alike_with_and_without_the_index(
    desk: Desk, code: str
) -> None:
    question, answer = ASKED[code]
    indexed = desk.store.open("books-all")
    assert indexed.generation
    assert indexed.languages == set(PAGES)
    assert indexed.recipe == DEFAULT
    bare = Collection(
        Database(desk.store.data_dir), indexed.card, None, "for this test"
    )
    assert bare.languages == indexed.languages
    found = _words_alone(indexed, question)
    assert found == _words_alone(bare, question)
    best = indexed.nodes(found[:1])[found[0]]
    assert answer in best.text
    assert best.metadata["text_language"] == code
    exact = indexed.keyword_scores(question, found)
    assert bare.keyword_scores(question, found) == pytest.approx(exact, rel=1e-5)

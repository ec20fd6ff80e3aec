import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from elt_llm_core.results import Support
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.analysis.quantities import guards, negations, numbers
from elt_llm_query.grounding.quote_match import check_quote

SOURCE = (
    "The dose must not exceed 10 mg per day, unless a \u201cspecialist\u201d "
    "approves it in wri-\nting. Long-\nterm use of \ufb01bre is permitted for all "
    "adults above 18."
)
OTHER = (
    "Books are lent for 21 days and may be renewed twice at the desk by any reader "
    "whose card is valid, as long as nobody else has reserved the same book before."
)
SENTENCES = [
    "A competitor must start the solve within 15 seconds of the start of inspection.",
    "The fee of 20 cents per day must not exceed 10 euros for one book in any year.",
    "Members may borrow up to 8 items, of which no more than 3 are recent films.",
    "The operator shall keep records for 6 years after the relationship has ended.",
]

words = st.lists(
    st.text("abcdefghij", min_size=1, max_size=8), min_size=5, max_size=40
).map(" ".join)


def supported(quote, text=SOURCE):
    return check_quote(quote, text).support


@pytest.mark.parametrize(
    ("quote", "support"),
    [
        ("must not exceed 10 mg", Support.VERIFIED),
        ("exceed 10 mg", Support.VERIFIED),
        ('a "specialist" approves it in writing', Support.NORMALISED),
        ("long-term use of fibre", Support.NORMALISED),
        ("longterm use of fibre", Support.NORMALISED),
        ("THE DOSE must  not\nexceed", Support.NORMALISED),
        (
            "The dose must not exceed 10 mg per day, unless the specialist approves it",
            Support.FUZZY,
        ),
        ("must exceed 10 mg per day, unless a specialist", Support.FABRICATED),
        ("The dose must not exceed 20 mg per day, unless a", Support.FABRICATED),
        ("The dose must not exceed 10 kg per day, unless a", Support.FABRICATED),
        ("The dose may not exceed 10 mg per day, unless a", Support.FABRICATED),
        ("0 mg per day", Support.FABRICATED),
        ("adult", Support.FABRICATED),
        ("exceed 9 mg", Support.FABRICATED),
        ("", Support.FABRICATED),
        (" ... ", Support.FABRICATED),
    ],
)
def test_the_ladder(quote, support):
    match = check_quote(quote, SOURCE)
    assert match.support is support, match
    assert match.stands == (support is not Support.FABRICATED)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("5 mg of it", "take 2.5 mg of it"),
        ("5 mg of it", "take 15 mg of it"),
        ("limit is 10", "the limit is 10.5"),
        ("limit is 10", "the limit is 10%"),
        ("5 degrees below", "kept at -5 degrees below"),
        ("no art here", "no art hereabouts"),
    ],
)
def test_a_quote_may_not_cut_a_number_or_word(quote, text):
    assert not check_quote(quote, text).stands


@given(words, st.data())
def test_every_slice_of_whole_words_is_verified_where_it_stands(text, data):
    parts = text.split(" ")
    low = data.draw(st.integers(0, len(parts) - 1))
    high = data.draw(st.integers(low + 1, len(parts)))
    quote = " ".join(parts[low:high])
    match = check_quote(quote, text)
    assert match.support is Support.VERIFIED
    assert text[match.start : match.end] == quote


@given(words, st.sampled_from([" \n", "\u00a0", "  ", "\t"]))
def test_white_space_is_no_difference_and_the_span_is_the_sources(text, space):
    stretched = text.replace(" ", space)
    match = check_quote(text, f"Before. {stretched} After.")
    assert match.stands
    assert f"Before. {stretched} After."[match.start : match.end] == stretched


@given(st.text(max_size=80))
def test_normalised_text_knows_where_it_came_from(text):
    for join in (True, False):
        normal = normalise(text, join_hyphens=join)
        assert len(normal.text) == len(normal.offsets)
        assert normal.offsets == sorted(normal.offsets)
        assert all(0 <= i < len(text) for i in normal.offsets)
        assert "  " not in normal.text


@pytest.mark.parametrize("sentence", SENTENCES)
def test_altered_quotes_never_stand(sentence):
    text = f"{OTHER} {sentence} {OTHER}"
    assert check_quote(sentence, text).support is Support.VERIFIED
    assert not check_quote(sentence, OTHER).stands
    for found in numbers(sentence):
        altered = sentence.replace(found, str(int(found) + 7))
        assert not check_quote(altered, text).stands, altered
    parts = sentence.split()
    for place in range(1, len(parts)):
        inserted = " ".join([*parts[:place], "not", *parts[place:]])
        assert not check_quote(inserted, text).stands, inserted


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_quote_with_another_word_is_none(sentence):
    text = f"{OTHER} {sentence} {OTHER}"
    for plain in (w for w in sentence.split() if w.isalpha() and len(w) > 3):
        assert not check_quote(sentence.replace(plain, "metformin"), text).stands


@pytest.mark.parametrize(
    "quote",
    [
        "Member may borrow up to 8 items, of which no more than 3 are recent film.",
        "Members may borrow up to 8 items, of a which no more than 3 are recent films",
        "Mernbers may borrow up to 8 items, of which no more than 3 are recent films.",
        "Members may bor row up to 8 items, ofwhich no more than 3 are recent films.",
    ],
)
def test_endings_articles_and_misread_letters_are_a_near_match(quote):
    sentence = SENTENCES[2]
    text = f"{OTHER} {sentence} {OTHER}"
    match = check_quote(quote, text)
    assert match.support is Support.FUZZY
    assert text[match.start : match.end] == sentence.removesuffix(".")
    assert 0.9 < match.score < 1


@given(words, words)
def test_a_match_is_always_a_span_of_the_text(quote, text):
    match = check_quote(quote, text)
    assert 0 <= match.start <= match.end <= len(text)
    assert 0 <= match.score <= 1
    assert match.stands == (match.end > 0)


@given(words)
def test_a_quote_from_nowhere_is_fabricated(text):
    assume(len(text) > 20)
    assert not check_quote("zyx wvu tsr qpo nml zyx wvu", text).stands


@pytest.mark.parametrize(
    ("quote", "quoted"),
    [
        ("Long-term use ... all adults above 18", None),
        ("Long-term use \u2026 is permitted [...] adults above 18", None),
        ("The dose must not exceed 10 mg ...", "The dose must not exceed 10 mg"),
        ("\u2026 is permitted for all adults", "is permitted for all adults"),
    ],
)
def test_an_elided_quote_stands_part_by_part(quote, quoted):
    match = check_quote(quote, SOURCE)
    assert match.support is Support.NORMALISED
    found = SOURCE[match.start : match.end]
    assert found == quoted if quoted else found.startswith("Long-\nterm use")


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        ("is permitted for ... Long-term use", "not in the source"),
        ("Long-term use ... all children above 18", "not in the source"),
        ("dose must ... exceed 10 mg", "negation"),
        ("10 mg per day ... in writing", "negation"),
        ("The ... adults above 18", "too short"),
    ],
)
def test_an_elided_quote_keeps_order_words_and_negations(quote, reason):
    match = check_quote(quote, SOURCE)
    assert match.support is Support.FABRICATED
    assert reason in match.reason


def test_dots_that_stand_in_the_source_are_no_elision():
    assert check_quote("wait ... then go", "You wait ... then go.").stands


def test_guards_count_numbers_with_units_and_polar_words():
    assert guards("not 1,000 kg") == guards("NOT 1000 kg")
    assert guards("ten days") == guards("10 days")
    assert guards("…") == guards("") == {}
    assert guards("10 days") != guards("10 hours")
    assert numbers("five of 1,200 and 2.5") == {"5", "1200", "2.5"}
    assert negations("You can't and must not") == 2

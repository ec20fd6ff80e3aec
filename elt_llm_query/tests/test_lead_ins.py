"""What stands above a sentence is evidence for it, and is quoted where it is needed."""

from dataclasses import replace

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from answer_world import node, respond
from elt_llm_core import provenance
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.models.factory import build_models
from elt_llm_core.provenance import Provenance, RuleSpan
from elt_llm_core.results import Span
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.read_sentence import sentences
from elt_llm_query.analysis.stems import pieces
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.lead_ins import (
    BELOW_KEY,
    LeadFinder,
    LeadIns,
    with_antecedents,
    with_leads,
)
from query_world import fill, packed

MASTS = "10f) Limits of mast height:"
YAWLS = "10f2) Yawls: at most 14 metres."
TIPS = (
    "9.1 Every steward shall decline all tips. Asking for one is an offence.\n\n"
    "9.2 Where it is impossible to refuse such tip, it is handed to the harbour master."
)


@pytest.fixture(scope="module")
def embedded():
    return build_models(RagConfig()).embedder


def rule(number, text, ordinal):
    span = RuleSpan(rule=number, start=0, end=len(text))
    return Passage(
        f"S{ordinal}",
        number,
        text,
        section="Masts",
        rules=(span,),
        place=("boats", ordinal),
    )


def whole(passages, number):
    (sentence, *_) = sentences(passages[number].text)
    lead = LeadFinder(passages).above(number, sentence)
    return Candidate(number, sentence.start, sentence.end, 0.5, 0.5, lead=lead)


def test_the_rule_above_is_said_of_the_rule_below():
    passages = [rule("10f2", YAWLS, 2), rule("10f", MASTS, 1)]
    assert whole(passages, 0).lead == ((1, 0, len(MASTS)),)
    assert whole(passages, 1).lead == ()


def test_a_sentence_of_a_chapter_is_no_lead_of_its_section_with_a_heading():
    opening = "The oak rotor is turned every year."
    chapter = replace(rule("7", opening, 1), section="7 Care")
    below = replace(
        rule("7.1", "Bleach harms oak.", 2), section="7 Care > 7.1 Cleaning"
    )
    assert whole([below, chapter], 0).lead == ()
    same = replace(below, section=chapter.section)
    assert whole([same, chapter], 0).lead == ((1, 0, len(opening)),)


def test_it_is_quoted_where_it_has_a_word_of_the_question_that_the_rule_lacks():
    passages = [rule("10f2", YAWLS, 2), rule("10f", MASTS, 1)]
    below = whole(passages, 0)

    def quoted(question):
        both = with_leads(analyse(question), [below], passages)
        return [c.text_in(passages) for c in both]

    assert quoted("How high may the mast of a yawl be?") == [MASTS, YAWLS]
    assert quoted("How many metres may yawls have?") == [YAWLS]


def test_a_rule_of_a_few_words_is_answered_by_what_stands_above_it(embedded):
    def offered(number, text, ordinal):
        span = RuleSpan(rule=number, start=0, end=len(text))
        return node(
            text,
            section="Masts",
            rule_spans=(span,),
            document_id="boats",
            ordinal=ordinal,
        )

    below = offered("10f2", YAWLS, 2)
    asked = "How high may the mast of a yawl be?"
    with_both = respond(asked, below, offered("10f", MASTS, 1), embedder=embedded)
    assert with_both.response.splitlines() == [f"{MASTS} [S2]", f"{YAWLS} [S1]"]


def test_such_a_thing_is_quoted_with_the_rule_that_names_it():
    spans = (
        RuleSpan(rule="9.1", start=0, end=TIPS.index("9.2")),
        RuleSpan(rule="9.2", start=TIPS.index("9.2"), end=len(TIPS)),
    )
    passages = [Passage("S1", "a", TIPS, rules=spans, place=("boats", 0))]
    last = sentences(TIPS)[-1]
    both = with_antecedents([Candidate(0, last.start, last.end, 0.5, 0.5)], passages)
    assert both[0].text_in(passages) == TIPS[: TIPS.index("\n\n")]
    assert both[1].text_in(passages) == last.text


def test_these_boats_are_quoted_with_the_rule_that_names_them():
    kinds, limit = "10g) Yawls and ketches.", "10g1) Limit for these boats: two masts."
    passages = [rule("10g1", limit, 2), rule("10g", kinds, 1)]
    asked = analyse("Which boats have a limit of two masts?")
    both = with_leads(asked, [whole(passages, 0)], passages)
    assert [c.text_in(passages) for c in both] == [kinds, limit]


@pytest.mark.parametrize(
    ("text", "above"),
    [
        ("Boats of guests\n\nIn this group the fee is 5 euros.", "Boats of guests"),
        (
            "Guests stay a day. For these boats the fee is 5 euros.",
            "Guests stay a day.",
        ),
        ("Guests stay a day. In this case the fee is 5 euros.", None),
        ("Guests stay a day. In this policy the fee is 5 euros.", None),
        ("Boats of guests\n\nThe fee is 5 euros.", None),
    ],
)
def test_a_group_is_quoted_with_what_names_it(text, above):
    passages = [Passage("S1", "a", text, heading="Fees, Boats of guests")]
    last = sentences(text)[-1]
    pieces = with_antecedents([Candidate(0, last.start, last.end, 0.5, 0.5)], passages)
    quoted = [c.text_in(passages) for c in pieces]
    assert quoted == [*([above] if above else []), last.text]


def test_such_as_refers_to_nothing_before():
    text = "Boats are moored. Ropes such as hawsers are coiled."
    passages = [Passage("S1", "a", text)]
    last = sentences(text)[-1]
    only = Candidate(0, last.start, last.end, 0.5, 0.5)
    assert with_antecedents([only], passages) == [only]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A skipper must stop. Penalty: ten points.", 1),
        ("A skipper must stop. Penalty for a late stop: ten points.", 1),
        ("A skipper must stop.\n\nPenalty: ten points.", 2),
        ("A skipper must stop. He must say one thing: stop.", 2),
        ("A skipper must stop. The following count:\n(a) hulls;\n(b) masts.", 4),
    ],
)
def test_a_labelled_note_belongs_to_the_sentence_before_it(text, count):
    assert len(pieces(text)) == count


RULES = (
    ("10f", MASTS),
    ("10f1", "10f1) Ketches: at most 16 metres."),
    ("10f2", YAWLS),
    ("10g", "10g) Masts are painted."),
)


@pytest.fixture
def boats(tmp_path):
    """A rule book of which each chunk is one rule, as a collection."""
    text, blocks, nodes = "", [], []
    for ordinal, (number, wording) in enumerate(RULES):
        span = Span(start=len(text), end=len(text) + len(wording))
        place = Provenance(
            document="Boats",
            section="Masts",
            kind="prose",
            ordinal=ordinal,
            span_start=span.start,
            span_end=span.end,
            rules=(number,),
            rule_spans=(RuleSpan(rule=number, start=span.start, end=span.end),),
        )
        nodes.append(provenance.write(TextNode(text=wording), place))
        blocks.append(Block(kind=BlockKind.PARAGRAPH, start=span.start, end=span.end))
        text += f"{wording}\n\n"
    store, models = Store(tmp_path / "root"), Models(embedder=HashEmbedding())
    fill(store, models, {"boats": [packed("Boats", text, blocks, [], nodes)]})
    yield store.open("boats")
    store.close()


def brought(boats, number):
    known = boats.nodes(boats.ids({})).values()
    (start,) = (n for n in known if n.text.startswith(f"{number})"))
    _, *rest = LeadIns().over([boats]).postprocess_nodes([NodeWithScore(node=start)])
    return [(n.node.text, bool(n.node.metadata.get(BELOW_KEY))) for n in rest]


def test_rules_above_and_below_are_brought_from_the_collection(boats):
    assert brought(boats, "10f2") == [(MASTS, False)]
    assert brought(boats, "10f") == [(RULES[1][1], True), (YAWLS, True)]
    assert brought(boats, "10g") == []

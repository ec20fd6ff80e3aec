"""Glossaries of any content, for round trips through every format."""

import re

from hypothesis import strategies as st

from elt_llm_consumer.exchange.glossary_terms import (
    DefinitionKind,
    Glossary,
    RelationKind,
    Resource,
    Term,
    TermEvidence,
    TermRelation,
    TermStatus,
)
from elt_llm_core.results import Box

# Marks that formats give a meaning, letters of several scripts, and any character.
MARKS = "=+-@'\"|;:,._/\\>#<&{}[]()%*!?~`^$ \n\t"
TEXT = st.text(
    alphabet=st.one_of(
        st.sampled_from(MARKS),
        st.sampled_from("abcXYZ012éßÅД漢字\N{ARABIC LETTER BEH}😀"),
        st.characters(codec="utf-8"),
    ),
    max_size=30,
)
NAME = TEXT.map(lambda text: " ".join(text.split())).filter(
    lambda text: re.search(r"\w", text)
)
WORDS = st.lists(TEXT, max_size=3).map(tuple)
PERSON = st.one_of(
    st.sampled_from(["ada@example.org", "0360aff3-add5-4b7c-b172-52add69b0199"]), TEXT
)
PEOPLE = st.lists(PERSON, max_size=2).map(tuple)
LINKS = st.lists(
    st.builds(
        Resource,
        label=TEXT,
        url=st.one_of(st.just("https://example.org/a?b=1"), NAME),
    ).filter(lambda link: link.url),
    max_size=2,
).map(tuple)
SHARE = st.floats(0, 1).map(lambda x: round(x, 6))
EVIDENCE = st.lists(
    st.builds(
        TermEvidence,
        quote=NAME,
        document=TEXT,
        document_id=TEXT,
        collection=TEXT,
        section=TEXT,
        page=st.none() | st.integers(1, 900),
        start=st.integers(0, 10**6),
        end=st.integers(1, 10**6),
        support=st.sampled_from(["", "verified", "fuzzy"]),
        boxes=st.lists(
            st.builds(
                Box,
                page=st.integers(1, 900),
                left=SHARE,
                top=SHARE,
                right=SHARE,
                bottom=SHARE,
            ),
            max_size=2,
        ).map(tuple),
    ),
    max_size=2,
).map(tuple)


@st.composite
def glossaries(draw):
    """Terms at most three deep, with relations among them."""
    paths: list[tuple[str, ...]] = []
    folded = set()
    for name in draw(st.lists(NAME, min_size=1, max_size=5)):
        parents = [path for path in paths if len(path) < 3]
        parent = draw(st.sampled_from([(), *parents]))
        path = (*parent, name)
        if tuple(one.casefold() for one in path) not in folded:
            folded.add(tuple(one.casefold() for one in path))
            paths.append(path)
    targets = st.builds(
        TermRelation,
        kind=st.sampled_from(list(RelationKind)),
        target=st.sampled_from(paths),
    )
    terms = [
        draw(
            st.builds(
                Term,
                name=st.just(path[-1]),
                parent=st.just(path[:-1]),
                definition=TEXT,
                definition_kind=st.sampled_from(list(DefinitionKind)),
                other_definitions=WORDS,
                synonyms=WORDS,
                acronyms=WORDS,
                status=st.sampled_from(list(TermStatus)),
                relations=st.lists(targets, max_size=2).map(tuple),
                owners=PEOPLE,
                stewards=PEOPLE,
                experts=PEOPLE,
                resources=LINKS,
                examples=WORDS,
                note=TEXT,
                tags=WORDS,
                attributes=st.dictionaries(TEXT, TEXT, max_size=2),
                evidence=EVIDENCE,
            )
        )
        for path in paths
    ]
    return Glossary(name=draw(NAME), terms=tuple(terms))

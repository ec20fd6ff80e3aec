"""Articles: front, sections, tables, figures, references; no document type inside."""

from pathlib import Path

import pytest

import format_files
from elt_llm_core.errors import LoadError

ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2//EN" "JATS-archivearticle1.dtd">
<article article-type="research-article"><front><article-meta>
<article-id pub-id-type="doi">10.1/x</article-id>
<title-group><article-title>On <italic>colds</italic></article-title></title-group>
<contrib-group><contrib><name><surname>Doe</surname><given-names>Jo</given-names></name>
</contrib></contrib-group><abstract><p>Colds are common.</p></abstract></article-meta>
</front><body><sec id="s1"><label>1</label><title>Methods</title><p>We did<sup>2</sup>
things.<list><list-item><p>one</p></list-item></list></p><table-wrap id="T1">
<label>Table 1</label><caption><title>Doses</title></caption><table><thead><tr>
<th rowspan="2">Drug</th><th colspan="2">Dose</th></tr><tr><th>Low</th>
<th>High</th></tr>
</thead><tbody><tr><td rowspan="2">A</td><td>1</td><td>2</td></tr><tr><td>3</td>
<td>4</td></tr></tbody></table></table-wrap><fig id="F1"><label>Figure 1</label>
<caption><p>A nose.</p>
</caption></fig></sec></body><back><ref-list><ref id="r1"><label>1</label>
<element-citation><name><surname>Roe</surname></name><source>Colds</source>
</element-citation>
</ref></ref-list></back></article>"""


def test_an_article(reading):
    (document,) = reading.parse(Path("a.nxml"), ARTICLE.encode())
    assert format_files.texts(document) == [
        ("heading", "On colds"),
        ("paragraph", "Doe Jo"),
        ("heading", "Abstract"),
        ("paragraph", "Colds are common."),
        ("heading", "1 Methods"),
        ("paragraph", "We did\u00b2 things."),
        ("list_item", "one"),
        ("caption", "Table 1 Doses"),
        ("table_row", "Drug\tDose\t"),
        ("table_row", "Drug\tLow\tHigh"),
        ("table_row", "A\t1\t2"),
        ("table_row", "A\t3\t4"),
        ("figure", "Figure 1 A nose."),
        ("heading", "References"),
        ("list_item", "1 Roe Colds"),
    ]
    assert format_files.cells(document)[1] == [
        ("Drug", "A"), ("Dose Low", "3"), ("Dose High", "4"),
    ]  # fmt: skip
    assert document.blocks[0].attributes == {"doi": "10.1/x"}
    assert document.blocks[-1].attributes == {"type": "reference", "id": "r1"}
    assert document.blocks[5].section == "On colds > 1 Methods"


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('"JATS-archivearticle1.dtd">', '"a" [<!ENTITY a "b">]>', "entities"),
        ('"JATS-archivearticle1.dtd">', '"a" [<!ENTITY a SYSTEM "file:///x">]>', "ent"),
        ("</sec>", "", "damaged"),
        ('<sec id="s1">', "<sec>" * 3000 + "</sec>" * 3000 + "<sec>", "too deep"),
    ],
)
def test_articles_that_are_refused(before, after, reason, reading):
    with pytest.raises(LoadError, match=reason):
        reading.parse(Path("a.nxml"), ARTICLE.replace(before, after).encode())


FRONT = """<front><journal-meta><journal-title-group><journal-title>Colds
</journal-title></journal-title-group></journal-meta><article-meta>
<article-id pub-id-type="doi">10.1/x</article-id><article-id pub-id-type="pmid">7
</article-id><title-group><article-title>On colds</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Doe</surname><given-names>
Jo</given-names></name></contrib><contrib contrib-type="editor"><name><surname>Ed
</surname></name></contrib><contrib><collab>The Group</collab></contrib></contrib-group>
<pub-date><year>2020</year></pub-date><pub-date><day>31</day><month>May</month><year>2021
</year></pub-date><pub-date><day>4</day><month>12</month><year>2020</year></pub-date>
</article-meta></front><body><sec><title>Methods</title><p>We did.</p></sec></body>"""


@pytest.mark.parametrize(
    "root",
    ["<article>", '<article xml:lang="en">', "<article>\n<!-- by hand -->"],
)
def test_an_article_tells_its_journal_day_authors_and_ids(root, reading):
    text = f'<?xml version="1.0"?>{root}{FRONT}</article>'
    (document,) = reading.parse(Path("a.xml"), text.encode())
    assert document.parser.startswith("jats")
    assert document.attributes == {
        "authors": "Jo Doe; The Group",
        "date": "2020-12-04",
        "doi": "10.1/x",
        "journal": "Colds",
        "pmid": "7",
        "stated_title": "On colds",
    }


def test_an_article_of_a_page_is_html(reading):
    page = "<article><h1>Colds</h1><p>They are common.</p></article>"
    (document,) = reading.parse(Path("a.html"), page.encode())
    assert not document.parser.startswith("jats")
    assert document.attributes == {}

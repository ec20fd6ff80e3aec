"""ArchiMate models: everything that is listed is read, or reported."""

import io
import json
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from defusedxml import ElementTree
from hypothesis import given, settings
from hypothesis import strategies as st

from elt_llm_core.enterprise.index import ModelIndex
from elt_llm_core.enterprise.model import SIDECAR_KIND, EnterpriseModel
from elt_llm_core.enterprise.relation_words import TYPE_WORDS, state_relation
from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.archimate.archimate_model import read_model

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
EXCHANGE = f"""<?xml version="1.0" encoding="UTF-8"?>
<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" {XSI} identifier="m">
 <name xml:lang="en">Harbour</name><documentation>How ships are served.</documentation>
 <elements>
  <element identifier="a" xsi:type="BusinessActor"><name xml:lang="en">Pilot</name>
   <name xml:lang="de">Lotse</name><documentation>Guides ships.</documentation>
   <properties><property propertyDefinitionRef="p"><value>12</value></property>
   </properties></element>
  <element identifier="b" xsi:type="BusinessService"><name>Guidance</name></element>
  <element identifier="c" xsi:type="DataObject"><name>Chart</name></element>
  <element identifier="j" xsi:type="OrJunction"/>
  <element identifier="c" xsi:type="DataObject"><name>Chart again</name></element>
 </elements>
 <relationships>
  <relationship identifier="r1" source="a" target="b" xsi:type="Serving"/>
  <relationship identifier="r2" source="b" target="c" xsi:type="Access"
   accessType="Read"><name>depths</name></relationship>
  <relationship identifier="r3" source="c" target="r1" xsi:type="Association"/>
  <relationship identifier="r4" source="a" target="gone" xsi:type="Flow"/>
  <relationship identifier="r5" source="r4" target="a" xsi:type="Association"/>
 </relationships>
 <organizations><item><label>Business</label>
  <item><label>Crew</label><item identifierRef="a"/></item>
  <item identifierRef="b"/><item identifierRef="r1"/></item></organizations>
 <propertyDefinitions><propertyDefinition identifier="p" type="number">
  <name>Headcount</name></propertyDefinition></propertyDefinitions>
 <views><diagrams>
  <view identifier="v1" xsi:type="Diagram" viewpoint="Service"><name>Overview</name>
   <node identifier="n1" elementRef="a" xsi:type="Element" x="0" y="0" w="100" h="50">
    <node identifier="n2" elementRef="b" xsi:type="Element" x="300" y="50" w="100"
     h="50"/></node>
   <node identifier="n3" xsi:type="Label" x="0" y="60" w="90" h="40">
    <label>Draft&#10;of May</label><viewRef ref="v2"/></node>
   <node identifier="n4" elementRef="gone" xsi:type="Element" x="0" y="0" w="1" h="1"/>
   <connection identifier="k" source="n1" target="n2" relationshipRef="r1"/></view>
  <view identifier="v2" xsi:type="Diagram"><name>Detail</name>
   <node identifier="n5" elementRef="a" xsi:type="Element" x="0" y="0" w="9" h="9"/>
  </view></diagrams></views>
</model>"""
OLD_EXCHANGE = f"""<model xmlns="http://www.opengroup.org/xsd/archimate" {XSI}>
 <name>Old</name><elements>
  <element identifier="a" xsi:type="BusinessActor"><label>Pilot</label></element>
  <element identifier="b" xsi:type="BusinessRole"><label>Guide</label></element>
 </elements><relationships><relationship identifier="r" source="a" target="b"
  xsi:type="UsedByRelationship"/></relationships>
 <views><view identifier="v"><label>V</label><node elementref="a" x="1" y="1" w="2"
  h="2"/></view></views></model>"""
ARCHI = f"""<?xml version="1.0" encoding="UTF-8"?>
<archimate:model {XSI} xmlns:archimate="http://www.archimatetool.com/archimate"
 name="Harbour" id="m">
 <folder name="Business" id="f1" type="business">
  <folder name="Crew" id="f2"><documentation>Who works here.</documentation>
   <element xsi:type="archimate:BusinessActor" id="a" name="Pilot">
    <documentation>Guides ships.</documentation><property key="Headcount" value="12"/>
    <property key="Headcount" value="13"/></element></folder>
  <element xsi:type="archimate:BusinessService" id="b" name="Guidance"/></folder>
 <folder name="Other" id="f3" type="other">
  <element xsi:type="archimate:Junction" id="j" type="or"/></folder>
 <folder name="Relations" id="f4" type="relations">
  <element xsi:type="archimate:ServingRelationship" id="r1" source="a" target="b"/>
  <element xsi:type="archimate:AccessRelationship" id="r2" source="b" target="a"
   accessType="1"/></folder>
 <folder name="Views" id="f5" type="diagrams">
  <element xsi:type="archimate:ArchimateDiagramModel" id="v1" name="Overview">
   <child xsi:type="archimate:DiagramObject" id="n1" archimateElement="a">
    <bounds x="100" y="0" width="200" height="100"/>
    <sourceConnection xsi:type="archimate:Connection" id="k" source="n1" target="n2"
     archimateRelationship="r1"/>
    <child xsi:type="archimate:DiagramObject" id="n2" archimateElement="b">
     <bounds x="50" y="20" width="-1" height="-1"/></child></child>
   <child xsi:type="archimate:Note" id="n3"><bounds x="0" y="100" width="100"
    height="100"/><content>Check the tide tables.</content></child>
   <child xsi:type="archimate:DiagramModelReference" id="n4" model="v1">
    <bounds x="0" y="0" width="10" height="10"/></child>
  </element></folder>
 <purpose>How ships are served.</purpose>
</archimate:model>"""


def read(text: str, name: str = "m.xml") -> EnterpriseModel:
    return read_model(Path(name), text.encode())[0]


def test_an_exchange_file():
    model = read(EXCHANGE)
    assert (model.name, model.documentation) == ("Harbour", "How ships are served.")
    rows = [(e.name, e.type, e.role, e.domain, e.subtype) for e in model.elements]
    assert rows == [
        ("Pilot", "BusinessActor", "entity", "Business", "Crew"),
        ("Guidance", "BusinessService", "entity", "Business", ""),
        ("Chart", "DataObject", "entity", "", ""),
        ("(or junction)", "OrJunction", "entity", "", ""),
        ("Business", "Folder", "domain", "Business", ""),
        ("Crew", "Folder", "subtype", "Business", ""),
        ("Draft", "Note", "note", "", ""),
    ]
    pilot = model.elements[0]
    assert pilot.properties == {"Headcount": "12", "Name (de)": "Lotse"}
    assert [(place.page, place.key) for place in pilot.occurrences] == [(2, "n5")]
    assert (pilot.location.page, pilot.location.key) == (1, "a")
    assert pilot.location.box.right == 0.25
    sentences = [state_relation(r) for r in model.relations]
    assert sentences == [
        "Pilot serves Guidance.",
        "Guidance accesses Chart (depths).",
        "Chart is associated with r1.",
    ]
    assert [r.direction for r in model.relations] == ["forward", "forward", "none"]
    assert model.relations[1].properties == {"accessType": "Read"}
    assert [(s.kind, s.id, s.reason) for s in model.skips] == [
        ("element", "c", "another element has its identifier"),
        ("relation", "r4", "its end refers to 'gone', which does not exist"),
        ("relation", "r5", "its start refers to 'r4', which does not exist"),
        ("element", "n4", "the view shows 'gone', which does not exist"),
    ]
    overview = model.views[0]
    assert (overview.element_ids, overview.relation_ids, overview.view_ids) == (
        ("a", "b", "v1.n3"), ("r1",), ("v2",),
    )  # fmt: skip
    assert [e.name for e in ModelIndex(model).ancestors("a")] == ["Crew", "Business"]


def test_an_exchange_file_of_version_2():
    model = read(OLD_EXCHANGE)
    assert state_relation(model.relations[0]) == "Pilot is used by Guide."
    assert model.views[0].element_ids == ("a",)


def test_without_folders_groupings_and_layers_are_the_domains():
    def element(key, kind):
        kind = f'xsi:type="{kind}"'
        return f'<element identifier="{key}" {kind}><name>{key}</name></element>'

    def part(key, source, target, kind="Aggregation"):
        ends = f'source="{source}" target="{target}"'
        return f'<relationship identifier="{key}" {ends} xsi:type="{kind}"/>'

    elements = (
        ("Port", "Grouping"), ("Pilotage", "Grouping"), ("North", "Grouping"),
        ("Tides", "ApplicationComponent"), ("Berths", "ApplicationComponent"),
        ("Crane", "Equipment"), ("Quay", "Location"), ("Tug", "Device"),
    )  # fmt: skip
    relations = (
        part("1", "Port", "Pilotage"), part("2", "Pilotage", "Tides", "Composition"),
        part("3", "Port", "Tug"), part("4", "North", "Tug"),
        part("5", "North", "Berths", "Association"),
    )  # fmt: skip
    parts = "".join(element(*one) for one in elements), "".join(relations)
    model = read(
        '<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" '
        f"{XSI}><name>P</name><elements>{parts[0]}</elements>"
        f"<relationships>{parts[1]}</relationships></model>"
    )
    assert {e.name: (e.domain, e.subtype) for e in model.elements} == {
        "Port": ("Port", ""),
        "Pilotage": ("Port", ""),
        "Tides": ("Port", "Pilotage"),
        "Berths": ("Application", ""),
        "Crane": ("Technology & Physical", ""),
        "Quay": ("Other", ""),
        # Of two groupings neither is chosen.
        "Tug": ("Technology & Physical", ""),
        "North": ("Other", ""),
    }
    assert model.relations[1].target.domain == "Port"
    # What names a domain or a part of it is no thing beside its members.
    roles = {e.name: e.role for e in model.elements if e.role != "entity"}
    assert roles == {"Port": "domain", "Pilotage": "subtype"}


def test_a_file_of_archi_and_one_with_pictures():
    plain = read(ARCHI, "m.archimate")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.xml", ARCHI)
        archive.writestr("images/a.png", b"x")
    assert read_model(Path("m.archimate"), buffer.getvalue())[0] == plain
    named = {e.id: e for e in plain.elements}
    assert named["a"].properties == {"Headcount": "12; 13"}
    assert named["a"].subtype == "Crew"
    assert (named["f2"].role, named["f2"].documentation) == (
        "subtype",
        "Who works here.",
    )
    assert "f4" not in named
    assert named["j"].name == "(or junction)"
    assert named["v1.n3"].name == "Check the tide tables."
    assert named["b"].location.box.left == 0.5  # in the shape around it
    assert plain.relations[1].properties == {"access": "read"}
    assert plain.views[0].view_ids == ("v1",)
    assert plain.documentation == "How ships are served."
    assert plain.skips == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [("harbour.xml", EXCHANGE), ("harbour.archimate", ARCHI), ("harbour", EXCHANGE)],
)
def test_a_model_is_fact_sheets_relations_and_views(reading, name, text):
    elements, relations = reading.parse(Path(name), text.encode())
    sheets = [elements.text[b.start : b.end] for b in elements.blocks]
    (pilot,) = [sheet for sheet in sheets if sheet.startswith("Pilot\n")]
    assert "Type: Business Actor\n" in pilot
    assert pilot.endswith("Guides ships.\nPilot serves Guidance.") or (
        "Pilot serves Guidance." in pilot
    )
    assert sheets[0] == "Harbour\nType: Model\nHow ships are served."
    assert any(s.startswith("Overview\nType: View\n") for s in sheets)
    assert relations.text.startswith("Pilot serves Guidance.")
    (typed,) = [s for s in elements.sidecars if s.kind == SIDECAR_KIND]
    content = json.loads(json.dumps(typed.content))
    assert EnterpriseModel.model_validate(content).name == "Harbour"
    assert len(elements.warnings) == (4 if text is EXCHANGE else 0)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (EXCHANGE.replace("<model", '<!DOCTYPE m [<!ENTITY x "y">]><model', 1).encode(),
         "document type"),
        (EXCHANGE[:900].encode(), "damaged"),
        (b'<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/"/>', "no element"),
        (b'<model xmlns="urn:x"/>', "not an ArchiMate model"),
        (b"PK\x03\x04broken", "damaged"),
    ],
)  # fmt: skip
def test_what_is_no_model_is_refused(data, reason):
    with pytest.raises(LoadError, match=reason):
        read_model(Path("m.archimate"), data)


def test_deep_folders_and_shapes_are_read():
    """XML nested a thousand deep is read without a limit on recursion."""
    element = '<element xsi:type="archimate:BusinessActor" id="a" name="Pilot"/>'
    folders = "".join(f'<folder id="f{n}" name="F{n}">' for n in range(1000))
    shapes = "".join(f'<child id="n{n}" archimateElement="a">' for n in range(1000))
    text = (
        f'<archimate:model {XSI} xmlns:archimate="http://www.archimatetool.com/'
        f'archimate" name="Deep">{folders}{element}{"</folder>" * 1000}'
        f'<folder id="v" name="V"><element xsi:type="archimate:ArchimateDiagramModel" '
        f'id="d" name="D">{shapes}{"</child>" * 1000}</element></folder>'
        "</archimate:model>"
    )
    model = read(text)
    assert len(ModelIndex(model).ancestors("a")) == 1000
    assert len(model.elements[0].occurrences) == 999


IDS = st.sampled_from(["", "a", "b", "c", "r1", "r2", "f"])
ELEMENTS = st.tuples(IDS, st.sampled_from(["", "BusinessActor", "Junction"]))
RELATIONS = st.tuples(IDS, IDS, IDS)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(ELEMENTS, min_size=1, max_size=6),
    st.lists(RELATIONS, max_size=6),
    st.lists(IDS, max_size=6),
)
def test_what_is_listed_is_read_or_reported(elements, relations, shown):
    text = (
        f'<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" {XSI}><elements>'
        + "".join(f'<element identifier="{i}" xsi:type="{t}"/>' for i, t in elements)
        + "</elements><relationships>"
        + "".join(
            f'<relationship identifier="{i}" source="{s}" target="{t}"/>'
            for i, s, t in relations
        )
        + "</relationships><views><diagrams><view>"
        + "".join(f'<node elementRef="{i}"/>' for i in shown)
        + "</view></diagrams></views></model>"
    )
    model = read(text)
    kinds = Counter(s.kind for s in model.skips)
    places = sum(
        (e.location.page is not None) + len(e.occurrences) for e in model.elements
    )
    assert len(model.relations) + kinds["relation"] == len(relations)
    assert len(elements) + sum(map(bool, shown)) == (
        len(model.elements) + places + kinds["element"]
    )


DATA = Path(os.environ.get("ELT_LLM_EVAL_DATA", "")) / "archimate"


@pytest.mark.parametrize("path", sorted(DATA.glob("*.*")), ids=lambda p: p.name)
def test_every_file_of_the_evaluation_data_is_read_whole(path):
    """Counted by another way of reading: what has which tag."""
    root = ElementTree.parse(path, forbid_dtd=True).getroot()
    model, pages = read_model(path, path.read_bytes())
    listed, related, views = [], [], []
    for element in root.iter():
        tag, kind = element.tag.rpartition("}")[2], element.get(TYPE, "")
        if tag == "relationship" or (tag == "element" and element.get("source")):
            related.append(element)
        elif tag == "view" or (tag == "element" and kind.endswith("Model")):
            views.append(element)
        elif tag == "element":
            listed.append(element)
    own = [e for e in model.elements if e.type not in {"Folder", "Note"}]
    assert (len(own), len(model.relations), len(model.views)) == (
        len(listed), len(related), len(views),
    )  # fmt: skip
    assert (len(pages), model.skips) == (len(views), ())
    assert sum(len(e.documentation) > 0 for e in own) == sum(
        any(c.tag.endswith("documentation") and (c.text or "").strip() for c in e)
        for e in listed
    )
    shapes = [
        n for n in root.iter() if n.get("elementRef") or n.get("archimateElement")
    ]
    drawn = sum((e.location.page is not None) + len(e.occurrences) for e in own)
    assert drawn == len(shapes)
    assert {r.type for r in model.relations} <= set(TYPE_WORDS)


def test_the_evaluation_data_is_there():
    if not DATA.is_dir() or not os.environ.get("ELT_LLM_EVAL_DATA"):
        pytest.skip("ELT_LLM_EVAL_DATA names no folder with archimate")
    assert len(list(DATA.glob("*.*"))) >= 7

"""What single targets read: their own layout, their rules, and hostile files."""

import csv
import io
import json
from importlib.resources import files

import pytest
import yaml
from openpyxl import load_workbook

from elt_llm_consumer import exchange
from elt_llm_consumer.exchange.glossary_format import load_format
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    RelationKind,
    Resource,
    Term,
    TermRelation,
    TermStatus,
)
from elt_llm_consumer.exchange.transfer import write_glossary
from elt_llm_core.errors import ConfigError, ExchangeError

LEASE = Term(
    name="Ground Lease",
    parent=("Contracts",),
    definition="The right to occupy, v2.0; a term of years.",
    synonyms=("Tenancy; long", "Lease"),
    acronyms=("GL",),
    status=TermStatus.APPROVED,
    relations=(
        TermRelation(kind=RelationKind.RELATED, target=("Rent Review",)),
        TermRelation(kind=RelationKind.BROADER, target=("Contracts",)),
    ),
    owners=("user:ann",),
    stewards=("bob",),
    resources=(Resource(label="Act", url="https://example.org/act"),),
    attributes={"fact_sheet_id": "a-1", "usage": "leases only"},
)
GLOSSARY = Glossary(
    name="Estates",
    terms=(
        LEASE,
        Term(name="Contracts", definition="Agreements."),
        Term(name="Rent Review", definition="A new rent.", status=TermStatus.REJECTED),
    ),
)


def table(content):
    text = content.decode("utf-8-sig")
    return {
        row.get("name*") or row.get("TermName") or row.get("title") or row["name"]: row
        for row in csv.DictReader(io.StringIO(text, newline=""))
    }


def test_openmetadata_names_paths_below_the_glossary_and_quotes_items():
    content = load_format("openmetadata_csv").write(GLOSSARY)
    row = table(content)["Ground Lease"]
    assert row["parent"] == "Estates.Contracts"
    assert (
        row["relatedTerms"] == "broader:Estates.Contracts;relatedTo:Estates.Rent Review"
    )
    assert row["synonyms"] == 'Lease;"Tenancy; long"'
    assert row["references"] == "Act;https://example.org/act"
    assert (row["owner"], row["reviewers"]) == ("user:ann", "bob")
    assert row["glossaryStatus"] == "Approved"
    assert row["extension"] == "fact_sheet_id:a-1;usage:leases only"
    assert table(content)["Rent Review"]["glossaryStatus"] == "Deprecated"


OPENMETADATA_FAULTS = """\
parent,name*,owner,references,glossaryStatus
,a::b,ann,label,Open
,c,,x;ftp://example.org,
"""


def test_openmetadata_refuses_what_its_import_refuses():
    problems = load_format("openmetadata_csv").check(OPENMETADATA_FAULTS.encode())
    assert {(p.row, p.column, p.value) for p in problems} >= {
        (2, "name*", "a::b"),
        (2, "owner", "ann"),
        (2, "references", "label"),
        (2, "glossaryStatus", "Open"),
        (3, "references", "ftp://example.org"),
    }


def test_datahub_has_nodes_for_parents_and_dotted_relations():
    content = yaml.safe_load(load_format("datahub_yaml").write(GLOSSARY))
    assert (content["version"], content["source"]) == ("1", "DataHub")
    (node,) = content["nodes"]
    assert (node["name"], node["description"]) == ("Contracts", "Agreements.")
    (lease,) = node["terms"]
    assert lease["inherits"] == ["Contracts"]
    assert lease["related_terms"] == ["Rent Review"]
    assert lease["owners"] == {"users": ["user:ann"]}
    assert lease["custom_properties"]["review_status"] == "APPROVED"
    assert [term["name"] for term in content["terms"]] == ["Contracts", "Rent Review"]


DATAHUB_EXAMPLE = """\
version: 1
source: DataHub
owners: {users: [mjames]}
url: "https://example.org/"
nodes:
  - name: Classification
    description: Terms of data classification
    knowledge_links: [{label: Wiki, url: "https://example.org/wiki"}]
    terms:
      - name: Confidential
        description: Confidential data
        custom_properties: {is_confidential: true, level: 2}
      - name: No
        description: Not classified
        inherits: [Classification.Confidential]
"""


def test_a_datahub_glossary_of_others_is_read():
    chosen = load_format("datahub_yaml")
    terms = {t.path: t for t in chosen.read(DATAHUB_EXAMPLE.encode()).terms}
    assert set(terms) == {
        ("Classification",),
        ("Classification", "Confidential"),
        ("Classification", "No"),
    }
    assert terms["Classification",].definition == "Terms of data classification"
    assert terms["Classification",].resources[0].label == "Wiki"
    properties = terms["Classification", "Confidential"].attributes
    assert properties == {"is_confidential": "true", "level": "2"}
    (relation,) = terms["Classification", "No"].relations
    assert relation.target == ("Classification", "Confidential")
    assert chosen.check(DATAHUB_EXAMPLE.encode()) == []


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x]\nb: [*a, *a]",
        "nodes: [",
        "!!python/object/apply:os.system [id]",
        "version: 1\nsource: x\nowners: {}\nterms: [{description: nameless}]",
        "[" * 5000,
    ],
)
def test_a_hostile_or_broken_yaml_is_refused(text):
    for action in ("read", "check"):
        with pytest.raises(ExchangeError) as raised:
            getattr(load_format("datahub_yaml"), action)(text.encode())
        assert raised.value.hint


def test_what_is_below_a_group_without_a_definition_is_exported():
    kiln = Term(name="Kiln", parent=("FIRING",), definition="An oven for clay.")
    glossary = Glossary(name="Pottery", terms=(Term(name="FIRING"), kiln))
    datahub = load_format("datahub_yaml")
    written = write_glossary(datahub, glossary, leave_out=True)
    assert (written.problems, written.left_out) == ((), ())
    (node,) = yaml.safe_load(written.content)["nodes"]
    assert node["description"] == ""
    assert [term["name"] for term in node["terms"]] == ["Kiln"]
    # A list without groups loses only the term itself.
    flat = write_glossary(load_format("purview_unified"), glossary, leave_out=True)
    assert flat.left_out == ("FIRING",)
    assert list(table(flat.content)) == ["Kiln"]
    # The key itself is required.
    text = "version: 1\nsource: x\nowners: {}\nnodes: [{name: Firing}]"
    (problem,) = datahub.check(text.encode())
    assert (problem.column, problem.value, problem.is_error) == (
        "description",
        "Firing",
        True,
    )


def test_a_name_with_a_dot_is_no_address_in_datahub():
    glossary = Glossary(name="g", terms=(Term(name="v2.0", definition="d"),))
    (problem,) = write_glossary(load_format("datahub_yaml"), glossary).problems
    assert (problem.column, problem.rule) == ("name", "contains '.'")


def test_collibra_has_a_community_a_domain_and_an_asset_per_term():
    chosen = load_format("collibra_json", {"community": "Data Office"})
    resources = json.loads(chosen.write(GLOSSARY))
    assert [one["resourceType"] for one in resources] == [
        *("Community", "Domain", "Asset", "Asset", "Asset")
    ]
    lease = resources[3]
    assert lease["displayName"] == "Ground Lease"
    assert lease["identifier"] == {
        "name": "Contracts > Ground Lease",
        "domain": {"name": "Estates", "community": {"name": "Data Office"}},
    }
    assert lease["type"] == {"name": "Business Term"}
    assert lease["status"] == {"name": "Accepted"}
    assert lease["attributes"]["Definition"] == [{"value": LEASE.definition}]
    ends = {key.rpartition(":")[2]: ids for key, ids in lease["relations"].items()}
    assert ends["SOURCE"][0]["name"] == "Contracts"
    assert ends["TARGET"][0]["name"] == "Rent Review"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1]",
        '[{"resourceType": "Asset"}]',
        '[{"resourceType": "Asset", "identifier": {}}]',
        "[" * 100_000,
        "nonsense",
    ],
)
def test_a_broken_collibra_file_is_refused(text):
    with pytest.raises(ExchangeError) as raised:
        load_format("collibra_json").check(text.encode())
    assert raised.value.hint


def test_atlas_has_its_21_columns_and_references_name_the_glossary():
    content = load_format("atlas_csv").write(GLOSSARY)
    head = content.decode().splitlines()[0].split(",")
    assert (len(head), head[0], head[-1]) == (21, "GlossaryName", "PreferredTerms")
    row = table(content)["Ground Lease"]
    assert row["SeeAlso"] == "Estates:Rent Review"
    assert row["IsA"] == "Estates:Contracts"
    assert row["Abbreviation"] == "GL"
    assert row["AdditionalAttributes"] == "fact_sheet_id:a-1"
    assert row["Usage"] == "leases only"


def test_atlas_refuses_names_with_its_own_marks():
    terms = (Term(name="a@b"), Term(name="c.d"), Term(name="e"), Term(name="E"))
    glossary = Glossary(name="g:h", terms=terms)
    problems = write_glossary(load_format("atlas_csv"), glossary).problems
    rules = {(p.column, p.rule) for p in problems if p.is_error}
    assert rules >= {
        ("TermName", "contains '@'"),
        ("TermName", "contains '.'"),
        ("GlossaryName", "contains ':'"),
        ("TermName", "is the name of row 2 too"),
    }


def test_leanix_gets_its_fact_sheets_back_by_id(tmp_path):
    file = tmp_path / "a.xlsx"
    file.write_bytes(load_format("leanix_xlsx").write(GLOSSARY))
    sheet = load_workbook(file)["DataObject"]
    head, *rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert head == ["id", "type", "name", "displayName", "description", "lxState"]
    assert rows[1] == [
        *("a-1", "DataObject", "Ground Lease", "Contracts / Ground Lease"),
        *(LEASE.definition, "APPROVED"),
    ]
    assert rows[0][:4] == [None, "DataObject", "Contracts", "Contracts"]


def test_leanix_takes_ten_thousand_rows(tmp_path):
    shipped = files(exchange).joinpath("mappings/leanix.yaml").read_text("utf-8")
    assert yaml.safe_load(shipped)["most_rows"] == 10_000
    # With a tenth of it: so many rows take seconds to write and to read.
    file = tmp_path / "leanix.yaml"
    file.write_text(shipped.replace("most_rows: 10000", "most_rows: 1000"))
    chosen = load_format("leanix_xlsx", {"mapping_file": file})
    terms = tuple(Term(name=f"t{number}") for number in range(1_001))
    (problem,) = chosen.check(chosen.write(Glossary(name="g", terms=terms)))
    assert (problem.column, problem.value, problem.is_error) == ("rows", "1,001", True)
    assert chosen.check(chosen.write(Glossary(name="g", terms=terms[1:]))) == []


def test_atlan_and_alation_have_the_names_of_their_fields():
    row = table(load_format("atlan_csv").write(GLOSSARY))["Ground Lease"]
    assert (row["typeName"], row["anchor"]) == ("AtlasGlossaryTerm", "Estates")
    assert (row["certificateStatus"], row["seeAlso"]) == (
        "VERIFIED",
        "Rent Review@@@Estates",
    )
    row = table(load_format("alation_csv").write(GLOSSARY))["Ground Lease"]
    assert (row["Related Terms:term"], row["Status"]) == ("Rent Review", "Approved")
    assert row["Synonyms"] == "Lease"  # the other one contains the mark of the list


MAPPING = """\
title: house table
columns:
  - {column: Begriff, field: name}
  - {column: Oberbegriff, field: parent, separator: " > "}
  - {column: Definition, field: definition}
  - {column: Zustand, field: status}
  - {column: Nummer, attribute: fact_sheet_id}
statuses: {PENDING: offen, APPROVED: gut, REJECTED: nein, REOPENED: offen,
  NEEDS_CLARIFICATION: offen, PROPOSED_NEW_TAXONOMY: offen}
rules: {name_length: 20}
"""


def test_a_mapping_of_ones_own_makes_another_table(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(MAPPING)
    chosen = load_format("erwin_csv", {"mapping_file": file})
    assert chosen.title == "house table"
    content = chosen.write(GLOSSARY)
    text = content.decode()
    assert text.startswith("Begriff,Oberbegriff,Definition,Zustand,Nummer\r\n")
    assert 'Ground Lease,Contracts,"The right' in text
    assert ",gut,a-1" in text
    back = {term.name: term for term in chosen.read(content).terms}
    assert back["Ground Lease"].attributes == {"fact_sheet_id": "a-1"}
    assert back["Rent Review"].status is TermStatus.REJECTED


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("field: name", "field: nam", "'nam' is not a field"),
        ("field: name", "attribute: x", "no column has `field: name`"),
        ("column: Begriff", "column: Nummer", "is listed twice"),
        ("PENDING: offen, ", "", "lacks PENDING"),
        ("field: definition", "field: relations", "`kind` belongs to"),
        ("field: definition", "field: relations, kind: related", "unique_names"),
        ("field: definition", "field: resources", "needs `pair`"),
        ("title: house table", "title: [", "not YAML"),
        ("rules:", "rule:", "rule: Extra inputs"),
    ],
)
def test_a_wrong_mapping_is_refused_with_the_reason(tmp_path, old, new, message):
    file = tmp_path / "mine.yaml"
    file.write_text(MAPPING.replace(old, new, 1))
    with pytest.raises(ConfigError, match=r"mine\.yaml") as raised:
        load_format("erwin_csv", {"mapping_file": file})
    assert message in str(raised.value)


def test_a_missing_mapping_says_so(tmp_path):
    with pytest.raises(ConfigError, match="cannot read the mapping"):
        load_format("erwin_csv", {"mapping_file": tmp_path / "none.yaml"})

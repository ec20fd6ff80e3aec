"""Export and import as a user calls them, and what a target refuses."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook
from rdflib import RDF, Graph, Literal
from rdflib.namespace import SKOS

from elt_llm_consumer import exchange_commands
from elt_llm_consumer.catalog import CatalogJob
from elt_llm_consumer.exchange.glossary_baseline import merge_baseline
from elt_llm_consumer.exchange.glossary_format import FORMATS, load_format
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    RelationKind,
    Term,
    TermRelation,
    TermStatus,
)
from elt_llm_consumer.exchange.transfer import write_glossary
from elt_llm_consumer.glossary import GlossaryJob
from elt_llm_consumer.product import dump_json
from elt_llm_consumer.reviewed import product_name
from elt_llm_core.cli.failures import run
from elt_llm_core.errors import ConfigError, ExchangeError, UnknownStrategyError
from elt_llm_core.jobs import JOBS
from elt_llm_core.reviews.review_records import ReviewChange, ReviewStatus


@pytest.fixture
def product(context, models) -> Path:
    """The glossary of the small handbook, in its data root."""
    job = GlossaryJob(collections=("handbook",), model=("estate",))
    report = job.build(models)(context)
    return Path(report.files["glossary_json"])


def export(store, name, *arguments):
    return call("export_glossary", store.data_dir, name, *map(str, arguments))


def call(command, data_dir, *arguments):
    """A command with --json: its exit code and what it printed."""
    result = CliRunner().invoke(
        getattr(exchange_commands, command),
        [*arguments, "--data-dir", str(data_dir), "--json", "--quiet"],
    )
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def rewrite(product, change):
    """The product with its rows changed, as a review would leave it."""
    rows = json.loads(product.read_text())
    for row in rows:
        change(row)
    product.write_text(dump_json(rows))


def table(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_every_format_exports_the_glossary_of_a_handbook(product, store):
    terms = {row["term"] for row in json.loads(product.read_text())}
    for name in FORMATS.known():
        code, report = export(store, name, "--collection", "handbook")
        assert code == 0, report
        content = Path(report["files"]["file"]).read_bytes()
        assert {t.name for t in load_format(name).read(content).terms} == terms
        again = export(store, name, "--collection", "handbook")[1]
        assert again["files"] == report["files"]
        assert Path(again["files"]["file"]).read_bytes() == content


def test_what_a_format_does_not_hold_is_reported(product, store):
    code, report = export(store, "purview_unified", "--collection", "handbook")
    assert code == 0
    losses = {loss["field"]: loss for loss in report["losses"]}
    assert losses["evidence"]["terms"] == report["counts"]["terms"]
    assert "skos_turtle" in FORMATS.known()
    kept = export(store, "generic_csv", "--collection", "handbook")
    assert kept[1]["losses"] == []


def test_the_status_of_a_review_is_exported_and_a_rejected_term_is_not(product, store):
    status = {"Tenant": "APPROVED", "Deposit": "REJECTED"}
    rewrite(product, lambda row: row.update(status=status.get(row["term"], "PENDING")))
    report = export(store, "purview_classic", "--from", str(product))[1]
    rows = {r["Name"]: r for r in table(Path(report["files"]["file"]).read_bytes())}
    assert rows["Tenant"]["Status"] == "Approved"
    assert rows["Notice Period"]["Status"] == "Draft"
    assert "Deposit" not in rows
    assert report["notes"] == ["terms of another review status: 1"]
    only = export(
        store,
        *("purview_classic", "--from", str(product), "--status", "APPROVED"),
    )[1]
    assert only["counts"] == {"terms": 1, "approved": 1}


def test_what_a_reviewer_wrote_is_exported_and_the_quote_stays_evidence(product, store):
    quote = {}

    def edit(row):
        if row["term"] == "Tenant":
            quote["words"] = row["definition"]
            edited = {"definition": "Who rents.", "synonyms": "Renter; RNT"}
            row.update(edited=edited, status="APPROVED", review_notes="Checked.")

    rewrite(product, edit)
    report = export(store, "generic_csv", "--from", product)[1]
    content = Path(report["files"]["file"]).read_bytes()
    terms = {term.name: term for term in load_format("generic_csv").read(content).terms}
    tenant = terms["Tenant"]
    assert tenant.definition == "Who rents."
    assert tenant.definition_kind == "written"
    assert (tenant.synonyms, tenant.acronyms) == (("Renter",), ("RNT",))
    assert tenant.note == "Checked."
    assert tenant.evidence[0].quote == quote["words"]
    assert terms["Notice Period"].definition_kind == "quoted"


@pytest.mark.parametrize("job", ["glossary", "catalog"])
def test_a_decision_is_exported_before_the_next_run(context, models, store, job):
    made = JOBS.load(job, {"collections": ("handbook",), "model": ("estate",)})
    made.build(models)(context)
    name = product_name(job, ["handbook"])
    label = {"glossary": "Tenant", "catalog": "Tenants"}[job]
    field = {"glossary": "definition", "catalog": "formal_definition"}[job]
    (item,) = (one for one in store.reviews.items(name) if one.label == label)
    edited = {field: "Who rents."}
    change = ReviewChange(
        item_id=item.item_id, status=ReviewStatus.APPROVED, edited=edited
    )
    arguments = ("generic_csv", "--collection", "handbook", "--product", job)
    before = export(store, *arguments)[1]["counts"]
    store.reviews.change(name, [change], "ann")
    report = export(store, *arguments)[1]
    assert report["counts"]["terms"] == before["terms"]
    content = Path(report["files"]["file"]).read_bytes()
    terms = {term.name: term for term in load_format("generic_csv").read(content).terms}
    assert terms[label].status is TermStatus.APPROVED
    assert terms[label].definition == "Who rents."


def test_a_catalogue_is_the_same_from_the_database_and_from_its_file(
    context, models, store, tmp_path
):
    job = CatalogJob(collections=("handbook",), model=("estate",))
    file = job.build(models)(context).files["catalog_json"]
    arguments = ("generic_csv", "--product", "catalog", "--name", "g", "--output")
    export(store, *arguments, tmp_path / "a.csv", "--collection", "handbook")
    export(store, *arguments, tmp_path / "b.csv", "--from", file)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_term_that_the_target_refuses_is_named_or_left_out(product, store):
    long = "a" * 201
    rewrite(product, lambda row: row["term"] == "Tenant" and row.update(term=long))
    arguments = ["purview_unified", "--from", str(product)]
    code, report = export(store, *arguments)
    assert code == 65
    assert not report["files"]
    (problem,) = report["problems"]
    assert problem["column"] == "name"
    assert problem["value"] == "a" * 79 + "…"
    assert problem["rule"] == "has 201 characters, at most 200 are allowed"
    assert problem["cure"] == "shorten the name"
    content = load_format("purview_unified").write(
        Glossary(
            name="x",
            terms=(Term(name="b", definition="d"), Term(name=long, definition="d")),
        )
    )
    assert table(content)[0]["name"] == long
    assert load_format("purview_unified").check(content)[0].row == 2
    code, report = export(store, *arguments, "--leave-out")
    assert code == 2
    assert report["left_out"] == [long]
    assert Path(report["files"]["file"]).is_file()


def test_a_check_writes_nothing(product, store):
    before = sorted(product.parent.iterdir())
    for name in FORMATS.known():
        code, report = export(store, name, "--from", str(product), "--check")
        assert (code, report["files"]) == (0, {})
    assert sorted(product.parent.iterdir()) == before


def test_an_edited_export_is_kept(product, store):
    arguments = ["generic_csv", "--collection", "handbook"]
    first = export(store, *arguments)[1]
    file = Path(first["files"]["file"])
    file.write_text(file.read_text(encoding="utf-8-sig") + "\n")
    second = export(store, *arguments)[1]
    assert second["files"]["file"].endswith(".new.csv")
    assert "kept because edited" in second["notes"][0]


def test_a_missing_product_says_how_to_make_it(store, capsys):
    arguments = ["--data-dir", str(store.data_dir), "--collection", "nowhere"]
    assert run(exchange_commands.export_glossary, ["generic_csv", *arguments]) == 65
    assert "elt-llm glossary" in capsys.readouterr().err
    assert run(exchange_commands.export_glossary, ["generic_csv", *arguments[:2]]) == 64
    assert run(exchange_commands.export_glossary, ["purview", *arguments]) == 78
    assert "purview_" in capsys.readouterr().err


def test_formats_are_listed(store):
    code, report = export(store, "--list")
    assert code == 0
    assert [one["name"] for one in report["formats"]] == list(FORMATS.known())
    assert all(one["holds"] for one in report["formats"])


def test_a_format_is_not_loaded_without_its_name_and_options_are_checked():
    with pytest.raises(
        UnknownStrategyError, match="there is no export format 'purvieww'"
    ):
        load_format("purvieww")
    with pytest.raises(ConfigError, match="formula_saf"):
        load_format("generic_csv", {"formula_saf": False})


def test_formulas_do_not_run_in_any_table(tmp_path):
    term = Term(name="=1+1", definition='=HYPERLINK("http://x")', synonyms=("@a",))
    glossary = Glossary(name="+g", terms=(term,))
    tables = ("generic_csv", "purview_classic", "purview_unified", "openmetadata_csv")
    for name in (*tables, "alation_csv", "erwin_csv"):
        chosen = load_format(name)
        for row in table(chosen.write(glossary)):
            assert not any(
                cell.startswith(("=", "+", "-", "@")) for cell in row.values()
            )
        assert chosen.read(chosen.write(glossary)).terms[0].name == "=1+1"
        raw = load_format(name, {"formula_safe": False})
        assert raw.read(raw.write(glossary)).terms[0].name == "=1+1"
        assert b"'=1+1" not in raw.write(glossary)
    file = tmp_path / "a.xlsx"
    file.write_bytes(load_format("generic_xlsx").write(glossary))
    cells = [cell for row in load_workbook(file).active.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells if cell.value} == {"s"}


def test_purview_names_are_paths_and_relations_name_them():
    terms = (
        Term(name="A_B", definition="top"),
        Term(name="C", parent=("A_B",), definition="below"),
        Term(
            name="D",
            relations=(
                TermRelation(kind=RelationKind.RELATED, target=("A_B", "C")),
                TermRelation(kind=RelationKind.SYNONYM, target=("A_B",)),
            ),
        ),
    )
    chosen = load_format("purview_classic")
    content = chosen.write(Glossary(name="g", terms=terms))
    rows = table(content)
    assert [row["Name"] for row in rows] == ["A_B", "A_B_C", "D"]
    assert rows[1]["Parent Term Name"] == "A_B"
    assert rows[1]["Nick Name"] == "C"
    assert (rows[2]["Related Terms"], rows[2]["Synonyms"]) == ("A_B_C;", "A_B;")
    assert [term.path for term in chosen.read(content).terms] == [t.path for t in terms]
    assert chosen.check(content) == []


PURVIEW_FAULTS = """\
Name,Status,Definition,Experts,Resources,Parent Term Name
Alpha,Open,a,someone,no link,
alpha,Draft,b,,,Alpha
Beta,Draft,c,x@example.org;,label:https://example.org;,Beta
"""


def test_a_purview_file_is_checked_row_by_row():
    problems = load_format("purview_classic").check(PURVIEW_FAULTS.encode())
    told = {(p.row, p.column, p.value) for p in problems if p.is_error}
    assert told >= {
        (2, "Status", "Open"),
        (2, "Experts", "someone"),
        (2, "Resources", "no link"),
        (3, "Name", "alpha"),
        (4, "Parent Term Name", "Beta"),
    }
    assert all(problem.cure and problem.rule for problem in problems)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no header"),
        (b"Definition\nx\n", "must have the column 'Name'"),
        (b"Name,Colour\nx,y\n", "file has no column 'Colour'"),
        (b"Name,Status\nx,y,z\n", "row 2 has more cells"),
        (b"Name,Name\nx,y\n", "twice"),
        (b"Name\n\xff\n", "not UTF-8"),
        (b'Name\n"x\n', "not CSV"),
    ],
)
def test_a_broken_table_is_refused_with_its_cure(content, message):
    for action in ("check", "read"):
        with pytest.raises(ExchangeError, match=message) as raised:
            getattr(load_format("purview_classic"), action)(content)
        assert raised.value.hint


def test_what_is_no_workbook_and_no_turtle_is_refused():
    for name in ("generic_xlsx", "skos_turtle"):
        with pytest.raises(ExchangeError):
            load_format(name).check(b"PK\x03\x04 broken <")


@pytest.mark.data
def test_a_real_purview_file_comes_in_and_goes_out():
    root = os.environ.get("ELT_LLM_EVAL_DATA")
    if not root:
        pytest.skip("ELT_LLM_EVAL_DATA is not set")
    file = Path(root) / "glossary_purview" / "import-terms-sample.csv"
    chosen = load_format("purview_classic")
    real = table(file.read_bytes())
    glossary = chosen.read(file.read_bytes())
    assert len(glossary.terms) == len(real) == 50
    assert not [p for p in chosen.check(file.read_bytes()) if p.is_error]
    written = table(chosen.write(glossary))
    assert list(written[0]) == list(real[0])
    same = ("Nick Name", "Status", "Acronym", "Resources", "Parent Term Name")
    by_name = {row["Nick Name"]: row for row in written}
    for row in real:
        other = by_name[row["Nick Name"]]
        assert [row[c].rstrip(";") for c in same] == [
            other[c].rstrip(";") for c in same
        ]
        assert " ".join(row["Definition"].split()) == " ".join(
            other["Definition"].split()
        )
    assert chosen.read(chosen.write(glossary)) == glossary


def test_skos_has_one_label_a_hierarchy_both_ways_and_the_evidence(product, store):
    report = export(store, "skos_turtle", "--from", str(product))[1]
    graph = Graph().parse(report["files"]["file"], format="turtle")
    concepts = set(graph.subjects(RDF.type, SKOS.Concept))
    assert len(concepts) == report["counts"]["terms"]
    for concept in concepts:
        assert len(list(graph.objects(concept, SKOS.prefLabel))) == 1
        assert list(graph.objects(concept, SKOS.inScheme))
    rows = json.loads(product.read_text())
    quotes = """
        PREFIX oa: <http://www.w3.org/ns/oa#> PREFIX dcterms: <http://purl.org/dc/terms/>
        PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
        SELECT ?label ?exact ?start ?end WHERE {
          ?term skos:prefLabel ?label; dcterms:source ?source.
          ?source oa:hasSelector [oa:exact ?exact], [oa:start ?start; oa:end ?end]. }"""
    told = {tuple(value.toPython() for value in row) for row in graph.query(quotes)}
    assert told == {(r["term"], r["definition"], r["start"], r["end"]) for r in rows}


def test_skos_states_symmetric_relations_both_ways_and_reads_them_once():
    def of(*kinds):
        return tuple(TermRelation(kind=kind, target=("Anchor",)) for kind in kinds)

    kinds = (RelationKind.RELATED, RelationKind.SYNONYM, RelationKind.BROADER)
    terms = (Term(name="Anchor"), Term(name="Zone", relations=of(*kinds)))
    glossary = Glossary(name="Harbour", terms=terms)
    chosen = load_format("skos_turtle")
    written = write_glossary(chosen, glossary)
    graph = Graph().parse(data=written.content, format="turtle")
    for predicate in (SKOS.related, SKOS.exactMatch):
        pairs = set(graph.subject_objects(predicate))
        assert len(pairs) == 2
        assert {(second, first) for first, second in pairs} == pairs
    anchor, zone = chosen.read(written.content).terms
    assert [one.kind for one in zone.relations] == [RelationKind.BROADER]
    assert [(one.kind, one.target) for one in anchor.relations] == [
        (RelationKind.RELATED, ("Zone",)),
        (RelationKind.SYNONYM, ("Zone",)),
    ]
    assert not written.losses


FOREIGN = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <https://example.org/> .
ex:top a skos:Concept ; skos:prefLabel "Top"@en, "Oben"@de ; skos:narrower ex:low .
ex:low a skos:Concept ; skos:prefLabel "Low"@en ; skos:altLabel "Bottom"@en ;
  skos:definition "First."@en, "Second."@en ; skos:broader ex:other .
ex:other a skos:Concept ; skos:prefLabel "Other"@en ; skos:broader ex:low .
"""


def test_foreign_skos_is_read_and_its_circles_are_named():
    chosen = load_format("skos_turtle", {"language": "en"})
    glossary = chosen.read(FOREIGN.encode())
    low = next(term for term in glossary.terms if term.name == "Low")
    assert (low.definition, low.other_definitions) == ("First.", ("Second.",))
    assert low.synonyms == ("Bottom",)
    circles = [p.value for p in chosen.check(FOREIGN.encode()) if "ancestor" in p.rule]
    assert circles == ["https://example.org/low", "https://example.org/other"]
    german = load_format("skos_turtle", {"language": "de"}).read(FOREIGN.encode())
    assert "Oben" in {term.name for term in german.terms}
    tagged = Graph().parse(data=chosen.write(glossary), format="turtle")
    assert (None, SKOS.prefLabel, Literal("Low", lang="en")) in tagged


def test_a_label_of_two_concepts_is_named_and_refuses_nothing():
    terms = (
        Term(name="Berth Request", acronyms=("BR",), synonyms=("Letter",)),
        Term(name="BR"),
        Term(name="Notice", synonyms=("letter",)),
    )
    chosen = load_format("skos_turtle")
    content = chosen.write(Glossary(name="Harbour", terms=terms))
    problems = [p for p in chosen.check(content) if "is a label of" in p.rule]
    assert [(p.column, p.value) for p in problems] == [
        ("skos:altLabel", "BR"),
        ("skos:altLabel", "letter"),
    ]
    assert not any(p.is_error for p in problems)


def test_an_import_is_the_baseline_of_an_export(product, store, tmp_path):
    file = tmp_path / "existing.csv"
    file.write_text(
        "Name,Nick Name,Status,Definition,Stewards,Parent Term Name\n"
        "Contracts,Contracts,Approved,Papers.,,\n"
        "Contracts_Tenants,Tenants,Approved,Whoever rents.,ada@example.org;,Contracts\n"
    )
    code, report = call(
        "import_glossary",
        store.data_dir,
        *("purview_classic", str(file), "--collection", "handbook"),
    )
    assert (code, report["counts"]) == (0, {"terms": 2, "approved": 2})
    baseline = report["files"]["baseline"]
    assert baseline in report["notes"][0]
    code, report = export(
        store,
        *("purview_classic", "--collection", "handbook", "--baseline", baseline),
    )
    assert code == 0
    assert report["counts"]["merged"] == 1
    assert report["counts"]["only_in_baseline"] == 1
    rows = {r["Name"]: r for r in table(Path(report["files"]["file"]).read_bytes())}
    tenants = rows["Contracts_Tenants"]
    assert tenants["Definition"] == "Whoever rents."
    assert tenants["Stewards"] == "ada@example.org;"
    assert tenants["Status"] == "Alert"  # the handbook says something else
    assert "Ground Lease" in rows


def test_a_review_goes_before_the_baseline_and_ambiguity_is_told():
    baseline = Glossary(
        name="b",
        terms=(
            Term(name="Rent", definition="Old."),
            Term(name="Key", parent=("Rent",)),
            Term(name="Key"),
            Term(name="Key", parent=("Key",)),
        ),
    )
    documents = Glossary(
        name="d",
        terms=(
            Term(name="Rent", definition="New.", status=TermStatus.APPROVED),
            Term(name="Keys", definition="Opens a door."),
        ),
    )
    merged = merge_baseline(baseline, documents)
    rent = next(term for term in merged.glossary.terms if term.name == "Rent")
    assert (rent.definition, rent.other_definitions) == ("New.", ("Old.",))
    assert rent.status is TermStatus.APPROVED
    assert merged.ambiguous == ("Keys",)
    assert merged.counts == {
        "merged": 1,
        "changed": 0,
        "only_in_baseline": 3,
        "only_in_documents": 1,
    }


def test_an_import_that_breaks_the_rules_writes_nothing(
    product, store, tmp_path, capsys
):
    file = tmp_path / "broken.csv"
    file.write_text(PURVIEW_FAULTS)
    code, report = call("import_glossary", store.data_dir, "purview_classic", str(file))
    assert (code, report["files"]) == (65, {})
    arguments = ["purview_classic", str(tmp_path / "no.csv")]
    arguments += ["--data-dir", str(store.data_dir)]
    assert run(exchange_commands.import_glossary, arguments) == 65
    assert "cannot read" in capsys.readouterr().err
    other = tmp_path / "other.json"
    other.write_text('{"format": "x"}')
    arguments = ["generic_csv", "--from", str(product), "--baseline", str(other)]
    arguments += ["--data-dir", str(store.data_dir)]
    assert run(exchange_commands.export_glossary, arguments) == 65


def test_a_workbook_that_unpacks_to_gigabytes_is_refused():
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"\0" * 250_000_000)
    with pytest.raises(ExchangeError, match="unpacks to"):
        load_format("generic_xlsx").read(packed.getvalue())


def test_terms_left_out_take_those_below_them():
    glossary = Glossary(
        name="g",
        terms=(
            Term(name="a;b", definition="x"),
            Term(name="c", parent=("a;b",), definition="y"),
            Term(name="d", definition="z"),
        ),
    )
    written = write_glossary(load_format("purview_classic"), glossary, leave_out=True)
    assert [term.name for term in written.glossary.terms] == ["d"]
    assert written.left_out == ("a;b",)

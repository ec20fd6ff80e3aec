"""Where a model comes from: drawings, inventories, or both, in any collections."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.catalog import CatalogJob
from elt_llm_consumer.cataloguer import NO_DESCRIPTION, NO_INVENTORY
from elt_llm_consumer.coverage import CoverageJob
from elt_llm_consumer.glossary import GlossaryJob
from elt_llm_consumer.linking.mapping_features import MappedTerm
from elt_llm_consumer.linking.model_entities import (
    ARCHIMATE_ORIGIN,
    INVENTORY_ORIGIN,
    LEANIX_ORIGIN,
)
from elt_llm_consumer.linking.model_reading import read_model
from elt_llm_consumer.linking.source_entities import inventory_entities
from elt_llm_consumer.linking.term_mapper import TermMapper
from elt_llm_core.document import Sidecar
from elt_llm_core.enterprise.model import (
    INVENTORY_FORMAT,
    SIDECAR_KIND,
    EnterpriseModel,
    ModelElement,
    ModelLocation,
    ModelRelation,
    ModelSkip,
    RelationEnd,
)
from elt_llm_core.errors import CollectionNotFoundError, UsageError
from elt_llm_ingest.readers.enterprise.documents import sidecars

SHEETS = {
    "metadata": {},
    "fact_sheets": {
        key: {"id": key, "type": kind, "name": name, "description": text, **more}
        for key, kind, name, text, more in (
            ("1", "DataObject", "Contracts", "All agreements.", {}),
            ("2", "DataObject", "Ground Lease", "A right.",
             {"display_name": "Contracts / Leases / Ground Lease"}),
            ("3", "DataObject", "Leases", "", {"display_name": "Contracts / Leases"}),
            ("4", "Application", "Rent/Ledger", "", {"display_name": "Rent/Ledger"}),
            ("5", "Application", "Tenants", "A person who holds a lease.", {}),
            ("6", "Interface", "", "no name", {}),
            ("7", "Interface", "...", "no letters", {}),
        )
    },
}  # fmt: skip


@pytest.fixture
def sources(context, add, make, sidecar_contents):
    """A drawing, its inventory and another inventory, each in its own collection."""
    drawn = {k: sidecar_contents[k] for k in ("model", SIDECAR_KIND)}
    for name, contents in (
        ("drawn", drawn),
        ("listed", {"inventory": sidecar_contents["inventory"]}),
        ("sheets", {"inventory": SHEETS}),
    ):
        sides = tuple(
            Sidecar(kind=kind, name="x", content=content)
            for kind, content in contents.items()
        )
        document = make("A fact sheet", name).model_copy(update={"sidecars": sides})
        add(context.store, name, document, kind="fact_sheet")
    return context


def described(catalog):
    found = [*catalog["CONTRACTS"]["entities"], *catalog["PEOPLE"]["entities"]]
    for subtype in catalog["CONTRACTS"]["subtypes"].values():
        found += subtype["entities"]
    return {e["entity_name"]: e["leanix_description"] for e in found}


def test_a_drawing_and_an_inventory_of_two_collections_are_one_model(sources, models):
    together = read_model(sources.store, ("drawn", "listed"))
    assert together == read_model(sources.store, "estate")
    assert read_model(sources.store, ("listed", "drawn", "listed")) == together
    apart = CatalogJob(collections=("handbook",), model=("drawn", "listed"))
    report = apart.build(models)(sources)
    catalog = json.loads(Path(report.files["catalog_json"]).read_text())
    assert described(catalog)["Ground Lease"] == "Right to occupy a ground."
    assert described(catalog)["Boundary Survey"] == NO_DESCRIPTION


def test_a_drawing_alone_does_not_speak_of_an_inventory(sources, models):
    apart = CatalogJob(collections=("handbook",), model="drawn").build(models)(sources)
    catalog = json.loads(Path(apart.files["catalog_json"]).read_text())
    assert set(described(catalog).values()) == {NO_INVENTORY}


def test_names_without_letters_are_no_entities_and_edges_know_their_format(
    context, add, make
):
    names = ("Crane", "...")
    elements = tuple(ModelElement(id=name, name=name) for name in names)
    crane, dots = (RelationEnd(element_id=name, name=name) for name in names)
    relations = (
        ModelRelation(id="1", source=crane, target=crane, name="lifts"),
        ModelRelation(id="2", source=crane, target=dots, name="lifts"),
    )
    content = {"entities": [{"entity_name": name} for name in names]}
    for name, kind in (("archimate", "archimate_exchange"), ("drawing", "drawio")):
        sides = (
            Sidecar(kind="model", name="x", content=content),
            typed_model(kind, elements, relations),
        )
        document = make("A model", name).model_copy(update={"sidecars": sides})
        add(context.store, name, document, kind="fact_sheet")
    model = read_model(context.store, "archimate")
    assert [entity.name for entity in model.entities] == ["Crane"]
    assert [(e.target, e.origin) for e in model.edges] == [("Crane", ARCHIMATE_ORIGIN)]
    (edge,) = read_model(context.store, "drawing").edges
    assert edge.origin == LEANIX_ORIGIN


def typed_model(format_name, elements=(), relations=()):
    model = EnterpriseModel(
        name="x",
        source_file="x",
        format=format_name,
        elements=elements,
        relations=relations,
    )
    return Sidecar(kind=SIDECAR_KIND, name="x", content=model.model_dump(mode="json"))


def test_the_documentation_of_a_drawn_element_is_its_description(
    context, add, make, models
):
    rows = [{"entity_name": "Tenant", "domain": "People"}, {"entity_name": "Lease"}]
    tables = {"metadata": {"format": "archimate_exchange"}, "entities": rows}
    elements = (
        ModelElement(
            id="1", name="Tenant", domain="People", documentation="Who\n rents land."
        ),
        ModelElement(id="2", name="Lease"),
        # Another domain, and a group: neither is the entity.
        ModelElement(id="3", name="Lease", domain="People", documentation="No."),
        ModelElement(id="4", name="Lease", role="domain", documentation="No."),
    )
    sides = (
        Sidecar(kind="model", name="x", content=tables),
        typed_model("archimate_exchange", elements),
    )
    document = make("A model", "drawn").model_copy(update={"sidecars": sides})
    add(context.store, "archimate", document, kind="fact_sheet")
    report = CatalogJob(collections=("handbook",), model="archimate")
    files = report.build(models)(context).files
    catalog = json.loads(Path(files["catalog_json"]).read_text())
    (tenant,) = catalog["PEOPLE"]["entities"]
    assert tenant["leanix_description"] == "Who rents land."
    (lease,) = catalog["UNASSIGNED"]["entities"]
    assert lease["leanix_description"] == NO_INVENTORY


def test_the_relations_of_an_inventory_are_in_the_catalogue(context, add, make, models):
    ends = RelationEnd(element_id="2", name="x"), RelationEnd(element_id="5", name="y")
    relations = (
        ModelRelation(
            id="r", source=ends[0], target=ends[1], name="has tenants", type="Tenants"
        ),
        ModelRelation(
            id="s", source=ends[0], target=RelationEnd(element_id="9", name="Lost")
        ),
    )
    sides = (
        Sidecar(kind="inventory", name="x", content=SHEETS),
        typed_model(INVENTORY_FORMAT, (), relations),
    )
    document = make("Sheets", "sheets").model_copy(update={"sidecars": sides})
    add(context.store, "listed", document, kind="fact_sheet")
    job = CatalogJob(collections=("handbook",), model="listed")
    files = job.build(models)(context).files
    table = json.loads(Path(files["relationships_json"]).read_text())
    drawn = [row for row in table if row["source"] == INVENTORY_ORIGIN]
    assert [(r["entity_a"], r["relationship_type"], r["entity_b"]) for r in drawn] == [
        ("ground lease", "has tenants", "tenants")
    ]
    catalog = json.loads(Path(files["catalog_json"]).read_text())
    (lease,) = catalog["CONTRACTS"]["subtypes"]["Leases"]["entities"]
    assert ("Tenants", "direct") in [
        (r["target_entity"], r["origin"]) for r in lease["relationships"]
    ]


def test_the_fact_sheets_of_an_inventory_are_entities():
    found = inventory_entities([SHEETS])
    assert [(e.name, e.domain, e.subtype) for e in found] == [
        ("Contracts", "CONTRACTS", ""),
        ("Ground Lease", "CONTRACTS", "Leases"),
        ("Leases", "CONTRACTS", ""),
        ("Rent/Ledger", "", ""),
        ("Tenants", "", ""),
    ]
    lease = found[1]
    assert (lease.domain_fact_sheet_id, lease.subtype_fact_sheet_id) == ("1", "3")
    assert (lease.fact_sheet_id, lease.description) == ("2", "A right.")


@pytest.mark.parametrize("job", [GlossaryJob, CatalogJob, CoverageJob])
def test_an_inventory_alone_is_a_model(job, sources, models):
    report = job(collections=("handbook",), model="sheets").build(models)(sources)
    assert report.exit_code == 0
    texts = [path for path in report.files.values() if not path.endswith(".xlsx")]
    text = "".join(Path(path).read_text() for path in texts)
    assert "Ground Lease" in text
    if job is GlossaryJob:
        rows = json.loads(Path(report.files["glossary_json"]).read_text())
        mapped = {row["term"]: row["fact_sheet_id"] for row in rows}
        assert (mapped["Ground Lease"], mapped["Tenant"]) == ("2", "5")
    if job is CatalogJob:
        catalog = json.loads(Path(report.files["catalog_json"]).read_text())
        assert catalog["CONTRACTS"]["description"] == "All agreements."
        (tenants,) = [
            e
            for e in catalog["UNASSIGNED"]["entities"]
            if e["entity_name"] == "Tenants"
        ]
        assert tenants["source"] == "BOTH"
        assert tenants["leanix_description"] == "A person who holds a lease."
    if job is CoverageJob:
        assert report.counts["strong"] >= 2


def element(key, name, kind, file="yard.drawio", **more):
    more.setdefault("location", ModelLocation(file=file))
    return ModelElement(id=key, name=name, type=kind, **more)


def add_models(context, add, make, *models):
    """Add models to the collection "yard", each as its reader stores it."""
    for model in models:
        sides = sidecars(model)
        if model.format == INVENTORY_FORMAT:
            rows = {
                e.id: {"id": e.id, "type": e.type, "name": e.name,
                       "description": e.documentation}
                for e in model.elements
            }  # fmt: skip
            content = {"metadata": {"source": model.source_file}, "fact_sheets": rows}
            sides = (Sidecar(kind="inventory", name="x", content=content), sides[1])
        document = make("A model", model.name).model_copy(update={"sidecars": sides})
        add(context.store, "yard", document, kind="fact_sheet")


def yard(name, kind, *elements, relations=()):
    return EnterpriseModel(
        name=name, source_file=name, format=kind, elements=elements, relations=relations
    )


def test_an_inventory_beside_a_drawing_describes_and_completes_it(
    context, add, make, models
):
    drawn = yard(
        "yard.drawio", "leanix_drawio",
        element("u-0", "Docks", "DataObject", fact_sheet_id="u-0", role="domain",
                domain="Docks"),
        element("u-1", "Hull", "DataObject", fact_sheet_id="u-1", domain="Docks"),
        element("u-2", "Slipway", "Application", fact_sheet_id="u-2", domain="Docks"),
    )  # fmt: skip
    listed = yard(
        "list.xlsx", INVENTORY_FORMAT,
        *(
            element(name, name, kind, "list.xlsx", fact_sheet_id=name,
                    documentation=f"{name} in words.")
            for name, kind in (
                ("Hull", "DataObject"), ("Docks", "DataObject"),
                ("Keel", "DataObject"), ("Winch", "Application"),
                ("Feed", "Interface"), ("Mail", "Interface"),
            )
        ),
        relations=(
            ModelRelation(
                id="r",
                source=RelationEnd(element_id="Hull", name="Hull"),
                target=RelationEnd(element_id="Keel", name="Keel"),
                name="has keel",
            ),
        ),
    )  # fmt: skip
    add_models(context, add, make, drawn, listed)
    model = read_model(context.store, "yard")
    assert [(e.name, e.domain, e.is_drawn, e.description) for e in model.entities] == [
        ("Keel", "", False, "Keel in words."),
        ("Winch", "", False, "Winch in words."),
        ("Hull", "DOCKS", True, "Hull in words."),
        ("Slipway", "DOCKS", True, ""),
    ]
    assert model.descriptions["u-0"] == "Docks in words."
    (edge,) = model.edges
    assert (edge.source_place.fact_sheet_id, edge.target) == ("u-1", "Keel")
    job = CatalogJob(collections=("handbook",), model="yard")
    report = job.build(models)(context)
    (left_out,) = [d.detail for d in report.degradations if "left out" in d.detail]
    assert left_out == (
        "2 fact sheets of the type Interface in list.xlsx are left out: no drawing has "
        "an element of this type"
    )
    catalog = json.loads(Path(report.files["catalog_json"]).read_text())
    keel = catalog["UNASSIGNED"]["entities"][0]
    assert keel["mapping_rationale"].endswith("; listed in list.xlsx, not drawn")


def test_a_relation_to_what_only_a_drawing_has_is_in_the_catalogue(context, add, make):
    def named(key, source, target):
        ends = [
            RelationEnd(element_id=name if name == "Winch" else "", name=name)
            for name in (source, target)
        ]
        flow = ModelRelation(id=key, source=ends[0], target=ends[1], type="Flow")
        return ModelSkip(
            kind="relation",
            id=key,
            name=key,
            reason="none",
            relation=flow,
            target_type="application",
        )

    drawn = yard(
        "yard.drawio",
        "leanix_drawio",
        element("d-1", "Slipway", "Application", domain="Docks"),
    )
    listed = yard(
        "list.xlsx",
        INVENTORY_FORMAT,
        element("Winch", "Winch", "Application", "list.xlsx", fact_sheet_id="Winch"),
    ).model_copy(
        update={
            "skips": (
                named("r", "Winch", "Slipway"),
                named("s", "slipway", "Winch"),
                named("t", "Winch", "Crane"),
            )
        }
    )
    add_models(context, add, make, drawn, listed)
    edges = read_model(context.store, "yard").edges
    assert [(e.source, e.kind, e.target, e.origin) for e in edges] == [
        ("Slipway", "Flow", "Winch", INVENTORY_ORIGIN),
        ("Winch", "Flow", "Slipway", INVENTORY_ORIGIN),
    ]
    assert edges[1].target_place.domain == "DOCKS"


def test_an_interface_that_is_no_entity_relates_the_applications(context, add, make):
    def flow(key, source, target, kind="Flow"):
        ends = [RelationEnd(element_id=name, name=name) for name in (source, target)]
        return ModelRelation(
            id=key,
            source=ends[0],
            target=ends[1],
            type=kind,
            location=ModelLocation(file="list.xlsx"),
        )

    sheets = {
        "Winch": "Application",
        "Crane": "Application",
        "Hull": "DataObject",
        "Winch to Crane": "Interface",
        "Bilge": "ITComponent",
    }
    drawn = yard(
        "yard.drawio",
        "leanix_drawio",
        *(
            element(name, name, sheets[name], fact_sheet_id=name, domain="Docks")
            for name in ("Winch", "Crane", "Hull")
        ),
    )
    listed = yard(
        "list.xlsx",
        INVENTORY_FORMAT,
        *(
            element(name, name, kind, "list.xlsx", fact_sheet_id=name)
            for name, kind in sheets.items()
        ),
        relations=(
            flow("in", "Winch", "Winch to Crane"),
            flow("out", "Winch to Crane", "Crane"),
            flow("data", "Winch to Crane", "Hull", "Data Object"),
            # No interface: nothing flows through it from one to the other.
            flow("b", "Crane", "Bilge"),
            flow("c", "Bilge", "Winch"),
        ),
    )
    add_models(context, add, make, drawn, listed)
    edges = read_model(context.store, "yard").edges
    assert [(e.source, e.kind, e.target, e.origin) for e in edges] == [
        ("Winch", "Flow", "Crane", INVENTORY_ORIGIN)
    ]


def test_spellings_of_a_subtype_are_one(context, add, make, models):
    drawn = yard(
        "yard.drawio", "leanix_drawio",
        element("1", "Hull", "DataObject", domain="Docks", subtype="Dry docks"),
    )  # fmt: skip
    other = yard(
        "quay.drawio", "leanix_drawio",
        element("2", "Keel", "DataObject", "quay.drawio", domain="Docks",
                subtype="DRY DOCKS"),
        element("3", "Mole", "DataObject", "quay.drawio", domain="Quays",
                subtype="DRY DOCKS"),
        relations=(
            ModelRelation(id="r", source=RelationEnd(element_id="2", name="Keel"),
                          target=RelationEnd(element_id="3", name="Mole")),
        ),
    )  # fmt: skip
    add_models(context, add, make, drawn, other)
    job = CatalogJob(collections=("handbook",), model="yard")
    files = job.build(models)(context).files
    catalog = json.loads(Path(files["catalog_json"]).read_text())
    (spelling,) = catalog["DOCKS"]["subtypes"]
    assert spelling.casefold() == "dry docks"
    assert list(catalog["QUAYS"]["subtypes"]) == ["DRY DOCKS"]
    entities = catalog["DOCKS"]["subtypes"][spelling]["entities"]
    related = {e["entity_name"]: len(e["relationships"]) for e in entities}
    assert related == {"Hull": 0, "Keel": 1}


def test_a_row_is_left_out_with_a_drawing_if_id_and_name_agree(context, add, make):
    skips = [
        ModelSkip(kind="element", id=key, name=name, reason="it is a label")
        for key, name in (("7", "Legend"), ("u-8", "Moorings"))
    ]
    hull = element("u-1", "Hull", "DataObject", fact_sheet_id="u-1", domain="Docks")
    drawn = yard("yard.drawio", "leanix_drawio", hull)
    rows = [
        element(key, name, "DataObject", "list.xlsx", fact_sheet_id=key)
        for key, name in (("7", "Keel"), ("u-8", "moorings"))
    ]
    listed = yard("list.xlsx", INVENTORY_FORMAT, *rows)
    add_models(
        context, add, make, drawn.model_copy(update={"skips": tuple(skips)}), listed
    )
    model = read_model(context.store, "yard")
    assert [(e.name, e.is_drawn) for e in model.entities] == [
        ("Keel", False),
        ("Hull", True),
    ]
    (left_out,) = model.left_out
    assert left_out == (
        "1 fact sheet of the type DataObject in list.xlsx is left out: a drawing "
        "has the shape, but not as an entity"
    )


def test_one_thing_in_two_files_is_one_entity_and_another_type_is_not(
    context, add, make
):
    drawn = yard(
        "yard.drawio", "leanix_drawio",
        element("u-1", "Hull", "DataObject", fact_sheet_id="u-1", domain="Docks"),
        element("u-2", "Survey", "DataObject", fact_sheet_id="u-2", domain="Docks"),
    )  # fmt: skip
    hull = RelationEnd(element_id="a-1", name="Hull", domain="Business")
    exchange = yard(
        "yard.xml", "archimate_exchange",
        element("a-1", "Hull", "BusinessObject", "yard.xml", domain="Business",
                documentation="The body of a ship."),
        element("a-2", "Survey", "ApplicationComponent", "yard.xml"),
        relations=(
            ModelRelation(
                id="r", source=hull, type="Access",
                target=RelationEnd(element_id="a-2", name="Survey"),
            ),
        ),
    )  # fmt: skip
    add_models(context, add, make, drawn, exchange)
    model = read_model(context.store, "yard")
    survey, hull_entity, drawn_survey = model.entities
    assert (hull_entity.domain, hull_entity.fact_sheet_id) == ("DOCKS", "u-1")
    assert hull_entity.description == "The body of a ship."
    assert hull_entity.files == ("yard.drawio", "yard.xml")
    assert model.edges[0].source_place.fact_sheet_id == "u-1"
    assert (survey.name, drawn_survey.name) == ("Survey", "Survey")
    match = TermMapper(model.entities).map_term(MappedTerm("survey"))
    assert match.entity == drawn_survey
    untyped = [e.model_copy(update={"type": ""}) for e in model.entities]
    assert TermMapper(untyped).map_term(MappedTerm("survey")).entity is None


def test_a_group_that_has_its_members_as_parts_relates_nothing(context, add, make):
    def part(key, kind, target):
        ends = [RelationEnd(element_id=i, name=i) for i in ("Docks", target)]
        return ModelRelation(id=key, source=ends[0], target=ends[1], type=kind)

    filed = yard(
        "yard.xml",
        "archimate_exchange",
        element(
            "Docks", "Docks", "Grouping", "yard.xml", role="domain", domain="Docks"
        ),
        element("Slipway", "Slipway", "Facility", "yard.xml", domain="Docks"),
        element("Clerk", "Clerk", "BusinessRole", "yard.xml", domain="Business"),
        relations=(
            part("1", "Composition", "Slipway"),
            part("2", "Association", "Slipway"),
            part("3", "Composition", "Clerk"),
        ),
    )
    add_models(context, add, make, filed)
    model = read_model(context.store, "yard")
    assert [e.name for e in model.entities] == ["Clerk", "Slipway"]
    assert [(e.kind, e.target) for e in model.edges] == [
        ("Composition", "Clerk"),
        ("Association", "Slipway"),
    ]


@pytest.mark.parametrize("first", [0, 1])
def test_the_domain_of_a_drawing_precedes_the_layer_of_an_exchange_file(
    context, add, make, first
):
    drawn = yard(
        "yard.drawio", "drawio", element("1", "Slipway", "Shape", domain="Docks")
    )
    filed = yard(
        "yard.xml",
        "archimate_exchange",
        element(
            "2", "Slipway", "ApplicationComponent", "yard.xml", domain="Application"
        ),
    )
    sources = [drawn, filed]
    add_models(context, add, make, sources[first], sources[1 - first])
    (slipway,) = read_model(context.store, "yard").entities
    assert (slipway.domain, slipway.type) == ("DOCKS", "ApplicationComponent")


def test_a_collection_without_a_model_is_told(sources):
    with pytest.raises(UsageError, match="the collection 'handbook' holds no"):
        read_model(sources.store, "handbook")
    with pytest.raises(CollectionNotFoundError):
        read_model(sources.store, ("drawn", "nothing"))
    assert read_model(sources.store, "") == read_model(sources.store, ())

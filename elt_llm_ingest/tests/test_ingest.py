"""The job: every outcome counted, nothing done twice, one bad file stops nothing."""

from pathlib import Path

import pytest

from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import (
    CollectionMismatchError,
    ConfigError,
    GenerationError,
    IngestError,
    InvalidNameError,
    LoadError,
    UsageError,
)
from elt_llm_core.graph.diagram import draw_diagram
from elt_llm_core.graph.model_graph import open_graph
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import Store, editing
from elt_llm_core.store.maintenance.backup import backup_files
from elt_llm_core.store.writer import Writer
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest.discovery import InputFile, make_plan
from elt_llm_ingest.ingest import IngestJob
from ingest_models import ROWS, SHAPES, drawing, edge, inventory, page

GUIDE = "# Guide\n\nA fee is due in June.\n\n## Fines\n\nA fine is due in July.\n"


class Place:
    """A data root, a folder of files and the models."""

    def __init__(self, root: Path, models: Models) -> None:
        self.files = root / "files"
        self.files.mkdir()
        self.store = Store(root / "data")
        self.models = models
        self.config = RagConfig()
        self.heard: list[tuple] = []

    def write(self, name: str, data: str | bytes) -> Path:
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def run(self, *paths: Path, **options):
        options.setdefault("collection", "harbour")
        job = IngestJob(paths=[str(p) for p in paths or [self.files]], **options)
        context = JobContext(self.config, self.store, self._hear)
        return job.build(self.models)(context)

    def _hear(self, stage, done, total=None, detail=""):
        self.heard.append((stage, done, total, detail))

    def texts(self, collection="harbour") -> list[str]:
        return [node.text for node in self.store.nodes(collection)]


@pytest.fixture
def indexed_place(tmp_path, models):
    made = Place(tmp_path, models)
    yield made
    made.store.close()


@pytest.fixture
def place(indexed_place, without_index):
    return indexed_place


def details(report, kind) -> list[str]:
    return [d.detail for d in report.degradations if d.kind is kind]


def test_added_unchanged_updated(place):
    guide = place.write("guide.md", GUIDE)
    place.write("notes.txt", "A note.")
    assert place.run().counts == {
        "added": 2, "updated": 0, "unchanged": 0, "failed": 0, "chunks": 3,
        "embedded": 3,
    }  # fmt: skip
    assert place.run().counts["unchanged"] == 2
    guide.write_text(GUIDE.replace("July", "August"))
    again = place.run().counts
    assert (again["updated"], again["unchanged"], again["embedded"]) == (1, 1, 1)
    assert "A fine is due in August." in place.texts()[1]
    assert len(place.texts()) == 3
    assert place.run(rebuild=True).counts["updated"] == 2


def test_other_keyword_options_rebuild_the_index_once_and_say_so(indexed_place):
    place = indexed_place
    place.write("guide.md", GUIDE)
    assert "reindexed" not in place.run().counts
    place.store = Store(place.store.data_dir, Recipe(k1=2, stems="none"))
    told = [place.run().counts for _ in range(2)]
    assert [one.get("reindexed") for one in told] == [1, None]
    assert [one["embedded"] for one in told] == [0, 0]
    assert place.store.open("harbour").recipe == place.store.keywords


def test_stages_are_told_and_an_index_is_published(indexed_place):
    place = indexed_place
    place.write("guide.md", GUIDE)
    place.run()
    stages = list(dict.fromkeys(stage for stage, *_ in place.heard))
    assert stages == ["read", "embed", "store", "index"]
    opened = place.store.open("harbour")
    assert opened.generation == 1
    ((first, _), *_) = opened.search_keyword("fine July", 2)
    assert "A fine is due" in opened.nodes([first])[first].text


def test_embedding_is_told_as_a_number_of_a_total_from_its_start(indexed_place):
    place = indexed_place
    place.write("guide.md", GUIDE)
    made = place.run().counts["embedded"]
    told = [(done, total) for stage, done, total, *_ in place.heard if stage == "embed"]
    assert told[0] == (0, told[0][1])
    assert told[-1] == (made, made)
    assert all(0 <= done <= total for done, total in told)


def test_an_index_that_cannot_be_built_is_told(place, monkeypatch):
    def refuse(*_, **__):
        raise GenerationError("harbour", "the disk is odd")

    monkeypatch.setattr(Writer, "publish", refuse)
    place.write("guide.md", GUIDE)
    report = place.run()
    assert report.counts["added"] == 1
    (told,) = details(report, DegradationKind.EXACT_ENGINE)
    assert "the disk is odd" in told


def test_what_is_stored_can_be_read_back(place, handbook):
    place.run(handbook)
    (row,) = place.store.documents("harbour")
    text = place.store.document_text(row.document_id)
    assert row.name == "handbook.pdf"
    assert row.mime == "application/pdf"
    assert place.store.original(row.document_id) == handbook.read_bytes()
    for node in place.store.nodes("harbour"):
        assert (
            text[node.metadata["span_start"] : node.metadata["span_end"]] == node.text
        )
        assert node.metadata["page"] >= 1


def test_files_are_kept_unless_told(place):
    place.write("guide.md", GUIDE)
    place.config = RagConfig.model_validate({"ingest": {"keep_originals": False}})
    place.run()
    (row,) = place.store.documents("harbour")
    assert place.store.original(row.document_id) is None


def test_one_bad_file_is_reported_and_the_others_go_on(place):
    place.write("a.pdf", b"%PDF-1.4 broken")
    place.write("guide.md", GUIDE)
    report = place.run()
    assert (report.counts["added"], report.counts["failed"]) == (1, 1)
    assert report.exit_code == 2
    (reason,) = details(report, DegradationKind.DOCUMENT_FAILED)
    assert "a.pdf: the PDF is damaged" in reason


def test_one_bad_file_alone_is_an_error_with_its_reason(place):
    place.write("a.pdf", b"%PDF-1.4 broken")
    with pytest.raises(LoadError, match=r"a\.pdf: the PDF is damaged") as caught:
        place.run()
    assert (caught.value.exit_code, caught.value.details) == (65, ())


def test_all_bad_is_an_error_with_every_reason(place):
    place.write("a.pdf", b"%PDF-1.4 broken")
    place.write("b.pdf", b"")
    with pytest.raises(
        IngestError, match="no file could be ingested; 2 failed"
    ) as caught:
        place.run()
    assert (caught.value.code, caught.value.exit_code) == ("ING004", 65)
    damaged, empty = caught.value.details
    assert "a.pdf: the PDF is damaged" in damaged
    assert "b.pdf: " in empty
    assert empty in str(caught.value)


def test_a_missing_path_and_an_empty_folder(place):
    with pytest.raises(IngestError, match="no such file or folder"):
        place.run(place.files / "nothing.pdf")
    with pytest.raises(IngestError, match="it contains no readable file"):
        place.run()


def test_a_folder_is_walked_in_order_and_inside_only(place, tmp_path):
    place.write("b/two.txt", "Two.")
    place.write("a/one.txt", "One.")
    place.write("c.bin", "{}")
    place.write(".hidden.txt", "No.")
    (tmp_path / "secret.txt").write_text("Secret.")
    (place.files / "link.txt").symlink_to(tmp_path / "secret.txt")
    plan = make_plan([str(place.files)])
    assert [item.name for item in plan.items] == ["one.txt", "two.txt"]
    assert "is a link to a place outside" in plan.notes[0]
    assert plan.notes[1] == "1 files of other formats were skipped: c.bin"


def test_the_same_file_twice(place):
    place.write("a.md", GUIDE)
    place.write("b.md", GUIDE)
    report = place.run()
    assert (report.counts["added"], report.counts["unchanged"]) == (1, 1)
    assert details(report, DegradationKind.DOCUMENT_WARNING) == [
        "b.md: the same file as a.md, which was ingested"
    ]


def test_given_addresses_and_titles(place):
    path = place.write("upload-7", GUIDE)
    place.run(path, uris=["upload:guide.md"], titles=["Harbour guide"])
    (row,) = place.store.documents("harbour")
    assert (row.uri, row.name, row.title) == (
        "upload:guide.md", "guide.md", "Harbour guide",
    )  # fmt: skip
    with pytest.raises(UsageError, match="2 uris"):
        place.run(path, uris=["a", "b"])


def test_a_dry_run_stores_nothing(place):
    place.write("guide.md", GUIDE)
    report = place.run(dry_run=True)
    assert (report.counts["added"], report.counts["chunks"]) == (1, 2)
    assert not place.store.data_dir.exists()


def test_other_chunks_are_made_when_the_settings_change(place):
    place.write("guide.txt", "One two three four five six seven eight nine. " * 20)
    before = place.run().counts["chunks"]
    chunking = place.config.chunking.model_copy(update={"chunk_size": 32})
    place.config = place.config.model_copy(update={"chunking": chunking})
    after = place.run()
    assert after.counts["updated"] == 1
    assert after.counts["chunks"] > before


@pytest.mark.parametrize(
    ("base", "changed"),
    [
        ({"chunk_size": 32}, {"chunk_overlap": 12}),
        ({"chunk_size": 32}, {"strategy": "sentence_window"}),
        (
            {"chunk_size": 32, "strategy": "hierarchical"},
            {"options": {"parent_sizes": [48]}},
        ),
    ],
    ids=["chunk_overlap", "strategy", "options"],
)
def test_every_setting_of_chunking_changes_the_chunks(place, base, changed):
    place.write("guide.txt", "One two three four five six seven eight nine. " * 20)

    def chunks(**chunking) -> list[tuple]:
        place.config = RagConfig.model_validate({"chunking": chunking})
        place.run()
        nodes = place.store.nodes("harbour")
        return sorted((n.text, sorted(n.metadata.items(), key=str)) for n in nodes)

    assert chunks(**base) != chunks(**base, **changed)


def test_an_option_of_an_enricher_changes_what_is_indexed(place):
    place.write("guide.md", GUIDE)

    def counts(count: int) -> list[int]:
        enrichment = {
            "strategy": ["keywords"],
            "options": {"keywords": {"count": count}},
        }
        place.config = RagConfig.model_validate({"enrichment": enrichment})
        place.run()
        return [
            len(n.metadata["keywords"].split(", "))
            for n in place.store.nodes("harbour")
        ]

    assert set(counts(1)) == {1}
    assert set(counts(2)) == {2}


def test_the_memory_of_the_reading_process_is_a_setting(place):
    place.config = RagConfig.model_validate({"ingest": {"parse_memory_mb": 256}})
    place.write("blanks.txt", b" " * 120_000_000)
    with pytest.raises(LoadError, match="needs more than 256 MB") as caught:
        place.run()
    assert "ingest.parse_memory_mb" in caught.value.hint


@pytest.mark.parametrize(("backup_hours", "made"), [(0, 0), (24, 1)])
def test_a_backup_after_an_ingest_is_a_setting(place, backup_hours, made):
    stores = {"backup_hours": backup_hours}
    place.config = RagConfig.model_validate({"stores": stores})
    place.write("guide.md", GUIDE)
    place.run()
    assert len(backup_files(place.store.data_dir)) == made


def test_another_embedder_is_refused_unless_told(place):
    place.write("guide.md", GUIDE)
    place.run()
    place.models = Models(embedder=HashEmbedding(dimension=64))
    place.write("more.md", "# More\n\nText.\n")
    with pytest.raises(CollectionMismatchError, match="rebuild"):
        place.run()
    assert place.run(rebuild=True).counts["failed"] == 0
    assert place.store.card("harbour").dimension == 64


def test_whose_an_inventory_is_can_be_said(place):
    place.write("list.csv", "id,type,name\n1,Application,Ledger\n2,Application,Rent\n")

    def organisation() -> tuple[str, str]:
        (inventory,) = place.store.sidecars("harbour", "inventory")
        (model,) = place.store.sidecars("harbour", "enterprise_model")
        properties = model.content.get("properties", {})
        name = inventory.content["metadata"]["org_name"]
        return name, properties.get("organisation", "")

    place.run()
    assert organisation() == ("", "")
    assert place.run(organisation="Harbour Trust").counts["updated"] == 1
    assert organisation() == ("Harbour Trust", "Harbour Trust")
    graph = open_graph(place.store, ["harbour"])
    assert graph.summary().organisation == "Harbour Trust"
    assert draw_diagram(graph).organisation == "Harbour Trust"
    assert place.run(organisation="Harbour Trust").counts["updated"] == 0


def test_a_document_of_crumbs_is_told_and_a_sound_one_is_not(place):
    crumbs = "\n\n".join(f"# Line {n}\n\nand a few words" for n in range(30))
    sound = "\n\n".join(
        f"# Rule {n}\n\n" + "A fee is due in June of each year. " * 5 for n in range(30)
    )
    few = "\n\n".join(f"# Line {n}\n\nand a few words" for n in range(5))
    for name, text in (("crumbs", crumbs), ("sound", sound), ("few", few)):
        place.write(f"{name}.md", text)
    report = place.run()
    told = [d.detail for d in report.degradations if "of the text lies in" in d.detail]
    assert len(told) == 1
    assert told[0].startswith("crumbs.md")
    assert "100% of the text lies in 30 chunks of under 50 characters" in told[0]


def test_metadata_is_on_every_chunk(place):
    place.write("guide.md", GUIDE)
    place.run(metadata={"domain": "harbour"})
    assert {n.metadata["domain"] for n in place.store.nodes("harbour")} == {"harbour"}


def test_a_model_leaves_a_sidecar_and_its_part_goes_with_its_edges(place):
    shapes = SHAPES + edge("90", "21", "11", "ERone", "ERmany")
    place.write("m.drawio", drawing(page(shapes)))
    place.run()
    assert [r.part for r in place.store.documents("harbour")] == ["", "relationships"]
    assert place.store.sidecars("harbour", "model")[0].content["relationships"]
    place.write("m.drawio", drawing(page(SHAPES)))
    assert place.run().counts["updated"] == 1
    assert [r.part for r in place.store.documents("harbour")] == [""]


def test_a_prefix_spreads_models_and_inventories(place):
    shapes = SHAPES + edge("90", "21", "11", "ERone", "ERmany")
    place.write("m.drawio", drawing(page(shapes)))
    place.write("i.xlsx", inventory(ROWS))
    place.run(collection="", collection_prefix="estate")
    assert [c.name for c in place.store.collections()] == [
        "estate_dataobject", "estate_entities", "estate_interface",
        "estate_relationships",
    ]  # fmt: skip
    (sidecar,) = place.store.sidecars("estate_interface", "inventory")
    assert list(sidecar.content["fact_sheets"]) == ["e-1"]
    again = place.run(collection="", collection_prefix="estate")
    assert again.counts["unchanged"] == 2


def test_removing(place):
    place.write("guide.md", GUIDE)
    place.write("notes.txt", "A note.")
    place.run()
    with pytest.raises(UsageError, match=r"did you mean 'guide\.md'"):
        editing.select_documents(place.store, "harbour", ["guide.mx"])
    rows = editing.select_documents(place.store, "harbour", ["guide.md"])
    editing.remove_documents(place.store, "harbour", rows)
    assert place.texts() == ["A note."]


def test_bad_options_are_told():
    with pytest.raises(ConfigError, match="either collection or"):
        JOBS.load(
            "ingest", {"paths": ["x"], "collection": "hr", "collection_prefix": "it"}
        )
    with pytest.raises(ConfigError, match="paths"):
        JOBS.load("ingest", {"collection": "abc"})


def test_a_bad_collection_name_is_refused_before_reading(place):
    place.write("guide.md", GUIDE)
    with pytest.raises(InvalidNameError):
        place.run(collection="../x")
    assert not place.store.data_dir.exists()


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:///a/Staff%20hand%C2%A7book.pdf", "Staff hand\u00a7book.pdf"),
        ("sample:handbook.pdf", "handbook.pdf"),
        ("upload:///100% proof.pdf", "100% proof.pdf"),
        ("upload:///", "here.pdf"),
    ],
)
def test_a_document_is_called_as_its_address_ends(uri: str, name: str) -> None:
    assert InputFile(Path("/x/here.pdf"), uri).name == name

"""Protected PDFs: opened with a password that leaves no trace."""

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import SecretStr
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.config.sections import IngestSection
from elt_llm_core.errors import ConfigError, LoadError
from elt_llm_core.jobs import JobContext
from elt_llm_core.strategy import Models
from elt_llm_ingest.cli import inspect
from elt_llm_ingest.ingest import IngestJob
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.sandbox.passwords import Passwords, load_passwords
from elt_llm_ingest.sandbox.worker import parse
from ingest_world import World

pytestmark = pytest.mark.usefixtures("cold_children")

SECRET = "naïve sesame 7"  # noqa: S105


def protected(path: Path, password: str = SECRET, strength: int = 128) -> Path:
    buffer = io.BytesIO()
    rules = StandardEncryption(password, ownerPassword="owner", strength=strength)
    page = Canvas(buffer, encrypt=rules)
    page.drawString(72, 700, "The tide gate opens at seven.")
    page.save()
    path.write_bytes(buffer.getvalue())
    return path


@pytest.fixture
def locked(tmp_path) -> Path:
    return protected(tmp_path / "minutes.pdf")


def read(path: Path, *passwords: str) -> str:
    _, (document,) = parse(path, path.read_bytes(), Limits(), passwords=passwords)
    return document.text


def test_the_reading_process_hears_it_through_its_pipe_only(locked):
    with ReadingProcess(passwords=Passwords((SECRET,))) as reading:
        (document,) = reading.parse(locked, locked.read_bytes())
        assert "tide gate" in document.text
        child = Path(f"/proc/{reading._child.pid}")
        for told in ("cmdline", "environ"):
            assert SECRET.encode() not in (child / told).read_bytes()


@pytest.mark.parametrize("strength", [40, 128])
def test_the_right_password_of_several_opens_it(tmp_path, strength):
    path = protected(tmp_path / "a.pdf", strength=strength)
    assert "tide gate" in read(path, "wrong", SECRET)


@pytest.mark.parametrize(
    ("passwords", "said"),
    [
        ((), "cannot read .*: it is protected by a password;"),
        (("wrong",), "password, and the password given does not open it;"),
        (("wrong", "bad"), "password, and the 2 given do not open it;"),
    ],
)
def test_what_does_not_open_it_is_told_with_the_cure(locked, passwords, said):
    with pytest.raises(LoadError, match=said) as caught:
        read(locked, *passwords)
    assert "--password -" in caught.value.hint
    assert "wrong" not in str(caught.value)


def test_a_file_with_an_empty_password_just_opens(tmp_path):
    path = protected(tmp_path / "free.pdf", "")
    assert "tide gate" in read(path)
    assert "tide gate" in read(path, "of no use")


def test_an_ingest_leaves_no_trace_of_the_password(tmp_path, locked, without_index):
    world = World(tmp_path)
    job = IngestJob(paths=(str(locked),), collection="harbour")
    context = JobContext(world.config, world.store)
    models = Models(embedder=world.embedder)
    report = job.model_copy(update={"passwords": (SecretStr(SECRET),)}).build(models)(
        context
    )
    assert report.counts["added"] == 1
    again = job.build(models)(context)
    assert again.counts["unchanged"] == 1  # what is stored needs no password
    told = report.model_dump_json() + repr(Passwords((SECRET,), (("*", SECRET),)))
    assert SECRET not in told
    for file in (tmp_path / "data").rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()


def listing(path: Path, text: str) -> RagConfig:
    path.write_text(text, encoding="utf-8")
    return RagConfig(ingest=IngestSection(password_file=path))


def test_passwords_come_by_pattern_then_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ELT_LLM_PASSWORD", "of all")
    lines = f"# mine\n\nmin*.pdf: {SECRET}\n*/old/*: a: b \n"
    found = load_passwords(listing(tmp_path / "list", lines), ["given"])
    assert found.of(Path("x/minutes.pdf")) == [SECRET, "given", "of all"]
    assert found.of(Path("/x/old/a.pdf")) == ["a: b ", "given", "of all"]


@pytest.mark.parametrize("line", ["sesame", ": sesame", "a.pdf: "])
def test_a_line_that_is_none_is_told_without_its_text(tmp_path, line):
    with pytest.raises(ConfigError, match="line 2 of") as caught:
        load_passwords(listing(tmp_path / "list", f"#\n{line}\n"))
    assert "sesame" not in caught.value.message


def test_a_list_that_is_not_there_or_in_the_data_root_is_refused(tmp_path):
    lost = IngestSection(password_file=tmp_path / "none")
    with pytest.raises(ConfigError, match=r"cannot read ingest\.password_file"):
        load_passwords(RagConfig(ingest=lost))
    config = listing(tmp_path / "list", "a: b")
    stores = config.stores.model_copy(update={"data_dir": tmp_path})
    with pytest.raises(ConfigError, match="lies in the data root"):
        load_passwords(config.model_copy(update={"stores": stores}))


def test_inspect_asks_and_draws(tmp_path, locked):
    png = tmp_path / "page.png"
    done = CliRunner().invoke(
        inspect,
        [str(locked), "--password", "-", "--page", "1", "--png", str(png), "--json"],
        input=f"{SECRET}\n",
        catch_exceptions=False,
    )
    assert done.exit_code == 0
    assert SECRET not in done.output
    told = json.loads(done.stdout)
    assert "tide gate" in told["documents"][0]["blocks"][0]["text"]
    assert png.read_bytes().startswith(b"\x89PNG")

"""Domain packs: closed, typed, and inside their folder."""

import shutil

import pytest
import yaml

from elt_llm_core.config.domain_packs import DEFAULT, find_pack, known_packs, read_pack
from elt_llm_core.errors import ConfigError, EltLlmError, UsageError

GOOD = {
    "name": "estate",
    "title": "An estate",
    "documents": [{"path": "book.md", "collection": "handbook"}],
}


def written(folder, content):
    (folder / "book.md").write_text("# A book")
    (folder / "pack.yaml").write_text(yaml.safe_dump(content))
    return folder


def test_shipped_packs_are_good():
    assert DEFAULT in known_packs()
    for name in known_packs():
        pack = find_pack(name)
        assert pack.name == name
        assert pack.questions
        assert pack.aliases_file is None or pack.aliases_file.is_file()


def test_a_folder_is_a_pack(tmp_path):
    pack = find_pack(str(written(tmp_path, GOOD)))
    assert pack.collections == ("handbook",)
    assert pack.files("handbook")[0].path == "book.md"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"qestions": []}, "did you mean 'questions'"),
        ({"folder": "/"}, "must contain the keys"),
        ({"documents": []}, "documents"),
        ({"documents": [{"path": "/etc/passwd", "collection": "abc"}]}, "own folder"),
        ({"documents": [{"path": "../x", "collection": "abc"}]}, "own folder"),
        (
            {"documents": [{"path": "gone.md", "collection": "abc"}]},
            "not in the folder",
        ),
        ({"documents": [{"path": "book.md", "collection": "abc", "x": 1}]}, "known"),
        ({"documents": [{"path": "book.md", "collection": "A B"}]}, "collection name"),
        ({"aliases": "../aliases.yaml"}, "own folder"),
    ],
)
def test_refusals(tmp_path, change, said):
    with pytest.raises(EltLlmError, match=said):
        read_pack(written(tmp_path, {**GOOD, **change}))


@pytest.mark.parametrize("text", ["[]", ": : :", "- a"])
def test_no_pack(tmp_path, text):
    (tmp_path / "pack.yaml").write_text(text)
    with pytest.raises(ConfigError):
        read_pack(tmp_path)


def test_unknown_pack():
    with pytest.raises(UsageError, match=DEFAULT):
        find_pack("kite-regata")


def test_missing_file(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        read_pack(tmp_path)


def test_packs_hold_no_code(tmp_path):
    for folder in known_packs().values():
        shutil.copytree(folder, tmp_path / folder.name)
        assert not list((tmp_path / folder.name).rglob("*.py"))

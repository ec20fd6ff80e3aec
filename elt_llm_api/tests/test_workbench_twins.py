"""Which rows of a glossary the workbench shows as defined more than once."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import elt_llm_api

SCRIPTS = Path(elt_llm_api.__file__).parent / "page" / "static" / "workspace"
SHOW = """
import { findTwins } from %s;
const rows = JSON.parse(process.argv[1]);
findTwins(rows);
const ids = (twins) => twins && twins.map((one) => one.id);
console.log(JSON.stringify(rows.map((row) => ids(row.twins))));
"""
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="runs the script in Node.js")


def twins_of(*definitions: str, labels: tuple[str, ...] = ()) -> list:
    names = labels or ("Berth",) * len(definitions)
    rows = [
        {"id": number, "label": label, "fields": {"definition": text}}
        for number, (label, text) in enumerate(zip(names, definitions, strict=True))
    ]
    script = SHOW % json.dumps((SCRIPTS / "twins.js").as_uri())
    command = [NODE, "--input-type=module", "-e", script, json.dumps(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_same_definition_in_two_documents_is_no_conflict():
    assert twins_of("A place at a pier.", "a place  at a pier") == [None, None]


def test_different_definitions_are_shown_beside_each_other():
    assert twins_of("A place at a pier.", "A bed on a ship.", "A place at a pier") == [
        [0, 1],
        [1, 0],
        [2, 1],
    ]


def test_different_terms_are_no_twins():
    assert twins_of("A place.", "A bed.", labels=("Berth", "Cabin")) == [None, None]

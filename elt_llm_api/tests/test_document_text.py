"""Parts of a document's text: cut at blocks, joined without a gap."""

import pytest

from elt_llm_api import document_text
from elt_llm_api.document_text import read_part, select_document
from elt_llm_core.errors import NothingThereError
from elt_llm_core.store import Store


@pytest.fixture
def store(filled_root):
    opened = Store(filled_root)
    yield opened
    opened.close()


@pytest.mark.parametrize("most", [7, 60, 200, 20_000])
@pytest.mark.parametrize("where", [{}, {"page": 2}, {"section": "2 Registration"}])
def test_what_is_cut_is_read_on_without_a_gap(store, monkeypatch, most, where):
    whole = read_part(
        store, select_document(store, "handbook.pdf", ["handbook"]), **where
    )
    monkeypatch.setattr(document_text, "MOST_CHARACTERS", most)
    row = select_document(store, whole.document_id, ["handbook"])
    parts = [read_part(store, row, **where)]
    while parts[-1].next_start is not None:
        parts.append(read_part(store, row, **where, start=parts[-1].next_start))
    text = store.document_text(row.document_id)
    assert all(part.text == text[part.start : part.end] for part in parts)
    assert all(0 < len(part.text) <= most for part in parts)
    # Between two blocks stands white space only, which belongs to neither.
    assert "".join("".join(p.text.split()) for p in parts) == "".join(
        whole.text.split()
    )
    assert (parts[0].start, parts[-1].end) == (whole.start, whole.end)


def test_a_level_of_a_path_is_preferred_to_a_part_of_its_name(store):
    row = select_document(store, "handbook.pdf", ["handbook"])
    exact = read_part(store, row, section="3  DISCIPLINE")
    partly = read_part(store, row, section="discipl")
    assert exact.text == partly.text
    assert exact.text.startswith("3 Discipline")
    with pytest.raises(NothingThereError, match="no section"):
        read_part(store, row, section="> >")

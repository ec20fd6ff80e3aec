"""The list of a collection's documents tells the parts of one file apart."""

from elt_llm_core.cli.collections import _name_of
from elt_llm_core.store import DocumentRow


def test_a_part_of_a_file_is_named_behind_it():
    whole = DocumentRow.model_construct(name="model.xml", part="")
    part = DocumentRow.model_construct(name="model.xml", part="relationships")
    assert _name_of(whole) == "model.xml"
    assert _name_of(part) == "model.xml (relationships)"

"""One plain file name, or nothing."""

import pytest

from elt_llm_api.uploads import check_upload_name
from elt_llm_core.errors import UsageError


@pytest.mark.parametrize(
    "name", ["handbook.pdf", "Rules 2025-26 (final).docx", "Übersicht.xlsx", "規則.pdf"]
)
def test_plain_names_are_kept(name):
    assert check_upload_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x.pdf",
        "..%2fx.pdf",
        "a/b.pdf",
        "a\\b.pdf",
        "C:\\x.pdf",
        "a\0b.pdf",
        "a\nb.pdf",
        "x" * 300 + ".pdf",
        "CON",
        "nul.txt",
        "\uff0fetc\uff0fpasswd",
        "a\u202efdp.exe",
        ".hidden",
        "<img src=x>.pdf",
    ],
)
def test_anything_else_is_refused(name):
    with pytest.raises(UsageError, match="not a valid file name"):
        check_upload_name(name)

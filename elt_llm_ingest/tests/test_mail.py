"""E-mail: headers, text, attachments as parts; what cannot be read is told."""

from email.message import EmailMessage
from pathlib import Path

import pytest

import format_files
from elt_llm_core.errors import LoadError


def test_a_message_and_its_attachments(reading):
    letter = format_files.message()
    table = b"Item,Fee\nBerth,20\n"
    letter.add_attachment(table, maintype="text", subtype="csv", filename="../../f.csv")
    letter.add_attachment(table, maintype="text", subtype="csv", filename="f.csv")
    letter.add_attachment(
        bytes(range(256)) * 9, maintype="application", subtype="x", filename="x.bin"
    )
    inner = EmailMessage()
    for name, value in (("Subject", "Inner"), ("From", "c@d"), ("To", "e@f")):
        inner[name] = value
    inner.set_content("Inner text.")
    letter.add_attachment(inner)
    documents = reading.parse(Path("a.eml"), letter.as_bytes())
    parts = ["", "f.csv", "f.csv (2)", "message.eml"]
    assert [d.part for d in documents] == parts
    first, attached, _, forwarded = documents
    assert first.title == "Fées 2026"
    assert format_files.texts(first)[0] == ("heading", "Fées 2026")
    assert first.blocks[1].attributes["from"] == "Ann <ann@example.org>"
    body = [("paragraph", "the fee is 20."), ("list_item", "- one")]
    assert format_files.texts(first)[3:] == body
    assert "x.bin was not read: its format is not supported" in first.warnings
    assert format_files.cells(attached) == [[("Item", "Berth"), ("Fee", "20")]]
    assert (forwarded.title, forwarded.text[-11:]) == ("Inner", "Inner text.")


def test_html_is_read_where_there_is_no_plain_text(reading):
    letter = EmailMessage()
    letter["From"], letter["Subject"], letter["To"] = "a@b", "Terms", "c@d"
    letter.set_content("<h2>Fees</h2><p>All of it.</p>", subtype="html")
    (document,) = reading.parse(Path("a.txt"), letter.as_bytes())
    assert format_files.texts(document)[2:] == [
        ("heading", "Fees"),
        ("paragraph", "All of it."),
    ]


def test_an_unknown_encoding_loses_nothing(reading):
    source = (
        b"From: a@b\nSubject: x\nContent-Type: text/plain; charset=none\n\nThe fee."
    )
    (document,) = reading.parse(Path("a.eml"), source)
    assert document.text.endswith("The fee.")
    assert "unknown encoding" in document.warnings[0]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"From: a\nContent-Type: message/rfc822\n\n" * 40 + b"x", "nested more than"),
        (b"Subject:\nFrom: a@b\nTo: c\n\n", "no text"),
        (b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n" * 300, "parts"),
    ],
)
def test_messages_that_are_refused(source, reason, reading):
    with pytest.raises(LoadError, match=reason):
        reading.parse(Path("a.eml"), source)

"""E-mail: the headers, the text, and every attachment as a separate part."""

import email
from collections.abc import Iterator
from email.errors import HeaderParseError, MessageError
from email.message import EmailMessage
from email.policy import default
from pathlib import Path, PurePosixPath
from typing import cast

from elt_llm_core.document import BlockKind, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits, check_size
from elt_llm_ingest.readers.detection import decode_text, sniff
from elt_llm_ingest.readers.registry import parser_of
from elt_llm_ingest.readers.text_builder import TextBuilder, one_line, with_sections
from elt_llm_ingest.readers.text_file import LIST_ITEM, paragraphs
from elt_llm_ingest.readers.web.html import HtmlReader


def read_inner(
    name: str, data: bytes, limits: Limits
) -> tuple[list[ParsedDocument], tuple[str, ...]]:
    """Return the documents of a file in another file, or the reason of a failure.

    Each is a part with the name of the file; only the last path component is used, so
    that no name points elsewhere.
    """
    path = Path(PurePosixPath(name.replace("\\", "/")).name or "attachment")
    try:
        check_size(path.name, len(data), limits)
        loader, warnings = sniff(path, data)
        parsed = parser_of(loader)(path, data, limits)
    except LoadError as error:
        return [], (f"{path.name} was not read: {error.reason}",)
    documents = [
        document.model_copy(
            update={
                "part": "/".join(part for part in (path.name, document.part) if part)
            }
        )
        for document in parsed
    ]
    return documents, tuple(f"{path.name}: {warning}" for warning in warnings)


PARSER = "mail 2"
SHOWN = ("from", "to", "cc", "date")
MAX_DEPTH = 10  # messages in messages
MAX_PARTS = 200  # more than people attach; every part takes memory and time
UNREADABLE = (HeaderParseError, MessageError, LookupError, ValueError, AttributeError)


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """The message, then its attachments, each a document with the name as its part.

    Raises LoadError for other files, too deep nesting and messages without content.
    """
    _check_depth(path.name, data)
    message = email.message_from_bytes(data, policy=default)
    if not message.keys():
        raise LoadError(path.name, "it is not an e-mail message", "export it as .eml")
    attached = _Attachments(path, limits)
    try:
        attached.read(message)
    except RecursionError as error:
        raise _too_deep(path.name) from error
    letter = _letter(path, message, tuple(attached.warnings))
    documents = [*([letter] if letter else []), *attached.documents]
    if not documents:
        raise LoadError(
            path.name, "no text: the message is empty", "export it with its content"
        )
    if not letter:
        warned = (*attached.warnings, *documents[0].warnings)
        documents[0] = documents[0].model_copy(update={"warnings": warned})
    return documents


def _check_depth(name: str, data: bytes) -> None:
    """Raise LoadError for deep nesting, because parsing is recursive."""
    if data.lower().count(b"content-type: message/rfc822") > MAX_DEPTH:
        raise _too_deep(name)
    if data.lower().count(b"content-type: multipart/") > MAX_PARTS:
        raise LoadError(
            name,
            f"it has more than {MAX_PARTS} parts",
            "save the attachments you need and ingest them",
        )


def _too_deep(name: str) -> LoadError:
    return LoadError(
        name,
        f"its messages are nested more than {MAX_DEPTH} deep",
        "save the attached messages and ingest them one by one",
    )


def _letter(
    path: Path, message: EmailMessage, warnings: tuple[str, ...]
) -> ParsedDocument | None:
    """Return the message itself, or None if it is empty."""
    builder = TextBuilder()
    subject = _header(message, "subject")
    builder.add(BlockKind.HEADING, subject, level=1)
    lines = [(name, _header(message, name)) for name in SHOWN]
    known = [f"{name.capitalize()}: {value}" for name, value in lines if value]
    attributes = {name: value for name, value in lines if value}
    builder.add(BlockKind.PARAGRAPH, "\n".join(known), attributes=attributes)
    before = builder.length
    problems = _write_body(builder, message)
    if builder.length == before:
        problems = (*problems, "the message has no text of its own")
        if not subject:
            return None
    return ParsedDocument(
        title=subject or path.stem,
        text=builder.text,
        blocks=with_sections(builder.text, builder.blocks),
        parser=PARSER,
        warnings=(*problems, *warnings),
    )


def _header(message: EmailMessage, name: str) -> str:
    """Return a header's value on one line; empty if it is missing or unreadable."""
    try:
        return one_line(str(message.get(name) or ""))
    except UNREADABLE:
        return ""


def _write_body(builder: TextBuilder, message: EmailMessage) -> tuple[str, ...]:
    """Write the plain text, or the HTML if there is none; return warnings."""
    for kind in ("plain", "html"):
        content, decode_warnings = _content(message, kind)
        if not content.strip():
            continue
        if kind == "html":
            reader = HtmlReader(builder)
            reader.read(content)
            return (*decode_warnings, *reader.warnings())
        for paragraph in paragraphs(content.replace("\r\n", "\n")):
            is_item = LIST_ITEM.match(paragraph)
            builder.add(
                BlockKind.LIST_ITEM if is_item else BlockKind.PARAGRAPH, paragraph
            )
        return decode_warnings
    return ()


def _content(message: EmailMessage, kind: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of this type, and warnings about its encoding."""
    try:
        body = message.get_body(preferencelist=(kind,))
    except UNREADABLE as error:
        return "", (f"the message cannot be parsed ({error})",)
    if body is None:
        return "", ()
    try:
        return str(body.get_content()), ()
    except UNREADABLE:
        data = body.get_payload(decode=True)
    try:
        text, _ = decode_text(Path("message"), data if isinstance(data, bytes) else b"")
    except LoadError:
        return "", ("the text of the message cannot be decoded",)
    return text, ("the message has an unknown encoding; some characters may be wrong",)


class _Attachments:
    """Reads attachments within the limits."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._count = 0
        self._names: set[str] = set()
        self.documents: list[ParsedDocument] = []
        self.warnings: list[str] = []

    def read(self, message: EmailMessage) -> None:
        """Read every attachment; failures become warnings."""
        for part in _parts(message):
            self._count += 1
            if self._count > MAX_PARTS:
                self.warnings.append(
                    f"only the first {MAX_PARTS} attachments were read"
                )
                return
            if part.get_content_type() == "message/rfc822":
                self._forwarded_message(part)
            else:
                self._file(part)

    def _forwarded_message(self, part: EmailMessage) -> None:
        try:
            data = bytes(part.get_content())
        except UNREADABLE as error:
            self.warnings.append(f"an attached message was not read: {error}")
            return
        self._take("message.eml", data)

    def _file(self, part: EmailMessage) -> None:
        name = _file_name(part)
        try:
            content = part.get_content()
        except UNREADABLE as error:
            self.warnings.append(f"{name} was not read: {error}")
            return
        data = content.encode() if isinstance(content, str) else bytes(content)
        self._take(name, data)

    def _take(self, name: str, data: bytes) -> None:
        documents, warnings = read_inner(name, data, self._limits)
        self.warnings += warnings
        for document in documents:
            part = document.part
            count = 2
            while part in self._names:
                part, count = f"{document.part} ({count})", count + 1
            self._names.add(part)
            self.documents.append(document.model_copy(update={"part": part}))


def _file_name(part: EmailMessage) -> str:
    try:
        name = part.get_filename() or ""
    except UNREADABLE:
        name = ""
    endings = {"text/html": ".html", "text/plain": ".txt", "application/pdf": ".pdf"}
    return name or "attachment" + endings.get(part.get_content_type(), "")


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """Return attachments, attached messages, and embedded pictures."""
    if not message.is_multipart():
        if message.get_content_maintype() not in ("text", "multipart"):
            yield message
        return
    bodies = [message.get_body(preferencelist=(kind,)) for kind in ("plain", "html")]
    waiting = list(message.iter_parts())
    while waiting:
        part = cast("EmailMessage", waiting.pop(0))
        if part.get_content_maintype() == "multipart":
            waiting = [*part.iter_parts(), *waiting]
        elif all(part is not body for body in bodies):
            yield part

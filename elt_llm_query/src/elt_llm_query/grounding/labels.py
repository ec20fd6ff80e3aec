"""Labels: written before each source for synthesis, then parsed from the answer.

The model is shown `[S1] Title, Section, p. 3` and the text, or `[F1] ...` for a figure.
A model's description of a picture is enclosed in tags. The node keeps its id, text and
metadata; only the prompt changes. A label resolves only against the sources of the same
prompt.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.results import LinkedFigure
from elt_llm_query.analysis.reference_marks import find_reference_marks, remove_spans
from elt_llm_query.components import Postprocessor

LABEL_KEY = "source_label"
SHOWN_KEY = "source_shown"
REFERENCES_KEY = (
    "source_references"  # number of entries in its document's list of references
)
FIGURES_KEY = "mentioned_figures"  # links to the figures that a source mentions
MENTIONS_KEY = "figure_mentioned_by"  # links from a figure to who mentions it
RANK_KEY = "source_rank"  # rank of a source before it was moved within the prompt

_INSIDE = (
    r"(?:source\s+|doc_)?[sf]?\d{1,4}"
    r"(?:\s*(?:[-\u2013,;&]|and)+\s*(?:source\s+|doc_)?[sf]?\d{1,4})*"
)
LABEL_GROUP = re.compile(
    rf"(?P<open>\[{{1,2}}|\(|<<|\u3010)\s*(?P<inside>{_INSIDE})\s*(?:\]{{1,2}}|\)|>>|\u3011)",
    re.IGNORECASE,
)
_PART = re.compile(r"([-\u2013])?\s*(source\s+|doc_)?([sf])?(\d{1,4})", re.IGNORECASE)
_WRITTEN_LABEL = re.compile(r"\[(\s*[SF]\d{1,4}[^\]\n]{0,40})\]", re.IGNORECASE)
_LONGEST_RANGE = 50  # labels; a longer range is an error of the model
_TAGS = re.compile(r"<(/?\s*(?:sources?|ai_generated)\b)", re.IGNORECASE)


class ParsedAnswer(NamedTuple):
    """An answer with known labels only, and the labels that were removed."""

    text: str
    labels: tuple[str, ...]
    removed: tuple[str, ...]


class LabelSources(Postprocessor):
    """Puts `[S1]`, `[S2]` ... in front of the prompt text of each node.

    Figures are `[F1]`, `[F2]` ... Numbers follow the rank, which is the given order
    unless the nodes record another.
    """

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        counts = {"S": 0, "F": 0}
        labels: dict[int, str] = {}
        for place in by_rank(nodes):
            letter = "F" if _is_figure(nodes[place].node) else "S"
            counts[letter] += 1
            labels[place] = f"{letter}{counts[letter]}"
        return [
            NodeWithScore(node=_with_label(n.node, labels[i]), score=n.score)
            for i, n in enumerate(nodes)
        ]


def label_of(node: Any) -> str:
    """Return the label of a node, or an empty string."""
    return str(node.metadata.get(LABEL_KEY, ""))


def by_rank(nodes: Sequence[NodeWithScore]) -> list[int]:
    """Return the places of the nodes, best first.

    Nodes that were added for a ranked node follow it.
    """
    ranks: list[int] = []
    for hit in nodes:
        before = ranks[-1] if ranks else -1
        ranks.append(int(hit.node.metadata.get(RANK_KEY, before)))
    return sorted(range(len(nodes)), key=ranks.__getitem__)


def _is_figure(node: Any) -> bool:
    kind = node.metadata.get("kind")
    return kind == BlockKind.FIGURE or provenance.is_generated(node)


def references_of(node: Any) -> int:
    """Return the number of references in the node's document; 0 if unknown."""
    return int(node.metadata.get(REFERENCES_KEY, 0))


def linked_figures(node: Any, key: str) -> tuple[LinkedFigure, ...]:
    """Return the links that are noted on a node under one of the keys."""
    rows = json.loads(str(node.metadata.get(key) or "[]"))
    return tuple(LinkedFigure.model_validate(row) for row in rows)


def header(label: str, node: Any) -> str:
    """Return the line in front of a source: label, title, section, page."""
    place = provenance.read(node)
    page = f"p. {place.page}" if place.page is not None else ""
    parts = [p for p in (place.document, place.section, page) if p]
    return f"[{label}] {_disarm(', '.join(parts))}".rstrip()


def parse_labels(answer: str, known: Sequence[str]) -> ParsedAnswer:
    """Return the answer with each label written `[S1]` and unknown labels removed.

    The forms `[S1, S2]`, `[S1-S3]`, `[s1]`, `(S1)`, `<<SOURCE 1>>` and `[doc_1]` are
    recognised, also within quotes. A bare `[1]` is text.

    Args:
        answer: The model's text.
        known: The labels of the prompt.

    Returns:
        The cleaned answer, and its known and its removed labels in order of first use.
    """
    seen: dict[str, None] = {}
    removed: dict[str, None] = {}

    def rewrite(bracket: re.Match[str]) -> str:
        labels = parse_group(bracket)
        if labels is None:
            return bracket[0]
        good = [label for label in labels if label in known]
        if bracket["open"] == "(" and good != labels:
            return bracket[0]
        seen.update(dict.fromkeys(good))
        removed.update(dict.fromkeys(label for label in labels if label not in known))
        return "".join(f"[{label}]" for label in good) if good else "\x00"

    return ParsedAnswer(
        _close_holes(LABEL_GROUP.sub(rewrite, answer)), tuple(seen), tuple(removed)
    )


def _with_label(node: Any, label: str) -> TextNode:
    excluded = {*node.metadata, LABEL_KEY}
    text = provenance.reading(node)
    if text == node.get_content(metadata_mode=MetadataMode.NONE):
        # A model could copy the document's own [3] as if it were a label.
        marks = find_reference_marks(text, references_of(node))
        text = remove_spans(text, marks).text
    text = _disarm(text)
    if provenance.is_generated(node):
        text = f"<AI_GENERATED>\n{text}\n</AI_GENERATED>"
    shown = f"{header(label, node)}\n{text}"
    metadata = {**node.metadata, LABEL_KEY: label, SHOWN_KEY: shown}
    changes = {
        "metadata": metadata,
        "excluded_llm_metadata_keys": sorted(excluded - {SHOWN_KEY}),
        "excluded_embed_metadata_keys": sorted({*metadata}),
        "metadata_template": "{value}",
        "text_template": "{metadata_str}",
    }
    copy: TextNode = node.model_copy(update=changes)
    return copy


def escape_labels(text: str) -> str:
    """Return source text with "[S1]" in other brackets, so that it is no label."""
    return _WRITTEN_LABEL.sub("\u2039\\1\u203a", text)


def _disarm(text: str) -> str:
    """Return source text that cannot be parsed as a label or a tag of the prompt."""
    return _TAGS.sub("\u2039\\1", escape_labels(text))


def parse_group(bracket: re.Match[str]) -> list[str] | None:
    """Return the labels of a match of `LABEL_GROUP`, or None if it is no label."""
    inside = bracket["inside"]
    if not re.match(r"source\s|doc_|[sf]\d", inside, re.IGNORECASE):
        return None
    labels: list[str] = []
    letter = "S"
    for dash, word, kind, number in _PART.findall(inside):
        letter = kind.upper() or ("S" if word else letter)
        low = int(labels[-1][1:]) + 1 if dash and labels else int(number)
        if not 0 <= int(number) - low < _LONGEST_RANGE:
            low = int(number)
        labels.extend(f"{letter}{n}" for n in range(low, int(number) + 1))
    return list(dict.fromkeys(labels))


# "[S1], [S2]" and "[S1] and [S2]" without one of the labels.
_JOIN = r"[ \t]*(?:[,;&]|\b(?:and|or|und|y|et)\b)[ \t]*"
_JOIN_AFTER_HOLE = re.compile(rf"\x00{_JOIN}(?=\x00|\[[SF]\d)")
_JOIN_BEFORE_HOLE = re.compile(rf"(?<=\]){_JOIN}\x00")


def _close_holes(text: str) -> str:
    """Close the gaps that removed labels (NUL) left."""
    text = _JOIN_BEFORE_HOLE.sub("\x00", _JOIN_AFTER_HOLE.sub("\x00", text))
    text = re.sub(r"[(\[]\s*(?:\x00[\s,;]*)+[)\]]", "\x00", text)
    text = re.sub(r"(?<=[(\[])(?:\x00[ \t]*)+", "", text)
    text = re.sub(r"(^|\n)[ \t]*(?:\x00[ \t]*)+[.,;:]?[ \t]*", r"\1", text)
    text = re.sub(
        r"[ \t]*(?:\x00[ \t]*)+(?=[.,;:!?)\]]|[\"\u201d\u2019](?!\w)|\n|$)", "", text
    )
    return re.sub(r"[ \t]*(?:\x00[ \t]*)+", " ", text).strip()


class Shown(NamedTuple):
    """The parts of a source as shown to a model."""

    label: str
    heading: str
    text: str


def split_shown(chunk: str, default: str) -> Shown:
    """Split a chunk that `LabelSources` wrote into label, heading and text."""
    header_line = re.match(r"\[([SF]\d+)\] ?([^\n]*)\n", chunk)
    if not header_line:
        return Shown(default, "", chunk)
    return Shown(header_line[1], header_line[2], chunk[header_line.end() :])


def remove_labels(text: str, labels: Sequence[str]) -> str:
    """Return the text without these labels, with the gaps closed."""
    for label in labels:
        text = text.replace(f"[{label}]", "\x00")
    return _close_holes(text)

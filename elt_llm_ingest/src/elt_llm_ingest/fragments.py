"""Whether a document was cut into crumbs: most likely its text was read badly.

How many chunks are short says nothing: headings, captions and items of lists are short
in sound documents, up to a quarter of the prose chunks. What matters is how much of the
text lies in them. No chunk is too long, as a chunker counts their tokens.
"""

from collections.abc import Sequence

from llama_index.core.schema import BaseNode

from elt_llm_core.provenance import read

PROSE = "prose"
SHORT = 50  # characters: half a line
# Of the prose characters. In 30 sound documents of 20 and more prose chunks (policies,
# monographs, papers, filings, rule books) it is .000 to .022; where every line became a
# section of its own, above .5.
MOST = 0.1
FEWEST = 20  # prose chunks; an invoice or a cover page is mostly short lines


def fragment_warning(nodes: Sequence[BaseNode]) -> str:
    """Return a warning if much of a document's prose lies in very short chunks.

    Args:
        nodes: The chunks of one document.

    Returns:
        The warning; empty for a sound document.
    """
    lengths = [len(n.get_content()) for n in nodes if read(n).kind == PROSE]
    if len(lengths) < FEWEST:
        return ""
    short = [length for length in lengths if length < SHORT]
    share = sum(short) / (sum(lengths) or 1)
    if share <= MOST:
        return ""
    return (
        f"{share:.0%} of the text lies in {len(short)} chunks of under {SHORT} "
        "characters: it may have been read badly, or every line is a heading; see what "
        "is extracted: elt-llm inspect FILE"
    )

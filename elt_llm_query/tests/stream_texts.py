"""Pieces of answers that a filter of streamed answers may stumble over."""

LABELS = ("S1", "S2", "F1")
PIECES = (
    *("The fee", " is ", "25", ".", "\n", "\n\n", " ", "- ", "**", "#", "##", ":"),
    *("[S1]", "[S9]", "[S1, S2]", "[s1-S2]", "(S1)", "(S7)", "<<SOURCE 1>>"),
    *("[", "]", "[[", "(", "<", "<<", "S1", "[doc_1]", "\u3010F1\u3011", "[see]"),
    *("Answer", "answer:", "References", "references:", "## References", "No"),
    *("<think>", "</think>", "<thi", "list of References: page 12", "\x00"),
    *("[S1, S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, ",),
    *("S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, S2, S1, S2]",),
)
PLAIN = (
    "loan ",
    "period ",
    "of a ",
    "book",
    ", ",
    "21 days",
    "caf\u00e9 ",
    "\u8cc7\u6599",
)

"""Counts what the shipped code weighs: lines, files, folders, functions and comments.

    uv run python benchmarks/sizes.py

Lines of code are lines with a token of code: no blank lines, comments or docstrings.
Functions are measured from `def` to their last line, docstring included. A comment line
is a line with a comment, alone or behind code; `noqa` and `type:` are no comments.
"""

import ast
import io
import re
import statistics
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
_DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|pragma)")
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def count_code_lines(text: str) -> tuple[int, int]:
    """Count lines of code and lines with a comment.

    Args:
        text: A Python module.

    Returns:
        The number of lines of code, and of comment lines.
    """
    code, comments = set[int](), set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if not _DIRECTIVE.match(token.string):
                comments.add(token.start[0])
        elif token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    code -= docstring_lines(ast.parse(text))
    return len(code), len(comments)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that docstrings take."""
    lines = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False):
            first = node.body[0]
            lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def function_lengths(tree: ast.Module) -> dict[str, int]:
    """Return the length in lines of each function, by name and line."""
    return {
        f"{node.name}:{node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def main() -> int:
    """Print a table of the whole workspace, of each package, and the longest places."""
    code, files = Counter[str](), Counter[str]()
    folders = Counter[str]()
    lengths: dict[str, int] = {}
    comments = 0
    for path in sorted(ROOT.glob("elt_llm_*/src/**/*.py")):
        where = path.relative_to(ROOT)
        text = path.read_text(encoding="utf-8")
        lines, of_comments = count_code_lines(text)
        code[where.parts[0]] += lines
        files[where.parts[0]] += 1
        folders[str(where.parent)] += 1
        comments += of_comments
        measured = function_lengths(ast.parse(text))
        lengths |= {f"{where}:{name}": length for name, length in measured.items()}
    deciles = statistics.quantiles(lengths.values(), n=10)
    print("| package | lines of code | files |\n|---|---|---|")
    for package in sorted(code):
        print(f"| {package} | {code[package]:,} | {files[package]} |")
    print(f"| all | {code.total():,} | {files.total()} |")
    print(f"\nlargest folder: {folders.most_common(1)[0]}")
    longest = sorted(lengths.items(), key=lambda item: -item[1])
    print(f"functions: p90 {deciles[8]:.0f} lines, longest {longest[0][1]}")
    print(*(f"  {length} {place}" for place, length in longest[:5]), sep="\n")
    print(
        f"comment lines per 1,000 lines of code: {1000 * comments / code.total():.1f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

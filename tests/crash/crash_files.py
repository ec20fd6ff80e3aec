"""Small real files of five kinds, and how they change."""

import csv
import io
import random
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

NOUNS = (
    *("anchor", "beacon", "cargo", "dock", "engine", "ferry", "gale", "harbour"),
    *("island", "jetty", "keel", "lantern", "mast", "needle", "oar", "pilot"),
    *("quay", "rudder", "sail", "tide", "vessel", "wharf", "yacht", "zephyr"),
)
VERBS = ("guards", "carries", "checks", "repairs", "follows", "measures", "signals")
KINDS = ("md", "txt", "csv", "html", "pdf")


def sentences(name: str, version: int, count: int) -> list[str]:
    """Sentences of a file's version: a third of them change from one to the next."""
    said = []
    for i in range(count):
        edition = version if i % 3 == version % 3 else max(version - 1, 0)
        rng = random.Random(f"{name} {i} {edition}")  # noqa: S311 - no secret
        words = [rng.choice(NOUNS) for _ in range(4)]
        said.append(
            f"Rule {i} of {name} edition {edition}: the {words[0]} near the {words[1]} "
            f"{rng.choice(VERBS)} every {words[2]} and {words[3]} {rng.randrange(900)}."
        )
    return said


def write_file(folder: Path, name: str, version: int, count: int = 18) -> None:
    """Put one version of a file into the folder; its ending says the kind."""
    kind = name.rpartition(".")[2]
    stem = name.rpartition(".")[0].removesuffix("-new")
    said = sentences(stem, version, count)
    text = {"md": _markdown, "txt": _plain, "csv": _table, "html": _page}
    if kind == "pdf":
        (folder / name).write_bytes(_pdf(said))
    else:
        (folder / name).write_text(text[kind](said), encoding="utf-8")


def _markdown(said: list[str]) -> str:
    parts = [f"## Part {i}\n\n{line}" for i, line in enumerate(said)]
    return "# Rules\n\n" + "\n\n".join(parts) + "\n"


def _plain(said: list[str]) -> str:
    return "\n\n".join(said) + "\n"


def _table(said: list[str]) -> str:
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["number", "rule", "remark"])
    rows.writerows([i, line, f"remark {i}"] for i, line in enumerate(said))
    return out.getvalue()


def _page(said: list[str]) -> str:
    body = "".join(f"<h2>Part {i}</h2><p>{line}</p>" for i, line in enumerate(said))
    return f"<html><head><title>Rules</title></head><body>{body}</body></html>"


def _pdf(said: list[str]) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, A4, invariant=True)
    for start in range(0, len(said), 20):
        for line, sentence in enumerate(said[start : start + 20]):
            canvas.drawString(60, 780 - 34 * line, sentence)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def first_files(folder: Path) -> None:
    """One file of each kind; the text has more chunks than an embedding batch."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        write_file(folder, f"{kind}-rules.{kind}", 0, 40 if kind == "md" else 12)


def second_files(folder: Path) -> None:
    """Files are added, edited, renamed and taken away."""
    write_file(folder, "md-rules.md", 1, 40)
    write_file(folder, "extra.txt", 0)
    (folder / "csv-rules.csv").rename(folder / "csv-rules-new.csv")
    (folder / "html-rules.html").unlink()


def third_files(folder: Path) -> None:
    """And once more."""
    write_file(folder, "md-rules.md", 2, 40)
    write_file(folder, "txt-rules.txt", 1, 12)
    write_file(folder, "late.html", 0)
    (folder / "extra.txt").rename(folder / "extra-new.txt")

"""Messages of general form after answered questions: how many are answered, and how.

    python benchmarks/general_follow_ups.py --data-dir ROOT [--seed 1] [--questions 30]

ROOT is that of `follow_ups.py`, whose first questions are taken in an order that the
seed decides. After each that is answered every message is asked by itself. Few of them
have an answer in the documents, so that what is answered is to be read: it is printed
with the answer before it.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from elt_llm_query import Library
from follow_ups import ANSWERED, Case, read_cases

# Collections of which the documents were kept for the set `unseen`.
KEPT = {"bank", "drugs"}
MESSAGES = """
    How long does it take?|Who signs it?|Is that also true for contractors?
    How much does it cost?|Why?|By whom?|And in Germany?|Who is responsible for it?
    When does it end?|Are there exceptions?|How many are there?|And the deadline?
    What does it mean?|And for children?|Where is it kept?|Who decides?
    What happens if they refuse?|How often?|And the rest?|To whom is it sent?
    Can they change it?|What are its limits?
    """
KEY = "general"


def read_messages() -> list[str]:
    """Return the messages."""
    return [m.strip() for m in MESSAGES.replace("\n", "|").split("|") if m.strip()]


def ask_after(library: Library, case: Case) -> Iterator[str] | None:
    """Return the answered messages after a question; None if it is refused."""
    conversations = library.store.conversations
    first = library.chat(case.before, KEY, case.collection)
    if first.result.status not in ANSWERED:
        conversations.delete(KEY, "local")
        return None

    def answers() -> Iterator[str]:
        for message in read_messages():
            turn = library.chat(message, KEY, case.collection)
            if turn.result.status in ANSWERED:
                understood = turn.searched or "as written"
                yield (
                    f"{case.before} {message} ({understood})\n"
                    f"    before  {' '.join(first.text.split())[:200]}\n"
                    f"    answer  {' '.join(turn.text.split())[:300]}"
                )
            conversations.undo(KEY, "local")
        conversations.delete(KEY, "local")

    return answers()


def main() -> None:
    """Ask, and print what is answered and how much it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, default=30)
    options = parser.parse_args()
    cases = [
        c for c in read_cases("") if c.set != "unseen" and c.collection not in KEPT
    ]
    random.Random(options.seed).shuffle(cases)  # noqa: S311 - an order, no secret
    questions = answered = 0
    with Library(options.data_dir, models="embedded") as library:
        for case in {c.before: c for c in cases}.values():
            if questions == options.questions:
                break
            lines = ask_after(library, case)
            if lines is None:
                continue
            questions += 1
            for line in lines:
                answered += 1
                print(line)
    asked = questions * len(read_messages())
    print(f"{questions} questions, {asked} messages, {answered} answered")


if __name__ == "__main__":
    main()

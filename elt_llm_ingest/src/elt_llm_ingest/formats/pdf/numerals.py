"""What counts as a number in a table."""

import re

FIGURES = re.compile(r"^[\s$€£(]*[-\u2013]?[0-9][0-9.,\s]*[%)]*\s*$")
DASH = re.compile(r"[$€£\s]*[-\u2013\u2014]")
NUMBER = re.compile(
    r"^[$€£]?\(?[-\u2013\u2212]?[$€£]?[0-9][0-9.,]*%?\)?%?$|^[-\u2013\u2014]$|^[$€£]$"
)


def are_numbers(text: str) -> bool:
    """Whether every word is one."""
    has_digit = any(char.isdigit() for char in text)
    return has_digit and all(NUMBER.match(part) for part in text.split())


def is_one_number(text: str) -> bool:
    """Whether there is one number and marks around it, or a dash for none."""
    if DASH.fullmatch(text):
        return True
    parts = text.split()
    if not all(map(NUMBER.match, parts)):
        return False
    return len([part for part in parts if any(map(str.isdigit, part))]) == 1


def is_year(text: str) -> bool:
    """Whether it is a year."""
    return bool(re.fullmatch(r"(19|20)[0-9]{2}", text.strip()))

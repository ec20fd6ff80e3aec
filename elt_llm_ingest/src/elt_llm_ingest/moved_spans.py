"""Blocks and words of a document whose text gets longer or shorter."""

from collections.abc import Callable, Sequence

from elt_llm_core.document import Block, Cell, Page, WordRow, Words

Move = Callable[[int], int]
Plain = Callable[[str], str]


def move_block(block: Block, move: Move, plain: Plain = str) -> Block:
    """Return a block at its new place.

    Args:
        block: The block.
        move: Returns the new position of a character.
        plain: Changes the strings that are not part of the text.
    """
    changed = {
        "start": move(block.start),
        "end": move(block.end),
        "section": plain(block.section),
        "table": plain(block.table),
        "cells": tuple(_move_cell(cell, move, plain) for cell in block.cells),
        "attributes": {key: plain(value) for key, value in block.attributes.items()},
    }
    return block.model_copy(update=changed)


def _move_cell(cell: Cell, move: Move, plain: Plain) -> Cell:
    changed = {
        "start": move(cell.start),
        "end": move(cell.end),
        "header": plain(cell.header),
    }
    return cell.model_copy(update=changed)


def move_page(page: Page, move: Move, plain: Plain = str) -> Page:
    """Return a page with its words at their new places, without lost ones.

    Args:
        page: The page.
        move: As in `move_block`.
        plain: As in `move_block`.
    """
    words = _move_words(page.words, move)
    return page.model_copy(update={"words": words, "label": plain(page.label)})


def _move_words(words: Sequence[WordRow], move: Move) -> Sequence[WordRow]:
    if isinstance(words, Words):
        return words.move_spans(move)
    moved = [(move(s), move(e), a, b, c, d) for s, e, a, b, c, d in words]
    return [word for word in moved if word[1] > word[0]]

"""A mistake by name: id, name, sentence with the remedy.

Ids are those of the collection of real defects; mistakes that are not in it have none and are
found by their name. An entry stands beside the choices that are it.
"""

import re
from typing import NamedTuple

__all__ = ["Entry", "entries"]


class Entry(NamedTuple):
    """A mistake.

    Attributes
    ----------
    id : str
        In the collection; empty if it is not in it.
    name : str
        In a few words.
    sentence : str
        What is done, and the remedy in half a sentence.
    """

    id: str
    name: str
    sentence: str


def entries(text: str) -> tuple[Entry, ...]:
    """Read entries: a line with id and name, or with the name alone, and an indented sentence."""
    return tuple(
        Entry(id_ or "", name, " ".join(sentence.split()))
        for id_, name, sentence in re.findall(
            r"^(?:([A-Z]\d+) )?(\S.*)\n((?:    .*\n)+)", text, re.MULTILINE
        )
    )

"""Quarters of a turn that are taken off an angle, and which cosine and sine stand for each."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT, Table, cos_sin
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["FORMS", "MISTAKES", "QUARTERS", "mixed_quarters", "quarter_of"]

MISTAKES = entries("""
quarters of a turn mixed up
    In some quarters of a turn cosine and sine change places or signs; take the quarter by the
    lowest two bits of its number, below zero too, and look at what each becomes.
""")

FORMS: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    "cos and sin": lambda c, s: (c, s),
    "-sin and cos": lambda c, s: (-s, c),
    "-cos and -sin": lambda c, s: (-c, -s),
    "sin and -cos": lambda c, s: (s, -c),
    "cos and -sin": lambda c, s: (c, -s),
    "sin and cos": lambda c, s: (s, c),
    "-cos and sin": lambda c, s: (-c, s),
    "-sin and -cos": lambda c, s: (-s, -c),
}
"""What may stand for cosine and sine where quarters are mixed up, the right ones first."""

QUARTERS: dict[str, Callable[[Array], Array]] = {"": np.floor, ", to the nearest": np.round}
"""How the number of a quarter is rounded."""

_FLOAT = 2.0**-22
"""By how much of itself an angle may be off that is made in float32."""


def quarter_of(angle: Array, how: str) -> Array:
    """Return the quarter in which an angle lies: 0 to 3, and 4 to 7 below zero.

    Parameters
    ----------
    angle : ndarray
        In radians.
    how : str
        One of `QUARTERS`.
    """
    number = QUARTERS[how](angle / (np.pi / 2))
    return np.asarray(np.mod(number, 4) + 4 * (number < 0)).astype(np.int64)


def mixed_quarters(how: str, forms: Sequence[str]) -> Choice:
    """Return a table in which cosine and sine change places or signs in some quarters.

    Parameters
    ----------
    how : str
        One of `QUARTERS`.
    forms : sequence of str
        Of each of the eight values of `quarter_of`, one of `FORMS`.
    """

    def made(moved: float) -> Table:
        def table(g: Given, angle: Array) -> tuple[Array, Array]:
            quarter = quarter_of(angle * (1 + moved), how)
            both = np.array([FORMS[form](*cos_sin(g, angle)) for form in forms])
            chosen = np.take_along_axis(both, quarter[None, None], axis=0)[0]
            return chosen[0], chosen[1]

        return table

    nudged = tuple(replace(RIGHT, table=made(moved)) for moved in (-_FLOAT, _FLOAT))
    said = ", ".join(
        f"{form} in {_listed([n for n, one in enumerate(forms) if one == form])}"
        for form in dict.fromkeys(forms)
        if form != next(iter(FORMS))
    )
    what = f"of an angle in quarters of a turn{how}, cos and sin are {said}"
    change = {"table": made(0.0), "nudged": nudged}
    return Choice("quarters of a turn mixed up", "table", what, change, 2.5)


def _listed(quarters: Sequence[int]) -> str:
    """Name quarters."""
    return " and ".join(f"{n % 4}{' below zero' if n > 3 else ''}" for n in quarters)

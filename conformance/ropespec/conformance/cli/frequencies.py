"""The exact frequencies that a model configuration stands for, with the clause of each."""

from collections.abc import Iterator
from decimal import Decimal, localcontext

from ropespec.spec.config import Claimed
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import words

__all__ = ["frequencies"]

_DIGITS = 24


def frequencies(claimed: Claimed) -> Iterator[str]:
    """Write the lines of a table, to 24 digits.

    Parameters
    ----------
    claimed : Claimed
        What a configuration says.
    """
    scheme = claimed.scaling
    name, clause, gain_clause = ("none", "FREQ-2", "SCAL-12")
    if scheme is not None:
        name, clause, gain_clause = scheme.name, scheme.clause, scheme.gain_clause
    told = {} if scheme is None else words.say(scheme)
    with localcontext(prec=_DIGITS + 12):
        of = Frequencies(claimed.base, scheme)
        plain, scaled, gain = (
            Frequencies(claimed.base).theta(claimed.dim),
            of.theta(claimed.dim),
            of.gain,
        )
        yield f"rotates {claimed.dim} of {claimed.head_dim} components (ROT-14)"
        yield f"base {claimed.base:.17g} (FREQ-2)"
        yield f"scaling {name} ({clause})"
        for key, value in told.items():
            if key != "rope_type" and not isinstance(value, list):
                yield f"  {key} {value}"
        if claimed.sections:
            how = "in turn (AXES-3)" if claimed.in_turn else "consecutive (AXES-2)"
            yield f"sections {' '.join(map(str, claimed.sections))}, {how}"
        yield f"gain {_written(gain)} ({gain_clause})"
        yield f"{'pair':>4}  {'radians per position':<31}  {'of unscaled':<12}  clause"
        for pair, (omega, theta) in enumerate(zip(scaled, plain, strict=True)):
            of_it = "FREQ-2" if omega == theta else clause
            yield f"{pair:>4}  {_written(omega):<31}  {float(omega / theta):<12.9g}  {of_it}"


def _written(number: Decimal) -> str:
    return f"{number:.{_DIGITS - 1}e}" if number else "0"

"""The factor on cos and sin that a scheme has, and what somebody made of it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import Table, cos_sin
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.spec.scaling import LongRope, Scaling, Yarn

__all__ = ["MISTAKES", "everything_times", "of_gains", "of_other_gains", "tail_times", "times"]

MISTAKES = entries("""
attention factor missing
    The scheme that is claimed has a factor; multiply cos and sin by it.
attention factor not read
    The factor is the one by default, and another is claimed; read it from the configuration.
attention factor twice
    The factor of the scheme comes in squared; apply it to q and to k once each.
attention factor on one of the two
    Cosines carry the factor of the scheme and sines do not, or the other way round; it is on both.
""")

PLAIN = 0.5
"""The cost of what follows from the claim without a number of its own."""


def of_gains(claimed: Scaling) -> Iterator[Choice]:
    """Return the factors on cos and sin that are not the one claimed."""
    gain = float(claimed.gain)
    missing = f"cos and sin lack their factor of {gain:.6g}"
    yield Choice("attention factor missing", "table", missing, {"table": times(1.0)})
    twice = f"cos and sin carry their factor of {gain:.6g} twice"
    yield Choice("attention factor twice", "table", twice, {"table": times(gain**2)})
    for word, sizes in (("cosines", (gain, 1.0)), ("sines", (1.0, gain))):
        what = f"only {word} carry their factor of {gain:.6g}"
        yield Choice("attention factor on one of the two", "table", what, {"table": _each(*sizes)})
    yield tail_times(gain)


def of_other_gains(claimed: Scaling) -> Iterator[Choice]:
    """Return the factor by default where another is claimed, and those of one number of two."""
    gains: dict[float, tuple[str, str]] = {}
    if isinstance(claimed, Yarn | LongRope) and claimed.attention_factor is not None:
        default = float(replace(claimed, attention_factor=None).gain)
        gains[default] = "attention factor not read", "the one by default"
    elif isinstance(claimed, Yarn) and claimed.mscale and claimed.mscale_all_dim:
        default = float(replace(claimed, mscale=None, mscale_all_dim=None).gain)
        gains[default] = "K14", "that of one mscale"
        for name in ("mscale", "mscale_all_dim"):
            gain = 1 + float(getattr(claimed, name)) * (default - 1)
            gains.setdefault(gain, ("K14", f"that of {name} alone"))
    for gain, (key, whose) in gains.items():
        if gain != float(claimed.gain):
            what = f"the factor on cos and sin is {gain:.6g}, {whose}"
            yield Choice(key, "table", what, {"table": times(gain)}, PLAIN)


def times(gain: float) -> Table:
    """Return cosines and sines with this factor, whatever is claimed."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        return cos_sin(g.scaled(None), angle, gain)

    return table


def _each(cosines: float, sines: float) -> Table:
    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        return cosines * np.cos(angle), sines * np.sin(angle)

    return table


def everything_times(gain: float) -> Choice:
    """Return the whole result times a factor."""

    def store(given: Given, y: Array) -> Array:
        del given
        return gain * y

    what = f"the whole result carries a factor of {gain:.6g}"
    return Choice("K13", "store", what, {"store": store}, 2.1)


def tail_times(factor: float) -> Choice:
    """Return the tail times a factor."""

    def tail(g: Given, x: Array) -> Array:
        y = x.copy()
        y[..., g.turning :] *= factor
        return y

    return Choice(
        "tail scaled", "tail", f"the tail is multiplied by {factor:.6g}", {"tail": tail}, 2.0
    )

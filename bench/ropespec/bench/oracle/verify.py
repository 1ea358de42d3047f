"""`python -m ropespec.bench.oracle.verify`: the oracle against mpmath, and its speed.

mpmath belongs to the extra `dev`; nothing else in the package needs it.
"""

import time
from typing import NamedTuple

import click
import mpmath  # type: ignore[import-untyped]  # publishes no types
import numpy as np
from numpy.typing import NDArray

from ropespec.bench.oracle.hard import (
    DIGITS,
    next_to_quarter_turns,
    positions,
    theta,
)
from ropespec.conformance.judge import oracle
from ropespec.spec.convention import Frequencies

__all__ = [
    "SETTINGS",
    "TIMED",
    "Count",
    "main",
    "misrounded",
    "next_to_quarter_turns",
    "positions",
    "verify",
]

SETTINGS = (
    *((2, base) for base in (1.0000001, 10000.0)),
    *((4, base) for base in (10000.0, 1e6)),
    *((6, 2.5), (64, 500000.0), (80, 1000.0)),
    *((128, base) for base in (1.0000001, 10000.0, 1e8, 1e300)),
    *((256, 1e6), (1024, 10000.0), (1024, 1e300)),
)
"""Dimensions and bases that are verified."""

TIMED = (
    *((128, 10000.0, bits) for bits in (4, 9, 12, 20, 31, 63)),
    *((1024, 10000.0, bits) for bits in (4, 9)),
    *((128, 1e8, 9), (128, 1e300, 9), (128, 1e300, 63)),
)
"""Dimensions, bases and bits of the positions that are timed: the worst are small angles."""

_GROUPS = 16
_REPEATS = 7
_TIMED_ANGLES = 1 << 18


class Count(NamedTuple):
    """What a verification has seen.

    Attributes
    ----------
    angles : int
        Each is one cos and one sin.
    hard : int
        Those of them next to a multiple of a quarter turn.
    wrong : int
        Values that are not correctly rounded.
    """

    angles: int
    hard: int
    wrong: int


def misrounded(
    m: NDArray[np.int64], dim: int, base: float, values: tuple[NDArray[np.float64], ...]
) -> int:
    """Count the values that are not the floats nearest to cos and sin of m theta_i.

    Parameters
    ----------
    m : ndarray of int64, shape (n,)
        Positions.
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    values : tuple of ndarray of float64, shape (n, dim/2)
        cos and sin.

    Returns
    -------
    int
        From 0 to n dim.
    """
    wrong = 0
    with mpmath.workdps(DIGITS):
        for index in range(dim // 2):
            frequency = theta(dim, base, index)
            columns = (value[:, index].tolist() for value in values)
            for position, cos, sin in zip(m.tolist(), *columns, strict=True):
                c, s = mpmath.cos_sin(position * frequency)
                wrong += (float(c) != cos) + (float(s) != sin)
    return wrong


def verify(dim: int, base: float, angles: int, seed: int = 0) -> Count:
    """Verify at least so many angles of one dimension and base.

    Positions of like size are asked for together: the oracle goes another way where they all are
    small.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    angles : int
        How many.
    seed : int
        Of the positions.

    Returns
    -------
    Count
        What was seen.
    """
    rng = np.random.default_rng(seed)
    half = dim // 2
    closest = [next_to_quarter_turns(dim, base, index) for index in range(half)]
    hard = np.array([m for row in closest for m in row], dtype=np.int64)
    m = positions(rng, -(-angles // half), hard)
    m = m[np.argsort(np.abs(m), kind="stable")]
    present = np.abs(m)
    seen = sum(int(np.isin(present, row).sum()) for row in closest)
    groups = [oracle.cos_sin(group, dim, Frequencies(base)) for group in np.array_split(m, _GROUPS)]
    cos, sin = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return Count(m.size * half, seen, misrounded(m, dim, base, (cos, sin)))


@click.command()
@click.option("--values", default=1_000_000, show_default=True, help="Angles to verify, at least.")
@click.option("--seed", default=0, show_default=True, help="Of the positions.")
def main(values: int, seed: int) -> None:
    """Verify that the oracle rounds correctly, and measure it against plain float64."""
    share = -(-values // len(SETTINGS))
    total = Count(0, 0, 0)
    for dim, base in SETTINGS:
        count = verify(dim, base, share, seed)
        total = Count(*(a + b for a, b in zip(total, count, strict=True)))
        click.echo(f"dim {dim:4}, base {base!r:9}: {_sentence(count)}")
    click.echo(f"altogether: {_sentence(total)}")
    for dim, base, bits in TIMED:
        click.echo(_speed(dim, base, bits, np.random.default_rng(seed)))
    raise SystemExit(total.wrong > 0)


def _sentence(count: Count) -> str:
    return (
        f"{count.angles} angles ({count.hard} next to a multiple of pi/2), "
        f"{count.wrong} of {2 * count.angles} values not correctly rounded"
    )


def _speed(dim: int, base: float, bits: int, rng: np.random.Generator) -> str:
    """Time both sides in turn, so that a busy machine slows both, and keep the best of each."""
    m = rng.integers(0, 2**bits, _TIMED_ANGLES * 2 // dim)
    angle = m[:, None] * oracle.frequencies(dim, Frequencies(base))
    ours, plain = [], []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        oracle.cos_sin(m, dim, Frequencies(base))
        middle = time.perf_counter()
        np.cos(angle)
        np.sin(angle)
        ours.append(middle - start)
        plain.append(time.perf_counter() - middle)
    ours_best, plain_best = angle.size / 1e6 / min(ours), angle.size / 1e6 / min(plain)
    return (
        f"dim {dim:4}, base {base!r:9}, positions below 2^{bits}: {ours_best:.1f} million pairs a "
        f"second, plain float64 cos, sin of the same angles {plain_best:.1f}, ratio "
        f"{ours_best / plain_best:.2f}"
    )


if __name__ == "__main__":
    main()

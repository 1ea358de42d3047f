"""Sequences of calls that share lengths, widths, dtypes and positions, or go ever further out."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Unpack

import numpy as np

from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.edges import edge, powers
from ropespec.conformance.judge.values import ALIKE, numpy_dtype
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.profile import Profile
from ropespec.spec.convention import Keywords

__all__ = ["much_like", "rising", "sequences"]


def sequences(maker: Maker, seed: int) -> Iterator[list[Given]]:
    """Make sequences of calls that meet each other's lengths, widths, dtypes and positions."""
    dims, dtypes = maker.dims[: 1 if maker.profile.compiles else 4], maker.profile.dtypes
    compiled = maker.profile.compiles
    lengths = (5, 8, 1) if compiled else (5, 8, 1, 1, 5, 3, 12, 1, 8, 7, 5, 2, 1, 1, 1, 17, 5, 3)
    patterns = ["from", "scattered", "ragged", "arange", "gaps"]
    patterns += ["signs"] if maker.profile.negative_positions else []
    for k, begin in enumerate((0, 3, 7, 11)):
        rng = np.random.default_rng([seed, k])
        calls = list[Given]()
        for n in range(20 if compiled else 42):
            at = (begin + n) % len(lengths)
            rows = (1, 2, 1, 3)[int(rng.integers(4))] if not compiled else 2
            dim = dims[int(rng.integers(len(dims)))] if n % 3 == k % 3 else dims[0]
            pattern = patterns[int(rng.integers(len(patterns)))]
            dtype = dtypes[int(rng.integers(len(dtypes)))]
            shape = (rows, lengths[at], 2)
            given = maker.given(shape, pattern, 50 * seed + 100 * k + n, dim=dim, dtype=dtype)
            calls.append(given)
            if n % 6 == 3:
                calls.append(edge(maker, int(rng.choice(powers(maker))), dim, dtype))
            if n % 7 == 5:
                calls += [given, given]
            if n % 5 == 3 and shape[1] >= _TELLING:
                calls += [*much_like(given, rng, maker.profile), *_asked_otherwise(given, maker)]
            if n % 8 == 1:
                calls += _going_on(given, maker)
            if n in (20, 34) and not compiled:
                calls.append(maker.given((1, 1, 1), "far", seed + n, dim=dim, dtype=dtype))
            if n == 30 and not compiled:
                calls.append(maker.given((1, 3001, 1), "arange", seed, dim=min(dims), dtype=dtype))
        yield calls


def rising(maker: Maker, seed: int) -> list[Given]:
    """Return calls ever further out, each before a usual one: what is made anew lasts from one."""
    calls, dim, dtype = list[Given](), maker.dims[0], maker.profile.dtypes[0]
    for k, power in enumerate(sorted(powers(maker))):
        calls.append(edge(maker, power, dim, dtype))
        calls.append(maker.given((2, 5, 2), "scattered", 90 * seed + k, dim=dim, dtype=dtype))
        calls += _alike_in_low_bits(calls[-1], power, maker.profile)
    return [*maker.numbers(), *calls]


def _alike_in_low_bits(given: Given, power: int, claimed: Profile) -> list[Given]:
    """Return a call whose positions are alike modulo a power of two, new ones before known ones."""
    p = given.positions.copy()
    known = p[:, 1::2]
    p[:, :-1:2] = known % 2**power + 2**power * (1 + known // 2**power % 2)
    if claimed.compiles or p.max() > claimed.max_position:
        return []
    return [replace(given, positions=p)]


_TELLING = 3
"""As many positions can have the same ends and be others."""


def much_like(given: Given, rng: np.random.Generator, claimed: Profile) -> list[Given]:
    """Return two calls at positions that share something with those of a call, and it again."""
    others = list[Given]()
    for what in rng.choice(sorted(ALIKE), 2, replace=False):
        p = np.array(ALIKE[what](given.positions))
        near = np.abs(p).max(initial=0) <= claimed.max_position
        if near and not (claimed.shared_positions and (p != p[:1]).any()):
            others.append(replace(given, positions=p))
    if given.axes:
        others += _alike_in_a_number(given, int(rng.integers(max(given.axes) + 1)), claimed)
    return [*others, given]


def _alike_in_a_number(given: Given, number: int, claimed: Profile) -> list[Given]:
    """Return two calls whose tokens have one number alike, and others that differ."""
    alone = replace(given, only=number)
    usual = replace(given, positions=given.positions + 7 * number)
    return [alone, usual] if usual.positions.max(initial=0) <= claimed.max_position else []


def _going_on(given: Given, maker: Maker) -> list[Given]:
    """Return three calls of a token, each one further than the last, as in generation."""
    start = np.full((len(given.positions), 1), given.positions.max(initial=-1) + 1)
    if start.max(initial=0) + 2 > maker.profile.max_position:
        return []
    return [replace(given, x=given.x[:, :1], positions=start + step) for step in range(3)]


def _asked_otherwise(given: Given, maker: Maker) -> list[Given]:
    """Return calls at the same positions in another dtype, layout and base, where there is one."""
    found = list[Given]()
    if others := [one for one in maker.profile.dtypes if one != given.dtype]:
        kind = numpy_dtype(others[len(given.x) % len(others)])
        found.append(replace(given, x=given.x.astype(kind)))
    if len({*maker.profile.layouts}) > 1:
        found.append(_stating(given, interleaved=not given.interleaved))
    if "base" in maker.taken:
        other = _stating(given, base=500.0 if given.base != 500.0 else 10000.0)
        found += [other, replace(other, positions=other.positions // 2)]
    return [*found, given] if found else []


def _stating(given: Given, **keywords: Unpack[Keywords]) -> Given:
    return replace(given, convention=given.convention.stating(**keywords))

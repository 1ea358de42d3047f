# The name of a case says what it does; each is one line of difference from a right one.
"""Mistakes that resemble a known one, each under the names that may be given to it."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

CASES: dict[str, tuple[tuple[str, ...], dict[str, Any], Callable[..., Any]]] = {}


def case(*names, **claims):
    """Register a mistake under the names that are right for it; claims default to half-split."""

    def register(function):
        CASES[function.__name__] = (names, {"interleaved": False, **claims}, function)
        return function

    return register


def theta(d, base=10000.0):
    return base ** (-np.arange(0, d, 2) / d)


def angle(p, frequencies):
    return np.asarray(p, dtype=np.float64)[..., None] * frequencies


def half(x, c, s):
    c, s, n = c[..., None, :], s[..., None, :], x.shape[-1] // 2
    u, v = x[..., :n].astype(np.float64), x[..., n:].astype(np.float64)
    return np.concatenate([u * c - v * s, v * c + u * s], -1).astype(x.dtype)


def turn(x, a):
    return half(x, np.cos(a), np.sin(a))


def rope(x, p, base=10000.0):
    return turn(x, angle(p, theta(x.shape[-1], base)))


def bf16(a):
    return a.astype(ml_dtypes.bfloat16).astype(np.float64)


@case("cos and sin of different angles")
def sines_one_row_late(x, p):
    f = theta(x.shape[-1])
    return half(x, np.cos(angle(p, f)), np.sin(angle(p - 1, f)))


@case("cos and sin of different angles")
def sines_of_another_base(x, p):
    d = x.shape[-1]
    return half(x, np.cos(angle(p, theta(d))), np.sin(angle(p, theta(d, 500000.0))))


@case("positions scaled")
def degrees(x, p):
    return turn(x, np.deg2rad(angle(p, theta(x.shape[-1]))))


@case("made of another token", rotary_dim=16, head_dims=(24,))
def tail_of_the_previous_token(x, p):
    return np.concatenate([rope(x[..., :16], p), np.roll(x[..., 16:], 1, axis=1)], -1)


@case("rotated by the position of another")
def sorted_positions(x, p):
    return rope(x, np.sort(p, axis=-1))


@case("rotated by the position of another")
def row_before(x, p):
    return rope(x, np.concatenate([p[:1], p[:-1]]))


@case("beyond the table")
def not_a_number_beyond_8192(x, p):
    y = rope(x, p)
    y[p >= 8192] = np.nan
    return y


@case("beyond the table")
def zero_beyond_4096(x, p):
    y = rope(x, p)
    y[np.abs(p) >= 4096] = 0
    return y


@case("rows not filled")
def every_thousandth_row_is_empty(x, p):
    y = rope(x, p)
    y[(p >= 1000) & (p % 1000 == 0)] = 0
    return y


@case("attention factor")
def gain_from_8192_on(x, p):
    return (rope(x, p) * np.where(p >= 8192, 1.07, 1.0)[..., None, None]).astype(x.dtype)


@case("positions of one row for all")
def first_row_for_single_tokens(x, p):
    return rope(x, np.broadcast_to(p[:1], p.shape) if x.shape[1] == 1 else p)


_by_ends: dict[Any, Any] = {}
_by_parity: dict[Any, Any] = {}


@case("stale positions")
def kept_by_the_ends(x, p):
    key = (p.shape, x.shape[-1], int(p.flat[0]), int(p.flat[-1])) if p.size else ()
    return rope(x, _by_ends.setdefault(key, p.copy()))


@case("history", "stale positions", "not repeatable")
def kept_by_every_other_call(x, p):
    key = (_by_parity.setdefault("calls", 0) % 2, p.shape)
    _by_parity["calls"] += 1
    return rope(x, _by_parity.setdefault(key, p.copy()))


@case("positions in 8 bits")
def signed_8(x, p):
    return rope(x, p.astype(np.int8))


@case("beyond the table", "positions in 8 bits")
def unsigned_8(x, p):
    return rope(x, np.where(p < 0, p, p % 256))


@case("beyond the table", "positions in 24 bits", max_position=2**31 - 1)
def unsigned_24(x, p):
    return rope(x, np.where(p < 0, p, p % 2**24))


@case("coarse table")
def sines_in_steps(x, p):
    a = angle(p, theta(x.shape[-1]))
    return half(x, np.cos(a), np.round(np.sin(a) * 127) / 127)


@case("angle depends on other tokens")
def small_steps_only(x, p):
    steps = np.diff(p, axis=1).astype(np.int8).astype(np.int64)
    return rope(x, np.concatenate([p[:, :1], p[:, :1] + np.cumsum(steps, axis=1)], 1))


@case("counted from the first position")
def run_if_the_ends_fit(x, p):
    fits = p[:, -1] - p[:, 0] == p.shape[1] - 1 if p.size else np.zeros(len(p), bool)
    return rope(x, np.where(fits[:, None], p[:, :1] + np.arange(p.shape[1]), p))


@case("angles or products in half precision")
def one_product_in_bfloat16(x, p):
    a, n = angle(p, theta(x.shape[-1]))[..., None, :], x.shape[-1] // 2
    u, v = x[..., :n].astype(np.float64), x[..., n:].astype(np.float64)
    c, s = np.cos(a), np.sin(a)
    return np.concatenate([u * c - bf16(v * s), v * c + bf16(u * s)], -1).astype(x.dtype)


@case("x demoted")
def components_cut_away_from_position_0(x, p):
    cut = rope(bf16(x.astype(np.float64)), p)
    return np.where((p == 0)[..., None, None], x, cut).astype(x.dtype)


@case("table in half precision")
def sines_in_bfloat16(x, p):
    a = angle(p, theta(x.shape[-1]))
    return half(x, np.cos(a), bf16(np.sin(a)))


@case("negative positions zeroed")
def minus_one_is_padding(x, p):
    y = rope(x, p)
    y[p == -1] = 0
    return y


@case("wrong base")
def base_10010(x, p):
    return rope(x, p, 10010.0)


@case("exponent in half precision")
def exponent_in_float16(x, p):
    d = x.shape[-1]
    e = (np.arange(0, d, 2) / d * np.log(10000.0)).astype(np.float16).astype(np.float64)
    return turn(x, angle(p, np.exp(-e)))


@case("frequencies in equal steps")
def equal_steps(x, p):
    return turn(x, angle(p, np.linspace(1, 1e-4, x.shape[-1] // 2)))


@case("frequencies in another order")
def slower_half_backwards(x, p):
    f = theta(x.shape[-1])
    f[len(f) // 2 :] = f[len(f) // 2 :][::-1].copy()
    return turn(x, angle(p, f))


@case("frequencies repeated")
def frequencies_again(x, p):
    f = theta(x.shape[-1])
    return turn(x, angle(p, f[np.arange(len(f)) % (len(f) // 2)]))


@case("wrong exponent")
def ladder_of_128(x, p):
    return turn(x, angle(p, theta(128)[: x.shape[-1] // 2]))


@case("tail scaled", rotary_dim=16, head_dims=(24,))
def tail_times_1_1(x, p):
    tail = (1.1 * x[..., 16:]).astype(x.dtype)
    return np.concatenate([rope(x[..., :16], p), tail], -1)


@case("pairs in another order")
def halves_exchanged(x, p):
    return np.roll(rope(x, p), x.shape[-1] // 2, axis=-1)


@case("beyond a block")
def second_block_one_back(x, p):
    i = np.arange(p.shape[1])
    return rope(x, p[:, np.where(i >= 128, i - 1, i)])


@case("beyond a block")
def rows_from_64_on_by_row_0(x, p):
    return rope(x, np.where(np.arange(len(p))[:, None] >= 64, p[:1], p))


@case("tokens left out")
def odd_last_row(x, p):
    y = rope(x, p)
    if len(x) > 1 and len(x) % 2:
        y[-1] = x[-1]
    return y


@case("fast sine")
def short_two_pi(x, p):
    return turn(x, np.fmod(angle(p, theta(x.shape[-1])), 6.2831))

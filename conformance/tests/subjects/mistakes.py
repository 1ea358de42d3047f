# ruff: noqa: ARG001  # a mistake may be not to look at the positions
"""Variants of known mistakes that no list holds: other half, axis, row, call, dtype or layout."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16
VARIANTS: dict[str, tuple[str, dict[str, Any], Callable[..., Any]]] = {}


def variant(id_, **claims):
    """Register a mistake under its id; claims default to half-split."""

    def register(function):
        VARIANTS[function.__name__] = (id_, {"interleaved": False, **claims}, function)
        return function

    return register


def theta(d, base=10000.0):
    return base ** (-np.arange(0, d, 2) / d)


def angle(p, d, base=10000.0):
    return p.astype(np.float64)[..., None] * theta(d, base)


def half(x, a, gain=1.0):
    c, s = gain * np.cos(a)[..., None, :], gain * np.sin(a)[..., None, :]
    n = x.shape[-1] // 2
    u, v = x[..., :n].astype(np.float64), x[..., n:].astype(np.float64)
    return np.concatenate([u * c - v * s, v * c + u * s], -1).astype(x.dtype)


def woven(x, a):
    c, s = np.cos(a)[..., None, :], np.sin(a)[..., None, :]
    u, v = x[..., 0::2].astype(np.float64), x[..., 1::2].astype(np.float64)
    return np.stack([u * c - v * s, v * c + u * s], -1).reshape(x.shape).astype(x.dtype)


def rope(x, p, base=10000.0):
    return half(x, angle(p, x.shape[-1], base))


def rope2(x, p, base=10000.0):
    return woven(x, angle(p, x.shape[-1], base))


@variant("S1", interleaved=True)
def clockwise_pairs(x, p):
    return rope2(x, -p)


@variant("P3", interleaved=True)
def one_less(x, p):
    return rope2(x, p - 1)


@variant("A1", interleaved=True)
def twice_pairs(x, p):
    return rope2(rope2(x, p), p)


@variant("K6")
def doubled_positions(x, p):
    return rope(x, 2 * p)


@variant("F1", interleaved=True)
def base_million(x, p):
    return rope2(x, p, 1e6)


@variant("F1")
def base_odd(x, p):
    return rope(x, p, 25000.0)


@variant("F3", interleaved=True)
def d_minus_2_pairs(x, p):
    d = x.shape[-1]
    t = 10000.0 ** (-2 * np.arange(d // 2) / max(d - 2, 1))
    return woven(x, p.astype(float)[..., None] * t)


@variant("F2", interleaved=True, base=500.0)
def growing_pairs(x, p):
    return woven(x, p.astype(float)[..., None] / theta(x.shape[-1], 500.0))


@variant("B5")
def last_row(x, p):
    return rope(x, np.broadcast_to(p[-1:], p.shape))


@variant("P6", interleaved=True)
def smallest_row(x, p):
    return rope2(x, np.broadcast_to(p.min(0, initial=2**60), p.shape))


@variant("P4")
def first_position(x, p):
    return rope(x, np.broadcast_to(p[:, :1], p.shape))


@variant("P1", axes="bhsd")
def counted_bhsd(x, p):
    p = np.broadcast_to(np.arange(x.shape[2]), (x.shape[0], x.shape[2]))
    return rope(x.transpose(0, 2, 1, 3), p).transpose(0, 2, 1, 3)


@variant("B6")
def zeros_at_one_token(x, p):
    y = rope(x, p)
    if x.shape[1] == 1:
        y[1:] = 0
    return y


@variant("A3")
def one_head_unturned(x, p):
    return x.copy() if x.shape[2] == 1 else rope(x, p)


@variant("A3")
def one_row_unturned(x, p):
    return x.copy() if x.shape[0] == 1 else rope(x, p)


@variant("L6")
def other_pairs_at_one_token(x, p):
    return rope2(x, p) if x.shape[1] == 1 else rope(x, p)


@variant("L6", dtypes=("float32", "bfloat16"))
def other_pairs_in_bfloat16(x, p):
    return rope2(x, p) if x.dtype == BF16 else rope(x, p)


@variant("K12")
def other_base_at_one_token(x, p):
    return rope(x, p, 500000.0) if x.shape[1] == 1 else rope(x, p)


@variant("M6")
def doubled_at_one_token(x, p):
    return rope(x, 2 * p) if x.shape[1] == 1 else rope(x, p)


@variant("D2", dtypes=("float32", "bfloat16"), interleaved=True)
def positions_in_dtype_of_x(x, p):
    return rope2(x, p.astype(x.dtype).astype(np.float64))


@variant("D2")
def positions_in_float16_interleaved(x, p):
    with np.errstate(all="ignore"):
        return rope(x, np.minimum(p.astype(np.float16).astype(np.float64), 65504))


@variant("D1", interleaved=True, base=500000.0)
def frequencies_bfloat16(x, p):
    t = theta(x.shape[-1], 500000.0).astype(BF16).astype(np.float64)
    return woven(x, p.astype(float)[..., None] * t)


@variant("D1", dtypes=("float32", "bfloat16"))
def frequencies_in_dtype_of_x(x, p):
    t = theta(x.shape[-1]).astype(x.dtype).astype(np.float64)
    return half(x, p.astype(float)[..., None] * t)


@variant("D3", interleaved=True)
def angles_float16(x, p):
    with np.errstate(all="ignore"):
        a = (p.astype(np.float16)[..., None] * theta(x.shape[-1]).astype(np.float16)).astype(float)
        return woven(x, a)


@variant("D4", interleaved=True)
def table_float16_pairs(x, p):
    a = angle(p, x.shape[-1])
    c, s = (f(a).astype(np.float16).astype(float)[..., None, :] for f in (np.cos, np.sin))
    u, v = x[..., 0::2].astype(float), x[..., 1::2].astype(float)
    return np.stack([u * c - v * s, v * c + u * s], -1).reshape(x.shape).astype(x.dtype)


@variant("D12", dtypes=("float64",))
def frequencies_float32_for_float64(x, p):
    t = theta(x.shape[-1]).astype(np.float32).astype(np.float64)
    return half(x, p.astype(float)[..., None] * t)


@variant("D8", precision="float32-angles")
def short_two_pi(x, p):
    turn = np.float32(6.28318)
    a = p.astype(np.float32)[..., None] * theta(x.shape[-1]).astype(np.float32)
    return half(x, (a - np.floor(a / turn) * turn).astype(float))


@variant("D9")
def sine_out_of_range(x, p):
    length = np.maximum(np.abs(p) / 1e5, 1.0) ** 2
    return (rope(x, p) * length[..., None, None]).astype(x.dtype)


@variant("D10", dtypes=("float16",))
def promoted_float16(x, p):
    return rope(x.astype(np.float32), p)


@variant("C5", interleaved=True)
def wraps_at_4096(x, p):
    return rope2(x, np.sign(p) * (np.abs(p) % 4096))


@variant("C5")
def identity_past_1024(x, p):
    return rope(x, np.where(np.abs(p) >= 1024, 0, p))


@variant("C5", negative_positions=False, max_position=3000)
def clamped_at_2000(x, p):
    return rope(x, np.clip(p, 0, 1999))


_lengths: dict[int, Any] = {}


@variant("C4", dtypes=("float32", "bfloat16"))
def table_of_first_dtype(x, p):
    key = (x.shape[1], p.tobytes())
    a = angle(p, x.shape[-1])
    dtype = _lengths.setdefault(key, x.dtype)
    c, s = (f(a).astype(dtype).astype(float)[..., None, :] for f in (np.cos, np.sin))
    n = x.shape[-1] // 2
    u, v = x[..., :n].astype(float), x[..., n:].astype(float)
    return np.concatenate([u * c - v * s, v * c + u * s], -1).astype(x.dtype)


_state = {"base": 10000.0}


@variant("K2")
def base_kept_after_long(x, p):
    d = x.shape[-1]
    if x.shape[1] > 2048:
        _state["base"] = 10000.0 * (x.shape[1] / 2048) ** (d / (d - 2))
    return rope(x, p, _state["base"])


@variant("K13", interleaved=True)
def gain_pairs(x, p):
    return (1.2079 * rope2(x, p).astype(np.float64)).astype(x.dtype)


@variant("K1")
def linear_scaling(x, p):
    return rope(x, p / 4)


@variant("R1", rotary_dim=8, head_dims=(16, 32))
def distance_of_head(x, p):
    y, d = x.copy(), x.shape[-1]
    part = np.concatenate([x[..., :4], x[..., d // 2 : d // 2 + 4]], -1)
    turned = rope(part, p)
    y[..., :4], y[..., d // 2 : d // 2 + 4] = turned[..., :4], turned[..., 4:]
    return y


@variant("R1", rotary_dim=16, head_dims=(64,), interleaved=True)
def exponent_of_head(x, p):
    t = 10000.0 ** (-np.arange(0, 16, 2) / 64)
    turned = woven(x[..., :16], p.astype(float)[..., None] * t)
    return np.concatenate([turned, x[..., 16:]], -1)


@variant("R6", rotary_dim=24, head_dims=(64,))
def padded_width(x, p):
    return np.concatenate([rope(x[..., :32], p), x[..., 32:]], -1)


@variant("R3")
def half_of_head_turns(x, p):
    n = x.shape[-1] // 2
    return np.concatenate([rope(x[..., :n], p), x[..., n:]], -1)


@variant("R4", rotary_dim=8, head_dims=(16, 32))
def discarded(x, p):
    rope(x[..., :8], p)
    return x.copy()


@variant("R9", rotary_dim=8, head_dims=(24,), interleaved=True)
def last_eight(x, p):
    return np.concatenate([x[..., :16], rope2(x[..., 16:], p)], -1)


@variant("X1", interleaved=True, axes="bhsd")
def tokens_for_heads(x, p):
    heads = np.broadcast_to(np.arange(x.shape[1])[None, :, None], x.shape[:3])
    return rope2(x[..., None, :], heads + 0 * p[:, None, :])[..., 0, :]


@variant("X3", interleaved=True)
def width_of_model(x, p):
    d = x.shape[-1] * x.shape[-2]
    t = 10000.0 ** (-np.arange(0, x.shape[-1], 2) / d)
    return woven(x, p.astype(float)[..., None] * t)


@variant("X4", axes="bhsd")
def back_to_bshd(x, p):
    y = rope(x.transpose(0, 2, 1, 3), p)
    return y if x.shape[2] == 1 else y.transpose(0, 2, 1, 3)


@variant("M2", interleaved=True)
def overwritten_pairs(x, p):
    a = angle(p, x.shape[-1])[..., None, :]
    c, s = np.cos(a), np.sin(a)
    u, v = x[..., 0::2].astype(float), x[..., 1::2].astype(float)
    v = v * c + u * s
    u = u * c - v * s
    return np.stack([u, v], -1).reshape(x.shape).astype(x.dtype)


@variant("D13", interleaved=True)
def real_part_pairs(x, p):
    a = np.repeat(np.cos(angle(p, x.shape[-1])), 2, -1)[..., None, :]
    return (x * a).astype(x.dtype)


@variant("L3", interleaved=True, rotary_dim=16, head_dims=(32,))
def left_deinterleaved_part(x, p):
    y = rope2(x[..., :16], p)
    return np.concatenate([y[..., 0::2], y[..., 1::2], x[..., 16:]], -1)


@variant("C1")
def positions_kept_for_good(x, p):
    row = _lengths.setdefault(("row", x.shape[1]), p[:1].copy())
    return rope(x, np.broadcast_to(row, p.shape))


@variant("I1")
def not_initialised(x, p):
    t = np.random.default_rng(5).uniform(0, 1e-15, x.shape[-1] // 2)
    t[0] = 0.3
    return half(x, p.astype(float)[..., None] * t)


@variant("P2")
def offset_advances_with_the_length(x, p):
    before = _state.get("seen", 0)
    _state["seen"] = before + x.shape[1] % 31
    return rope(x, p + before)


@variant("S1")
def slow_half_clockwise(x, p):
    a = angle(p, x.shape[-1])
    a[..., a.shape[-1] // 2 :] *= -1
    return half(x, a)


@variant("F3", base=500000.0, interleaved=True)
def index_from_1_of_another_base(x, p):
    d = x.shape[-1]
    return woven(x, p.astype(float)[..., None] * 500000.0 ** (-2 * np.arange(1, d // 2 + 1) / d))


@variant("")
def all_lengths_doubled_and_not_turned(x, p):
    return 2 * x


@variant("")
def not_a_number(x, p):
    return np.full_like(x, np.nan)


@variant("")
def noise(x, p):
    return rope(x, p) + np.random.default_rng().normal(size=x.shape).astype(x.dtype)


@variant("")
def second_head_left_alone(x, p):
    y = rope(x, p)
    y[:, :, 1::2] = x[:, :, 1::2]
    return y


@variant("")
def dense_and_random(x, p):
    return (x @ np.random.default_rng(0).normal(size=(x.shape[-1],) * 2)).astype(x.dtype)


@variant("")
def every_other_pair_turns(x, p):
    a = angle(p, x.shape[-1])
    a[..., ::2] = 0
    return half(x, a)


@variant("E3", interleaved=True)
def first_seven_tokens_only(x, p):
    y = rope2(x, p)
    y[:, 7:] = 0
    return y


@variant("P2")
def offset_kept_for_single_tokens(x, p):
    return rope(x, p + 11) if x.shape[1] == 1 else rope(x, p)


@variant("O3", interleaved=True)
def grid_of_65535(x, p):
    y = rope2(x, p)
    y[:, 65535:] = 0
    return y

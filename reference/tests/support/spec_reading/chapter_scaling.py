"""What the symbols of the chapter `scaling` stand for: frequencies of the reference."""

import math
from collections.abc import Callable, Mapping
from decimal import Context, localcontext
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from ropespec.reference import (
    apply_rotary,
    apply_rotary_scaled,
    cos_sin_scaled,
    inv_freq,
    inv_freq_scaled,
)
from ropespec.reference.scaling import base_dynamic, base_dynamic_paper, base_ntk, gain_of
from ropespec.reference.scaling_blends import softmax_gain, yarn_gain, yarn_index, yarn_range
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Proportional,
    Scaling,
    Yarn,
)

__all__ = ["BINDINGS"]

Environment = Mapping[str, Any]

_D, _BASE, _L = 12, 50.0, 97
_THETA = inv_freq(_D, _BASE)
_FACTORS = (1.0, 1.25, 2.0, 3.5, 5.0, 9.0), (1.0, 2.0, 4.0, 8.5, 30.0, 64.0)
_YARN = Yarn(3.0, 97)
_SCHEMES: tuple[Scaling, ...] = (Linear(3.0), _YARN, NtkByParts(2.5, 97))


def _scaled(scaling: Scaling, i: int = 2) -> dict[str, Any]:
    turns = _L * _THETA / (2 * math.pi)
    return {
        "d": _D, "base": _BASE, "i": i, "θ": _THETA, "L": _L, "r": turns, "clip": np.clip,
        "ω": inv_freq_scaled(_D, _BASE, scaling=scaling), "s": getattr(scaling, "factor", None),
    }  # fmt: skip


def _general() -> list[Environment]:
    found = []
    for scaling in _SCHEMES:
        x = np.arange(1.0, 1 + _D) ** 2

        def rotation(m: int, scaling: Scaling = scaling) -> np.ndarray:
            plain = Yarn(3.0, 97, attention_factor=1.0) if scaling is _YARN else scaling
            return _matrix(m, plain)

        bound = {
            "m": 3, "A": gain_of(scaling), "x": x, "R": rotation,
            "C": lambda m, i, s=scaling: _table(m, s)[0][i],
            "S": lambda m, i, s=scaling: _table(m, s)[1][i],
            "y": _turned(x, 3, scaling), **_phase(scaling),
        }  # fmt: skip
        found.append(_scaled(scaling) | bound)
    return found


def _table(m: int, scaling: Scaling) -> tuple[np.ndarray, np.ndarray]:
    return cos_sin_scaled(m, _D, _BASE, scaling=scaling)


def _phase(scaling: Scaling) -> Environment:
    with localcontext(Context(prec=60)):
        omega = Fraction(scaling.theta(_BASE, _D)[2])
    with mpmath.workdps(60):
        circle = Fraction(int(mpmath.pi * 2**150), 2**150)
    return {"ω_i": omega, "π": circle, "T_i": round(omega / (2 * circle) * 2**64)}


def _turned(x: np.ndarray, m: int, scaling: Scaling) -> np.ndarray:
    rows = x.reshape(1, 1, -1)
    return apply_rotary_scaled(rows, [m], interleaved=False, scaling=scaling, base=_BASE).ravel()


def _matrix(m: int, scaling: Scaling) -> np.ndarray:
    return np.stack([_turned(row, m, scaling) for row in np.eye(_D)], axis=1)


def _ntk(scaling: Scaling, c: float, **more: Any) -> Environment:
    return _scaled(scaling) | {"c": c} | more


def _paper(length: int) -> Environment:
    c = base_dynamic_paper(_D, _BASE, _L, length)
    return _ntk(PaperDynamicNtk(_L, length), c, l=length, s=max(1.0, length / _L))


def _dynamic(factor: float, length: int) -> Environment:
    longer = max(length, _L)
    return _ntk(
        DynamicNtk(factor, _L, length), base_dynamic(_D, _BASE, factor, _L, length), l=longer
    )


def _of_one() -> Environment:
    """A factor of 1, for which both ways to count the length are one."""
    return _dynamic(1.0, 200)


def _parts(i: int) -> Environment:
    alpha, beta = 1.5, 9.0
    found = _scaled(NtkByParts(2.5, _L, alpha, beta), i)
    gamma = np.clip((found["r"] - alpha) / (beta - alpha), 0, 1)
    return found | {"α": alpha, "β": beta, "γ": gamma}


def _yarn(i: int, fast: float = 8.0, slow: float = 0.5) -> Environment:
    low, high = yarn_range(_D, _BASE, _L, fast, slow, truncate=True)
    found = _scaled(Yarn(3.0, _L, fast, slow), i)
    return found | {
        "index": lambda n: yarn_index(n, _D, _BASE, _L), "n": 3.0, "ceil": math.ceil,
        "low": low, "high": high, "β_fast": fast, "β_slow": slow,
        "ramp": np.clip((np.arange(_D // 2) - low) / (high - low), 0, 1),
    }  # fmt: skip


def _growth(s: float, c: float) -> float:
    return yarn_gain(s, c, 1e-300)


def _gain() -> list[Environment]:
    found = {"A": yarn_gain(7.0), "s": 7.0, "g": _growth, "t": yarn_gain(7.0) ** -2}
    gains = [
        found | {"B": yarn_gain(7.0, *c), "c_1": c[0], "c_2": c[1]} for c in ((0.7, 0.3), (1, 2))
    ]
    return [one | {"c": c} for one in gains for c in (0.4, 2.0)]


def _long(length: int) -> Environment:
    scaling = LongRope(*_FACTORS, factor=32.0, original_length=_L, length=length)
    factors = np.array(_FACTORS[length > _L])
    return _scaled(scaling, 4) | {"e": factors, "l": min(length, _L), "A": gain_of(scaling)}


def _llama(i: int) -> Environment:
    low, high = 1.5, 9.0
    found = _scaled(Llama3(8.0, low, high, _L), i)
    return found | {"low": low, "high": high, "σ": (found["r"] - low) / (high - low)}


def _proportional() -> Environment:
    found = _scaled(Proportional(0.6, 2.0), 1)
    return found | {"p": 0.6, "n": 3, "j": 2}


def _scores() -> Environment:
    q, k = np.cos(np.arange(_D)), np.arange(_D) - 2.5
    scaling, plain = Yarn(3.0, _L), Yarn(3.0, _L, attention_factor=1.0)

    def rotation(*at: Any) -> np.ndarray:
        return _matrix(at[-1], plain)

    return _scaled(scaling) | {
        "q": q, "k": k, "m": 5, "n": -2, "A": gain_of(scaling), "R": rotation,
        "G": softmax_gain(3.0, 0.7), "c_2": 0.7, "s": 3.0,
        "g": _growth,
    }  # fmt: skip


def _plain() -> Environment:
    """No scaling at all."""
    x = np.ones((1, 1, _D))
    assert (apply_rotary(x, [0], interleaved=False) == x).all()
    return {"θ": _THETA, "ω": _THETA, "A": 1.0, "i": 3, "L": _L, "r": _L * _THETA / (2 * math.pi)}


BINDINGS: dict[str, Callable[[], Any]] = {
    "intro": _plain,
    "SCAL-1": _general,
    "SCAL-2": lambda: _scaled(Linear(3.0)) | {"m": 6},
    "SCAL-3": lambda: _ntk(NtkAware(3.0), base_ntk(_D, _BASE, 3.0)),
    "SCAL-4": lambda: [_paper(300), _paper(50)],
    "SCAL-5": lambda: [_dynamic(2.5, 300), _dynamic(2.5, 50)],
    "SCAL-6": lambda: [_parts(i) for i in (0, 2, 5)],
    "SCAL-7": lambda: [*(_yarn(i) for i in (0, 2, 5)), _yarn(4, 50.0, 1e-12)],
    "SCAL-8": _gain,
    "SCAL-9": lambda: [_long(90), _long(98)],
    "SCAL-10": lambda: [_llama(2), _llama(3)],
    "SCAL-11": _proportional,
    "SCAL-12": _scores,
    "SCAL-13": _scores,
}

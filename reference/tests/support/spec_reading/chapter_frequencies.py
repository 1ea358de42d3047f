"""What the symbols of the chapter `frequencies` stand for."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import mpmath
import numpy as np

from ropespec.reference import angles, cos_sin, inv_freq
from ropespec.reference.frequencies import (
    div_term,
    duplicate_half,
    duplicate_interleaved,
    pow_via_exp,
    theta_from_arange,
    theta_llama,
    theta_one_based,
    theta_pow,
    theta_step2,
)
from spec_reading.relations import wrong

__all__ = ["BINDINGS", "TABLES"]

_D, _BASE = 8, 100.0
_THETA = inv_freq(_D, _BASE)


def _frequencies(i: int = 2) -> dict[str, object]:
    domain = {"i ∈": range(_D // 2)}
    return {"d": _D, "base": _BASE, "i": i, **domain, "θ": _THETA, "Θ": inv_freq(_D, _BASE)}


def _near_the_end() -> Mapping[str, object]:
    d = 200  # the last frequency is close to 1/base
    found = inv_freq(d, _BASE)
    return {"d": d, "base": _BASE, "i": d // 2 - 2, "i ∈": range(d // 2), "θ": found, "Θ": found}


def _labelled() -> Mapping[str, object]:
    one, two = theta_one_based(_D), theta_step2(_D)
    return {
        "d": _D, "base": 10000.0, "i": 2, "i ∈": range(_D // 2),
        "θ^(0)": inv_freq(_D), "θ^(1)": one.__getitem__, "θ^(2)": two.__getitem__,
    }  # fmt: skip


def _code_forms() -> list[Mapping[str, object]]:
    forms = (inv_freq, theta_from_arange, theta_llama, theta_pow, div_term)
    symbols = {"arange": np.arange, "pow": np.power, "ids": np.arange(_D // 2), "a": 3.0, "x": -1.5}
    power = {"a^x": float(pow_via_exp(3.0, -1.5))}
    return [{**_frequencies(), **symbols, **power, "θ": form(_D, _BASE)} for form in forms]


def _positions() -> list[Mapping[str, object]]:
    whole = np.iinfo(np.int64)
    ends = {"least": int(whole.min), "greatest": int(whole.max)}
    return [{"m": m, **ends} for m in (int(whole.min), -5, 0, int(whole.max))]


def _angles() -> list[Mapping[str, object]]:
    return [{"m": m, "i": 3, "θ": _THETA, "φ": _angle} for m in (-5, 7)]


def _angle(m: int, i: int) -> float:
    return float(angles(m, _THETA)[i])


def _twice() -> Mapping[str, object]:
    doubled = {
        "duplicate_interleaved": duplicate_interleaved, "duplicate_half": duplicate_half,
    }  # fmt: skip
    return {**_frequencies(), **doubled, "m": -3, "a": np.array([2.0, 3.0, 5.0, 7.0])}


def _tables() -> list[Mapping[str, object]]:
    found: list[Mapping[str, object]] = []
    for m, i in ((-5, 2), (4095, 3), (2**20 + 1, 1)):
        with mpmath.workdps(60):
            exact = mpmath.mpf(_BASE) ** (-mpmath.mpf(2 * i) / _D)
            turns = int(mpmath.nint(exact / (2 * mpmath.pi) * mpmath.mpf(2) ** 64))
            rational, circle = (Fraction(int(x * 2**150), 2**150) for x in (exact, mpmath.pi))
        common = {"m": m, "i": i, "π": circle, "T_i": turns, "phase_i": m * turns % 2**64}
        found.append({**common, "C": _cosine, "S": _sine, "θ_i": rational})
    return found


def _cosine(m: int, i: int) -> float:
    return float(cos_sin(m, _D, _BASE)[0][i])


def _sine(m: int, i: int) -> float:
    return float(cos_sin(m, _D, _BASE)[1][i])


def _three_ways(rows: list[dict[str, str]]) -> list[str]:
    """Compare every way to count with the function that counts so."""
    ways = {
        "from 0": dict(enumerate(inv_freq(_D, _BASE).tolist())),
        "from 1": theta_one_based(_D, _BASE),
        "by even numbers": theta_step2(_D, _BASE),
    }
    found = [] if [row["counted"] for row in rows] == list(ways) else ["other ways to count"]
    for row in rows:
        labelled = ways.get(row["counted"], {})
        for label, theta in labelled.items():
            bound = {"d": _D, "base": _BASE, "i": label, "i ∈": list(labelled), "θ_i": theta}
            found += wrong(f"i ∈ {{{row['labels i']}}}, θ_i = {row['θ_i']}", bound)
    return found


BINDINGS: dict[str, Callable[[], Mapping[str, object] | list[Mapping[str, object]]]] = {
    "intro": _frequencies,
    "FREQ-1": lambda: [{"d": 2}, {"d": 6}],
    "FREQ-2": lambda: [_frequencies(0), _frequencies(2), _near_the_end()],
    "FREQ-3": _labelled,
    "FREQ-4": _code_forms,
    "FREQ-5": _frequencies,
    "FREQ-6": _positions,
    "FREQ-7": _angles,
    "FREQ-8": _twice,
    "FREQ-9": _tables,
}

TABLES = {"FREQ-3": _three_ways}

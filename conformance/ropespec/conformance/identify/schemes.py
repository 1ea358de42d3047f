"""Known ways of scaling the frequencies, to print unknown ones next to the nearest."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCHEMES", "nearest_scheme"]

Float = NDArray[np.float64]

_FACTORS = (2.0, 4.0, 8.0, 16.0, 32.0, 40.0)
_LENGTHS = (2048.0, 4096.0, 8192.0, 32768.0)
_BASES = (10000.0, 500000.0, 1e6)

SCHEMES = ("linear", "NTK-aware", "llama3", "YaRN", "proportional", "LongRoPE or another table")
"""The families that are compared; the last is anything at all."""


def nearest_scheme(speed: Float, dim: int, base: float) -> tuple[str, float]:
    """Return the scheme whose frequencies come nearest, with its parameters, and how sure.

    Parameters
    ----------
    speed : ndarray
        Radians per position, by pair; all positive.
    dim : int
        rotary_dim.
    base : float
        The claimed base, tried first.
    """
    best, least = SCHEMES[-1], 0.2
    for tried in dict.fromkeys((base, *_BASES)):
        theta = tried ** (-2 * np.arange(dim // 2) / dim)
        for name, scaled in _candidates(theta, dim, tried):
            with np.errstate(divide="ignore", invalid="ignore"):
                off = float(np.sqrt(np.mean(np.log(np.maximum(speed, 1e-12) / scaled) ** 2)))
            if off < least:
                best, least = f"{name} of base {tried:g}", off
    if best == SCHEMES[-1]:
        return best, 0.5
    return best, 0.95 if least < 0.01 else 0.6


def _candidates(theta: Float, dim: int, base: float) -> list[tuple[str, Float]]:
    found: list[tuple[str, Float]] = []
    for s in _FACTORS:
        found.append((f"linear, factor {s:g}", theta / s))
        ntk = base * s ** (dim / max(dim - 2, 1))
        found.append((f"NTK-aware, factor {s:g}", ntk ** (-2 * np.arange(dim // 2) / dim)))
        for length in _LENGTHS:
            found.append((f"llama3, factor {s:g}, length {length:g}", _llama3(theta, s, length)))
            found.append((f"YaRN, factor {s:g}, length {length:g}", _yarn(theta, s, length, base)))
    return found


def _llama3(theta: Float, factor: float, length: float) -> Float:
    wave = 2 * np.pi / theta
    blend = np.clip((length / wave - 1.0) / 3.0, 0.0, 1.0)
    return np.asarray((1 - blend) * theta / factor + blend * theta)


def _yarn(theta: Float, factor: float, length: float, base: float) -> Float:
    dim = 2 * len(theta)

    def at(rotations: float) -> float:
        return dim * float(np.log(length / (rotations * 2 * np.pi))) / (2 * float(np.log(base)))

    low, high = max(np.floor(at(32.0)), 0.0), min(np.ceil(at(1.0)), dim - 1.0)
    ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 1e-3), 0.0, 1.0)
    return np.asarray(theta / factor * ramp + theta * (1 - ramp))

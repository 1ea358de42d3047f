"""Claims that nobody thought of, and a rotation that is right under them.

Claims are drawn by a number, so that what was found with them can be asked for again. The rotation
is that of one of our backends, which has not all of it by itself: its last components, pairs that
come out apart and other orders of axes are made here, of slices.
"""

import importlib
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ropespec.conformance.profile import AXES, Profile, ProfileError
from ropespec.spec.arguments import FLOAT_DTYPES
from ropespec.spec.axes import Axes, Axial, Mixed, Sections, Woven

__all__ = ["drawn", "right", "written"]

_Claims = dict[str, Any]
_Rotation = Callable[..., Any]
_Array = NDArray[Any]
"""An array of any framework: those that are sliced here look like NumPy's."""

_ORIGINAL = {"original_max_position_embeddings": 4096}
_SCHEMES: dict[str, _Claims] = {
    "linear": {"factor": 4},
    "ntk": {"factor": 2.5},
    "dynamic": {"factor": 2, "length": 9000, **_ORIGINAL},
    "paper-dynamic": {"length": 9000, **_ORIGINAL},
    "ntk-by-parts": {"factor": 16, **_ORIGINAL},
    "yarn": {"factor": 16, **_ORIGINAL},
    "longrope": {
        "factor": 32,
        "length": 4097,
        "short_factor": [1.0, 1.25, 1.5, 1.75],
        "long_factor": [1.75, 1.5, 1.25, 1.0],
        **_ORIGINAL,
    },
    "llama3": {"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, **_ORIGINAL},
    "proportional": {"partial_rotary_factor": 0.5},
}
_FILE = """\
from ropespec.bench.claims import right

apply_rotary = right({!r})
"""
_AXES = {"bshd": (0, 0), "bhsd": (1, 2), "sbhd": (0, 1), "shd": (0, 0)}
"""Which two axes of x change places to give (batch, sequence, heads, head_dim)."""


def drawn(number: int) -> _Claims:
    """Return the claims of this number.

    Parameters
    ----------
    number : int
        Any: each has claims of its own.

    Returns
    -------
    dict
        What `Profile.from_mapping` takes.
    """
    rng = random.Random(number)  # noqa: S311  # no secret
    while True:
        claims = {**_pairing(rng), **_frequencies(rng), **_part(rng), **_limits(rng), **_x(rng)}
        try:
            Profile.from_mapping(claims)
        except ProfileError:
            continue
        return claims


def _pairing(rng: random.Random) -> _Claims:
    layouts = rng.choice([(True,), (False,), (True, False)])
    apart = layouts == (True,) and rng.random() < 0.2
    return {"layouts": layouts, **({"pairs_apart": True} if apart else {})}


def _frequencies(rng: random.Random) -> _Claims:
    claims: _Claims = {"base": rng.choice([10000.0, 500000.0, 1e6, 100.0, 1234.5])}
    kind = rng.choice(["one", "sections", "in turn", "axial", "mixed"])
    if kind == "mixed":
        pairs = rng.choice([4, 8, 32])
        rates = [[round(rng.uniform(0.001, 1), 6) for _ in range(pairs)] for _ in range(2)]
        return {"frequencies": rates}
    if kind == "sections":
        claims["sections"] = rng.choice([(2, 3, 3), (4, 4), (8, 12, 12), (1, 1), (16, 24, 24)])
    if kind == "in turn":
        claims |= {"sections": rng.choice([(4, 2, 2), (12, 10, 10), (2, 2)])}
        claims["sections_in_turn"] = True
    if kind == "axial":
        claims |= {"sections": rng.choice([(2, 3, 3), (8, 8), (4, 6, 6)]), "axial": True}
    if rng.random() < 0.5:
        name = rng.choice([*_SCHEMES])
        claims["scaling"] = {"rope_type": name, **_SCHEMES[name]}
    return claims


def _part(rng: random.Random) -> _Claims:
    claims: _Claims = {}
    if rng.random() < 0.4:
        claims["rotary_dim"] = rng.choice([2, 4, 8, 16, 32, 64])
        claims["trailing"] = rng.random() < 0.4
    if rng.random() < 0.4:
        sizes: list[Any] = [[64], [128], [80, 96], [2], [4, 6], [256], [16, 64], [8]]
        claims["head_dims"] = rng.choice(sizes)
    return claims


def _limits(rng: random.Random) -> _Claims:
    far = [1, 7, 100, 4095, 8191, 32767, 2**17 - 1, 2**17 - 1, 2**20, 2**31 - 1]
    claims: _Claims = {"max_position": rng.choice(far)}
    for name, usual in (("negative_positions", True), ("shared_positions", False)):
        if rng.random() < 0.25:
            claims[name] = not usual
    for name in ("empty", "strided", "gradients", "subnormals"):
        if rng.random() < 0.1:
            claims[name] = False
    if rng.random() < 0.2:
        claims["max_tokens"] = rng.choice([1, 2, 8, 100])
    if rng.random() < 0.1:
        claims["min_head_dim"] = rng.choice([16, 64])
    return claims


def _x(rng: random.Random) -> _Claims:
    return {
        "axes": rng.choice(AXES),
        "dtypes": rng.sample(FLOAT_DTYPES, rng.choice([1, 2, 3])),
        "array": rng.choice(["numpy", "numpy", "torch"]),
        "compiled": rng.random() < 0.1,
    }


def written(claims: Mapping[str, Any], folder: Path) -> str:
    """Write a rotation that is right under claims into a folder, and return the target."""
    file = folder / "right_under_claims.py"
    file.write_text(_FILE.format(claims), encoding="utf-8")
    return f"{file}:apply_rotary"


def right(claims: Mapping[str, Any]) -> _Rotation:
    """Return a rotation that is right under claims: that of the backend of its arrays.

    Parameters
    ----------
    claims : mapping
        As `drawn` returns them.

    Returns
    -------
    callable
        f(x, positions), with `interleaved` where both layouts are claimed.
    """
    profile = Profile.from_mapping(claims)
    arrays = importlib.import_module(profile.array)
    rotate = _whole(profile)
    width = profile.rotary_dim

    def of_both(x: _Array, positions: _Array, *, interleaved: bool) -> _Array:
        x = arrays.swapaxes(x, *_AXES[profile.axes])
        kept = x.shape[-1] - (width or x.shape[-1])
        first = kept if profile.trailing else 0
        last = x.shape[-1] if profile.trailing else x.shape[-1] - kept
        turned = rotate(x[..., first:last], positions, interleaved=interleaved)
        if profile.pairs_apart:
            turned = arrays.concatenate([turned[..., 0::2], turned[..., 1::2]], -1)
        whole = arrays.concatenate([x[..., :first], turned, x[..., last:]], -1)
        back: _Array = arrays.swapaxes(whole, *_AXES[profile.axes])
        return back

    def of_one(x: _Array, positions: _Array) -> _Array:
        return of_both(x, positions, interleaved=profile.layouts[0])

    return of_both if len(profile.layouts) > 1 else of_one


def _whole(profile: Profile) -> _Rotation:
    """Return the function of our backend that rotates whole heads so, given what it needs."""
    more: _Claims = {} if profile.scaling is None else {"scaling": profile.scaling}
    if profile.frequencies is None:
        more["base"] = profile.base
    if (axes := _axes(profile)) is not None:
        name, more["axes"] = "apply_rotary_axes", axes
    else:
        name = "apply_rotary" if profile.scaling is None else "apply_rotary_scaled"
    function = getattr(importlib.import_module(f"ropespec.backends.{profile.array}"), name)

    def rotate(x: _Array, positions: _Array, *, interleaved: bool) -> _Array:
        y: _Array = function(x, positions, interleaved=interleaved, **more)
        return y

    return rotate


def _axes(profile: Profile) -> Axes | None:
    if profile.frequencies is not None:
        return Mixed(profile.frequencies)
    if profile.sections is None:
        return None
    if profile.axial:
        return Axial(profile.sections)
    return (Woven if profile.sections_in_turn else Sections)(profile.sections)

"""A norm of x that is made with the rotation: the result does not grow with x."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["MISTAKES", "NORMS", "RARE_NORMS"]

MISTAKES = entries("""
x normalised
    The result does not grow with x; a norm of q and k is a function of its own, and comes before
    the rotation.
length lost and found
    A pair is divided by its length and a little more, and multiplied by its length again, so short
    ones come out shorter; rotate the pair itself.
""")

_SMALL = (0.0, 1e-12, 1e-8, 1e-6, 1e-5)


def _root_mean_square(x: Array, axes: tuple[int, ...], small: float) -> Array:
    return np.asarray(x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + small))


def _length(x: Array, axes: tuple[int, ...], small: float) -> Array:
    return np.asarray(x / np.maximum(np.sqrt(np.sum(x * x, axis=axes, keepdims=True)), small))


def _length_and_more(x: Array, axes: tuple[int, ...], small: float) -> Array:
    return np.asarray(x / (np.sqrt(np.sum(x * x, axis=axes, keepdims=True)) + small))


def _layer(x: Array, axes: tuple[int, ...], small: float) -> Array:
    centred = x - np.mean(x, axis=axes, keepdims=True)
    return _root_mean_square(centred, axes, small)


Norm = Callable[[Array, tuple[int, ...], float], Array]

_NORMS: dict[str, tuple[Norm, str, tuple[float, ...]]] = {
    "its root mean square": (_root_mean_square, "more in the mean", _SMALL),
    "its length": (_length, "at least", (0.0, 1e-12, 1e-8, 1e-6)),
    "its length, and more,": (_length_and_more, "more", (1e-8, 1e-6, 1e-5)),
    "its deviation from the mean, which is taken off,": (_layer, "more in the mean", _SMALL),
}


def _normalised(norm: Norm, of: str, small: float) -> Callable[[Given], Given]:
    """Return the call with x that is normalised: each head, what turns of it, or all together."""
    axes = (2, 3) if of == "all heads together" else (3,)

    def call(g: Given) -> Given:
        x = g.x.astype(np.float64)
        if of == "what turns of a head":
            tail = x[..., g.turning :]
            made = np.concatenate([norm(x[..., : g.turning], axes, small), tail], axis=-1)
        else:
            made = norm(x, axes, small)
        return replace(g, x=made)

    return call


def _choice(of: str, by: str, small: float, cost: float = 1.0) -> Choice:
    norm, how, _ = _NORMS[by]
    more = f" ({how} {small:g})" if small else ""
    change = {"call": _normalised(norm, of, small), "slack": 2.0}
    shown: tuple[Shown, ...] = ()
    if (of, by, small) == ("a head", "its root mean square", 1e-6):
        shown = (Shown.by("normalised_by_root_mean_square", "ROT-11.norm"),)
    what = f"{of} is divided by {by}{more}"
    return Choice("x normalised", "call", what, change, cost, shown=shown)


_USUAL = (("its root mean square", 0.0), ("its root mean square", 1e-6), ("its length", 0.0))

NORMS: tuple[Choice, ...] = tuple(_choice("a head", by, small) for by, small in _USUAL)
"""What x is usually divided by."""

_LENGTHS: dict[str, Callable[[Array, float], Array]] = {
    "its length and {:g} more": lambda r, small: r / (r + small),
    "its length, of which the square is {:g} more": lambda r, small: r / np.sqrt(r * r + small),
    "its length, {:g} at least": lambda r, small: r / np.maximum(r, small),
}
"""By what a pair is divided, and its length over that."""


def _shortened(how: str, small: float) -> Choice:
    def product(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
        by = _LENGTHS[how](np.hypot(a, b), small)
        return by * (a * c - b * s), by * (a * s + b * c)

    what = f"each pair is divided by {how.format(small)}, and multiplied by its length"
    shown = (Shown.by("shorter_by_a_little", "ROT-10.identity"),) * (small == _SHOWN)
    shown = shown if how == next(iter(_LENGTHS)) else ()
    change = {"product": product, "slack": 2.0}
    return Choice("length lost and found", "product", what, change, 2.0, shown=shown)


_SHOWN = 1e-6

RARE_NORMS: tuple[Choice, ...] = (
    *(
        _choice(of, by, small, 2.0)
        for of in ("a head", "what turns of a head", "all heads together")
        for by, (_, _, smalls) in _NORMS.items()
        for small in smalls
        if of != "a head" or (by, small) not in _USUAL
    ),
    *(_shortened(how, 10.0**-k) for how in _LENGTHS for k in range(3, 13)),
)
"""What else it may be divided by."""

"""What each component is made of, where that is no pair of one head: two products at most."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.grouped import queries
from ropespec.conformance.mistakes.chain import (
    RIGHT,
    Frequency,
    Pairs,
    cos_sin,
    ladder,
    own_position,
    run,
)
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["MISTAKES", "QUERIES", "Member", "Product", "made_of", "members_claimed"]

MISTAKES = entries("""
query in the key
    The key is made of a part of the query; take all of it from the key.
keys rotated for each query
    A head of k that several heads of q share is rotated once for each of them; rotate it once.
""")


@dataclass(frozen=True, slots=True)
class Product:
    """A component of x times a cosine, a sine or nothing, and a factor.

    Attributes
    ----------
    component : int
        Of x.
    kind : str
        `cos`, `sin` or `one`.
    pair : int
        Whose angle it is; 0 where it is of none.
    factor : float
        A sign, and what else it carries.
    """

    component: int
    kind: str
    pair: int
    factor: float


Member = tuple[Product, ...]
"""The products, two at most, whose sum a component of the result is."""


def members_claimed(given: Given, pairs: Pairs) -> list[Member]:
    """Return what each component of a call is to be made of."""
    made: list[Member] = [(Product(j, "one", 0, 1.0),) for j in range(given.x.shape[-1])]
    for i, (first, second, to_first, to_second) in enumerate(zip(*pairs, strict=True)):
        a, b = int(first), int(second)
        made[to_first] = Product(a, "cos", i, 1.0), Product(b, "sin", i, -1.0)
        made[to_second] = Product(b, "cos", i, 1.0), Product(a, "sin", i, 1.0)
    return made


def made_of(
    members: Callable[[Given], list[Member] | None], ladder: Frequency = ladder
) -> dict[str, object]:
    """Return the stages in which components are made so.

    Parameters
    ----------
    members : callable
        Of a call to what each component is made of; None for NaN in all of them.
    ladder : callable
        Of a call to the frequencies of the pairs that are spoken of.
    """

    def terms(given: Given) -> tuple[Array, ...]:
        """Return components, kinds, pairs and factors, (D, 2) each."""
        none, size = Product(0, "one", 0, np.nan), given.x.shape[-1]
        rows = members(given) or [(none, none)] * size
        table = [(*row, *(Product(j, "one", 0, 0.0),) * 2)[:2] for j, row in enumerate(rows)]
        columns = [
            [one.component, _KINDS.index(one.kind), one.pair] for row in table for one in row
        ]
        factors = np.array([one.factor for row in table for one in row]).reshape(-1, 2)
        parts = np.array(columns).reshape(-1, 2, 3)
        return parts[..., 0], parts[..., 1], parts[..., 2], factors

    def pairing(given: Given) -> Pairs:
        components, *_ = terms(given)
        to = np.arange(len(components))
        return Pairs(components[:, 0], components[:, 1], to, to)

    def frequency(given: Given) -> Array:
        _, kinds, pairs, _ = terms(given)
        turned = np.where(kinds == _KINDS.index("one"), 0.0, ladder(given)[pairs])
        return np.asarray(turned.max(axis=-1))

    def table(given: Given, angle: Array) -> tuple[Array, Array]:
        del angle
        _, kinds, pairs, factors = terms(given)
        every = cos_sin(given, own_position(given) * ladder(given))
        values = (*every, np.ones_like(every[0]))
        made = [
            factors[:, k] * np.choose(kinds[:, k], [value[..., pairs[:, k]] for value in values])
            for k in (0, 1)
        ]
        return made[0], made[1]

    def place(given: Given) -> Array:
        _, _, pairs, _ = terms(given)
        own = own_position(given)
        return own if own.shape[-1] == 1 else own[..., pairs[:, 0]]

    def product(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
        return (made := a * c + b * s), made

    return {
        "pairing": pairing,
        "place": place,
        "frequency": frequency,
        "table": table,
        "product": product,
    }


_KINDS = ("cos", "sin", "one")


def _of_query(a: Array) -> Array:
    """Return the heads with those of the query in place of those of the key: the second half."""
    return _from(a, (a.shape[-2] + 1) // 2)


def _from(a: Array, first: int) -> Array:
    """Return the heads with the first ones again from some number on."""
    return a[..., [*range(first), *range(a.shape[-2] - first)], :]


def _tail_of_query(g: Given, x: Array) -> Array:
    y = x.copy()
    y[..., g.turning :] = _from(x, queries(x.shape[2]))[..., g.turning :]
    return y


_TAIL = {"tail": _tail_of_query}


def _rotated_when_shared(given: Given) -> Given:
    """Rotate the heads of k for each head of q but the last that shares them."""
    heads = given.x.shape[2]
    most = queries(heads)
    for _ in range(1, most // max(heads - most, 1)):
        y = run(RIGHT, given).y.astype(given.x.dtype)
        given = replace(given, x=np.concatenate([given.x[:, :, :most], y[:, :, most:]], axis=2))
    return given


QUERIES: tuple[Choice, ...] = (
    Choice(
        "keys rotated for each query",
        "call",
        "a head of k is rotated as often as heads of q share one",
        {"call": _rotated_when_shared, "slack": 40.0},
    ),
    Choice(
        "query in the key",
        "product",
        "in the second half of the heads the sine multiplies what is in the first",
        {"product": lambda a, b, c, s: (a * c - _of_query(b) * s, b * c + _of_query(a) * s)},
        1.5,
    ),
    Choice(
        "query in the key",
        "product",
        "in the second half of the heads the cosine multiplies what is in the first",
        {"product": lambda a, b, c, s: (_of_query(a) * c - b * s, _of_query(b) * c + a * s)},
        1.5,
    ),
    Choice("query in the key", "tail", "the tail of a key is that of its query", _TAIL, 1.5),
)
"""What is made where a key and a query are rotated in one call."""

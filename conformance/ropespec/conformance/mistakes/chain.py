"""A rotation as a chain of stages, each of which can be replaced.

Call, place, frequency, angle, table, pairing, product, tail, store: the right choice of each is
here, in float64; the modules beside this one hold the choices that somebody made instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.spec.axes import Told
from ropespec.spec.convention import Frequencies

__all__ = ["RIGHT", "Chain", "Frequency", "Made", "Pairs", "Place", "allowed", "followed", "run"]


class Pairs(NamedTuple):
    """Which components rotate together and where they are written, each of shape (n,)."""

    first: Array
    second: Array
    to_first: Array
    to_second: Array


Place = Callable[[Given], Array]
Frequency = Callable[[Given], Array]
Angle = Callable[[Given, Array, Array], Array]
Table = Callable[[Given, Array], tuple[Array, Array]]
Pairing = Callable[[Given], Pairs]
Product = Callable[[Array, Array, Array, Array], tuple[Array, Array]]
Tail = Callable[[Given, Array], Array]
Store = Callable[[Given, Array], Array]


def own_position(given: Given) -> Array:
    """Return the position of each token, (B, S, 1, 1), or of each pair, (B, S, 1, n).

    A pair that follows several numbers has their mean, by the rates at which it follows them.
    """
    if given.axes:
        return followed(given, given.numbers[..., None, :])
    return np.asarray(given.positions[..., None, None], dtype=np.float64)


def followed(given: Given, numbers: Array) -> Array:
    """Return of several numbers (..., n) what each pair follows, (..., pairs)."""
    if (rows := _rates(given)) is not None:
        return np.asarray(numbers @ (rows / _sizes(rows)))
    return np.asarray(numbers[..., list(given.axes)], dtype=np.float64)


def ladder(given: Given) -> Array:
    """Return base^(-2i/r), or what the scheme that is claimed makes of it."""
    r = given.turning
    if given.axes and (rows := _rates(given)) is not None:
        return _sizes(rows)
    if given.scaling is not None:
        return oracle.frequencies(r, Frequencies(given.base, given.scaling))
    return np.asarray(given.base ** (-np.arange(0, r, 2) / r))


def _rates(given: Given) -> Array | None:
    """Return at which rates pairs follow several numbers, (n, pairs); None where one each."""
    return np.array(given.scaling.frequencies) if isinstance(given.scaling, Told) else None


def _sizes(rows: Array) -> Array:
    """Return how fast pairs turn at most; 1 for what stands still."""
    most = np.abs(rows).sum(axis=0)
    return np.asarray(np.where(most > 0, most, 1.0))


def _farthest(given: Given, place: Array, theta: Array) -> tuple[Array, Array]:
    """Return what an angle is off by: of several numbers, which may cancel, the sum of all."""
    rows = _rates(given)
    if rows is None:
        return place, theta
    most = np.abs(given.numbers.reshape(*given.positions.shape, -1)).max(axis=-1)
    return most[..., None, None], np.maximum(np.abs(theta), _sizes(rows))


def product_of(given: Given, place: Array, theta: Array) -> Array:
    """Return m theta_i."""
    del given
    return np.asarray(place * theta)


def cos_sin(given: Given, angle: Array, gain: float = 1.0) -> tuple[Array, Array]:
    """Return cosine and sine, with the gain that is claimed."""
    if given.scaling is not None:
        gain *= float(given.scaling.gain)
    if gain == 1.0:
        return np.cos(angle), np.sin(angle)
    return gain * np.cos(angle), gain * np.sin(angle)


def claimed_pairs(given: Given) -> Pairs:
    """Return pairs (2i, 2i+1) or (i, i+r/2), written where they were read."""
    n = given.turning // 2
    first = 2 * np.arange(n) if given.interleaved else np.arange(n)
    second = first + (1 if given.interleaved else n)
    return Pairs(first, second, first, second)


def counter_clockwise(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    """Return a c - b s and b c + a s."""
    return a * c - b * s, b * c + a * s


def passed(given: Given, x: Array) -> Array:
    """Return x as it is."""
    del given
    return x.copy()


def zeroed(given: Given, x: Array) -> Array:
    """Return x with zeros where it does not rotate."""
    y = x.copy()
    y[..., given.turning :] = 0.0
    return y


def as_made(given: Given, y: Array) -> Array:
    """Return y as it is."""
    del given
    return y


def as_given(given: Given) -> Given:
    """Return the call as it is."""
    return given


@dataclass(frozen=True, slots=True)
class Chain:
    """One choice for each stage.

    Attributes
    ----------
    call, place, frequency, angle, table, pairing, product, tail, store : callable
        The stages.
    slack : float
        By how much more rounding this chain needs room than one that rotates once.
    coarse : bool
        Whether float64 x is worked on in float32.
    fine : bool
        Whether angles are made in float64 whatever the dtype.
    sharp : frozenset of str
        The half dtypes for which the rounding of the result is taken at its word: it is made in
        float32 and rounded once.
    recurrent : bool
        Whether each frequency is made from the one before, in float32.
    nudged : tuple of Chain
        The same with what is rounded moved by the error of float arithmetic, either way: what
        falls to the other side of a step then is allowed to.
    """

    call: Callable[[Given], Given] = as_given
    place: Place = own_position
    frequency: Frequency = ladder
    angle: Angle = product_of
    table: Table = cos_sin
    pairing: Pairing = claimed_pairs
    product: Product = counter_clockwise
    tail: Tail = passed
    store: Store = as_made
    slack: float = 1.0
    coarse: bool = False
    fine: bool = False
    sharp: frozenset[str] = frozenset()
    recurrent: bool = False
    nudged: "tuple[Chain, ...]" = ()


RIGHT = Chain()
"""What is claimed."""


class Made(NamedTuple):
    """What a chain makes of a call: y, and how far from it float arithmetic may be."""

    y: Array
    allowed: Array


def run(chain: Chain, given: Given) -> Made:
    """Run a chain on a call.

    Parameters
    ----------
    chain : Chain
        What is run.
    given : Given
        The call.

    Returns
    -------
    Made
        y in float64 and the error allowed, both of the shape of x.
    """
    with np.errstate(all="ignore"):
        taken = chain.call(given)
        x = taken.x.astype(np.float64)
        first, second, to_first, to_second = chain.pairing(taken)
        place, theta = chain.place(taken), chain.frequency(taken)
        cos, sin = chain.table(taken, chain.angle(taken, place, theta))
        a, b = x[..., first], x[..., second]
        u, v = chain.product(a, b, cos, sin)
        y = chain.tail(taken, x)
        y[..., to_first], y[..., to_second] = u, v
        y = chain.store(taken, y.reshape(given.x.shape))
        work = "float32" if chain.coarse else _working(given.dtype)
        bound = _error(chain, work, *_farthest(taken, place, theta), _length(cos, sin))
        room = np.abs(x) * _UNIT[work] * 2
        length = np.hypot(a, b) if given.dtype == "float64" else _length(a, b)
        room[..., to_first] = room[..., to_second] = bound * length
        y, room = _stored(chain, given, taken, y, room.reshape(given.x.shape))
        for other in chain.nudged:
            room = room + np.abs(run(other, given).y - y)
    return Made(y, chain.slack * room)


def _length(a: Array, b: Array) -> Array:
    """Return the length of pairs of which no square overflows; `hypot` takes ten times as long."""
    return np.asarray(np.sqrt(a * a + b * b))


def _error(chain: Chain, work: str, place: Array, theta: Array, gain: Array) -> Array:
    """Bound the error of a rotated pair of length 1."""
    error = allowed(work, place, theta, fine=chain.fine)
    if chain.recurrent:
        steps = 5 * _UNIT[work] * (1 + np.arange(theta.shape[-1]))
        error = np.minimum(error + steps * np.abs(place * theta), 2.0)
    if gain.ndim > place.ndim:  # tables of their own for both members
        gain, error = gain.max(axis=0), error.max(axis=-1, keepdims=True)
    return np.asarray(error * np.maximum(gain, 1.0))


def _stored(chain: Chain, given: Given, taken: Given, y: Array, room: Array) -> tuple[Array, Array]:
    """Return what is stored, and its error: that of the pairs, of moving and of rounding."""
    work = "float32" if chain.coarse else _working(given.dtype)
    room = room + _LEAST[given.dtype]
    if chain.store is not as_made:  # what moves components moves their room
        room = np.fmax(room, np.abs(chain.store(taken, room)))
    room = room + 4 * _UNIT[work] * np.abs(y)
    if given.dtype in chain.sharp:
        return _rounded(y, room, given.dtype)
    room += _UNIT[given.dtype] * np.abs(y)
    if given.dtype != work:  # products of that dtype are legitimate (JDG-3)
        alone = taken.x.shape == given.x.shape  # or else heads may be mixed up
        size = np.abs((taken if alone else given).x.astype(np.float64))
        room += 6 * _UNIT[given.dtype] * size.max(-1 if alone else None, keepdims=True, initial=0.0)
    return y, room


_UNIT = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}
_LEAST = {"float64": 1e-300, "float32": 2.0**-125, "float16": 2.0**-23, "bfloat16": 2.0**-125}


def _working(dtype: str) -> str:
    return "float64" if dtype == "float64" else "float32"


def _rounded(y: Array, room: Array, dtype: str) -> tuple[Array, Array]:
    """Round y to a half dtype; there is room only where an error moves it over a step."""
    kind = numpy_dtype(dtype)
    low, near, high = (part.astype(kind).astype(np.float64) for part in (y - room, y, y + room))
    return near, np.fmax(high - near, near - low) + _LEAST[dtype]


def allowed(work: str, place: Array, theta: Array, *, fine: bool = False) -> Array:
    """Bound the error of a rotated pair of length 1 in the usual arithmetic (clause JDG-2).

    Parameters
    ----------
    work : str
        The dtype of the arithmetic.
    place, theta : ndarray
        Positions and frequencies, of shapes that go together.
    fine : bool
        Whether angles are made in float64.
    """
    unit = _UNIT[work]
    exponent = np.abs(np.log(np.maximum(np.abs(theta), 1e-30)))
    angle = (5 + 3 * exponent) * (_UNIT["float64"] if fine else unit) * np.abs(place * theta)
    return np.asarray(np.minimum(angle, 2.0) + 8 * unit)

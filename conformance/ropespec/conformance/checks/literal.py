"""The subject beside the printed forms of the reference: a few pairs of a case, with their bounds.

The forms are called through their modules, and take one pair, one token or one vector at a time.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literally import literal_frequencies
from ropespec.conformance.checks.shared import NEAR, STEPS, Compared, based, beside, two_sides
from ropespec.conformance.judge.bounds import Bounded, dot
from ropespec.conformance.judge.finding import Call, Finding, compare, worst
from ropespec.conformance.judge.rotation import pairs_of
from ropespec.conformance.registry import Applies, Judge, always, check
from ropespec.conformance.trial import Trial
from ropespec.reference import rotation, rotation_dense
from ropespec.reference.rotation_plane import rotation_matrix_2d
from ropespec.spec.convention import Pairing

__all__ = [
    "FEW",
    "NEAR_SPACE",
    "Chosen",
    "Forms",
    "Side",
    "Token",
    "both_sides",
    "conventions_of",
    "dense",
    "error_of_product",
    "first",
    "forms_of_a_pair",
    "forms_of_a_score",
    "number",
    "places",
    "printed",
    "sides",
    "token",
    "units",
    "woven",
]

Float = NDArray[np.float64]
Pair = tuple[float, float]
Place = tuple[int, int, int, int]

FEW = 0.35
"""The share of a check of forms: each case holds several pairs against each of them."""

NEAR_SPACE = Space(
    values=("normal",), max_position=NEAR, min_dim=4, min_seq=2, max_dim=64, usual_base=True
)
"""Near zero, where the literal float64 angle leaves no room for a wrong formula."""

_COUNT = 4


class Side(NamedTuple):
    """One pair of a vector, and what the subject made of it.

    Attributes
    ----------
    x, y : tuple of float
        The pair before and after.
    off : tuple of float
        The largest error allowed of y, that of the subject and of the reference together.
    m : int
        The position.
    theta : float
        The frequency of the pair, by the reference.
    """

    x: Pair
    y: Pair
    off: Pair
    m: int
    theta: float

    @property
    def z(self) -> complex:
        """The pair before, as a complex number."""
        return complex(*self.x)

    @property
    def w(self) -> complex:
        """The pair after, as a complex number."""
        return complex(*self.y)

    @property
    def length(self) -> float:
        """The length of the pair before."""
        return abs(self.z)

    @property
    def error(self) -> float:
        """The largest distance allowed of w."""
        return abs(complex(*self.off))


class Token(NamedTuple):
    """The rotating components of one token, and what the subject made of them.

    Attributes
    ----------
    x, y, off : ndarray of float64, shape (r,) of one head or (H, r) of all
        Before, after, and the largest error allowed of y.
    m : int
        The position.
    """

    x: Float
    y: Float
    off: Float
    m: int


def places(case: Case) -> list[Place]:
    """Choose pairs (row, token, head, pair): the first, the last, and two of the first four."""
    rng = np.random.default_rng([case.seed, 23])
    pairs = case.dim // 2
    # The first pairs are fast: a wrong angle of a slow one is no other number.
    chosen = [0, pairs - 1, *(int(rng.integers(min(pairs, 4))) for _ in range(_COUNT - 2))]
    sizes = (case.batch, case.seq, case.heads)
    return [(*(int(rng.integers(n)) for n in sizes), i) for i in chosen]  # type: ignore[misc]  # three of them


def sides(case: Case, x: NDArray[Any], found: Compared, positions: NDArray[np.int64]) -> list[Side]:
    """Return the pairs at `places` before and after the rotation."""
    theta, gain = literal_frequencies(case), float(case.frequencies.gain)
    parts = [
        pairs_of(part, case.convention)
        for part in (x.astype(np.float64), found.y / gain, found.exact.allowed / gain)
    ]
    chosen = []
    for at in places(case):
        before, after, off = ((float(a[at]), float(b[at])) for a, b in parts)
        m, frequency = int(positions[at[:2]]), float(theta[at[3]])
        chosen.append(Side(before, after, off, m, frequency))
    return chosen


def token(case: Case, x: NDArray[Any], found: Compared, positions: NDArray[np.int64]) -> Token:
    """Return one head of one token before and after the rotation, without its tail."""
    at = places(case)[-1][:3]
    gain = float(case.frequencies.gain)
    x, y, off = (
        part[at][: case.dim]
        for part in (x.astype(np.float64), found.y / gain, found.exact.allowed / gain)
    )
    return Token(x, y, off, int(positions[at[:2]]))


def conventions_of(case: Case) -> dict[str, Any]:
    """Return the keywords of a function of the reference that takes a layout and a base."""
    return based(case, "interleaved")


def dense(case: Case, m: int) -> Float:
    """Return R_m of the frequencies of a case, scaled ones too, as printed blocks (ROT-3, ROT-5).

    Where they are those of their base the printed matrices make them themselves.
    """
    if case.frequencies.scheme is None:
        made = rotation.rotation_matrix(m, case.dim, **conventions_of(case))
        return np.asarray(made)
    turns = m * literal_frequencies(case)
    R = rotation_dense.dense_from_blocks(np.array([rotation_matrix_2d(turn) for turn in turns]))
    if case.convention.pairing is Pairing.INTERLEAVED:
        return R
    P = rotation_dense.permutation_matrix(case.dim)
    return np.asarray(P @ R @ P.T)


def woven(case: Case, x: Float) -> Float:
    """Return the components in the interleaved order, in which some forms are printed."""
    is_half = case.convention.pairing is Pairing.HALF
    return np.asarray(rotation.half_to_interleaved(x)) if is_half else x


def error_of_product(a: Side, b: Side) -> float:
    """Bound the error of a product of a component or of the whole of w of each side."""
    return a.length * b.error + b.length * a.error + a.error * b.error + STEPS * a.length * b.length


def number(pair: ArrayLike) -> complex:
    """Return two numbers as one complex number."""
    first, second = np.asarray(pair, dtype=np.float64).ravel()
    return complex(first, second)


class Forms:
    """What the subject gave beside what each printed form gives, form by form.

    Parameters
    ----------
    what : str
        What is compared, for the message.
    call : Call
        The call that shows it.
    """

    def __init__(self, what: str, call: Call) -> None:
        self._what, self._call = what, call
        self._seen: dict[str, list[tuple[Any, Any, Any]]] = {}

    def add(self, form: str, got: ArrayLike, expected: ArrayLike, allowed: ArrayLike) -> None:
        """Note one number or array of a form, `module.function`."""
        a, b = np.asarray(got), np.asarray(expected)
        if a.shape != b.shape:
            raise ValueError(f"{form} gives shape {b.shape}; the subject gives {a.shape}")
        bound = np.broadcast_to(np.asarray(allowed, dtype=np.float64), a.shape)
        self._seen.setdefault(form, []).append((a.ravel(), b.ravel(), bound.ravel()))

    def finding(self) -> Finding:
        """Compare all of them, each within the bound that came with it."""
        return worst(
            *(
                compare(
                    *(np.concatenate(parts) for parts in zip(*seen, strict=True)),
                    name=form,
                    message=f"{self._what} is not what `{form}` gives",
                )
                for form, seen in self._seen.items()
            )
        ).after(self._call)


def printed(
    id_: str,
    sentence: str,
    *,
    needs: tuple[str, ...] = ("apply_rotary",),
    names: tuple[str, ...] = (),
    space: Space = NEAR_SPACE,
    applies: Applies = always,
) -> Callable[[Judge], Judge]:
    """Register a check of printed forms: a few cases near zero, and almost any mistake fails it.

    Parameters
    ----------
    id_, sentence, needs, names, space, applies
        As in `ropespec.conformance.registry.check`.
    """
    return check(
        id_,
        sentence,
        needs=needs,
        names=names,
        space=space,
        applies=applies,
        share=FEW,
        general=True,
    )


class OneSided(Protocol):
    """A form of the rotation of a pair."""

    def __call__(self, side: Side, /) -> complex:
        """Return what w must be."""


class TwoSided(Protocol):
    """A form of the score of a pair, or of its complex product."""

    def __call__(self, q: Side, k: Side, /) -> complex:
        """Return what Re[w_q w_k*] must be; w_q w_k* itself, if it is complex."""


class OfTokens(Protocol):
    """A form of the score of two heads."""

    def __call__(self, case: Case, q: Token, k: Token, /) -> float:
        """Return what <w_q, w_k> must be."""


def forms_of_a_pair(
    id_: str,
    sentence: str,
    forms: Mapping[str, OneSided],
    *,
    names: tuple[str, ...],
    space: Space = NEAR_SPACE,
) -> None:
    """Register the check that printed forms of the rotation of one pair give what a subject gives.

    Parameters
    ----------
    id_ : str
        Of the check; its clause lists them.
    sentence : str
        The mistake.
    forms : mapping
        By `module.function`.
    names, space
        See `Check`.
    """

    @printed(id_, sentence, names=names, space=space)
    def all_forms(trial: Trial, case: Case) -> Finding:
        """Every printed form of the rotation of a pair gives the pair that the subject gives."""
        positions = case.make_positions()
        x = case.make_x(positions)
        found = beside(trial, case, x, positions)
        seen = Forms("a rotated pair", found.call)
        for side in sides(case, x, found, positions):
            for name, form in forms.items():
                seen.add(name, np.array(side.y), _parts(form(side)), np.array(side.off))
        return seen.finding()


def _parts(value: complex) -> NDArray[np.float64]:
    return np.array([value.real, value.imag])


def forms_of_a_score(
    id_: str,
    sentence: str,
    forms: Mapping[str, TwoSided],
    *,
    names: tuple[str, ...],
    whole: Mapping[str, OfTokens] = MappingProxyType({}),
    equal: bool = False,
) -> None:
    """Register the check that printed forms of the score of one pair give what a subject gives.

    Parameters
    ----------
    id_, sentence, forms, names
        As in `forms_of_a_pair`.
    whole : mapping
        Forms of the score of all pairs, by `module.function`.
    equal : bool
        Whether query and key stand at one position.
    """

    @printed(id_, sentence, names=names)
    def all_forms(trial: Trial, case: Case) -> Finding:
        """Every printed form of the score gives what the rotated vectors give."""
        m, n = two_sides(trial, case)
        (q, k), call = both_sides(trial, case, m, m if equal else n)
        seen = Forms("the score", call)
        for a, b in zip(q.sides, k.sides, strict=True):
            got, allowed = a.w * b.w.conjugate(), error_of_product(a, b)
            for name, form in forms.items():
                value = form(a, b)
                seen.add(name, got if isinstance(value, complex) else got.real, value, allowed)
        left, right = q.token, k.token
        bound = dot(Bounded(left.y, left.off), Bounded(right.y, right.off))
        for name, form_of_tokens in whole.items() if case.frequencies.scheme is None else ():
            value = form_of_tokens(case, left, right)
            seen.add(name, bound.value, value, bound.allowed + STEPS * _size(left, right))
        return seen.finding()


def _size(q: Token, k: Token) -> float:
    return float(np.linalg.norm(q.x) * np.linalg.norm(k.x))


class Chosen(NamedTuple):
    """A few pairs of one rotated array, and one of its heads."""

    sides: list[Side]
    token: Token


def both_sides(
    trial: Trial, case: Case, m: NDArray[np.int64], n: NDArray[np.int64]
) -> tuple[tuple[Chosen, Chosen], Call]:
    """Let the subject rotate a query to m and a key to n; the call is that of the key."""
    chosen = []
    for seed, where in ((0, m), (1, n)):
        x = case.make_x(m, seed=seed)
        found = beside(trial, case, x, where)
        chosen.append(Chosen(sides(case, x, found, where), token(case, x, found, where)))
    return (chosen[0], chosen[1]), found.call


def units(
    trial: Trial, case: Case, positions: NDArray[np.int64]
) -> tuple[list[tuple[Side, Side]], Call]:
    """Return the unit vectors (1, 0) and (0, 1) of a few pairs, rotated by the subject."""
    members = []
    for member in (0, 1):
        x = np.zeros(case.shape)
        pairs_of(x, case.convention)[member][...] = 1.0
        x = x.astype(case.numpy_dtype)
        found = beside(trial, case, x, positions)
        members.append(sides(case, x, found, positions))
    return list(zip(*members, strict=True)), found.call


def first(law: Finding, forms: Finding) -> Finding:
    """Return the finding of the law where it fails; forms say more only where it holds."""
    return worst(law, forms) if law.passed else law

"""Checks of the chapter `weights`: what was trained interleaved scores the same once it is moved.

The subject is half-split. Weights are small whole numbers, so that W x is exact in every dtype;
the scores expected are those of the reference, interleaved, before anything was moved.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.literally import literal_rotation
from ropespec.conformance.checks.rotation.contract import a_tail
from ropespec.conformance.checks.shared import NEAR, STEPS, based, beside
from ropespec.conformance.judge.bounds import Bounded, dot
from ropespec.conformance.judge.finding import Finding, compare
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference import weights

__all__: list[str] = []

Float = NDArray[np.float64]

WIDTH = 3
"""d_in: sums of so few products of small numbers are exact in eight bits."""


class Model(NamedTuple):
    """Weights of one layer, and the tokens that they project.

    Attributes
    ----------
    x : ndarray of float64, shape (S, d_in)
        Tokens.
    W_q, W_k : ndarray of float64, shapes (H D, d_in) and (G D, d_in)
        As they were trained, interleaved.
    heads, key_heads : int
        H and G.
    rotary_dim : int or None
        How many components of a head rotate.
    """

    x: Float
    W_q: Float
    W_k: Float
    heads: int
    key_heads: int
    rotary_dim: int | None


Sides = tuple[Float, Float]
"""Queries (S, H D) and keys (S, G D), projected."""

Move = Callable[[Model, np.random.Generator], tuple[Sides, Sides]]
"""Returns both sides as trained and as moved to half-split."""


def _whole(rng: np.random.Generator, *shape: int, most: int = 2) -> Float:
    return rng.integers(-most, most + 1, shape).astype(np.float64)


def _model(case: Case, rng: np.random.Generator) -> Model:
    groups = case.heads // 2 if case.heads % 2 == 0 else 1
    return Model(
        _whole(rng, case.seq, WIDTH),
        _whole(rng, case.heads * case.head_dim, WIDTH),
        _whole(rng, groups * case.head_dim, WIDTH),
        case.heads,
        groups,
        case.convention.rotary_dim,
    )


def _sides(model: Model, W_q: Float, W_k: Float) -> Sides:
    return model.x @ W_q.T, model.x @ W_k.T


def _half(model: Model, W: Float, heads: int) -> Float:
    keywords: dict[str, Any] = {} if model.rotary_dim is None else {"rotary_dim": model.rotary_dim}
    return np.asarray(weights.rows_to_half(W, heads, **keywords))


def _moved(model: Model) -> Sides:
    return _half(model, model.W_q, model.heads), _half(model, model.W_k, model.key_heads)


def _rows(model: Model, rng: np.random.Generator) -> tuple[Sides, Sides]:
    """Move the rows there; those that are moved back are what was trained."""
    del rng
    Q, K = _moved(model)
    back = weights.rows_to_interleaved(Q, model.heads, rotary_dim=model.rotary_dim)
    return _sides(model, back, model.W_k), _sides(model, Q, K)


def _biases(model: Model, rng: np.random.Generator) -> tuple[Sides, Sides]:
    b_q, b_k = (_whole(rng, len(W)) for W in (model.W_q, model.W_k))
    q, k = _sides(model, model.W_q, model.W_k)
    moved = _sides(model, *_moved(model))
    there = _half(model, b_q, model.heads), _half(model, b_k, model.key_heads)
    return (q + b_q, k + b_k), (moved[0] + there[0], moved[1] + there[1])


def _by_head(model: Model, rng: np.random.Generator) -> tuple[Sides, Sides]:
    """Take the rows of the queries from their places in the whole weight, head by head."""
    del rng
    head_dim = len(model.W_q) // model.heads
    order = weights.component_order(head_dim, model.rotary_dim)
    Q = model.W_q[np.concatenate([h * head_dim + order for h in range(model.heads)])]
    K = _half(model, model.W_k, model.key_heads)
    return _sides(model, model.W_q, model.W_k), _sides(model, Q, K)


def _normed(model: Model, rng: np.random.Generator) -> tuple[Sides, Sides]:
    head_dim = len(model.W_q) // model.heads
    gains: list[Float] = [np.exp(rng.standard_normal(head_dim)) for _ in range(2)]
    plain, moved = _sides(model, model.W_q, model.W_k), _sides(model, *_moved(model))

    def normed(side: Float, gain: Float) -> Float:
        heads = side.reshape(len(side), -1, head_dim)
        return weights.rms_norm(heads, gain).reshape(side.shape)

    def written(side: Float, gain: Float) -> Float:
        heads = side.reshape(len(side), -1, head_dim)
        square = (heads**2).mean(axis=-1, keepdims=True)
        return np.asarray((gain * heads / np.sqrt(square + 1e-6)).reshape(side.shape))

    q, k = (written(side, gain) for side, gain in zip(plain, gains, strict=True))
    one, two = (
        normed(side, _half(model, gain, 1)) for side, gain in zip(moved, gains, strict=True)
    )
    return (q, k), (one, two)


def _fused(model: Model, rng: np.random.Generator) -> tuple[Sides, Sides]:
    head_dim = len(model.W_q) // model.heads
    sizes = {"heads": model.heads, "key_heads": model.key_heads, "head_dim": head_dim}
    orders: list[weights.Order] = ["stacked", "per group"]
    orders += ["per head"] if model.heads == model.key_heads else []
    order = orders[int(rng.integers(len(orders)))]
    rows = weights.fused_rows(order, **sizes)
    fused = _whole(rng, len(model.W_q) + 2 * len(model.W_k), WIDTH)
    fused[rows.q], fused[rows.k] = (W.reshape(-1, head_dim, WIDTH) for W in (model.W_q, model.W_k))
    there = weights.fused_to_half(fused, order, **sizes, rotary_dim=model.rotary_dim)
    if not (there[rows.v] == fused[rows.v]).all():
        raise ValueError("fused_to_half of the reference moves rows of the values")
    moved = (there[part].reshape(-1, WIDTH) for part in (rows.q, rows.k))
    return _sides(model, model.W_q, model.W_k), _sides(model, *moved)


def _adapted(model: Model, rng: np.random.Generator) -> tuple[Sides, Sides]:
    B, A = _whole(rng, len(model.W_q), 2, most=1), _whole(rng, 2, WIDTH, most=1)
    Q, K = _moved(model)
    plain = _sides(model, model.W_q + B @ A, model.W_k)
    return plain, _sides(model, Q + _half(model, B, model.heads) @ A, K)


def _scaled(model: Model, rng: np.random.Generator) -> tuple[Sides, Sides]:
    scale = np.exp2(rng.integers(-2, 3, len(model.W_q)).astype(np.float64))
    Q, K = _moved(model)
    plain = _sides(model, scale[:, None] * model.W_q, model.W_k)
    return plain, _sides(model, _half(model, scale, model.heads)[:, None] * Q, K)


def _clause(
    id_: str,
    sentence: str,
    move: Move,
    *,
    names: tuple[str, ...] = (),
    partial: bool = False,
    heads: int = 1,
) -> None:
    @check(
        id_,
        sentence,
        names=names,
        space=Space(
            values=("normal",),
            positions=("arange", "ragged", "shuffled"),
            layouts=(False,),
            max_position=NEAR,
            max_dim=32,
            partial=partial,
            min_dim=8 if partial else 4,
            min_heads=heads,
        ),
        applies=a_tail if partial else lambda _: None,
        share=FEW,
        general=True,
    )
    def moved(trial: Trial, case: Case) -> Finding:
        """Moved to half-split, the weights score in the subject as they did when trained."""
        rng = np.random.default_rng([case.seed, 41])
        one = dataclasses.replace(case, batch=1)
        model = _model(one, rng)
        trained, there = move(model, rng)
        return _scores(trial, one, model, trained, there)


def _scores(trial: Trial, case: Case, model: Model, trained: Sides, moved: Sides) -> Finding:
    positions = case.make_positions()
    bounds, plain = [], []
    for before, after, heads in zip(trained, moved, (model.heads, model.key_heads), strict=True):
        shape = (1, case.seq, heads, case.head_dim)
        side = dataclasses.replace(case, heads=heads)
        found = beside(trial, side, after.reshape(shape).astype(case.numpy_dtype), positions)
        spread = [
            np.repeat(part[0], model.heads // heads, axis=1).transpose(1, 0, 2)
            for part in (found.y, found.exact.allowed)
        ]
        bounds.append(Bounded(*spread))
        plain.append(before.reshape(shape[1:]).astype(case.numpy_dtype).astype(np.float64))
    q, k = bounds
    got = dot(Bounded(*(part[:, :, None] for part in q)), Bounded(*(part[:, None] for part in k)))
    expected = _as_trained(case, plain, positions)
    lengths = [np.linalg.norm(part.value, axis=-1) for part in bounds]
    allowed = got.allowed + STEPS * lengths[0][:, :, None] * lengths[1][:, None]
    message = "weights moved to half-split do not score as they did when they were interleaved"
    return compare(got.value, expected, allowed, name="score", message=message).after(found.call)


def _as_trained(case: Case, plain: list[Float], positions: NDArray[np.int64]) -> Float:
    """Return the scores (H, S, S) of interleaved queries and keys, each (S, heads, D)."""
    if case.frequencies.scheme is None:
        keywords: dict[str, Any] = based(case, "rotary_dim")
        q, k = plain
        return weights.rotated_scores(q, k, positions[0], interleaved=True, **keywords)
    before = case.stating(interleaved=True)
    q, k = (literal_rotation(before, part[None], positions)[0] for part in plain)
    k = np.repeat(k, q.shape[1] // k.shape[1], axis=1)
    return np.asarray(np.einsum("shd,thd->hst", q, k))


_PAIRED = ("F-138", "P-27")

_clause(
    "WGT-1.moved",
    "Half-split pairs are others than those that the rows are moved to.",
    _rows,
    names=_PAIRED,
)
_clause("WGT-2.moved", "A bias that moves with its row meets another pair.", _biases)
_clause("WGT-3.moved", "A head is rotated with components of another.", _by_head, heads=4)
_clause(
    "WGT-4.moved",
    "The pairs of a partial rotation reach beyond rotary_dim.",
    _rows,
    partial=True,
)
_clause(
    "WGT-5.moved", "A weight of a norm that moves with its component meets another pair.", _normed
)
_clause("WGT-6.moved", "Rows of a fused weight that are moved meet other pairs.", _fused, heads=2)
_clause("WGT-7.moved", "An adapter that moves with its weight meets other pairs.", _adapted)
_clause("WGT-8.moved", "A scale that moves with its row meets another pair.", _scaled)


@check(
    "WGT-9.moved",
    "Keys from a cache of the other layout, put in order, are not the keys of this one.",
    names=_PAIRED,
    space=Space(values=("normal",), layouts=(False,), max_position=NEAR, min_dim=4),
    share=FEW,
    general=True,
)
def cached(trial: Trial, case: Case) -> Finding:
    """P f_int(k, n) = f_half(P k, n): rotated keys move as weights do, whatever their positions."""
    positions = case.make_positions()
    k = case.make_x(positions)
    keywords: dict[str, Any] = case.only("rotary_dim")
    moved = np.ascontiguousarray(weights.keys_to_half(k, **keywords))
    found = beside(trial, case, moved, positions)
    cache = literal_rotation(case.stating(interleaved=True), k.astype(np.float64), positions)
    message = "a rotated key, put in order, is not the key put in order and rotated"
    expected = weights.keys_to_half(np.asarray(cache), **keywords)
    allowed = found.exact.allowed
    return compare(found.y, expected, allowed, message=message).after(found.call)

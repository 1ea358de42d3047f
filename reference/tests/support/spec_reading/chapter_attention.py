"""What the symbols of the chapter `attention` stand for."""

from collections.abc import Mapping

import numpy as np

from ropespec.reference.attention import attention, attention_plain, scaled_scores, softmax
from ropespec.reference.rotation import rotation_matrix

__all__ = ["BINDINGS"]

_BASE = 50.0
_KEYS, _DIM = 3, 4


def _attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray, s: int = 0, **options: object) -> tuple:
    """One head of the API's attention, at the positions s, s + 1, ...: output and weights."""
    one_head = [x[:, np.newaxis] for x in (Q, K, V)]
    at = {"query_positions": np.arange(len(Q)) + s, "key_positions": np.arange(len(K)) + s}
    out, weights = attention(*one_head, **at, interleaved=False, base=_BASE, **options)
    return out[:, 0], weights[0]


def _tokens() -> dict[str, object]:
    """Five queries and three keys; their places are their positions."""
    rng = np.random.default_rng(0)
    Q, K = rng.standard_normal((5, _DIM)), rng.standard_normal((_KEYS, _DIM))
    V, U = rng.standard_normal((2, _KEYS, 2))
    return {"Q": Q, "K": K, "V": V, "U": U, "T": _KEYS, "D": _DIM, "m": 4, "n": 1}


def _scores() -> Mapping[str, object]:
    call = _tokens()
    Q, K, V = (call[name] for name in "QKV")
    A, B = (np.array([_rotation(p) @ x for p, x in enumerate(rows)]) for rows in (Q, K))
    out, weights = _attend(Q, K, V)
    return call | {
        "q": Q,
        "k": K,
        "v": V,
        "A": A,
        "B": B,
        "a": A,
        "b": B,
        "R": _rotation,
        "s": scaled_scores(A, B),
        "w": weights,
        "o": out,
        "softmax": softmax,
        "Attention": lambda Q, K, V: _attend(Q, K, V)[0],
    }


def _rotation(m: int) -> np.ndarray:
    return rotation_matrix(m, _DIM, interleaved=False, base=_BASE)


def _masked() -> list[Mapping[str, object]]:
    """Queries whose last key is masked, whose first is, and none of whose are."""
    call = _tokens()
    Q, K, V = (call[name] for name in "QKV")
    A, B = (np.array([_rotation(p) @ x for p, x in enumerate(rows)]) for rows in (Q, K))
    mask = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1]])
    _, weights = _attend(Q, K, V, mask=mask == 1)
    bound = call | {"s": scaled_scores(A, B), "w": weights, "mask": mask}
    return [bound | {"m": m} for m in (1, 2, 4)]


def _outputs() -> Mapping[str, object]:
    return _tokens() | {
        "a": 2.0,
        "b": -3.0,
        "s": 7,
        "out": lambda Q, K, V, s=0: _attend(Q, K, V, s)[0],
    }


def _heads() -> list[Mapping[str, object]]:
    """Which value comes out tells which key head a query head attends with."""
    found = []
    for H, G in ((6, 2), (4, 4), (3, 1)):
        q, k, v = np.zeros((1, H, 2)), np.zeros((1, G, 2)), np.arange(float(G)).reshape(1, G, 1)
        at = {"query_positions": [0], "key_positions": [0], "interleaved": True}
        heads = attention(q, k, v, **at)[0].ravel()
        found += [{"H": H, "G": G, "h": h, "kv": heads.__getitem__} for h in range(H)]
    return found


def _permuted() -> Mapping[str, object]:
    rng = np.random.default_rng(1)
    Q, K, V = rng.standard_normal((3, 5, _DIM))
    return {
        "Q": Q,
        "K": K,
        "V": V,
        "P": np.eye(5)[[2, 0, 1, 4, 3]],
        "D": _DIM,
        "plain": lambda Q, K, V: attention_plain(Q, K, V)[0],
        "out": lambda Q, K, V: _attend(Q, K, V)[0],
        "softmax": softmax,
    }


BINDINGS = {
    "ATT-1": _scores,
    "ATT-2": _masked,
    "ATT-3": _outputs,
    "ATT-4": _heads,
    "ATT-5": _permuted,
}

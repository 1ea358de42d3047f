"""What the checks of the errata ask each function: conventional inputs, away from position 0."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.checks.shared import as_claimed, draw
from ropespec.conformance.judge import oracle
from ropespec.conformance.trial import Trial

__all__ = ["ASKED", "Asked", "Inputs"]


class Asked(NamedTuple):
    """A call of the subject, and the same for the forms.

    Attributes
    ----------
    arrays : tuple
        The positional arguments, in the order of axes of the specification.
    keywords : dict
        The keywords that the forms take; of these the subject gets what it takes.
    """

    arrays: tuple[Any, ...]
    keywords: dict[str, Any]


Inputs = Callable[[Trial, Case], Asked]


def _positions(case: Case) -> NDArray[np.int64]:
    """Return positions from 1 on, as far as is claimed: at 0 nothing rotates, in any form."""
    return np.minimum(case.make_positions() + 1, case.limit)


def _by_number(trial: Trial, case: Case) -> Asked:
    del trial
    return Asked((case.dim,), case.only("base"))


def _angles(trial: Trial, case: Case) -> Asked:
    dtype = "float64" if trial.profile.framework.has_float64 else "float32"
    theta = oracle.frequencies(case.head_dim, case.frequencies).astype(dtype)
    return Asked((_positions(case), theta), {})


def _table(trial: Trial, case: Case) -> Asked:
    del trial
    return Asked((_positions(case), case.dim), case.only("base"))


def _matrix(trial: Trial, case: Case) -> Asked:
    del trial
    return Asked((_positions(case), case.dim), _layout(case))


def _layout(case: Case) -> dict[str, Any]:
    return case.only("interleaved", "base")


def _rotation(trial: Trial, case: Case) -> Asked:
    del trial
    positions = _positions(case)
    return Asked((case.make_x(positions), positions), case.keywords)


def _complex(trial: Trial, case: Case) -> Asked:
    asked = _rotation(trial, case)
    return Asked(asked.arrays, case.only("base", "rotary_dim"))


def _tables(trial: Trial, case: Case) -> Asked:
    del trial
    positions = _positions(case)
    tables = oracle.cos_sin(positions[0], case.dim, case.frequencies)
    cos, sin = (part.astype(case.numpy_dtype) for part in tables)
    return Asked((case.make_x(positions), cos, sin), case.only("interleaved"))


def _projection(trial: Trial, case: Case) -> Asked:
    x = draw(case, (case.batch, case.seq, 5), 0)
    weight = draw(case, (case.heads, case.head_dim, 5), 1)
    return Asked((x, as_claimed(trial, _positions(case)), weight), case.keywords)


def _score(trial: Trial, case: Case) -> Asked:
    del trial
    signs = np.where(np.arange(case.heads) % 2, -1, 1)
    offset = _positions(case)[0][:, None] * signs
    return Asked((draw(case, case.shape, 0), draw(case, case.shape, 1), offset), case.keywords)


def _attention(trial: Trial, case: Case) -> Asked:
    groups = case.heads if case.batch % 2 else 1
    shape = (case.batch, case.seq, groups, case.head_dim)
    arrays = (draw(case, case.shape, 0), draw(case, shape, 1), draw(case, shape, 2))
    at = as_claimed(trial, _positions(case))
    mask = np.tril(np.ones((case.seq, case.seq), dtype=np.bool_))
    return Asked(
        arrays, {**case.keywords, "query_positions": at, "key_positions": at, "mask": mask}
    )


def _offsets(trial: Trial, case: Case) -> Asked:
    del trial
    return Asked((_positions(case)[0], case.dim), case.only("base"))


def _pairs(trial: Trial, case: Case) -> Asked:
    del trial
    return Asked((case.make_x(),), {})


def _sizes(trial: Trial, case: Case) -> Asked:
    del trial
    return Asked((case.batch, case.heads, case.seq, case.head_dim), {"device": None})


def _heads_first(trial: Trial, case: Case) -> Asked:
    """Return q with the heads of the case and k with one (E-60)."""
    del trial
    b, s, h, d = case.shape
    return Asked((draw(case, (b, h, s, d), 0), draw(case, (b, 1, s, d), 1)), {})


def _cis(trial: Trial, case: Case) -> Asked:
    del trial
    return Asked((case.head_dim, case.seq, case.frequencies.base), {})


def _three_axes(trial: Trial, case: Case) -> Asked:
    """Return a table and x of three axes, which must be refused (E-61)."""
    x, _, table = _emb(trial, case, rank=3).arrays
    return Asked((table, x[..., ::2] + table.dtype.type(1j) * x[..., 1::2]), {})


def _emb(trial: Trial, case: Case, rank: int = 4) -> Asked:
    """Return xq, xk and a table; of three axes every other time, where refusals are promised."""
    if trial.profile.refusals and case.seed % 2:
        rank = 3
    shape = case.shape if rank == 4 else (case.batch, case.seq, case.head_dim)
    cos, sin = oracle.cos_sin(_positions(case)[0], case.head_dim, case.frequencies)
    table = (cos + 1j * sin).astype(np.complex128 if case.dtype == "float64" else np.complex64)
    return Asked((draw(case, shape, 0), draw(case, shape, 1), table), {})


ASKED: dict[str, tuple[str, Inputs]] = {
    "ERR-1.inv-freq": ("inv_freq", _by_number),
    "ERR-1.angles": ("angles", _angles),
    "ERR-1.cos-sin": ("cos_sin", _table),
    "ERR-1.sinusoidal-embedding": ("sinusoidal_embedding", _table),
    "ERR-1.to-complex": ("to_complex", _pairs),
    "ERR-1.rotation-matrix": ("rotation_matrix", _matrix),
    "ERR-1.apply-rotary-dense": ("apply_rotary_dense", _rotation),
    "ERR-1.printed": ("apply_rotary", _rotation),
    "ERR-1.apply-rotary-cos-sin": ("apply_rotary_cos_sin", _tables),
    "ERR-1.apply-rotary-complex": ("apply_rotary_complex", _complex),
    "ERR-1.project-query": ("project_query", _projection),
    "ERR-1.project-key": ("project_key", _projection),
    "ERR-1.relative-score": ("relative_score", _score),
    "ERR-1.attention": ("attention", _attention),
    "ERR-1.decay-bound": ("decay_bound", _offsets),
    "ERR-1.sinusoidal-position-embedding": ("sinusoidal_position_embedding", _sizes),
    "ERR-1.rope": ("RoPE", _heads_first),
    "ERR-1.precompute-freqs-cis": ("precompute_freqs_cis", _cis),
    "ERR-1.reshape-for-broadcast": ("reshape_for_broadcast", _three_axes),
    "ERR-1.apply-rotary-emb": ("apply_rotary_emb", _emb),
}
"""By check: the function, and the arguments of a case."""

"""Checks of the worked examples of document 004, with the numbers corrected (PUB-7)."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.published.rotations import rope_exactly
from ropespec.conformance.checks.published.tables import device_of
from ropespec.conformance.checks.shared import BASE, against, answer, rules, ten_thousand
from ropespec.conformance.checks.sinusoidal import embedding
from ropespec.conformance.judge.bounds import Bounded
from ropespec.conformance.judge.finding import Call, Finding, broken
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.spec.convention import Frequencies

__all__: list[str] = []

Float = NDArray[np.float64]
Rows = tuple[tuple[float, ...], ...] | Float

# The first eight of 512 components at positions 0, 1, 2 (E-52, E-55), and the last two.
_FIRST = (
    (0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0),
    (0.8415, 0.5403, 0.8219, 0.5697, 0.8020, 0.5974, 0.7819, 0.6234),
    (0.9093, -0.4161, 0.9364, -0.3509, 0.9581, -0.2863, 0.9749, -0.2227),
)
_THETA = (1.0, 0.9647, 0.9306, 0.0001)
_LAST = ((0.0, 1.0), (0.0001, 1.0), (0.0002, 1.0))
# q = 0.1, 0.2, ..., 2.4 in three rows of eight, rotated by positions 0, 1, 2 (E-57).
_QUERY = np.arange(1, 25).reshape(1, 1, 3, 8) / 10
_TURNED = (
    (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
    (-0.355199, 1.297626, 0.974704, 1.303822, 1.285935, 1.412930, 1.498399, 1.601499),
    (-2.344185, 0.796741, 1.464788, 2.337605, 2.055583, 2.241557, 2.295195, 2.404595),
)
_ONCE = Space(positions=("arange",), max_position=2)
_FLOATS = dataclasses.replace(_ONCE, dtypes=("float32", "float64"))
_SHARE = 0.1


def _rounded(printed: Rows, decimals: int, allowed: Float) -> Bounded:
    """Numbers that were printed with so many decimals."""
    value = np.array(printed)
    return Bounded(value, np.broadcast_to(allowed, value.shape) + 0.5001 * 10.0**-decimals)


def _printed(
    trial: Trial,
    function: str,
    arrays: tuple[Any, ...],
    keywords: dict[str, Any],
    lead: tuple[int, ...],
) -> Finding:
    reply, call = trial.call(function, arrays, keywords), Call(function, arrays, keywords)
    if problem := answer(reply, call):
        return problem
    got = reply.values[0]
    exact = embedding(np.arange(3), 512, Frequencies(BASE), rules(trial, reply.dtypes[0]))
    whole = Bounded(*(part.reshape(*lead, 3, 512) for part in exact))
    if got.shape != whole.value.shape:
        return against(got, whole, call)
    table = np.concatenate([got.reshape(3, 512)[:, :8], got.reshape(3, 512)[:, -2:]], axis=-1)
    bound = np.concatenate([exact.allowed[:, :8], exact.allowed[:, -2:]], axis=-1)
    wanted = np.concatenate([np.array(_FIRST), np.array(_LAST)], axis=-1)
    message = "the first eight and last two of 512 components at positions 0, 1, 2 are others"
    return against(table, _rounded(wanted, 4, bound), call, message=message)


@check(
    "PUB-7.table",
    "The example lists every sine twice, or all sines before all cosines, as it is printed.",
    needs=("sinusoidal_position_embedding",),
    names=("F-206", "F-209", "F-210", "F-211", "F-212", "F-213", "E-52", "E-53", "P-04"),
    space=_ONCE,
    share=_SHARE,
)
def table(trial: Trial, case: Case) -> Finding:
    """sinusoidal_position_embedding(1, 1, 3, 512) has the corrected numbers, to four decimals."""
    del case
    function, arrays = "sinusoidal_position_embedding", (1, 1, 3, 512)
    return _printed(trial, function, arrays, device_of(trial, function), (1, 1))


@check(
    "PUB-7.embedding",
    "The example lists every sine twice, or all sines before all cosines, as it is printed.",
    needs=("sinusoidal_embedding",),
    names=("F-206", "F-209", "F-210", "F-211", "F-212", "E-52", "E-53", "P-04"),
    space=_ONCE,
    applies=ten_thousand("sinusoidal_embedding"),
    share=_SHARE,
)
def rows(trial: Trial, case: Case) -> Finding:
    """PE_0, PE_1 and PE_2 with d = 512 have the corrected numbers, to four decimals."""
    del case
    arrays = (np.arange(3), 512)
    return _printed(trial, "sinusoidal_embedding", arrays, {"base": BASE}, ())


@check(
    "PUB-7.frequencies",
    "The example lists every frequency twice, as it is printed.",
    needs=("inv_freq",),
    names=("F-207", "F-208", "E-52"),
    space=_ONCE,
    applies=ten_thousand("inv_freq"),
    share=_SHARE,
)
def frequencies(trial: Trial, case: Case) -> Finding:
    """theta for d = 512 is 256 numbers: 1, 0.9647, 0.9306, ..., 0.0001, to four decimals."""
    del case
    keywords = {"base": BASE}
    reply, call = trial.call("inv_freq", (512,), keywords), Call("inv_freq", (512,), keywords)
    if problem := answer(reply, call):
        return problem
    got = reply.values[0]
    if got.shape != (256,):
        return broken(f"inv_freq(512) has shape {got.shape}; expected (256,)", call=call)
    message = "the first three and the last of 256 frequencies are others"
    wanted = _rounded((_THETA,), 4, np.zeros(4))
    return against(got[[0, 1, 2, 255]][None], wanted, call, message=message)


@check(
    "PUB-7.rotated",
    "The example is rotated with the table that the document prints, whose entries are wrong.",
    needs=("RoPE",),
    names=("F-214", "F-217", "E-55", "E-57", "P-36"),
    space=_FLOATS,
    share=_SHARE,
)
def rotated(trial: Trial, case: Case) -> Finding:
    """RoPE of q = 0.1, ..., 2.4 with d = 8 has the corrected numbers, to six decimals."""
    q = _QUERY.astype(case.numpy_dtype)
    reply, call = trial.call("RoPE", (q, q)), Call("RoPE", (q, q))
    if problem := answer(reply, call, dtypes=(case.dtype, case.dtype)):
        return problem
    exact = rope_exactly(q, rules(trial, case.dtype))
    if reply.values[0].shape != exact.value.shape:
        return against(reply.values[0], exact, call)
    return against(
        reply.values[0][0, 0],
        _example(exact.allowed[0, 0], q[0, 0]),
        call,
        message="q of the example, rotated, is not what it must be",
    )


def _example(allowed: Float, q: NDArray[Any]) -> Bounded:
    """Return the numbers; 0.1, 0.2, ... are rounded on their way into the dtype of q as well."""
    lost = np.abs(q.astype(np.float64) - _QUERY[0, 0])
    pairs = np.repeat(lost[:, 0::2] + lost[:, 1::2], 2, axis=-1)
    return _rounded(_TURNED, 6, allowed + pairs)


def _takes_example(trial: Trial) -> str | None:
    """Need the conventions of the example: interleaved, base 10000, eight rotated components."""
    claimed, taken = trial.profile, trial.keywords("apply_rotary")
    if claimed.base != BASE and "base" not in taken:
        return "base 10000 not claimed"
    if 8 not in claimed.head_dims or (
        claimed.rotary_dim not in (None, 8) and "rotary_dim" not in taken
    ):
        return "8 rotated components not claimed"
    return None if claimed.max_position >= 2 else "position 2 not claimed"


@check(
    "PUB-7.bare",
    "The example of the document is rotated into other numbers.",
    names=("F-217", "E-57"),
    space=dataclasses.replace(_FLOATS, layouts=(True,)),
    applies=_takes_example,
    share=_SHARE,
    general=True,
)
def bare(trial: Trial, case: Case) -> Finding:
    """Rotate q = 0.1, ..., 2.4 in rows of eight, interleaved, and compare to six decimals."""
    example = dataclasses.replace(case, batch=1, seq=3, heads=1, head_dim=8)
    example = example.stating(rotary_dim=None, base=BASE, interleaved=True)
    q = _QUERY.transpose(0, 2, 1, 3).astype(case.numpy_dtype)
    positions = np.arange(3, dtype=np.int64)[None]
    y = trial.rotate(example, q, positions)
    call = Call("apply_rotary", (q, positions), example.keywords)
    exact = trial.expect(example, q, positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)
    if y.shape != exact.y.shape:
        return against(y, Bounded(exact.y, allowed), call, name="y")
    wanted = _example(allowed[0, :, 0], q[0, :, 0])
    message = "q of the example, rotated, is not what it must be"
    return against(y[0, :, 0], wanted, call, name="y[0, :, 0]", message=message)

"""Special paths: shapes of one, equal sizes, other dtypes must do what any other call does."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.blocks import NEAR, block_form, phases
from ropespec.conformance.identify.calling import constant
from ropespec.conformance.identify.facts import Block, Source
from ropespec.conformance.identify.model import Model, explain
from ropespec.conformance.identify.operator import Blocks, Reader, read_blocks
from ropespec.conformance.identify.probe import Probe, Seen
from ropespec.conformance.identify.sources import Sources

__all__ = ["Path", "find_paths", "tolerance_of"]

Float = NDArray[np.float64]

_BATCH, _SEQ, _HEADS = 4, 6, 5
_PARTS = {
    "S=1": (_BATCH, 1, _HEADS),
    "B=1": (1, _SEQ, _HEADS),
    "H=1": (_BATCH, _SEQ, 1),
    "S=2": (_BATCH, 2, _HEADS),
    "B=2": (2, _SEQ, _HEADS),
    "B=3": (3, _SEQ, _HEADS),
    "H=2": (_BATCH, _SEQ, 2),
    "S=H": (_BATCH, 3, 3),
    "B=S": (4, 4, _HEADS),
    "B=H": (4, _SEQ, 4),
    "B=S=1": (1, 1, _HEADS),
    "S=H=1": (_BATCH, 1, 1),
    "B=S=H=1": (1, 1, 1),
}
_MANY = 100  # rows of six tokens; a block of a kernel has up to 256 of either
_MANY_HEADS = 61  # packs of two, four or eight leave a rest
_FEW = ("S=1", "B=1", "H=1", "S=H")
_COMBINED = ("B=S=1", "S=H=1", "B=S=H=1")


@dataclass(frozen=True, slots=True)
class Path:
    """A kind of call that comes out differently.

    Attributes
    ----------
    name : str
        `S=1`, `B=1`, `H=1`, `S=H`, `B=S`, `S=D`, or a dtype.
    which : str
        `all` rows of the batch, all but the `first`, or `some`.
    what : str
        As `explain` says it, or what came instead of numbers, as `Seen.fault` says.
    """

    name: str
    which: str
    what: str


def tolerance_of(dtype: str) -> float:
    """Return what two calls of one operator may differ by, relative to the largest component."""
    return {"float64": 1e-5, "float32": 1e-4, "float16": 8e-3}.get(dtype, 6e-2)


def find_paths(probe: Probe, dim: int, sources: Sources, model: Model | None) -> tuple[Path, ...]:
    """Compare parts of a call with calls of the parts."""
    if sources.tokens is not Source.OWN:
        restart = _restart(probe, dim, model) if sources.tokens is Source.OTHER else None
        return () if restart is None else (restart,)
    own_rows = sources.rows is Source.OWN
    rng = np.random.default_rng(23)
    x = rng.standard_normal((_BATCH, _SEQ, _HEADS, dim)).astype(np.float32).astype(np.float64)
    positions = rng.permutation(np.arange(1, _largest(probe)))[: _BATCH * _SEQ].reshape(
        _BATCH, _SEQ
    )
    if not own_rows:
        positions = np.broadcast_to(positions[:1], positions.shape).copy()
    whole = probe.rotate(x, positions)
    if whole.y is None:
        return (Path("four rows", "all", whole.fault),) if whole.fault else ()
    if (run := _ends(probe, dim, model)) is not None:
        return (run,)  # any part may happen to have such ends
    found = _compared(probe, model, sources, x, positions, whole.y)
    found += [_long(probe, dim, model), _restart(probe, dim, model), *_grid(probe)]
    found += _many(probe, dim, model) if own_rows else []
    found += _dtypes(probe, model, x, positions, whole.y)
    return tuple(path for path in found if path is not None)


def _compared(
    probe: Probe,
    model: Model | None,
    sources: Sources,
    x: Float,
    positions: NDArray[np.integer],
    whole: Float,
) -> list[Path | None]:
    """Compare parts of a call with calls of the parts."""
    found: list[Path | None] = []
    for name, (b, s, h) in _parts(probe).items():
        if any(path is not None for path in found) and name in _COMBINED:
            continue  # told by its parts
        part = probe.rotate(x[:b, :s, :h], positions[:b, :s])
        path = _compare(
            name, part, whole[:b, :s, :h], x[:b, :s, :h], positions[:b, :s], probe, model
        )
        if name == "S=1" and path is not None and (path.which, path.what) == ("all", "other"):
            path = replace(path, what=_frequencies(probe, sources, model))
        found.append(path)
    return found


def _dtypes(
    probe: Probe, model: Model | None, x: Float, positions: NDArray[np.integer], whole: Float
) -> list[Path | None]:
    """Compare a call with the same in each other dtype that is claimed."""
    found = []
    for dtype in probe.session.profile.dtypes:
        typed = None if dtype == probe.dtype else probe.rotate(x, positions, dtype=dtype)
        if typed is not None and typed.y is not None:
            found.append(_compare(dtype, typed, whole, x, positions, probe, model, dtype))
    return found


def _largest(probe: Probe) -> int:
    """Return one more than the largest position to use, and at least enough for all tokens."""
    return max(min(97, probe.session.profile.max_position + 1), _BATCH * _SEQ + 1)


def _parts(probe: Probe) -> dict[str, tuple[int, int, int]]:
    """Return the parts to compare; few for a compiler that pays for each new shape."""
    if not probe.session.profile.framework.compiles:
        return _PARTS
    return {name: _PARTS[name] for name in _FEW}


def _frequencies(probe: Probe, sources: Sources, model: Model | None) -> str:
    """Return `other frequencies` if single tokens turn by rotations at another speed."""
    if model is None or not model.usable:
        return "other"
    reader = Reader(probe, sources)
    parts = [read_blocks(reader, model.channels, (p,)) for p in NEAR]
    if any(part is None for part in parts):
        return "other"
    matrix = np.concatenate([part.matrix for part in parts if part is not None])
    blocks = Blocks(np.array(NEAR), matrix)
    if not np.isfinite(matrix).all() or block_form(blocks)[0] is not Block.ROTATION:
        return "other"
    alone = phases(blocks)
    if not alone.linear:
        return "other"
    if alone.offset == model.offset:
        return "other frequencies"
    same = np.abs(alone.speed - model.speed).max() < 1e-3 and np.isfinite(alone.offset)
    return "other offset" if same else "other"


def _long(probe: Probe, dim: int, model: Model | None) -> Path | None:
    """Compare a sequence as long as the head is wide with a longer one."""
    if dim > probe.session.profile.max_position:
        return None
    x = np.random.default_rng(29).standard_normal((1, dim + 1, 2, dim))
    positions = np.arange(dim + 1)[None]
    longer, square = probe.rotate(x, positions), probe.rotate(x[:, :dim], positions[:, :dim])
    if longer.y is None:
        return Path("S>D", "all", longer.fault) if longer.fault else None
    return _compare("S=D", square, longer.y[:, :dim], x[:, :dim], positions[:, :dim], probe, model)


def _ends(probe: Probe, dim: int, model: Model | None) -> Path | None:
    """Let positions look like a run at their ends alone, and compare with a longer row."""
    x = np.random.default_rng(61).standard_normal((1, 7, 2, dim))
    for where in ((20, 3, 14, 7, 11, 25, 2), (8, 9, 19, 4, 23, 6, 15)):
        positions = np.array([where])
        row, longer = probe.rotate(x[:, :6], positions[:, :6]), probe.rotate(x, positions)
        if row.y is None or longer.y is None:
            return None
        name = "ends of a run"
        path = _compare(name, row, longer.y[:, :6], x[:, :6], positions[:, :6], probe, model)
        if path is not None and path.what in ("from the first", "not a number"):
            return path
    return None


def _restart(probe: Probe, dim: int, model: Model | None) -> Path | None:
    """Let positions fall back to 0 in the middle of a row, as in packed documents.

    What counts on is told by a second part that begins with the position that would follow.
    """
    x = np.random.default_rng(59).standard_normal((1, 6, 2, dim))
    where = np.array([[3, 4, 5, 0, 1, 2]])
    row, second = probe.rotate(x, where).y, probe.rotate(x[:, 3:], where[:, 3:]).y
    if row is None or second is None:
        return None
    limit = tolerance_of(probe.dtype) * np.abs(x).max()
    if np.abs(row[:, 3:] - second).max() <= limit:
        return None
    if model is None or not model.usable:
        return Path("back to 0", "all", "other")
    on = model.turn(x[:, 3:4], where[:, 2:3] + 1)
    counts = np.abs(row[:, 3:4] - on).max() <= limit
    return Path("back to 0", "all", "counts on" if counts else "other")


def _many(probe: Probe, dim: int, model: Model | None) -> list[Path | None]:
    """Compare many tokens, rows and heads at once with calls of a few."""
    if probe.session.profile.framework.compiles or probe.manner.axes == "shd":
        return []
    rng = np.random.default_rng(67)
    x = rng.standard_normal((_MANY, _SEQ, 2, dim)).astype(np.float32).astype(np.float64)
    positions = rng.integers(0, _largest(probe), (_MANY, _SEQ))
    parts = [
        probe.rotate(x[k : k + _BATCH], positions[k : k + _BATCH]).y
        for k in range(0, _MANY, _BATCH)
    ]
    if any(part is None for part in parts):
        return []
    few = np.concatenate([part for part in parts if part is not None])
    line = probe.rotate(x.reshape(1, -1, 2, dim), positions.reshape(1, -1))
    rows = probe.rotate(x, positions)
    late = _beyond(probe, "B", rows, few)
    if late is not None and late.what == "other":
        late = _compare(late.name, rows, few, x, positions, probe, model)
    found = [_beyond(probe, "S", line, few.reshape(1, -1, 2, dim)), late]
    if found == [None, None]:
        lines = probe.rotate(x.reshape(_BATCH, -1, 2, dim), positions.reshape(_BATCH, -1))
        found = [_beyond(probe, "S", lines, few.reshape(_BATCH, -1, 2, dim))]
    heads = x[:_BATCH, :1].reshape(1, 1, -1, dim)  # all tokens of one position, as heads
    wide = np.tile(heads, (1, _SEQ, 8, 1))[:, :, :_MANY_HEADS]
    where = positions[:1]
    narrow = probe.rotate(wide[:, :, : heads.shape[2]], where).y
    much = probe.rotate(wide, where)
    if narrow is not None:
        found.append(_beyond(probe, "H", much, np.tile(narrow, (1, 1, 8, 1))[:, :, :_MANY_HEADS]))
    return found


def _beyond(probe: Probe, axis: str, seen: Seen, right: Float) -> Path | None:
    """Look along an axis for the first place that comes out otherwise in a large call."""
    along = "BSH".index(axis)
    name = f"{axis}={right.shape[along]}"
    got = seen.y
    if got is None:
        return Path(name, "all", seen.fault) if seen.fault else None
    other = tuple(k for k in range(4) if k != along)
    limit = tolerance_of(probe.dtype) * np.abs(right).max()
    off = ~(np.abs(got - right).max(axis=other) <= limit)
    if not off.any():
        return None
    first = int(np.argmax(off))
    return Path(name, "some", "second block" if first >= 8 else "other")


def _grid(probe: Probe) -> list[Path | None]:
    """Look for tokens and rows that a launch grid of 65535 does not reach, in a narrow head."""
    if probe.manner.axes == "shd" or probe.session.profile.framework.compiles:
        return []
    found: list[Path | None] = []
    dim, many = min(probe.session.profile.head_dims), 65537
    for name, shape in (("S=65537", (1, many, 1, dim)), ("B=65537", (many, 2, 1, dim))):
        y = probe.rotate(constant(shape, 5), np.full(shape[:2], 3)).y
        if y is None or dim > 16:
            continue  # too much for its table, or for its memory
        flat = y.reshape(many, -1)
        off = np.abs(flat - flat[0]).max(axis=1)
        late = np.flatnonzero(~(off <= 1e-3))
        if len(late):
            found.append(Path(name, "some", "beyond 65535" if late[0] >= 65535 else "other"))
    return found


def _compare(
    name: str,
    seen: Seen,
    expected: Float,
    x: Float,
    positions: NDArray[np.integer],
    probe: Probe,
    model: Model | None,
    dtype: str | None = None,
) -> Path | None:
    got = seen.y
    if got is None:
        return Path(name, "all", seen.fault) if seen.fault else None
    tolerance = max(tolerance_of(probe.dtype), tolerance_of(dtype or probe.dtype))
    with np.errstate(invalid="ignore"):
        off = np.abs(got - expected).max(axis=(1, 2, 3))
    bad = [b for b, row in enumerate(off) if not row <= tolerance * np.abs(x).max()]
    if not bad:
        return None
    which = "all" if len(bad) == len(x) else "first" if bad == list(range(1, len(x))) else "some"
    what = explain(model, got, x, positions, tolerance, bad)
    return Path(name, which, what)

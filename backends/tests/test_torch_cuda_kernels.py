import os
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import ml_dtypes
import mpmath
import numpy as np
import pytest
import torch

from ropespec import reference
from ropespec.backends.phase import turns
from ropespec.backends.torch.cuda import launch, plan, status
from ropespec.backends.torch.cuda.status import Status

NEEDS_TRITON = pytest.mark.skipif(not launch.has_triton(), reason="Triton is not installed")
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
DTYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}
ALL_DTYPES = pytest.mark.parametrize("dtype", DTYPES)
FAR = [3, -700, 2**20, 2**31 - 1, -(2**31)]


@dataclass(frozen=True)
class Case:
    """One call of a kernel under the interpreter: the kind of x, and what is asked."""

    dtype: str = "float32"
    interleaved: bool = True
    inverse: bool = False
    shape: tuple = (2, 5, 3, 20)
    rotary_dim: int = 12
    into: str = "new"  # or "self", "strided"
    order: str = "bshd"  # or "bhsd" in memory, "sliced" with gaps, "odd" strides where no step is
    rows: bool | tuple = True  # positions of every row, or one row for all, or of this shape
    tables: str = ""  # or their dtype
    change: str = ""  # what is forced: "wide" token numbers, several "tiles" of heads


CASES = {
    f"{dtype}-{'interleaved' if interleaved else 'half'}-{tables or 'positions'}": Case(
        dtype, interleaved, inverse=not interleaved, tables=tables
    )
    for dtype in DTYPES
    for interleaved in (True, False)
    for tables in ("", "float64" if dtype == "float64" else "float32")
} | {
    "whole rows": Case(shape=(1, 3, 2, 16), rotary_dim=16),
    "one pair": Case("float16", shape=(1, 3, 2, 2), rotary_dim=2),
    "one token": Case(interleaved=False, shape=(1, 1, 5, 8), rotary_dim=8),
    "one head": Case("float16", shape=(3, 2, 1, 8), rotary_dim=6),
    "no batch": Case(shape=(5, 2, 8), rotary_dim=8),
    "two batches": Case(shape=(2, 2, 3, 2, 8), rotary_dim=8),
    "two batches out of order": Case(shape=(2, 2, 3, 2, 8), rotary_dim=4, order="bhsd"),
    "shared positions": Case(rows=False, inverse=True),
    "shared tables": Case(rows=False, tables="float32", interleaved=False),
    "wide tables": Case(tables="float64"),
    "narrow tables": Case("float64", tables="float32"),
    "half tables": Case(tables="bfloat16", interleaved=False),
    "positions of the last batch axis": Case(shape=(2, 2, 3, 2, 8), rotary_dim=4, rows=False),
    "positions of the first batch axis": Case(shape=(2, 3, 3, 2, 8), rotary_dim=4, rows=(2, 1, 3)),
    "batch of one, oddly apart": Case(shape=(1, 5, 3, 16), rotary_dim=16, order="odd"),
    "heads first": Case("float16", order="bhsd", interleaved=False),
    "gaps": Case(order="sliced", interleaved=False, into="strided"),
    "gaps interleaved": Case("float16", order="sliced", into="strided"),
    "in place": Case("float16", into="self"),
    "in place, half": Case(into="self", interleaved=False, tables="float32"),
    "in place, two batches out of order": Case(shape=(2, 2, 3, 2, 8), rotary_dim=4, order="bhsd",
                                               into="self"),
    "many tiles": Case(shape=(1, 3, 19, 8), rotary_dim=8, change="tiles"),
    "many tiles, half": Case(shape=(2, 2, 7, 8), rotary_dim=6, change="tiles", interleaved=False),
    "wide": Case(change="wide"),
    "no tokens": Case(shape=(2, 0, 3, 20)),
    "no heads": Case(shape=(2, 5, 0, 20), tables="float32"),
}  # fmt: skip  # a case a line


def bits(x):
    """The same memory as integers."""
    return x.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()])


def draw(case):
    """Return x with NaNs of an unusual payload in the tail, and positions, or tables, of a case."""
    rng = np.random.default_rng(len(case.shape))
    dtype = DTYPES[case.dtype]
    x = torch.tensor(rng.standard_normal(case.shape), dtype=dtype)
    if case.rotary_dim < case.shape[-1]:
        bits(x)[..., case.rotary_dim] = -3  # a NaN with all bits but one set
    if case.order == "bhsd":
        x = x.transpose(-3, -2).contiguous().transpose(-3, -2)
        x = x.transpose(0, 1).contiguous().transpose(0, 1) if x.ndim == 5 else x
    if case.order == "sliced":
        wide = torch.zeros(*case.shape[:-1], 2 * case.shape[-1], dtype=dtype)
        wide[..., ::2] = x
        x = wide[..., ::2]
    if case.order == "odd":
        x = x.as_strided(x.shape, (7, *x.stride()[1:]))
    rows = case.rows
    if not isinstance(rows, tuple):
        rows = case.shape[:-2] if rows else case.shape[-3:-2]
    m = torch.tensor(rng.choice(FAR, rows))
    if not case.tables:
        return x, m
    shape = (*rows, case.rotary_dim // 2)
    cos, sin = (torch.tensor(rng.standard_normal(shape), dtype=DTYPES[case.tables]) for _ in "cs")
    return x, cos, sin.mT.contiguous().mT


def turns_of(rotary_dim):
    return torch.from_numpy(turns(rotary_dim, 10000.0).view(np.int64).copy())


def run(case):
    """Launch the kernel of a case on tensors in host memory."""
    x, *given = draw(case)
    out = x
    if case.into != "self":
        out = torch.full((*case.shape[:-1], 2 * case.shape[-1]), 7.0, dtype=x.dtype)
        out = out[..., ::2] if case.into == "strided" else torch.full_like(x, 7.0)
    flags = {"interleaved": case.interleaved, "inverse": case.inverse}
    if case.tables:
        launch.launch_tables(x, *given, out, **flags)
    else:
        launch.launch_positions(x, *given, turns_of(case.rotary_dim), out, **flags)
    return out.contiguous()


def run_changed(case):
    """Run a case with one of the choices of the launcher forced."""
    kept = plan.FULL_GRID, plan.Geometry.of
    if case.change == "tiles":
        plan.FULL_GRID = 1
    if case.change == "wide":
        plan.Geometry.of = lambda *a, **k: replace(kept[1](*a, **k), WIDE=True)
    plan.plan.cache_clear()
    try:
        return run(case)
    finally:
        plan.FULL_GRID, plan.Geometry.of = kept


def circle_phases():
    """Phases of every magnitude and next to every eighth of a turn, as int64."""
    rng = np.random.default_rng(1)
    phase = rng.integers(0, 2**64, 500, dtype=np.uint64)
    phase[:200] >>= rng.integers(0, 64, 200).astype(np.uint64)
    edges = [(k * 2**61 + e) % 2**64 for k in range(8) for e in (-1, 0, 1)]
    return np.concatenate([phase, np.array(edges, dtype=np.uint64)])


def run_circle(dtype):
    """Cos and sin of the phases: what (1, 0) becomes when the phases are turns of position 1."""
    phase = torch.from_numpy(circle_phases().view(np.int64))
    x = torch.tensor([1.0, 0.0], dtype=dtype).repeat(len(phase)).reshape(1, 1, 1, -1)
    one, flags = torch.ones(1, dtype=torch.int64), {"interleaved": True, "inverse": False}
    launch.launch_positions(x, one, phase, x, **flags)
    return x.reshape(-1, 2)


def hole(folder, count):
    """Return memory that is a file with holes, where only what is written takes space."""
    file = folder / "hole"
    memory = torch.from_file(str(file), shared=True, size=count, dtype=torch.float16)
    file.unlink()
    return memory


def run_distant(folder):
    """Rotate two tokens that lie 2^31 elements apart."""
    x = hole(folder, 2**31 + 8).as_strided((2, 1, 1, 8), (2**31, 8, 8, 1))
    x[...] = 1.0
    flags = {"interleaved": True, "inverse": False}
    launch.launch_positions(x, torch.tensor([[0], [1]]), turns_of(8), x, **flags)
    return x.clone()


def run_spread(folder, what, *, interleaved):
    """Rotate two tokens where x, or the tables, have components 2^30 elements apart."""
    memory = hole(folder, 3 * 2**30 + 4)
    flags = {"interleaved": interleaved, "inverse": False}
    if what == "x":
        x = memory.as_strided((1, 2, 1, 4), (4, 1, 2, 2**30))
        x[...] = 1.0
        launch.launch_positions(x, torch.tensor([0, 1]), turns_of(4), x, **flags)
        return x.clone()
    x = torch.ones(1, 2, 1, 8, dtype=torch.float16)
    cos, sin = (memory[at:].as_strided((2, 4), (1, 2**30)) for at in (0, 2))
    angle = torch.tensor([[0.0], [1.0]]) * 10000.0 ** (-torch.arange(4.0) / 4)
    cos[...], sin[...] = angle.cos(), angle.sin()
    launch.launch_tables(x, cos, sin, x, **flags)
    return x


def main(folder):
    """Run everything under the interpreter and keep what comes out."""
    results = {name: run_changed(case) for name, case in CASES.items()}
    results |= {f"circle {name}": run_circle(DTYPES[name]) for name in ("float32", "float64")}
    results["distant"] = run_distant(folder)
    results |= {
        f"{what} spread {interleaved}": run_spread(folder, what, interleaved=interleaved)
        for what in ("x", "tables")
        for interleaved in (True, False)
    }
    torch.save(results, folder / "results.pt")


@pytest.fixture(name="_fresh", scope="module", autouse=True)
def _compile_afresh(tmp_path_factory):
    """Let Triton keep what it compiles in a folder of this run, and take nothing from others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


def version(name):
    """The first two numbers of the version of a package."""
    return tuple(map(int, metadata.version(name).split(".")[:2]))


@pytest.fixture(name="interpreted", scope="module")
def _interpreted(tmp_path_factory):
    """Run `main` in a process of its own, for Triton reads its mode when it is loaded."""
    if version("triton") < (3, 7) and version("numpy") >= (2, 4):
        pytest.skip("the interpreter of Triton before 3.7 does not take arrays of NumPy 2.4")
    folder = tmp_path_factory.mktemp("interpreted")
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, __file__, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return torch.load(folder / "results.pt")


def expected_of(case, x, given):
    """The reference in float64, and |x1| + |x2| of every vector at most."""
    wide = x.double().numpy()
    head = np.abs(np.where(np.isfinite(wide), wide, 0.0))[..., : case.rotary_dim]
    size = 2 * head.max(axis=-1, keepdims=True, initial=0.0)
    if case.tables:
        work = DTYPES["float64" if case.dtype == "float64" else "float32"]
        shape = (*x.shape[:-2], case.rotary_dim // 2)
        cos, sin = (table.to(work).expand(shape).double().numpy() for table in given)
        size = size * max(np.abs(cos).max(initial=0.0), np.abs(sin).max(initial=0.0))
        turned = reference.apply_rotary_cos_sin(
            wide, cos, -sin if case.inverse else sin, interleaved=case.interleaved
        )
        return turned, size
    m = given[0].numpy() * (-1 if case.inverse else 1)
    return reference.apply_rotary(
        wide, m, interleaved=case.interleaved, rotary_dim=case.rotary_dim
    ), size


def budget(case, size):
    """Error budget of the outputs: table, two products and their sum, the store, the reference.

    A table entry is right to 2 u and, by the rounding of T, to |m| 2^-65 turns; products and sum
    add 3 u; the reference's own angle is right to |m| 2^-51. The store adds half a place, but for
    bfloat16 a whole one: the interpreter cuts bits off where a GPU rounds.
    """
    unit = 2.0**-53 if case.dtype == "float64" else 2.0**-24
    info = ml_dtypes.finfo(ml_dtypes.bfloat16 if case.dtype == "bfloat16" else case.dtype)
    store = float(info.eps) / (1 if case.dtype == "bfloat16" else 2)
    far = 0 if case.tables else max(abs(m) for m in FAR)
    relative = 5 * unit + far * (2.0**-62 + 2.0**-51) + store
    return size * relative + float(info.smallest_subnormal)


@NEEDS_TRITON
@pytest.mark.parametrize("name", CASES)
def test_kernel_under_the_interpreter(interpreted, name):
    """The kernel is within the error budget of the reference, and its tail is x's bit for bit."""
    case, found = CASES[name], interpreted[name]
    x, *given = draw(case)
    r = case.rotary_dim
    expected, size = expected_of(case, x, given)

    assert found.dtype == x.dtype
    assert found.shape == x.shape
    error = np.abs(found.double().numpy() - expected)[..., :r]
    assert (error <= budget(case, size)).all()
    assert torch.equal(bits(x[..., r:]), bits(found[..., r:]))


@NEEDS_TRITON
@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_circle_under_the_interpreter(interpreted, dtype, unit):
    """Cos and sin are right to 1.6 rounding units at every phase, and exact at quarter turns.

    With u for a unit: 1 - z (1/2 - p) is rounded by u/2 and its subtrahend, below 0.3, by 0.7 u;
    the rounding of the angle adds 0.35 u. The sine has smaller terms to add; while it is its own
    angle, two factors, their product and the sum round it, so that small angles keep all digits.
    """
    found = interpreted[f"circle {dtype}"].double().numpy()
    with mpmath.workprec(160):
        for p, (c, s) in zip(circle_phases(), found, strict=True):
            angle = 2 * mpmath.pi * int(p) / mpmath.mpf(2**64)
            assert abs(mpmath.mpf(float(c)) - mpmath.cos(angle)) <= 1.6 * unit
            assert abs(mpmath.mpf(float(s)) - mpmath.sin(angle)) <= 1.6 * unit
            if 0 < int(p) < 2**45:
                assert abs(mpmath.mpf(float(s)) / mpmath.sin(angle) - 1) <= 2 * unit
            if int(p) % 2**62 == 0:
                assert {abs(c), abs(s)} == {0.0, 1.0}


@NEEDS_TRITON
def test_tokens_far_apart_in_memory(interpreted):
    """Offsets above 2^31 elements reach the right token: no offset is computed in int32."""
    found = interpreted["distant"].double().numpy()
    expected = reference.apply_rotary(
        np.ones((2, 1, 1, 8)), np.array([[0], [1]]), interleaved=True, rotary_dim=8
    )

    assert np.abs(found - expected).max() <= 2.0**-10


@NEEDS_TRITON
@LAYOUTS
@pytest.mark.parametrize("what", ["x", "tables"])
def test_components_far_apart_in_memory(interpreted, what, interleaved):
    """Offsets above 2^31 elements reach the right component of x and of the tables."""
    found = interpreted[f"{what} spread {interleaved}"].double().numpy()
    expected = reference.apply_rotary(
        np.ones(found.shape), np.array([0, 1]), interleaved=interleaved
    )

    assert np.abs(found - expected).max() <= 2.0**-10


@NEEDS_TRITON
def test_a_slice_of_positions_is_no_other_kernel():
    """Only the alignment of positions, read one by one, makes no kernel of its own."""
    from ropespec.backends.torch.cuda import kernels  # noqa: PLC0415  # needs Triton

    for kernel, free in ((kernels.rotate_positions_kernel, {"positions"}),
                         (kernels.rotate_tables_kernel, set())):  # fmt: skip  # two rows
        loose = {p.name for p in kernel.params if p.do_not_specialize_on_alignment}
        assert loose - set(kernels.PLAIN) == free


@NEEDS_TRITON
def test_status_says_what_is_known(monkeypatch):
    """Without a GPU the kernels are not available, and the reason claims only what was done."""
    if torch.cuda.is_available():
        assert status().available
        return
    done = "compiled for sm_90, run under the Triton interpreter by this project's tests"
    assert status() == Status(available=False, reason=f"no GPU: {done}, NOT RUN on a GPU")

    def broken(*_arguments, **_flags):
        raise OSError

    module = sys.modules["ropespec.backends.torch.cuda.status"]
    monkeypatch.setattr(module, "compile_ahead", broken)
    assert status().reason == "no GPU: not compiled (OSError), NOT RUN on a GPU"


def test_status_without_triton(monkeypatch):
    """Where Triton is not installed the status says so, and claims nothing."""
    module = sys.modules["ropespec.backends.torch.cuda.status"]
    monkeypatch.setattr(module, "has_triton", lambda: False)

    assert status() == Status(available=False, reason="Triton is not installed: NOT RUN on a GPU")


if __name__ == "__main__":
    main(Path(sys.argv[1]))


@NEEDS_TRITON
@pytest.mark.parametrize("tables", [False, True], ids=["positions", "tables"])
def test_numbers_and_constants_are_in_the_order_of_a_kernel(tables):
    """What was compiled is started without names, by which alone Triton would tell them apart."""
    from ropespec.backends.torch.cuda import kernels  # noqa: PLC0415  # needs Triton

    kernel = kernels.rotate_tables_kernel if tables else kernels.rotate_positions_kernel
    x, rows = (2, 8, 4, 64), (8, 32) if tables else (8,)
    strides, steps = (2048, 256, 64, 1), (32, 1) if tables else (1,)
    found = plan.plan(
        plan.Shapes(x, strides, strides, 4, rows, steps, tables, 32, True, in_place=False)
    )
    constants = ["INVERSE", *found.constants]

    assert kernel.arg_names[-len(constants) :] == constants
    assert len(kernel.arg_names) == 4 + len(found.numbers) + len(constants)

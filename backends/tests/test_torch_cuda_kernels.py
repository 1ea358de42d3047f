import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import ml_dtypes
import mpmath
import numpy as np
import pytest
import torch

from ropespec import reference
from ropespec.backends.phase import turns
from ropespec.backends.torch.cuda import ahead, launch, status
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
    order: str = "bshd"  # or "bhsd" in memory, "sliced" with gaps between components
    rows: bool = True  # positions of every row, or one row for all
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
    rows = case.shape[:-2] if case.rows else case.shape[-3:-2]
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
    kept = launch.FULL_GRID, launch.Geometry.of
    if case.change == "tiles":
        launch.FULL_GRID = 1
    if case.change == "wide":
        launch.Geometry.of = lambda *a, **k: replace(kept[1](*a, **k), WIDE=True)
    try:
        return run(case)
    finally:
        launch.FULL_GRID, launch.Geometry.of = kept


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


def run_distant(folder):
    """Rotate two tokens that lie 2^31 elements apart, in a file with a hole between them."""
    count = 2**31 + 8
    file = str(folder / "hole")
    memory = torch.from_file(file, shared=True, size=count, dtype=torch.float16)
    x = memory.as_strided((2, 1, 1, 8), (2**31, 8, 8, 1))
    x[...] = 1.0
    flags = {"interleaved": True, "inverse": False}
    launch.launch_positions(x, torch.tensor([[0], [1]]), turns_of(8), x, **flags)
    found = x.clone()
    Path(file).unlink()
    return found


def main(folder):
    """Run everything under the interpreter and keep what comes out."""
    results = {name: run_changed(case) for name, case in CASES.items()}
    results |= {f"circle {name}": run_circle(DTYPES[name]) for name in ("float32", "float64")}
    results["distant"] = run_distant(folder)
    torch.save(results, folder / "results.pt")


@pytest.fixture(name="_fresh", scope="module", autouse=True)
def _compile_afresh(tmp_path_factory):
    """Let Triton keep what it compiles in a folder of this run, and take nothing from others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


@pytest.fixture(name="interpreted", scope="module")
def _interpreted(tmp_path_factory):
    """Run `main` in a process of its own, for Triton reads its mode when it is loaded."""
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


WIDEST = r"\.(v4\.[bfu]32|v2\.[bfu]64|b128)\b"


def accesses(ptx, kind):
    """The accesses of one kind to global memory in PTX, such as `ld.global.v4.b32`."""
    return re.findall(rf"\b{kind}\.global[.:\w]*", ptx)


def loop_of(ptx):
    """The text from the label that a later branch goes back to, up to that branch."""
    for label in re.finditer(r"^(\$\w+):", ptx, re.MULTILINE):
        back = re.search(rf"bra(\.uni)?\s+{re.escape(label[1])};", ptx[label.end() :])
        if back:
            return ptx[label.end() : label.end() + back.start()]
    return ""


@NEEDS_TRITON
@pytest.mark.parametrize("tables", [False, True], ids=["positions", "tables"])
@LAYOUTS
@ALL_DTYPES
def test_compiles_for_sm_90(dtype, interleaved, tables):
    """For contiguous x all accesses to x are 16 bytes wide, and cos and sin stay out of the loop.

    Where rows are interleaved they are parted in registers: nothing of x goes through shared
    memory, which the loop over the heads would show.
    """
    compiled = ahead.compile_ahead(DTYPES[dtype], interleaved=interleaved, tables=tables)
    ptx, loop = compiled.asm["ptx"], loop_of(compiled.asm["ptx"])
    stores, loads = accesses(loop, "st"), accesses(loop, "ld")

    assert compiled.asm["cubin"].startswith(b"\x7fELF")
    assert len(stores) == len(loads) == 4
    assert all(re.search(WIDEST, access) for access in stores + loads)
    assert accesses(ptx, "st") == stores
    assert ".shared" not in loop
    assert "cvt.rn.f32.s32" not in loop
    assert "cvt.rn.f64.s64" not in loop
    assert ("cvt.rn.f32.s32" in ptx or "cvt.rn.f64.s64" in ptx) != tables
    if dtype == "bfloat16":
        assert "cvt.rn.bf16x2.f32" in loop  # a GPU rounds to nearest, two at a time


@NEEDS_TRITON
def test_narrow_accesses_are_told():
    """The second half of 20 pairs of bfloat16 lies at 40 bytes, where 16-byte accesses may not."""
    compiled = ahead.compile_ahead(
        torch.bfloat16, interleaved=False, tables=False, head_dim=80, rotary_dim=40
    )
    wide = [bool(re.search(WIDEST, access)) for access in accesses(compiled.asm["ptx"], "st")]

    assert any(wide)  # the tail, at 80 bytes
    assert not all(wide)


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

"""What Triton makes of the kernels for a GPU that need not be there.

Any other Triton is compiled with as well where ROPESPEC_TRITONS names folders that hold one each,
as `pip install --no-deps --target FOLDER triton==VERSION` makes them.
"""

import functools
import itertools
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ropespec.backends.torch.cuda import ahead, launch

pytestmark = pytest.mark.skipif(not launch.has_triton(), reason="Triton is not installed")
DTYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}
FOLDERS = [folder for folder in os.environ.get("ROPESPEC_TRITONS", "").split(os.pathsep) if folder]
HERE = "installed"
NONE = pytest.param(
    None, marks=pytest.mark.skip(reason="ROPESPEC_TRITONS names no folder with another Triton")
)
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])
TRITONS = pytest.mark.parametrize("triton", [HERE, *(FOLDERS or [NONE])])
KINDS = list(itertools.product(DTYPES, (True, False), (True, False)))
EACH = pytest.mark.parametrize(
    ("dtype", "interleaved", "tables"),
    KINDS,
    ids=[
        f"{dtype}-{'interleaved' if interleaved else 'half'}-{'tables' if tables else 'positions'}"
        for dtype, interleaved, tables in KINDS
    ],
)
WIDEST = r"\.(v4\.[bfu]32|v2\.[bfu]64|b128)\b"
FUSED_EACH = {"float64": 24}
"""Fused multiply-adds for cos and sin of a pair, at most; 16 where they are float32."""


def build(kind):
    """Compile one kernel; return its PTX, its machine code, and what ptxas says of its needs."""
    import triton  # noqa: PLC0415  # which one, the path decides

    dtype, interleaved, tables = kind
    done = ahead.compile_ahead(DTYPES[dtype], interleaved=interleaved, tables=tables).asm
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    file = Path(os.environ["TRITON_CACHE_DIR"], f"{'-'.join(map(str, kind))}.cubin")
    file.write_bytes(done["cubin"])
    said = subprocess.run([tool, "-res-usage", file], capture_output=True, text=True, check=True)
    return done["ptx"], done["cubin"], said.stdout + said.stderr


@pytest.fixture(name="built", scope="module")
def _built(tmp_path_factory):
    """Compile with one Triton or another, each in a folder of its own, once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        here = functools.cache(build)

        @functools.cache
        def elsewhere(folder):
            cache = tmp_path_factory.mktemp("other")
            environment = os.environ | {
                "PYTHONPATH": os.pathsep.join([folder, *sys.path]),
                "TRITON_CACHE_DIR": str(cache),
            }
            command = [sys.executable, __file__, str(cache / "all")]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return pickle.loads((cache / "all").read_bytes())  # noqa: S301  # just written

        yield lambda triton, kind: here(kind) if triton == HERE else elsewhere(triton)[kind]


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


@TRITONS
@EACH
def test_compiles_for_sm_90(built, triton, dtype, interleaved, tables):
    """For contiguous x all accesses to x are 16 bytes wide, and cos and sin stay out of the loop.

    Where rows are interleaved they are parted in registers: nothing of x goes through shared
    memory, which the loop over the heads would show.
    """
    ptx, cubin, _ = built(triton, (dtype, interleaved, tables))
    loop = loop_of(ptx)
    stores, loads = accesses(loop, "st"), accesses(loop, "ld")

    assert cubin.startswith(b"\x7fELF")
    assert len(stores) == len(loads) == 4
    assert all(re.search(WIDEST, access) for access in stores + loads)
    assert accesses(ptx, "st") == stores
    assert ".shared" not in loop
    assert "cvt.rn.f32.s32" not in loop
    assert "cvt.rn.f64.s64" not in loop
    assert ("cvt.rn.f32.s32" in ptx or "cvt.rn.f64.s64" in ptx) != tables
    if dtype == "bfloat16":
        assert "cvt.rn.bf16x2.f32" in loop  # a GPU rounds to nearest, two at a time


@TRITONS
@EACH
def test_a_thread_has_one_token(built, triton, dtype, interleaved, tables):
    """A thread makes the cos and sin of its own pairs alone, and keeps all it needs in registers.

    With two tokens it makes twice as many, which the fused multiply-adds before the loop tell.
    """
    ptx, _, needs = built(triton, (dtype, interleaved, tables))
    loop = loop_of(ptx)
    before = len(re.findall(r"\bfma\.rn\.f", ptx)) - len(re.findall(r"\bfma\.rn\.f", loop))
    pairs = 16 // DTYPES[dtype].itemsize // (2 if interleaved else 1)

    assert before <= (0 if tables else FUSED_EACH.get(dtype, 16) * pairs)
    assert int(re.search(r"REG:(\d+)", needs)[1]) <= 64
    assert re.search(r"STACK:(\d+)", needs)[1] == "0"


@TRITONS
@LAYOUTS
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_tables_are_read_wide(built, triton, dtype, interleaved):
    """Before the loop are as many loads as cos and sin have words of 16 bytes."""
    ptx, _, _ = built(triton, (dtype, interleaved, True))
    before = accesses(ptx.replace(loop_of(ptx), ""), "ld")
    pairs = 16 // DTYPES[dtype].itemsize // (2 if interleaved else 1)
    bytes_each = 8 if dtype == "float64" else 4

    assert len(before) == 2 * max(1, pairs * bytes_each // 16)


def test_narrow_accesses_are_told(built):
    """The second half of 20 pairs of bfloat16 lies at 40 bytes, where 16-byte accesses may not."""
    assert built  # which gives Triton a folder of its own
    compiled = ahead.compile_ahead(
        torch.bfloat16, interleaved=False, tables=False, head_dim=80, rotary_dim=40
    )
    wide = [bool(re.search(WIDEST, access)) for access in accesses(compiled.asm["ptx"], "st")]

    assert any(wide)  # the tail, at 80 bytes
    assert not all(wide)


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(pickle.dumps({kind: build(kind) for kind in KINDS}))

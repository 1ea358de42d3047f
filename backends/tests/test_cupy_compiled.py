"""What NVRTC makes of the CuPy kernels for a GPU that need not be there."""

import functools
import re

import cupy
import pytest

from ropespec.backends.cupy import kernels, launch

VECTORS = [
    pytest.param(name, layout, id=f"{name}-{layout}")
    for name in ("float16", "bfloat16", "float32", "float64")
    for layout in ("interleaved", "half")
]
EACH = pytest.mark.parametrize(("dtype", "layout"), VECTORS)
CONVERSIONS = {
    "float16": ("cvt.f32.f16", "cvt.rn.f16.f32"),
    "bfloat16": ("", "cvt.rn.bf16.f32"),
}
"""What widens and what rounds; bfloat16 is widened by a shift."""


@functools.cache
def compiled(architecture):
    """Compile once; return the text in PTX and what ptxas says, each by kernel."""
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(kernels.source(), "rope.cu", (), ())
    options = (f"--gpu-architecture={architecture}", "--ptxas-options=--verbose", *kernels.OPTIONS)
    nvrtc.compileProgram(program, options)
    ptx, said = nvrtc.getPTX(program).decode(), nvrtc.getProgramLog(program)
    nvrtc.destroyProgram(program)
    return (
        dict(re.findall(r"\.entry (\w+)\((.*?\n)}\n", ptx, re.DOTALL)),
        dict(re.findall(r"entry function '(\w+)'.*?\n(.*?)Compile time", said, re.DOTALL)),
    )


@EACH
def test_threads_keep_what_they_need_in_registers(dtype, layout):
    """A processor holds as many threads as the launch counts on, and none of them spills."""
    _, said = compiled("sm_90")
    if not said:
        pytest.skip("this NVRTC keeps what ptxas says to itself")
    words = said[f"rope_{layout}_{dtype}_vector"]

    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in words
    registers = int(re.search(r"Used (\d+) registers", words)[1])
    assert registers * launch.RESIDENT <= 2**16


@EACH
def test_blocks_are_what_the_compiler_was_told(dtype, layout):
    """The bound on the threads of a block is the block of the launch."""
    ptx, _ = compiled("sm_90")

    assert f".maxntid {launch.BLOCK}" in ptx[f"rope_{layout}_{dtype}_vector"]


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("dtype", CONVERSIONS)
def test_half_formats_are_converted_by_the_hardware(dtype, layout):
    """One instruction rounds, one widens; nothing asks whether a number is infinite or small."""
    text = compiled("sm_90")[0][f"rope_{layout}_{dtype}_vector"]
    widens, rounds = CONVERSIONS[dtype]
    held = 4 * 8  # in flight: four words of eight

    assert text.count(rounds) == held
    assert text.count(widens) == held or not widens
    assert str(0x7F800000) not in text


def test_older_processors_round_in_integers():
    """Before sm_80 there is no instruction for bfloat16; what there is for float16 is used."""
    ptx, _ = compiled("sm_75")

    assert "cvt.rn.bf16.f32" not in ptx["rope_half_bfloat16_vector"]
    assert "cvt.rn.f16.f32" in ptx["rope_half_float16_vector"]

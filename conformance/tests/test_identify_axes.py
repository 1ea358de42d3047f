"""How identification calls: as is claimed, and in other orders of axes only if it is told to."""

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.cli import main
from ropespec.conformance.cli.status import CONFORMS, UNUSABLE
from ropespec.conformance.identify import Name, Pairing, identify
from ropespec.conformance.identify.calling import find_calling
from ropespec.conformance.profile import Profile

ORDER = {"bshd": (0, 1, 2, 3), "bhsd": (0, 2, 1, 3), "sbhd": (1, 0, 2, 3)}
SUBJECTS = """
import os

from ropespec import reference


def in_order(order):
    def apply(x, positions):
        if x.ndim != 4 or positions.ndim != 2:
            raise ValueError("operands could not be broadcast")
        y = reference.apply_rotary(x.transpose(order), positions, interleaved=False)
        return y.transpose(order)

    return apply


heads_first = in_order((0, 2, 1, 3))
usual = in_order((0, 1, 2, 3))
"""
KERNEL = """
#include <math.h>
/* (B, S, H, D) float, positions (B, S): what a caller says of them is believed. */
void rotate(float *y, const float *x, const long *p, long B, long S, long H, long D) {
  for (long b = 0; b < B; b++) for (long s = 0; s < S; s++) for (long h = 0; h < H; h++)
    for (long i = 0; i < D / 2; i++) {
      double a = p[b * S + s] * pow(10000.0, -2.0 * i / D);
      const float *u = x + ((b * S + s) * H + h) * D;
      float *v = y + ((b * S + s) * H + h) * D;
      v[i] = (float)(u[i] * cos(a) - u[i + D / 2] * sin(a));
      v[i + D / 2] = (float)(u[i] * sin(a) + u[i + D / 2] * cos(a));
    }
}
"""
GLUE = '''
import ctypes
from pathlib import Path

import numpy as np

library = ctypes.CDLL(str(Path(__file__).with_name("kernel.so")))


def apply(x, positions):
    """Believe that x is float32 and contiguous, (B, S, H, D), and positions are (B, S)."""
    x = np.ascontiguousarray(x)
    rows, tokens = positions.shape
    y = np.empty((rows, tokens, *x.shape[2:]), np.float32)
    where = np.ascontiguousarray(positions, dtype=np.int64)
    pointers = (item.ctypes.data_as(ctypes.c_void_p) for item in (y, x, where))
    batch, seq, heads, dim = x.shape
    if x.dtype != np.float32 or (rows, tokens) != (batch, seq):
        # As far as it would read or write beyond the memory it is given, it dies at once.
        if max(batch * seq * heads * dim * 4, y.nbytes) > min(x.nbytes, y.nbytes) or (
            batch * seq > positions.size
        ):
            ctypes.string_at(0)
    library.rotate(*pointers, *(ctypes.c_long(n) for n in (batch, seq, heads, dim)))
    return y
'''


@pytest.fixture
def session_of(checks):
    """Return a function that makes a session of a function in this process."""
    in_process = type(checks.trial({}).session)

    def make(function, **claims):
        profile = Profile.from_mapping({"interleaved": False, **claims})
        return in_process({"apply_rotary": function}, profile, frozenset())

    return make


class Recorder:
    """A rotation in one order of axes, and the shapes and dtypes that reached it."""

    def __init__(self, axes="bshd", shared=False):
        self.axes, self.shared = axes, shared
        self.calls = []

    def __call__(self, x, positions):
        """Rotate what fits; raise for the rest."""
        self.calls.append((x.shape, x.dtype.name, positions.shape))
        if x.ndim != 4 or positions.ndim != 2 - self.shared:
            raise ValueError("operands could not be broadcast")
        order = ORDER[self.axes]
        y = reference.apply_rotary(x.transpose(order), positions, interleaved=False)
        return y.transpose(np.argsort(order))


@pytest.mark.parametrize("axes", list(ORDER))
@pytest.mark.parametrize("shared", [False, True])
def test_no_shape_reaches_a_subject_that_is_not_claimed(axes, shared, session_of):
    """Batch, sequence and positions agree in every call, and the dtype is one that is claimed."""
    subject = Recorder(axes, shared)
    found = identify(session_of(subject, axes=axes, shared_positions=shared))

    assert found.value(Name.PAIRING) is Pairing.HALF
    assert found.value(Name.AXES_TRIED) == (axes,)
    assert len(subject.calls) > 50
    for shape, dtype, positions in subject.calls:
        batch, seq = (shape[ORDER[axes].index(i)] for i in (0, 1))
        assert (len(shape), dtype) == (4, "float32")
        assert positions == ((seq,) if shared else (batch, seq))


@pytest.mark.parametrize("dtypes", [("float64",), ("float32", "float64"), ("float16",)])
def test_no_shorter_dtype_reaches_a_subject_than_is_claimed(dtypes, session_of):
    """A kernel for float64 would read beyond an array of float32."""
    subject = Recorder()
    identify(session_of(subject, dtypes=dtypes))
    least = min(np.dtype(name).itemsize for name in dtypes)

    assert min(np.dtype(dtype).itemsize for _, dtype, _ in subject.calls) == least


def test_tokens_beyond_the_limit_that_is_claimed_reach_no_subject(session_of):
    """Rows are handed over a few at a time, and no fact is made of what was not asked."""
    subject = Recorder()
    found = identify(session_of(subject, max_tokens=24))

    assert max(np.prod(positions) for *_, positions in subject.calls) <= 24
    assert found.value(Name.PAIRING) is Pairing.HALF
    assert found.confirmed


@pytest.mark.parametrize("axes", list(ORDER))
@pytest.mark.parametrize("shared", [False, True])
def test_the_order_is_found_if_that_is_asked_for(axes, shared, session_of):
    """And the form of positions; what was tried is said."""
    found = identify(session_of(Recorder(axes, shared)), try_axes=True)

    assert found.value(Name.AXES) == axes
    assert found.value(Name.POSITIONS) == ("(S,)" if shared else "(B, S)")
    assert found.value(Name.PAIRING) is Pairing.HALF
    assert found.value(Name.AXES_TRIED)[-1:] == (axes,) or shared
    assert found.command("f").endswith(" --shared-positions") == shared


def test_what_is_tried_has_equal_sizes(session_of):
    """Whichever axis a subject takes for which, it stays inside the memory it is given."""
    subject = Recorder("sbhd", shared=True)
    find_calling(session_of(subject), try_axes=True)
    first = list(itertools.takewhile(lambda call: len(set(call[0][:-1])) == 1, subject.calls))
    rest = subject.calls[len(first) :]

    assert {shape for shape, *_ in rest} == {(5, 1, 3, 32)}  # another head_dim, in what was found
    assert {len(set(positions)) for *_, positions in first} == {1}


def test_an_order_that_obeys_ends_the_search(session_of):
    """A subject that takes (B, S) is never given one vector of positions."""
    subject = Recorder("bhsd")
    calling = find_calling(session_of(subject), try_axes=True)

    assert calling.tried == ("bshd", "bhsd")
    assert {len(positions) for *_, positions in subject.calls} == {2}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a current folder with subjects in it."""
    (tmp_path / "my_rope.py").write_text(SUBJECTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_identify_tries_axes_only_if_told_to(capsys):
    """Without the option it is called as is claimed, and the message proposes the option."""
    assert main(["identify", "my_rope.py:heads_first"]) == UNUSABLE
    refused = capsys.readouterr().err
    assert main(["identify", "my_rope.py:heads_first", "--try-axes"]) == CONFORMS
    found = " ".join(capsys.readouterr().out.split())
    assert main(["identify", "my_rope.py:heads_first", "--axes", "bhsd"]) == CONFORMS
    told = " ".join(capsys.readouterr().out.split())

    assert "  --axes " in refused
    assert "`ropespec identify my_rope.py:heads_first --try-axes` finds the order" in refused
    assert "ropespec check my_rope.py:heads_first --half --axes bhsd" in found
    assert "These orders of axes were tried: bshd, bhsd." in found
    assert "No order of axes but bhsd was tried." in told


@pytest.mark.usefixtures("folder")
def test_what_answers_in_no_order_is_refused_all_the_same(capsys):
    """With the message of the claimed one."""
    Path("bad.py").write_text("def f(x, positions):\n    raise ValueError('never')\n")

    assert main(["identify", "bad.py:f", "--try-axes"]) == UNUSABLE
    assert "bad.py:f raises ValueError: never, when it is called as" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_compare_tries_axes_only_if_told_to(capsys):
    """And goes on with the order that is found."""
    words = ["compare", "my_rope.py:heads_first", "my_rope.py:usual", "--max-position", "500"]

    assert main(words) == UNUSABLE
    assert "my_rope.py:heads_first raises ArgumentValueError: " in capsys.readouterr().err
    assert main([*words, "--try-axes"]) == CONFORMS
    assert capsys.readouterr().out.startswith("interchangeable\n")


@pytest.fixture
def kernel(folder):
    """Return a kernel in C that trusts its caller, as a target."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler for C here")
    (folder / "kernel.c").write_text(KERNEL, encoding="utf-8")
    command = [compiler, "-O1", "-shared", "-fPIC", "kernel.c", "-o", "kernel.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    (folder / "glue.py").write_text(GLUE, encoding="utf-8")
    return "glue.py:apply"


@pytest.mark.parametrize("words", [(), ("--try-axes",)])
def test_native_code_that_trusts_its_caller_survives(words, kernel, capsys):
    """`identify` and `compare` make no call that writes past its buffers."""
    assert main(["identify", kernel, *words]) == CONFORMS
    assert capsys.readouterr().out.startswith(f"{kernel}: half-split (NeoX/Llama), base 10000, ")
    main(["compare", kernel, "numpy", "--half", *words])
    assert "crash" not in capsys.readouterr().out

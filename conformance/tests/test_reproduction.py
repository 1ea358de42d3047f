import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.report.literal import array_source
from ropespec.conformance.report.script import reproduction, reproduction_call

SUBJECT = '''
"""A half-split rotation whose sign can be wrong."""
import numpy as np


def rotate(x, positions, sign):
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), sign * np.sin(angle)
    a, b = x[..., :half].astype(float), x[..., half:].astype(float)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def right(x, positions):
    return rotate(x, positions, 1.0)


def wrong(x, positions):
    return rotate(x, positions, -1.0)


def heads_first(x, positions):
    return right(x.swapaxes(1, 2), positions).swapaxes(1, 2)


def shared(x, positions):
    assert positions.ndim == 1
    return right(x, positions)


def sequence_heads(x, positions):
    assert x.ndim == 3
    return right(x[None], positions[None])[0]


def sequence_first(x, positions):
    return right(x.swapaxes(0, 1), positions).swapaxes(0, 1)


class Offers:
    class Inner:
        @staticmethod
        def apply_rotary(x, positions, *, interleaved):
            assert interleaved is False
            return right(x, positions)

    def apply_rotary(self, x, positions, *, rotary_dim):
        assert rotary_dim is None
        return right(x, positions)

    def inv_freq(self, dim, base=10000.0):
        return np.full(dim // 2, base)
'''
X = np.arange(1, 13, dtype=np.float32).reshape(1, 3, 1, 4) / 8
POSITIONS = np.array([[0, 5, 300]])


def run(script, folder):
    """Run a script as a person would: saved beside the subject."""
    (folder / "shows.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "shows.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def shows(tmp_path, target, *, x=X, positions=POSITIONS, accepts=None, **claims):
    """Write the subject and the script, run it, and return expected and got at the worst place."""
    (tmp_path / "my_rope.py").write_text(SUBJECT, encoding="utf-8")
    script = reproduction(
        target=target,
        profile=Profile(layouts=(False,), **claims),
        x=x,
        positions=positions,
        interleaved=False,
        base=10000.0,
        rotary_dim=None,
        accepts=accepts,
    )
    assert len(script.splitlines()) < 25
    words = run(script, tmp_path).splitlines()[-1].split()
    return float(words[-3]), float(words[-1])


@pytest.mark.parametrize("target", ["my_rope.py:wrong", "my_rope:wrong"])
def test_a_script_shows_the_difference(tmp_path, target):
    """Expected and got differ by the sign that the subject gets wrong."""
    expected, got = shows(tmp_path, target, positions=np.array([[0, 5, 0]]))
    a, b = X[0, 1, 0, [0, 2]].astype(float)

    assert expected == pytest.approx(a * np.cos(5) - b * np.sin(5))
    assert got == pytest.approx(a * np.cos(5) + b * np.sin(5))


@pytest.mark.parametrize(
    ("target", "claims"),
    [
        ("my_rope.py:right", {}),
        ("my_rope:right", {}),
        ("my_rope.py:Offers", {}),
        ("my_rope:Offers", {}),
        ("my_rope.py:Offers.Inner", {}),
        ("my_rope:Offers.Inner.apply_rotary", {}),
        ("my_rope.py:heads_first", {"axes": "bhsd"}),
        ("my_rope.py:sequence_first", {"axes": "sbhd"}),
        ("my_rope.py:sequence_heads", {"axes": "shd"}),
        ("my_rope.py:shared", {"shared_positions": True}),
        ("ropespec.backends.numpy", {}),
        ("numpy", {}),
    ],
)
def test_a_script_shows_no_difference_of_a_right_one(tmp_path, target, claims):
    """Whatever its axes and its place: a right implementation is shown to be right."""
    expected, got = shows(tmp_path, target, **claims)

    assert got == pytest.approx(expected, rel=1e-6)


def test_a_script_passes_the_keywords_it_is_told(tmp_path):
    """Known keywords need no inspection of the subject."""
    expected, got = shows(tmp_path, "my_rope:Offers.Inner", accepts={"interleaved"})

    assert got == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("array", ["torch", "jax"])
def test_a_script_converts_to_the_framework(capsys, array):
    """bfloat16 and a framework: what the backend returns is within one rounding."""
    pytest.importorskip(array)
    script = reproduction(
        target=array,
        profile=Profile(layouts=(False,), array=array, dtypes=("bfloat16",)),
        x=X.astype(ml_dtypes.bfloat16),
        positions=POSITIONS,
        interleaved=False,
        base=10000.0,
        rotary_dim=None,
    )
    # In this process: importing a framework once more takes seconds.
    exec(script, {})  # noqa: S102  # our own source
    words = capsys.readouterr().out.splitlines()[-1].split()

    assert len(script.splitlines()) < 25
    assert "bfloat16" in script
    assert float(words[-1]) == pytest.approx(float(words[-3]), rel=2.0**-8)


def test_a_script_knows_bfloat16_of_numpy(tmp_path):
    """A NumPy subject gets ml_dtypes.bfloat16."""
    expected, got = shows(tmp_path, "my_rope.py:right", x=X.astype(ml_dtypes.bfloat16))

    assert got == pytest.approx(expected, rel=2.0**-8)


def test_a_script_is_exact_at_huge_positions(tmp_path):
    """At 2^31 the angles of the script itself are good to float32."""
    positions = np.array([[2**31 - 3, 2**31 - 2, 2**31 - 1]])
    expected, got = shows(tmp_path, "numpy", positions=positions)

    assert got == pytest.approx(expected, abs=1e-6)


def test_a_script_keeps_nan_apart(tmp_path):
    """NaN where NaN is expected is no difference; elsewhere it is the worst."""
    x = X.copy()
    x[0, 1, 0, 0] = np.nan

    expected, got = shows(tmp_path, "my_rope.py:wrong", x=x)

    assert np.isfinite([expected, got]).all()


def test_a_script_of_an_empty_input_runs(tmp_path):
    """There is no worst element of nothing, but a shape and a dtype."""
    (tmp_path / "my_rope.py").write_text(SUBJECT, encoding="utf-8")
    script = reproduction(
        target="my_rope.py:right",
        profile=Profile(layouts=(False,)),
        x=X[:, :0],
        positions=POSITIONS[:, :0],
        interleaved=False,
        base=10000.0,
        rotary_dim=None,
    )

    assert run(script, tmp_path) == "shape (1, 0, 1, 4) expected (1, 0, 1, 4) dtype float32\n"


def test_another_function_is_called_and_printed(tmp_path):
    """Arguments of any other function are passed as they are, and the result is shown."""
    (tmp_path / "my_rope.py").write_text(SUBJECT, encoding="utf-8")
    script = reproduction_call(
        target="my_rope:Offers",
        profile=Profile(layouts=(False,)),
        function="inv_freq",
        arrays=[4],
        keywords={"base": 500.0},
    )

    assert run(script, tmp_path) == "ndarray float64 (2,)\n[500. 500.]\n"


def test_arrays_are_passed_to_another_function(tmp_path):
    """Arrays stand in the script, those passed by keyword too."""
    script = reproduction_call(
        target="numpy",
        profile=Profile(layouts=(True,)),
        function="attention",
        arrays=[X, X, X],
        keywords={
            "query_positions": POSITIONS,
            "key_positions": POSITIONS,
            "interleaved": True,
            "mask": np.tri(3, dtype=bool),
        },
    )
    lines = run(script, tmp_path).splitlines()

    assert "ndarray float32 (1, 3, 1, 4)" in lines
    assert "ndarray float32 (1, 1, 3, 3)" in lines


LONG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, np.nan], [-np.inf, -0.0]], np.float16),
        np.array([True, False]),
        np.array([1 + 2j, complex(np.nan, -0.0)], np.complex64),
        np.array(3),
        np.zeros((2, 0, 3), np.float32),
        np.tile(np.arange(-4, 96), (2, 1)),
        LONG.integers(0, 2**40, (3, 40)),
        np.full((3, 40), 2048),
        np.full((5, 30), 0.1, np.float32),
        np.full((5, 30), -0.0, np.float32),
        np.eye(16)[3].repeat(8).reshape(8, 16),
        LONG.standard_normal((4, 32)).astype(np.float32),
        np.array([0.1, 1e-40, 3.0000002], np.float32),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_the_source_of_an_array_gives_the_same_bits(array):
    """Every bit survives: signed zeros, NaN, subnormals."""
    names = {"np": np}
    exec("\n".join(array_source("a", array)), names)  # noqa: S102  # our own source

    assert names["a"].dtype == array.dtype
    assert names["a"].shape == array.shape
    np.testing.assert_array_equal(names["a"], array)
    if array.dtype.kind == "f":
        assert (np.signbit(names["a"]) == np.signbit(array)).all()


def test_an_array_too_long_to_print_says_so():
    """Random values of its shape take its place, and the script admits it."""
    lines = array_source("x", LONG.standard_normal((3, 17, 4, 128)))

    assert "too long to print" in lines[0]
    assert sum(map(len, lines)) < 300

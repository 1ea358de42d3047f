import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from ropespec.backends import numpy as numpy_backend
from ropespec.backends.namespace import phase
from ropespec.backends.phase import turns
from ropespec.backends.positions import read_positions
from ropespec.spec.errors import ArgumentTypeError
from ropespec.spec.scaling.numbers import TWO_PI

PAIRS = [(2, 10000.0), (64, 10000.0), (128, 500000.0), (10, 1.5), (6, 1e30)]
FAR = [0, 1, 2, 2**10, 2**20, 2**31 - 1, -1, -(2**10), -(2**20), -(2**31 - 1), 2**40 + 3, -(2**63)]


def exact_turns(dim, base):
    """theta_i / (2 pi) in units of 2^-64 turn, in 300-bit arithmetic."""
    with mpmath.workprec(300):
        unit = mpmath.mpf(2) ** 64 / (2 * mpmath.pi)
        return [mpmath.mpf(base) ** (mpmath.mpf(-2 * i) / dim) * unit for i in range(dim // 2)]


def exact_cos_sin(positions, dim, base):
    """Cos and sin of m * theta_i, correctly rounded to float64."""
    cos, sin = np.empty((2, len(positions), dim // 2))
    with mpmath.workprec(300):
        for i in range(dim // 2):
            theta = mpmath.mpf(base) ** (mpmath.mpf(-2 * i) / dim)
            for row, m in enumerate(positions):
                cos[row, i], sin[row, i] = mpmath.cos(m * theta), mpmath.sin(m * theta)
    return cos, sin


def test_two_pi_has_all_its_decimals():
    """The constant is 2 pi to the last decimal it has."""
    with mpmath.workprec(300):
        assert abs(mpmath.mpf(str(TWO_PI)) - 2 * mpmath.pi) < mpmath.mpf(10) ** -60


@pytest.mark.parametrize(("dim", "base"), PAIRS)
def test_turns_are_rounded_once(dim, base):
    """FREQ-9: every T_i is the integer nearest to the exact value."""
    table = turns(dim, base)

    assert table.dtype == np.uint64
    for found, exact in zip(table, exact_turns(dim, base), strict=True):
        assert abs(int(found) - exact) <= mpmath.mpf("0.5")


def test_turns_from_a_rounded_inv_freq_would_be_wrong():
    """The check above can fail: a float64 frequency moves T_i by hundreds of units."""
    rounded = numpy_backend.inv_freq(64)
    units = [Fraction(float(theta)) * 2**64 / Fraction(TWO_PI) for theta in rounded]

    assert max(abs(u - int(t)) for u, t in zip(units, turns(64, 10000.0), strict=True)) > 100


def test_the_table_is_kept_and_cannot_be_written():
    """The table is shared by all calls, so nobody may change it."""
    assert turns(8, 10000.0) is turns(8, 10000.0)
    with pytest.raises(ValueError, match="read-only"):
        turns(8, 10000.0)[0] = 1


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"])
def test_phase_is_the_product_modulo_one_turn(kind):
    """FREQ-9: (m * T_i) mod 2^64 as a signed number, at the ends of every integer dtype."""
    info = np.iinfo(kind)
    positions = np.array([info.min, 0, 1, 77, info.max], dtype=kind)
    found = phase(np, positions, 6, 100.0)
    table = [int(t) for t in turns(6, 100.0)]

    assert found.dtype == np.int64
    for row, m in zip(found, positions, strict=True):
        expected = [(int(m) * t + 2**63) % 2**64 - 2**63 for t in table]
        assert [int(p) for p in row] == expected


def test_phase_of_a_single_position():
    """A position without axes gives one row, and no warning that something overflowed."""
    assert np.array_equal(phase(np, np.array(-5), 6, 100.0), phase(np, np.array([-5]), 6, 100.0)[0])


@pytest.mark.parametrize("framework", ["numpy", "torch"])
@pytest.mark.parametrize(("dim", "base"), PAIRS)
def test_cos_and_sin_are_as_good_far_away_as_nearby(framework, dim, base):
    """FREQ-9: right to 1e-15 and the |m| 2^-65 turns by which T_i was rounded."""
    backend = pytest.importorskip(f"ropespec.backends.{framework}", exc_type=ImportError)
    cos, sin = exact_cos_sin(FAR, dim, base)
    found_cos, found_sin = (np.asarray(part) for part in backend.cos_sin(FAR, dim, base))
    budget = 1e-15 + np.abs(np.array(FAR, dtype=np.float64))[:, None] * 2 * np.pi * 2.0**-65

    assert found_cos.dtype == found_sin.dtype == np.float64
    assert np.all(np.abs(found_cos - cos) <= budget)
    assert np.all(np.abs(found_sin - sin) <= budget)


def test_angles_in_float64_would_not_pass():
    """The check above can fail: cos(float64 product) is 1e-7 off at position 2^31."""
    positions = [2**31 - 1]
    cos, _ = exact_cos_sin(positions, 128, 10000.0)
    naive = np.cos(numpy_backend.angles(positions, numpy_backend.inv_freq(128)))

    assert np.abs(naive - cos).max() > 1e-15 + 2.0**31 * 2 * np.pi * 2.0**-65


def test_reading_positions():
    """FREQ-6: one integer, nested sequences and NumPy integers; an array stays itself."""
    array = np.array([1, -2], dtype=np.int8)

    assert read_positions(array) is array
    assert read_positions(7).shape == ()
    assert read_positions([[1], [2]]).tolist() == [[1], [2]]
    assert (read_positions([]).dtype, read_positions([]).shape) == (np.int64, (0,))


@pytest.mark.parametrize("value", [[1.0], "1", [[1], [1, 2]], [2**63], None, [True]])
def test_positions_that_are_refused(value):
    """Everything that is not an integer of 64 bits is refused by name."""
    with pytest.raises(ArgumentTypeError, match=r"^offset must be integers that fit in int64"):
        read_positions(value, "offset")


FRAMEWORKS = ("torch", "jax", "cupy")
FOREIGN = (*FRAMEWORKS, "ropespec.reference")  # a backend that calls the reference proves nothing


def loaded_after(statement):
    """Run one statement in a fresh interpreter and say which of these it loaded."""
    code = f"import sys; {statement}; print(*(n for n in {FOREIGN} if n in sys.modules))"
    path = f"import sys; sys.path[:] = {sys.path!r}; "
    done = subprocess.run([sys.executable, "-c", path + code], capture_output=True, check=True)
    return done.stdout.decode().split()


def test_importing_the_backends_loads_no_framework():
    """Neither the package nor the NumPy backend loads torch, JAX or CuPy."""
    assert loaded_after("import ropespec.backends, ropespec.backends.numpy") == []


def test_a_loaded_framework_would_be_seen():
    """The check above can fail: a module of that name is reported."""
    assert loaded_after("sys.modules['torch'] = sys") == ["torch"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_backend_loads_its_framework_alone(framework):
    """What a backend imports is seen from outside: neither another framework nor the reference."""
    pytest.importorskip(framework)
    assert loaded_after(f"import ropespec.backends.{framework}") == [framework]

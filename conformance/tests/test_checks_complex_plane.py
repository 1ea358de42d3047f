import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.results import Status
from ropespec.spec.convention import Convention

ALL = ["float32", "float64", "float16", "bfloat16"]


def turning(formula, where=lambda positions: positions):
    """Return a rotation whose members are formula(x1, x2, cos, sin), at `where(positions)`."""

    def wrong(x, positions, *, interleaved, base=10000.0, rotary_dim=None):
        dim = x.shape[-1] if rotary_dim is None else rotary_dim
        cos, sin = (part[..., None, :] for part in reference.cos_sin(where(positions), dim, base))
        by = Convention.of(interleaved=interleaved, rotary_dim=dim)
        x1, x2 = pairs_of(x.astype(np.float64), by)
        y = from_pairs(*formula(x1, x2, cos, sin), x[..., dim:], by)
        return y.astype(x.dtype)

    return wrong


def right(a, b, c, s):
    """Turn rightly."""
    return a * c - b * s, a * s + b * c


UNSIGNED = turning(right, np.abs)
MIRRORED = turning(lambda a, b, c, s: (a * c + b * s, a * s - b * c))
LOST_TERM = turning(lambda a, b, c, s: (a * c, a * s + b * c))
SWAPPED = turning(lambda a, b, c, s: (a * s - b * c, a * c + b * s))


def halves_to_complex(x):
    """Real parts in the first half."""
    n = x.shape[-1] // 2
    z = np.empty((*x.shape[:-1], n), np.complex128 if x.dtype == np.float64 else np.complex64)
    z.real, z.imag = x[..., :n], x[..., n:]
    return z


def summed_to_complex(x):
    """Take a + 1j * b, which turns an infinite b into NaN + i inf."""
    with np.errstate(invalid="ignore"):
        z = x[..., 0::2].astype(np.complex128) + 1j * x[..., 1::2].astype(np.complex128)
        return z.astype(np.complex128 if x.dtype == np.float64 else np.complex64)


def halves_from_complex(z):
    """Real parts, then imaginary parts."""
    return np.concatenate([z.real, z.imag], axis=-1)


KILLS = (
    ("CPLX-1.forms", "apply_rotary", SWAPPED, "a rotated pair"),
    ("CPLX-4.forms", "apply_rotary", SWAPPED, "the rotated 1"),
    ("CPLX-5.forms", "apply_rotary", SWAPPED, "the rotated 1"),
    ("CPLX-2.conjugate", "apply_rotary", UNSIGNED, "f(z*, -m)"),
    ("CPLX-3.quarter-turn", "apply_rotary", MIRRORED, "f(iz, m)"),
    ("CPLX-4.euler", "apply_rotary", SWAPPED, "cos + i sin"),
    ("CPLX-6.halves", "apply_rotary", UNSIGNED, "exponentials"),
    ("CPLX-7.product", "apply_rotary", LOST_TERM, "f(wz, m)"),
    ("CPLX-7.product", "apply_rotary", MIRRORED, "f(wz, m)"),
    ("CPLX-8.to-complex", "to_complex", halves_to_complex, "bit for bit"),
    ("CPLX-8.to-complex", "to_complex", summed_to_complex, "bit for bit"),
    ("CPLX-8.from-complex", "from_complex", halves_from_complex, "bit for bit"),
    ("CPLX-8.reference", "to_complex", halves_to_complex, "bit for bit"),
    ("CPLX-8.reference-back", "from_complex", halves_from_complex, "bit for bit"),
)


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_implementations_pass(checks, module):
    """Both right implementations pass every check of the chapter, in every dtype."""
    for name in checks.ids("CPLX"):
        found = checks.run(name, module, dtypes=ALL)

        assert found.status is Status.PASS, (name, found.message)


def test_rounding_after_every_step_passes(checks, narrow):
    """Half precision arithmetic is right where nothing better is claimed."""
    for name in checks.ids("CPLX")[:5]:
        found = checks.run(name, narrow, dtypes=ALL)

        assert found.status is Status.PASS, (name, found.message)


@pytest.mark.parametrize("name", ["CPLX-4.euler", "CPLX-6.halves", "CPLX-7.product"])
def test_the_bounds_are_not_loose(checks, name):
    """A right result comes near its bound."""
    assert 0.05 < checks.run(name, backend, dtypes=ALL, precision="float64-angles").worst <= 1.0


@pytest.mark.parametrize(("name", "function", "wrong", "message"), KILLS)
def test_a_wrong_implementation_fails(checks, name, function, wrong, message):
    """Each check fails on the mistake it is there for, with words that say what is wrong."""
    found = checks.kills(name, function, wrong)

    assert found.status is Status.FAIL
    assert message in found.message
    assert found.counterexample.inputs["function"] == function


def test_every_check_of_the_chapter_kills(checks):
    """No check is idle."""
    assert set(checks.ids("CPLX")) == {name for name, *_ in KILLS}


def test_the_formula_of_the_wrong_ones_is_right_otherwise(checks):
    """The wrong implementations differ from a right one in what they say and in nothing else."""
    assert checks.kills("CPLX-7.product", "apply_rotary", turning(right)).status is Status.PASS


@pytest.mark.parametrize("name", ["DER-2.forms", "DER-2.equations"])
def test_what_is_zero_has_no_direction(name, checks):
    """Vectors that come back as zeros are wrong numbers, and not what cannot be judged."""

    def lost(x, positions, **how):
        y = reference.apply_rotary(x, positions, **how)
        return np.where(np.asarray(positions)[..., None, None] % 3 == 1, 0, y).astype(x.dtype)

    found = [checks.run(name, {"apply_rotary": lost}, seed=seed) for seed in range(3)]

    assert {one.status for one in found} == {Status.FAIL}

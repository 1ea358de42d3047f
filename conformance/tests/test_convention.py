"""Every field of a convention is read by the oracle and the judge, claimed by an option or not."""

import dataclasses
from decimal import Decimal
from typing import NamedTuple

import mpmath
import numpy as np
import pytest

from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Rules, decay, project_rotated, score, table
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.judge.values import make_values
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import Status
from ropespec.conformance.trial import Trial
from ropespec.spec.convention import Convention, Frequencies, Pairing

DIGITS = 60
EXACT = Rules(PRECISIONS["float64-angles"], "float64", Machine())
SINGLE = Rules(PRECISIONS["float32-angles"], "float32", Machine())


class Scaled(NamedTuple):
    """A scheme of any factors, one for each pair, and a gain."""

    factors: tuple[str, ...]
    gain: Decimal = Decimal(1)
    name: str = "scaled"

    def theta(self, base, dim):
        """Multiply each frequency by its factor."""
        plain = Frequencies(base).theta(dim)
        return tuple(one * Decimal(f) for one, f in zip(plain, self.factors, strict=True))


LINEAR = Scaled(("0.0625",) * 8)
SCHEMES = {
    "linear": LINEAR,
    "by parts": Scaled(("1", "1", "0.9", "0.61", "0.3", "0.1", "0.0625", "0.0625")),
    "in no order": Scaled(("1", "0.02", "1.5", "0.3", "4", "0.001", "7", "1e-9")),
    "proportional": Scaled(("1", "1", "1", "0", "0", "0", "0", "0")),
    "more than a turn": Scaled(("10", "1000", "7", "1", "1", "1e-300", "1", "1")),
}
PLAIN = Convention(Pairing.HALF)
OTHER = {
    "pairing": Convention(Pairing.INTERLEAVED),
    "base": Convention(Pairing.HALF, Frequencies(500.0)),
    "scheme": Convention(Pairing.HALF, Frequencies(scheme=SCHEMES["by parts"])),
    "gain": Convention(Pairing.HALF, Frequencies(scheme=Scaled(("1",) * 8, Decimal("1.3466")))),
    "rotary_dim": Convention(Pairing.HALF, rotary_dim=8),
    "trailing": Convention(Pairing.INTERLEAVED, rotary_dim=8, trailing=True),
    "clockwise": Convention(Pairing.HALF, clockwise=True),
    "axes": Convention(Pairing.HALF, axes=(0, 0, 1, 1, 1, 2, 2, 2)),
}
"""For each field a convention in which it is another; gain is one of the scheme."""

IGNORED = dict.fromkeys(OTHER, PLAIN) | {
    "trailing": Convention(Pairing.INTERLEAVED, rotary_dim=8),
    "axes": Convention(Pairing.HALF, axes=(0,) * 8),
}
"""What is judged by where the field is forgotten."""

CLAIMED = {
    "pairing": {"layouts": (True,)},
    "base": {"base": 500.0},
    "rotary_dim": {"rotary_dim": 8},
    "trailing": {"layouts": (True,), "rotary_dim": 8, "trailing": True},
    "axes": {"sections": (2, 3, 3)},
}
"""Which claims say a field; `test_claims.py` has the option, the report and the checks of each."""


def exactly(by, width):
    """Return the matrix of one token in 60 digits, from the definition, as a function."""
    dim = width if by.rotary_dim is None else by.rotary_dim
    start = width - dim if by.trailing else 0
    scheme = by.frequencies.scheme

    def matrix(position):
        R = mpmath.eye(width)
        for i in range(dim // 2):
            woven = by.pairing is Pairing.INTERLEAVED
            a, b = (2 * i, 2 * i + 1) if woven else (i, i + dim // 2)
            m = position[by.axes[i]] if by.axes else position
            theta = mpmath.mpf(by.frequencies.base) ** (mpmath.mpf(-2 * i) / dim)
            gain = mpmath.mpf(1)
            if scheme is not None:
                theta, gain = theta * mpmath.mpf(scheme.factors[i]), mpmath.mpf(str(scheme.gain))
            angle = (-1 if by.clockwise else 1) * int(m) * theta
            c, s = gain * mpmath.cos(angle), gain * mpmath.sin(angle)
            R[start + a, start + a], R[start + a, start + b] = c, -s
            R[start + b, start + a], R[start + b, start + b] = s, c
        return R

    return matrix


def positions_of(by, rng, *shape, most=2**40):
    """Draw positions of either sign, with an axis of three numbers where pairs follow several."""
    m = rng.integers(-most, most, (*shape, 3))
    return m if by.axes else m[..., 0]


def drawn(by, seed=0, width=16, dtype=np.float64, most=2**40):
    """Draw x of shape (2, 3, 2, width) and positions."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, 3, 2, width)).astype(dtype)
    return x, positions_of(by, rng, 2, 3, most=most)


def literally(x, positions, by):
    """Rotate x by the matrices of `exactly`, each number rounded once."""
    y, matrix = np.empty(x.shape), exactly(by, x.shape[-1])
    with mpmath.workdps(DIGITS):
        for b, s, h in np.ndindex(x.shape[:3]):
            vector = mpmath.matrix([mpmath.mpf(float(one)) for one in x[b, s, h]])
            y[b, s, h] = [float(one) for one in matrix(positions[b, s]) * vector]
    return y


def test_every_field_has_another_value_here():
    """A field that is added without one is noticed."""
    fields = {item.name for of in (Convention, Frequencies) for item in dataclasses.fields(of)}

    assert set(OTHER) == fields - {"frequencies"} | {"gain"}


@pytest.mark.parametrize("name", SCHEMES)
def test_the_oracle_rounds_correctly_under_any_scheme(name):
    """Frequencies in no order, none at all, or more than a turn a step: each cos and sin."""
    scheme, rng = SCHEMES[name], np.random.default_rng(3)
    of = Frequencies(10000.0, scheme)
    m = np.concatenate([np.arange(-3, 40), rng.integers(-(2**62), 2**62, 60)])
    cos, sin = oracle.cos_sin(m, 16, of)
    with mpmath.workdps(DIGITS):
        for i, factor in enumerate(scheme.factors):
            theta = mpmath.mpf(10000) ** (mpmath.mpf(-i) / 8) * mpmath.mpf(factor)
            assert oracle.frequencies(16, of)[i] == float(theta)
            assert cos[:, i].tolist() == [float(mpmath.cos(int(p) * theta)) for p in m]
            assert sin[:, i].tolist() == [float(mpmath.sin(int(p) * theta)) for p in m]


@pytest.mark.parametrize("name", OTHER)
def test_the_judge_rotates_by_every_field(name):
    """Exactly, at any position; and where the field is forgotten it is another rotation."""
    x, positions = drawn(OTHER[name])
    expected = literally(x, positions, OTHER[name])

    right = Rotation.of(x, positions, OTHER[name])
    assert np.abs(right.y - expected).max() < 2.0**-49
    assert (np.abs(right.y - expected) <= right.allowed(EXACT.precision, EXACT.machine)).all()
    ignored = Rotation.of(x, positions, IGNORED[name])
    assert np.abs(ignored.y - expected).max() > 0.1


@pytest.mark.parametrize("name", OTHER)
def test_the_budget_holds_for_every_field(name):
    """What float32 loses is allowed, and a field that is forgotten is not."""
    by = OTHER[name]
    x, positions = drawn(by, dtype=np.float32, most=64)
    exact = Rotation.of(x, positions, by)
    y = in_float32(x, positions, by)

    assert 0 < exact.ratios(y, SINGLE.precision, SINGLE.machine).max() <= 1.0
    ignored = Rotation.of(x, positions, IGNORED[name])
    assert ignored.ratios(y, SINGLE.precision, SINGLE.machine).max() > 1e3


def in_float32(x, positions, by):
    """Rotate as most implementations do: frequencies, angles, table and products in float32."""
    dim = by.dim(x.shape[-1])
    theta = np.array([float(one) for one in by.frequencies.theta(dim)]).astype(np.float32)
    m = (positions[..., list(by.axes)] if by.axes else positions[..., None]).astype(np.float32)
    angle = (-m if by.clockwise else m) * theta
    gain = np.float32(by.frequencies.gain)
    cos, sin = (gain * part[..., None, :] for part in (np.cos(angle), np.sin(angle)))
    first, second, _ = by.places(x.shape[-1])
    y = x.copy()
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


@pytest.mark.parametrize("name", OTHER)
def test_a_score_is_that_of_rotated_vectors(name):
    """It follows every field, the gain once for each of them."""
    by = OTHER[name]
    (q, m), (k, n) = (drawn(by, seed, most=2**20) for seed in (1, 2))
    left, right = (literally(one, where, by) for one, where in ((q, m), (k, n)))
    expected = np.sum(left * right, axis=-1)

    found = score(q, k, (n - m)[:, :, None], EXACT, by)
    assert np.abs(found.value - expected).max() < 2.0**-45
    ignored = score(q, k, (n - m)[:, :, None], EXACT, IGNORED[name])
    assert (np.abs(ignored.value - expected) > ignored.allowed).any()


@pytest.mark.parametrize("name", OTHER)
def test_a_projection_is_rotated_by_every_field(name):
    """W x is what rotates, and its own error stays within the bound."""
    by, rng = OTHER[name], np.random.default_rng(5)
    x, weight = rng.standard_normal((2, 3, 5)), rng.standard_normal((2, 16, 5))
    positions = positions_of(by, rng, 2, 3)
    expected = literally(np.tensordot(x, weight, axes=(-1, -1)), positions, by)

    found = project_rotated(x, positions, weight, EXACT, by)
    assert (np.abs(found.value - expected) <= found.allowed).all()
    ignored = project_rotated(x, positions, weight, EXACT, IGNORED[name])
    assert (np.abs(ignored.value - expected) > ignored.allowed).any()


@pytest.mark.parametrize("name", ["base", "scheme", "gain"])
def test_a_table_has_its_frequencies_and_its_gain(name):
    """The decay curve is that of the frequencies alone."""
    of, m = OTHER[name].frequencies, np.arange(50)
    unit = np.zeros((1, 50, 1, 16))
    unit[..., :8] = 1.0
    expected = literally(unit, m[None], OTHER[name])[0, :, 0]

    cos, sin = table(m, 16, of, EXACT)
    assert (np.abs(cos.value - expected[:, :8]) <= cos.allowed).all()
    assert (np.abs(sin.value - expected[:, 8:]) <= sin.allowed).all()
    plain, curve = (decay(m, 16, one, EXACT) for one in (Frequencies(), of))
    assert (np.abs(curve.value - plain.value) <= plain.allowed).all() == (name == "gain")


@pytest.mark.parametrize("name", OTHER)
def test_a_component_that_is_almost_lost_is_made_for_every_field(name):
    """One member of each pair nearly vanishes, which hides no error of the angle."""
    by, rng = OTHER[name], np.random.default_rng(7)
    positions = positions_of(by, rng, 2, 3, most=2**20)
    x = make_values("null", (2, 3, 2, 16), "float32", 3, positions=positions, by=by)
    first, second, rest = by.places(16)
    y = np.abs(Rotation.of(x, positions, by).y)

    assert np.minimum(y[..., first], y[..., second]).max() < 2.0**-22
    assert y[..., rest].size == 0 or y[..., rest].max() > 0.1


@pytest.mark.parametrize("name", CLAIMED)
def test_a_claim_is_part_of_the_convention(name):
    """What a profile claims of it is what the cases and the judge hold."""
    assert Profile(**{"layouts": (False,), **CLAIMED[name]}).convention == OTHER[name]


@pytest.mark.parametrize("name", OTHER)
def test_a_check_notices_a_field_that_is_ignored(checks, monkeypatch, name):
    """A right implementation conforms, and no longer where the judge forgets the field.

    What no option claims yet is put into the profile's convention by hand. At which end components
    rotate is known to who hands x over, and so it is forgotten there.
    """
    by, told = OTHER[name], CLAIMED.get(name, {})
    layout = by.pairing is Pairing.INTERLEAVED
    claims = {"layouts": (layout,), "head_dims": (16,), "max_position": 4096, **told}
    if name not in CLAIMED:
        monkeypatch.setattr(Profile, "convention", by)

    def rotate(x, positions):
        numbers = np.moveaxis(positions, 0, -1) if by.axes else positions
        return in_float32(x, numbers, by)

    def asked():
        check = "ROT-6.value" if layout else "ROT-7.value"
        functions = {"apply_rotary": rotate}
        return checks.run(check, functions, **claims).status

    assert asked() is Status.PASS
    claims["trailing"] = False
    monkeypatch.setattr(
        Trial, "expect", lambda _, __, x, positions: Rotation.of(x, positions, IGNORED[name])
    )
    assert asked() is Status.FAIL

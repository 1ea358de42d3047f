"""Schemes are exact, and give what transformers gives within the rounding of its float32."""

import dataclasses
import json
from decimal import Context, Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest

from ropespec.spec import scaling
from ropespec.spec.errors import ArgumentError, ArgumentTypeError, ArgumentValueError
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Proportional,
    Yarn,
    check_scaled_dim,
    check_scaling,
)


def grown(pairs, last):
    """Return factors that grow from 1 to the last one, as LongRoPE has them."""
    return tuple(round(1 + (last - 1) * (i / (pairs - 1)) ** 2, 3) for i in range(pairs))


THEIRS = json.loads(Path(__file__).with_name("scaled_frequencies.json").read_text("utf-8"))
"""What transformers 5.23.0 gives in float32: frequencies of some pairs, and the gain."""

SCHEMES = [
    Linear(4.0), NtkAware(3.0), PaperDynamicNtk(100, 250), DynamicNtk(2.0, 100, 250),
    NtkByParts(4.0, 300), Yarn(4.0, 300), Llama3(8.0, 1.0, 4.0, 300), Proportional(0.5, 2.0),
    LongRope(grown(8, 2.0), grown(8, 30.0), 16.0, 100, 101),
]  # fmt: skip
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)


def exact(scheme, base, dim, digits=60):
    """Return the frequencies with this many digits."""
    with localcontext(Context(prec=digits)):
        return scheme.theta(base, dim)


def numbers(scheme, base=10000.0, dim=16):
    return np.array([float(theta) for theta in exact(scheme, base, dim)])


def told(case):
    """Return the scheme of a case."""
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in case["numbers"].items()}
    return getattr(scaling, case["scheme"])(**given)


@pytest.mark.parametrize("case", THEIRS, ids=lambda case: case["scheme"])
def test_frequencies_are_those_of_transformers(case):
    """Within (8 + 3s/2) units of float32: a blend loses up to 3s/2 by cancellation."""
    scheme = told(case)
    found = numbers(scheme, case["base"], case["dim"])
    bound = (8 + 1.5 * getattr(scheme, "factor", 1.0)) * 2.0**-24

    for pair, value in case["theta"].items():
        assert abs(found[int(pair)] - value) <= bound * found[int(pair)], pair
    assert abs(float(scheme.gain) - case["gain"]) <= 2.0**-50


def test_every_branch_of_transformers_is_compared():
    """Every scheme that transformers has, and each of its branches."""
    assert len(THEIRS) >= 39
    assert {case["scheme"] for case in THEIRS} == {
        "DynamicNtk", "Linear", "Llama3", "LongRope", "Proportional", "Yarn"
    }  # fmt: skip


@every_scheme
def test_more_digits_change_nothing_of_fewer(scheme):
    """A frequency is exact to the precision of the context, whatever that is."""
    for few, many in zip(exact(scheme, 500.0, 16, 40), exact(scheme, 500.0, 16, 90), strict=True):
        assert abs(few - many) <= abs(many) * Decimal(10) ** -36


@every_scheme
def test_schemes_are_values(scheme):
    """They are frozen, equal to their like, and keys of a table."""
    again = dataclasses.replace(scheme)

    assert (again, hash(again)) == (scheme, hash(scheme))
    assert {scheme: 1}[again] == 1
    assert check_scaling(scheme) is scheme
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(scheme, dataclasses.fields(scheme)[0].name, 9.0)
    assert len({one.name for one in SCHEMES}) == len(SCHEMES)


@every_scheme
def test_positive_frequencies_fall_and_are_never_faster(scheme):
    """A scaling slows pairs down, and keeps their order."""
    found, plain = numbers(scheme, 50.0), numbers(Linear(1.0), 50.0)
    turning = found[found > 0]

    assert (np.diff(turning) < 0).all()
    assert (found <= plain * (1 + 1e-15)).all()


@pytest.mark.parametrize(
    "scheme",
    [
        Linear(1.0), NtkAware(1.0), PaperDynamicNtk(100, 99), DynamicNtk(8.0, 100, 100),
        DynamicNtk(1.0, 100, 100), NtkByParts(1.0, 300), Yarn(1.0, 300), Proportional(1.0),
        Llama3(1.0, 1.0, 4.0, 300), LongRope((1.0,) * 8, (2.0,) * 8, 1.0, 100, 100),
    ],
    ids=lambda scheme: scheme.name,
)  # fmt: skip
def test_a_factor_of_1_or_a_short_sequence_changes_nothing(scheme):
    """Frequencies are those of the base, and the gain is 1."""
    plain = 50.0 ** (-np.arange(0, 16, 2) / 16)

    np.testing.assert_allclose(numbers(scheme, 50.0), plain, rtol=1e-15)
    assert scheme.gain == 1


def beyond(turns, *, more):
    """Return the next number of turns, above or below, that a float64 tells apart."""
    return float(np.nextafter(turns, np.inf if more else 0.0))


def at_index(index, *, dim=16, base=50.0, length=4096):
    """Return the turns that a pair completes whose index is this whole number."""
    with localcontext(Context(prec=60)):
        theta = (-Decimal(base).ln() * 2 * index / dim).exp()
        return float(length * theta / scaling.numbers.TWO_PI)


@pytest.mark.parametrize("index", [1, 3, 6])
def test_floor_and_ceiling_jump_where_the_index_is_whole(index):
    """SCAL-7: on both sides of a jump, one unit of float64 apart, the exact side is taken."""
    turns = at_index(index)
    more, fewer = beyond(turns, more=True), beyond(turns, more=False)
    # More turns are a smaller index: the floor is then one lower, and the ceiling is the index.
    below, above = (Yarn(4.0, 4096, one, 0.5) for one in (more, fewer))
    assert not np.array_equal(numbers(below, 50.0), numbers(above, 50.0))
    assert numbers(below, 50.0)[index] < numbers(above, 50.0)[index]

    ends = [numbers(Yarn(4.0, 4096, 600.0, one), 50.0) for one in (more, fewer)]
    plain = numbers(Linear(4.0), 50.0)
    assert ends[0][index] == pytest.approx(plain[index], rel=1e-14)
    assert ends[1][index] > 1.01 * plain[index]


def test_equal_ends_of_a_ramp_are_a_step():
    """SCAL-7: one number of turns for both ends, not rounded, parts the pairs."""
    ratio = numbers(Yarn(4.0, 4096, 40.0, 40.0, truncate=False), 50.0) / numbers(Linear(1.0), 50.0)
    assert set(ratio.round(12)) == {1.0, 0.25}


@pytest.mark.parametrize("turns", [2.5, 10.0, 40.0])
def test_equal_ends_of_llama_3_are_a_step(turns):
    """SCAL-10: where low is high, a pair is kept or divided, and nothing is divided by zero."""
    plain = numbers(Linear(1.0), 50.0)
    found = numbers(Llama3(8.0, turns, turns, 300), 50.0)
    kept = 300 * plain / (2 * np.pi) > turns

    assert 0 < kept.sum() < len(kept)
    np.testing.assert_allclose(found, np.where(kept, plain, plain / 8), rtol=1e-15)


@pytest.mark.parametrize("length", [99, 100, 101])
def test_the_length_chooses_the_list(length):
    """SCAL-9: up to L tokens the short factors, from the next token on the long ones."""
    scheme = LongRope((2.0,) * 8, (5.0,) * 8, 4.0, 100, length)
    expected = numbers(Linear(2.0 if length <= 100 else 5.0), 50.0)

    np.testing.assert_allclose(numbers(scheme, 50.0), expected, rtol=1e-15)
    assert scheme.gain == dataclasses.replace(scheme, length=1).gain


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Linear("4"), ArgumentTypeError, "factor must be a finite number of at least 1"),
        (lambda: Linear(True), ArgumentTypeError, "factor must be a finite number of at least 1"),
        (lambda: NtkAware(0.5), ArgumentValueError, "factor must be a finite number of at least 1"),
        (
            lambda: DynamicNtk(2.0, 4096.0, 1),
            ArgumentTypeError,
            "original_length must be an integer of at least 1; got 4096.0 (float)",
        ),
        (
            lambda: PaperDynamicNtk(4096, 0),
            ArgumentValueError,
            "length must be an integer of at least 1; got 0 (int)",
        ),
        (
            lambda: NtkByParts(2.0, 100, 8.0, 8.0),
            ArgumentValueError,
            "beta must be above alpha = 8.0; got 8.0 (float)",
        ),
        (
            lambda: Yarn(2.0, 100, 1.0, 32.0),
            ArgumentValueError,
            "beta_fast must be at least beta_slow = 32.0; got 1.0 (float)",
        ),
        (
            lambda: Yarn(2.0, 100, truncate="no"),
            ArgumentTypeError,
            "truncate must be True or False; got 'no' (str)",
        ),
        (
            lambda: Yarn(2.0, 100, attention_factor=0.0),
            ArgumentValueError,
            "attention_factor must be a finite number above 0; got 0.0 (float)",
        ),
        (lambda: Yarn(2.0, 100, mscale=-1.0), ArgumentValueError, "mscale must be a finite number"),
        (
            lambda: Llama3(8.0, 4.0, 1.0, 100),
            ArgumentValueError,
            "high_freq_factor must be at least low_freq_factor = 4.0; got 1.0 (float)",
        ),
        (
            lambda: LongRope([1.0], (1.0,), 2.0, 100, 1),
            ArgumentTypeError,
            "short_factors must be a tuple of finite numbers above 0; got [1.0] (list)",
        ),
        (
            lambda: LongRope((1.0,), (0.0,), 2.0, 100, 1),
            ArgumentValueError,
            "long_factors[0] must be a finite number above 0; got 0.0 (float)",
        ),
        (lambda: LongRope((), (1.0,), 2.0, 9, 1), ArgumentValueError, "short_factors must be"),
        (
            lambda: LongRope((1.0,), (1.0,), 2.0, 1, 1),
            ArgumentValueError,
            "original_length must be above 1 if factor is; got 1 (int)",
        ),
        (
            lambda: LongRope((1.0,), (1.0,), 2.0, 9, 1, -1.0),
            ArgumentValueError,
            "attention_factor must be a finite number above 0; got -1.0 (float)",
        ),
        (
            lambda: Proportional(1.5),
            ArgumentValueError,
            "proportion must be a finite number above 0 and at most 1; got 1.5 (float)",
        ),
    ],
)
def test_wrong_numbers_are_refused_by_name(make, error, words):
    """An error names the number, what it is and what it must be."""
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("scheme", "dim", "words"),
    [
        (
            NtkAware(2.0),
            2,
            "dim must be above 2 for a base that grows by dim/(dim - 2); got 2 (int)",
        ),
        (SCHEMES[-1], 4, "short_factors must be of 2 numbers, one for each pair of dim = 4; got "),
        (Linear(2.0), 3, "dim must be an even integer of at least 2; got 3 (int)"),
    ],
)
def test_a_dimension_that_a_scheme_has_no_frequencies_for_is_refused(scheme, dim, words):
    """By the scheme itself, and by the check, in the same words."""
    for refuse in (lambda: exact(scheme, 50.0, dim), lambda: check_scaled_dim(scheme, dim)):
        with pytest.raises(ArgumentError) as caught:
            refuse()
        assert str(caught.value).startswith(words)


@pytest.mark.parametrize("given", ["yarn", {"rope_type": "yarn"}, None, Linear])
def test_what_is_no_scheme_is_refused(given):
    """A name, a mapping of a configuration or a class is no scheme."""
    with pytest.raises(ArgumentTypeError, match=r"^scaling must be a scheme of "):
        check_scaling(given)

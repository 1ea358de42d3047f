"""An error shows that a call raised, and nothing about the numbers that did not come."""

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.identify import Name, Pairing, identify
from ropespec.conformance.profile import Profile


def rope(x, positions):
    """Rotate half-split pairs."""
    return np.asarray(reference.apply_rotary(x, positions, interleaved=False))


@pytest.fixture
def found_of(checks):
    """Return a function that identifies a bare rotation of this process."""
    in_process = type(checks.trial({}).session)

    def find(function, **claims):
        profile = Profile.from_mapping({"interleaved": False, **claims})
        return identify(in_process({"apply_rotary": function}, profile, frozenset()))

    return find


def raising_where(condition):
    """Make a rotation that raises where a condition holds."""

    def rotate(x, positions):
        if condition(x, positions):
            raise ValueError("not here")
        return rope(x, positions)

    return rotate


def large(x, _):
    """Whether a component is large."""
    with np.errstate(invalid="ignore"):
        return bool((np.abs(x.astype(float)) > 20).any())


def compared(_, positions):
    """Whether it is a call that others are compared with."""
    return positions.shape == (2, 5) and (positions == 30).any()


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (raising_where(large), Name.LINEAR),
        (raising_where(compared), Name.REACH),
        (raising_where(compared), Name.STRIDES),
        (raising_where(compared), Name.CONTAINMENT),
    ],
)
def test_what_needs_numbers_is_not_told_without_them(function, name, found_of):
    """The fact is missing; others are there."""
    found = found_of(function)

    assert found.fact(name) is None
    assert found.value(Name.PAIRING) is Pairing.HALF


def test_a_dtype_that_raises_has_no_precision(found_of):
    """It is in no class, and not in none."""
    function = raising_where(lambda x, _: x.dtype == np.float16)
    found = found_of(function, dtypes=("float32", "float16"))

    assert set(dict(found.value(Name.PRECISION))) == {"float32"}


@pytest.mark.parametrize(
    ("condition", "name", "value"),
    [
        (lambda x, _: not np.isfinite(x).all(), Name.CONTAINMENT, "raises"),
        (lambda x, _: not x.size, Name.EMPTY, "batch, sequence, heads"),
        (lambda _, p: (p < 0).any(), Name.NEGATIVE, "raises"),
    ],
)
def test_that_it_raises_is_told(condition, name, value, found_of):
    """Of what was asked."""
    assert found_of(raising_where(condition)).value(name) == value


def other_shape(x, positions):
    """Lose an axis where it is empty."""
    return rope(x, positions)[0] if 0 in x.shape[1:] else rope(x, positions)


def test_another_shape_is_not_told_as_an_error(found_of):
    """What does not raise is not said to."""
    assert found_of(other_shape).fact(Name.EMPTY) is None


ONE = {
    "raises": (raising_where(lambda x, _: x.shape[1] == 1), "it raises"),
    "axes swapped": (
        lambda x, p: rope(x, p).swapaxes(1, 2) if x.shape[1] == 1 else rope(x, p),
        "result has its axes in another order",
    ),
    "another shape": (
        lambda x, p: rope(x, p)[:, 0] if x.shape[1] == 1 else rope(x, p),
        "result has another shape",
    ),
}


@pytest.mark.parametrize("what", ONE)
def test_calls_that_give_no_numbers_are_counted(what, found_of, checks):
    """What explains all numbers is not confirmed, and the diagnosis says what the others do."""
    function, words = ONE[what]
    found = found_of(function)
    profile = Profile.from_mapping({"interleaved": False})
    told = diagnose(type(checks.trial({}).session)({"apply_rotary": function}, profile))

    assert not found.confirmed
    assert found.explained.elements == found.explained.of
    assert f"; {found.explained.silent} more gave no numbers" in str(found.explained)
    assert any(words in f"{one.name} {one.sentence}" for one in told)


def test_of_what_only_raises_nothing_is_known(found_of):
    """Not even that it leaves x alone."""
    found = found_of(raising_where(lambda *_: True))

    assert [fact.name for fact in found] == [Name.ANSWER]
    assert found.is_nothing

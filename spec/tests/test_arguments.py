"""The argument checks refuse what the specification refuses, in exact words."""

import numpy as np
import pytest

from ropespec.spec import arguments
from ropespec.spec.arguments import ArrayFacts
from ropespec.spec.errors import ArgumentError, ArgumentTypeError, ArgumentValueError, describe


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (3, ArgumentValueError, "dim must be an even integer of at least 2; got 3 (int)"),
        (0, ArgumentValueError, "dim must be an even integer of at least 2; got 0 (int)"),
        (-4, ArgumentValueError, "dim must be an even integer of at least 2; got -4 (int)"),
        (4.0, ArgumentTypeError, "dim must be an even integer of at least 2; got 4.0 (float)"),
        (True, ArgumentTypeError, "dim must be an even integer of at least 2; got True (bool)"),
        (None, ArgumentTypeError, "dim must be an even integer of at least 2; got None (NoneType)"),
        ("8", ArgumentTypeError, "dim must be an even integer of at least 2; got '8' (str)"),
    ],
)
def test_dim(value, error, words):
    """A dimension that is odd, too small or no integer is named with value and type."""
    with pytest.raises(error) as caught:
        arguments.check_dim(value)

    assert str(caught.value) == words
    assert caught.value.argument == "dim"


def test_dim_accepts_numpy_integers():
    """An integer of NumPy is an integer."""
    assert arguments.check_dim(np.int32(8)) == 8


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (1, ArgumentValueError),
        (1.0, ArgumentValueError),
        (0.5, ArgumentValueError),
        (float("nan"), ArgumentValueError),
        (float("inf"), ArgumentValueError),
        (10**400, ArgumentValueError),
        ("ten", ArgumentTypeError),
        (None, ArgumentTypeError),
        (2j, ArgumentTypeError),
        (True, ArgumentTypeError),
    ],
)
def test_base(value, error):
    """A base that is not a finite number above 1 is refused."""
    with pytest.raises(error, match=r"^base must be a finite number above 1; got "):
        arguments.check_base(value)


def test_base_accepts_numbers_of_numpy():
    """A float32 or an integer is a number."""
    assert arguments.check_base(np.float32(2.5)) == 2.5
    assert arguments.check_base(np.int64(500000)) == 500000.0


@pytest.mark.parametrize("value", [0, 1, None, "yes", np.array([True])])
def test_flag(value):
    """Only True and False are flags."""
    with pytest.raises(ArgumentTypeError, match="^interleaved must be True or False; got "):
        arguments.check_flag("interleaved", value)


@pytest.mark.parametrize("dtype", ["int32", "complex64", "bool", "longdouble"])
def test_float_array_dtype(dtype):
    """Integers, complex numbers and wider floats are no x."""
    with pytest.raises(ArgumentTypeError) as caught:
        arguments.check_float_array("x", np.zeros((1, 2, 4), dtype), ndim=3)

    name = np.dtype(dtype).name
    assert str(caught.value) == (
        "x must be of dtype float16, bfloat16, float32 or float64; "
        f"got an array of shape (1, 2, 4) and dtype {name}"
    )


def test_float_array_axes():
    """An x of two axes has no heads."""
    with pytest.raises(ArgumentValueError, match="^x must be an array of at least 3 axes; got "):
        arguments.check_float_array("x", np.zeros((2, 4)), ndim=3)


@pytest.mark.parametrize("dtype", ["float32", "uint64", "bool", "object"])
def test_positions_dtype(dtype):
    """Positions are integers that fit in int64."""
    with pytest.raises(ArgumentTypeError, match="^positions must be integers that fit in int64"):
        arguments.check_positions(np.zeros(3, dtype))


@pytest.mark.parametrize("shape", [(5,), (2, 5), (1, 5), (3, 2, 5), (1, 1, 5)])
def test_positions_that_fit(shape):
    """One vector, one per row, and leading axes of length 1 fit rows of shape (3, 2, 5)."""
    arguments.check_positions_fit(ArrayFacts(shape, "int64"), (3, 2, 5))


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 5), (2, 1), (7, 3, 2, 5)])
def test_positions_that_do_not_fit(shape):
    """A single position is not spread over a sequence, and no axis is added to x."""
    with pytest.raises(ArgumentValueError) as caught:
        arguments.check_positions_fit(ArrayFacts(shape, "int64"), (3, 2, 5))

    assert str(caught.value) == (
        "positions must be of shape (5,) or (3, 2, 5); "
        f"got an array of shape {shape} and dtype int64"
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (10, "rotary_dim must be at most head_dim = 8; got 10 (int)"),
        (3, "rotary_dim must be an even integer of at least 2; got 3 (int)"),
        (0, "rotary_dim must be an even integer of at least 2; got 0 (int)"),
    ],
)
def test_rotary_dim(value, words):
    """rotary_dim is even and within the head."""
    with pytest.raises(ArgumentValueError) as caught:
        arguments.check_rotary_dim(value, 8)

    assert str(caught.value) == words


def test_rotary_dim_none_is_the_whole_head_and_the_head_must_be_even():
    """Without rotary_dim all components turn, so head_dim itself must be even."""
    assert arguments.check_rotary_dim(None, 8) == 8
    assert arguments.check_rotary_dim(4, 7) == 4
    with pytest.raises(ArgumentValueError, match="^head_dim must be an even integer"):
        arguments.check_rotary_dim(None, 7)


def test_a_mask_is_boolean_and_broadcasts():
    """0 and 1, and masks to be added, mean different things to different people."""
    arguments.check_mask(np.ones((1, 3, 4), bool), (2, 5, 3, 4))
    with pytest.raises(ArgumentTypeError, match="^mask must be of dtype bool, True where"):
        arguments.check_mask(np.ones((3, 4)), (2, 5, 3, 4))
    with pytest.raises(ArgumentValueError, match="^mask must be broadcastable to the scores"):
        arguments.check_mask(np.ones((2, 4), bool), (2, 5, 3, 4))


def test_attention_shapes():
    """Grouped heads must divide, and k and v must fit q."""

    def facts(*shape):
        return ArrayFacts(shape, "float32")

    arguments.check_attention(facts(2, 5, 4, 8), facts(2, 7, 2, 8), facts(2, 7, 2, 3))
    with pytest.raises(ArgumentValueError, match="^k must be of a number of heads that divides"):
        arguments.check_attention(facts(2, 5, 4, 8), facts(2, 7, 3, 8), facts(2, 7, 3, 3))
    with pytest.raises(ArgumentValueError, match="^v must be of shape"):
        arguments.check_attention(facts(2, 5, 4, 8), facts(2, 7, 2, 8), facts(2, 6, 2, 3))
    with pytest.raises(ArgumentTypeError, match="^k must be of the dtype of q, float32"):
        arguments.check_attention(
            facts(2, 5, 4, 8), ArrayFacts((2, 7, 2, 8), "float64"), facts(2, 7, 2, 3)
        )


def test_errors_are_of_two_kinds():
    """Both kinds are ArgumentErrors and the builtin error a caller would expect."""
    assert issubclass(ArgumentTypeError, (ArgumentError, TypeError))
    assert issubclass(ArgumentTypeError, TypeError)
    assert issubclass(ArgumentValueError, ValueError)


def test_long_values_are_cut():
    """A description stays on one line."""
    assert len(describe(list(range(1000)))) < 80
    assert describe(7) == "7 (int)"

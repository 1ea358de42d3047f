"""Chapter `sinusoidal`: SIN-1 to SIN-4."""

import inspect
import math

import ml_dtypes
import numpy as np
import pytest

from ropespec.reference import sinusoidal_embedding
from ropespec.reference.sinusoidal import (
    Component,
    PositionalEncoding,
    dimension_table,
    one_hot_position,
    pair_index,
    pe_entry,
    positional_encoding_table,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

EPS = np.finfo(np.float64).eps
DIMS = [2, 4, 6, 64, 512]


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("base", [2.0, 10000.0])
def test_sin_1_pairs_are_points_of_the_unit_circle(dim, base):
    """sin^2 + cos^2 = 1 in every pair, and position 0 is (0, 1, 0, 1, ...) (P-04)."""
    embedding = sinusoidal_embedding(np.arange(50), dim, base)
    assert embedding.shape == (50, dim)
    assert embedding.dtype == np.float64
    np.testing.assert_array_equal(embedding[0], [0.0, 1.0] * (dim // 2))
    squares = embedding[:, 0::2] ** 2 + embedding[:, 1::2] ** 2
    np.testing.assert_allclose(squares, 1, rtol=4 * EPS)


@pytest.mark.parametrize("dim", [2, 6, 64])
def test_sin_1_even_components_are_sines_and_odd_ones_cosines(dim):
    """Every entry is the printed formula of its component (F-025, F-026; P-04)."""
    positions = [-7, 0, 1, 100]
    embedding = sinusoidal_embedding(positions, dim, 500.0)
    for row, pos in enumerate(positions):
        for j in range(dim):
            assert embedding[row, j] == pytest.approx(pe_entry(pos, j, dim, 500.0), abs=1e-13)


def test_sin_1_sines_stand_first():
    """At position 1 the first pair is (sin 1, cos 1) and not the other way round."""
    assert sinusoidal_embedding(1, 2).tolist() == pytest.approx([math.sin(1), math.cos(1)])
    assert math.sin(1) != pytest.approx(math.cos(1))


@pytest.mark.parametrize("positions", [3, [], np.zeros((2, 3), np.int8), [[-1], [2**40]]])
def test_sin_1_shape_is_that_of_the_positions_and_dim(positions):
    """One more axis than the positions have, also for one position and for none."""
    assert sinusoidal_embedding(positions, 4).shape == (*np.shape(positions), 4)


def test_sin_1_argument_errors():
    """Positions, dimension and base are refused as in the chapter on frequencies, in this order."""
    with pytest.raises(ArgumentTypeError) as error:
        sinusoidal_embedding([0.5], 3, 0)
    assert str(error.value) == "positions must be integers that fit in int64; got [0.5] (list)"
    with pytest.raises(ArgumentValueError) as refused:
        sinusoidal_embedding([0], 3, 0)
    assert str(refused.value) == "dim must be an even integer of at least 2; got 3 (int)"
    with pytest.raises(ArgumentValueError) as refused:
        sinusoidal_embedding([0], 4, 0)
    assert str(refused.value) == "base must be a finite number above 1; got 0 (int)"


def test_sin_2_table_of_components_of_512():
    """The lost columns restored: pair and function of each (F-027, F-029, F-206; E-33)."""
    table = dimension_table(512)
    assert len(table) == 512
    assert [row.i for row in table[:6]] == [0, 0, 1, 1, 2, 2]
    assert table[510:] == [Component(510, 255, "sin"), Component(511, 255, "cos")]


def test_sin_2_even_components_are_sines():
    """Components 0, 2, ..., 510 use the sine (F-030), 1, 3, ..., 511 the cosine (F-031)."""
    table = dimension_table(512)
    assert [row.j for row in table if row.function == "sin"] == list(range(0, 512, 2))
    assert [row.j for row in table if row.function == "cos"] == list(range(1, 512, 2))


@pytest.mark.parametrize("dim", DIMS)
def test_sin_2_pairs_end_at_half_minus_1(dim):
    """There are d/2 pairs, numbered up to d/2 - 1 and not d/2 (F-028; E-32)."""
    assert sorted({row.i for row in dimension_table(dim)}) == list(range(dim // 2))
    assert pair_index(dim - 1) == dim // 2 - 1


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("base", [2.0, 10000.0])
def test_sin_3_table_is_the_embedding(dim, base):
    """The code form with div_term gives the embedding of positions 0, 1, 2, ... (F-032; P-05)."""
    length = 40
    table = positional_encoding_table(length, dim, base)
    bound = 8 * EPS * length * (1 + math.log(base))
    embedding = sinusoidal_embedding(np.arange(length), dim, base)
    np.testing.assert_allclose(table, embedding, rtol=0, atol=bound)


def test_sin_4_example_of_three_words():
    """The vectors that document 004 announces for its example 我 爱 你 (F-034; E-67)."""
    table = PositionalEncoding(512, 0.1)(np.zeros((1, 3, 512)))[0]
    one = [0.84147098, 0.54030231, 0.82185619, 0.56969501, 0.80196180, 0.59737533]
    two = [0.90929743, -0.41614684, 0.93641474, -0.35089519, 0.95814438, -0.28628544]
    assert table[0].tolist() == [0.0, 1.0] * 256
    np.testing.assert_allclose(table[1, :6], one, rtol=0, atol=5e-9)
    np.testing.assert_allclose(table[2, :6], two, rtol=0, atol=5e-9)


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64], ids=lambda d: d.__name__
)
def test_sin_4_word_vectors_keep_their_dtype(dtype):
    """The sum x + PE has shape and dtype of x, is rounded once, and x is not written to (F-033)."""
    x = np.random.default_rng(0).standard_normal((2, 5, 8)).astype(dtype)
    before = x.copy()
    x.flags.writeable = False
    y = PositionalEncoding(8, 0.1, max_len=16)(x)
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    exact = x.astype(np.float64) + sinusoidal_embedding(np.arange(5), 8)
    spacing = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(y.astype(np.float64), exact, rtol=spacing, atol=32 * EPS)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("shape", [(2, 17, 8), (2, 16, 6), (2, 2, 16, 8)])
def test_sin_3_word_vectors_that_do_not_fit_are_refused(shape):
    """Longer than max_len, or of another width: the printed code fails only later (E-64)."""
    with pytest.raises(ArgumentValueError) as error:
        PositionalEncoding(8, 0.1, max_len=16)(np.zeros(shape))
    assert str(error.value) == (
        "x must be of shape (B, S, 8) with S at most 16; "
        f"got an array of shape {shape} and dtype float64"
    )


def test_sin_3_the_class_has_the_printed_arguments():
    """Width, dropout and max_len in this order, 5000 rows, forward and the call (F-187)."""
    encode = PositionalEncoding(8, 0.1)
    assert str(inspect.signature(PositionalEncoding)).startswith("(d_model: int, dropout: float")
    assert encode.pe.shape == (1, 5000, 8)
    np.testing.assert_array_equal(encode.pe[0], positional_encoding_table(5000, 8))
    x = np.ones((2, 3, 8), np.float32)
    np.testing.assert_array_equal(encode.forward(x), encode(x))


@pytest.mark.parametrize("dropout", [0, 0.5, 1, np.float32(0.1)])
def test_sin_3_dropout_drops_nothing(dropout):
    """Whatever the dropout, the sum is the whole sum."""
    x = np.ones((1, 4, 8))
    np.testing.assert_array_equal(PositionalEncoding(8, dropout)(x), PositionalEncoding(8, 0)(x))
    assert np.all(PositionalEncoding(8, dropout)(x) == x + positional_encoding_table(4, 8))


@pytest.mark.parametrize(
    ("dropout", "kind", "got"),
    [
        (-0.1, ArgumentValueError, "-0.1 (float)"),
        (2, ArgumentValueError, "2 (int)"),
        (math.nan, ArgumentValueError, "nan (float)"),
        ("0.1", ArgumentTypeError, "'0.1' (str)"),
        (True, ArgumentTypeError, "True (bool)"),
        (None, ArgumentTypeError, "None (NoneType)"),
    ],
)
def test_sin_3_dropout_is_a_probability(dropout, kind, got):
    """What is no number from 0 to 1 is refused, though it has no effect."""
    with pytest.raises(kind) as error:
        PositionalEncoding(8, dropout)
    assert str(error.value) == f"dropout must be a number from 0 to 1; got {got}"


def test_sin_3_odd_width_and_negative_length_are_refused():
    """The printed code fails for odd d with a message about shapes; this one names d (E-64)."""
    with pytest.raises(ArgumentValueError, match=r"^d_model must be an even integer"):
        PositionalEncoding(7, 0.1)
    with pytest.raises(ArgumentValueError) as error:
        PositionalEncoding(8, 0.1, max_len=-1)
    assert str(error.value) == "max_len must be an integer of at least 0; got -1 (int)"
    with pytest.raises(ArgumentTypeError) as refused:
        positional_encoding_table(2.0, 8)
    assert str(refused.value) == "length must be an integer of at least 0; got 2.0 (float)"


def test_sin_4_empty_batches_and_sequences_give_empty_results():
    """Zero words are no error."""
    encode = PositionalEncoding(8, 0.1, max_len=16)
    assert encode(np.zeros((0, 4, 8))).shape == (0, 4, 8)
    assert encode(np.zeros((2, 0, 8))).shape == (2, 0, 8)


def test_sin_4_one_hot_vectors():
    """The naive encoding has one 1 a position, and none for a position outside (F-024)."""
    np.testing.assert_array_equal(one_hot_position(np.arange(4), 4), np.eye(4))
    np.testing.assert_array_equal(one_hot_position([[4, -1]], 4), np.zeros((1, 2, 4)))

"""The code functions of the documents: shapes, laws, corrected limits and refusals."""

import ml_dtypes
import numpy as np
import pytest

from ropespec.reference.arrays import round_to
from ropespec.reference.attention import attention as shared_attention
from ropespec.reference.attention import attention_plain
from ropespec.reference.published import (
    RoPE,
    apply_rotary_emb,
    attention,
    cos_sin_cached,
    precompute_freqs_cis,
    quarter_turn,
    reshape_for_broadcast,
    sinusoidal_position_embedding,
    split_pos_emb,
)
from ropespec.reference.rotation import apply_rotary, rotation_matrix
from ropespec.reference.sinusoidal import positional_encoding_table
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

RNG = np.random.default_rng(20)
EXACT = 4e-15  # a few roundings of float64 on numbers of size 1


def dense(x, positions):
    """R_m x by the matrix, for x of shape (B, S, H, d)."""
    R = rotation_matrix(positions, x.shape[-1], interleaved=True)
    return np.einsum("sij,bshj->bshi", R, x)


@pytest.mark.parametrize("dim", [2, 8, 64])
@pytest.mark.parametrize("sizes", [(1, 1, 5), (2, 3, 4), (0, 2, 3), (2, 2, 0)])
def test_pub1_p05_table_is_that_of_positional_encoding(sizes, dim):
    """The table is the one that fills even and odd columns, for every b and h."""
    table = sinusoidal_position_embedding(*sizes, dim, None)
    expected = positional_encoding_table(max(sizes[2], 1), dim)[: sizes[2]]

    assert table.shape == (*sizes, dim)
    np.testing.assert_allclose(
        table, np.broadcast_to(expected, table.shape), rtol=0, atol=EXACT * 8
    )


def test_pub1_table_may_be_written():
    """Each b and h has a copy of its own, not a view that would write to all."""
    table = sinusoidal_position_embedding(2, 2, 3, 4, "cpu")
    table[0, 0] = 7.0

    assert table[1, 1].max() <= 1.0


def test_pub2_split_reads_sines_and_cosines():
    """Sines come from even, cosines from odd components, each twice."""
    sin_pos, cos_pos = split_pos_emb(np.array([0.0, 1.0, 2.0, 3.0]))

    assert sin_pos.tolist() == [0.0, 0.0, 2.0, 2.0]
    assert cos_pos.tolist() == [1.0, 1.0, 3.0, 3.0]


def test_pub2_two_quarter_turns_negate():
    """A quarter of a turn, twice, is half a turn: the negative."""
    x = RNG.normal(size=(2, 6))

    np.testing.assert_array_equal(quarter_turn(quarter_turn(x)), -x)


@pytest.mark.parametrize("dim", [2, 6, 32])
def test_pub2_pub5_p36_three_forms_agree(dim):
    """RoPE, apply_rotary_emb after exchanging axes, and the dense R are one operation."""
    q, k = RNG.normal(size=(2, 2, 3, 10, dim))
    freqs_cis = precompute_freqs_cis(dim, 10)
    by_rope = RoPE(q, k)
    by_complex = apply_rotary_emb(q.swapaxes(1, 2), k.swapaxes(1, 2), freqs_cis)

    for x, one, other in zip((q, k), by_rope, by_complex, strict=True):
        np.testing.assert_allclose(one.swapaxes(1, 2), other, rtol=0, atol=EXACT)
        np.testing.assert_allclose(other, dense(x.swapaxes(1, 2), range(10)), rtol=0, atol=EXACT)


def test_pub2_p36_can_fail():
    """The same comparison notices a wrong layout."""
    q = RNG.normal(size=(1, 2, 10, 8))
    rotated, _ = RoPE(q, q)
    half = apply_rotary(q.swapaxes(1, 2), np.arange(10), interleaved=False).swapaxes(1, 2)

    assert np.abs(rotated - half).max() > 0.1


@pytest.mark.parametrize(("heads", "length"), [(4, 5), (2, 3), (2, 5), (1, 1), (2, 0)])
def test_pub2_e60_key_has_its_own_length_and_heads(heads, length):
    """A key of another length or another number of heads is rotated by its own positions."""
    q, k = RNG.normal(size=(2, 4, 3, 8)), RNG.normal(size=(2, heads, length, 8))
    _, rotated = RoPE(q, k)

    assert rotated.shape == k.shape
    np.testing.assert_allclose(
        rotated.swapaxes(1, 2), dense(k.swapaxes(1, 2), range(length)), rtol=0, atol=EXACT
    )


def test_pub2_position_0_is_untouched():
    """The first token of q and k comes back bit for bit."""
    q = RNG.normal(size=(1, 1, 3, 8))
    rotated, _ = RoPE(q, q)

    np.testing.assert_array_equal(rotated[:, :, 0], q[:, :, 0])


@pytest.mark.parametrize("dim", [2, 8, 128])
def test_pub3_p37_rows_are_rotations(dim):
    """Entries have modulus 1, row 0 is 1, and rows multiply as positions add."""
    F = precompute_freqs_cis(dim, 40)

    assert F.shape == (40, dim // 2)
    assert F.dtype == np.complex128
    np.testing.assert_array_equal(F[0], 1.0)
    np.testing.assert_allclose(np.abs(F), 1.0, rtol=0, atol=EXACT)
    for a, b in [(0, 5), (3, 4), (19, 20), (1, 38)]:
        np.testing.assert_allclose(F[a] * F[b], F[a + b], rtol=0, atol=4 * EXACT)


def test_pub3_theta_is_the_base():
    """The argument theta is the base, so pair 1 of 4 rotates by theta^(-1/2)."""
    F = precompute_freqs_cis(4, 2, theta=100.0)

    np.testing.assert_allclose(np.angle(F[1]), [1.0, 0.1], rtol=0, atol=EXACT)


def test_pub4_p38_shape_and_values():
    """(S, c) becomes (1, S, 1, c) with every number where it was."""
    F = precompute_freqs_cis(8, 5)
    y = reshape_for_broadcast(F, np.zeros((2, 5, 3, 4), np.complex128))

    assert y.shape == (1, 5, 1, 4)
    np.testing.assert_array_equal(y[0, :, 0], F)


@pytest.mark.parametrize("shape", [(6, 4), (4, 4), (5, 3), (5,), (1, 5, 1, 4), (5, 4, 1)])
def test_pub4_p38_any_other_table_raises(shape):
    """A table of any other shape is refused, a longer one included."""
    x = np.zeros((2, 5, 3, 4), np.complex128)

    with pytest.raises(ArgumentValueError, match=r"^freqs_cis must be of shape \(5, 4\); got an"):
        reshape_for_broadcast(np.zeros(shape, np.complex128), x)


@pytest.mark.parametrize("shape", [(5, 4), (2, 5, 4), (2, 5, 3, 2, 4)])
def test_pub4_e61_only_four_axes(shape):
    """Rank 2, 3 and 5, which the printed assertion admits, are refused."""
    x = np.zeros(shape, np.complex128)
    must = r"^x must be an array of four axes \(B, S, H, c\); got an array of shape"

    with pytest.raises(ArgumentValueError, match=must):
        reshape_for_broadcast(np.zeros((5, 4), np.complex128), x)


@pytest.mark.parametrize("shape", [(2, 10, 32), (2, 10, 3, 4, 32)])
def test_pub5_e61_only_four_axes(shape):
    """Rank 3 and 5 are refused before anything is flattened wrongly."""
    x = np.zeros(shape)
    must = r"^xq must be an array of four axes \(B, S, H, d\)"

    with pytest.raises(ArgumentValueError, match=must):
        apply_rotary_emb(x, x, precompute_freqs_cis(32, 10))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_pub5_p40_shape_and_dtype_are_kept(dtype):
    """Each result has the shape and the dtype of its own input, also with a complex64 table."""
    xq, xk = np.ones((1, 3, 4, 8), dtype), np.ones((1, 3, 2, 8), np.float32)
    F = precompute_freqs_cis(8, 3)

    for table in (F, F.astype(np.complex64)):
        out_q, out_k = apply_rotary_emb(xq, xk, table)

        assert (out_q.shape, out_q.dtype) == (xq.shape, xq.dtype)
        assert (out_k.shape, out_k.dtype) == (xk.shape, xk.dtype)
    assert [y.dtype for y in RoPE(xq, xk[:, :, :2])] == [xq.dtype, xk.dtype]


def test_pub5_inputs_are_not_written():
    """Nothing that is passed is written to."""
    x, F = np.ones((1, 3, 2, 4)), precompute_freqs_cis(4, 3)
    x.flags.writeable = F.flags.writeable = False
    apply_rotary_emb(x, x, F)
    RoPE(x, x)

    assert x.min() == x.max() == 1.0


def test_pub6_p39_cache():
    """Neighbours are equal, cos^2 + sin^2 = 1, and the sparse form with it is R x (F-198)."""
    positions = np.array([0, 1, -7, 300])
    cos, sin = cos_sin_cached(positions, 6)
    x = RNG.normal(size=(4, 2, 5, 6))
    rotated = x * cos + quarter_turn(x) * sin

    assert cos.shape == sin.shape == (4, 1, 1, 6)
    np.testing.assert_array_equal(cos[..., 0::2], cos[..., 1::2])
    np.testing.assert_array_equal(sin[..., 0::2], sin[..., 1::2])
    np.testing.assert_allclose(cos**2 + sin**2, 1.0, rtol=0, atol=EXACT)
    np.testing.assert_allclose(
        rotated.swapaxes(0, 1), dense(x.swapaxes(0, 1), positions), rtol=0, atol=EXACT
    )


def test_pub7_f218_shapes_of_the_demo():
    """(8, 12, 10, 32) gives output (8, 12, 10, 32) and weights (8, 12, 10, 10) (F-199)."""
    q, k, v = RNG.normal(size=(3, 8, 12, 10, 32))
    res, att_scores = attention(q, k, v, mask=None, dropout=None, use_RoPE=True)

    assert (res.shape, att_scores.shape) == ((8, 12, 10, 32), (8, 12, 10, 10))


@pytest.mark.parametrize("keys", [5, 7])
def test_att2_f193_attention_is_the_shared_one_on_other_axes(keys):
    """It is softmax((R q)(R k)^T / sqrt(d)) v at positions 0..L-1 and 0..T-1 (F-193; P-35)."""
    q = RNG.normal(size=(2, 3, 5, 4))
    k, v = RNG.normal(size=(2, 3, keys, 4)), RNG.normal(size=(2, 3, keys, 6))
    mask = np.tril(np.ones((5, keys), np.int64), 1)
    found = attention(q, k, v, mask)
    output, weights = shared_attention(
        *(x.swapaxes(1, 2) for x in (q, k, v)),
        query_positions=range(5),
        key_positions=range(keys),
        interleaved=True,
        mask=mask == 1,
    )

    np.testing.assert_allclose(found[0], output.swapaxes(1, 2), rtol=0, atol=EXACT)
    np.testing.assert_allclose(found[1], weights, rtol=0, atol=EXACT)
    assert (found[1][..., mask == 0] == 0).all()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
def test_att2_f193_mask_excludes_where_it_is_0(dtype):
    """Any other number allows: 0 alone is excluded, and a row of zeros attends nowhere (E-58)."""
    q, k, v = RNG.normal(size=(3, 1, 1, 3, 4))
    mask = np.array([[1, 0, 2], [1, 1, 1], [0, 0, 0]]).astype(dtype)
    output, weights = attention(q, k, v, mask)
    allowed, _ = attention(q, k, v, (mask != 0).astype(np.int64))

    np.testing.assert_array_equal(output, allowed)
    assert weights[0, 0, 0, 1] == 0
    assert weights[0, 0, 0, 2] > 0
    assert not output[0, 0, 2].any()


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float32, np.float64])
def test_att2_f193_without_rope_it_is_plain(dtype):
    """use_RoPE=False leaves q and k as they are, an odd d included; the dtype is that of q."""
    q, k, v = (x.astype(dtype) for x in RNG.normal(size=(3, 2, 3, 5, 3)))
    found = attention(q, k, v, use_RoPE=False)
    plain = attention_plain(*(x.astype(np.float64) for x in (q, k, v)))

    for one, other in zip(found, plain, strict=True):
        np.testing.assert_array_equal(one, round_to(other, np.dtype(dtype)))


def test_att2_f193_dropout_falls_between_weights_and_values():
    """What it makes of the weights is returned, and meets the values."""
    q, k, v = RNG.normal(size=(3, 1, 2, 3, 4))
    _, weights = attention(q, k, v)
    output, dropped = attention(q, k, v, None, lambda w: np.where(w < 0.3, 0.0, 2 * w))

    np.testing.assert_array_equal(dropped, np.where(weights < 0.3, 0.0, 2 * weights))
    np.testing.assert_allclose(output, dropped @ v, rtol=0, atol=EXACT)


FOUR = np.ones((1, 2, 3, 4))
REFUSED = [
    (lambda: sinusoidal_position_embedding(1, 1, 3, 7, None), ArgumentValueError,
     "output_dim must be an even integer of at least 2; got 7 (int)"),
    (lambda: sinusoidal_position_embedding(-1, 1, 3, 8, None), ArgumentValueError,
     "batch_size must be an integer of at least 0; got -1 (int)"),
    (lambda: sinusoidal_position_embedding(1, 2.0, 3, 8, None), ArgumentTypeError,
     "nums_head must be an integer of at least 0; got 2.0 (float)"),
    (lambda: sinusoidal_position_embedding(1, 1, True, 8, None), ArgumentTypeError,
     "max_len must be an integer of at least 0; got True (bool)"),
    (lambda: sinusoidal_position_embedding(1, 1, 3, 8, "cuda"), ArgumentValueError,
     'device must be None or "cpu", the only device of NumPy; got \'cuda\' (str)'),
    (lambda: precompute_freqs_cis(4, 3, device=0), ArgumentTypeError,
     'device must be None or "cpu", the only device of NumPy; got 0 (int)'),
    (lambda: precompute_freqs_cis(3, 4), ArgumentValueError,
     "dim must be an even integer of at least 2; got 3 (int)"),
    (lambda: precompute_freqs_cis(4, -4), ArgumentValueError,
     "end must be an integer of at least 0; got -4 (int)"),
    (lambda: precompute_freqs_cis(4, 4, 1.0), ArgumentValueError,
     "theta must be a finite number above 1; got 1.0 (float)"),
    (lambda: precompute_freqs_cis(4, 4, "10000"), ArgumentTypeError,
     "theta must be a finite number above 1; got '10000' (str)"),
    (lambda: RoPE([1.0], [1.0]), ArgumentTypeError,
     "q must be a numpy.ndarray; got [1.0] (list)"),
    (lambda: RoPE(np.ones((1, 1, 3, 4)), np.ones((1, 1, 3, 4), int)), ArgumentTypeError,
     ("k must be of dtype float16, bfloat16, float32 or float64; "
     "got an array of shape (1, 1, 3, 4) and dtype int64")),
    (lambda: RoPE(np.ones((1, 3, 4)), np.ones((1, 3, 4))), ArgumentValueError,
     ("q must be an array of four axes (B, H, L, d); "
     "got an array of shape (1, 3, 4) and dtype float64")),
    (lambda: RoPE(np.ones((1, 1, 3, 5)), np.ones((1, 1, 3, 5))), ArgumentValueError,
     "head_dim must be an even integer of at least 2; got 5 (int)"),
    (lambda: RoPE(np.ones((1, 1, 3, 4)), np.ones((1, 1, 3, 6))), ArgumentValueError,
     ("k must be of shape (B, G, T, d) to fit q of shape (1, 1, 3, 4); "
     "got an array of shape (1, 1, 3, 6) and dtype float64")),
    (lambda: RoPE(np.ones((2, 1, 3, 4)), np.ones((1, 1, 3, 4))), ArgumentValueError,
     ("k must be of shape (B, G, T, d) to fit q of shape (2, 1, 3, 4); "
     "got an array of shape (1, 1, 3, 4) and dtype float64")),
    (lambda: apply_rotary_emb(*[np.ones((1, 3, 2, 4))] * 2, np.ones((3, 2))), ArgumentTypeError,
     ("freqs_cis must be of dtype complex64 or complex128; "
     "got an array of shape (3, 2) and dtype float64")),
    (lambda: apply_rotary_emb(*[np.ones((1, 3, 2, 4))] * 2, precompute_freqs_cis(4, 10)),
     ArgumentValueError,
     "freqs_cis must be of shape (3, 2); got an array of shape (10, 2) and dtype complex128"),
    (lambda: apply_rotary_emb(
        np.ones((1, 3, 2, 4)), np.ones((1, 5, 2, 4)), precompute_freqs_cis(4, 3)),
     ArgumentValueError,
     ("xk must be of shape (B, S, G, d) to fit xq of shape (1, 3, 2, 4); "
     "got an array of shape (1, 5, 2, 4) and dtype float64")),
    (lambda: attention([1.0], FOUR, FOUR), ArgumentTypeError,
     "q must be a numpy.ndarray; got [1.0] (list)"),
    (lambda: attention(FOUR[0], FOUR, FOUR), ArgumentValueError,
     ("q must be an array of four axes (B, H, L, d); "
     "got an array of shape (2, 3, 4) and dtype float64")),
    (lambda: attention(FOUR, FOUR.astype(np.float32), FOUR), ArgumentTypeError,
     ("k must be of the dtype of q, float64; "
     "got an array of shape (1, 2, 3, 4) and dtype float32")),
    (lambda: attention(FOUR, FOUR[:, :1], FOUR), ArgumentValueError,
     ("k must be of shape (B, H, T, d) to fit q of shape (1, 2, 3, 4); "
     "got an array of shape (1, 1, 3, 4) and dtype float64")),
    (lambda: attention(FOUR, FOUR, FOUR[:, :, :2]), ArgumentValueError,
     ("v must be of shape (B, H, T, e) to fit k of shape (1, 2, 3, 4); "
     "got an array of shape (1, 2, 2, 4) and dtype float64")),
    (lambda: attention(FOUR[..., :3], FOUR[..., :3], FOUR), ArgumentValueError,
     "head_dim must be an even integer of at least 2; got 3 (int)"),
    (lambda: attention(FOUR, FOUR, FOUR, [[1]]), ArgumentTypeError,
     "mask must be a numpy.ndarray; got [[1]] (list)"),
    (lambda: attention(FOUR, FOUR, FOUR, np.ones(3, complex)), ArgumentTypeError,
     ("mask must be an array of numbers or bools, 0 = excluded; "
     "got an array of shape (3,) and dtype complex128")),
    (lambda: attention(FOUR, FOUR, FOUR, np.ones((3, 2))), ArgumentValueError,
     ("mask must be broadcastable to the scores of shape (1, 2, 3, 3); "
     "got an array of shape (3, 2) and dtype float64")),
    (lambda: attention(FOUR, FOUR, FOUR, np.ones((2, 1, 1, 3, 3))), ArgumentValueError,
     ("mask must be broadcastable to the scores of shape (1, 2, 3, 3); "
     "got an array of shape (2, 1, 1, 3, 3) and dtype float64")),
    (lambda: attention(FOUR, FOUR, FOUR, None, 0.1), ArgumentTypeError,
     "dropout must be None or a function of the weights; got 0.1 (float)"),
    (lambda: attention(FOUR, FOUR, FOUR, use_RoPE=1), ArgumentTypeError,
     "use_RoPE must be True or False; got 1 (int)"),
    (lambda: cos_sin_cached(np.zeros((2, 3), int), 4), ArgumentValueError,
     "positions must be an array of one axis; got an array of shape (2, 3) and dtype int64"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_pub_errors_p46(call, error, words):
    """Odd dimensions, wrong lengths and wrong types are refused in the agreed words."""
    with pytest.raises(error) as caught:
        call()

    assert str(caught.value) == words

import math

import ml_dtypes
import numpy as np
import pytest

from ropespec.reference.arrays import round_to
from ropespec.reference.attention import (
    attention,
    attention_plain,
    scaled_scores,
    softmax,
)
from ropespec.reference.relative import relative_score
from ropespec.reference.rotation import apply_rotary
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
LAYOUTS = [True, False]


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def at(q_positions, k_positions=None, *, interleaved=True):
    """Build the keywords of a call."""
    return {
        "query_positions": np.asarray(q_positions),
        "key_positions": np.asarray(q_positions if k_positions is None else k_positions),
        "interleaved": interleaved,
    }


@pytest.mark.parametrize("interleaved", LAYOUTS)
def test_attention_by_loops(interleaved):
    """Every weight is e^score over the sum of the rotated vectors, every output the weighted sum.

    ATT-1, ATT-4, P-35; F-149, F-183, F-185, F-186, E-65.
    """
    q, k, v = draw(0, 2, 3, 4, 6), draw(1, 2, 5, 2, 6), draw(2, 2, 5, 2, 3)
    m, n = np.array([[4, 0, -7], [1, 2, 90]]), np.arange(5)
    mask = draw(3, 2, 4, 3, 5) > -0.5
    out, weights = attention(q, k, v, **at(m, n, interleaved=interleaved), mask=mask)
    assert out.shape == (2, 3, 4, 3)
    assert weights.shape == (2, 4, 3, 5)
    for b, h, s in np.ndindex(2, 4, 3):
        key_head = [0, 0, 1, 1][h]
        powers = np.zeros(5)
        for t in np.flatnonzero(mask[b, h, s]):
            offset = n[t] - m[b, s]
            score = relative_score(q[b, s, h], k[b, t, key_head], offset, interleaved=interleaved)
            powers[t] = math.exp(score / math.sqrt(6))
        expected = powers / powers.sum()
        np.testing.assert_allclose(weights[b, h, s], expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(out[b, s, h], expected @ v[b, :, key_head], atol=1e-13)


def test_weights_are_a_distribution():
    """Weights are at least 0 and each row sums to 1 (ATT-1, P-35)."""
    q, k, v = (draw(seed, 4, 2, 8) * 10 for seed in (4, 5, 6))
    _, weights = attention(q, k, v, **at(np.arange(4)))
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-15)


def test_logits_of_the_worked_example():
    """Logits (1, 2, 3) with mask (1, 1, 0) give (0.268941, 0.731059, 0) (ATT-2, E-58, E-59)."""
    found = softmax(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]))
    np.testing.assert_allclose(found, [0.268941, 0.731059, 0.0], atol=5e-7)
    assert found[2] == 0.0


def test_the_printed_masks_give_something_else():
    """-1e-9 keeps 9 % on the masked key, and a mask that is overwritten has no effect (ATT-2)."""
    filled = softmax(np.array([1.0, 2.0, -1e-9]))
    np.testing.assert_allclose(filled, [0.244728, 0.665241, 0.090031], atol=5e-7)
    unmasked = softmax(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(unmasked, [0.090031, 0.244728, 0.665241], atol=5e-7)


def test_softmax_does_not_overflow():
    """Large logits give the weights of their differences."""
    np.testing.assert_allclose(softmax(np.array([5000.0, 5000.0])), [0.5, 0.5])
    masked = softmax(np.array([1e308, 0.0, 1.0]), np.array([False, True, True]))
    np.testing.assert_allclose(masked, [0, 1 / (1 + math.e), math.e / (1 + math.e)], atol=1e-15)


def test_masked_score_has_no_influence():
    """Whatever stands at a masked key, the weights of the row are the same (ATT-2)."""
    q, k, v = draw(7, 2, 1, 4), draw(8, 3, 1, 4), draw(9, 3, 1, 4)
    mask = np.array([True, True, False])
    expected = attention(q, k[:2], v[:2], **at([0, 1], [0, 1]))
    for junk in (0.0, 1e30, np.inf, np.nan):
        k[2] = junk
        out, weights = attention(q, k, v, **at([0, 1], [0, 1, 2]), mask=mask)
        assert (weights[..., 2] == 0).all()
        np.testing.assert_array_equal(weights[..., :2], expected[1])
        np.testing.assert_allclose(out, expected[0], atol=1e-15)


def test_shift_of_all_positions():
    """S = 3, d = 4, shift 7: unchanged, while a rotated V would change the output.

    ATT-3, P-34; F-184, E-08.
    """
    q, k, v = draw(10, 3, 3, 1, 4)
    here, there = np.arange(3), np.arange(7, 10)
    np.testing.assert_allclose(
        attention(q, k, v, **at(here))[0], attention(q, k, v, **at(there))[0], atol=1e-14
    )
    wrong = [
        attention(q, k, apply_rotary(v, p, interleaved=True), **at(p))[0] for p in (here, there)
    ]
    assert np.abs(wrong[0] - wrong[1]).max() > 0.1


def attend_plainly(Q, K, V, mask):
    """Attention without positions."""
    return attention_plain(Q, K, V, mask)[0]


def attend_by_place(Q, K, V, mask):
    """Attention of one head where every token has its place as its position."""
    call = at(np.arange(len(Q)), np.arange(len(K)))
    return attention(Q[:, None], K[:, None], V[:, None], **call, mask=mask)[0][:, 0]


def test_plain_attention_does_not_see_the_order():
    """Permuted tokens give the permuted output, permuted keys the same one (ATT-5, P-49; F-222)."""
    Q, K, V = draw(30, 3, 6, 4)
    mask = draw(31, 6, 6) > -0.7
    out = attend_plainly(Q, K, V, mask)
    for seed in range(5):
        p = np.random.default_rng(seed).permutation(6)
        together = attend_plainly(Q[p], K[p], V[p], mask[np.ix_(p, p)])
        np.testing.assert_allclose(together, out[p], atol=1e-14)
        keys_alone = attend_plainly(Q, K[p], V[p], mask[:, p])
        np.testing.assert_allclose(keys_alone, out, atol=1e-14)


def test_rotated_attention_sees_the_order():
    """Permuted tokens at fixed positions give another output (ATT-5, P-49; F-222)."""
    Q, K, V = draw(32, 3, 6, 4)
    mask = np.ones((6, 6), dtype=bool)
    out = attend_by_place(Q, K, V, mask)
    for p in (np.array([1, 0, 2, 3, 4, 5]), np.arange(6)[::-1]):
        assert np.abs(attend_by_place(Q[p], K[p], V[p], mask) - out[p]).max() > 1e-2
        assert np.abs(attend_by_place(Q, K[p], V[p], mask) - out).max() > 1e-2


def test_two_sentences_of_the_same_tokens():
    """他欠我百万 and 我欠他百万 are one sentence without positions, and two with (ATT-5; F-222)."""
    tokens = dict(zip("他欠我百万", draw(33, 5, 4), strict=True))
    he_owes, i_owe = (
        np.array([tokens[word] for word in line]) for line in ("他欠我百万", "我欠他百万")
    )
    mask = np.ones((5, 5), dtype=bool)
    order = [2, 1, 0, 3, 4]
    plain = [attend_plainly(x, x, x, mask) for x in (he_owes, i_owe)]
    np.testing.assert_allclose(plain[0][order], plain[1], atol=1e-14)
    placed = [attend_by_place(x, x, x, mask) for x in (he_owes, i_owe)]
    assert (np.abs(placed[0][order] - placed[1]).max(axis=-1) > 1e-3).all()


def test_positions_that_move_with_their_tokens_change_nothing():
    """The order is in the positions alone: permuted along, they change nothing (ATT-5, P-49)."""
    q, k, v = draw(34, 3, 6, 1, 4)
    positions, p = np.array([3, -1, 7, 0, 12, 5]), np.array([4, 2, 0, 5, 1, 3])
    out, _ = attention(q, k, v, **at(positions))
    moved, _ = attention(q[p], k[p], v[p], **at(positions[p]))
    np.testing.assert_allclose(moved, out[p], atol=1e-14)


def test_shift_of_the_keys_alone():
    """Moving the keys and not the queries does change the output (ATT-3)."""
    q, k, v = draw(11, 3, 3, 1, 4)
    here = attention(q, k, v, **at(np.arange(3)))[0]
    there = attention(q, k, v, **at(np.arange(3), np.arange(1, 4)))[0]
    assert np.abs(here - there).max() > 1e-3


def test_linear_in_v():
    """The output is linear in V, and the weights do not depend on V (ATT-3, P-34)."""
    q, k, v, w = draw(12, 4, 3, 2, 4)
    call = at(np.arange(3))
    combined, weights = attention(q, k, 2 * v - 3 * w, **call)
    left, weights_v = attention(q, k, v, **call)
    right, _ = attention(q, k, w, **call)
    np.testing.assert_allclose(combined, 2 * left - 3 * right, atol=1e-14)
    np.testing.assert_array_equal(weights, weights_v)


def test_grouped_heads_are_neighbours():
    """H = 4, G = 2: key heads 0, 0, 1, 1 and not 0, 1, 0, 1 (ATT-4)."""
    q, k, v = draw(13, 3, 4, 6), draw(14, 3, 2, 6), draw(15, 3, 2, 5)
    call = at(np.arange(3))
    out, weights = attention(q, k, v, **call)
    spread = [0, 0, 1, 1]
    full, full_weights = attention(q, k[:, spread], v[:, spread], **call)
    np.testing.assert_array_equal(out, full)
    np.testing.assert_array_equal(weights, full_weights)
    alternating = [0, 1, 0, 1]
    other, _ = attention(q, k[:, alternating], v[:, alternating], **call)
    assert np.abs(out - other).max() > 1e-3


def test_one_key_head_for_all():
    """G = 1 serves every query head (ATT-4)."""
    q, k, v = draw(16, 3, 4, 6), draw(17, 3, 1, 6), draw(18, 3, 1, 6)
    out, _ = attention(q, k, v, **at(np.arange(3)))
    for h in range(4):
        alone, _ = attention(q[:, [h]], k, v, **at(np.arange(3)))
        np.testing.assert_allclose(out[:, [h]], alone, atol=1e-15)


def test_row_that_may_attend_nowhere():
    """A fully masked row has zero weights and zero output; its neighbours are untouched (ATT-4)."""
    q, k, v = draw(19, 3, 3, 2, 4)
    mask = np.tril(np.ones((3, 3), dtype=bool), -1)
    out, weights = attention(q, k, v, **at(np.arange(3)), mask=mask)
    assert not out[0].any()
    assert not weights[:, 0].any()
    assert np.isfinite(out).all()
    np.testing.assert_allclose(weights[:, 1:].sum(axis=-1), 1.0, atol=1e-15)
    np.testing.assert_allclose(weights[:, 1, 0], 1.0, atol=1e-15)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (2, 1, 1, 5), (2, 4, 3, 5)])
def test_masks_broadcast(shape):
    """A mask of any shape that broadcasts to (..., H, S, T) is the full mask (ATT-2)."""
    q, k, v = draw(20, 2, 3, 4, 6), draw(21, 2, 5, 2, 6), draw(22, 2, 5, 2, 3)
    mask = np.array(draw(23, *shape) > 0)
    call = at(np.arange(3), np.arange(5))
    out, weights = attention(q, k, v, **call, mask=mask)
    full_out, full_weights = attention(
        q, k, v, **call, mask=np.broadcast_to(mask, (2, 4, 3, 5)).copy()
    )
    np.testing.assert_array_equal(out, full_out)
    np.testing.assert_array_equal(weights, full_weights)


@pytest.mark.parametrize("dtype", DTYPES)
def test_result_is_rounded_once(dtype):
    """Output and weights are the float64 results of the same values, rounded once."""
    q, k, v = (x.astype(dtype) for x in draw(24, 3, 4, 2, 8))
    narrow = attention(q, k, v, **at(np.arange(4)))
    full = attention(*(x.astype(np.float64) for x in (q, k, v)), **at(np.arange(4)))
    for found, expected in zip(narrow, full, strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, round_to(expected, np.dtype(dtype)))


def test_inputs_are_not_written():
    """No argument changes, and the results share no memory with them."""
    q, k, v = draw(25, 3, 4, 2, 8)
    positions, mask = np.arange(4), np.ones((4, 4), dtype=bool)
    for array in (q, k, v, positions, mask):
        array.flags.writeable = False
    out, _ = attention(q, k, v, **at(positions), mask=mask)
    assert out.flags.writeable
    assert not np.shares_memory(out, v)


@pytest.mark.parametrize(
    ("q_shape", "k_shape", "v_shape"),
    [
        ((0, 2, 4), (3, 2, 4), (3, 2, 5)),
        ((2, 2, 4), (0, 2, 4), (0, 2, 5)),
        ((2, 0, 4), (3, 2, 4), (3, 2, 5)),
        ((2, 0, 4), (3, 0, 4), (3, 0, 5)),
        ((0, 2, 2, 4), (0, 3, 2, 4), (0, 3, 2, 5)),
        ((2, 2, 4), (3, 2, 4), (3, 2, 0)),
    ],
)
def test_zero_sizes(q_shape, k_shape, v_shape):
    """Zero queries, keys, heads, batch rows or value components give empty or zero results."""
    q, k, v = np.ones(q_shape), np.ones(k_shape), np.ones(v_shape)
    out, weights = attention(q, k, v, **at(np.arange(q_shape[-3]), np.arange(k_shape[-3])))
    assert out.shape == (*q_shape[:-1], v_shape[-1])
    assert weights.shape == (*q_shape[:-3], q_shape[-2], q_shape[-3], k_shape[-3])
    assert not out.any()


def test_plain_attention_is_attention_without_rotation():
    """At position 0 everywhere RoPE does nothing, and the scale is 1/sqrt(D) (ATT-1)."""
    q, k, v = draw(26, 3, 4, 1, 8)
    out, weights = attention(q, k, v, **at(np.zeros(4, dtype=int)))
    plain, plain_weights = attention_plain(q[:, 0], k[:, 0], v[:, 0])
    np.testing.assert_allclose(out[:, 0], plain, atol=1e-15)
    np.testing.assert_allclose(weights[0], plain_weights, atol=1e-15)
    assert scaled_scores(np.ones((1, 4)), np.ones((1, 4))).tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (
            {"q": np.ones((2, 4))},
            ArgumentValueError,
            "q must be an array of at least 3 axes; got an array of shape (2, 4) and dtype float64",
        ),
        (
            {"k": np.ones((3, 2, 4), dtype=np.float32)},
            ArgumentTypeError,
            (
                "k must be of the dtype of q, float64; "
                "got an array of shape (3, 2, 4) and dtype float32"
            ),
        ),
        (
            {"v": np.ones((3, 2, 4), dtype=np.int32)},
            ArgumentTypeError,
            (
                "v must be of dtype float16, bfloat16, float32 or float64; "
                "got an array of shape (3, 2, 4) and dtype int32"
            ),
        ),
        (
            {"k": np.ones((3, 2, 6))},
            ArgumentValueError,
            (
                "k must be of shape (..., T, G, D) to fit q of shape (2, 4, 4); "
                "got an array of shape (3, 2, 6) and dtype float64"
            ),
        ),
        (
            {"v": np.ones((2, 2, 4))},
            ArgumentValueError,
            (
                "v must be of shape (..., T, G, E) to fit k of shape (3, 2, 4); "
                "got an array of shape (2, 2, 4) and dtype float64"
            ),
        ),
        (
            {"k": np.ones((3, 3, 4)), "v": np.ones((3, 3, 4))},
            ArgumentValueError,
            (
                "k must be of a number of heads that divides the 4 of q; "
                "got an array of shape (3, 3, 4) and dtype float64"
            ),
        ),
        (
            {"q": np.ones((2, 4, 5)), "k": np.ones((3, 2, 5))},
            ArgumentValueError,
            "head_dim must be an even integer of at least 2; got 5 (int)",
        ),
        (
            {"query_positions": np.arange(3)},
            ArgumentValueError,
            "query_positions must be of shape (2,); got an array of shape (3,) and dtype int64",
        ),
        (
            {"key_positions": np.arange(3.0)},
            ArgumentTypeError,
            (
                "key_positions must be integers that fit in int64; "
                "got an array of shape (3,) and dtype float64"
            ),
        ),
        (
            {"interleaved": "yes"},
            ArgumentTypeError,
            "interleaved must be True or False; got 'yes' (str)",
        ),
        (
            {"base": "10000"},
            ArgumentTypeError,
            "base must be a finite number above 1; got '10000' (str)",
        ),
        (
            {"mask": np.ones((2, 3))},
            ArgumentTypeError,
            (
                "mask must be of dtype bool, True where a query may attend; "
                "got an array of shape (2, 3) and dtype float64"
            ),
        ),
        (
            {"mask": np.ones((3, 2), dtype=bool)},
            ArgumentValueError,
            (
                "mask must be broadcastable to the scores of shape (4, 2, 3); "
                "got an array of shape (3, 2) and dtype bool"
            ),
        ),
        ({"mask": True}, ArgumentTypeError, "mask must be a numpy.ndarray; got True (bool)"),
    ],
)
def test_refused_arguments(change, error, words):
    """Each wrong argument is refused with the shared words."""
    call = {"q": np.ones((2, 4, 4)), "k": np.ones((3, 2, 4)), "v": np.ones((3, 2, 4))}
    call |= at(np.arange(2), np.arange(3))
    attention(**call)
    with pytest.raises(error) as raised:
        attention(**(call | change))
    assert str(raised.value) == words


@pytest.mark.parametrize("interleaved", [True, False])
def test_a_part_of_each_head_rotates_and_the_scale_stays(interleaved):
    """With rotary_dim only the first r components rotate; the scale stays sqrt(D) (ATT-1)."""
    rng = np.random.default_rng(5)
    q, k = rng.standard_normal((2, 3, 2, 7))
    at = np.array([5, -3, 40])
    _, weights = attention(
        q, k, k, query_positions=at, key_positions=at, interleaved=interleaved, rotary_dim=4
    )
    y, z = (apply_rotary(x, at, interleaved=interleaved, rotary_dim=4) for x in (q, k))
    scores = np.einsum("shd,thd->hst", y, z) / np.sqrt(7)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(weights, powers / powers.sum(axis=-1, keepdims=True), atol=1e-14)

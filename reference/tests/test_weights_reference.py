"""Chapter `weights`: what moves when pairs are stored in another layout, WGT-1 to WGT-9."""

import numpy as np
import pytest

from ropespec.reference import (
    apply_rotary,
    attention,
    half_to_interleaved,
    interleaved_to_half,
    project_key,
    project_query,
)
from ropespec.reference.rotation_dense import permutation_matrix
from ropespec.reference.weights import (
    component_order,
    fused_rows,
    fused_to_half,
    keys_to_half,
    rms_norm,
    rotated_scores,
    rows_to_half,
    rows_to_interleaved,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

TOKENS, HEADS, KEY_HEADS, HEAD_DIM, WIDTH = 5, 4, 2, 8, 6
POSITIONS = np.array([3, -2, 0, 11, 700])
BASE = 100.0

rotary_dims = pytest.mark.parametrize("rotary_dim", [None, 4, 6])


@pytest.fixture
def draw():
    """Return a function that draws normal numbers of a shape, the same in every run."""
    rng = np.random.default_rng(7)
    return lambda *shape: rng.standard_normal(shape)


def scores(x, weight_q, weight_k, *, interleaved, rotary_dim=None):
    """Project, split into heads, rotate, and take the products."""
    q = (x @ weight_q.T).reshape(TOKENS, HEADS, HEAD_DIM)
    k = (x @ weight_k.T).reshape(TOKENS, KEY_HEADS, HEAD_DIM)
    return rotated_scores(
        q, k, POSITIONS, interleaved=interleaved, base=BASE, rotary_dim=rotary_dim
    )


def weights(draw):
    """Draw tokens, W_q and W_k."""
    return (
        draw(TOKENS, WIDTH),
        draw(HEADS * HEAD_DIM, WIDTH),
        draw(KEY_HEADS * HEAD_DIM, WIDTH),
    )


def test_the_scores_are_those_of_projection_and_rotation(draw):
    """`rotated_scores` is R_m W_q x times R_n W_k x of the chapters before it (WGT-1, WGT-3)."""
    x, weight_q, weight_k = weights(draw)
    shape = (-1, HEAD_DIM, WIDTH)
    q = project_query(x, POSITIONS, weight_q.reshape(shape), interleaved=False, base=BASE)
    k = project_key(x, POSITIONS, weight_k.reshape(shape), interleaved=False, base=BASE)
    found = scores(x, weight_q, weight_k, interleaved=False)

    for head in range(HEADS):
        np.testing.assert_allclose(found[head], q[:, head] @ k[:, head // 2].T, rtol=0, atol=1e-12)


@rotary_dims
def test_scores_are_kept_when_the_rows_of_both_move(draw, rotary_dim):
    """Interleaved before and half-split after give the same scores (WGT-1, WGT-3, WGT-4)."""
    x, weight_q, weight_k = weights(draw)
    before = scores(x, weight_q, weight_k, interleaved=True, rotary_dim=rotary_dim)
    moved_q = rows_to_half(weight_q, HEADS, rotary_dim=rotary_dim)
    moved_k = rows_to_half(weight_k, KEY_HEADS, rotary_dim=rotary_dim)
    after = scores(x, moved_q, moved_k, interleaved=False, rotary_dim=rotary_dim)

    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)


WRONG_MOVES = {
    "not at all": lambda q, k, _: (q, k),
    "q alone": lambda q, k, r: (rows_to_half(q, HEADS, rotary_dim=r), k),
    "k alone": lambda q, k, r: (q, rows_to_half(k, KEY_HEADS, rotary_dim=r)),
    "over all heads at once": lambda q, k, r: (
        rows_to_half(q, 1, rotary_dim=r),
        rows_to_half(k, 1, rotary_dim=r),
    ),
    "the wrong way": lambda q, k, r: (
        rows_to_interleaved(q, HEADS, rotary_dim=r),
        rows_to_interleaved(k, KEY_HEADS, rotary_dim=r),
    ),
}


@pytest.mark.parametrize("rotary_dim", [None, 6])
@pytest.mark.parametrize("wrong", WRONG_MOVES)
def test_a_wrong_move_shows_in_the_scores(draw, wrong, rotary_dim):
    """The test above can fail: five wrong moves change some score by more than a hundredth."""
    x, weight_q, weight_k = weights(draw)
    moved = WRONG_MOVES[wrong](weight_q, weight_k, rotary_dim)
    before = scores(x, weight_q, weight_k, interleaved=True, rotary_dim=rotary_dim)
    after = scores(x, *moved, interleaved=False, rotary_dim=rotary_dim)

    assert abs(after - before).max() > 0.01


def test_the_keys_have_heads_of_their_own(draw):
    """With the H of the queries in the place of G the heads of the keys are torn apart (WGT-3)."""
    x, weight_q, weight_k = weights(draw)
    before = scores(x, weight_q, weight_k, interleaved=True)
    moved = rows_to_half(weight_q, HEADS), rows_to_half(weight_k, HEADS)

    assert abs(scores(x, *moved, interleaved=False) - before).max() > 0.01


def test_all_of_a_head_may_not_move_where_a_part_is_rotated(draw):
    """P of all D in the place of P of the first r is another function (WGT-4)."""
    x, weight_q, weight_k = weights(draw)
    before = scores(x, weight_q, weight_k, interleaved=True, rotary_dim=4)
    moved = rows_to_half(weight_q, HEADS), rows_to_half(weight_k, KEY_HEADS)

    assert abs(scores(x, *moved, interleaved=False, rotary_dim=4) - before).max() > 0.01


def test_one_head_moves_by_the_permutation_matrix(draw):
    """In each head `rows_to_half` is the product with P of ROT-5 (WGT-1)."""
    weight = draw(2 * HEAD_DIM, 3)
    P = permutation_matrix(HEAD_DIM)

    np.testing.assert_array_equal(
        rows_to_half(weight, 2), np.concatenate([P @ weight[:HEAD_DIM], P @ weight[HEAD_DIM:]])
    )


def test_it_is_the_reshape_that_converters_use(draw):
    """Reshape to (heads, D/2, 2, d_in), exchange the middle axes, and shape back (WGT-1)."""
    weight = draw(HEADS * HEAD_DIM, WIDTH)
    usual = weight.reshape(HEADS, HEAD_DIM // 2, 2, WIDTH).swapaxes(1, 2).reshape(weight.shape)

    np.testing.assert_array_equal(rows_to_half(weight, HEADS), usual)


@pytest.mark.parametrize("rotary_dim", [None, 2, 6])
@pytest.mark.parametrize("columns", [(), (1,), (3, 2)])
def test_there_and_back_is_the_identity(draw, columns, rotary_dim):
    """`rows_to_interleaved` undoes `rows_to_half` bit for bit, for any further axes (WGT-1)."""
    weight = draw(3 * HEAD_DIM, *columns).astype(np.float32)
    half = rows_to_half(weight, 3, rotary_dim=rotary_dim)
    back = rows_to_interleaved(half, 3, rotary_dim=rotary_dim)

    assert half.dtype == weight.dtype
    assert not np.shares_memory(half, weight)
    assert (rotary_dim == 2) == bool((half == weight).all()), "P of two components moves nothing"
    np.testing.assert_array_equal(back, weight)


def test_biases_move_with_their_rows(draw):
    """P (W x + b) = P W x + P b; a bias left behind shows (WGT-2)."""
    x, weight_q, weight_k = weights(draw)
    bias_q, bias_k = draw(HEADS * HEAD_DIM), draw(KEY_HEADS * HEAD_DIM)
    tokens = np.concatenate([x, np.ones((TOKENS, 1))], axis=1)

    def with_bias(weight, bias):
        return np.concatenate([weight, bias[:, None]], axis=1)

    moved_q, moved_k = rows_to_half(weight_q, HEADS), rows_to_half(weight_k, KEY_HEADS)
    before = scores(
        tokens, with_bias(weight_q, bias_q), with_bias(weight_k, bias_k), interleaved=True
    )
    after = scores(
        tokens,
        with_bias(moved_q, rows_to_half(bias_q, HEADS)),
        with_bias(moved_k, rows_to_half(bias_k, KEY_HEADS)),
        interleaved=False,
    )
    left = scores(tokens, with_bias(moved_q, bias_q), with_bias(moved_k, bias_k), interleaved=False)

    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)
    assert abs(left - before).max() > 0.01


def test_the_order_has_the_even_components_first_and_the_tail_last():
    """Rotated components by parity, then what is not rotated, in its place (WGT-4)."""
    assert component_order(8).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert component_order(7, 4).tolist() == [0, 2, 1, 3, 4, 5, 6]


def test_the_norm_is_what_it_says():
    """Weight times x over the root of the mean square and epsilon (WGT-5)."""
    found = rms_norm(np.array([3.0, 4.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0]), 0.0)

    np.testing.assert_allclose(found, [1.2, 3.2, 0.0, 0.0], rtol=1e-15)
    np.testing.assert_array_equal(rms_norm(np.zeros(2), np.ones(2)), [0.0, 0.0])


@pytest.mark.parametrize("across", [False, True])
def test_weights_of_a_norm_move_with_the_components(draw, across):
    """Norm of each head, or across all heads; its weight moves, or the scores change (WGT-5)."""
    x, weight_q, weight_k = weights(draw)
    norm_q, norm_k = (
        draw(count * HEAD_DIM if across else HEAD_DIM) for count in (HEADS, KEY_HEADS)
    )

    def normed(weight, norm, heads):
        flat = x @ weight.T
        if across:
            return rms_norm(flat, norm).reshape(TOKENS, heads, HEAD_DIM)
        return rms_norm(flat.reshape(TOKENS, heads, HEAD_DIM), norm)

    def normed_scores(weights_of, norms, *, interleaved):
        q = normed(weights_of[0], norms[0], HEADS)
        k = normed(weights_of[1], norms[1], KEY_HEADS)
        return rotated_scores(q, k, POSITIONS, interleaved=interleaved, base=BASE)

    moved = rows_to_half(weight_q, HEADS), rows_to_half(weight_k, KEY_HEADS)
    moved_norms = (
        rows_to_half(norm_q, HEADS if across else 1),
        rows_to_half(norm_k, KEY_HEADS if across else 1),
    )
    before = normed_scores((weight_q, weight_k), (norm_q, norm_k), interleaved=True)
    after = normed_scores(moved, moved_norms, interleaved=False)
    left = normed_scores(moved, (norm_q, norm_k), interleaved=False)

    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)
    assert abs(left - before).max() > 0.01


@pytest.mark.parametrize(
    ("order", "heads", "key_heads", "q", "k", "v"),
    [
        (
            "stacked",
            4,
            2,
            [[0, 1], [2, 3], [4, 5], [6, 7]],
            [[8, 9], [10, 11]],
            [[12, 13], [14, 15]],
        ),
        ("per head", 2, 2, [[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]),
        (
            "per group",
            4,
            2,
            [[0, 1], [2, 3], [8, 9], [10, 11]],
            [[4, 5], [12, 13]],
            [[6, 7], [14, 15]],
        ),
        ("per group", 2, 1, [[0, 1], [2, 3]], [[4, 5]], [[6, 7]]),
    ],
)
def test_rows_of_a_fused_weight(order, heads, key_heads, q, k, v):
    """Three orders, written out for a head_dim of two (WGT-6)."""
    rows = fused_rows(order, heads, key_heads, 2)

    assert [part.tolist() for part in rows] == [q, k, v]


@rotary_dims
@pytest.mark.parametrize(
    ("order", "key_heads"), [("stacked", 2), ("per head", 4), ("per group", 2), ("per group", 1)]
)
def test_a_fused_weight_moves_as_its_parts_do(draw, order, key_heads, rotary_dim):
    """Taken apart, the moved weight is the moved parts, and v as it was (WGT-6)."""
    fused = draw((HEADS + 2 * key_heads) * HEAD_DIM, WIDTH)
    sizes = {"heads": HEADS, "key_heads": key_heads, "head_dim": HEAD_DIM}
    moved = fused_to_half(fused, order, **sizes, rotary_dim=rotary_dim)
    rows = fused_rows(order, **sizes)

    for part, heads in ((rows.q, HEADS), (rows.k, key_heads)):
        expected = rows_to_half(fused[part].reshape(-1, WIDTH), heads, rotary_dim=rotary_dim)
        np.testing.assert_array_equal(moved[part].reshape(-1, WIDTH), expected)
    np.testing.assert_array_equal(moved[rows.v], fused[rows.v])
    assert moved.shape == fused.shape


def test_a_fused_bias_moves_too(draw):
    """One number per row is a weight with one column (WGT-6)."""
    fused = draw(3 * HEADS * HEAD_DIM, 1)
    sizes = {"heads": HEADS, "key_heads": HEADS, "head_dim": HEAD_DIM}

    np.testing.assert_array_equal(
        fused_to_half(fused[:, 0], "per head", **sizes),
        fused_to_half(fused, "per head", **sizes)[:, 0],
    )


def test_of_an_adapter_only_b_moves(draw):
    """P (W + B A) = P W + (P B) A; with the rows of A moved it is another weight (WGT-7)."""
    weight, B, A = draw(HEADS * HEAD_DIM, WIDTH), draw(HEADS * HEAD_DIM, 4), draw(4, WIDTH)
    together = rows_to_half(weight + B @ A, HEADS)
    apart = rows_to_half(weight, HEADS) + rows_to_half(B, HEADS) @ A
    wrong = rows_to_half(weight, HEADS) + rows_to_half(B, HEADS) @ rows_to_half(A, 1)

    np.testing.assert_allclose(apart, together, rtol=0, atol=1e-13)
    assert abs(wrong - together).max() > 0.1


def test_scales_of_rows_move_with_them(draw):
    """P diag(s) Q = diag(P s) (P Q) for whole numbers Q and a scale for each row (WGT-8)."""
    whole = np.round(draw(HEADS * HEAD_DIM, WIDTH) * 50)
    scale = np.exp(draw(HEADS * HEAD_DIM))
    expected = rows_to_half(scale[:, None] * whole, HEADS)
    moved = rows_to_half(whole, HEADS)

    np.testing.assert_array_equal(rows_to_half(scale, HEADS)[:, None] * moved, expected)
    assert abs(scale[:, None] * moved - expected).max() > 1


@rotary_dims
def test_rotated_keys_move_without_their_positions(draw, rotary_dim):
    """P R_int k = R_half P k at every position, so a cache moves as it lies (WGT-9)."""
    keys = draw(TOKENS, KEY_HEADS, HEAD_DIM)
    options = {"base": BASE, "rotary_dim": rotary_dim}
    cached = apply_rotary(keys, POSITIONS, interleaved=True, **options)
    moved = keys_to_half(keys, rotary_dim=rotary_dim)
    fresh = apply_rotary(moved, POSITIONS, interleaved=False, **options)
    unmoved = apply_rotary(keys, POSITIONS, interleaved=False, **options)

    np.testing.assert_allclose(keys_to_half(cached, rotary_dim=rotary_dim), fresh, atol=1e-12)
    assert abs(cached - fresh).max() > 0.01
    assert abs(unmoved - fresh).max() > 0.01


def test_without_a_part_a_cache_moves_as_rot_5_says(draw):
    """`keys_to_half` of all components is `interleaved_to_half` (WGT-9)."""
    keys = draw(TOKENS, KEY_HEADS, HEAD_DIM)

    np.testing.assert_array_equal(keys_to_half(keys), interleaved_to_half(keys))
    np.testing.assert_array_equal(half_to_interleaved(keys_to_half(keys)), keys)


def test_attention_is_the_same_before_and_after(draw):
    """With W_v as it was, output and weights of attention are those of before (WGT-1)."""
    x, weight_q, weight_k = weights(draw)
    v = draw(TOKENS, KEY_HEADS, 3)

    def output(of_q, of_k, *, interleaved):
        return attention(
            (x @ of_q.T).reshape(TOKENS, HEADS, HEAD_DIM),
            (x @ of_k.T).reshape(TOKENS, KEY_HEADS, HEAD_DIM),
            v,
            query_positions=POSITIONS,
            key_positions=POSITIONS,
            interleaved=interleaved,
        )

    before = output(weight_q, weight_k, interleaved=True)
    moved = rows_to_half(weight_q, HEADS), rows_to_half(weight_k, KEY_HEADS)
    after = output(*moved, interleaved=False)

    for found, expected in zip(after, before, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: rows_to_half(np.ones(6), 4),
            ArgumentValueError,
            "heads must be a divisor of the 6 rows",
        ),
        (
            lambda: rows_to_half(np.ones(6), 0),
            ArgumentValueError,
            "heads must be a divisor of the 6 rows",
        ),
        (
            lambda: rows_to_interleaved([1.0], 1),
            ArgumentTypeError,
            "weight must be a numpy.ndarray",
        ),
        (
            lambda: rows_to_half(np.ones(6), 2),
            ArgumentValueError,
            "head_dim must be an even integer",
        ),
        (
            lambda: component_order(4, 6),
            ArgumentValueError,
            "rotary_dim must be at most head_dim = 4",
        ),
        (
            lambda: fused_rows("stacked", 3, 2, 4),
            ArgumentValueError,
            "key_heads must be a divisor of heads, 3",
        ),
        (
            lambda: fused_rows("stacked", 3, 0, 4),
            ArgumentValueError,
            "key_heads must be a divisor of heads, 3",
        ),
        (
            lambda: fused_rows("per head", 4, 2, 4),
            ArgumentValueError,
            "key_heads must be 4 if the order is per head",
        ),
        (
            lambda: fused_rows("mixed", 4, 2, 4),
            ArgumentValueError,
            "order must be stacked, per head or per group",
        ),
        (lambda: fused_rows("stacked", 4, 2, 0), ArgumentValueError, "head_dim must be at least 1"),
        (
            lambda: fused_to_half(np.ones(9), "stacked", heads=2, key_heads=1, head_dim=2),
            ArgumentValueError,
            "weight must be of 8 rows",
        ),
        (lambda: keys_to_half(np.ones(3)), ArgumentValueError, "head_dim must be an even integer"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    """Argument, what it must be, and what it was."""
    with pytest.raises(error, match=words):
        call()

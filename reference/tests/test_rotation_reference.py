"""Chapter `rotation`: the forms of the rotation and its laws, ROT-1 to ROT-13."""

import math

import numpy as np
import pytest

from ropespec.reference import (
    apply_rotary,
    apply_rotary_complex,
    apply_rotary_dense,
    cos_sin,
    half_to_interleaved,
    interleaved_to_half,
    inv_freq,
    rotation_matrix,
)
from ropespec.reference.frequencies import (
    duplicate_interleaved,
    theta_one_based,
    theta_pow,
    theta_step2,
)
from ropespec.reference.rotation import (
    rotate_half_half,
    rotate_half_interleaved,
    rotate_rows,
    row_scores,
)
from ropespec.reference.rotation_dense import (
    dense_from_blocks,
    dense_half,
    dense_one_based,
    dense_step2,
    dense_zero_based,
    permutation,
    permutation_matrix,
)
from ropespec.reference.rotation_plane import (
    rotate_complex,
    rotate_components,
    rotate_matrix,
    rotation_matrix_2d,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

EPS = np.finfo(np.float64).eps
CASES = [(2, 10000.0), (4, 10000.0), (6, 2.0), (8, 500000.0), (64, 10000.0)]
POSITIONS = [-1000, -1, 0, 1, 2, 77, 4095]
LAYOUTS = [True, False]

layouts = pytest.mark.parametrize("interleaved", LAYOUTS)
cases = pytest.mark.parametrize(("dim", "base"), CASES)


def _vectors(dim, length=7, heads=3, seed=0):
    return np.random.default_rng(seed).standard_normal((length, heads, dim))


def _close(found, expected, bound):
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound)


def test_rot_1_columns_are_the_rotated_basis_vectors():
    """R(a) (F-072) takes (1, 0) and (0, 1) counter-clockwise (P-31; F-073, F-074).

    The angle of a matrix with m * theta inside is m * theta, not theta (E-27).
    """
    R = rotation_matrix_2d(2 * 1.0)
    _close(R[:, 0], [-0.416147, 0.909297], 5e-7)
    _close(R[:, 1], [-0.909297, -0.416147], 5e-7)
    _close(rotation_matrix_2d(1.0)[:, 0], [0.540302, 0.841471], 5e-7)
    np.testing.assert_array_equal(rotation_matrix_2d(0.0), np.eye(2))
    _close(rotation_matrix_2d(math.pi / 2) @ [3.0, 4.0], [-4, 3], 4 * EPS)


def test_rot_1_matrices_of_many_angles():
    """Angles of any shape give one matrix each."""
    angles = np.linspace(-3, 3, 6).reshape(2, 3)
    R = rotation_matrix_2d(angles)
    assert R.shape == (2, 3, 2, 2)
    np.testing.assert_array_equal(R[1, 2], rotation_matrix_2d(angles[1, 2]))


@pytest.mark.parametrize(("m", "theta"), [(0, 1.0), (1, 1.0), (-5, 0.1), (1000, 0.01), (3, -2.0)])
def test_rot_2_complex_product_components_and_matrix_agree(m, theta):
    """The product q e^{im theta}, its expansion and R(m theta) q are one pair (P-09).

    As complex numbers (F-062, F-063, F-064, F-065, F-067), as components (F-066, F-068, F-069,
    F-075) and as columns (F-070, F-071, F-076), which are no complex numbers (E-12).
    """
    q = np.random.default_rng(3).standard_normal((20, 2))
    bound = 8 * EPS * np.abs(q).max()
    z = rotate_complex(q @ [1, 1j], m, theta)
    components = rotate_components(q, m, theta)
    _close(components, np.stack([z.real, z.imag], axis=-1), bound)
    _close(rotate_matrix(q, m, theta), components, bound)
    if m == 1:
        assert not np.allclose(rotate_components(q, -m, theta), components)


@pytest.mark.parametrize(("m", "theta"), [(1, 0.5), (3, 0.7), (-2, 0.4)])
def test_rot_2_the_vector_is_rotated_about_the_origin(m, theta):
    """(q_0, q_1) keeps its length and moves on by the angle m theta, hence the name (F-077)."""
    q = np.random.default_rng(5).standard_normal((20, 2))
    y = rotate_components(q, m, theta)
    _close(np.hypot(*y.T), np.hypot(*q.T), 8 * EPS)
    moved = np.arctan2(*y.T[::-1]) - np.arctan2(*q.T[::-1])
    _close(np.cos(moved - m * theta), 1, 8 * EPS)
    assert not np.allclose(np.cos(moved + m * theta), 1)


@cases
@pytest.mark.parametrize("m", POSITIONS)
def test_rot_3_labels_do_not_change_the_matrix(dim, base, m):
    """The 0-based, 1-based, step-2 and block displays denote one matrix (P-28; E-13, E-26, E-45).

    F-126, F-129, F-133 and F-134 count from 0, F-127 and F-130 from 1, F-128 by even numbers, and
    F-131 sets the blocks F-132 along the diagonal.
    """
    R = dense_zero_based(m, dim, base)
    blocks = rotation_matrix_2d(m * inv_freq(dim, base))
    bound = 8 * EPS * (1 + abs(m) * (1 + math.log(base)))  # the labels round theta differently
    _close(dense_one_based(m, dim, base), R, bound)
    _close(dense_step2(m, dim, base), R, bound)
    _close(dense_from_blocks(blocks), R, 4 * EPS)


@cases
def test_rot_3_pairs_are_rotated_one_by_one_and_put_side_by_side(dim, base):
    """R x is the 2x2 rotation of each pair of neighbours, put together again (F-089, F-135)."""
    x = _vectors(dim, 1, 1)[0, 0]
    alone = [rotate_matrix(x[2 * i : 2 * i + 2], 3, t) for i, t in enumerate(inv_freq(dim, base))]
    _close(rotation_matrix(3, dim, interleaved=True, base=base) @ x, np.concatenate(alone), 8 * EPS)
    dense = apply_rotary_dense(x.reshape(1, 1, dim), [3], interleaved=True, base=base)
    _close(dense.ravel(), np.concatenate(alone), 8 * EPS)


@cases
def test_rot_3_matrix_has_blocks_of_two_and_zeros(dim, base):
    """Outside the 2x2 diagonal blocks there is nothing, and 2d entries are left (P-24; F-148)."""
    R = rotation_matrix(1, dim, interleaved=True, base=base)
    outside = np.kron(np.eye(dim // 2), np.ones((2, 2))) == 0
    assert np.all(R[outside] == 0)
    assert np.count_nonzero(R) == 2 * dim
    assert np.count_nonzero(rotation_matrix(1, dim, interleaved=False, base=base)) == 2 * dim


def test_rot_3_last_row_but_one_is_cos_and_minus_sin():
    """With the misprint of document 002 the matrix would be singular (E-19)."""
    R = rotation_matrix(1, 4, interleaved=True)
    _close(R @ [0, 0, 0, 1], [0, 0, -0.010000, 0.999950], 5e-7)
    assert np.linalg.det(R) == pytest.approx(1)
    R[2] = R[3]
    assert np.linalg.matrix_rank(R) == 3


def test_rot_3_and_4_shapes_follow_the_positions():
    """One matrix for each position, for one, for many and for none."""
    for interleaved in LAYOUTS:
        assert rotation_matrix(5, 4, interleaved=interleaved).shape == (4, 4)
        assert rotation_matrix([[1, 2, 3]], 4, interleaved=interleaved).shape == (1, 3, 4, 4)
        assert rotation_matrix([], 4, interleaved=interleaved).shape == (0, 4, 4)
        many = rotation_matrix([3, -4], 4, interleaved=interleaved)
        np.testing.assert_array_equal(many[1], rotation_matrix(-4, 4, interleaved=interleaved))


def test_rot_4_half_split_matrix_of_document_001():
    """-sin(m theta_0) stands in row 0 at column d/2, with nothing between the halves (E-16)."""
    R = rotation_matrix(1, 4, interleaved=False)
    c0, s0, c1, s1 = math.cos(1), math.sin(1), math.cos(0.01), math.sin(0.01)
    expected = [[c0, 0, -s0, 0], [0, c1, 0, -s1], [s0, 0, c0, 0], [0, s1, 0, c1]]
    _close(R, expected, 4 * EPS)


@cases
def test_rot_4_half_split_matrix_is_made_of_four_diagonals(dim, base):
    """R_half = ((C, -S), (S, C)) with the cosines and sines on diagonals (F-137; E-16)."""
    R = dense_half(3, dim, base)
    cos, sin = cos_sin(3, dim, base)
    C, S = np.diag(cos), np.diag(sin)
    _close(R, np.block([[C, -S], [S, C]]), 16 * EPS * (1 + math.log(base)))


@cases
@pytest.mark.parametrize("m", POSITIONS)
def test_rot_5_layouts_are_related_by_the_permutation(dim, base, m):
    """R_half = P R_int P^T, as matrices and as picked rows and columns (P-27; F-138; E-17)."""
    P, order = permutation_matrix(dim), permutation(dim)
    R = rotation_matrix(m, dim, interleaved=True, base=base)
    half = rotation_matrix(m, dim, interleaved=False, base=base)
    bound = 8 * EPS * (1 + abs(m) * (1 + math.log(base)))
    _close(half, P @ R @ P.T, bound)
    _close(half, R[order][:, order], bound)


def test_rot_5_numbers_of_the_two_layouts():
    """The same vector gives two different results, so the layout has to be named (E-17)."""
    x = np.array([1.0, 2, 3, 4]).reshape(1, 1, 4)
    interleaved = apply_rotary(x, [1], interleaved=True).ravel()
    half = apply_rotary(x, [1], interleaved=False).ravel()
    _close(interleaved, [-1.142640, 1.922076, 2.959851, 4.029800], 5e-7)
    _close(half, [-1.984111, 1.959901, 2.462378, 4.019800], 5e-7)


def test_rot_5_components_move_as_written():
    """(Px)_i = x_2i and (Px)_{i+d/2} = x_{2i+1}; P^T undoes it, and the result is a new array."""
    x = np.arange(16.0).reshape(2, 8)
    x.flags.writeable = False
    half = interleaved_to_half(x)
    assert half[0].tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    np.testing.assert_array_equal(half, x @ permutation_matrix(8).T)
    np.testing.assert_array_equal(half_to_interleaved(half), x)
    np.testing.assert_array_equal(half_to_interleaved(x), x @ permutation_matrix(8))
    assert not np.shares_memory(half, x)
    assert not np.shares_memory(half_to_interleaved(x), x)
    heads = _vectors(8, 5, 3)
    np.testing.assert_array_equal(interleaved_to_half(heads), heads @ permutation_matrix(8).T)
    np.testing.assert_array_equal(half_to_interleaved(heads), heads @ permutation_matrix(8))


def test_rot_5_rows_of_weights_move_like_components():
    """Rows 0, 2, 4, 6, 1, 3, 5, 7 of a weight, by the usual view and transpose (E-66)."""
    W = np.random.default_rng(4).standard_normal((8, 5))
    usual = W.reshape(4, 2, 5).transpose(1, 0, 2).reshape(8, 5)
    np.testing.assert_array_equal(interleaved_to_half(W.T).T, usual)
    np.testing.assert_array_equal(permutation_matrix(8) @ W, usual)


def test_rot_5_scores_agree_if_both_sides_are_permuted():
    """Both permuted, q and k score alike; unpermuted they do not, mixed they drift (P-27)."""
    q, k = _vectors(8, 1, 1, seed=5), _vectors(8, 1, 1, seed=6)

    def score(q, k, m, *, left, right):
        key_position = m - 3
        left_q = apply_rotary(q, [m], interleaved=left)
        return np.sum(left_q * apply_rotary(k, [key_position], interleaved=right))

    plain = score(q, k, 5, left=True, right=True)
    half_q, half_k = interleaved_to_half(q), interleaved_to_half(k)
    assert score(half_q, half_k, 5, left=False, right=False) == pytest.approx(plain, abs=1e-13)
    assert score(q, k, 5, left=False, right=False) != pytest.approx(plain, abs=1e-3)
    assert score(q, k, 6, left=True, right=True) == pytest.approx(plain, abs=1e-13)
    mixed = [score(q, k, m, left=True, right=False) for m in (5, 6)]
    assert mixed[0] != pytest.approx(mixed[1], abs=1e-3)


@pytest.mark.parametrize("function", [interleaved_to_half, half_to_interleaved])
def test_rot_5_what_has_no_pairs_is_refused(function):
    """Lists, integers and odd numbers of components have no layout (P-46)."""
    with pytest.raises(ArgumentTypeError) as error:
        function([1.0, 2.0])
    assert str(error.value) == "x must be a numpy.ndarray; got [1.0, 2.0] (list)"
    with pytest.raises(ArgumentTypeError, match=r"^x must be of dtype float16"):
        function(np.arange(4))
    with pytest.raises(ArgumentValueError) as refused:
        function(np.ones(3))
    assert str(refused.value) == "head_dim must be an even integer of at least 2; got 3 (int)"


def test_rot_6_and_7_companion_vectors():
    """(-x1, x0, -x3, x2) if interleaved (F-146), (-x2, -x3, x0, x1) if half-split (F-147)."""
    x = np.array([1.0, 2, 3, 4])
    assert rotate_half_interleaved(x).tolist() == [-2, 1, -4, 3]
    assert rotate_half_half(x).tolist() == [-3, -4, 1, 2]
    np.testing.assert_array_equal(
        interleaved_to_half(rotate_half_interleaved(x)), rotate_half_half(interleaved_to_half(x))
    )


@layouts
@cases
def test_rot_6_and_7_sparse_form_equals_dense_form(dim, base, interleaved):
    """The form x * cos + rotate_half(x) * sin is R x, by the full product too (P-25, P-26).

    F-139, F-140, F-141, F-143 and F-144 print it for neighbouring, F-142 for half-split pairs.
    """
    x = _vectors(dim)
    sparse = apply_rotary(x, POSITIONS, interleaved=interleaved, base=base)
    dense = apply_rotary_dense(x, POSITIONS, interleaved=interleaved, base=base)
    full = rotation_matrix(POSITIONS, dim, interleaved=interleaved, base=base)
    # theta of the printed labels may differ in its last bit, and the position magnifies that
    _close(sparse, dense, 8 * EPS * (1 + max(POSITIONS)) * np.abs(x).max())
    _close(np.einsum("scd,shd->shc", full, x), dense, 16 * EPS * np.abs(x).max())


def test_rot_6_the_product_of_the_two_terms_is_something_else():
    """The form is the sum of two element-wise products (F-145), not their product (E-09, E-20)."""
    x = np.array([1.0, 2.0])
    cos, sin = duplicate_interleaved(np.cos([1.0])), duplicate_interleaved(np.sin([1.0]))
    terms = x * cos, rotate_half_interleaved(x) * sin
    _close(terms[0] + terms[1], [-1.142640, 1.922076], 5e-7)
    assert not np.allclose(terms[0] * terms[1], terms[0] + terms[1])
    found = apply_rotary(x.reshape(1, 1, 2), [1], interleaved=True).ravel()
    np.testing.assert_array_equal(found, terms[0] + terms[1])


@pytest.mark.parametrize("length", [1, 5])
def test_rot_6_doubled_tables_rotate(length):
    """A cos and a sin table with equal neighbours and cos^2 + sin^2 = 1 gives R x (P-39)."""
    x = _vectors(6, length)
    cos, sin = (duplicate_interleaved(t)[:, np.newaxis] for t in cos_sin(np.arange(length), 6))
    np.testing.assert_array_equal(cos[..., 0::2], cos[..., 1::2])
    _close(cos**2 + sin**2, 1, 4 * EPS)
    found = x * cos + rotate_half_interleaved(x) * sin
    np.testing.assert_array_equal(found, apply_rotary(x, np.arange(length), interleaved=True))


@cases
def test_rot_8_complex_form_equals_sparse_form(dim, base):
    """Multiplying pairs by e^{i m theta} is the interleaved rotation (P-36; F-064, F-065)."""
    x = _vectors(dim)
    found = apply_rotary_complex(x, POSITIONS, base=base)
    expected = apply_rotary(x, POSITIONS, interleaved=True, base=base)
    _close(found, expected, 8 * EPS * np.abs(x).max())


@layouts
@cases
def test_rot_9_rows_are_rotated_by_their_own_matrix(dim, base, interleaved):
    """Q_j R_{p_j}^T = (R_{p_j} Q_j^T)^T for every row, of queries and keys (P-29; F-150, F-151)."""
    Q = _vectors(dim)[:, 0]
    Q.flags.writeable = False
    R = rotation_matrix(POSITIONS, dim, interleaved=interleaved, base=base)
    rows = rotate_rows(Q, POSITIONS, interleaved=interleaved, base=base)
    for j in range(len(POSITIONS)):
        _close(rows[j], R[j] @ Q[j], 16 * EPS * np.abs(Q).max())
    heads = apply_rotary_dense(Q[:, np.newaxis], POSITIONS, interleaved=interleaved, base=base)
    _close(rows, heads[:, 0], 16 * EPS * np.abs(Q).max())


@layouts
def test_rot_9_the_base_is_10000_unless_another_is_given(interleaved):
    """Rows are rotated with the base of the documents, as every form is without one."""
    Q = _vectors(6)[:, 0]
    rows = rotate_rows(Q, POSITIONS, interleaved=interleaved)
    dense = apply_rotary_dense(Q[:, np.newaxis], POSITIONS, interleaved=interleaved, base=10000.0)
    _close(rows, dense[:, 0], 16 * EPS * np.abs(Q).max())
    scores = row_scores(
        Q, Q, query_positions=POSITIONS, key_positions=POSITIONS, interleaved=interleaved
    )
    _close(scores, rows @ rows.T, 64 * EPS)
    _close(dense_step2(3, 6), dense_zero_based(3, 6, 10000.0), 64 * EPS)


def test_rot_9_one_matrix_for_all_rows_is_wrong():
    """Rows at positions 0 and 1: the first stays, which f(Q) = Q R_1^T denies (E-14, E-15)."""
    Q = np.array([[1.0, 0.0], [1.0, 0.0]])
    rows = rotate_rows(Q, [0, 1], interleaved=True)
    _close(rows, [[1, 0], [0.540302, 0.841471]], 5e-7)
    printed = Q @ rotation_matrix(1, 2, interleaved=True).T
    _close(printed, [[0.540302, 0.841471]] * 2, 5e-7)
    untransposed = Q[1] @ rotation_matrix(1, 2, interleaved=True)
    _close(untransposed, [0.540302, -0.841471], 5e-7)


@layouts
def test_rot_9_scores_of_rotated_rows(interleaved):
    """Row q at m and row k at n score q^T R_{n-m} k, with positions on each side (F-152)."""
    Q, K = _vectors(6, 4, 1, seed=7)[:, 0], _vectors(6, 3, 1, seed=8)[:, 0]
    m, n = [0, 5, -2, 9], [4, 4, 100]
    scores = row_scores(Q, K, query_positions=m, key_positions=n, interleaved=interleaved)
    for i in range(4):
        for j in range(3):
            R = rotation_matrix(n[j] - m[i], 6, interleaved=interleaved)
            assert scores[i, j] == pytest.approx(Q[i] @ R @ K[j], abs=1e-12)


def test_rot_9_worked_scores():
    """With q = e_0 and k = e_1 everywhere, entry [m, n] is sin(m - n)."""
    Q, K = np.tile(np.eye(4)[0], (3, 1)), np.tile(np.eye(4)[1], (3, 1))
    p = np.arange(3)
    scores = row_scores(Q, K, query_positions=p, key_positions=p, interleaved=True)
    _close(scores, np.sin(np.subtract.outer(p, p)), 4 * EPS)
    assert scores[1, 0] == pytest.approx(0.841471, abs=5e-7)


def test_rot_9_rows_and_positions_have_to_match():
    """As many positions as rows, and at least two axes."""
    with pytest.raises(ArgumentValueError) as error:
        rotate_rows(np.ones((3, 4)), [0], interleaved=True)
    assert str(error.value) == (
        "positions must be of shape (3,); got an array of shape (1,) and dtype int64"
    )
    with pytest.raises(ArgumentValueError, match=r"^Q must be an array of at least 2 axes"):
        rotate_rows(np.ones(4), [0], interleaved=True)


@layouts
@cases
def test_rot_10_position_0_is_the_identity(dim, base, interleaved):
    """f(x, 0) = x and R_0 = I without rounding (P-10; F-158)."""
    x = _vectors(dim, 1)
    np.testing.assert_array_equal(apply_rotary(x, [0], interleaved=interleaved, base=base), x)
    np.testing.assert_array_equal(apply_rotary_dense(x, [0], interleaved=interleaved), x)
    np.testing.assert_array_equal(apply_rotary_complex(x, [0], base=base), x)
    R = rotation_matrix(0, dim, interleaved=interleaved, base=base)
    np.testing.assert_array_equal(R, np.eye(dim))


@layouts
@cases
def test_rot_11_lengths_are_kept(dim, base, interleaved):
    """|R x| = |x|, for the whole vector and for every pair (P-11; F-153)."""
    x = _vectors(dim)
    y = apply_rotary(x, POSITIONS, interleaved=interleaved, base=base)
    if not interleaved:
        x, y = half_to_interleaved(x), half_to_interleaved(y)
    pairs = (v.reshape(*v.shape[:-1], -1, 2) for v in (x, y))
    before, after = (np.sum(p**2, axis=-1) for p in pairs)
    np.testing.assert_allclose(after, before, rtol=16 * EPS)
    np.testing.assert_allclose(after.sum(-1), before.sum(-1), rtol=16 * EPS)


@layouts
@cases
def test_rot_11_matrices_are_orthogonal_with_determinant_1(dim, base, interleaved):
    """R^T R = I and det R = 1: no scaling and no reflection (P-17)."""
    R = rotation_matrix(POSITIONS, dim, interleaved=interleaved, base=base)
    _close(np.swapaxes(R, -1, -2) @ R, np.broadcast_to(np.eye(dim), R.shape), 8 * EPS)
    _close(np.linalg.det(R), 1, 16 * EPS * dim)


@layouts
@cases
def test_rot_12_transpose_is_the_opposite_position(dim, base, interleaved):
    """R_m^T = R_{-m}, so the rotation at -m gives x again (P-18)."""
    m = np.array(POSITIONS)
    R = rotation_matrix(m, dim, interleaved=interleaved, base=base)
    opposite = rotation_matrix(-m, dim, interleaved=interleaved, base=base)
    np.testing.assert_array_equal(np.swapaxes(R, -1, -2), opposite)
    x = _vectors(dim)
    there = apply_rotary(x, m, interleaved=interleaved, base=base)
    back = apply_rotary(there, -m, interleaved=interleaved, base=base)
    _close(back, x, 16 * EPS * np.abs(x).max())


@pytest.mark.parametrize("alpha", [0.0, 0.3, -2.0, 12.5])
@pytest.mark.parametrize("beta", [0.0, 1.0, -7.0])
def test_rot_12_and_13_laws_of_plane_rotations(alpha, beta):
    """M(a)^T = M(-a) (F-154) and M(a) M(b) = M(a + b) (F-155) (P-18, P-19)."""
    M = rotation_matrix_2d
    np.testing.assert_array_equal(M(alpha).T, M(-alpha))
    _close(M(alpha) @ M(beta), M(alpha + beta), 8 * EPS * (1 + abs(alpha) + abs(beta)))


def test_rot_13_positions_and_angles_are_not_the_same_argument():
    """With theta 0.1, m 3 and n 1 the angle is -0.2, not -0.02 (E-28)."""
    theta, m, n = 0.1, 3, 1
    M = rotation_matrix_2d
    found = M(m * theta).T @ M(n * theta)
    _close(found[:, 0], [0.980067, -0.198669], 5e-7)
    _close(M((n - m) * theta * theta)[:, 0], [0.999800, -0.019999], 5e-7)


@layouts
@cases
@pytest.mark.parametrize("steps", [(0, 5), (1, 2), (-3, 10), (1000, -999)])
def test_rot_13_angles_add_and_rotations_commute(dim, base, interleaved, steps):
    """R_a R_b = R_{a+b} = R_b R_a: positions are related by products (P-19; F-159)."""
    a, b = steps
    positions = [a, b, a + b]
    Ra, Rb, Rab = rotation_matrix(positions, dim, interleaved=interleaved, base=base)
    bound = 8 * EPS * (1 + abs(a) + abs(b))
    _close(Ra @ Rb, Rab, bound)
    _close(Rb @ Ra, Rab, bound)


def test_the_forms_of_theta_are_used_under_their_own_labels():
    """Each display takes its frequencies by label, so a wrong label would raise or show."""
    assert theta_one_based(4)[1] == theta_step2(4)[0] == theta_pow(4)[0] == 1.0
    assert 0 not in theta_one_based(4)
    assert 1 not in theta_step2(4)

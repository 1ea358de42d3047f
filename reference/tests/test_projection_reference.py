import ml_dtypes
import numpy as np
import pytest

from ropespec.reference.arrays import round_to
from ropespec.reference.projection import (
    f_complex,
    f_dense,
    f_folded,
    f_matrix,
    f_projected,
    f_row,
    f_v,
    project,
    project_key,
    project_query,
    project_value,
    score_of_tokens,
)
from ropespec.reference.rotation import apply_rotary
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

COS1, SIN1 = 0.5403023058681398, 0.8414709848078965
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("interleaved", [True, False])
def test_query_is_the_dense_document_form(interleaved):
    """Every token and head of project_query is R_m W x by the dense matrix.

    PROJ-1, P-30; F-078, F-087.
    """
    x, weight = draw(0, 2, 3, 5), draw(1, 4, 6, 5)
    positions = np.array([[0, -3, 7], [100, 2, 2]])
    y = project_query(x, positions, weight, interleaved=interleaved)
    assert y.shape == (2, 3, 4, 6)
    for b, s, h in np.ndindex(2, 3, 4):
        expected = f_dense(x[b, s], positions[b, s], weight[h], interleaved=interleaved)
        np.testing.assert_allclose(y[b, s, h], expected, rtol=0, atol=1e-13)


def test_key_is_the_query_with_its_own_weight():
    """W_q = I, W_k = 2I, x = (0, 1), n = 0 gives the key (0, 2), not (0, 1).

    PROJ-1; F-083, E-03.
    """
    x, eye = np.array([[0.0, 1.0]]), np.eye(2)[None]
    assert project_key(x, [0], 2 * eye, interleaved=True).tolist() == [[[0.0, 2.0]]]
    assert project_query(x, [0], eye, interleaved=True).tolist() == [[[0.0, 1.0]]]


def test_each_pair_has_its_own_angle():
    """For d = 4 and x = (1, 0, 1, 0) the second pair rotates by 0.01, not by 1 (PROJ-1, E-02)."""
    y = project_query(np.array([[1.0, 0.0, 1.0, 0.0]]), [1], np.eye(4)[None], interleaved=True)
    np.testing.assert_allclose(y[0, 0], [0.540302, 0.841471, 0.999950, 0.010000], atol=5e-7)


def test_other_base():
    """The base reaches the rotation: with base 100 the second pair of d = 4 rotates by 0.1."""
    y = project_query(
        np.array([[1.0, 0.0, 1.0, 0.0]]), [1], np.eye(4)[None], interleaved=True, base=100.0
    )
    np.testing.assert_allclose(y[0, 0, 2:], [np.cos(0.1), np.sin(0.1)], atol=1e-15)


def test_complex_matrix_and_row_forms_agree():
    """The three forms of one pair have the same two entries.

    PROJ-1; F-079, F-081, F-082, F-085, F-086, F-090, E-38, E-39, E-46.
    """
    x, weight = draw(2, 3), draw(3, 2, 3)
    for m in (0, 1, -5, 40):
        z = f_complex(x, m, weight, theta=0.3)
        column = f_matrix(x, m, weight, theta=0.3)
        row = f_row(x, m, weight, theta=0.3)
        assert row.shape == (1, 2)
        np.testing.assert_allclose([z.real, z.imag], column, atol=1e-14)
        np.testing.assert_allclose(row[0], column, atol=1e-14)


def test_row_times_untransposed_matrix_rotates_back():
    """Rows: q R rotates by the opposite angle, q R^T by the right one (PROJ-1, E-46)."""
    q = np.array([1.0, 0.0])
    np.testing.assert_allclose(f_row(q, 1, np.eye(2), theta=1.0)[0], [COS1, SIN1])
    R = np.array([[COS1, -SIN1], [SIN1, COS1]])
    np.testing.assert_allclose(q @ R, [COS1, -SIN1])


def test_position_is_an_argument():
    """(1, 0) stays at position 0 and is rotated at position 1 (PROJ-4, E-18)."""
    q = np.array([1.0, 0.0])
    assert f_projected(q, 0, interleaved=True).tolist() == [1.0, 0.0]
    np.testing.assert_allclose(f_projected(q, 1, interleaved=True), [0.540302, 0.841471], atol=5e-7)


def test_base_of_the_dense_forms():
    """Without a base the second pair of four components rotates by 0.01, with base 100 by 0.1."""
    second, weight = np.array([0.0, 0.0, 1.0, 0.0]), np.eye(4)
    forms = (
        lambda **base: f_projected(second, 1, interleaved=True, **base),
        lambda **base: f_dense(second, 1, weight, interleaved=True, **base),
        lambda **base: f_folded(second, 1, weight, interleaved=True, **base),
    )
    for form in forms:
        np.testing.assert_allclose(form()[2:], [np.cos(0.01), np.sin(0.01)], atol=1e-15)
        np.testing.assert_allclose(form(base=100.0)[2:], [np.cos(0.1), np.sin(0.1)], atol=1e-15)
    scores = [
        score_of_tokens(
            *(second, second, 0, 1), weight_q=weight, weight_k=weight, interleaved=True, **base
        )
        for base in ({}, {"base": 100.0})
    ]
    np.testing.assert_allclose(scores, [np.cos(0.01), np.cos(0.1)], atol=1e-15)


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("m", [0, 3, -11, 5000])
def test_rotating_the_weight_is_rotating_the_vector(m, interleaved):
    """R_m (W x) = (R_m W) x (PROJ-4, P-30; F-088)."""
    x, weight = draw(4, 7), draw(5, 8, 7)
    left = f_dense(x, m, weight, interleaved=interleaved)
    np.testing.assert_allclose(left, f_folded(x, m, weight, interleaved=interleaved), atol=1e-13)


def test_projection_takes_rows_of_the_weight():
    """Component j is row j times x; the transposed weight gives something else (PROJ-3; F-084)."""
    weight, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0])
    assert project(weight, x).tolist() == [21.0, 43.0]
    assert project_value(x[None], weight[None]).tolist() == [[[21.0, 43.0]]]
    assert project(weight.T, x).tolist() == [31.0, 42.0]


def test_value_has_no_position():
    """The value is W x at every position, and its dimension may be odd.

    PROJ-2, P-34; F-080, F-160, E-08, E-38.
    """
    x, weight = draw(6, 2, 4, 5), draw(7, 2, 3, 5)
    v = project_value(x, weight)
    assert v.shape == (2, 4, 2, 3)
    for n in (0, 9, -3, 1000, 4096, 2**40):
        np.testing.assert_allclose(v[1, 2, 1], f_v(x[1, 2], n, weight[1]), atol=1e-14)


@pytest.mark.parametrize("interleaved", [True, False])
def test_score_of_tokens_sees_only_the_difference(interleaved):
    """Moving both tokens changes nothing, exchanging their positions does.

    PROJ-5, P-12; F-023, F-091, F-161.
    """
    x, y, wq, wk = draw(8, 5), draw(9, 5), draw(10, 6, 5), draw(11, 6, 5)

    def at(m, n):
        return score_of_tokens(x, y, m, n, weight_q=wq, weight_k=wk, interleaved=interleaved)

    for s in (1, -20, 300):
        np.testing.assert_allclose(at(7 + s, 3 + s), at(7, 3), atol=1e-11)
    assert abs(at(3, 7) - at(7, 3)) > 1e-3


def test_a_rotated_vector_knows_its_own_position_alone():
    """(1, 0) is another query at 0 and at 1, and has one score at (1, 0) and (2, 1) (PROJ-5, E-71).

    A relative encoding of queries and keys would give the same query twice.
    """
    q, k, eye = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.eye(2)
    queries = [project_query(q[None], [m], eye[None], interleaved=True)[0, 0] for m in (0, 1)]
    np.testing.assert_allclose(queries, [[1.0, 0.0], [COS1, SIN1]], atol=1e-15)
    for m, n in ((1, 0), (2, 1)):
        score = score_of_tokens(q, k, m, n, weight_q=eye, weight_k=eye, interleaved=True)
        assert score == pytest.approx(SIN1, abs=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_result_is_rounded_once(dtype):
    """The result is the float64 result of the same values, rounded once to the dtype of x."""
    x, weight = draw(12, 3, 4).astype(dtype), draw(13, 2, 6, 4).astype(dtype)
    wide, wide_weight = x.astype(np.float64), weight.astype(np.float64)
    for narrow, full in [
        (
            project_query(x, [5, 6, 7], weight, interleaved=False),
            project_query(wide, [5, 6, 7], wide_weight, interleaved=False),
        ),
        (project_value(x, weight), project_value(wide, wide_weight)),
    ]:
        assert narrow.dtype == dtype
        np.testing.assert_array_equal(narrow, round_to(full, np.dtype(dtype)))


def test_inputs_are_not_written():
    """x, positions and weight are the same after every call."""
    x, positions, weight = draw(14, 3, 4), np.arange(3), draw(15, 2, 4, 4)
    for array in (x, positions, weight):
        array.flags.writeable = False
    project_query(x, positions, weight, interleaved=True)
    project_key(x, positions, weight, interleaved=True)
    y = project_value(x, weight)
    assert not np.shares_memory(y, x)


@pytest.mark.parametrize(
    ("x_shape", "weight_shape", "shape"),
    [
        ((0, 4), (2, 6, 4), (0, 2, 6)),
        ((3, 4), (0, 6, 4), (3, 0, 6)),
        ((0, 3, 4), (2, 6, 4), (0, 3, 2, 6)),
        ((3, 0), (2, 6, 0), (3, 2, 6)),
    ],
)
def test_zero_sizes(x_shape, weight_shape, shape):
    """Zero tokens, heads, batch rows or inputs give an empty or a zero result."""
    x, weight = np.ones(x_shape), np.ones(weight_shape)
    y = project_query(x, np.arange(x_shape[-2]), weight, interleaved=True)
    assert y.shape == shape
    assert not y.any()
    assert project_value(x, weight).shape == shape


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (
            {"x": np.ones((3, 4), dtype=np.int64)},
            ArgumentTypeError,
            (
                "x must be of dtype float16, bfloat16, float32 or float64; "
                "got an array of shape (3, 4) and dtype int64"
            ),
        ),
        (
            {"x": np.ones(4)},
            ArgumentValueError,
            "x must be an array of at least 2 axes; got an array of shape (4,) and dtype float64",
        ),
        (
            {"weight": np.ones((2, 6, 4), dtype=np.float32)},
            ArgumentTypeError,
            (
                "weight must be of the dtype of x, float64; "
                "got an array of shape (2, 6, 4) and dtype float32"
            ),
        ),
        (
            {"weight": np.ones((6, 4))},
            ArgumentValueError,
            (
                "weight must be of shape (H, D, 4) to fit x of shape (3, 4); "
                "got an array of shape (6, 4) and dtype float64"
            ),
        ),
        (
            {"weight": np.ones((2, 5, 4))},
            ArgumentValueError,
            "head_dim must be an even integer of at least 2; got 5 (int)",
        ),
        (
            {"positions": np.arange(2)},
            ArgumentValueError,
            "positions must be of shape (3,); got an array of shape (2,) and dtype int64",
        ),
        (
            {"positions": np.arange(3.0)},
            ArgumentTypeError,
            (
                "positions must be integers that fit in int64; "
                "got an array of shape (3,) and dtype float64"
            ),
        ),
        ({"interleaved": 1}, ArgumentTypeError, "interleaved must be True or False; got 1 (int)"),
        (
            {"base": 1.0},
            ArgumentValueError,
            "base must be a finite number above 1; got 1.0 (float)",
        ),
    ],
)
@pytest.mark.parametrize("function", [project_query, project_key])
def test_refused_arguments(function, change, error, words):
    """Each wrong argument is refused with the shared words, also where there is nothing to do."""
    call = {
        "x": np.ones((3, 4)),
        "positions": np.arange(3),
        "weight": np.ones((2, 6, 4)),
        "interleaved": True,
    }
    function(**call)
    with pytest.raises(error) as raised:
        function(**(call | change))
    assert str(raised.value) == words


def test_value_refuses_a_weight_that_does_not_fit():
    """project_value has the checks of its own arguments."""
    with pytest.raises(ArgumentValueError, match=r"weight must be of shape \(H, D, 4\)"):
        project_value(np.ones((3, 4)), np.ones((2, 6, 5)))
    with pytest.raises(ArgumentTypeError, match=r"x must be a numpy\.ndarray"):
        project_value([[1.0]], np.ones((1, 1, 1)))
    with pytest.raises(ArgumentTypeError, match="n must be integers"):
        f_v(np.ones(2), 0.5, np.eye(2))


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("project", [project_query, project_key])
def test_a_part_of_the_projected_vector_rotates(project, interleaved):
    """With rotary_dim r the first r components of W x rotate with the frequencies of r (ROT-14)."""
    rng = np.random.default_rng(3)
    x, weight = rng.standard_normal((2, 3, 5)), rng.standard_normal((2, 8, 5))
    m = np.array([[4, -1, 7], [0, 2, 9]])
    found = project(x, m, weight, interleaved=interleaved, rotary_dim=4)
    plain = project_value(x, weight)
    rotated = apply_rotary(plain, m, interleaved=interleaved, rotary_dim=4)
    np.testing.assert_allclose(found, rotated, rtol=0, atol=1e-14)
    whole = project(x, m, weight, interleaved=interleaved)
    assert not np.allclose(found[..., :4], whole[..., :4])


def test_odd_heads_need_a_rotary_dim():
    """D = 5 has no pairs of its own, but rotary_dim = 4 has."""
    x, weight = np.ones((1, 2)), np.ones((1, 5, 2))
    assert project_query(x, [1], weight, interleaved=True, rotary_dim=4).shape == (1, 1, 5)
    with pytest.raises(ArgumentValueError, match="^head_dim must be an even integer"):
        project_query(x, [1], weight, interleaved=True)
    with pytest.raises(ArgumentValueError, match="^rotary_dim must be at most head_dim = 5"):
        project_query(x, [1], weight, interleaved=True, rotary_dim=6)

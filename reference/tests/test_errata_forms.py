"""The printed forms have the mistake of their erratum and no other."""

import inspect

import numpy as np
import pytest

from ropespec import reference
from ropespec.reference import published
from ropespec.reference.errata import PRINTED, code, printed, right, rotations, scores
from ropespec.reference.frequencies import inv_freq
from ropespec.reference.relative import relative_score
from ropespec.spec.errors import ArgumentValueError

RNG = np.random.default_rng(71)
M = np.array([[3, 0, -5, 17], [1, 2, 3, 4]])
X = RNG.normal(size=(2, 4, 3, 8))
CONVENTIONS = [
    {"interleaved": layout, "base": base, "rotary_dim": dim}
    for layout in (True, False)
    for base in (100.0, 10000.0)
    for dim in (None, 4)
]
NEAR = {"rtol": 0, "atol": 1e-13}


@pytest.mark.parametrize("conventions", CONVENTIONS)
def test_a_rotation_without_a_mistake_is_right(conventions):
    """What the forms of rotations share is R_m x, in both layouts, with a tail and without."""
    found = rotations._rotation("none")(X, M, **conventions)

    np.testing.assert_allclose(found, reference.apply_rotary(X, M, **conventions), **NEAR)


def test_a_table_a_matrix_and_a_projection_without_a_mistake_are_right():
    """The same of cos and sin, of R_m, of the complex form, and of f_q."""
    none = rotations._rotation("none")
    weight, x = RNG.normal(size=(3, 8, 5)), RNG.normal(size=(2, 4, 5))

    for one, other in zip(
        rotations._table("none")(M, 8, 100.0), reference.cos_sin(M, 8, 100.0), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for layout in (True, False):
        np.testing.assert_allclose(
            rotations._matrix(none)(M, 8, interleaved=layout),
            reference.rotation_matrix(M, 8, interleaved=layout),
            **NEAR,
        )
        np.testing.assert_allclose(
            rotations._projection(none)(x, M, weight, interleaved=layout),
            reference.project_query(x, M, weight, interleaved=layout),
            **NEAR,
        )
    np.testing.assert_allclose(
        rotations._interleaved(none)(X, M), reference.apply_rotary_complex(X, M), **NEAR
    )


@pytest.mark.parametrize("conventions", CONVENTIONS)
def test_a_score_without_a_mistake_is_right(conventions):
    """What the forms of scores share is q^T R k, in both layouts, with a tail and without."""
    q, k = X[..., 0, :], X[..., 1, :]
    right = relative_score(q, k, M, **conventions)
    by_angle = scores._rotated_by(lambda n_minus_m, theta: n_minus_m * theta)

    np.testing.assert_allclose(by_angle(q, k, M, **conventions), right, **NEAR)
    np.testing.assert_allclose(
        scores.complex_score(conjugate=True)(q, k, M, **conventions).real, right, **NEAR
    )
    np.testing.assert_allclose(  # R_{m-n} k and R_{n-m} q have one inner product each
        PRINTED["relative_score"]["E-21"](q, k, M, **conventions),
        relative_score(q, k, -M, **conventions),
        **NEAR,
    )


def test_an_attention_without_a_mistake_is_right():
    """What the forms of attention share is attention, with a mask and with shared heads."""
    q, k, v = RNG.normal(size=(2, 4, 6, 8)), X, X[..., ::-1]
    at = {"query_positions": M, "key_positions": M[:, ::-1], "interleaved": False, "base": 100.0}
    for mask in (None, np.tril(np.ones((4, 4), bool))):
        found = scores.attention_as_printed()(q, k, v, **at, mask=mask)
        right = reference.attention(q, k, v, **at, mask=mask)

        for one, other in zip(found, right, strict=True):
            np.testing.assert_allclose(one, other, **NEAR)


@pytest.mark.parametrize("layout", [True, False])
def test_the_forms_of_attention_rotate_what_they_say(layout):
    """Each is attention of arrays that are rotated, or are not, before (E-13, E-15, E-17, E-24)."""
    q, k, v = RNG.normal(size=(4, 6, 8)), X[0], X[1]
    m, n, zero = M[0], M[1], np.zeros(4, np.int64)

    def attend(q, k, v, m, n):
        at = {"query_positions": m, "key_positions": n}
        return reference.attention(q, k, v, **at, interleaved=layout)

    rotated = reference.apply_rotary
    expected = {
        "E-13": attend(q, k, v, zero, zero),
        "E-15": attend(q, k, v, zero, zero),
        "E-17": attend(q, rotated(k, n, interleaved=not layout), v, m, zero),
        "E-24": attend(q, k, v, m, zero),
        "E-38": attend(q, k, rotated(v, n, interleaved=layout), m, n),
        "E-66": attend(q, rotated(k, n, interleaved=not layout), v, m, zero),
    }
    for id_, right_one in expected.items():
        at = {"query_positions": m, "key_positions": n, "interleaved": layout}
        found = PRINTED["attention"][id_](q, k, v, **at)

        for one, other in zip(found, right_one, strict=True):
            np.testing.assert_allclose(one, other, **NEAR)


def test_code_without_a_mistake_is_right():
    """Where an erratum of the code does not bite its form is right."""
    q, k = RNG.normal(size=(2, 2, 3, 5, 8))
    table = published.precompute_freqs_cis(8, 4)
    z = X[..., ::2] + 1j * X[..., 1::2]

    np.testing.assert_allclose(
        code._cis("none")(8, 5), published.precompute_freqs_cis(8, 5), **NEAR
    )
    np.testing.assert_array_equal(code.rope_of_one_table(q, k), published.RoPE(q, k))
    np.testing.assert_array_equal(
        code.reshape_of_any_rank(table, z), published.reshape_for_broadcast(table, z)
    )
    for form, error in ((code.emb_of_any_rank, 1e-15), (code.emb_in_float32, 2e-6)):
        for one, other in zip(
            form(X, X, table), published.apply_rotary_emb(X, X, table), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=0, atol=error)
    np.testing.assert_allclose(
        code.positional_encoding(X[0], 16), published.PositionalEncoding(8, 0.0, 16)(X[0]), **NEAR
    )
    np.testing.assert_allclose(scores._decay(inv_freq)(M, 8), reference.decay_bound(M, 8), **NEAR)


@pytest.mark.parametrize(
    ("function", "id_"),
    [(function, id_) for function, forms in PRINTED.items() for id_ in forms],
)
def test_every_printed_form_has_the_signature_of_its_function(function, id_):
    """Parameters, kinds and defaults are those of the API, but for a device (P-45)."""
    found, right = (
        {name: (one.kind, one.default) for name, one in inspect.signature(f).parameters.items()}
        for f in (PRINTED[function][id_], getattr(reference, function))
    )
    passed_on = found.pop("conventions", None)

    assert found.items() <= right.items()
    assert passed_on or set(right) - set(found) <= {"device"}


def test_e05_a_number_times_a_matrix_times_a_column():
    """For every token and head (q^T k) R_{m-n} k, a vector where a number must be (E-05)."""
    q, k = X[..., :2, :], X[..., 1:, :]
    found = PRINTED["relative_score"]["E-05"](q, k, M[..., None], interleaved=False)

    assert found.shape == (2, 4, 2, 8)
    for place in np.ndindex(2, 4, 2):
        R = reference.rotation_matrix(-M[place[:2]], 8, interleaved=False)
        np.testing.assert_allclose(found[place], (q[place] @ k[place]) * (R @ k[place]), **NEAR)


def test_e55_the_halves_hold_the_right_numbers():
    """The form of the prose is the right table with its components permuted (E-55)."""
    right_rows = reference.sinusoidal_embedding(M, 8)
    table = reference.sinusoidal_position_embedding(2, 3, 4, 8, None)

    np.testing.assert_array_equal(
        rotations.sines_before_cosines(M, 8), reference.interleaved_to_half(right_rows)
    )
    np.testing.assert_array_equal(
        code._halves(2, 3, 4, 8, None), reference.interleaved_to_half(table)
    )


@pytest.mark.parametrize("dim", range(2, 9))
def test_e44_dimensions_are_even(dim):
    """Every d from 2 on is claimed, and every second one makes pairs (E-44)."""
    assert printed("E-44", d=dim)
    assert right("E-44", d=dim) == (dim % 2 == 0)
    assert not printed("E-44", d=1)
    assert not right("E-44", d=-dim)


@pytest.mark.parametrize(
    ("function", "id_"),
    [(function, id_) for function, forms in PRINTED.items() for id_ in forms if id_ != "E-61"],
)
def test_every_printed_form_differs_from_the_right_one(function, id_):
    """On arrays of several tokens the form with the signature of the API is not right (P-45)."""
    form, right = PRINTED[function][id_], getattr(reference, function)
    arguments, keywords = ARGUMENTS[function]
    wrong = outcome(form, arguments, keywords)
    same = [
        np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=0, atol=1e-9)
        for one, other in zip(wrong, outcome(right, arguments, keywords), strict=True)
    ]

    assert not all(same)


def test_e61_what_must_be_refused_is_accepted():
    """Three axes come out as four, where the reference refuses them (E-61; P-38)."""
    x, z, table = X[0], Z[0], published.precompute_freqs_cis(8, 3)

    assert PRINTED["reshape_for_broadcast"]["E-61"](table, z).shape == (1, 3, 4)
    assert PRINTED["apply_rotary_emb"]["E-61"](x, x, table)[0].shape == (4, 3, 4, 2)
    with pytest.raises(ArgumentValueError, match="four axes"):
        published.reshape_for_broadcast(table, z)
    with pytest.raises(ArgumentValueError, match="four axes"):
        published.apply_rotary_emb(x, x, table)


def outcome(function, arguments, keywords):
    """Return what a function gives, as a tuple of arrays."""
    found = function(*arguments, **keywords)
    return found if isinstance(found, tuple) else (found,)


MASK = np.tril(np.ones((4, 4), bool))
Z = X[..., ::2] + 1j * X[..., 1::2]
WEIGHT, WORDS = RNG.normal(size=(3, 8, 5)), RNG.normal(size=(2, 4, 5))
LAYOUT = {"interleaved": True}
HEADS = RNG.normal(size=(2, 3, 4, 8))
CIS = published.precompute_freqs_cis(8, 4)
ARGUMENTS = {
    "inv_freq": ((8,), {}),
    "angles": ((M, inv_freq(8)), {}),
    "cos_sin": ((M, 8), {}),
    "sinusoidal_embedding": ((M, 8), {}),
    "to_complex": ((X,), {}),
    "rotation_matrix": ((M, 8), LAYOUT),
    "apply_rotary_dense": ((X, M), LAYOUT),
    "apply_rotary": ((X, M), LAYOUT),
    "apply_rotary_cos_sin": ((X, *reference.cos_sin(M, 8)), LAYOUT),
    "apply_rotary_complex": ((X, M), {}),
    "project_query": ((WORDS, M, WEIGHT), LAYOUT),
    "project_key": ((WORDS, M, WEIGHT), LAYOUT),
    "relative_score": ((X[..., 0, :], X[..., 1, :], M), LAYOUT),
    "attention": (
        (X, X[::-1], X),
        {**LAYOUT, "query_positions": M, "key_positions": M[::-1], "mask": MASK},
    ),
    "decay_bound": ((M, 8), {}),
    "sinusoidal_position_embedding": ((2, 3, 4, 8, None), {}),
    "RoPE": ((HEADS, HEADS[:, :1]), {}),
    "precompute_freqs_cis": ((8, 4), {}),
    "reshape_for_broadcast": ((CIS, Z), {}),
    "apply_rotary_emb": ((X, X, CIS), {}),
}

"""Errata that numbers tell apart: the printed form against the right one (P-45)."""

import numpy as np
import pytest

from ropespec.reference import errata
from ropespec.reference.attention import attention
from ropespec.reference.complex_plane import conjugate, euler
from ropespec.reference.frequencies import (
    duplicate_interleaved,
    inv_freq,
    pow_via_exp,
)
from ropespec.reference.projection import project_key
from ropespec.reference.published import (
    quarter_turn,
)
from ropespec.reference.relative import relative_score
from ropespec.reference.rotation import apply_rotary, rotation_matrix
from ropespec.reference.sinusoidal import sinusoidal_embedding

SIX = 6e-7  # the numbers of the chapter have six decimals
C1, S1 = 0.540302, 0.841471  # cos 1 and sin 1
E0, E1 = np.array([1.0, 0.0]), np.array([0.0, 1.0])
ONE = inv_freq(2)  # theta = 1
X4 = np.array([1.0, 2.0, 3.0, 4.0])
RAMP = np.arange(1.0, 9.0) / 10


def turn(x, m, *, interleaved=True, base=10000.0):
    """R_m x for one vector."""
    return apply_rotary(x[None, None], np.array([m]), interleaved=interleaved, base=base)[0, 0]


def score(q, k, m, n):
    """q^T R_{n-m} k, interleaved."""
    return float(relative_score(q, k, np.array(n - m), interleaved=True))


def weights_of(logits, mask):
    """Return the attention weights of one query whose scaled scores are `logits`."""
    q = np.array([[[np.sqrt(2.0), 0.0]]])
    k = np.array([[[x, 0.0]] for x in logits])
    at = np.zeros(len(k), dtype=int)
    _, weights = attention(
        q,
        k,
        k,
        query_positions=at[:1],
        key_positions=at,
        interleaved=True,
        mask=np.array(mask, bool)[None, None],
    )
    return weights[0, 0]


def same(a, b):
    """Return whether two results have one shape and agree to the printed digits."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=SIX, atol=SIX))


LOGITS, MASK = np.array([1.0, 2.0, 3.0]), np.array([True, True, False])
Q_ROWS = np.array([[1.0, 0.0], [1.0, 0.0]])
Q4, K4 = X4, X4[::-1].copy()
BOTH = [(1, 0), (2, 1)]

# name: (printed form, its numbers, right form, its numbers)
NUMBERS = {
    "e01_theta_is_no_matrix": (
        lambda: rotation_matrix([1], 4, interleaved=True).shape[1:], (4, 4),
        lambda: inv_freq(4), (1.0, 0.01),
    ),
    "e02_one_angle_for_all_pairs": (
        lambda: errata.printed_scalar_theta_rotation(np.array([1.0, 0, 1, 0]), 1, 1.0),
        (C1, S1, C1, S1),
        lambda: turn(np.array([1.0, 0, 1, 0]), 1), (C1, S1, 0.999950, 0.010000),
    ),
    "e03_key_called_q": (
        lambda: errata.printed_key(E1, 0, np.eye(2), 1.0), (0, 1),
        lambda: project_key(E1[None], [0], 2 * np.eye(2)[None], interleaved=True)[0, 0], (0, 2),
    ),
    "e04_sign_of_r": (
        lambda: errata.printed_g_matrix(E0, E1, 1, 0, ONE), -S1, lambda: score(E0, E1, 1, 0), S1,
    ),
    "e04_sign_of_r_in_four_dimensions": (
        lambda: errata.printed_g_matrix(Q4, K4, 3, 1, inv_freq(4)), 10.483012,
        lambda: score(Q4, K4, 3, 1), 1.190051,
    ),
    "e05_vector_instead_of_number_key": (
        lambda: errata.printed_equation_3(E0, E1, E1, 1.0), (0, 0),
        lambda: score(E0, E1, 1, 0), S1,
    ),
    "e05_vector_instead_of_number_query": (
        lambda: errata.printed_equation_3(E0, E0, E1, 1.0), (-S1, C1),
        lambda: score(E0, E1, 1, 0), S1,
    ),
    "e06_no_conjugate": (
        lambda: [errata.printed_complex_score(1, 1j, m, n, 1.0) for m, n in BOTH],
        (-S1 + C1 * 1j, -0.141120 - 0.989992j),
        lambda: [score(E0, E1, m, n) for m, n in BOTH], (S1, S1),
    ),
    "e07_euler": (
        lambda: errata.printed_euler(1, 1.0)[0], 1.080605, lambda: euler(1.0), C1 + S1 * 1j,
    ),
    "e09_product_instead_of_sum": (
        lambda: errata.printed_product_of_terms(X4[:2], 1, ONE), (-0.909297, 0.909297),
        lambda: turn(X4[:2], 1), (-1.142640, 1.922076),
    ),
    "e10_doubled_means_listed_twice": (
        lambda: errata.printed_doubled_angles(inv_freq(4)), (2, 0.02),
        lambda: duplicate_interleaved(inv_freq(4)), (1, 1, 0.01, 0.01),
    ),
    "e10_doubled_angle_turns_twice_as_far": (
        lambda: np.concatenate([f(errata.printed_doubled_angles(ONE)) for f in (np.cos, np.sin)]),
        (-0.416147, 0.909297),
        lambda: turn(E0, 1), (C1, S1),
    ),
    "e13_label_n_over_entries_m": (
        lambda: errata.printed_labelled_matrix(0, 1, ONE), ((C1, -S1), (S1, C1)),
        lambda: rotation_matrix([0], 2, interleaved=True)[0], ((1, 0), (0, 1)),
    ),
    "e14_one_position_for_all_rows": (
        lambda: errata.printed_rows(Q_ROWS, 1, ONE), ((C1, S1), (C1, S1)),
        lambda: apply_rotary(Q_ROWS[:, None], [0, 1], interleaved=True)[:, 0], ((1, 0), (C1, S1)),
    ),
    "e15_query_position_for_keys": (
        lambda: errata.printed_rows(E0[None], 1, ONE)[0], (C1, S1), lambda: turn(E0, 0), (1, 0),
    ),
    "e17_one_name_for_two_layouts": (
        lambda: turn(X4, 1, interleaved=False), (-1.984111, 1.959901, 2.462378, 4.019800),
        lambda: turn(X4, 1), (-1.142640, 1.922076, 2.959851, 4.029800),
    ),
    "e18_position_is_an_argument": (
        lambda: turn(E0, 0), (1, 0), lambda: turn(E0, 1), (C1, S1),
    ),
    "e20_matrix_equated_with_vector": (
        lambda: rotation_matrix([1], 4, interleaved=True)[0].shape, (4, 4),
        lambda: errata.printed_sparse_matrix(X4, 1, inv_freq(4)),
        (-1.142640, 1.922076, 2.959851, 4.029800),
    ),
    "e21_query_turned_by_n_minus_m": (
        lambda: errata.printed_query_turn(E0, E1, 1, 0, ONE), -S1,
        lambda: (turn(E0, 1 - 0) @ E1, E0 @ turn(E1, 0 - 1)), (S1, S1),
    ),
    "e22_exponential_with_complex_numbers": (
        lambda: errata.printed_g_exponential(1j, 1, 1, 0, 1.0), S1 + C1 * 1j,
        lambda: score(E1, E0, 1, 0), -S1,
    ),
    "e23_range_of_i": (
        lambda: 10000.0 ** (-2.0 * np.arange(2) / 2), (1, 1e-4), lambda: inv_freq(2), (1,),
    ),
    "e24_query_only": (
        lambda: errata.printed_query_only_score(E0, E1, 2, 1, ONE), 0.909297,
        lambda: turn(E0, 2) @ turn(E1, 1), S1,
    ),
    "e26_first_and_last_frequency": (
        lambda: errata.printed_theta_from_one(128)[[0, -1]], (0.865964, 1e-4),
        lambda: inv_freq(128)[[0, -1]], (1, 1.154782e-4),
    ),
    "e26_score": (
        lambda: E0 @ errata.block_rotation(-errata.printed_theta_from_one(2)) @ E1,
        9.9999999833e-05, lambda: score(E0, E1, 1, 0), S1,
    ),
    "e27_turn_by_theta": (
        lambda: errata.printed_rotation_by_theta(2, 1.0)[:, 0], (C1, S1),
        lambda: turn(E0, 2), (-0.416147, 0.909297),
    ),
    "e28_theta_twice": (
        lambda: errata.block_rotation(np.array([errata.printed_block_angle(3, 1, 0.1)]))[:, 0],
        (0.999800, -0.019999),
        lambda: turn(np.array([0.0, 0, 1, 0]), 1 - 3, base=100.0)[2:], (0.980067, -0.198669),
    ),
    "e30_stars_on_the_line": (
        lambda: errata.printed_conjugate_of_product(1 + 2j, 3 - 1j), 5 + 5j,
        lambda: conjugate(1 + 2j) * conjugate(3 - 1j), 5 - 5j,
    ),
    "e31_signed_offset": (
        lambda: errata.printed_distance_score(E0, E1, 0, 1, ONE), S1,
        lambda: score(E0, E1, 0, 1), -S1,
    ),
    "e37_log_means_ln": (
        lambda: errata.printed_power_by_log10(10000.0, -0.5), 0.135335,
        lambda: pow_via_exp(10000.0, -0.5), 0.01,
    ),
    "e40_first_matrix_form_of_g": (
        lambda: errata.printed_g_matrix(E0, E1, 1, 0, ONE), -S1,
        lambda: turn(E0, 1) @ turn(E1, 0), S1,
    ),
    "e41_struck_through_form_of_g": (
        lambda: errata.printed_g_matrix(E0, E1, 1, 0, ONE), -S1,
        lambda: E0 @ rotation_matrix([0 - 1], 2, interleaved=True)[0] @ E1, S1,
    ),
    "e42_plus_sign_lost": (
        lambda: errata.printed_bracket_product(1, 2, 3, 4), 24, lambda: X4[:2] @ X4[2:], 11,
    ),
    "e43_brackets": (
        lambda: errata.printed_parentheses(1, 0, 0.5), (0.270151, 0.420735),
        lambda: (np.cos((1 - 0) * 0.5), -np.sin((0 - 1) * 0.5)), (0.877583, 0.479426),
    ),
    "e45_indices_of_the_matrix": (
        lambda: errata.printed_theta_at_matrix_indices(4), (100, 1),
        lambda: inv_freq(4), (1, 0.01),
    ),
    "e45_score": (
        lambda: E0 @ errata.block_rotation(-errata.printed_theta_at_matrix_indices(2)) @ E1,
        -0.305614,
        lambda: score(E0, E1, 1, 0), S1,
    ),
    "e46_row_times_matrix": (
        lambda: errata.printed_row_times_matrix(E0, 1.0), (C1, -S1),
        lambda: E0 @ rotation_matrix([1], 2, interleaved=True)[0].T, (C1, S1),
    ),
    "e47_real_part_missing": (
        lambda: errata.printed_inner_product(1 + 2j, 3 + 4j), 11 + 2j,
        lambda: np.dot([1, 2], [3, 4]), 11,
    ),
    "e48_products_not_the_same": (
        lambda: errata.printed_inner_product(1 + 2j, 3 + 4j), 11 + 2j,
        lambda: errata.printed_inner_product(1 + 2j, 3 + 4j).real, 11,
    ),
    "e49_g_complex": (
        lambda: errata.printed_g_complex(1, 1j, 1, 0, 1.0), S1 - C1 * 1j,
        lambda: score(E0, E1, 1, 0), S1,
    ),
    "e51_start_of_the_progression": (
        lambda: errata.printed_phase_progression(1, 0, 1.0, 0.7), 0.764842 + 0.644218j,
        lambda: errata.printed_phase_progression(1, 0, 1.0, 0.0), 1,
    ),
    "e56_q2_from_the_table": (
        lambda: errata.printed_q2_from_table(sinusoidal_embedding([0], 8))[0],
        (-1, 0, -1, 0, -1, 0, -1, 0),
        lambda: quarter_turn(RAMP), (-0.2, 0.1, -0.4, 0.3, -0.6, 0.5, -0.8, 0.7),
    ),
    "e58_fill_value": (
        lambda: errata.printed_mask_fill(LOGITS, MASK), (0.244728, 0.665241, 0.090031),
        lambda: weights_of(LOGITS, MASK), (0.268941, 0.731059, 0),
    ),
    "e59_scores_overwritten": (
        lambda: errata.printed_overwritten_scores(LOGITS, MASK), (0.090031, 0.244728, 0.665241),
        lambda: weights_of(LOGITS, MASK), (0.268941, 0.731059, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers(case):
    """The printed form gives its numbers, the right form gives its own, and they differ (P-45)."""
    printed, printed_numbers, right, right_numbers = case

    assert same(printed(), printed_numbers)
    assert same(right(), right_numbers)
    assert not same(printed(), right())

"""Every erratum: the printed form against the right one, on the data stated in the chapter.

What numbers alone can tell apart stands as a table in `test_errata_numbers.py`.
"""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from ropespec.reference import errata
from ropespec.reference.attention import attention
from ropespec.reference.decay import decay_bound
from ropespec.reference.frequencies import (
    cos_sin,
    div_term,
    even_indices,
    inv_freq,
)
from ropespec.reference.projection import project_key, project_query, project_value
from ropespec.reference.published import (
    RoPE,
    apply_rotary_emb,
    cos_sin_cached,
    precompute_freqs_cis,
    quarter_turn,
    reshape_for_broadcast,
    sinusoidal_position_embedding,
    split_pos_emb,
)
from ropespec.reference.relative import relative_score
from ropespec.reference.rotation import apply_rotary, interleaved_to_half, rotation_matrix
from ropespec.reference.sinusoidal import dimension_table, sinusoidal_embedding
from ropespec.spec.clauses import chapter_text
from ropespec.spec.errors import ArgumentValueError

SIX = 6e-7  # the numbers of the chapter have six decimals
C1, S1 = 0.540302, 0.841471  # cos 1 and sin 1
E0 = np.array([1.0, 0.0])
ONE = inv_freq(2)  # theta = 1
X4 = np.array([1.0, 2.0, 3.0, 4.0])
RAMP = np.arange(1.0, 9.0) / 10


def turn(x, m, *, interleaved=True, base=10000.0):
    """R_m x for one vector."""
    return apply_rotary(x[None, None], np.array([m]), interleaved=interleaved, base=base)[0, 0]


def score(q, k, m, n):
    """q^T R_{n-m} k, interleaved."""
    return float(relative_score(q, k, np.array(n - m), interleaved=True))


def same(a, b):
    """Return whether two results have one shape and agree to the printed digits."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=SIX, atol=SIX))


def sources():
    """Read the source of the two files with the tests of the errata."""
    here = Path(__file__).parent
    names = ("test_errata_numbers.py", "test_errata_reference.py")
    return "".join((here / name).read_text(encoding="utf-8") for name in names)


def test_every_erratum_has_a_section_and_a_test():
    """Each of E-01 to E-67 stands in the chapter and has a test whose name has its number."""
    tested = set(re.findall(r'(?:def test_|^    ")e(\d\d)_', sources(), re.MULTILINE))
    sections = re.findall(r"^### (E-\d\d) \S", chapter_text("errata"), re.MULTILINE)

    assert sections == [f"E-{i:02d}" for i in range(1, 68)]
    assert {f"{i:02d}" for i in range(1, 68)} - tested == set()


def test_every_printed_form_is_used_here():
    """No printed form goes without a test that shows it is wrong."""
    used = set(re.findall(r"errata\.(\w+)", sources()))

    assert set(errata.__all__) - used == {"softmax"}


def test_every_printed_form_names_its_erratum():
    """The docstring of a printed form carries the id of its erratum."""
    for name in errata.__all__:
        if name.startswith("printed_"):
            assert re.search(r"\bE-\d\d\b", getattr(errata, name).__doc__), name


def output_at(shift, *, rotate_v):
    """Attention of three fixed rows whose positions are shifted."""
    q, k, v = np.random.default_rng(8).normal(size=(3, 3, 4))
    positions = np.arange(3) + shift
    if rotate_v:
        return errata.printed_attention_rotating_v(q, k, v, positions, inv_freq(4))
    q, k, v = (x[:, None] for x in (q, k, v))
    return attention(q, k, v, query_positions=positions, key_positions=positions, interleaved=True)[
        0
    ][:, 0]


def test_e08_v_is_not_rotated():
    """A shift of all positions changes the output only if V is rotated."""
    right = np.abs(output_at(7, rotate_v=False) - output_at(0, rotate_v=False)).max()
    printed = np.abs(output_at(7, rotate_v=True) - output_at(0, rotate_v=True)).max()

    assert right < 1e-14
    assert printed > 0.1


def test_e11_cache_has_the_wrong_rank():
    """The lines fail on the angle table, and give five axes on a table of three."""
    with pytest.raises(IndexError, match="too many indices"):
        errata.printed_cos_sin_cached(np.zeros((4, 3)))
    printed, _ = errata.printed_cos_sin_cached(np.zeros((1, 4, 3)))
    right, _ = cos_sin_cached(range(4), 6)

    assert printed.shape == (1, 1, 1, 4, 3)
    with pytest.raises(ValueError, match="not be broadcast"):
        np.broadcast_shapes(printed.shape, (4, 2, 5, 6))
    assert np.broadcast_shapes(right.shape, (4, 2, 5, 6)) == (4, 2, 5, 6)


def test_e12_dangling_float():
    """The line with its tail is a pair of the right frequencies and zero."""
    theta, tail = errata.printed_theta_line(8)

    np.testing.assert_allclose(theta, inv_freq(8), rtol=1e-15)
    assert tail == 0.0


def test_e16_dots_between_the_halves():
    """Read literally the half-split matrix is one too large; right has -sin at column d/2."""
    right = rotation_matrix([1], 4, interleaved=False)[0]

    assert errata.printed_half_split_matrix(1, inv_freq(4)).shape == (5, 5)
    assert right.shape == (4, 4)
    assert same(right[0], (C1, 0, -S1, 0))
    assert same(right[3], (0, 0.01, 0, 0.99995))


def mixed(m, n):
    """Score of one pair of vectors with two layouts."""
    q, k = np.random.default_rng(17).normal(size=(2, 8))
    return errata.printed_layout_mix(q, k, m, n, inv_freq(8))


def test_e17_mixed_layouts_are_not_shift_invariant():
    """With q interleaved and k half-split the score depends on m and n, not on their difference."""
    assert abs(mixed(5, 2) - mixed(6, 3)) > 0.1


def test_e19_last_block_of_r():
    """The printed matrix is singular, and its columns have other lengths than 1."""
    printed = errata.printed_matrix_002(1, inv_freq(4))
    right = rotation_matrix([1], 4, interleaved=True)[0]

    assert same((np.linalg.det(printed), np.linalg.det(right)), (0, 1))
    assert np.linalg.matrix_rank(printed) == 3
    assert same(np.abs(printed.T @ printed - np.eye(4)).max(), 0.999800)
    assert same(printed[:, 3], (0, 0, 0.999950, 0.999950))
    assert same(right[:, 3], (0, 0, -0.01, 0.999950))


def test_e25_farther_is_not_smaller():
    """At distance 6 the score is larger than at 3, and the curve of bounds rises from 18 to 19."""
    assert same([score(E0, E0, m, 0) for m in (3, 6)], (-0.989992, 0.960170))
    bound = decay_bound(np.array([18, 19]), 128)

    assert bound[1] > bound[0]


def test_e29_expected_inner_product():
    """It is 0 for independent vectors of mean zero, and the trace of R for equal ones."""
    trace = np.trace(rotation_matrix(np.arange(7), 8, interleaved=True), axis1=1, axis2=2)
    q, k = np.random.default_rng(29).normal(size=(2, 8))
    mean = [(score(q, k, m, 0) + score(-q, k, m, 0)) / 2 for m in (0, 10, 100)]

    np.testing.assert_allclose(
        trace, [8, 7.0705, 5.1274, 3.9298, 4.5332, 6.3200, 7.5674], rtol=0, atol=6e-5
    )
    assert trace[6] > trace[5] > trace[4] > trace[3]
    assert mean == [0.0, 0.0, 0.0]


def test_e32_one_pair_too_many():
    """The last printed index addresses components that are not there."""
    printed = errata.printed_pair_indices(512)
    right = {row.i for row in dimension_table(512)}

    assert (len(printed), len(right)) == (257, 256)
    assert 2 * printed[-1] == 512
    assert 2 * max(right) + 1 == 511


def test_e33_columns_restored():
    """The printed table has one column; the right one gives pair and function of a component."""
    assert {len(row) for row in errata.printed_table()} == {1}
    table = dimension_table(512)

    assert [table[j].i for j in (0, 1, 2, 3, 4, 5, 510, 511)] == [0, 0, 1, 1, 2, 2, 255, 255]
    assert [table[j].function for j in (510, 511)] == ["sin", "cos"]


@pytest.mark.parametrize(
    ("dim", "least"), [(2, 1.0), (8, 1e-3), (512, 1.0366329e-4), (4096, 1.0045074e-4)]
)
def test_e34_nothing_overflows(dim, least):
    """The direct power stays within (1/base, 1] and within the normal numbers of float16."""
    for dtype in (np.float64, np.float32, np.float16):
        # the rounded exponent, at most 1, counts ln 10000 = 9.2 times
        low, high = errata.direct_power_range(dim, dtype=np.dtype(dtype).name)

        assert low == pytest.approx(least, rel=6 * float(np.finfo(dtype).eps) + 1e-7)
        assert low > np.finfo(np.float16).tiny
        assert high == 1.0


def test_e34_exp_log_is_not_more_accurate():
    """In float32 the form by exp and log is farther from the right frequencies."""
    exact = inv_freq(4096)
    steps = np.arange(0, 4096, 2, dtype=np.float32)
    power = np.power(np.float32(10000), -steps / np.float32(4096))
    by_exp = np.exp(steps * np.float32(-np.log(10000.0) / 4096))

    assert np.abs(by_exp / exact - 1).max() > np.abs(power / exact - 1).max()


def test_e35_speed_is_all_that_differs():
    """The form by exp and log gives the numbers of the power, so it is no part of the encoding."""
    np.testing.assert_allclose(div_term(4096), inv_freq(4096), rtol=1e-14)


def test_e36_last_term():
    """The steps of 2 end at d - 2; the printed last term is not reached."""
    first, last, step = errata.printed_progression(8)

    assert even_indices(8).tolist() == [0, 2, 4, 6]
    assert last == 7
    assert (last - first) % step != 0


def test_e38_value_has_no_position_and_query_is_like_key():
    """f_v is W x alone, and f_q is f_k with the other weight; rotating v breaks E-08."""
    x, W = np.array([[3.0, 4.0]]), np.array([[[1.0, 2.0], [0.0, 1.0]]])
    right = project_value(x, W)[0, 0]
    by_query, by_key = (f(x, [1], W, interleaved=True)[0, 0] for f in (project_query, project_key))

    assert right.tolist() == [11.0, 4.0]
    np.testing.assert_array_equal(by_query, by_key)
    assert not same(right, by_query)


def test_e39_stray_bracket():
    """The printed entries have a bracket without partner; without it they are the rotation."""
    printed = r"\cos m \theta & -\sin m \theta) \\ \sin m \theta & \cos m \theta"
    right = printed.replace(")", "")
    (cos,), (sin,) = cos_sin(1, 2)

    assert printed.count("(") != printed.count(")")
    assert right.count("(") == right.count(")")
    assert rotation_matrix(1, 2, interleaved=True).tolist() == [[cos, -sin], [sin, cos]]


def test_e44_odd_dimension():
    """Three components have no pairs."""
    with pytest.raises(ValueError, match="cannot reshape array of size 3"):
        np.zeros(3).reshape(-1, 2)
    with pytest.raises(ArgumentValueError, match=r"^dim must be an even integer of at least 2"):
        inv_freq(3)


def test_e50_moduli():
    """With its subscripts equation 1 reads |f(q,m)| |f(k,n)| = |q| |k|; R f would be a vector."""
    q, k = X4[:2], X4[2:]
    moduli = np.linalg.norm(turn(q, 5)) * np.linalg.norm(turn(k, 3))
    printed = errata.block_rotation(ONE) @ turn(q, 5)

    assert same(moduli, np.linalg.norm(q) * np.linalg.norm(k))
    assert printed.shape != np.shape(moduli)


def test_e51_whole_turns_do_not_matter():
    """Turning by theta or theta + 2 pi is the same at integer positions; starting at 0.7 is not."""
    f = errata.printed_phase_progression
    for m in range(50):
        assert abs(f(1, m, 1.0, 0.0) - f(1, m, 1.0 + 2 * np.pi, 0.0)) < 1e-13
        assert abs(f(1, m, 1.0, 0.0) - f(1, m, 1.0, 0.7)) > 0.1


def test_e52_every_entry_twice():
    """Ids, theta and embeddings have twice the entries, and stacking no longer reshapes."""
    embeddings = errata.printed_embeddings(3, 512)
    stacked = np.stack([np.sin(embeddings), np.cos(embeddings)], axis=-1)

    assert errata.printed_ids(512)[:4].tolist() == [0, 0, 1, 1]
    assert (len(errata.printed_ids(512)), len(errata.printed_theta_list(512))) == (512, 512)
    assert len(inv_freq(512)) == 256
    with pytest.raises(ValueError, match=r"size 3072 into shape \(1,1,3,512\)"):
        stacked.reshape(1, 1, 3, 512)
    np.testing.assert_allclose(errata.printed_theta_list(512)[::2], inv_freq(512), rtol=1e-14)


def test_e53_rows_not_elements():
    """Three elements are angles of position 0; the three rows belong to positions 0, 1 and 2."""
    table = np.multiply.outer(np.arange(5), inv_freq(512))

    assert errata.printed_first_three_elements(table).tolist() == [0, 0, 0]
    assert table[:3].shape == (3, 256)
    assert table[:3, 0].tolist() == [0, 1, 2]


def test_e54_comma():
    """Split at its commas, the printed row has an empty item; right are five."""
    row = errata.printed_cosine_row()

    assert len(row) == 6
    assert len([item for item in row if item]) == 5


def test_e55_table_of_the_example():
    """As the code reads it, the printed table is off the unit circle and changes position 0."""
    sin_pos, cos_pos = (x[0, 0] for x in split_pos_emb(errata.printed_pos_emb()))
    printed = RAMP * cos_pos[0] + quarter_turn(RAMP) * sin_pos[0]
    right = sinusoidal_position_embedding(1, 1, 3, 8)[0, 0]

    np.testing.assert_allclose(
        (sin_pos**2 + cos_pos**2)[0, ::2], [0.7081, 0.8467, 1.2919, 1.1532], rtol=0, atol=6e-5
    )
    np.testing.assert_allclose(
        printed,
        [0.0842, 0.1683, -0.3214, 0.3292, -0.3298, 0.8242, -0.3601, -1.0833],
        rtol=0,
        atol=6e-5,
    )
    np.testing.assert_allclose(
        [np.linalg.norm(printed), np.linalg.norm(RAMP)], [1.5292, 1.4283], rtol=0, atol=6e-5
    )
    np.testing.assert_array_equal(turn(RAMP, 0), RAMP)
    assert not np.allclose(errata.printed_pos_emb()[0, 0], right, rtol=0, atol=6e-5)


def test_e57_inputs_recovered():
    """The q and k that were not printed give the numbers that were; k2 breaks off."""
    k2 = [float(x) for x in re.findall(r"-?\d\.\d+", errata.printed_k2())]
    q = np.arange(1, 25).reshape(1, 1, 3, 8) / 10

    np.testing.assert_array_equal(quarter_turn(q), errata.printed_q2())
    np.testing.assert_allclose(quarter_turn(0.05 + 0.1 * np.arange(8)), k2, rtol=0, atol=1e-15)
    with pytest.raises(SyntaxError):
        ast.parse(errata.printed_k2())


def test_e59_mask_has_no_effect():
    """The whole printed function gives the same weights with a causal mask and without."""
    q, k, v = np.random.default_rng(59).normal(size=(3, 1, 2, 5, 8))
    causal = np.tril(np.ones((5, 5), bool))
    without, with_mask = (errata.printed_attention(q, k, v, mask)[1] for mask in (None, causal))

    np.testing.assert_array_equal(without, with_mask)
    assert with_mask[0, 0, 0, 4] > 0.0


@pytest.mark.parametrize("shape", [(1, 2, 5, 8), (1, 1, 3, 8)])
def test_e60_one_table_for_q_and_k(shape):
    """A key of another length or number of heads fails as printed, and is right corrected."""
    q, k = np.ones((1, 2, 3, 8)), np.ones(shape)
    if shape[2] != 3:
        with pytest.raises(ValueError, match="broadcast"):
            errata.printed_rope(q, k)
    else:
        assert errata.printed_rope(q, k)[1].shape != k.shape

    assert RoPE(q, k)[1].shape == k.shape


def test_e61_four_axes_only():
    """Rank 3 and 5 come out in another shape, rank 2 fails; corrected, all are refused."""
    assert errata.printed_apply_rotary_emb(np.ones((2, 10, 32))).shape == (2, 10, 16, 2)
    assert errata.printed_apply_rotary_emb(np.ones((2, 10, 3, 4, 32))).shape == (2, 10, 3, 128)
    F, x = np.ones((4, 4), np.complex64), np.ones((3, 4), np.complex64)
    with pytest.raises(ValueError, match="cannot reshape"):
        errata.printed_reshape_for_broadcast(F, x)
    with pytest.raises(AssertionError):
        errata.printed_reshape_for_broadcast(F, np.ones((1, 3, 2, 4), np.complex64))
    with pytest.raises(ArgumentValueError, match=r"^x must be an array of four axes"):
        reshape_for_broadcast(F, x)


def test_e62_always_float32():
    """float64 input loses its precision as printed, and keeps it corrected."""
    x = np.random.default_rng(62).normal(size=(1, 10, 1, 32))
    right, _ = apply_rotary_emb(x, x, precompute_freqs_cis(32, 10))
    printed = errata.printed_apply_rotary_emb(x)
    dense = np.einsum("sij,bshj->bshi", rotation_matrix(range(10), 32, interleaved=True), x)

    assert printed.dtype == right.dtype == np.float64
    assert 1e-8 < np.abs(printed - dense).max() < 1e-6
    assert np.abs(right - dense).max() < 4e-15


def test_e63_line_breaks():
    """As printed the code does not parse; with its line breaks it does."""
    lines = [
        "import torch",
        "import torch.nn as nn",
        "import torch.nn.functional as F",
        "import math",
        "def RoPE(q, k):",
        "    batch_size = q.shape[0]",
    ]

    assert "".join(lines) == errata.printed_code_line()
    assert len(ast.parse("\n".join(lines)).body) == 5
    with pytest.raises(SyntaxError):
        ast.parse(errata.printed_code_line())


def test_e64_limits_of_positional_encoding():
    """Odd d and sequences beyond max_len fail in NumPy's words; even d within it is right."""
    f = errata.printed_positional_encoding
    with pytest.raises(ValueError, match=r"shape \(16,4\) into shape \(16,3\)"):
        f(np.zeros((1, 5, 7)), 16)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.zeros((1, 17, 8)), 16)
    right = sinusoidal_embedding(range(5), 8)

    np.testing.assert_allclose(f(np.zeros((1, 5, 8)), 16)[0], right, rtol=0, atol=1e-15)
    with pytest.raises(ArgumentValueError, match=r"^dim must be an even integer"):
        sinusoidal_embedding(range(5), 7)


def test_e65_nothing_is_added():
    """Adding PE_0 changes a vector at position 0; RoPE does not."""
    added = errata.printed_added_position(RAMP, sinusoidal_embedding(0, 8))

    np.testing.assert_array_equal(added - RAMP, added - turn(RAMP, 0))
    assert not same(added, RAMP)


def test_e66_two_layouts_one_name():
    """The layouts differ on one vector and agree after the permutation of its components."""
    assert not same(turn(X4, 1), turn(X4, 1, interleaved=False))
    assert same(
        interleaved_to_half(turn(X4, 1)), turn(interleaved_to_half(X4), 1, interleaved=False)
    )


def test_e67_absent_examples():
    """The numbers that were announced: three encodings, and i times 1 and i."""
    table = sinusoidal_embedding(range(3), 512)

    assert table[0, :4].tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(
        table[1, :6],
        [0.84147098, 0.54030231, 0.82185619, 0.56969501, 0.80196180, 0.59737533],
        rtol=0,
        atol=6e-9,
    )
    np.testing.assert_allclose(
        table[2, :6],
        [0.90929743, -0.41614684, 0.93641474, -0.35089519, 0.95814438, -0.28628544],
        rtol=0,
        atol=6e-9,
    )

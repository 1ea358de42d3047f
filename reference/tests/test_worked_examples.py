"""The worked examples of document 004, number by number (PUB-7; F-206 to F-218)."""

import re

import numpy as np
import pytest

from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.published import (
    RoPE,
    attention,
    quarter_turn,
    sinusoidal_position_embedding,
    split_pos_emb,
)
from ropespec.reference.sinusoidal import dimension_table, sinusoidal_embedding
from ropespec.spec.errata import errata

EIGHT = 6e-9  # half a unit of the eighth decimal, and a little
SIX = 6e-7
FOUR = 6e-5
THETA = inv_freq(512)
ANGLES = angles(np.arange(3), THETA)
Q = np.arange(1, 25).reshape(1, 1, 3, 8) / 10
K = 0.05 + 0.1 * np.arange(8).reshape(1, 1, 1, 8)


def close(found, expected, digits):
    """Compare with numbers printed to a fixed number of decimals."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=digits)


@pytest.mark.parametrize(
    ("j", "i", "function"),
    [
        (0, 0, "sin"),
        (1, 0, "cos"),
        (2, 1, "sin"),
        (3, 1, "cos"),
        (4, 2, "sin"),
        (5, 2, "cos"),
        (510, 255, "sin"),
        (511, 255, "cos"),
    ],
)
def test_f206_components(j, i, function):
    """Component j belongs to pair j // 2, sine at 2i and cosine at 2i + 1."""
    row = dimension_table(512)[j]

    assert (row.j, row.i, row.function) == (j, i, function)
    assert j == 2 * i + (function == "cos")


def test_f207_ids():
    """There are 256 ids, each once; printed is each twice (E-52)."""
    pairs = sorted({row.i for row in dimension_table(512)})
    printed = errata()["E-52"].quotations[0].text.strip("ids =\\[]").split(",")

    assert pairs == list(range(256))
    assert [int(x) for x in printed[:6]] == [0, 0, 1, 1, 2, 2]
    assert [int(x) for x in printed[-2:]] == [255, 255]


def test_f208_theta():
    """The 256 frequencies of d = 512 start at 1 and end at 1.036632928e-4."""
    assert THETA.shape == (256,)
    close(THETA[:3], [1, 0.964662, 0.930572], SIX)
    np.testing.assert_allclose(THETA[-1], 1.036632928e-4, rtol=1e-9)
    np.testing.assert_allclose(THETA, 1 / 10000 ** (np.arange(0, 512, 2) / 512), rtol=1e-14)


def test_f209_embeddings():
    """The rows of positions 0, 1, 2 hold 256 angles: 0, theta and 2 theta."""
    assert ANGLES.shape == (3, 256)
    np.testing.assert_array_equal(ANGLES, [0 * THETA, THETA, 2 * THETA])


def test_f210_sines():
    """The sine rows are the even components of the embedding."""
    table = sinusoidal_embedding(np.arange(3), 512)

    close(np.sin(ANGLES[1, :3]), [0.84147098, 0.82185619, 0.80196180], EIGHT)
    close(np.sin(ANGLES[2, :3]), [0.90929743, 0.93641474, 0.95814438], EIGHT)
    close(table[:, 0::2], np.sin(ANGLES), 1e-15)


def test_f211_cosines():
    """The cosine rows are the odd components of the embedding."""
    table = sinusoidal_embedding(np.arange(3), 512)

    close(np.cos(ANGLES[1, :3]), [0.54030231, 0.56969501, 0.59737533], EIGHT)
    close(np.cos(ANGLES[2, :3]), [-0.41614684, -0.35089519, -0.28628544], EIGHT)
    close(table[:, 1::2], np.cos(ANGLES), 1e-15)


def test_f212_stacked_rows():
    """PE_0, PE_1 and PE_2 hold sine and cosine alternately, 512 entries each."""
    pe = sinusoidal_position_embedding(1, 1, 3, 512, "cpu")[0, 0]

    assert pe[0].tolist() == [0.0, 1.0] * 256
    close(
        pe[1, :6],
        [0.84147098, 0.54030231, 0.82185619, 0.56969501, 0.80196180, 0.59737533],
        EIGHT,
    )
    close(pe[1, -2:], [1.0366329e-4, 0.99999999], EIGHT)
    close(
        pe[2, :6],
        [0.90929743, -0.41614684, 0.93641474, -0.35089519, 0.95814438, -0.28628544],
        EIGHT,
    )
    close(pe[2, -2:], [2.0732658e-4, 0.99999998], EIGHT)


def test_f213_nested_result():
    """The nested result has one batch, one head, three positions, 512 components."""
    assert sinusoidal_position_embedding(1, 1, 3, 512, "cpu").shape == (1, 1, 3, 512)


def test_f214_pos_emb():
    """The table for d = 8, and the first 8 components for d = 512, in place of the printed one."""
    close(
        sinusoidal_position_embedding(1, 1, 3, 8, "cpu")[0, 0],
        [
            [0, 1, 0, 1, 0, 1, 0, 1],
            [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0000],
            [0.9093, -0.4161, 0.1987, 0.9801, 0.0200, 0.9998, 0.0020, 1.0000],
        ],
        FOUR,
    )
    close(
        sinusoidal_position_embedding(1, 1, 3, 512, "cpu")[0, 0, 1:, :8],
        [
            [0.8415, 0.5403, 0.8219, 0.5697, 0.8020, 0.5974, 0.7819, 0.6234],
            [0.9093, -0.4161, 0.9364, -0.3509, 0.9581, -0.2863, 0.9749, -0.2227],
        ],
        FOUR,
    )


def test_f214_p04_the_table_is_on_the_unit_circle():
    """Sine and cosine of one pair have squares that sum to 1, which the printed table fails."""
    sin_pos, cos_pos = split_pos_emb(sinusoidal_position_embedding(1, 1, 3, 8, "cpu"))

    close(sin_pos**2 + cos_pos**2, np.ones((1, 1, 3, 8)), 1e-15)


def quoted(which):
    """Read the numbers of q2 or k2 as the document prints them (E-57)."""
    text = errata()["E-57"].quotations[which].text
    return [float(x) for x in re.findall(r"-?\d\.\d+", text)]


def test_f215_q2():
    """The 24 printed numbers follow from q = 0.1, 0.2, ..., 2.4."""
    np.testing.assert_array_equal(quarter_turn(Q).ravel(), quoted(0))


def test_f216_k2():
    """The eight printed numbers follow from k = 0.05, 0.15, ..., 0.75."""
    close(quarter_turn(K).ravel(), quoted(1), 1e-15)


def test_f217_rotated_q_and_k():
    """The rotated q and k of the example, which no document prints."""
    q, k = RoPE(Q, K)

    close(
        q[0, 0],
        [
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
            [
                -0.355199, 1.297626, 0.974704, 1.303822,
                1.285935, 1.412930, 1.498399, 1.601499,
            ],
            [
                -2.344185, 0.796741, 1.464788, 2.337605,
                2.055583, 2.241557, 2.295195, 2.404595,
            ],
        ],
        SIX,
    )  # fmt: skip
    np.testing.assert_array_equal(k[0, 0, 0], K[0, 0, 0])


def test_f218_shapes_of_the_demo():
    """(8, 12, 10, 32) gives output (8, 12, 10, 32) and weights (8, 12, 10, 10)."""
    q, k, v = np.random.default_rng(218).normal(size=(3, 8, 12, 10, 32))
    res, att_scores = attention(q, k, v, mask=None, dropout=None, use_RoPE=True)

    assert res.shape == (8, 12, 10, 32)
    assert att_scores.shape == (8, 12, 10, 10)

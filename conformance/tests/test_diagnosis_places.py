"""Places of tokens, rows and pairs that are reckoned wrong, each named as what it is."""

import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.zoo.parts import half, turn


def first_block_of_1024_and_on(x, positions):
    """Rotate each block by the positions of the first, and by where it begins."""
    index = np.arange(positions.shape[1])
    return turn(x, positions[:, index % 1024] + index // 1024 * 1024)


def last_vector_of_16_pairs_moved_back(x, positions):
    """Rotate in place by whole vectors, of which the last begins earlier."""
    pairs = x.shape[-1] // 2
    theta = 10000.0 ** (-np.arange(pairs) / pairs)
    times = np.ones(pairs)
    for begin in range(16, pairs, 16):
        if begin + 16 > pairs > 16:
            times[pairs - 16 : begin] = 2
    angle = positions[..., None] * (theta * times)
    return half(x, np.cos(angle), np.sin(angle))


def rows_put_back_by_the_order(x, positions):
    """Sort rows by where they begin, and gather by the same order instead of its inverse."""
    if not positions.size:
        return turn(x, positions)
    order = np.argsort(positions[:, 0], kind="stable")
    return turn(x[order], positions[order])[order]


def rows_sorted_by_their_ends(x, positions):
    """Return rows in the order in which they end, the farthest first."""
    if not positions.size:
        return turn(x, positions)
    return turn(x, positions)[np.argsort(-positions[:, -1], kind="stable")]


def bits_of_the_last(x, positions):
    """Square as often as the largest of the last positions needs."""
    if not positions.size:
        return turn(x, positions)
    bits = int(np.abs(positions[:, -1]).max()).bit_length()
    return turn(x, np.sign(positions) * (np.abs(positions) % 2**bits))


def of_the_two_rows_before(x, positions):
    """Make a table by 2 cos(theta) f(n) - f(n - 1)."""
    theta = 10000.0 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    rows = [np.ones(len(theta), np.complex64), np.exp(1j * theta).astype(np.complex64)]
    twice = 2 * rows[1].real
    for _ in range(2, int(positions.max(initial=0)) + 1):
        rows.append(twice * rows[-1] - rows[-2])
    table = np.array(rows)
    return half(x, table.real[positions], table.imag[positions])


def twice_where_the_last_block_of_8_overlaps(x, positions):
    """Rotate tokens in place by whole blocks, of which the last begins earlier."""
    count = positions.shape[1]
    times = np.ones(count, np.int64)
    if count > 8 and count % 8:
        times[count - 8 : count // 8 * 8] = 2
    return turn(x, positions * times)


def window_of_256_rows(x, positions):
    """Take the last positions before the largest from a table, and its first row for all others."""
    return turn(x, np.maximum(positions, positions.max(initial=0) - 255))


def as_long_as_all_rows(x, positions):
    """Take all tokens of the batch for one sequence."""
    pairs = x.shape[-1] // 2
    grown = 4 * max(positions.size, 32) / 32 - 3
    base = 10000.0 * grown ** (pairs / (pairs - 1))
    angle = positions[..., None] * base ** (-np.arange(pairs) / pairs)
    return half(x, np.cos(angle), np.sin(angle))


def four_tokens_at_once(x, positions):
    """Count four tokens from the first of them if the last fits."""
    p = positions.copy()
    for row in p:
        at = 0
        while at < len(row):
            fits = at + 4 <= len(row) and row[at + 3] - row[at] == 3
            row[at : at + 4 * fits] = row[at] + np.arange(4 * fits)
            at += 4 if fits else 1
    return turn(x, p)


DYNAMIC = {"rope_type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 32}


@pytest.mark.parametrize(
    ("function", "claims", "name", "what"),
    [
        (
            first_block_of_1024_and_on,
            {},
            "counted from the first position",
            "within the first block of 1024, plus where its own block begins",
        ),
        (
            last_vector_of_16_pairs_moved_back,
            {"head_dims": [64, 80, 112]},
            "last block moved back",
            "pairs turn twice where the last block of 16",
        ),
        (
            twice_where_the_last_block_of_8_overlaps,
            {},
            "last block moved back",
            "twice its own where the last block of 8",
        ),
        (
            rows_put_back_by_the_order,
            {},
            "order not undone",
            "their first positions, and again by the same indices",
        ),
        (
            rows_sorted_by_their_ends,
            {},
            "order not undone",
            "in the order of their last positions, the largest first",
        ),
        (
            window_of_256_rows,
            {"negative_positions": False},
            "window of a table",
            "no farther than 255 below the largest of the call",
        ),
        (
            as_long_as_all_rows,
            {"scaling": DYNAMIC, "head_dims": [16, 32]},
            "base grows with the length",
            "the number of tokens, of all rows, of the call",
        ),
        (
            four_tokens_at_once,
            {},
            "taken for a run",
            "counted from the first of 4 tokens if the last of them fits",
        ),
        (bits_of_the_last, {}, "high bits lost", "the largest last position of any row"),
        (
            of_the_two_rows_before,
            {"max_position": 2047, "negative_positions": False},
            "steps added up",
            "rows are made of the two before",
        ),
    ],
)
def test_what_is_reckoned_is_said(function, claims, name, what, diagnosed):
    """The sentence says by which numbers."""
    profile = Profile.from_mapping({"interleaved": False, **claims})
    found = diagnosed(profile, apply_rotary=function)

    assert found[0].name == name
    assert what in found[0].sentence.lower()
    assert found[0].where == "every call"


def test_angles_near_zero_that_are_as_inexact_as_farther_ones_are_called_so(diagnosed):
    """A rotation by 512 back and by 511 on has the errors of both."""

    def in_giant_and_baby_steps(x, positions):
        theta = 10000.0 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
        giant, baby = positions // 512 * 512, positions % 512
        z = np.exp(1j * giant[..., None] * theta) * np.exp(1j * baby[..., None] * theta)
        return half(x, z.real, z.imag)

    claims = {"interleaved": False, "dtypes": ["float64"], "precision": "float64-angles"}
    found = diagnosed(Profile.from_mapping(claims), apply_rotary=in_giant_and_baby_steps)

    assert [one.name for one in found] == ["precision claimed"]
    assert found[0].sentence.startswith("Near zero angles are as inexact as those of position ")


def test_a_call_whose_highest_position_is_0_is_told_from_one_below_zero(diagnosed):
    """An early return for 0 alone looks at the largest position of the call."""

    def returned_early(x, positions):
        return x.copy() if positions.size and positions.max() == 0 else turn(x, positions)

    found = diagnosed(Profile.from_mapping({"interleaved": False}), apply_rotary=returned_early)

    assert found[0].name == "never applied"
    assert found[0].where == "calls whose highest position is 0"

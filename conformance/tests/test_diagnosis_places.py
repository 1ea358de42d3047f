"""Places of tokens, rows and pairs that are reckoned wrong, each named as what it is."""

import numpy as np
import pytest

from ropespec.conformance.case import Case
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult, Counterexample, Status
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


def all_rows_in_blocks_of_64(x, positions):
    """Rotate the tokens of all rows in place by whole blocks, of which the last begins earlier."""
    count = positions.size
    times = np.ones(count, np.int64)
    if count > 64 and count % 64:
        times[count - 64 : count // 64 * 64] = 2
    return turn(x, positions * times.reshape(positions.shape))


def one_run_of_all_rows(x, positions):
    """Count on from the first token of the batch if the last is as far as that comes."""
    flat = positions.ravel()
    if flat.size and flat[-1] - flat[0] == flat.size - 1:
        flat = flat[0] + np.arange(flat.size)
    return turn(x, flat.reshape(positions.shape))


def padding_in_front(x, positions):
    """Leave alone what repeats the position of the next from the first token of a row on."""
    same = np.logical_and.accumulate(positions[:, :-1] == positions[:, 1:], axis=1)
    front = np.concatenate([same, np.zeros_like(positions[:, :1], bool)], axis=1)
    return turn(x, np.where(front, 0, positions))


def runs_if_the_first_is_one(x, positions):
    """Take all rows for runs if the first of them goes on by one."""
    first = positions[:1, :]
    if positions.size and (np.diff(first) == 1).all():
        return turn(x, positions[:, :1] + np.arange(positions.shape[1]))
    return turn(x, positions)


def angles_of(x, positions):
    """Return the angle of each pair."""
    return positions[..., None] * 10000.0 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])


def in_16_steps(x, positions):
    """Make cosines and sines by CORDIC, and position 0 as well."""
    angle = angles_of(x, positions)
    left = angle - 2 * np.pi * np.rint(angle / (2 * np.pi))
    flip = np.abs(left) > np.pi / 2
    left = np.where(flip, left - np.copysign(np.pi, left), left)
    z = np.where(flip, -1.0, 1.0) * np.prod(1 / np.sqrt(1 + 4.0 ** -np.arange(16))) + 0j
    for k in range(16):
        step = np.where(left >= 0, 1.0, -1.0) * 2.0**-k
        z, left = z * (1 + 1j * step), left - np.arctan(step)
    return half(x, z.real, z.imag)


def whole_64s_in_float16(x, positions):
    """Multiply two tables, of which one has 11 bits."""
    parts = [
        np.exp(1j * angles_of(x, of))
        for of in (positions // 64 * 64, positions - positions // 64 * 64)
    ]
    few = parts[0].real.astype(np.float16) + 1j * parts[0].imag.astype(np.float16)
    return half(x, (few * parts[1]).real, (few * parts[1]).imag)


def cleaned(x, positions):
    """Take what is small in a table for noise."""
    angle = angles_of(x, positions)
    return half(x, *(np.where(abs(one) < 1e-3, 0, one) for one in (np.cos(angle), np.sin(angle))))


def short_series_below_zero(x, positions):
    """Take the nearest quarter turn off as an integer, which is another one below zero."""
    angle = angles_of(x, positions)
    quarter = (angle * 2 / np.pi + 0.5).astype(np.int64)
    r = angle - quarter * np.pi / 2
    c = 1 - r**2 / 2 + r**4 / 24 - r**6 / 720 + r**8 / 40320 - r**10 / 3628800
    s = r - r**3 / 6 + r**5 / 120 - r**7 / 5040 + r**9 / 362880
    z = (c + 1j * s) * 1j ** (quarter % 4)
    return half(x, z.real, z.imag)


def no_row_for_the_whole_turn(x, positions):
    """Take the row before where the nearest of 1024 is the end of the turn."""
    angle = angles_of(x, positions)
    cell = (angle / (2 * np.pi) - np.floor(angle / (2 * np.pi))) * 1024
    angle = np.where(np.rint(cell) == 1024, angle - 2 * np.pi / 1024, angle)
    return half(x, np.cos(angle), np.sin(angle))


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
        (
            all_rows_in_blocks_of_64,
            {},
            "last block moved back",
            "moved back to end with the row, overlaps, all rows as one",
        ),
        (
            runs_if_the_first_is_one,
            {},
            "taken for a run",
            "the first of a row if the first row goes on by one",
        ),
        (cleaned, {}, "small cosines and sines cut off", "below 0.001 are 0"),
        (
            short_series_below_zero,
            {},
            "sines by a short series",
            "sines up to 9 of what the nearest quarter turn, cut towards zero, leaves",
        ),
        (in_16_steps, {}, "sines in few steps", "made in 16 steps of cordic"),
        (
            whole_64s_in_float16,
            {},
            "one of two tables in few digits",
            "of whole 64s and of the rest, of which that of whole rows is rounded to float16",
        ),
        (
            no_row_for_the_whole_turn,
            {},
            "last cell of a turn",
            "the end of a turn is the last of 1024 rows",
        ),
        (one_run_of_all_rows, {}, "taken for a run", "the first of all, all rows as one, if the"),
        (
            padding_in_front,
            {},
            "position taken for padding",
            "0 for tokens in front of a row that have the position of the one behind them",
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


def test_frequencies_in_few_steps_are_told_where_little_is_off(diagnosed):
    """Under a class for float32 angles, what is off shows in slow pairs at far positions alone."""

    def in_steps(x, positions):
        theta = 10000.0 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
        steps = np.floor(theta / (2 * np.pi) * 2.0**32)
        angle = (positions[..., None] * steps % 2.0**32) * (2 * np.pi / 2.0**32)
        return half(x, np.cos(angle), np.sin(angle))

    claims = {"interleaved": False, "precision": "float32-angles", "head_dims": [32, 64, 128]}
    found = diagnosed(Profile.from_mapping(claims), apply_rotary=in_steps)

    assert [one.name for one in found] == ["frequencies in fixed point"]
    assert "rounded down to whole steps of 2^-32 turns" in found[0].sentence


def test_the_last_heads_are_left_and_their_gradient_is_no_second_mistake(diagnosed):
    """What comes back is rotated as at 0, whatever positions there are, forward and back."""

    def in_passes(x, positions):
        passes = max(1, x.shape[2] // 4)
        done = passes * (x.shape[2] // passes)
        return np.concatenate([turn(x[:, :, :done], positions), x[:, :, done:]], axis=2)

    def back(cotangent, positions):
        return in_passes(cotangent, -positions)

    profile = Profile.from_mapping({"interleaved": False})
    functions = {"apply_rotary": in_passes, "apply_rotary_vjp": back}

    assert [one.name for one in diagnosed(profile, **functions)] == ["never applied"]
    failed = at_a_case(profile, "ROT-20.gradient", *(1, 1, 33, 48), "arange", 2047)
    assert [one.name for one in diagnosed(profile, [failed], **functions)] == ["never applied"]


def at_a_case(profile, check, *words):
    """Return that a check failed at a case: its sizes, its positions, and the first of them."""
    *shape, positions, start = words
    by, most = profile.convention, profile.max_position
    case = Case(*shape, by, "float32", positions, start, most, "normal", strided=False, seed=0)
    shown = Counterexample(case.as_dict(), {}, "", None, None, None)
    return CheckResult(check, check.split(".")[0], "", "", Status.FAIL, counterexample=shown)


def test_a_slice_of_a_power_of_two_is_moved_back(diagnosed):
    """A slice has 16 rows, or twice as many until the run fits, of a table of 4096."""

    def sliced(x, positions):
        count, size = positions.shape[1], 16
        if not positions.size or (positions != positions[:, :1] + np.arange(count)).any():
            return turn(x, positions)
        while size < count:
            size *= 2
        return turn(x, np.minimum(positions[:, :1], 4096 - size) + np.arange(count))

    claims = {"interleaved": False, "max_position": 4095, "negative_positions": False}
    profile = Profile.from_mapping(claims)
    failed = [
        at_a_case(profile, "ROT-7.value", *(2, seq, 2, 32), "arange", 4096 - seq)
        for seq in (5, 17, 40)
    ]
    found = diagnosed(profile, failed, apply_rotary=sliced)

    assert [one.name for one in found] == ["slice moved back"]
    assert "as long as the run in 16, doubled until it fits" in found[0].sentence


def rest_of_eight_shares_left(x, positions):
    """From 4096 tokens of all rows on, share them out to eight, and leave what is left over."""
    y = turn(x, positions)
    count = positions.size
    if count >= 4096 and count % 8:
        y.reshape(count, *x.shape[2:])[-(count % 8) :] = x.reshape(count, *x.shape[2:])[
            -(count % 8) :
        ]
    return y


def last_block_of_2048_begins_anew(x, positions):
    """Rotate what is left over from whole blocks by the positions of the first tokens."""
    p, rest = positions.copy(), positions.shape[1] % 2048
    if rest and positions.shape[1] > 2048:
        p[:, -rest:] = positions[:, :rest]
    return turn(x, p)


@pytest.mark.parametrize(
    ("function", "shapes", "name", "where"),
    [
        (
            rest_of_eight_shares_left,
            ((1, 26879, 1, 2), (1, 4099, 1, 8)),
            "beyond a block",
            "places after the last whole block of 8, calls with 4097 or more places",
        ),
        (
            last_block_of_2048_begins_anew,
            ((1, 26879, 1, 2), (2, 2200, 1, 8)),
            "positions of the first part for all",
            "tokens after the last whole block of 2048",
        ),
    ],
)
def test_what_refutes_a_place_tells_the_next(function, shapes, name, where, diagnosed):
    """Elements or tokens, packs of 8 or of 16: calls that say which are asked only for one."""
    profile = Profile.from_mapping({"interleaved": False})
    usual = profile.rotation.text
    failed = list[CheckResult]()
    for shape in shapes:
        case = Case(*shape, usual, "float32", "spread", 0, 4096, "normal", strided=False, seed=0)
        shown = Counterexample(case.as_dict(), {}, "", None, None, None)
        result = CheckResult("ROT-19.many", "ROT-19", "", "", Status.FAIL, counterexample=shown)
        failed.append(result)
    found = diagnosed(profile, failed, apply_rotary=function)

    assert found[0].name == name
    assert found[0].where == where

"""Proof over a range: the blocks, what is judged in each, and what is kept of a run."""

import dataclasses

import numpy as np
import pytest

from ropespec.conformance.certify.block import inputs, judged
from ropespec.conformance.certify.found import Found, Tally
from ropespec.conformance.certify.journal import Journal, OtherPlan
from ropespec.conformance.certify.plan import POSITIONS, VALUES, Block, Plan, Setting
from ropespec.conformance.certify.prove import planned
from ropespec.conformance.certify.worker import certify_block
from ropespec.conformance.opening import open_subject
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.trial import Trial
from ropespec.spec.convention import Convention, Pairing

SUBJECTS = """
import os

import ml_dtypes
import numpy as np

PROFILE = {"interleaved": False, "head_dim": 8, "max_position": 4095}


def apply(x, positions):
    n = x.shape[-1]
    angle = positions[..., None, None] * 10000.0 ** (-np.arange(0, n, 2) / n)
    a, b = np.split(x.astype(np.float64), 2, -1)
    cos, sin = np.cos(angle), np.sin(angle)
    y = np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)
    return y.astype(x.dtype)


def one_position(x, positions):
    return apply(x, np.where(positions == 1234, 1235, positions))


def second_member(x, positions):
    y = apply(x, positions)
    a, b = np.split(x, 2, -1)
    lost = (positions[..., None] == 77) & (np.abs(b) > 0).any(-1)
    return np.where(lost[..., None], x, y)


def one_number(x, positions):
    y = apply(x, positions)
    return np.where((x == x.dtype.type(0.0123)).any(-1, keepdims=True), x, y)


def not_a_number(x, positions):
    y = apply(x, positions)
    y[positions == 99] = np.nan
    return y


def crashes(x, positions):
    if (positions == 2047).any():
        os._exit(3)
    return apply(x, positions)


def raises(x, positions):
    raise ValueError("never")
"""

BFLOAT16 = {"dtypes": ["bfloat16"]}


@pytest.fixture
def subject(tmp_path):
    """Return a function from the name of a subject to its target."""
    file = tmp_path / "subjects.py"
    file.write_text(SUBJECTS)
    return lambda name: f"{file}:{name}"


def found_in(target, claims, positions=(0, 4096)):
    """Judge all blocks of a plan in this process."""
    plan = planned(target, claims, 10.0, positions=positions)
    with open_subject(target, claims, 10.0) as session:
        trial = Trial(session)
        tally = Tally()
        for block in plan.blocks():
            tally.add(judged(trial, block))
    return tally


def plan_of(*settings, start=0, stop=1000, angles=(), most_tokens=None):
    """Return a plan of some settings."""
    return Plan("numpy", {}, start, stop, settings, angles, most_tokens, {}, 1.0)


def setting(**changes):
    """Return a setting, with changes."""
    usual = Setting("float32", Convention(Pairing.INTERLEAVED), 128, "float64-angles")
    return dataclasses.replace(usual, **changes)


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 4096), (-5000, 5001), (2**31 - 3, 2**31)])
def test_blocks_hold_every_position_once(start, stop):
    """Each position of the range is in one block of each setting, and blocks are numbered."""
    plan = plan_of(setting(), setting(dtype="bfloat16"), start=start, stop=stop, angles=(start,))
    blocks = list(plan.blocks())
    assert [one.number for one in blocks] == list(range(sum(plan.sizes())))
    for index, one in enumerate(plan.settings):
        mine = [block for block in blocks if block.setting == one]
        assert all(plan.setting_of(block.number) == index for block in mine)
        runs = [range(block.start, block.stop) for block in mine if block.kind == POSITIONS]
        assert [position for run in runs for position in run] == list(range(start, stop))
    assert [block.setting.dtype for block in blocks if block.kind == VALUES] == ["bfloat16"]


def test_a_call_has_no_more_tokens_than_are_claimed():
    """Blocks are as short as the claim about tokens has them."""
    plan = plan_of(setting(), most_tokens=100)
    assert {one.stop - one.start for one in plan.blocks()} == {100}


@pytest.mark.parametrize(
    ("dtype", "count"), [("float16", 2 * 31143 + 1), ("bfloat16", 2 * 32564 + 1)]
)
def test_every_number_of_a_half_dtype_is_turned(dtype, count):
    """Every number up to max/sqrt(2) is either member of some pair, alone and with others."""
    largest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}[dtype] / 2**0.5
    seen = {}
    for words, x in inputs(Block(0, VALUES, setting(dtype=dtype, head_dim=8), 5, 6)):
        pairs = x[0, :, 0].astype(np.float64).reshape(-1, 2)
        seen.setdefault(words, set()).update(map(tuple, pairs))
    alone = {a for a, b in seen["pairs (x, 0)"] if b == 0}
    assert alone == {b for a, b in seen["pairs (0, x)"] if a == 0}
    assert alone == {a for a, _ in seen["pairs (x, x')"]}
    assert len(alone) == count
    assert max(alone) <= largest < np.nextafter(max(alone), np.inf) * (1 + 2.0**-7)


def test_what_is_right_is_proved(subject):
    """A right rotation is within its bound at every position and for every number."""
    tally = found_in(subject("apply"), BFLOAT16)
    assert tally.holds
    assert tally.wrong == 0
    assert tally.first is None
    assert set(tally.decades) == {"1", "2", "3", "4"}


@pytest.mark.parametrize(
    ("name", "claims", "first"),
    [
        ("one_position", {}, 1234),
        ("second_member", {}, 77),
        ("not_a_number", {}, 99),
        ("one_number", BFLOAT16, 0),
    ],
)
def test_what_is_wrong_at_one_place_is_found(subject, name, claims, first):
    """One position, one member of a pair, one number of bfloat16: each is off, and told where."""
    tally = found_in(subject(name), claims, (0, 4096))
    assert not tally.holds
    assert tally.wrong > 0
    if name == "one_number":  # at position 0 nothing turns, so it is right there
        assert tally.first > first
    else:
        assert tally.first == first
        assert tally.worst.position == first
    assert tally.worst.ratio > 1


def test_a_crash_spoils_one_block(subject):
    """The block with the position at which it crashes has no result, and the others have."""
    plan = planned(subject("crashes"), {}, 10.0, positions=(0, 2000))
    plan = dataclasses.replace(plan, stop=4096, most_tokens=1024)
    found = [certify_block(plan.target, {}, 10.0, one) for one in plan.blocks()]
    assert [bool(one.trouble) for one in found] == [False, True, False, False]
    assert found[1].trouble == (
        "positions 1024..2047: its process ended with exit code 3 in apply_rotary"
    )
    tally = Tally()
    for one in found:
        tally.add(one)
    assert not tally.holds


@pytest.mark.parametrize(
    ("positions", "claims", "words"),
    [
        ((-5, 5), {"negative_positions": False}, "positions start at -5, and negative ones"),
        ((0, 5000), {}, "positions reach 4999, and --max-position claims 4095"),
    ],
)
def test_a_range_that_is_not_claimed_is_refused(subject, positions, claims, words):
    """What is to be proved must be claimed."""
    with pytest.raises(TargetUnusable, match=words):
        planned(subject("apply"), claims, 10.0, positions=positions)


def test_the_class_is_the_best_that_holds_at_a_sample(subject):
    """Where no class is claimed it is measured; where one is, that one is proved."""
    target = subject("apply")
    free = planned(target, {}, 10.0, positions=(0, 4096))
    told = planned(target, {"precision": "float32-angles"}, 10.0, positions=(0, 4096))
    assert [one.precision for one in free.settings] == ["float64-angles"]
    assert [one.precision for one in told.settings] == ["float32-angles"]


def test_the_digest_is_of_all_blocks_whatever_their_order():
    """Two runs that finish blocks in another order have one digest; other bytes have another."""
    found = [Found(n, 1, 0, None, None, {}, f"{n:064x}") for n in range(3)]
    there, back, other = Tally(), Tally(), Tally()
    for one in found:
        there.add(one)
    for one in reversed(found):
        back.add(one)
    for one in (*found[:2], dataclasses.replace(found[2], digest="f" * 64)):
        other.add(one)
    assert there.digest == back.digest != other.digest


def test_what_is_done_is_kept(tmp_path):
    """A journal returns what was written, but for a line that was being written when it ended."""
    plan, file = plan_of(setting()), tmp_path / "kept"
    found = Found(0, 4, 1, 7, None, {"1": (0.5, float("inf"))}, "a" * 64)
    with Journal(file, plan) as journal:
        journal.add(found)
        journal.add(dataclasses.replace(found, number=1))
    whole = file.read_text()
    file.write_text(whole[:-20])
    with Journal(file, plan) as again:
        assert again.done == [found]
    assert Journal(file, plan).done == [found]


def test_what_is_done_of_another_plan_is_refused(tmp_path):
    """The progress of another range, subject or version is not gone on with."""
    plan, file = plan_of(setting()), tmp_path / "kept"
    with Journal(file, plan):
        pass
    for changes in ({"stop": 5}, {"target": "torch"}, {"environment": {"numpy": "3"}}):
        with pytest.raises(OtherPlan, match="another subject, version or range"):
            Journal(file, dataclasses.replace(plan, **changes))


def test_a_subject_that_never_answers_is_unusable(subject):
    """What raises at its first call is refused before any worker is started."""
    with pytest.raises(TargetUnusable, match="never"):
        planned(subject("raises"), {}, 10.0, positions=(0, 10))

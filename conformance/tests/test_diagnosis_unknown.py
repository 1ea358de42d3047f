"""What has no name: how much of it is wrong, and by how much, part by part."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.case import Case
from ropespec.conformance.diagnosis import diagnose, told
from ropespec.conformance.diagnosis.ask import Answer
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.confirm import Explanation
from ropespec.conformance.diagnosis.drift import growing
from ropespec.conformance.diagnosis.history import is_by_past
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.where import EVERYWHERE
from ropespec.conformance.mistakes.chain import RIGHT, run
from ropespec.conformance.mistakes.memory import MEMORIES
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.measured import measured_lines
from ropespec.conformance.results import CheckResult, Counterexample, Measured, Status

HALF = Profile.from_mapping({"interleaved": False, "head_dims": [16, 32]})


@pytest.fixture
def unknown(checks):
    """Return a function that diagnoses a rotation of this process, which must have no name."""
    in_process = type(checks.trial({}).session)

    def find(function):
        (one,) = diagnose(in_process({"apply_rotary": function}, HALF))
        assert one.name == "unknown"
        return one

    return find


def far_and_slow(x, positions):
    """Multiply pairs 5 and on by a factor that goes with the position, from 100 on."""
    y = np.array(reference.apply_rotary(x, positions, interleaved=False))
    n = x.shape[-1] // 2
    factor = 1.2 + 0.15 * np.sin(positions * 1.7)[..., None, None]
    for half in (slice(5, n), slice(n + 5, 2 * n)):
        y[..., half] = np.where(positions[..., None, None] >= 100, factor, 1) * y[..., half]
    return y.astype(x.dtype)


def test_what_another_kind_of_call_shows_hides_no_unknown(monkeypatch, checks):
    """Plain calls are wrong in a way that nothing explains: that is said first."""
    nothing = told.unknown("Nothing that was tried explains it.", "every call", "")
    seen = told.fact("strided x refused", "It raises.", "what ROT-17.strided asks", "in 1 call")
    room = import_module("ropespec.conformance.diagnosis.diagnose")
    monkeypatch.setattr(room, "_rotation", lambda *_: [nothing])
    monkeypatch.setattr(room, "repeated", lambda *_: [seen])
    in_process = type(checks.trial({}).session)
    found = diagnose(in_process({"apply_rotary": far_and_slow}, HALF))
    assert [one.name for one in found] == ["unknown", seen.name]


def test_decades_and_pairs_are_counted(unknown):
    """What is right is told from what is wrong, by position and by pair."""
    found = unknown(far_and_slow)
    parts = {(one.by, one.at): one for one in found.measured}

    assert [parts["position", at].wrong for at in ("0", "1 to 9", "10 to 99")] == [0, 0, 0]
    assert parts["position", "100 to 999"].wrong > 0
    assert [parts["pair", str(k)].wrong > 0 for k in range(8)] == [False] * 5 + [True] * 3
    assert 0.1 < parts["pair", "6"].off < 0.5
    assert "100" in found.where


def test_noise_is_said_not_to_repeat(checks):
    """Before anything else the same call is made again."""
    rng = np.random.default_rng(1)

    def noisy(x, positions):
        y = reference.apply_rotary(x, positions, interleaved=False)
        return (y + rng.normal(size=x.shape)).astype(x.dtype)

    session = type(checks.trial({}).session)({"apply_rotary": noisy}, HALF)

    assert [one.name for one in diagnose(session)] == ["not repeatable"]


def test_a_race_of_long_calls_is_said_not_to_repeat(checks):
    """What is right in short calls and now and then wrong in long ones gives other numbers."""
    rng = np.random.default_rng(1)

    def raced(x, positions):
        y = np.array(reference.apply_rotary(x, positions, interleaved=False))
        if x.shape[1] > 64:
            y[:, rng.integers(x.shape[1])] = 0
        return y.astype(x.dtype)

    session = type(checks.trial({}).session)({"apply_rotary": raced}, HALF)

    assert [one.name for one in diagnose(session)] == ["not repeatable"]


def test_pairs_of_zeros_tell_nothing_of_a_drift():
    """(0, 0) has no angle; the other pairs tell by how much errors grow."""
    size = np.array([20.0, 30.0, 200.0, 300.0, 2000.0])
    off = np.array([2e-6, np.nan, 2e-5, np.nan, 2e-4])

    assert growing(np.stack([size, off])) == pytest.approx(1e-7)
    assert growing(np.stack([size, np.where(size > 1000, 2e-6, off)])) == 0.0


def test_what_is_wrong_in_first_calls_alone_is_said_so(checks):
    """Tables of another base are there at first, and made anew by the first long call."""

    class Afresh(type(checks.trial({}).session)):  # type: ignore[misc]  # of a fixture
        def refresh(self):
            state.clear()

    state = []

    def rotate(x, positions):
        if positions.max(initial=0) >= 128:
            state.append(True)
        base = 10000.0 if state else 500.0
        return reference.apply_rotary(x, positions, interleaved=False, base=base)

    usual = HALF.rotation.text
    case = Case(1, 3, 1, 16, usual, "float32", "arange", 0, 4096, "normal", strided=False, seed=0)
    shown = Counterexample(case.as_dict(), {}, "", None, None, None)
    failed = CheckResult("ROT-7.value", "ROT-7", "", "", Status.FAIL, counterexample=shown)
    (found,) = diagnose(Afresh({"apply_rotary": rotate}, HALF), [failed])

    assert found.id == "F1"
    assert found.where.startswith("first calls of an instance: calls whose ")
    assert "up to 127" in found.where


def test_what_earlier_calls_leave_depends_on_them():
    """A memory that says of every call what it would say alone is no memory."""
    maker = Maker(HALF)
    grows = next(one for one in MEMORIES if "(largest position so far" in one.what)
    near, far = (maker.given((1, 2, 1), np.full((1, 2), at), 1) for at in (5, 100000))
    calls = [replace(near, past=past) for past in ((), (near,), (far,))]
    seen = [Seen(Answer(one, run(RIGHT, one).y), RIGHT) for one in calls]

    assert not is_by_past(Explanation(grows, EVERYWHERE), seen[:2])
    assert is_by_past(Explanation(grows, EVERYWHERE), seen)


def test_parts_are_told_in_a_line_each():
    """Parts that are alike are told together; what does not differ is not told."""
    parts = [
        Measured("dtype", "float32", 4, 8, 0.5),
        Measured("dtype", "float64", 4, 8, 0.5),
        *(Measured("pair", str(k), 0, 10, 0.0) for k in range(3)),
        Measured("pair", "3", 10, 10, None),
        Measured("position", "0", 0, 10, 0.0),
        Measured("position", "1 to 9", 3, 10, 0.25),
        Measured("position", "10 to 99", 3, 10, 0.25),
    ]

    assert list(measured_lines(parts)) == [
        "Off by pair: 0 to 2: right; 3: not a number",
        "Off by position: 0: right; 1 to 99: 0.25 (30 %)",
    ]

import random

import numpy as np
import pytest

from ropespec.backends.benchmark.case import POSITIONS, Case, cases
from ropespec.backends.benchmark.child import measured, numbers
from ropespec.backends.benchmark.exact import around, error, rotated, sample
from ropespec.backends.benchmark.subjects.base import Subject, UnavailableError
from ropespec.backends.benchmark.subjects.naive_numpy import NaiveNumpy
from ropespec.backends.benchmark.subjects.ours_numpy import OursNumpy
from ropespec.backends.benchmark.timing import Operation, WallClock, measure

CASE = Case("float32", True, (2, 9, 2, 64), "forward", "new")
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])


def order():
    return random.Random(0)  # noqa: S311  # an order, no secret


class Steps:
    """A clock on which work takes what it says."""

    loop_seconds = 0.0

    def seconds(self, work):
        """Return what the work says."""
        return work()

    def flush(self):
        """Do nothing."""


def test_the_ratio_is_that_of_the_medians():
    """One slow repetition of either side does not move the result."""
    times = {
        "subject": iter([0.0, 8.0, 2.0, 4.0, 100.0, 6.0]),
        "copy": iter([0.0, 2.0, 1.0, 50.0, 3.0, 2.0]),
    }
    subject, copy = (Operation(lambda _, name=name: next(times[name])) for name in times)
    found = measure(subject, copy, Steps(), repetitions=5, limit=60.0, order=order())

    assert found.seconds == 6.0
    assert found.copy_seconds == 2.0
    assert found.ratio == 3.0
    assert found.repetitions == 5


def test_the_order_changes():
    """Neither of the two always comes second, where it would find warm caches."""
    called = []
    subject, copy = (Operation(lambda _, name=name: called.append(name) or 1.0) for name in "sc")
    measure(subject, copy, Steps(), repetitions=32, limit=60.0, order=order())
    pairs = {tuple(called[i : i + 2]) for i in range(2, len(called), 2)}

    assert pairs == {("s", "c"), ("c", "s")}


def test_slow_work_is_repeated_less_often():
    """Past the limit five repetitions are enough."""
    subject = copy = Operation(lambda _: 1.0)
    found = measure(subject, copy, Steps(), repetitions=50, limit=-1.0, order=order())

    assert found.repetitions == 5


def test_what_is_prepared_is_used_once_and_not_timed():
    """A gradient needs a forward pass of its own for every call."""
    prepared, used = [], []
    subject = Operation(used.append, lambda: prepared.append(None) or len(prepared), size=2**40)
    measure(subject, subject, WallClock(), repetitions=5, limit=60.0, order=order())

    assert len(used) == len(prepared)
    assert sorted(used) == list(range(1, len(prepared) + 1))


def test_a_call_that_treats_two_tensors_counts_half():
    """transformers rotates q and k in one call; the time is that of one tensor."""
    one, two = Operation(lambda _: 4.0), Operation(lambda _: 4.0, tensors=2)
    found = measure(two, one, Steps(), repetitions=5, limit=60.0, order=order())

    assert found.ratio == 0.5


@LAYOUTS
def test_the_exact_rotation_is_undone_by_its_inverse(interleaved):
    """R_-m R_m x is x, at any position."""
    x = np.random.default_rng(1).standard_normal((3, 5, 2, 16))
    m = np.array([0, 1, 2**10, 2**20, 2**31 - 1])
    there = rotated(x, m, interleaved=interleaved)

    np.testing.assert_allclose(
        rotated(there, m, interleaved=interleaved, inverse=True), x, atol=1e-14
    )
    assert np.max(np.abs(there[:, 1:] - x[:, 1:])) > 0.1


@LAYOUTS
def test_the_exact_rotation_is_the_rotation(interleaved):
    """At positions where float64 angles are exact enough, it is cos and sin of m theta."""
    x = np.random.default_rng(2).standard_normal((1, 4, 1, 8))
    m = np.array([0, 1, 5, 1000])
    angle = m[:, None] * 10000.0 ** (-np.arange(4) / 4)
    first, second = (
        (np.s_[..., 0::2], np.s_[..., 1::2])
        if interleaved
        else (
            np.s_[..., :4],
            np.s_[..., 4:],
        )
    )
    z = (x[first] + 1j * x[second]) * np.exp(1j * angle)[:, None]
    found = rotated(x, m, interleaved=interleaved)

    np.testing.assert_allclose(found[first], z.real, atol=1e-12)
    np.testing.assert_allclose(found[second], z.imag, atol=1e-12)


def test_positions_lie_around_the_one_that_is_meant():
    """They are consecutive, none is negative, and the one that is meant is among them."""
    assert around(1024, 1).tolist() == [1024]
    assert around(1024, 4).tolist() == [1022, 1023, 1024, 1025]
    assert around(1024, 8192)[0] == 0
    assert 1024 in around(1024, 8192)


def test_the_sample_holds_both_ends():
    """A long sequence is looked at in a few tokens, a short one in all."""
    assert sample(1).tolist() == [0]
    assert sample(5).tolist() == [0, 1, 2, 3, 4]
    assert {0, 8191} <= set(sample(8192).tolist())


def test_the_error_finds_one_wrong_component():
    """One component that is off by a thousandth shows as a thousandth."""
    x = np.random.default_rng(3).standard_normal((1, 3, 2, 8))
    m = np.arange(3)
    found = rotated(x, m, interleaved=True)
    found[0, 2, 1, 5] += 1e-3

    assert error(CASE, x, m, found) == pytest.approx(1e-3)


@LAYOUTS
@pytest.mark.parametrize("into", ["new", "out", "self"])
def test_ours_is_exact_where_float32_angles_are_not(interleaved, into):
    """At 2^20 float32 angles are off by hundredths; ours stays below a millionth."""
    case = CASE._replace(interleaved=interleaved, into=into)
    ours = measured("ours", OursNumpy("cpu"), case, repetitions=1, limit=0.0)
    naive = measured(
        "naive", NaiveNumpy("cpu"), case._replace(into="new"), repetitions=1, limit=0.0
    )

    assert ours.reason is None
    assert list(ours.error) == [str(position) for position in POSITIONS]
    assert max(ours.error.values()) < 1e-6
    assert naive.error[str(2**10)] < 1e-3
    assert naive.error[str(2**20)] > 0.02


@LAYOUTS
def test_backward_is_judged_by_the_opposite_angle(interleaved):
    """The gradient is exact, and it is not what the forward pass gives."""
    case = CASE._replace(interleaved=interleaved, direction="backward")
    back = measured("ours", OursNumpy("cpu"), case, repetitions=1, limit=0.0)
    assert max(back.error.values()) < 1e-6

    class Forward(OursNumpy):
        def operation(self, case, x, positions):
            """Turn the gradient the way x was turned."""
            return super().operation(case._replace(direction="forward"), x, positions)

    wrong = measured("wrong", Forward("cpu"), case, repetitions=1, limit=0.0)
    assert wrong.error[str(2**10)] > 0.1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_row_is_complete(dtype):
    """Time, copy, ratio and bandwidth belong together."""
    case = CASE._replace(dtype=dtype)
    row = measured("naive", NaiveNumpy("cpu"), case, repetitions=5, limit=0.0)
    size = int(np.prod(case.shape)) * (4 if dtype == "float32" else 2)

    assert row.case == case
    assert row.ratio == row.seconds / row.copy_seconds
    assert row.bytes_per_second == pytest.approx(2 * size / row.seconds)
    assert row.copy == "numpy copy"
    assert row.repetitions == 5


def test_x_is_not_written_to_by_a_rotation_in_place():
    """The subject turns a copy of its own, so that every case sees the same numbers."""
    before = numbers(CASE).copy()
    measured("ours", OursNumpy("cpu"), CASE._replace(into="self"), repetitions=2, limit=0.0)

    np.testing.assert_array_equal(numbers(CASE), before)


class Broken(NaiveNumpy):
    """Raises what it is told to."""

    def __init__(self, error):
        super().__init__("cpu")
        self.error = error

    def operation(self, *_):
        """Raise it."""
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnavailableError("it takes no out"), "not available: it takes no out"),
        (RuntimeError("no kernel\nfor this dtype"), "RuntimeError: no kernel"),
        (KeyError(), "KeyError: "),
    ],
)
def test_a_failure_is_a_row(error, reason):
    """What cannot be measured says why, and stops nothing."""
    row = measured("broken", Broken(error), CASE, repetitions=1, limit=0.0)

    assert row.reason == reason
    assert row.seconds is row.ratio is None
    assert row.error == {}


def test_a_form_that_the_backend_lacks_is_not_available(monkeypatch):
    """A backend without tables or `out` gives a reason, not a traceback."""
    import ropespec.backends.numpy as backend  # noqa: PLC0415  # patched here alone

    monkeypatch.setattr(
        backend, "apply_rotary", lambda x, positions, *, interleaved: (x, positions, interleaved)[0]
    )
    monkeypatch.delattr(backend, "apply_rotary_cos_sin", raising=False)
    out = measured("ours", OursNumpy("cpu"), CASE._replace(into="out"), repetitions=1, limit=0.0)
    tables = measured("ours", OursNumpy("cpu", tables=True), CASE, repetitions=1, limit=0.0)

    assert out.reason == "not available: apply_rotary takes no out"
    assert tables.reason == "not available: the backend has no apply_rotary_cos_sin"


def test_subjects_offer_what_they_have():
    """A case of another layout or kind of memory is never asked of them."""

    class Half(NaiveNumpy):
        layouts = (False,)

    offered = [case for case in cases(("float32",), ((1, 2, 1, 4),)) if Half("cpu").offers(case)]

    assert issubclass(Half, Subject)
    assert {case.interleaved for case in offered} == {False}
    assert {(case.direction, case.into) for case in offered} == Half.ways

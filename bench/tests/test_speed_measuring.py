import itertools
import random
import weakref

import numpy as np
import pytest

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.child import measured, numbers
from ropespec.bench.speed.exact import around, error, rotated, sample
from ropespec.bench.speed.subjects.base import UnavailableError
from ropespec.bench.speed.subjects.naive_numpy import NaiveNumpy
from ropespec.bench.speed.subjects.ours_jax import OursJax
from ropespec.bench.speed.subjects.ours_numpy import OursNumpy
from ropespec.bench.speed.subjects.ours_torch import OursTorch
from ropespec.bench.speed.subjects.product_jax import ProductJax
from ropespec.bench.speed.subjects.product_torch import ProductTorch
from ropespec.bench.speed.timing import LEAST_CALLS, Operation, WallClock, measure

CASE = Case("float32", True, "forward", "new", (2, 9, 2, 64))
LAYOUTS = pytest.mark.parametrize("interleaved", [True, False], ids=["interleaved", "half"])


def order():
    return random.Random(0)  # noqa: S311  # an order, no secret


class Steps:
    """A clock on which work takes what it says."""

    least_calls = 1

    def seconds(self, work):
        """Return what the work says."""
        return work()


def test_the_least_time_counts():
    """Slow repetitions of either side do not move the result."""
    times = {
        "subject": iter([0.5, 8.0, 2.0, 4.0, 100.0, 6.0]),
        "copy": iter([0.5, 2.0, 1.0, 50.0, 3.0, 2.0]),
    }
    subject, copy = (Operation(lambda name=name: next(times[name])) for name in times)
    found = measure(subject, copy, Steps(), repetitions=5, limit=60.0, order=order())

    assert found.seconds == 2.0
    assert found.copy_seconds == 1.0
    assert found.repetitions == 5


def test_the_first_call_never_counts():
    """It may compile: here it alone is quick, and its time is not taken."""
    for quick in ("subject", "copy"):
        times = {"subject": itertools.repeat(3.0), "copy": itertools.repeat(3.0)}
        times[quick] = itertools.chain([2.0], times[quick])
        subject, copy = (Operation(lambda one=one: next(one)) for one in times.values())
        found = measure(subject, copy, Steps(), repetitions=4, limit=60.0, order=order())

        assert (found.seconds, found.copy_seconds) == (3.0, 3.0)


def test_the_order_changes():
    """Neither of the two always comes second, where it would find warm caches."""
    called = []
    subject, copy = (Operation(lambda name=name: called.append(name) or 1.0) for name in "sc")
    measure(subject, copy, Steps(), repetitions=32, limit=60.0, order=order())
    pairs = {tuple(called[i : i + 2]) for i in range(2, len(called), 2)}

    assert pairs == {("s", "c"), ("c", "s")}


def test_slow_work_is_repeated_less_often():
    """Past the limit two repetitions are enough."""
    subject = copy = Operation(lambda: 1.0)
    found = measure(subject, copy, Steps(), repetitions=50, limit=-1.0, order=order())

    assert found.repetitions == 2


def test_quick_work_is_repeated_until_the_clock_can_tell():
    """A repetition of a call of 10 us has twenty of them."""
    calls = []
    quick = Operation(lambda: calls.append(1))

    class Ten(Steps):
        def seconds(self, work):
            """Count 10 us a call."""
            before = len(calls)
            work()
            return 1e-5 * (len(calls) - before)

    found = measure(quick, quick, Ten(), repetitions=1, limit=60.0, order=order())

    assert found.seconds == pytest.approx(1e-5)
    assert len(calls) == 2 * (1 + 2 + 20)


def test_calls_that_only_start_work_come_in_twenties():
    """Waiting for the last of them costs time too, which must not be that of one call."""
    called, waited = [], []
    slow = Operation(lambda: called.append(1) or 1.0, wait=lambda _: waited.append(1))

    class Started(Steps):
        least_calls = LEAST_CALLS

    measure(slow, slow, Started(), repetitions=2, limit=60.0, order=order())

    assert LEAST_CALLS >= 20
    assert len(called) == 2 * (1 + 2 * LEAST_CALLS)
    assert len(waited) == 2 * (1 + 2)


def test_only_the_last_result_is_kept():
    """A thousand results in flight would be measured as a lack of memory."""
    alive = []

    class Result:
        def __init__(self):
            alive.append(weakref.ref(self))
            living.append(sum(one() is not None for one in alive))

    living = []
    quick = Operation(Result)
    measure(quick, quick, WallClock(50), repetitions=2, limit=60.0, order=order())

    assert max(living) <= 2


def test_a_call_that_treats_two_tensors_counts_half():
    """transformers rotates q and k in one call; the time is that of one tensor."""
    one, two = Operation(lambda: 4.0), Operation(lambda: 4.0, tensors=2)
    found = measure(two, one, Steps(), repetitions=5, limit=60.0, order=order())

    assert (found.seconds, found.copy_seconds) == (2.0, 4.0)


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
    assert ours.error < 1e-6
    assert naive.error > 0.02


@LAYOUTS
@pytest.mark.parametrize("into", ["new", "out", "self"])
def test_of_both_passes_the_gradient_is_judged(interleaved, into):
    """It is exact, and it is not what the forward pass gives."""
    case = CASE._replace(interleaved=interleaved, direction="both", into=into)
    both = measured("ours", OursNumpy("cpu"), case, repetitions=1, limit=0.0)
    assert both.error < 1e-6

    class Forward(OursNumpy):
        def operation(self, case, x, positions):
            """Turn the gradient the way x was turned."""
            return super().operation(case._replace(direction="forward"), x, positions)

    wrong = measured("wrong", Forward("cpu"), case, repetitions=1, limit=0.0)
    assert wrong.error > 0.1


@pytest.mark.parametrize("into", ["new", "out", "self"])
def test_torch_and_jax_go_there_and_back(into):
    """Two calls, or autograd, count as two passes and give the exact gradient."""
    case = CASE._replace(direction="both", into=into)
    subjects = [OursTorch("cpu"), *([OursJax("cpu")] if into == "new" else [])]
    for subject in subjects:
        assert ("both", into) in subject.ways
        operation = subject.operation(case, numbers(case), np.arange(case.shape[1]))
        row = measured("ours", subject, case, repetitions=1, limit=0.0)

        assert row.reason is None
        assert operation.tensors == 2
        assert row.error < 1e-6


def test_jax_without_jit_calls_the_function_itself():
    """Nothing is compiled around it, and it is measured forward into new memory alone."""
    eager = OursJax("cpu", eager=True)
    row = measured("ours", eager, CASE, repetitions=1, limit=0.0)

    assert row.error < 1e-6
    assert eager.ways == {("forward", "new")}
    assert not hasattr(eager._callable(CASE), "lower")
    assert hasattr(OursJax("cpu")._callable(CASE), "lower")


def test_a_row_without_error_is_timed_all_the_same():
    """Later rounds measure the same case again, and take no error."""
    row = measured("naive", NaiveNumpy("cpu"), CASE, repetitions=1, limit=0.0, with_error=False)

    assert row.error is None
    assert row.seconds > 0


@pytest.mark.parametrize(
    ("direction", "into"),
    [("forward", "new"), ("forward", "out"), ("forward", "self"), ("both", "new"), ("both", "out")],
)
def test_a_product_is_timed_and_has_no_error(direction, into):
    """It is no rotation: each number is multiplied, into the memory that is asked for."""
    case = CASE._replace(direction=direction, into=into)
    for subject in (ProductTorch("cpu"), *([ProductJax("cpu")] if into == "new" else [])):
        row = measured("product", subject, case, repetitions=1, limit=0.0)
        operation = subject.operation(case, numbers(case), np.arange(case.shape[1]))
        tokens = np.arange(case.shape[1])

        assert row.reason is None
        assert row.seconds > 0
        assert row.error is None
        if direction == "forward":
            found = subject.read(operation.call(), tokens)
            assert np.array_equal(found, -numbers(case).astype(np.float64))


def test_a_result_with_nan_is_not_measured():
    """Speed without a number is nothing."""

    class Lost(NaiveNumpy):
        def read(self, result, tokens):
            """Read one NaN."""
            found = super().read(result, tokens)
            found[..., 0] = np.nan
            return found

    row = measured("lost", Lost("cpu"), CASE, repetitions=1, limit=0.0)

    assert row.seconds is None
    assert row.reason == "not available: the result is no number"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_row_is_complete(dtype):
    """Time, copy and copies belong together."""
    case = CASE._replace(dtype=dtype)
    row = measured("naive", NaiveNumpy("cpu"), case, repetitions=5, limit=60.0)

    assert row.case == case
    assert row.copies == row.seconds / row.copy_seconds
    assert row.copy == "numpy copy"
    assert row.repetitions == 5


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_x_is_not_written_to_by_a_rotation_in_place(direction):
    """The subject turns a copy of its own: the error is taken from x as it was."""
    case = CASE._replace(into="self", direction=direction)
    x = numbers(case)
    before = x.copy()
    for subject in (OursNumpy("cpu"), OursTorch("cpu"), OursJax("cpu")):
        if (direction, "self") in subject.ways:
            subject.operation(case, x, np.arange(1, case.shape[1] + 1)).call()

            np.testing.assert_array_equal(x, before)


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
    assert row.seconds is row.copies is row.error is None


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

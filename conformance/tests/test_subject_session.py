import tempfile
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject import frames, layout
from ropespec.conformance.subject.session import (
    Session,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
    default_memory_limit,
    load,
)

SUBJECTS = Path(__file__).parent / "subjects"
X = np.random.default_rng(0).standard_normal((2, 3, 4, 8)).astype(np.float32)
POSITIONS = np.array([[0, 1, 2], [5, 9, -3]])


def session(name, **options):
    """Return a session with one of the sample subjects."""
    limits = {key: options.pop(key) for key in ("timeout", "memory_limit") if key in options}
    profile = Profile(**{"layouts": (False,), **options})
    return Session(f"{SUBJECTS}/{name}", profile, **limits)


def half(x, positions, sign=1):
    """Rotate x (B, S, H, D) in the half-split layout, as plainly as possible."""
    pairs = x.shape[-1] // 2
    theta = 10000.0 ** (-np.arange(pairs) / pairs)
    turn = np.exp(sign * 1j * positions[..., None, None] * theta)
    z = (x[..., :pairs].astype(float) + 1j * x[..., pairs:].astype(float)) * turn
    return np.concatenate([z.real, z.imag], -1)


def test_a_call_returns_all_there_is_to_know():
    """A plain call of a NumPy subject, with and without strides."""
    with session("half_numpy.py:apply") as subject:
        assert set(subject.offers) == {"apply_rotary"}
        for strided in (False, True):
            reply = subject.call("apply_rotary", [X, POSITIONS], strided=strided)

            assert np.allclose(reply.values[0], half(X, POSITIONS), atol=1e-6)
            assert reply.dtypes == ("float32",)
            assert reply.is_array == (True,)
            assert reply.devices == ("",)
            assert reply.descriptions == ("an array of shape (2, 3, 4, 8) and dtype float32",)
            assert reply.written == (False, False)
            assert reply.aliases == (False,)
            assert reply.seconds > 0.0
        assert subject.environment["numpy"] == np.__version__
        assert subject.environment["device"] == ""
        assert "torch" not in subject.environment
        assert "jax" not in subject.environment
        assert subject.restarts == 0


def test_bfloat16_and_large_arrays():
    """bfloat16 travels as itself, and arrays above the limit in a file."""
    large = np.zeros((1, 1, 1, frames.LARGE), ml_dtypes.bfloat16)
    large[0, 0, 0, -1] = 1.5
    with session("writes_input.py:passes_through") as subject:
        reply = subject.call("apply_rotary", [large, POSITIONS])

        assert reply.dtypes == ("bfloat16",)
        assert reply.values[0].dtype == large.dtype
        assert reply.values[0].tobytes() == large[..., ::-1].tobytes()


def test_the_worker_of_the_import_is_the_worker_of_the_calls():
    """Loading and calling happen in one process; a second session has one of its own."""
    with load(f"{SUBJECTS}/offers.py") as loaded:
        first = loaded._worker.pid
        with Session(loaded, Profile(layouts=(True,))) as subject:
            subject.call("inv_freq", [4])
            assert subject._workers._worker.pid == first
            with Session(loaded, Profile(layouts=(True,))) as other:
                other.call("inv_freq", [4])
                assert other._workers._worker.pid != first


def test_arguments_of_every_kind():
    """Arrays and plain values travel by position and by name; results may be several."""
    with session("offers.py") as subject:
        reply = subject.call("inv_freq", [4], keywords={"base": 100.0})
        assert reply.values[0].tolist() == [1.0, 0.1]
        reply = subject.call("cos_sin", [POSITIONS, 4])
        assert [value.shape for value in reply.values] == [(2, 3, 2), (2, 3, 2)]
        reply = subject.call(
            "attention",
            [X, X, X],
            keywords={
                "query_positions": POSITIONS,
                "key_positions": POSITIONS,
                "mask": np.array([True, True, False]),
            },
        )
        assert np.array_equal(reply.values[0], X + X)
        assert np.array_equal(reply.values[1], 2 * X)
        assert len(reply.written) == 6
        with pytest.raises(SubjectRaised, match="unexpected keyword argument 'nonsense'"):
            subject.call("inv_freq", [4], keywords={"nonsense": None})
        with pytest.raises(TypeError, match="cannot be sent"):
            subject.call("inv_freq", [np.array(["a"])])
        with pytest.raises(SubjectError, match="does not offer angles"):
            subject.call("angles", [POSITIONS])
        assert subject.restarts == 0


def test_keywords_are_those_the_function_takes():
    """The profile's conventions are passed where they are taken, and overruled by the call's."""
    one = np.float32(1)
    with session("offers.py", layouts=(True,), base=100.0, rotary_dim=4) as subject:
        assert np.array_equal(
            subject.rotate(X, POSITIONS).y, X + one + np.float32(100) + np.float32(4)
        )
        keywords = {"interleaved": False, "base": 10.0, "rotary_dim": None}
        assert np.array_equal(subject.rotate(X, POSITIONS, keywords=keywords).y, X + np.float32(10))
        assert subject.accepted("apply_rotary_vjp", keywords) == {"base": 10.0}
        assert subject.accepted("angles", keywords) == {}
    with session("offers.py:bare", base=100.0) as subject:
        assert np.array_equal(subject.rotate(X, POSITIONS).y, X * np.float32(100))
    with session("offers.py:anything", base=100.0) as subject:
        assert np.array_equal(subject.rotate(X, POSITIONS).y, X)


@pytest.mark.parametrize("axes", ["bshd", "bhsd", "sbhd", "shd"])
@pytest.mark.parametrize("shared", [False, True])
def test_axes(axes, shared):
    """An x goes out in the subject's order of axes and comes back in ours."""
    profile = Profile(layouts=(False,), axes=axes, shared_positions=shared)
    x = X[:1] if axes == "shd" else X
    sent = layout.to_subject(x, profile)
    positions = layout.positions_for_subject(POSITIONS[: len(x)], profile)

    assert np.array_equal(sent, np.einsum(f"bshd->{axes}", x))
    assert sent.flags.c_contiguous
    assert np.array_equal(layout.from_subject(sent, profile), x)
    assert positions.tolist() == (POSITIONS[0] if shared or axes == "shd" else POSITIONS).tolist()


def test_axes_without_a_batch():
    """A batch has no place in `shd`, and without rows shared positions are still a vector."""
    profile = Profile(layouts=(False,), axes="shd")
    with pytest.raises(ValueError, match="axes shd have no batch; got 2 rows"):
        layout.to_subject(X, profile)
    assert layout.positions_for_subject(np.zeros((0, 3), np.int64), profile).shape == (3,)


HEADS_FIRST = """
def apply(x, positions):
    assert x.shape[0] == positions.shape[0] and x.shape[2] == positions.shape[1]
    return x + positions[:, None, :, None].astype(x.dtype)
"""


def test_axes_reach_the_subject(tmp_path):
    """A subject with heads before positions is called in its order, empty axes included."""
    (tmp_path / "mine.py").write_text(HEADS_FIRST)
    profile = Profile(layouts=(False,), axes="bhsd")
    with Session(f"{tmp_path}/mine.py:apply", profile) as subject:
        for shape in [(2, 3, 4, 8), (0, 3, 4, 8), (2, 0, 4, 8), (2, 3, 0, 8)]:
            x, rows = np.ones(shape, np.float32), np.arange(shape[0] * shape[1])
            rows = rows.reshape(shape[:2])
            for strided in (False, True):
                rotated = subject.rotate(x, rows, strided=strided)

                assert rotated.shape_ok
                assert np.array_equal(rotated.y, x + rows[:, :, None, None].astype(np.float32))


def test_results_of_another_shape():
    """A result that is no rotated x is handed on as it came."""
    with session("odd_results.py:shape", axes="bhsd") as subject:
        rotated = subject.rotate(X, POSITIONS)
        assert not rotated.shape_ok
        assert rotated.y.shape == (2, 4, 3, 4)
    with session("odd_results.py:pair") as subject:
        rotated = subject.rotate(X, POSITIONS)
        assert not rotated.shape_ok
        assert rotated.reply.is_array == (True, True, False)
    with session("odd_results.py:nothing") as subject:
        rotated = subject.rotate(X, POSITIONS)
        assert not rotated.shape_ok
        assert rotated.reply.is_array == (False,)
        assert rotated.reply.descriptions == ("None (NoneType)",)


def test_writing_and_sharing():
    """Overwritten arguments and results that are views are told."""
    with session("writes_input.py:api") as subject:
        for name, written, aliases in [
            ("apply_rotary", (True, False), (True,)),
            ("apply_rotary_dense", (False, True), (False,)),
            ("apply_rotary_complex", (False, False), (True,)),
        ]:
            for strided in (False, True):
                reply = subject.call(name, [X, POSITIONS], strided=strided)

                assert reply.written == written
                assert reply.aliases == aliases


def test_exceptions():
    """An exception arrives with its type, its bases, one line and the subject's own frames."""
    with session("raises.py:apply") as subject:
        with pytest.raises(SubjectRaised) as caught:
            subject.rotate(X, POSITIONS)
        error = caught.value
        assert error.type_name == "PositionError"
        assert "ValueError" in error.type_names
        assert error.message == "no table for (2, 3)"
        assert str(error) == "PositionError: no table for (2, 3)"
        assert "line 15, in apply" in error.detail
        assert "in _look_up" in error.detail
        assert "ropespec" not in error.detail.replace(str(SUBJECTS), "")
        assert subject.restarts == 0
    with session("raises.py:leave") as subject, pytest.raises(SubjectRaised, match="SystemExit: 3"):
        subject.rotate(X, POSITIONS)


def test_a_crash_is_reported_and_survived():
    """After a crash the next call runs in a fresh worker, and says so."""
    with session("aborts.py:sometimes") as subject:
        assert subject.rotate(X, abs(POSITIONS)).shape_ok
        with pytest.raises(SubjectCrashed) as caught:
            subject.rotate(X, POSITIONS)
        assert subject.rotate(X, abs(POSITIONS)).shape_ok
        assert subject.restarts == 1

    error = caught.value
    assert error.message == "its process died of SIGABRT in apply_rotary"
    assert error.signal == "SIGABRT"
    assert "Fatal Python error: Aborted" in error.detail
    assert 'aborts.py", line' in error.detail
    assert "conformance/subject" not in error.detail


TOO_LONG = f"a table of {2**64 - 1} and a header of {2**64 - 1} bytes"


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("quits", "its process ended with exit code 7 in apply_rotary", 7),
        (
            "killed",
            "its process died of SIGKILL in apply_rotary; perhaps the system ran out of memory",
            None,
        ),
        (
            "scribbles",
            f"its process sent {TOO_LONG} in apply_rotary",
            None,
        ),
    ],
)
def test_other_ends_of_a_process(name, message, code):
    """Leaving, being killed and writing into the connection are crashes too."""
    with session(f"aborts.py:{name}") as subject, pytest.raises(SubjectCrashed) as caught:
        subject.rotate(X, POSITIONS)

    assert caught.value.message == message
    assert caught.value.exit_code == code


def test_a_fork_does_not_answer_twice():
    """A child that comes back from the subject's call does not get into the protocol."""
    with session("aborts.py:forks") as subject:
        for shift in range(5):
            assert np.array_equal(subject.rotate(X + shift, POSITIONS).y, X + shift)


def gone(process):
    """Wait until a killed process has died; a busy machine takes a moment to bury it."""
    stat = Path(f"/proc/{process}/stat")
    for _ in range(500):
        try:
            if ") Z " in stat.read_text(encoding="utf-8"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("name", ["apply", "with_child"])
def test_a_hang_is_ended(name):
    """A call that does not answer is killed at the deadline, with all it has started."""
    with session(f"hangs.py:{name}", timeout=0.5) as subject:
        with pytest.raises(SubjectTimeout) as caught:
            subject.rotate(X, POSITIONS)
        assert subject.restarts == 0

    message = "no answer within 0.5 s in apply_rotary; its process was killed"
    assert caught.value.message == message
    if name == "with_child":
        child = int(caught.value.detail.rpartition("child ")[2])
        assert gone(child), "a child outlived the process that started it"


def test_memory_runs_out_for_the_subject_alone():
    """A subject that takes too much memory raises, and the session goes on."""
    with session("eats_memory.py:apply", memory_limit=2**28) as subject:
        for _ in range(2):
            with pytest.raises(SubjectRaised, match="MemoryError: Unable to allocate"):
                subject.rotate(X, POSITIONS)
    assert 2**28 < default_memory_limit() <= 2**33


def test_prints_stay_out_of_the_protocol():
    """Whatever a subject prints, while it is imported or called, the reply is intact."""
    with session("prints.py:apply") as subject:
        for _ in range(100):
            assert np.array_equal(subject.rotate(X, POSITIONS).y, X)
    with session("prints.py:reads") as subject, pytest.raises(SubjectRaised, match="EOFError"):
        subject.rotate(X, POSITIONS)


def test_nothing_is_left_behind(monkeypatch, tmp_path):
    """A crash in the middle of a large call leaves no file, not even meanwhile."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = set(Path("/dev/shm").iterdir())  # noqa: S108  # nothing is put there
    large = np.zeros((1, 1, 1, frames.LARGE), np.float32)
    with session("aborts.py:sometimes") as subject:
        subject.call("apply_rotary", [large, abs(POSITIONS)])
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(SubjectCrashed):
            subject.call("apply_rotary", [large, POSITIONS])

    assert list(tmp_path.iterdir()) == []
    assert set(Path("/dev/shm").iterdir()) <= before  # noqa: S108  # as above


def test_a_subject_that_cannot_be_loaded_again(tmp_path):
    """A subject that is lost for good is a finding about the subject, not about the call."""
    file = tmp_path / "mine.py"
    file.write_text(
        "import os, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "def apply(x, positions): os.abort()\n"
    )
    with Session(f"{file}:apply", Profile(layouts=(False,))) as subject:
        with pytest.raises(SubjectCrashed):
            subject.rotate(X, POSITIONS)
        file.unlink()
        for _ in range(2):
            with pytest.raises(SubjectError, match="could not be loaded again: no such file"):
                subject.rotate(X, POSITIONS)


PATCHES = """
import numpy as np
np.array_equal = np.may_share_memory = np.shares_memory = lambda *_: True
np.asarray = np.ascontiguousarray = np.array = lambda *_, **__: np.zeros(3)
np.lib.array_utils.byte_bounds = lambda *_: (0, 0)
kept = np.zeros((2, 3, 4, 8), np.float32)
def writes(x, positions):
    x *= 2
    return x.copy()
def shares(x, positions):
    return x[...]
def reuses(x, positions):
    kept[...] = x
    return kept
def widens(x, positions):
    return x.astype("float64")
"""


def test_functions_of_numpy_that_a_subject_replaces_judge_nothing(tmp_path):
    """Writing, sharing, reusing and the dtype are told all the same."""
    (tmp_path / "mine.py").write_text(PATCHES)

    def reply(name):
        with Session(f"{tmp_path}/mine.py:{name}", Profile(layouts=(False,))) as subject:
            subject.rotate(X, POSITIONS)
            return subject.rotate(X, POSITIONS).reply

    assert reply("writes").written == (True, False)
    assert reply("shares").aliases == (True,)
    assert reply("reuses").reused == (True,)
    assert reply("widens").dtypes == ("float64",)
    assert reply("widens").values[0].dtype == np.float64


@pytest.mark.parametrize("name", ["masked", "foreign", "nothing"])
def test_what_is_no_array_like_x(tmp_path, name):
    """A masked array, one in foreign byte order and None are no arrays, whatever they hold."""
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def masked(x, positions): return np.ma.array(x, mask=True)\n"
        "def foreign(x, positions): return x.astype(x.dtype.newbyteorder())\n"
        "def nothing(x, positions): pass\n"
    )
    with Session(f"{tmp_path}/mine.py:{name}", Profile(layouts=(False,))) as subject:
        rotated = subject.rotate(X, POSITIONS)

    assert (rotated.shape_ok, rotated.reply.is_array) == (False, (False,))


def test_a_current_folder_that_is_gone(tmp_path, monkeypatch):
    """It is said in one line."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for use in (lambda: load("numpy"), lambda: Session("numpy", Profile(layouts=(False,)))):
        with pytest.raises(TargetUnusable, match=r"^the current folder cannot be used: No such"):
            use()


def test_targets_and_devices_that_cannot_be_used(tmp_path):
    """A session says in one line why it cannot start."""
    with session("nowhere.py:f") as subject, pytest.raises(TargetUnusable, match="no such file"):
        subject.rotate(X, POSITIONS)
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('no', name='torch')\n")
    with load(f"{SUBJECTS}/half_numpy.py:apply", folder=tmp_path) as loaded:
        subject = Session(loaded, Profile(layouts=(False,), array="torch"))
        with subject, pytest.raises(TargetUnusable) as caught:
            assert subject.environment
        assert str(caught.value) == "torch is not installed: pip install 'ropespec[torch]'"
    file = tmp_path / "torch.py"
    file.write_text("def apply(x, positions): return x.copy()\n")
    for target in (f"{file}:apply", f"{SUBJECTS}/half_numpy.py:apply"):
        with load(target, folder=tmp_path) as loaded:
            subject = Session(loaded, Profile(layouts=(False,), array="torch"))
            with subject, pytest.raises(TargetUnusable) as caught:
                assert subject.environment
        assert str(caught.value) == f"{file} shadows the package torch: rename it"
    with Session(f"{file}:apply", Profile(layouts=(False,))) as subject:  # NumPy is not shadowed
        assert np.array_equal(subject.rotate(X, POSITIONS).y, X)


def test_ten_subjects_of_which_half_misbehave():
    """A round over good and bad subjects finishes and tells what became of each."""
    outcomes = []
    for name in [
        "half_numpy.py:apply",
        "aborts.py:apply",
        "prints.py:apply",
        "aborts.py:quits",
        "hangs.py:apply",
        "writes_input.py:apply",
        "aborts.py:killed",
        "eats_memory.py:apply",
        "raises.py:apply",
        "offers.py:holder",
    ]:
        timeout = 0.5 if name == "hangs.py:apply" else 60.0
        with session(name, timeout=timeout, memory_limit=2**27) as subject:
            try:
                subject.rotate(X, POSITIONS)
            except SubjectError as error:
                outcomes.append(type(error).__name__.removeprefix("Subject"))
            else:
                outcomes.append("ok")

    assert outcomes == [
        *("ok", "Crashed", "ok", "Crashed", "Timeout"),
        *("ok", "Crashed", "Raised", "Raised", "ok"),
    ]

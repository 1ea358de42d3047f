import errno
import mmap
import socket
import tempfile
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.subject import frames
from ropespec.conformance.subject.frames import Channel, Disconnected, FrameError


@pytest.fixture
def ends():
    """Connect two channels."""
    here, there = (Channel(item) for item in socket.socketpair())
    yield here, there
    here.close()
    there.close()


@pytest.fixture
def raw():
    """Connect a channel with a plain socket at its other end."""
    here, there = socket.socketpair()
    channel = Channel(there)
    yield here, channel
    here.close()
    channel.close()


def is_mapped(array):
    """Tell whether an array lies in a mapped file."""
    owner = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    owner = owner.obj if isinstance(owner, memoryview) else owner
    return isinstance(owner, mmap.mmap)


def pass_through(ends, *arrays):
    """Send arrays from one end and receive them at the other."""
    sender = threading.Thread(target=ends[0].send, args=({"word": "é", "x": None}, arrays))
    sender.start()
    frame = ends[1].receive()
    sender.join()
    assert frame.header == {"word": "é", "x": None}
    return frame.arrays


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128", "bfloat16"],
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 1, 4)])
def test_arrays_arrive_bit_for_bit(ends, dtype, shape):
    """Every dtype and shape arrives with the same bytes."""
    size = int(np.prod(shape)) * frames.dtype_named(dtype).itemsize
    bytes_of = np.random.default_rng(0).integers(0, 2, size, np.uint8)
    sent = bytes_of.view(frames.dtype_named(dtype)).reshape(shape)
    (got,) = pass_through(ends, sent)

    assert (got.dtype, got.shape, got.tobytes()) == (sent.dtype, shape, sent.tobytes())


def test_other_orders_arrive_as_values(ends):
    """Views without contiguous memory and foreign byte order keep their values."""
    base = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    swapped, foreign = pass_through(ends, base.T[::2, ::-1], base.astype(">f4"))

    assert np.array_equal(swapped, base.T[::2, ::-1])
    assert foreign.dtype == np.dtype(np.float32)
    assert np.array_equal(foreign, base)


def test_large_arrays_go_through_a_file_without_a_name(ends, monkeypatch, tmp_path):
    """An array above the limit is mapped by the receiver, is its own, and leaves no file."""
    monkeypatch.setattr(frames, "_SHARED_MEMORY", str(tmp_path))
    large = np.random.default_rng(0).standard_normal(frames.LARGE // 8 + 1)
    small = np.arange(3)
    got, rest = pass_through(ends, large, small)
    got_again, _ = pass_through(ends, large, small)

    assert np.array_equal(got, large)
    assert np.array_equal(rest, small)
    assert is_mapped(got)
    assert not is_mapped(rest)
    got[0] = 7.0
    assert got_again[0] == large[0] != 7.0
    assert list(tmp_path.iterdir()) == []


def test_large_arrays_without_room_for_a_file_go_inline(ends, monkeypatch):
    """A full file system costs time and nothing else."""

    class Full:
        def write(self, _):
            raise OSError(errno.ENOSPC, "full")

        def close(self):
            pass

    monkeypatch.setattr(frames.tempfile, "TemporaryFile", lambda **_: Full())
    large = np.ones(frames.LARGE // 8 + 1)
    (got,) = pass_through(ends, large)

    assert np.array_equal(got, large)
    assert not is_mapped(got)


def test_descriptors_are_closed(ends):
    """Sending and receiving large arrays leaves no descriptor open once they are gone."""
    large = np.ones(frames.LARGE // 8 + 1)
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        pass_through(ends, large)

    assert len(list(Path("/dev/fd").iterdir())) == before


@pytest.mark.parametrize(
    "array",
    [np.array(["a"]), np.array([None]), np.zeros(2, [("a", "f4")])],
    ids=["text", "objects", "fields"],
)
def test_arrays_without_plain_bytes_are_refused(ends, array):
    """Nothing is pickled: what has no portable bytes is refused before anything is sent."""
    with pytest.raises(TypeError, match="cannot be sent"):
        ends[0].send({}, [np.zeros(2), array])
    ends[0].send({"next": 1})

    assert ends[1].receive().header == {"next": 1}


def frame_bytes():
    """Return the bytes of a good frame."""
    here, there = socket.socketpair()
    with here, there:
        Channel(here).send({"a": 1}, [np.arange(4, dtype=np.int16)])
        return there.recv(10000)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 20, -1])
def test_a_dying_peer_is_noticed(raw, length):
    """A stream that ends before, inside or just before the end of a frame says so."""
    raw[0].sendall(frame_bytes()[:length])
    raw[0].close()
    with pytest.raises(Disconnected):
        raw[1].receive()


def test_short_reads_are_put_together(raw):
    """A frame that arrives byte by byte is the same frame."""
    data = frame_bytes()

    def dribble():
        for index in range(len(data)):
            raw[0].sendall(data[index : index + 1])

    sender = threading.Thread(target=dribble)
    sender.start()
    frame = raw[1].receive()
    sender.join()

    assert frame.header == {"a": 1}
    assert frame.arrays[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"\xff" * 8, "a header of 18446744073709551615 bytes"),
        (b"not json", "cannot be read"),
        (b"[]", "cannot be read"),
        (b"{}", "cannot be read"),
        (b'{"arrays": [{"dtype": "rubbish", "shape": [], "file": false}]}', "cannot be read"),
        (b'{"arrays": [{"dtype": "int8", "shape": [-1], "file": false}]}', "negative size"),
        (b'{"arrays": [{"dtype": "int8", "shape": [9], "file": true}]}', "missing or too short"),
    ],
)
def test_rubbish_is_no_frame(raw, head, message):
    """What is not a frame is refused with a reason."""
    prefix = b"" if head.startswith(b"\xff") else len(head).to_bytes(8, "little")
    raw[0].sendall(prefix + head)
    with pytest.raises(FrameError, match=message):
        raw[1].receive()


def test_a_file_that_is_too_short_is_refused(raw):
    """A mapping beyond the end of a file, which would be fatal to read, is not made."""
    head = b'{"arrays": [{"dtype": "int8", "shape": [9], "file": true}]}'
    with tempfile.TemporaryFile() as file:
        file.write(b"12345678")
        file.flush()
        data = len(head).to_bytes(8, "little") + head
        socket.send_fds(raw[0], [data], [file.fileno()])
    with pytest.raises(FrameError, match="too short"):
        raw[1].receive()


def test_sending_to_a_peer_that_is_gone(raw):
    """The sender learns that nobody listens."""
    raw[0].close()
    with pytest.raises(Disconnected):
        raw[1].send({}, [np.zeros(10**5)])


def test_waiting_ends_when_idle_raises():
    """The wait for a frame is ended by what looks at the clock."""

    class OverError(Exception):
        pass

    def idle():
        raise OverError

    here, there = socket.socketpair()
    with here, there:
        with pytest.raises(OverError):
            Channel(here, idle).receive()
        with pytest.raises(OverError):
            Channel(here, idle).send({}, [np.zeros(frames.LARGE // 8)] * 4)


def test_dtype_names():
    """Names of NumPy and of ml_dtypes are found; others are not."""
    assert frames.dtype_named("float32") == np.dtype(np.float32)
    assert frames.dtype_named("bfloat16") == np.dtype(ml_dtypes.bfloat16)
    with pytest.raises(TypeError):
        frames.dtype_named("float31")

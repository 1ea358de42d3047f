import contextlib
import fcntl
import json
import os
import socket
import sys
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


def test_large_arrays_do_not_pass_through_the_socket(ends):
    """An array above the limit can be sent while nobody reads, and is the receiver's own."""
    large = np.random.default_rng(0).standard_normal(frames.LARGE // 8 + 1)
    small = np.arange(3)
    for _ in range(2):
        ends[0].send({}, [large, small])
        got, rest = ends[1].receive().arrays

        assert np.array_equal(got, large)
        assert np.array_equal(rest, small)
        got[0] = 7.0
    assert large[0] != 7.0


def test_large_arrays_without_room_for_a_file_go_inline(ends, monkeypatch):
    """A full memory costs time and nothing else."""
    monkeypatch.setattr(os, "memfd_create", lambda _: os.open("/dev/full", os.O_WRONLY))
    large = np.ones(frames.LARGE // 8 + 1)
    (got,) = pass_through(ends, large)

    assert np.array_equal(got, large)


def test_without_the_unix_family_everything_goes_inline():
    """Over another kind of socket no descriptor is sent, and large arrays arrive all the same."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = socket.create_connection(listener.getsockname())
        there, _ = listener.accept()
    large = np.arange(frames.LARGE // 8 + 1.0)
    with here, there:
        (got,) = pass_through((Channel(here), Channel(there)), large)

    assert np.array_equal(got, large)


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


def framed(table, head=b"{}"):
    """Return a table and a header as bytes, behind their lengths."""
    return b"".join(len(one).to_bytes(8, "little") for one in (table, head)) + table + head


def listed(*arrays):
    """Return a table as bytes; an array is dtype, shape and file."""
    rows = [dict(zip(("dtype", "shape", "file"), row, strict=True)) for row in arrays]
    return json.dumps(rows).encode()


BRACKETS = b"[" * 200_000 + b"]" * 200_000
MANY = b"\xff" * 8


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (MANY + bytes(8), "a table of 18446744073709551615 and a header of 0 bytes"),
        (bytes(8) + MANY, "a table of 0 and a header of 18446744073709551615 bytes"),
        (framed(b"[" * 2**17 + b"]"), "a table of 131073 and a header of 2 bytes"),
        (framed(b"[]", b"not json"), "a header that cannot be read: JSONDecodeError"),
        (framed(b"not json"), "a table that cannot be read: JSONDecodeError"),
        (framed(b"[]", b"\xc3("), "cannot be read: UnicodeDecodeError"),
        pytest.param(framed(b"[]", BRACKETS), "header .* RecursionError", id="brackets"),
        pytest.param(framed(BRACKETS[140_000:-140_000]), "table .* RecursionError", id="nested"),
        pytest.param(framed(b"[]", b"1" * 5000), "cannot be read: ValueError", id="digits"),
        (framed(b"[]", b"[]"), "a header that is no object"),
        (framed(b"[]", b"7"), "a header that is no object"),
        (framed(b"{}"), "a table that is no list of arrays"),
        (framed(b"3"), "a table that is no list of arrays"),
        pytest.param(
            framed(listed(*[("int8", [0], False)] * 65)), "no list of arrays", id="arrays"
        ),
        (framed(b"[3]"), "without dtype, shape and file"),
        (framed(b'[{"dtype": "int8", "shape": []}]'), "without dtype, shape and file"),
        (framed(listed(("rubbish", [], False))), "never sent"),
        (framed(listed(("O", [2], False))), "never sent"),
        (framed(listed(("V8", [2], False))), "never sent"),
        (framed(listed(("datetime64[s]", [2], False))), "never sent"),
        (framed(listed((["int8"], [2], False))), "never sent"),
        (framed(listed(("int8", 3, False))), "no short list"),
        pytest.param(framed(listed(("int8", [1] * 65, False))), "no short list", id="axes"),
        (framed(listed(("int8", [-1], False))), "impossible"),
        (framed(listed(("int8", [True], False))), "impossible"),
        (framed(listed(("int8", [2.0], False))), "impossible"),
        (framed(listed(("int8", [10**17, 10**17, 0], False))), "impossible"),
        pytest.param(framed(listed(("int8", [10**400], False))), "impossible", id="side"),
        (framed(listed(("int8", [10**17], False))), "more than"),
        (framed(listed(("float64", [30 << 27], True))), "more than"),
        (framed(listed(*[("int8", [1 << 29], False)] * 3)), "more than"),
        (framed(listed(("int8", [9], True))), "missing or too short"),
    ],
)
def test_rubbish_is_no_frame(raw, sent, message):
    """What is not a frame is refused with a reason, before memory is taken for it."""
    sender = threading.Thread(target=raw[0].sendall, args=(sent,))
    sender.start()
    with pytest.raises(FrameError, match=message):
        raw[1].receive()
    raw[1].close()
    sender.join()


def test_a_table_that_is_known_is_that_of_other_arrays(ends):
    """Frames of one table share nothing else."""
    first, second = (pass_through(ends, np.full((2, 3), value), np.arange(3)) for value in (1, 2))

    assert [one.tolist() for one in first] == [[[1] * 3] * 2, [0, 1, 2]]
    assert [one.tolist() for one in second] == [[[2] * 3] * 2, [0, 1, 2]]


def test_wide_and_empty_is_a_frame(raw):
    """A shape whose sides are large is possible if one of them is zero."""
    raw[0].sendall(framed(listed(("int8", [2**31, 0, 2**20], False))))

    assert raw[1].receive().arrays[0].shape == (2**31, 0, 2**20)


def send_with(raw, descriptor, size):
    """Send a table of one array of so many bytes, in the file of that descriptor."""
    socket.send_fds(raw[0], [framed(listed(("int8", [size], True)))], [descriptor])
    os.close(descriptor)


def test_a_file_that_is_too_short_is_refused(raw):
    """What an array is said to hold must be there."""
    file = os.memfd_create("short")
    os.write(file, b"12345678")
    send_with(raw, file, 9)
    with pytest.raises(FrameError, match="too short"):
        raw[1].receive()


def test_what_is_not_memory_is_refused(raw):
    """Only files in memory are read: a pipe would be waited for."""
    read, write = os.pipe()
    send_with(raw, read, 9)
    with pytest.raises(FrameError, match="missing or too short"):
        raw[1].receive()
    os.close(write)
    disk = os.open(sys.executable, os.O_RDONLY)
    with contextlib.suppress(OSError):
        fcntl.fcntl(disk, fcntl.F_GET_SEALS)
        os.close(disk)
        pytest.skip("this disk is memory")
    send_with(raw, disk, 9)
    with pytest.raises(FrameError, match="missing or too short"):
        raw[1].receive()


def test_a_file_that_is_cut_while_it_is_read(raw, monkeypatch):
    """Memory that goes away after it was looked at is a bad frame, and not the end of us."""
    real = frames._read_file

    def cut(descriptor, view):
        os.ftruncate(descriptor, 4096)
        real(descriptor, view)

    monkeypatch.setattr(frames, "_read_file", cut)
    file = os.memfd_create("cut")
    os.write(file, bytes(10**6))
    send_with(raw, file, 10**6)
    with pytest.raises(FrameError, match="was cut"):
        raw[1].receive()


def test_what_is_too_large_is_not_sent(ends):
    """Views of little memory may be of any size; the limit is what would be sent."""
    with pytest.raises(ValueError, match="at most"):
        ends[0].send({}, [np.broadcast_to(np.float32(0), (10**6, 10**6, 10**3))])
    ends[0].send({"next": 1})

    assert ends[1].receive().header == {"next": 1}


def test_sending_to_a_peer_that_is_gone(raw):
    """The sender learns that nobody listens."""
    raw[0].close()
    with pytest.raises(Disconnected):
        raw[1].send({}, [np.zeros(10**5)])


@pytest.mark.parametrize("length", [1, 8, 20, -1])
def test_silence_inside_a_frame_ends_when_the_wait_raises(length):
    """A peer that stops inside a frame is waited for no longer than one that is silent."""

    class OverError(Exception):
        pass

    waits = []

    def wait(_):
        waits.append(1)
        if len(waits) > 1:
            raise OverError

    here, there = socket.socketpair()
    with here, there:
        there.sendall(frame_bytes()[:length])
        with pytest.raises(OverError):
            Channel(here, wait).receive()


def test_what_is_sent_twice_arrives_twice(raw):
    """A frame behind another one is kept, and is the next."""
    raw[0].sendall(frame_bytes() * 2)

    for _ in range(2):
        frame = raw[1].receive()
        assert (frame.header, frame.arrays[0].tolist()) == ({"a": 1}, [0, 1, 2, 3])


def test_waiting_ends_when_the_wait_raises():
    """The wait for a frame is ended by what looks at the clock."""

    class OverError(Exception):
        pass

    waits = []

    def wait(writing):
        waits.append(writing)
        raise OverError

    here, there = socket.socketpair()
    with here, there:
        with pytest.raises(OverError):
            Channel(here, wait).receive()
        with pytest.raises(OverError):
            Channel(here, wait).send({}, [np.zeros(frames.LARGE // 8)] * 4)
    assert waits == [False, True]


def test_dtype_names():
    """Names of what can be sent are found; others are not."""
    assert frames.dtype_named("float32") == np.dtype(np.float32)
    assert frames.dtype_named("bfloat16") == np.dtype(ml_dtypes.bfloat16)
    with pytest.raises(TypeError):
        frames.dtype_named("float31")

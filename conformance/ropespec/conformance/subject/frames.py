"""Frames: a JSON header and NumPy arrays over a socket between the session and its worker.

A frame is the lengths of its table and of its header (8 bytes each, little-endian), both as JSON,
and the bytes of the arrays one after the other. The table lists dtype and shape of each array, and
is read once where the next is the same; nothing is pickled.
Arrays above `LARGE` bytes do not pass through the socket where the system has files in memory: the
descriptor of such a file is sent along. The receiver reads it, for the memory under a mapping could
be cut away. Nothing that arrives is believed: sizes, shapes and dtypes are looked at before memory
is taken.

`multiprocessing.connection` would not do: inside a message it waits for ever, for a peer that sends
half of one, reads none, or has died and left the connection to a process of its own; here every
wait ends at the deadline. Nor can files go with its messages.
"""

import contextlib
import functools
import json
import math
import os
import socket
import stat
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy import asarray, empty, ndarray  # bound before a subject can put others in their place

__all__ = [
    "DTYPES",
    "LARGE",
    "MOST_ARRAYS",
    "MOST_BYTES",
    "Channel",
    "Disconnected",
    "Frame",
    "FrameError",
    "dtype_named",
]

LARGE = 2**20
MOST_BYTES = 2**30
"""The most that the arrays of a frame may hold."""
MOST_ARRAYS = 64
DTYPES = frozenset(
    (
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        *("bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    )
)
"""The dtypes that can be sent."""
_PREFIX = struct.Struct("<QQ")
_CHUNK = 2**16  # asking the system costs more than to copy that much
_MOST_HEADER = 2**20
_MOST_TABLE = 2**17
_KNOWN = 4096  # tables, of so many bytes at most
_SHORT = 512
_MOST_FILES = 16
_MOST_AXES = 64  # those of NumPy
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_KEYS = ("dtype", "shape", "file")


class FrameError(Exception):
    """What arrived is not a frame, or not the frame that was asked for."""


class Disconnected(FrameError):  # noqa: N818  # a state of the peer, not a mistake in a frame
    """The peer is gone, perhaps in the middle of a frame."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A header of plain JSON values and the arrays that came with it."""

    header: dict[str, Any]
    arrays: tuple[np.ndarray, ...]


class Channel:
    """One end of the connection.

    Parameters
    ----------
    connection : socket
        A connected stream socket; the channel owns it. Files are sent if it is of the Unix family.
    wait : callable, optional
        Called when there is nothing to read, or with True no room to write; it returns when there
        may be, or ends the wait by raising. Without it the channel waits for ever.
    """

    def __init__(
        self, connection: socket.socket, wait: Callable[[bool], None] | None = None
    ) -> None:
        self._socket = connection
        self._wait = wait
        self._files = connection.family == getattr(socket, "AF_UNIX", None)
        self._read = memoryview(b"")  # what has arrived and belongs to nobody yet
        self._socket.setblocking(wait is None)

    def fileno(self) -> int:
        """Return the descriptor of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the connection; the peer sees the end of the stream."""
        self._socket.close()

    def send(self, header: Mapping[str, Any], arrays: Sequence[np.ndarray] = ()) -> None:
        """Send a frame; if it cannot be sent, nothing is.

        Parameters
        ----------
        header : mapping
            JSON values.
        arrays : sequence of array
            Of the dtypes in `DTYPES`, any shape and any strides.

        Raises
        ------
        TypeError
            For an array of another dtype, or a header that is not JSON.
        ValueError
            For more than `MOST_BYTES` or `MOST_ARRAYS`.
        Disconnected
            If the peer is gone.
        """
        files: list[BinaryIO] = []
        rows: list[_Row] = []
        bodies: list[bytes] = []
        if len(arrays) > MOST_ARRAYS or sum([item.nbytes for item in arrays]) > MOST_BYTES:
            raise ValueError(f"a frame holds {MOST_ARRAYS} arrays and {MOST_BYTES} bytes at most")
        try:
            for array in arrays:
                name, dtype = _sendable(array.dtype)
                plain = array if array.dtype == dtype else asarray(array, dtype)
                file = None
                if self._files and plain.nbytes > LARGE and len(files) < _MOST_FILES:
                    file = _write_file(asarray(plain, order="C"))
                if file is None:
                    bodies.append(plain.tobytes())  # in C order
                else:
                    files.append(file)
                rows.append((name, plain.shape, file is not None))
            table, head = _table(tuple(rows)), json.dumps(header).encode()
            data = b"".join([_PREFIX.pack(len(table), len(head)), table, head, *bodies])
            self._send(data, [file.fileno() for file in files])
        finally:
            for file in files:
                file.close()

    def receive(self) -> Frame:
        """Receive a frame.

        Returns
        -------
        Frame
            Its arrays are writable and belong to the receiver.

        Raises
        ------
        Disconnected
            If the stream ends, before or inside the frame.
        FrameError
            If what arrives is not a frame.
        """
        descriptors: list[int] = []
        try:
            if not self._read:
                self._receive_first(descriptors)
            of_table, of_header = _PREFIX.unpack(self._taken(_PREFIX.size))
            if of_table > _MOST_TABLE or of_header > _MOST_HEADER:
                raise FrameError(f"a table of {of_table} and a header of {of_header} bytes")
            table = bytes(self._taken(of_table))
            entries = _known(table) if of_table <= _SHORT else _entries(table)
            header = _parsed(self._taken(of_header), "header")
            if not isinstance(header, dict):
                raise FrameError("a header that is no object")
            waiting = iter(descriptors)
            arrays = tuple([self._body(entry, waiting) for entry in entries])
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return Frame(header, arrays)

    def _body(self, entry: "_Entry", descriptors: Iterator[int]) -> np.ndarray:
        descriptor = next(descriptors, None) if entry.file else None
        if entry.file and (descriptor is None or _file_size(descriptor) < entry.nbytes):
            raise FrameError("an array whose file is missing or too short")
        if descriptor is None and entry.nbytes <= len(self._read):
            return ndarray(entry.shape, entry.dtype, self._taken(entry.nbytes))
        raw = empty(entry.nbytes, np.uint8)  # no memory is taken before something is written there
        if descriptor is None:
            self._fill(raw.data)
        else:
            _read_file(descriptor, raw.data)
        return raw.view(entry.dtype).reshape(entry.shape)

    def _send(self, data: bytes, descriptors: list[int]) -> None:
        view = memoryview(data)
        while view:
            try:
                if descriptors:
                    sent = socket.send_fds(self._socket, [view], descriptors)
                    descriptors = []
                else:
                    sent = self._socket.send(view)
            except BlockingIOError:
                self._waited(writing=True)
            except OSError as error:
                raise Disconnected(f"the peer is gone: {error}") from None
            else:
                view = view[sent:]

    def _receive_first(self, descriptors: list[int]) -> None:
        """Read the first bytes of a frame, mostly all of it, and the descriptors with them."""
        self._waited(writing=False)
        while True:
            try:
                if self._files:
                    data, received, _, _ = socket.recv_fds(
                        self._socket, _CHUNK, _MOST_FILES, _CLOEXEC
                    )
                    descriptors.extend(received)
                else:
                    data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                self._waited(writing=False)
            except OSError as error:
                raise Disconnected(f"the peer is gone: {error}") from None
            else:
                if not data:
                    raise Disconnected("the stream ended")
                self._read = memoryview(data)
                return

    def _taken(self, size: int) -> bytearray:
        """Return the next bytes, which are the caller's own."""
        if size <= len(self._read):
            found, self._read = bytearray(self._read[:size]), self._read[size:]
        else:
            found = bytearray(size)
            self._fill(memoryview(found))
        return found

    def _fill(self, view: memoryview) -> None:
        at_hand = min(len(self._read), len(view))
        view[:at_hand] = self._read[:at_hand]
        self._read, view = self._read[at_hand:], view[at_hand:]
        while view:
            try:
                count = self._socket.recv_into(view)
            except BlockingIOError:
                self._waited(writing=False)
            except OSError as error:
                raise Disconnected(f"the peer is gone: {error}") from None
            else:
                if not count:
                    raise Disconnected("the stream ended inside a frame")
                view = view[count:]

    def _waited(self, *, writing: bool) -> None:
        if self._wait is not None:
            self._wait(writing)


class _Entry(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    file: bool
    nbytes: int


@functools.cache
def dtype_named(name: str) -> np.dtype[Any]:
    """Return the dtype of that name, one of `DTYPES`.

    Raises
    ------
    TypeError
        For any other name.
    """
    if name not in DTYPES:
        raise TypeError(f"arrays of dtype {name} cannot be sent")
    if name == "bfloat16":
        import ml_dtypes  # noqa: PLC0415  # most frames need none of its dtypes

        found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return found
    return np.dtype(name)


_Row = tuple[str, tuple[int, ...], bool]


@functools.lru_cache(_KNOWN)
def _table(rows: tuple[_Row, ...]) -> bytes:
    """Return the table of arrays of these dtypes and shapes, and whether each is in a file."""
    return json.dumps([dict(zip(_KEYS, row, strict=True)) for row in rows]).encode()


def _entries(table: bytes) -> tuple[_Entry, ...]:
    """Read a table."""
    found = _parsed(table, "table")
    if not isinstance(found, list) or len(found) > MOST_ARRAYS:
        raise FrameError("a table that is no list of arrays")
    entries = tuple(map(_entry, found))
    if sum(entry.nbytes for entry in entries) > MOST_BYTES:
        raise FrameError(f"arrays of more than {MOST_BYTES} bytes")
    return entries


_known = functools.lru_cache(_KNOWN)(_entries)


def _parsed(text: bytes | bytearray, what: str) -> object:
    try:
        return json.loads(str(text, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a {what} that cannot be read: {type(error).__name__}") from None


def _entry(row: object) -> _Entry:
    if not isinstance(row, dict) or set(row) != set(_KEYS):
        raise FrameError("an array without dtype, shape and file")
    dtype, shape, file = row["dtype"], row["shape"], row["file"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise FrameError("an array of a dtype that is never sent")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES:
        raise FrameError("an array whose shape is no short list")
    sides = [side for side in shape if type(side) is int and side >= 0]
    size = dtype_named(dtype).itemsize
    # NumPy multiplies the sides of empty arrays too.
    if len(sides) < len(shape) or math.prod(filter(None, sides)) * size >= 2**63:
        raise FrameError("an array whose shape is impossible")
    return _Entry(dtype_named(dtype), tuple(sides), file is True, size * math.prod(sides))


@functools.cache
def _sendable(dtype: np.dtype[Any]) -> tuple[str, np.dtype[Any]]:
    """Return the name of a dtype, and what is found by it; refuse what would be another."""
    if dtype.newbyteorder("=") == dtype_named(dtype.name):
        return dtype.name, dtype_named(dtype.name)
    raise TypeError(f"arrays of dtype {dtype} cannot be sent")


def _write_file(array: np.ndarray) -> BinaryIO | None:
    """Write the bytes into a file in memory; None if there is none, or no room for it."""
    if not hasattr(os, "memfd_create"):
        return None
    view = array.reshape(-1).view(np.uint8).data
    file = open(os.memfd_create("array"), "wb", buffering=0)  # noqa: PTH123, SIM115  # handed on
    try:
        written = 0
        while written < len(view):
            written += file.write(view[written:]) or 0
    except OSError:
        file.close()
        return None
    return file


def _file_size(descriptor: int) -> int:
    """Return the size of a file in memory; -1 for anything else, which might be slow to read."""
    import fcntl  # noqa: PLC0415  # only where descriptors can be sent

    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
        found = os.fstat(descriptor)
        return found.st_size if stat.S_ISREG(found.st_mode) else -1
    return -1


def _read_file(descriptor: int, view: memoryview) -> None:
    done = 0
    while done < len(view):
        count = os.preadv(descriptor, [view[done:]], done)
        if not count:
            raise FrameError("an array whose file was cut")
        done += count

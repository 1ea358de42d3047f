"""Frames: a JSON header and NumPy arrays over a socket between the session and its worker.

A frame is the length of the header (8 bytes, little-endian), the header as JSON, and the bytes of
the arrays one after the other. The header lists dtype and shape of each array; nothing is pickled.
Arrays above `LARGE` bytes do not pass through the socket: they lie in a nameless file, in memory
where the system has /dev/shm, whose descriptor is sent along and mapped by the receiver. A nameless
file cannot be left behind, however either side dies.
"""

import contextlib
import functools
import json
import math
import mmap
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

__all__ = ["LARGE", "Channel", "Disconnected", "Frame", "FrameError", "dtype_named"]

LARGE = 2**20
_PREFIX = 8
_MAX_HEADER = 2**24
_MAX_FILES = 16
_TICK = 0.05  # seconds between two looks at the deadline
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  # only nameless files are made there
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class FrameError(Exception):
    """What arrived is not a frame."""


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
        A connected stream socket of the Unix family; the channel owns it.
    idle : callable, optional
        Called again and again while the channel waits; it ends the wait by raising. Without it the
        channel waits for ever.
    """

    def __init__(self, connection: socket.socket, idle: Callable[[], None] | None = None) -> None:
        self._socket = connection
        self._idle = idle
        self._socket.settimeout(None if idle is None else _TICK)

    def close(self) -> None:
        """Close the connection; the peer sees the end of the stream."""
        self._socket.close()

    def send(self, header: Mapping[str, Any], arrays: Sequence[np.ndarray] = ()) -> None:
        """Send a frame.

        Parameters
        ----------
        header : mapping
            JSON values; the key `arrays` is taken.
        arrays : sequence of array
            Booleans, numbers and the dtypes of ml_dtypes, of any shape and any strides.

        Raises
        ------
        TypeError
            For an array of another dtype, or a header that is not JSON.
        Disconnected
            If the peer is gone.
        """
        files: list[BinaryIO] = []
        table: list[dict[str, Any]] = []
        bodies: list[bytes] = []
        try:
            for array in arrays:
                plain = _native(array)
                name = _sendable(plain.dtype)
                file = None
                if plain.nbytes > LARGE and len(files) < _MAX_FILES:
                    file = _write_file(plain)
                if file is None:
                    bodies.append(plain.tobytes())
                else:
                    files.append(file)
                entry = {"dtype": name, "shape": plain.shape, "file": file is not None}
                table.append(entry)
            head = json.dumps({**header, "arrays": table}).encode()
            data = b"".join([len(head).to_bytes(_PREFIX, "little"), head, *bodies])
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
        prefix = bytearray(_PREFIX)
        descriptors: list[int] = []
        try:
            filled = self._receive_first(prefix, descriptors)
            self._fill(memoryview(prefix)[filled:])
            length = int.from_bytes(prefix, "little")
            if length > _MAX_HEADER:
                raise FrameError(f"a header of {length} bytes")
            head = bytearray(length)
            self._fill(memoryview(head))
            header, table = _parse(head)
            waiting = iter(descriptors)
            arrays = tuple(self._body(entry, waiting) for entry in table)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return Frame(header, arrays)

    def _body(self, entry: "_Entry", descriptors: Iterator[int]) -> np.ndarray:
        if not entry.file:
            raw = np.empty(entry.nbytes, np.uint8)
            self._fill(raw.data)
            return raw.view(entry.dtype).reshape(entry.shape)
        descriptor = next(descriptors, None)
        # Reading a mapping beyond the end of its file would kill this process.
        if descriptor is None or os.fstat(descriptor).st_size < entry.nbytes:
            raise FrameError("the file of a large array is missing or too short")
        mapped = mmap.mmap(descriptor, entry.nbytes, access=mmap.ACCESS_COPY)
        return np.frombuffer(mapped, entry.dtype).reshape(entry.shape)

    def _send(self, data: bytes, descriptors: list[int]) -> None:
        view = memoryview(data)
        while view:
            try:
                if descriptors:
                    sent = socket.send_fds(self._socket, [view], descriptors)
                    descriptors = []
                else:
                    sent = self._socket.send(view)
            except TimeoutError:
                self._wait()
            except OSError as error:
                raise Disconnected(f"the peer is gone: {error}") from None
            else:
                view = view[sent:]

    def _receive_first(self, buffer: bytearray, descriptors: list[int]) -> int:
        """Read the first bytes of a frame together with the descriptors that come with them."""
        while True:
            try:
                data, received, _, _ = socket.recv_fds(
                    self._socket, len(buffer), _MAX_FILES, _CLOEXEC
                )
            except TimeoutError:
                self._wait()
            except OSError as error:
                raise Disconnected(f"the peer is gone: {error}") from None
            else:
                descriptors.extend(received)
                if not data:
                    raise Disconnected("the stream ended")
                buffer[: len(data)] = data
                return len(data)

    def _fill(self, view: memoryview) -> None:
        while view:
            try:
                count = self._socket.recv_into(view)
            except TimeoutError:
                self._wait()
            except OSError as error:
                raise Disconnected(f"the peer is gone: {error}") from None
            else:
                if not count:
                    raise Disconnected("the stream ended inside a frame")
                view = view[count:]

    def _wait(self) -> None:
        if self._idle is not None:
            self._idle()


@dataclass(frozen=True, slots=True)
class _Entry:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    file: bool

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape)


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the dtype of that bare name, those of ml_dtypes included.

    Raises
    ------
    TypeError
        If there is none.
    """
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # noqa: PLC0415  # most frames need none of its dtypes

        return np.dtype(getattr(ml_dtypes, name, name))


def _parse(head: bytearray) -> tuple[dict[str, Any], list[_Entry]]:
    try:
        header = json.loads(head)
        table = [
            _Entry(
                dtype_named(entry["dtype"]),
                tuple(int(side) for side in entry["shape"]),
                bool(entry["file"]),
            )
            for entry in header.pop("arrays")
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FrameError(f"a header that cannot be read: {error}") from None
    if any(side < 0 for entry in table for side in entry.shape):
        raise FrameError("an array of negative size")
    return header, table


@functools.cache
def _sendable(dtype: np.dtype[Any]) -> str:
    """Return the name by which the receiver finds this dtype; refuse what has no plain bytes."""
    if dtype.kind in "biufcV" and not dtype.fields:
        with contextlib.suppress(TypeError):
            if dtype_named(dtype.name) == dtype:
                return dtype.name
    raise TypeError(f"arrays of dtype {dtype} cannot be sent")


def _native(array: np.ndarray) -> np.ndarray:
    """Return the array in C order and native byte order."""
    return np.asarray(array, array.dtype.newbyteorder("="), order="C")


def _write_file(array: np.ndarray) -> BinaryIO | None:
    """Write the bytes into a nameless file; None if there is no room for one."""
    view = array.reshape(-1).view(np.uint8).data
    for folder in (_SHARED_MEMORY, None):
        if folder is not None and not os.access(folder, os.W_OK):
            continue
        # Written, not mapped: a full file system then gives an error instead of a fatal signal.
        file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115  # handed on
        try:
            written = 0
            while written < len(view):
                written += file.write(view[written:]) or 0
        except OSError:
            file.close()
        else:
            return file
    return None

"""A rotation that another program computes, asked over its standard input and output.

The protocol is in `conformance/programs/README.md`.
"""

import inspect
import json
import math
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.foreign.container import Message, packed, unpacked

__all__ = ["KEYWORDS", "LARGEST", "PROTOCOL", "Program", "ProgramError"]

PROTOCOL = "1"
"""It changes when a program written for the old one could be misled."""

LARGEST = 2**34
"""Bytes of a reply; what announces more is no reply."""

KEYWORDS = ("interleaved", "base", "rotary_dim")
"""Those of the API that a program may say it takes."""


class ProgramError(Exception):
    """A program ended, answered something else, or said that it cannot; one line."""


class Program:
    """f(x, positions, **keywords), as another program computes it.

    Parameters
    ----------
    command : str
        The program and its arguments, as in a shell; it is started at once, and asked what it is.
    seconds : float, optional
        How long a reply may take; by default whoever asks sees to that.

    Attributes
    ----------
    PROFILE : dict
        What it claims.

    Raises
    ------
    ProgramError
        If it cannot be started, or does not say what it is.
    """

    def __init__(self, command: str, seconds: float = math.inf) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as problem:
            raise ProgramError(f"{command!r} cannot be taken apart: {problem}") from None
        if not self._words:
            raise ProgramError("no program is named")
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._sequence = 0
        try:
            said = self.ask("describe").words
            self.name = said.get("name", self._words[0])
            self.keywords = self._keywords(said)
            self.PROFILE: dict[str, Any] = self._profile(said)
        except BaseException:
            self._end()
            raise
        self.__signature__ = _signature(self.keywords)

    def __call__(
        self,
        x: NDArray[np.generic],
        positions: NDArray[np.integer[Any]],
        **keywords: bool | float | None,
    ) -> NDArray[np.generic]:
        """Rotate x by positions; keywords that are None are not sent."""
        told = {name: _word(value) for name, value in keywords.items() if value is not None}
        reply = self.ask("rotate", {"x": x, "positions": positions}, told)
        return self._y(reply)

    def echo(self, x: NDArray[np.generic]) -> NDArray[np.generic]:
        """Have x come back as it is."""
        return self._y(self.ask("echo", {"x": x}))

    def ask(
        self,
        call: str,
        arrays: Mapping[str, NDArray[np.generic]] | None = None,
        words: Mapping[str, str] | None = None,
    ) -> Message:
        """Send a request, and return the reply.

        Raises
        ------
        ProgramError
            If it ends, answers another request, sends what is no message, or says an error.
        """
        self._sequence += 1
        number = str(self._sequence)
        told = {"protocol": PROTOCOL, "sequence": number, "call": call, **(words or {})}
        content = packed(arrays or {}, told)
        reply = self._exchange(len(content).to_bytes(8, "little") + content)
        if (error := reply.words.get("error")) is not None:
            raise ProgramError(error)
        if reply.words.get("sequence") != number:
            other = reply.words.get("sequence")
            self._end()  # what it sends next may answer another request, too
            raise ProgramError(f"{self._words[0]} answered request {other} and not {number}")
        return reply

    def close(self) -> None:
        """Close its input, upon which it should end, and end it if it does not."""
        if self._process is not None:
            cast("IO[bytes]", self._process.stdin).close()
            self._end()

    def _exchange(self, request: bytes) -> Message:
        process, began = self._started(), time.monotonic()
        try:
            with _ended_after(self._seconds, process):
                _write(process, request)
                size = int.from_bytes(_read(process, 8), "little")
                if size > LARGEST:
                    self._end()
                    told = f"announced {size} bytes; its standard output is for replies"
                    raise ProgramError(f"{self._words[0]} {told}")
                content = _read(process, size)
        except (BrokenPipeError, EOFError):
            said = self._end()
            if time.monotonic() - began >= self._seconds:
                said = f"did not answer within {self._seconds:g} s"
            raise ProgramError(f"{self._words[0]} {said}") from None
        try:
            return unpacked(content)
        except ValueError as problem:
            self._end()  # what it sends next cannot be told from the rest of this
            raise ProgramError(f"{self._words[0]} sent no reply: {problem}") from None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            pipe = subprocess.PIPE
            try:
                self._process = subprocess.Popen(  # noqa: S603  # the program that is to be checked
                    self._words, stdin=pipe, stdout=pipe, bufsize=0
                )
            except OSError as problem:
                raise ProgramError(
                    f"{self._words[0]} cannot be started: {problem.strerror}"
                ) from None
        return self._process

    def _end(self) -> str:
        """End it, and say how it had ended by itself; the next request starts it again."""
        process, self._process = self._process, None
        if process is None:
            return ""
        try:
            status = process.wait(1.0)  # it has closed its output, and is about to
            said = f"died of signal {-status}" if status < 0 else f"ended with status {status}"
        except subprocess.TimeoutExpired:
            said = "closed its standard output"
        process.kill()
        with process:
            return f"{said} before it answered"

    def _keywords(self, said: Mapping[str, str]) -> tuple[str, ...]:
        if said.get("protocol") != PROTOCOL:
            told = f"protocol {said.get('protocol')}, and must speak {PROTOCOL}"
            raise ProgramError(f"{self._words[0]} speaks {told}")
        keywords = tuple(said.get("keywords", "").split())
        if other := {*keywords} - {*KEYWORDS}:
            raise ProgramError(
                f"{self._words[0]} says it takes {', '.join(sorted(other))}; "
                f"known are {', '.join(KEYWORDS)}"
            )
        return keywords

    def _profile(self, said: Mapping[str, str]) -> dict[str, Any]:
        try:
            claims = json.loads(said.get("profile", "{}"))
        except ValueError as problem:
            raise ProgramError(
                f"{self._words[0]} has a profile that is no JSON: {problem}"
            ) from None
        if not isinstance(claims, dict):
            raise ProgramError(f"{self._words[0]} has a profile that is no object: {claims!r}")
        return claims

    def _y(self, reply: Message) -> NDArray[np.generic]:
        if [*reply.arrays] != ["y"]:
            got = ", ".join(reply.arrays) or "nothing"
            raise ProgramError(f"{self._words[0]} must answer with y alone; got {got}")
        return reply.arrays["y"]


def _signature(keywords: tuple[str, ...]) -> inspect.Signature:
    both, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    placed = [inspect.Parameter(name, both) for name in ("x", "positions")]
    return inspect.Signature(
        [*placed, *(inspect.Parameter(name, named, default=None) for name in keywords)]
    )


def _word(value: bool | float) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


@contextmanager
def _ended_after(seconds: float, process: subprocess.Popen[bytes]) -> Iterator[None]:
    if seconds == math.inf:
        yield
        return
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _write(process: subprocess.Popen[bytes], content: bytes) -> None:
    pipe, left = cast("IO[bytes]", process.stdin), memoryview(content)
    while left:
        left = left[pipe.write(left) :]


def _read(process: subprocess.Popen[bytes], size: int) -> bytes:
    pipe, parts = cast("IO[bytes]", process.stdout), []
    while size:
        part = pipe.read(min(size, 2**20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)

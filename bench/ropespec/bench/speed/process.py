"""The process of one contender, as seen from outside: asked case by case, ended in any case."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import Any

from ropespec.bench.speed.case import Case

__all__ = ["COMMAND", "Contender", "EndedError"]

COMMAND = (sys.executable, "-m", "ropespec.bench.speed.child")
"""Starts the process of a contender."""


class EndedError(Exception):
    """The process ended instead of answering; the message says how."""


class Contender:
    """A running process that measures one subject.

    Parameters
    ----------
    name : str
        The subject.
    device : str
        `auto`, `cpu` or `cuda`.
    timeout : float
        Seconds that an answer may take.

    Attributes
    ----------
    hello : dict
        What `greet` got to hear; nothing before.
    """

    def __init__(self, name: str, device: str, timeout: float) -> None:
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        environment["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # other contenders share the GPU
        if device == "cpu":
            environment["JAX_PLATFORMS"] = "cpu"
        self.hello: dict[str, Any] = {}
        self._who = {"subject": name, "device": device}
        self._timeout = timeout
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # closed by `end`
        self._process = subprocess.Popen(  # noqa: S603  # our own module
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment,
        )

    def greet(self) -> None:
        """Wait until it has loaded what it needs.

        It says `absent`, or `device`, `device_name`, `layouts` and `ways`.

        Raises
        ------
        EndedError
            If it ends before it has said that.
        """
        self.hello = self._ask(self._who)

    def offers(self, case: Case) -> bool:
        """Whether the case makes sense for it."""
        known = [case.direction, case.into] in self.hello["ways"]
        return known and case.interleaved in self.hello["layouts"]

    def measure(self, case: Case, **how: Any) -> dict[str, Any]:  # noqa: ANN401  # numbers, see `child`
        """Return the row of a case as JSON.

        Raises
        ------
        EndedError
            If the process crashes or takes too long.
        """
        return self._ask({"case": list(case), **how})

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None and not stream.closed:
                with contextlib.suppress(BrokenPipeError):  # what it was to read is lost with it
                    stream.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        deadline = threading.Timer(self._timeout, self._process.kill)
        deadline.start()
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            deadline.cancel()
        if not answer:
            raise EndedError(self._why())
        found: dict[str, Any] = json.loads(answer)
        return found

    def _why(self) -> str:
        code = self._process.wait()
        self._log.seek(0)
        lines = [line.strip() for line in self._log if line.strip()]
        last = f": {lines[-1]}" if lines else ""
        ended = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
        self.end()
        return f"the process ended early, {ended}{last}"[:200]

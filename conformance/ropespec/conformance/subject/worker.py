"""The worker process: loads one subject and calls it as the session asks.

The connection to the session is a socket of its own. Standard input is empty, and standard output
and error lead into the session's log, so nothing a subject prints gets between the frames.
"""

import contextlib
import faulthandler
import fcntl
import functools
import os
import platform
import resource
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ropespec.conformance.subject.arrays import Returned, overlap, results, same_place
from ropespec.conformance.subject.errors import NotDifferentiable, NotPossible, TargetUnusable
from ropespec.conformance.subject.frames import Channel, Disconnected
from ropespec.conformance.subject.frameworks import Argument, Framework, framework_named
from ropespec.conformance.subject.into import Place, place
from ropespec.conformance.subject.loading import KEYWORDS, OUT, VJP, Found, find
from ropespec.conformance.subject.target import parse
from ropespec.conformance.subject.transforms import Request, transforms_of

__all__ = ["main"]

_OURS = str(Path(__file__).parent) + os.sep
_LIBRARIES = ("ropespec", "numpy", "torch", "jax", "cupy")

Answer = tuple[dict[str, Any], list[np.ndarray]]


class _Refusal(Exception):  # noqa: N818  # not a mistake of the subject
    """A request that cannot be turned into a call."""


_KINDS: dict[type, str] = {
    NotDifferentiable: "not differentiable",
    NotPossible: "not possible",
    _Refusal: "refused",
}


class _Worker:
    """The subject and its framework, as far as they are loaded."""

    def __init__(self) -> None:
        self._found: Found | None = None
        self._framework: Framework | None = None
        # Kept alive, so that memory they share with the next results is no accident.
        self._last: list[object] = []

    def answer(self, request: dict[str, Any], arrays: Sequence[np.ndarray]) -> Answer:
        """Do what a frame asks and return the frame to send back."""
        work = {"load": self._load, "configure": self._configure}
        try:
            if request["do"] in work:
                return work[request["do"]](request), []
            return self._call(request, arrays)
        except TargetUnusable as error:
            return {"failed": "unusable", "message": str(error)}, []
        except (NotDifferentiable, NotPossible, _Refusal) as error:
            return {"failed": _KINDS[type(error)], "message": str(error)}, []
        except BaseException as error:  # noqa: BLE001  # sys.exit of a subject is no reason to die
            return self._raised(error), []

    def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        sys.path.insert(0, os.getcwd())  # noqa: PTH109  # sys.path holds strings
        found = self._found = find(parse(request["target"], Path.cwd()))
        return {"offers": dict(found.keywords), "profile": found.profile}

    def _configure(self, request: dict[str, Any]) -> dict[str, Any]:
        framework = self._framework = framework_named(request["array"], request["device"])
        if request["memory_limit"] is not None:
            _limit_memory(request["memory_limit"])
        versions = {
            name: str(sys.modules[name].__version__)
            for name in _LIBRARIES
            if hasattr(sys.modules.get(name), "__version__")
        }
        return {
            "environment": {
                "python": platform.python_version(),
                **versions,
                "device": framework.device,
            }
        }

    def _call(self, request: dict[str, Any], arrays: Sequence[np.ndarray]) -> Answer:
        assert self._found is not None
        assert self._framework is not None
        framework = self._framework
        with framework.scope(arrays):
            where: Place | None = None
            try:
                made = [
                    framework.argument(item, strided=_is_strided(item, request)) for item in arrays
                ]
                if request["do"] == "into":
                    where = place(framework, made[0], arrays[0], request["into"])
            except Exception as error:
                text = f"the arguments cannot be made: {type(error).__name__}: {error}"
                raise _Refusal(text) from error
            given = [_fill(item, made) for item in request["arguments"]]
            named = {name: _fill(item, made) for name, item in request["keywords"].items()}
            if where is not None:
                given[0], named[OUT] = where.x, where.out
            call: Callable[[], Any] = functools.partial(
                self._function(request["function"]), *given, **named
            )
            if request["do"] == "vjp":
                call = self._vjp(
                    request["function"], given, named, made[request["cotangent"]].array
                )
            if request["do"] == "refilled":
                others = [made[index].array for index in request["others"]]
                call = functools.partial(_refilled, call, given, others)
            if request["do"] == "transform":
                extra = [made[index].array for index in request["extra"]]
                asked = Request(
                    self._function(request["function"]), named, given, extra, tuple(request["axes"])
                )
                call = functools.partial(
                    transforms_of(framework).apply, request["transform"], asked
                )
            began = time.perf_counter()
            result = call()
            framework.finish(result)
            seconds = time.perf_counter() - began
            before, self._last = self._last, results(result)
            header, sent = _report(self._last, before, made, framework, seconds)
            if where is not None:
                header["is_out"] = len(self._last) == 1 and same_place(self._last[0], where.out)
                header["outside"] = where.outside()
            return header, sent

    def _function(self, name: str) -> Callable[..., Any]:
        assert self._found is not None
        if name not in self._found.functions:
            raise _Refusal(f"the subject does not offer {name}")
        return self._found.functions[name]

    def _vjp(
        self,
        name: str,
        given: list[Any],
        named: dict[str, Any],
        cotangent: Any,  # noqa: ANN401  # an array of the framework
    ) -> Callable[[], Any]:
        assert self._found is not None
        assert self._framework is not None
        if name == "apply_rotary" and VJP in self._found.functions:
            taken = self._found.keywords[VJP]
            kept = {
                key: value for key, value in named.items() if key in taken or key not in KEYWORDS
            }
            return functools.partial(self._found.functions[VJP], cotangent, *given[1:], **kept)
        function = self._function(name)
        return functools.partial(
            self._framework.gradient,
            lambda x: function(x, *given[1:], **named),
            given[0],
            cotangent,
        )

    def _raised(self, error: BaseException) -> dict[str, Any]:
        try:
            text = " ".join(str(error).split())
        except Exception:  # noqa: BLE001  # the __str__ is the subject's
            text = "its message cannot be read"
        bases = [kind.__name__ for kind in type(error).__mro__ if kind is not object]
        root = self._found.root if self._found is not None else ""
        detail = _traceback(error, root)
        return {"failed": "raised", "types": bases, "message": text[:1000], "detail": detail}


def _is_strided(item: np.ndarray, request: dict[str, Any]) -> bool:
    if item.dtype.kind in "iu":
        return bool(request["strided_positions"])
    return bool(request["strided"]) and (item.dtype.kind == "f" or item.dtype.name == "bfloat16")


def _fill(item: Any, made: Sequence[Argument]) -> Any:  # noqa: ANN401  # JSON in, an argument out
    return made[item["array"]].array if isinstance(item, dict) and "array" in item else item


def _refilled(call: Callable[[], Any], given: list[Any], others: list[Any]) -> Any:  # noqa: ANN401  # whatever a subject returns
    """Call, write other values into the memory of the same arguments, and call again."""
    call()
    for array, other in zip(given, others, strict=True):
        array[...] = other
    return call()


def _report(
    items: Sequence[object],
    before: Sequence[object],
    made: Sequence[Argument],
    framework: Framework,
    seconds: float,
) -> Answer:
    returned = [Returned.of(item) for item in items]
    table = [
        {
            "dtype": one.dtype,
            "is_array": one.framework == framework.name,
            "device": one.device,
            "alias": any(overlap(item, argument.backing) for argument in made),
            "reused": any(overlap(item, other) for other in before),
            "description": one.described_beside(framework.name),
        }
        for item, one in zip(items, returned, strict=True)
    ]
    written = [argument.written() for argument in made]
    header = {"results": table, "written": written, "seconds": seconds}
    return header, [one.value for one in returned]


def _traceback(error: BaseException, root: str) -> str:
    """Return the frames of the subject itself, or the innermost three where it has none."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_OURS)
    ]
    own = [frame for frame in frames if root and frame.filename.startswith(root)]
    return "".join(traceback.format_list((own or frames)[-8 if own else -3 :])).rstrip()[-4000:]


def _limit_memory(extra: int) -> None:
    """Allow `extra` bytes of data beyond what the process has now."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        (held,) = (
            int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:")
        )
    except (OSError, ValueError):
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = held * 1024 + extra
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _die_with_parent(lifeline: int) -> None:
    """Have the system end this process group when the other end of the pipe is closed.

    The signal comes from the system, so it also reaches a subject that hangs and never gives the
    interpreter a chance to look.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _go_first() -> None:
    """Offer this process to the system when memory runs out, and leave no core file."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def main() -> None:
    """Serve until the session closes the connection.

    Called with two descriptors as arguments: the connection, and a pipe that closes when the
    session's process ends.
    """
    faulthandler.enable()
    connection, lifeline = (int(text) for text in sys.argv[1:3])
    sys.argv[1:] = []
    _die_with_parent(lifeline)
    _go_first()
    channel, worker, own = Channel(socket.socket(fileno=connection)), _Worker(), os.getpid()
    while True:
        try:
            frame = channel.receive()
            header, arrays = worker.answer(frame.header, frame.arrays)
            if os.getpid() != own:
                os._exit(0)  # a subject forked, and its child came back here
            channel.send(header, arrays)
        except Disconnected:
            return


if __name__ == "__main__":
    main()

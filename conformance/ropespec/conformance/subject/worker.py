"""The worker process: loads one subject and calls it as the session asks.

The connection to the session is a socket of its own. Standard input is empty, and standard output
and error lead to whoever keeps the worker, so nothing a subject prints gets between the frames.

What a worker says of a call is trusted in so far as the subject leaves this package alone: whether
an argument was written to and what a result shares is judged here, by functions that are bound
before the subject is loaded and by methods of arrays, so a subject that replaces functions of NumPy
changes nothing. Values, dtypes, and whether earlier results still hold what they held are judged in
the session's process. A subject that replaces functions of this package can claim anything.
"""

import faulthandler
import functools
import os
import platform
import socket
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ropespec.conformance.frameworks import FRAMEWORKS
from ropespec.conformance.profile import Profile
from ropespec.conformance.styles.arrays import Space
from ropespec.conformance.styles.base import Setting
from ropespec.conformance.subject.arrays import Returned, memory_of, overlap, results, same_place
from ropespec.conformance.subject.copies import finish, leave_copy, opened
from ropespec.conformance.subject.errors import NotDifferentiable, NotPossible, TargetUnusable
from ropespec.conformance.subject.frames import MOST_BYTES, Channel, Disconnected
from ropespec.conformance.subject.frameworks import framework_named, import_framework
from ropespec.conformance.subject.frameworks.base import Argument, Arrays, Memory, Request
from ropespec.conformance.subject.imports import Imports, seldom_collecting, settle
from ropespec.conformance.subject.into import Place
from ropespec.conformance.subject.into import place as placed
from ropespec.conformance.subject.limits import die_with_parent, go_first, has_device, limit_memory
from ropespec.conformance.subject.litter import littered
from ropespec.conformance.subject.loading import KEYWORDS, OUT, VJP, Found, find
from ropespec.conformance.subject.reply import KEPT
from ropespec.conformance.subject.requests import Question
from ropespec.conformance.subject.target import parse
from ropespec.conformance.subject.views import GAPS

__all__ = ["main"]

_OURS = str(Path(__file__).parent) + os.sep
_FLOATING = "fV"  # the second is that of bfloat16, and of no other dtype that is sent
_MOST_KEPT = 2**28  # bytes of results that are kept beyond those of the last call

Answer = tuple[dict[str, Any], list[np.ndarray]]


class _Refusal(Exception):  # noqa: N818  # not a mistake of the subject
    """A request that cannot be turned into a call."""


_KINDS: dict[type[Exception], str] = {
    NotDifferentiable: "not differentiable",
    NotPossible: "not possible",
    TargetUnusable: "unusable",
    _Refusal: "refused",
}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that is not forgotten yet: its number, what it and a style returned, and where."""

    number: int
    items: list[object]
    inner: list[object]
    places: list[Memory | None]
    size: int


class _Worker:
    """The subject and its framework, as far as they are loaded.

    Attributes
    ----------
    leave : callable
        Leaves a copy of this process and returns its process id, or 0.
    copy : int
        What it returned.
    tell : callable
        Tells the copy what has been imported since.
    """

    def __init__(self) -> None:
        self.leave: Callable[[], int] = lambda: 0
        self.tell: Callable[[], None] = lambda: None
        self.copy = 0
        self._limit: int | None = None
        self._found: Found | None = None
        self._framework: Arrays | None = None
        self._setting: Setting | None = None
        # Kept alive, so that memory they share with the next results is no accident.
        self._last: deque[_Call] = deque(maxlen=KEPT)

    def answer(self, request: dict[str, Any], arrays: Sequence[np.ndarray]) -> Answer:
        """Do what a frame asks and return the frame to send back."""
        work = {"load": self._load, "configure": self._configure, "recall": self._recall}
        try:
            return work.get(request["do"], self._call)(request, arrays)
        except tuple(_KINDS) as error:
            return {"failed": _KINDS[type(error)], "message": str(error)}, []
        except BaseException as error:  # noqa: BLE001  # sys.exit of a subject is no reason to die
            return self.raised(error), []

    def _load(self, request: dict[str, Any], _: Sequence[np.ndarray]) -> Answer:
        self._limit = request["memory_limit"]
        if self._limit is not None and not has_device():
            limit_memory(self._limit)
        sys.path.insert(0, os.getcwd())  # noqa: PTH109  # sys.path holds strings
        with seldom_collecting():
            found = self._found = find(parse(request["target"], Path.cwd()), request["style"])
        told = {"binding": found.binding.as_dict(), "profile": found.profile}
        style = None if found.bound is None else found.bound.as_dict()
        return {"offers": dict(found.keywords), "style": style, **told}, []

    def _configure(self, request: dict[str, Any], _: Sequence[np.ndarray]) -> Answer:
        with seldom_collecting():
            import_framework(request["array"])
        settle()
        self.copy = self.leave()
        framework = self._framework = framework_named(request["array"], request["device"])
        if self._limit is not None and has_device():
            limit_memory(self._limit)
        self._bind(request)
        modules = {"ropespec": "ropespec", **{f.name: f.module for f in FRAMEWORKS.values()}}
        versions = {
            name: str(sys.modules[module].__version__)
            for name, module in modules.items()
            if hasattr(sys.modules.get(module), "__version__")
        }
        environment = {
            "python": platform.python_version(),
            **versions,
            "device": framework.device,
        }
        return {"environment": environment, "copy": self.copy}, []

    def _bind(self, request: dict[str, Any]) -> None:
        """Make the rotation of a style under the claims."""
        assert self._found is not None
        if self._found.bound is not None:
            profile = Profile.from_mapping(request["profile"])
            setting = Setting(profile, Space(profile.framework), way=request["way"])
            self._setting = setting
            self._found.functions["apply_rotary"] = self._found.bound.binds.rotation(setting)

    def _recall(self, request: dict[str, Any], _: Sequence[np.ndarray]) -> Answer:
        """Return what the memory of earlier results holds now."""
        kept = {call.number: call.items for call in self._last}
        if missing := [number for number in request["numbers"] if number not in kept]:
            raise _Refusal(f"results of calls {missing} are not kept")
        found = [Returned.of(item) for number in request["numbers"] for item in kept[number]]
        return {}, [one.value for one in found]

    def _call(self, header: dict[str, Any], arrays: Sequence[np.ndarray]) -> Answer:
        assert self._framework is not None
        framework = self._framework
        with framework.scope(arrays):
            where: Place | None = None
            try:
                made = _made(framework, arrays, header)
                asked = Question.unpacked(header, [one.array for one in made])
                if asked.do == "into":
                    where = placed(framework, made[0], arrays[0], asked.kind)
                    arguments = (where.x, *asked.arguments[1:])
                    named = {**asked.keywords, OUT: where.out}
                    asked = replace(asked, arguments=arguments, keywords=named)
            except NotPossible:
                raise
            except Exception as error:
                text = f"the arguments cannot be made: {type(error).__name__}: {error}"
                raise _Refusal(text) from error
            call = self._prepared(asked)
            if self._setting is not None:
                self._setting.forget()
            with littered(arrays[0] if arrays else np.empty(0)):
                began = time.perf_counter()
                result = call()
                framework.finish(result)
                seconds = time.perf_counter() - began
            self.tell()
            if self._setting is not None and asked.do != "call":
                self._setting.copies.clear()  # what is traced holds nothing
            items = results(result)
            answer, values = self._report(header["seq"], items, made, framework)
            answer["seconds"] = seconds
            answer["is_out"] = answer["outside"] = False
            if where is not None:
                answer["is_out"] = len(items) == 1 and same_place(items[0], where.out)
                answer["outside"] = where.outside()
            return answer, values

    def _prepared(self, asked: Question) -> Callable[[], Any]:
        """Return what is to be called, without arguments."""
        assert self._framework is not None
        if asked.do == "vjp":
            return self._vjp(asked)
        function = self._function(asked.function)
        given, named = list(asked.arguments), dict(asked.keywords)
        call = functools.partial(function, *given, **named)
        if asked.do == "refilled":
            return functools.partial(_refilled, call, given, asked.extra)
        if asked.do == "transform":
            under = Request(function, named, given, list(asked.extra), asked.axes)
            return functools.partial(self._framework.apply, asked.kind, under)
        return call

    def _function(self, name: str) -> Callable[..., Any]:
        assert self._found is not None
        if name not in self._found.functions:
            raise _Refusal(f"the subject does not offer {name}")
        return self._found.functions[name]

    def _vjp(self, asked: Question) -> Callable[[], Any]:
        assert self._found is not None
        assert self._framework is not None
        x, *rest = asked.arguments
        (cotangent,) = asked.extra
        if asked.function == "apply_rotary" and VJP in self._found.functions:
            taken = self._found.keywords[VJP]
            named = {k: v for k, v in asked.keywords.items() if k in taken or k not in KEYWORDS}
            return functools.partial(self._found.functions[VJP], cotangent, *rest, **named)
        function = self._function(asked.function)
        return functools.partial(
            self._framework.gradient,
            lambda x: function(x, *rest, **asked.keywords),
            x,
            cotangent,
        )

    def _report(
        self,
        number: int,
        items: list[object],
        made: Sequence[Argument],
        framework: Arrays,
    ) -> Answer:
        """Describe results and keep them."""
        returned: list[Returned] = []
        for item in items:
            room = MOST_BYTES - sum(one.value.nbytes for one in returned)
            returned.append(Returned.of(item, room))
        inner = [] if self._setting is None else self._setting.returned
        places = [memory_of(item) for item in items]
        # What a style joined lies in fresh memory: what was returned to it is looked at too.
        joined = [memory_of(item) for item in inner]
        given = [memory_of(argument.backing) for argument in made]
        earlier = [place for call in self._last for place in call.places]
        table = [
            {
                "dtype": one.dtype,
                "is_array": one.framework == framework.name,
                "device": one.device,
                "alias": overlap((place, *joined), given),
                "reused": overlap((place, *joined), earlier),
                "description": one.described_beside(framework.name),
            }
            for place, one in zip(places, returned, strict=True)
        ]
        written = [argument.written() for argument in made]
        if written and self._setting is not None:
            written[0] |= any(framework.differ(*pair) for pair in self._setting.copies)
        values = [one.value for one in returned]
        size = sum(value.nbytes for value in values)
        self._last.append(_Call(number, items, [*inner], [*places, *joined], size))
        while len(self._last) > 1 and sum(call.size for call in self._last) > _MOST_KEPT:
            self._last.popleft()
        way = None if self._setting is None else self._setting.way
        return {"results": table, "written": written, "way": way}, values

    def raised(self, error: BaseException) -> dict[str, Any]:
        """Return what to say of an exception."""
        try:
            text = " ".join(str(error).split())
        except Exception:  # noqa: BLE001  # the __str__ is the subject's
            text = "its message cannot be read"
        bases = [kind.__name__[:100] for kind in type(error).__mro__ if kind is not object]
        root = self._found.root if self._found is not None else ""
        detail = _traceback(error, root)
        return {"failed": "raised", "types": bases[:20], "message": text[:1000], "detail": detail}


def _made(
    framework: Arrays, arrays: Sequence[np.ndarray], header: dict[str, Any]
) -> list[Argument]:
    views = [_view(item, header) for item in arrays]
    own = header.get("strided_cotangent")
    if own is not None:
        views[-1] = GAPS if own is True else own or ""
    return [framework.argument(*one) for one in zip(arrays, views, strict=True)]


def _view(item: np.ndarray, header: dict[str, Any]) -> str:
    floating = item.dtype.kind in _FLOATING
    asked = header["strided" if floating else "strided_positions"]
    of_numbers = floating or item.dtype.kind in "iu"
    return (GAPS if asked is True else asked or "") if of_numbers else ""


def _refilled(call: Callable[[], Any], given: Sequence[Any], others: Sequence[Any]) -> Any:  # noqa: ANN401  # whatever a subject returns
    """Call, write other values into the memory of the same arguments, and call again."""
    call()
    for array, other in zip(given, others, strict=True):
        array[...] = other
    return call()


def _traceback(error: BaseException, root: str) -> str:
    """Return the frames of the subject itself, or the innermost three where it has none."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_OURS)
    ]
    own = [frame for frame in frames if root and frame.filename.startswith(root)]
    return "".join(traceback.format_list((own or frames)[-8 if own else -3 :])).rstrip()[-4000:]


def _serve(channel: Channel, worker: _Worker) -> None:
    """Answer until the session closes the connection."""
    own = os.getpid()
    while True:
        try:
            frame = channel.receive()
            number = {"seq": frame.header["seq"]}
            header, arrays = worker.answer(frame.header, frame.arrays)
            if os.getpid() != own:
                os._exit(0)  # a subject forked, and its child came back here
            try:
                channel.send(header | number, arrays)
            except (MemoryError, TypeError, ValueError) as error:
                channel.send(worker.raised(error) | number)
        except Disconnected:
            return


def _connected(where: str) -> socket.socket:
    """Return the connection: a descriptor, or `:port` of the session with a word on the input."""
    if not where.startswith(":"):
        os.set_inheritable(int(where), False)
        return socket.socket(fileno=int(where))
    connection = socket.create_connection(("127.0.0.1", int(where[1:])))
    connection.sendall(sys.stdin.buffer.read())
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def main() -> None:
    """Serve until the session closes the connection.

    Called with two arguments: the connection, and the descriptor of a socket over which copies of
    this process get theirs, or -1.
    """
    faulthandler.enable()
    where, line = sys.argv[1], int(sys.argv[2])
    sys.argv[1:] = []
    go_first()
    channel = Channel(_connected(where))
    worker = _Worker()
    if line < 0:
        _serve(channel, worker)
        return
    die_with_parent()
    os.set_inheritable(line, False)
    imports = Imports()
    worker.tell = imports.tell
    before = opened()

    def serve(connection: socket.socket) -> None:
        worker.leave = lambda: 0
        _serve(Channel(connection), worker)

    worker.leave = lambda: leave_copy(line, channel, before, imports, serve)
    _serve(channel, worker)
    if worker.copy:
        finish()


if __name__ == "__main__":
    main()

"""One call of a subject, and whatever it does is an answer."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.subject.session import (
    NotClaimed,
    NotDifferentiable,
    NotPossible,
    Rotated,
    Session,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
)

__all__ = ["Answer", "Asker"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to.

    Attributes
    ----------
    given : Given
        What was asked.
    y : ndarray or None
        (B, S, H, D) in float64; None if no array like x came.
    fault : str
        What came instead: `raises`, `crash`, `timeout`, `no array`, `axes`, `shape`, `complex`,
        `dtype`; empty if it is as it should be. With `dtype` there is a y.
    detail : str
        What it said.
    written : tuple of str
        Arguments that were written to.
    aliased, reused : bool
        Whether the result shares memory with an argument, or with a result of an earlier call.
    """

    given: Given
    y: Array | None
    fault: str = ""
    detail: str = ""
    written: tuple[str, ...] = ()
    aliased: bool = False
    reused: bool = False


@dataclass(slots=True)
class Asker:
    """Calls one function of a subject, and counts.

    Attributes
    ----------
    session : Session
        The subject.
    function : str
        The rotation that is called.
    backward : bool
        Whether the gradient is asked for; x is then the cotangent.
    calls : int
        How many calls were made.
    past : list of Given
        Those since the instance was started.
    """

    session: Session
    function: str = "apply_rotary"
    backward: bool = False
    calls: int = 0
    past: list[Given] = field(default_factory=list)

    def fresh(self) -> None:
        """Start a fresh instance, which remembers nothing."""
        self.session.refresh()
        self.past.clear()

    def ask(self, given: Given) -> Answer | None:
        """Call it; None for what is not claimed."""
        self.calls += 1
        given = replace(given, past=tuple(self.past))
        try:
            rotated = self._rotated(given)
        except (NotClaimed, NotPossible):
            return None
        except NotDifferentiable as error:
            return Answer(given, None, "no gradient", error.message)
        except (SubjectCrashed, SubjectTimeout) as error:
            self.past.clear()
            fault = "timeout" if isinstance(error, SubjectTimeout) else "crash"
            return Answer(given, None, fault, error.message)
        except SubjectError as error:
            said = f"{error.type_name}: " if isinstance(error, SubjectRaised) else ""
            return Answer(given, None, "raises", f"{said}{error.message}")
        finally:
            if len(self.past) < _REMEMBERED:
                self.past.append(given.alone())
        return _answer(given, rotated)

    def _rotated(self, given: Given) -> Rotated:
        how: dict[str, Any] = {
            "keywords": {
                "interleaved": given.interleaved,
                "base": given.base,
                "rotary_dim": given.rotary_dim,
            },
            "strided": given.strided,
            "function": self.function,
        }
        if given.rotary_dim is None:
            del how["keywords"]["rotary_dim"]
        if self.backward:
            point = np.ones_like(given.x)
            return self.session.rotate_vjp(point, given.positions, given.x, **how)
        how["strided_positions"] = given.strided_positions
        return self.session.rotate(given.x, given.positions, **how)


_REMEMBERED = 600


def _answer(given: Given, rotated: Rotated) -> Answer:
    reply = rotated.reply
    written = tuple(
        name for name, changed in zip(("x", "positions"), reply.written, strict=False) if changed
    )
    marks = {"written": written, "aliased": any(reply.aliases), "reused": any(reply.reused)}
    told = ", ".join(reply.descriptions) or "nothing"
    if len(reply.values) != 1 or not reply.is_array[0]:
        return Answer(given, None, "no array", told, **marks)  # type: ignore[arg-type]  # by name
    got = reply.values[0]
    if got.dtype.kind == "c":
        return Answer(given, None, "complex", told, **marks)  # type: ignore[arg-type]
    if not rotated.shape_ok:
        same = sorted(got.shape) == sorted(given.x.shape)
        return Answer(given, None, "axes" if same else "shape", told, **marks)  # type: ignore[arg-type]
    y = rotated.y.astype(np.float64)
    fault = "" if reply.dtypes[0] == given.dtype else "dtype"
    return Answer(given, y, fault, told, **marks)  # type: ignore[arg-type]

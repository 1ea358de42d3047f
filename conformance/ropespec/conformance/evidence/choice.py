"""Which of the calls that were made shows a failure, and by which script."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.draft import Draft
from ropespec.conformance.evidence.literal import TOO_LONG
from ropespec.conformance.evidence.script import (
    Setting,
    call_script,
    gradient_script,
    into_script,
    property_script,
    raising_script,
    rotation_script,
    score_script,
)
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.judge.rotation import Rotation, error_ratios
from ropespec.conformance.subject.asked import Asked
from ropespec.conformance.subject.binding import PLAIN
from ropespec.conformance.trial import Trial

__all__ = ["ROTATIONS", "Choice", "Element", "choose"]

ROTATIONS = ("apply_rotary", "apply_rotary_dense", "apply_rotary_complex")
BY_TABLES = "apply_rotary_cos_sin"
VJP = "apply_rotary_vjp"

_FEW_CALLS = 8
_FEW_NUMBERS = 4096
_PLACE = re.compile(r"^(.*?)(\.real|\.imag)?\[([\d, ]*)\]$")


class Element(NamedTuple):
    """An element of a result that is off, and how many are.

    Attributes
    ----------
    where : str
        Such as `y[0, 0, 0, 1]`.
    expected, got, budget : float or None
        What it must be, is, and may be off by.
    off, of : int or None
        How many elements exceed their budget, and of how many.
    """

    where: str
    expected: float | None
    got: float | None
    budget: float | None
    off: int | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What shows a failure.

    Attributes
    ----------
    calls : tuple of Asked
        The calls to be told of: one, or the two rotations of a score.
    element : Element
        What is off in them.
    drafts : tuple of Draft
        Scripts that should show it, the shortest first.
    reason : str
        Why there is none.
    """

    calls: tuple[Asked, ...]
    element: Element
    drafts: tuple[Draft, ...] = ()
    reason: str = ""


class _Place(NamedTuple):
    """`y.real[0, 1]` taken apart."""

    name: str
    part: str
    at: tuple[int, ...]

    @classmethod
    def of(cls, where: str) -> "_Place | None":
        if (match := _PLACE.match(where)) is None:
            return None
        numbers = (text.strip() for text in match[3].split(",") if text.strip())
        return cls(match[1], match[2] or "", tuple(map(int, numbers)))


class _Off(NamedTuple):
    """A rotation that is not R_m x, and where."""

    asked: Asked
    at: tuple[int, ...]
    element: Element


def choose(trial: Trial, finding: Finding, tape: Sequence[Asked]) -> Choice:
    """Find what shows a failure among the calls of a check.

    Parameters
    ----------
    trial : Trial
        The subject.
    finding : Finding
        What the check found; one that is simply broken where the subject raised.
    tape : sequence of Asked
        All its calls.
    """
    return _Chooser(trial, finding, tape).choice()


class _Chooser:
    def __init__(self, trial: Trial, finding: Finding, tape: Sequence[Asked]) -> None:
        self.trial = trial
        self.finding = finding
        self.tape = tape
        offer = trial.session.offers.get("apply_rotary")
        binding = offer.binding if offer is not None else PLAIN
        session = trial.session
        self.setting = Setting(session.target, trial.profile, binding, session.style)
        self.place = _Place.of(finding.where)
        self.said = Element(
            finding.where,
            finding.expected,
            finding.got,
            finding.budget,
            finding.off,
            finding.of,
        )

    def choice(self) -> Choice:
        numbers = self.finding.expected is not None and self.finding.got is not None
        for found in self._of_numbers() if numbers else self._of_words():
            return found
        return Choice(self._told(), self.said, reason=self._reason())

    def _of_numbers(self) -> Iterator[Choice]:
        call = self.finding.call
        if self.place is not None and self.place.name.startswith("score"):
            yield from self._scores()
        if call is not None and call.function not in ROTATIONS:
            yield from self._elements()
        yield from self._rotations()
        yield from self._gradients()
        yield from self._into()
        yield from self._elements()

    def _of_words(self) -> Iterator[Choice]:
        yield from self._raised()
        yield from self._properties()
        yield from self._rotations()
        yield from self._gradients()

    # Numbers

    def _rotations(self) -> Iterator[Choice]:
        """The rotation whose x is told of, or the smallest of those that are off."""
        given = self.finding.call.arrays[0] if self.finding.call is not None else None
        found = [off for asked in self.tape if (off := self._off(asked)) is not None]
        for off in sorted(found, key=lambda one: (one.asked.arrays[0] is not given, _size(one)))[
            :1
        ]:
            named = self.place is None or self.place.name == "y"
            remark = "" if named else f"one of the rotations behind {self.finding.where}"
            drafts = tuple(
                _drafted(
                    rotation_script(self.setting, off.asked, off.at, before=before, remark=remark),
                    off.element,
                )
                for before in self._before(off.asked)
            )
            yield Choice((off.asked,), off.element if named else self.said, drafts)

    def _off(self, asked: Asked) -> _Off | None:
        if asked.do not in ("rotate", "unrecorded") or not _is_rotation(asked):
            return None
        assert asked.y is not None
        x, positions = asked.arrays
        exact = Rotation.of(x, positions, self.setting.convention(asked))
        return self._beyond(asked, asked.y, exact, "y")

    def _beyond(self, asked: Asked, got: NDArray[Any], exact: Rotation, name: str) -> _Off | None:
        allowed = exact.allowed(self.trial.loosest(exact.dtype), self.trial.machine)
        y = got.astype(np.float64)
        same = (y == exact.y) | (np.isnan(y) & np.isnan(exact.y))  # infinities among them
        ratios = np.where(same, 0.0, error_ratios(y, exact.y, allowed))
        if not ratios.max(initial=0.0) > 1.0:
            return None
        at = tuple(int(i) for i in np.unravel_index(int(np.argmax(ratios)), ratios.shape))
        if self.place is not None and self.place.name == name and self._is_in(y, ratios):
            at = self.place.at
        off = int(np.count_nonzero(ratios > 1.0))
        where = f"{name}[{', '.join(map(str, at))}]"
        values = float(exact.y[at]), float(y[at]), float(allowed[at])
        if (where, *values[:2]) == self.said[:3]:
            return _Off(asked, at, self.said._replace(off=off, of=ratios.size))
        return _Off(asked, at, Element(where, *values, off, ratios.size))

    def _is_in(self, y: NDArray[Any], ratios: NDArray[Any]) -> bool:
        """Whether the element that was found is that of this result, and is off in it."""
        assert self.place is not None
        index = self.place.at
        if len(index) != y.ndim or any(i >= n for i, n in zip(index, y.shape, strict=True)):
            return False
        return _same(float(y[index]), self.finding.got) and bool(ratios[index] > 1.0)

    def _before(self, asked: Asked) -> Iterator[tuple[Asked, ...]]:
        """No calls before it; and those that were, if they are few and small."""
        yield ()
        place = next(i for i, one in enumerate(self.tape) if one is asked)
        start = max((i + 1 for i in range(place) if self.tape[i].do == "refresh"), default=0)
        others = tuple(self.tape[start:place])
        few = 0 < len(others) <= _FEW_CALLS and all(one.do == "rotate" for one in others)
        if few and sum(one.arrays[0].size for one in others) <= _FEW_NUMBERS:
            yield others

    def _scores(self) -> Iterator[Choice]:
        turned = [one for one in self.tape if one.do == "rotate" and _is_rotation(one)]
        for query, key in itertools.combinations(turned[: _FEW_CALLS + 2], 2):
            if query.y is None or key.y is None or query.y.shape != key.y.shape:
                continue
            got = np.sum(query.y.astype(np.float64) * key.y.astype(np.float64), axis=-1)
            if self._is_found(got):
                assert self.place is not None
                source = score_script(self.setting, query, key, self.place.at)
                yield Choice((query, key), self.said, (_drafted(source, self.said),))

    def _gradients(self) -> Iterator[Choice]:
        for asked in self.tape:
            if asked.do != "vjp" or asked.y is None or asked.function != "apply_rotary":
                continue
            (cotangent,) = asked.extra
            exact = Rotation.of(cotangent, -asked.arrays[1], self.setting.convention(asked))
            off = self._beyond(asked, asked.y, exact, "gradient")
            if off is None:
                continue
            called, own = self._own_gradient(asked)
            source = gradient_script(self.setting, called, off.at, own=own)
            yield Choice((asked,), off.element, (_drafted(source, off.element),))

    def _own_gradient(self, asked: Asked) -> tuple[Asked, str]:
        """The call as the gradient of the subject's own takes it, and the name of that function."""
        offer = self.trial.session.offers.get(VJP)
        if offer is None:
            return asked, ""
        kept = {name: value for name, value in asked.keywords.items() if name in offer.keywords}
        return replace(asked, keywords=kept), VJP

    def _into(self) -> Iterator[Choice]:
        for asked in self.tape:
            if asked.do != "into" or asked.kind not in ("new", "strided", "self"):
                continue
            if asked.reply is None or not self._is_found(asked.reply.values[0], "out"):
                continue
            assert self.place is not None
            assert self.finding.expected is not None
            source = into_script(self.setting, asked, self.place.at, self.finding.expected)
            yield Choice((asked,), self.said, (Draft(source, self.finding.budget or 0.0),))

    def _elements(self) -> Iterator[Choice]:
        """The call that returned the very number that was found."""
        if self.place is None or self.finding.expected is None:
            return
        budget = self.finding.budget or 0.0
        for asked in self.tape:
            if asked.do == "rotate" and asked.y is not None and self._is_found(asked.y):
                yield Choice((asked,), self.said, self._literally(asked, self.place.at))
            if asked.do != "call" or asked.reply is None:
                continue
            for item, value in enumerate(asked.reply.values):
                if self._is_found(value):
                    part = self.place.part
                    at = self.place.at
                    expected = self.finding.expected
                    source = call_script(self.setting, asked, item, at, part, expected)
                    yield Choice((asked,), self.said, (Draft(source, budget),))

    def _literally(self, asked: Asked, index: tuple[int, ...]) -> tuple[Draft, ...]:
        """A rotation against the number that was expected of it, whatever the formula gives."""
        sources = (
            rotation_script(
                self.setting, asked, index, before=before, expected=self.finding.expected
            )
            for before in self._before(asked)
        )
        return tuple(Draft(source, self.finding.budget or 0.0) for source in sources)

    def _is_found(self, values: NDArray[Any], name: str = "") -> bool:
        """Whether these hold, at the place of the finding, what was found there."""
        if self.place is None or (name and self.place.name != name):
            return False
        index, part = self.place.at, self.place.part
        if len(index) != values.ndim or any(
            i >= n for i, n in zip(index, values.shape, strict=True)
        ):
            return False
        value = values[index]
        if np.iscomplexobj(values) != bool(part):
            return False
        number = {".real": np.real, ".imag": np.imag}[part](value) if part else value
        return _same(float(number), self.finding.got)

    # Words

    def _raised(self) -> Iterator[Choice]:
        for asked in reversed(self.tape):
            if not asked.raised:
                continue
            if asked.do in ("rotate", "call"):
                source = raising_script(self.setting, asked)
            elif asked.do == "vjp":
                called, own = self._own_gradient(asked)
                source = gradient_script(self.setting, called, (0,) * 4, own=own)
            else:
                continue
            yield Choice((asked,), self.said, (Draft(source, raises=asked.raised),))
            return

    def _properties(self) -> Iterator[Choice]:
        for asked in self.tape:
            if asked.reply is None:
                continue
            if asked.do == "into" and asked.kind == "new" and not asked.reply.is_out:
                yield Choice((asked,), self.said, (Draft(into_script(self.setting, asked)),))
                return
            about, which = self._about(asked) if asked.do in ("rotate", "call") else ("", 0)
            if about:
                source = property_script(self.setting, asked, about, which)
                yield Choice((asked,), self.said, (Draft(source),))
                return

    def _about(self, asked: Asked) -> tuple[str, int]:
        """Say what of a reply is not as it must be, other than its numbers, and of which array."""
        reply = asked.reply
        assert reply is not None
        if "accept" in self.finding.message:
            return ("accepted" if self._is_told(asked) else "", 0)
        rotates = asked.function in ROTATIONS and asked.do == "rotate"
        if not rotates and asked.function != BY_TABLES:
            return "", 0
        if True in reply.written:
            return "written", reply.written.index(True)
        x = asked.arrays[0]
        facts = {
            "results": len(reply.values) != 1,
            "type": not all(reply.is_array),
            "shape": rotates and asked.y is None,
            "dtype": reply.dtypes[0] != x.dtype.name,
            "shared": any(reply.aliases),
            "reused": any(reply.reused),
        }
        return next((about for about, is_so in facts.items() if is_so), ""), 0

    def _is_told(self, asked: Asked) -> bool:
        call = self.finding.call
        return call is not None and call.function == asked.function

    # Neither

    def _told(self) -> tuple[Asked, ...]:
        call = self.finding.call
        if call is not None:
            return (Asked("rotate", call.function, call.arrays, dict(call.keywords)),)
        return tuple(one for one in self.tape if one.do != "refresh")[-1:]

    def _reason(self) -> str:
        array = self.trial.profile.array
        for asked in self.tape:
            if asked.do == "transform":
                return f"it takes `{asked.kind}` of {array}"
            if asked.do == "refilled":
                return "it takes memory that is filled anew between two calls"
            if asked.do in ("vjp", "gradient"):
                return f"it is about what a gradient by {array} leaves behind"
            if asked.do == "into":
                return "it is about the memory around `out`"
        asked_of = dict.fromkeys(one.function for one in self.tape if one.do != "refresh")
        if len(self.tape) > 1:
            return f"no call of {' or '.join(asked_of)} is off by itself, they are together"
        return f"it is about what follows from the result of {' or '.join(asked_of)}"


def _is_rotation(asked: Asked) -> bool:
    """Whether a rotation gave back real numbers of the shape of x."""
    return (
        asked.function in ROTATIONS
        and asked.y is not None
        and asked.arrays[0].size > 0
        and asked.y.shape == asked.arrays[0].shape
        and not np.iscomplexobj(asked.y)
    )


def _drafted(source: str, element: Element) -> Draft:
    """A script that must find the exact value by its formula, unless it is given other numbers."""
    exact = None if TOO_LONG in source else element.expected
    return Draft(source, element.budget or 0.0, exact)


def _size(off: _Off) -> int:
    return int(off.asked.arrays[0].size)


def _same(first: float, second: float | None) -> bool:
    if second is None:
        return False
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-300) or (
        math.isnan(first) and math.isnan(second)
    )

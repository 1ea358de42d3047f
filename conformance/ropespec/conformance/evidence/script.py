"""Short scripts that show a failure again with NumPy and the subject alone.

The last line that each prints ends in `expected A got B`; see `Draft`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ropespec.conformance.evidence.literal import array_source
from ropespec.conformance.evidence.source import (
    Argument,
    argument,
    imports,
    in_our_order,
    in_subject_order,
    passed,
    styled_source,
    subject_source,
)
from ropespec.conformance.frameworks import Framework
from ropespec.conformance.judge import oracle
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.asked import Asked
from ropespec.conformance.subject.binding import PLAIN, Binding
from ropespec.conformance.subject.layout import positions_for_subject, to_subject
from ropespec.conformance.subject.styled import Styled
from ropespec.spec.axes import Told
from ropespec.spec.convention import Convention, Pairing

__all__ = [
    "Setting",
    "call_script",
    "gradient_script",
    "into_script",
    "property_script",
    "raising_script",
    "rotation_script",
    "score_script",
]

# Up to here float64 angles are exact to 1e-9, far below what any failure is about.
FLOAT64_POSITION = 2**20

Lines = list[str]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a subject is, and how it is called.

    Attributes
    ----------
    target : str
        As given to `ropespec check`.
    profile : Profile
        Its claims: framework, axes, device.
    binding : Binding
        How its rotation takes x and positions.
    style : Styled or None
        How a style binds its rotation.
    """

    target: str
    profile: Profile
    binding: Binding = PLAIN
    style: Styled | None = None

    @property
    def room(self) -> Framework:
        """What is known of its framework."""
        return self.profile.framework

    def begin(self, *asked: Asked) -> Lines:
        """Write the imports, and the lines that find the functions that are called."""
        arrays = [value for one in asked for value in (*one.arrays, *one.extra)]
        arrays += [value for one in asked for value in one.keywords.values()]
        functions = dict.fromkeys(one.function for one in asked)
        first, *others = (self._found(name) for name in functions)
        more = [line for lines in others for line in lines if line not in first]
        return [*imports(self.target, self.profile, arrays), *first, *more]

    def _found(self, function: str) -> Lines:
        if self.style is not None and function == "apply_rotary":
            return styled_source(self.target, self.style, self.profile, function)
        return subject_source(self.target, function)

    def call(self, function: str, words: Sequence[str]) -> str:
        """Write a call with these arguments; a rotation takes x and positions in its own way."""
        if function == "apply_rotary":
            words = [*self.binding.words(*words[:2]), *words[2:]]
        return f"{function}({', '.join(words)})"

    def convention(self, asked: Asked) -> Convention:
        """Return the convention that is expected of a call; equal numbers are one position."""
        by = self.profile.rotation.stating(**asked.stated)
        return by if asked.arrays[1].ndim == 3 else by.text


def rotation_script(
    setting: Setting,
    asked: Asked,
    where: Sequence[int],
    *,
    before: Sequence[Asked] = (),
    expected: float | None = None,
    remark: str = "",
) -> str:
    """Write a script that rotates x by the formula and by the subject.

    Parameters
    ----------
    setting : Setting
        The subject.
    asked : Asked
        A rotation, of x (batch, sequence, heads, head_dim) whatever the axes of the subject.
    where : sequence of int
        The element that is printed last.
    before : sequence of Asked
        Rotations that come before it in the same process.
    expected : float or None
        What that element must be; None to have it computed by the formula.
    remark : str
        What the script shows, for its first line; empty if that goes without saying.
    """
    lines = [f"# {remark}"] if remark else []
    lines += setting.begin(asked, *before)
    for number, one in enumerate(before, start=1):
        names = f"x_{number}", f"positions_{number}"
        made, call = _rotation(setting, one, names)
        lines += [*_given(one, names), *made, call]
    lines += _given(asked)
    made, call = _rotation(setting, asked)
    if expected is None:
        lines += _formula(setting, asked)
        lines += [*made, *_result(setting, asked, call), *_whole(asked)]
        return _text(lines, _element("y", "expected[at]", "got[at]", where))
    lines += [*made, *_result(setting, asked, call)]
    return _text(lines, _element("y", _literal(expected), "got[at]", where))


def score_script(setting: Setting, query: Asked, key: Asked, where: Sequence[int]) -> str:
    """Write a script that takes the inner products of two rotations, by the formula and as got.

    Parameters
    ----------
    setting : Setting
        The subject.
    query, key : Asked
        The two rotations.
    where : sequence of int
        Batch, token and head of the score that is printed last.
    """
    lines = setting.begin(query, key)
    for one, name, other in ((query, "q", "m"), (key, "k", "n")):
        names = (name, other)
        made, call = _rotation(setting, one, names)
        lines += [*_given(one, names), *_formula(setting, one, names)]
        lines += [*made, *_result(setting, one, call)]
        lines.append(f"exact_{name}, got_{name} = expected, got")
    lines.append("expected = np.sum(exact_q * exact_k, axis=-1)")
    lines.append("got = np.sum(got_q * got_k, axis=-1)")
    return _text(lines, _element("score", "expected[at]", "got[at]", where))


def gradient_script(setting: Setting, asked: Asked, where: Sequence[int], *, own: str = "") -> str:
    """Write a script that takes the gradient of <c, f(x, positions)> with respect to x.

    It must be c turned by the opposite positions.

    Parameters
    ----------
    setting : Setting
        The subject, of a framework that has gradients.
    asked : Asked
        The rotation; its `extra` is the cotangent c.
    where : sequence of int
        The element of the gradient that is printed last.
    own : str
        The function of the subject that takes the gradient, with the same keywords; empty if it is
        that of the framework.
    """
    if own:
        asked = replace(asked, function=own)
    names = ("x", "positions")
    cotangent = asked.extra[0]
    lines = [*setting.begin(asked), *_given(asked), *array_source("c", cotangent)]
    lines += _formula(setting, asked, ("c", "-positions"))
    profile, width = setting.profile, asked.arrays[0].shape[-1]
    made, x = _rotation_x(setting, asked)
    lines += made
    sent = in_subject_order("c", width, profile, result=True)
    made, c = argument(sent, cotangent, profile, strided=asked.strided)
    lines += made
    more, positions = _positions(setting, asked, names[1])
    lines += more
    rest = [positions, *_keywords(asked.keywords)]
    if own:
        lines.append(f"y = {setting.call(own, [c, *rest])}")
    else:

        def call(word: str) -> str:
            return setting.call(asked.function, [word, *rest])

        lines += setting.room.gradient(call, x, c)
    y = in_our_order(setting.room.as_float64("y"), width, profile, result=False)
    lines.append(f"got = {y}")
    return _text(lines, _element("gradient", "expected[at]", "got[at]", where))


def into_script(
    setting: Setting, asked: Asked, where: Sequence[int] = (), expected: float | None = None
) -> str:
    """Write a script that calls a function with `out`, and looks at what it holds then.

    Parameters
    ----------
    setting : Setting
        The subject.
    asked : Asked
        The call, with arrays as they are sent, of kind `new`, `strided` or `self`.
    where : sequence of int
        The element of `out` that is printed last.
    expected : float or None
        What it must be; None to look at nothing but whether `out` is what is returned.
    """
    made, words = passed(asked.arrays, asked.keywords, setting.profile, strided=asked.strided)
    like = argument("nothing", asked.arrays[0], setting.profile, strided=asked.kind == "strided")
    lines = [*setting.begin(asked), *made, f"x = {words[0]}"]
    if asked.kind == "self":
        lines.append("out = x")
    else:
        lines += ["nothing = np.full_like(argument_1, np.nan)", *like[0], f"out = {like[1]}"]
    lines.append(f"y = {setting.call(asked.function, ['x', *words[1:], 'out=out'])}")
    if expected is None:
        said = '"out" if y is out else "another array"'
        return _text(lines, f'print("result: expected out got", {said})')
    lines.append(f"got = {setting.room.as_float64('out')}")
    return _text(lines, _element("out", _literal(expected), "got[at]", where))


def call_script(
    setting: Setting, asked: Asked, item: int, where: Sequence[int], part: str, expected: float
) -> str:
    """Write a script that calls any function, and looks at one element of what it returns.

    Parameters
    ----------
    setting : Setting
        The subject.
    asked : Asked
        The call, with arrays as they are sent.
    item : int
        Which of its results.
    where : sequence of int
        The element of it that is printed last.
    part : str
        `.real`, `.imag` or nothing.
    expected : float
        What it must be.
    """
    made, arguments = _arguments(setting, asked)
    lines = [*setting.begin(asked), *made]
    call = setting.call(asked.function, arguments)
    assert asked.reply is not None
    one = f"[{item}]" if len(asked.reply.values) > 1 else ""
    lines.append(f"y = {call}{one}")
    if part:
        lines.append(f"y = {setting.room.host('y')}{part}")
        lines.append("got = y.astype(np.float64)")
    else:
        lines.append(f"got = {setting.room.as_float64('y')}")
    return _text(lines, _element(asked.function, _literal(expected), "got[at]", where))


def property_script(setting: Setting, asked: Asked, about: str, which: int = 0) -> str:
    """Write a script that calls a function and looks at anything but its numbers.

    Parameters
    ----------
    setting : Setting
        The subject.
    asked : Asked
        The call.
    about : str
        One of `PROPERTIES`.
    which : int
        The argument that is looked at, for `written` and `shared`.
    """
    lines, arguments = _arguments(setting, asked)
    lines = [*setting.begin(asked), *lines]
    if about in ("written", "shared"):
        lines.append(f"given = {arguments[which]}")
        arguments[which] = "given"
    if about == "written":
        lines.append(f"before = {setting.room.as_float64('given')}.copy()")
    call = setting.call(asked.function, arguments)
    lines.append(f"y = {call}")
    if about == "reused":
        lines.append(f"z = {call}")
    return _text(lines, PROPERTIES[about].format(**_facts(setting, asked, which)))


PROPERTIES: Mapping[str, str] = {
    "results": 'print("results: expected 1 got", len(y))',
    "type": 'print("type: expected {type} got", type(y).__name__)',
    "dtype": 'print("dtype: expected {dtype} got", str(y.dtype).split(".")[-1])',
    "shape": 'print("shape: expected {shape} got", tuple(y.shape))',
    "written": "same = before.tobytes() == {given}.tobytes()\n"
    'print("{name} after the call: expected as before got", "as before" if same else "changed")',
    "shared": 'print("memory shared with {name}: expected False got", {overlap})',
    "reused": 'print("memory shared with the result before: expected False got", {again})',
    "accepted": 'print("this call: expected an error got", type(y).__name__)',
}
"""What a script may look at, and the lines that print it."""


def raising_script(setting: Setting, asked: Asked) -> str:
    """Write a script that makes a call that raises."""
    lines, arguments = _arguments(setting, asked)
    call = setting.call(asked.function, arguments)
    return _text([*setting.begin(asked), *lines], f"print({call})")


def _arguments(setting: Setting, asked: Asked) -> tuple[Lines, list[str]]:
    """Write the arguments of a call of any kind: the lines before it, and one word for each."""
    if asked.do == "call":
        return passed(asked.arrays, asked.keywords, setting.profile, strided=asked.strided)
    made, x = _rotation_x(setting, asked)
    more, positions = _positions(setting, asked, "positions")
    return [*_given(asked), *made, *more], [x, positions, *_keywords(asked.keywords)]


def _facts(setting: Setting, asked: Asked, which: int) -> dict[str, str]:
    x = asked.arrays[0]
    shape = x.shape if isinstance(x, np.ndarray) else ()
    names: tuple[str, ...] = ("x", "cos", "sin")
    if asked.do == "rotate":
        shape = to_subject(x, setting.profile).shape
        names = ("x", "positions")
    return {
        "name": names[which],
        "type": setting.room.shown,
        "dtype": x.dtype.name if isinstance(x, np.ndarray) else "",
        "shape": str(tuple(int(n) for n in shape)),
        "given": setting.room.as_float64("given"),
        "overlap": setting.room.overlap.format("y", "given"),
        "again": setting.room.overlap.format("y", "z"),
    }


def _given(asked: Asked, names: tuple[str, str] = ("x", "positions")) -> Lines:
    return [
        line
        for name, value in zip(names, asked.arrays, strict=True)
        for line in array_source(name, value)
    ]


def _rotation(
    setting: Setting, asked: Asked, names: tuple[str, str] = ("x", "positions")
) -> Argument:
    """Write the call of a rotation: the lines before it, and the expression."""
    made, x = _rotation_x(setting, asked, names[0])
    more, positions = _positions(setting, asked, names[1])
    call = setting.call(asked.function, [x, positions, *_keywords(asked.keywords)])
    return [*made, *more], call


def _rotation_x(setting: Setting, asked: Asked, name: str = "x") -> Argument:
    x = asked.arrays[0]
    name = in_subject_order(name, x.shape[-1], setting.profile)
    return argument(name, x, setting.profile, strided=asked.strided)


def _positions(setting: Setting, asked: Asked, name: str) -> Argument:
    positions, rows = asked.arrays[1], f"{name}_by_number"
    if setting.profile.shared_positions or setting.profile.axes == "shd":
        # No row is left of an empty batch; any positions of the right number will do.
        name = f"{name}[0]" if len(positions) else f"np.arange({positions.shape[1]})"
    strided, count = asked.strided_positions, setting.profile.numbers
    if not count:
        return argument(name, positions, setting.profile, strided=strided)
    equal = f"np.stack([{name}] * {count})"
    made = f"np.moveaxis({name}, -1, 0)" if positions.ndim == 3 else equal
    sent = positions_for_subject(positions, setting.profile)
    more, word = argument(rows, sent, setting.profile, strided=strided)
    return [f"{rows} = {made}", *more], word


def _keywords(keywords: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in keywords.items()]


def _formula(setting: Setting, asked: Asked, names: tuple[str, str] = ("x", "positions")) -> Lines:
    """Write the rotation by its formula, in float64; beyond 2^20 the angles are long doubles."""
    x, positions = asked.arrays
    by = setting.convention(asked)
    dim = by.dim(x.shape[-1])
    base, width = f"{float(by.frequencies.base)!r}", f"{dim}"
    if positions.size > 0 and max(-int(positions.min()), int(positions.max())) > FLOAT64_POSITION:
        base, width = f"np.longdouble({base})", f"np.longdouble({dim})"
    if by.pairing is Pairing.INTERLEAVED:
        pair = f"np.s_[..., 0:{dim}:2], np.s_[..., 1:{dim}:2]"
    else:
        pair = f"np.s_[..., :{dim // 2}], np.s_[..., {dim // 2}:{dim}]"
    place = names[1] if names[1].isidentifier() else f"({names[1]})"
    of, made, cos, sin = by.frequencies, list[str](), "np.cos(angle)", "np.sin(angle)"
    angle = f"{place}[..., None, {list(by.axes) or None}] * theta"
    theta = f"{base} ** (-np.arange(0, {dim}, 2) / {width})"
    if of.scheme is not None:
        theta = f"np.array({oracle.frequencies(dim, of).tolist()})  # {of.scheme.name}"
        if by.axes and isinstance(of.scheme, Told):
            theta = f"np.array({[list(row) for row in of.scheme.frequencies]})  # by number"
            angle = f"{place}[..., None, :] @ theta"
        if of.gain != 1:
            made = [f"cos, sin = {float(of.gain)!r} * {cos}, {float(of.gain)!r} * {sin}"]
            cos, sin = "cos", "sin"
    return [
        f"theta = {theta}",
        f"angle = {angle}",
        f"first, second = {pair}",
        f"expected = {names[0]}.astype(np.float64)",
        "a, b = expected[first].copy(), expected[second].copy()",
        *made,
        f"expected[first] = a * {cos} - b * {sin}",
        f"expected[second] = a * {sin} + b * {cos}",
    ]


def _result(setting: Setting, asked: Asked, call: str) -> Lines:
    """Write the call of a rotation, and its result in the axes of x."""
    y = setting.room.as_float64("y")
    got = in_our_order(y, asked.arrays[0].shape[-1], setting.profile)
    lines = [f"y = {call}"]
    if asked.do == "unrecorded":
        lines = [f"with {setting.room.unrecorded}():", f"    y = {call}"]
    return [*lines, f"got = {got}"]


def _whole(asked: Asked) -> Lines:
    if asked.arrays[0].size > 16:
        return []
    return ['print("expected", expected.ravel(), "\\ngot     ", got.ravel())']


def _element(name: str, expected: str, got: str, where: Sequence[int]) -> str:
    place = f"at = {tuple(int(i) for i in where)}"
    return f'{place}\nprint("{name}", at, "expected", {expected}, "got", {got})'


def _literal(value: float) -> str:
    return repr(value) if np.isfinite(value) else f'float("{value}")'


def _text(lines: Lines, last: str) -> str:
    return "\n".join([*lines, last]) + "\n"

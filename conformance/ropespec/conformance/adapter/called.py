"""Calls of functions that do not take x and positions alone, by the names of their parameters."""

from collections.abc import Callable
from dataclasses import dataclass

from ropespec.conformance.adapter.words import Body, angles
from ropespec.conformance.frameworks.base import Words
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.binding import POSITIONS, Binding

__all__ = ["called"]

_FIRST = ("x", "q", "xq", "query", "t", "tensor", "input", "inputs", "hidden_states")
_SECOND = ("k", "xk", "key")
_OFFSETS = (
    "offset",
    "start_pos",
    "start_position",
    "start_index",
    "start",
    "seqlen_offset",
    "seqlen_offsets",
)
_BASES = (
    "base",
    "base_frequency",
    "freq_base",
    "rope_base",
    "rotary_base",
    "rope_theta",
    "theta_base",
    "max_wavelength",
)
_COMPLEX = ("freqs_cis", "freq_cis", "freqs_complex")
_TABLES = ("cos", "sin")
_FILL = "  # what stands as ... is yours to fill in"


@dataclass(frozen=True, slots=True)
class _Function:
    """A function to be called."""

    callee: str
    binding: Binding
    profile: Profile

    @property
    def words(self) -> Words:
        """Those of its framework."""
        return self.profile.framework.words

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that have to be given."""
        return self.binding.required

    def first(self, *names: str) -> str:
        """Return the first of its parameters with one of these names, or nothing."""
        return next((name for name in self.binding.parameters if name in names), "")

    @property
    def pick(self) -> str:
        """What takes the query out of a query and a key."""
        return "[0]" if set(_SECOND) & set(self.required) else ""

    def call(self, x: str = "x", **given: str) -> str:
        """Write a call, of any expression for x; what no name tells is left open."""
        if self.binding.fits and not self.binding.parameters:
            return f"{self.callee}(...)"  # its signature cannot be read
        base = repr(float(self.profile.base))
        told = dict.fromkeys((*_FIRST, *_SECOND), x) | dict.fromkeys(POSITIONS, "positions")
        told |= dict.fromkeys(_BASES, base) | given
        names = [name for name in self.binding.parameters if name in (*self.required, *given)]
        words = [f"{name}={told.get(name, '...')}" for name in names]
        return f"{self.callee}({', '.join(words)})"


def called(callee: str, binding: Binding, profile: Profile) -> Body:
    """Write a call.

    Parameters
    ----------
    callee : str
        The function.
    binding : Binding
        Its signature.
    profile : Profile
        What is claimed of it.
    """
    function = _Function(callee, binding, profile)
    body = next(how for applies, how in _STYLES if applies(function))(function)
    lines = [line + _FILL * ("=..." in line or "(...)" in line) for line in body.lines]
    return Body(lines, body.claims)


def _takes_tables(function: _Function) -> bool:
    return set(_TABLES) <= set(function.required)


def _by_tables(function: _Function) -> Body:
    """Tables of cos and sin: as wide as x for two operands, half as wide for one."""
    words = function.words
    cast = f"{words.cast}(x.dtype)"
    made = f"cos, sin = {words.name}.cos(angle).{cast}, {words.name}.sin(angle).{cast}"
    call = f"return {function.call(cos='cos', sin='sin')}{function.pick}"
    if not function.pick:
        # What counts on from an offset has one table, for all rows.
        shared = {"shared_positions": True} if function.first(*_OFFSETS) else {}
        return Body([*angles(function.profile), made, call], {"axes": "bshd", **shared})
    wide = f"angle = {words.name}.{words.cat}([angle, angle], -1)"
    own = "# Or by the tables of your module: cos, sin = rotary(x, positions)"
    lines = [*angles(function.profile), wide, made, own, call]
    return Body(lines, {"axes": "bhsd", "interleaved": False})


def _takes_complex(function: _Function) -> bool:
    return bool(set(_COMPLEX) & set(function.required))


def _by_complex(function: _Function) -> Body:
    """A table of e^{i m theta}, one row per token."""
    name = function.first(*_COMPLEX)
    made = f"{name} = {function.words.name}.exp(1j * angle)"
    call = f"return {function.call(**{name: name})}{function.pick}"
    lines = [*angles(function.profile), made, call]
    return Body(lines, {"axes": "bshd", "shared_positions": True, "interleaved": True})


def _takes_two(function: _Function) -> bool:
    return bool(function.pick and POSITIONS & set(function.required))


def _flattened(function: _Function) -> Body:
    """Tokens of all rows in one line, heads beside each other, in place or not."""
    copy = f"rows.{function.words.copy}"
    given = {function.first(*_FIRST): "y", function.first(*_SECOND): copy}
    given[function.first(*POSITIONS)] = "positions.reshape(-1)"
    lines = [
        "rows = x.reshape(-1, x.shape[-2] * x.shape[-1])  # (tokens, heads * head_dim)",
        f"y = {copy}",
        f"done = {function.call(**given)}",
        "return (y if done is None else done[0]).reshape(x.shape)",
    ]
    return Body(lines, {"axes": "bshd"})


def _takes_an_offset(function: _Function) -> bool:
    return bool(function.first(*_OFFSETS)) and not function.first(*POSITIONS)


def _token_by_token(function: _Function) -> Body:
    """One call per token: an offset cannot say any positions."""
    heads_first = function.profile.axes == "bhsd"
    part = "x[b:b+1, :, s:s+1]" if heads_first else "x[b:b+1, s:s+1]"
    offset = function.first(*_OFFSETS)
    call = function.call(part, **{offset: "int(p)"})
    cat = f"{function.words.name}.{function.words.cat}"
    lines = [
        "if 0 in x.shape:",
        "    return x * 1",
        "rows = []",
        "for b, row in enumerate(positions):",
        f"    tokens = [{call} for s, p in enumerate(row)]",
        f"    rows.append({cat}(tokens, {2 if heads_first else 1}))",
        f"return {cat}(rows)",
    ]
    axes = "bhsd" if heads_first else "bshd"
    return Body(lines, {"axes": axes, "shared_positions": False})


def _open(function: _Function) -> Body:
    """Any other signature."""
    return Body([f"return {function.call()}{function.pick}"], {})


_STYLES: tuple[tuple[Callable[[_Function], bool], Callable[[_Function], Body]], ...] = (
    (_takes_tables, _by_tables),
    (_takes_complex, _by_complex),
    (_takes_two, _flattened),
    (_takes_an_offset, _token_by_token),
    (lambda _: True, _open),
)

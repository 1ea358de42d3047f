"""What a call came to that was made, and how one array like x is made of it."""

from dataclasses import dataclass

from ropespec.conformance.adapter.words import Body
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.binding import Binding

__all__ = ["Answered", "around"]

_TOKENS = {"bshd": (0, 1), "bhsd": (0, 2)}
_BESIDE = {"bshd": ":, :, None", "bhsd": ":, None"}


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that is not one array like x.

    Attributes
    ----------
    sent : tuple of int
        The shape of x, in the order of axes in which it was sent.
    shapes : tuple of tuple of int
        Those of the results; of what is no array `(0,)`.
    written : bool
        Whether x was written to.
    """

    sent: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    written: bool

    @property
    def order(self) -> tuple[int, ...]:
        """The axes of x that those of the result are, where it has their sizes; else empty."""
        shape = self.shapes[0]
        if len(self.shapes) > 1 or sorted(shape) != sorted(self.sent):
            return ()
        return tuple(self.sent.index(size) for size in shape)

    def has_tables(self, axes: str) -> bool:
        """Whether two tables came back: a row per token, as wide as x or half as wide."""
        if len(self.shapes) != 2 or self.shapes[0] != self.shapes[1] or axes not in _TOKENS:
            return False
        tokens, width = tuple(self.sent[i] for i in _TOKENS[axes]), self.sent[-1]
        return self.shapes[0] in ((*tokens, width), (*tokens, width // 2))


def around(answered: Answered, callee: str, binding: Binding, profile: Profile) -> Body:
    """Write what makes one array like x of an answer.

    Parameters
    ----------
    answered : Answered
        The answer.
    callee : str
        The function.
    binding : Binding
        How it is called.
    profile : Profile
        What is claimed of it.
    """

    def call(x: str = "x") -> str:
        return f"{callee}({', '.join(binding.words(x, 'positions'))})"

    words = profile.framework.words
    if answered.sent in answered.shapes:
        return Body([f"return {call()}[{answered.shapes.index(answered.sent)}]"], {})
    if answered.written and answered.shapes == ((0,),):
        return Body([f"y = x.{words.copy}", call("y"), "return y"], {})
    if answered.has_tables(profile.axes):
        return Body(_by_tables(call(), answered, profile), {"interleaved": False})
    if answered.order:
        back = ", ".join(str(answered.order.index(i)) for i in range(len(answered.sent)))
        return Body([f"return {call()}.{words.permute}({back})"], {})
    return Body([f"y = {call()}", "return ...  # one array of the shape of x, made of y"], {})


def _by_tables(call: str, answered: Answered, profile: Profile) -> list[str]:
    """Write the half-split rotation by tables."""
    words, beside = profile.framework.words, _BESIDE[profile.axes]
    cat = f"{words.name}.{words.cat}"
    narrow = answered.shapes[0][-1] < answered.sent[-1]
    twice = [f"cos, sin = {cat}([cos, cos], -1), {cat}([sin, sin], -1)"] * narrow
    return [
        f"cos, sin = {call}",
        f"cos, sin = cos[{beside}], sin[{beside}]  # the same for all heads",
        *twice,
        "half = x.shape[-1] // 2",
        f"other = {cat}([-x[..., half:], x[..., :half]], -1)",
        "return x * cos + other * sin  # or by the function that goes with these tables",
    ]

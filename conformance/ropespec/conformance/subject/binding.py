"""How a rotation takes x and positions: by the names of its parameters, where these tell."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ropespec.conformance.styles.signature import (
    POSITIONS,
    Parameters,
    parameters_of,
    required_of,
)
from ropespec.conformance.subject import checked

__all__ = ["ELSEWHERE", "PLAIN", "Binding", "binding_of"]

ELSEWHERE = frozenset(
    {"offset", "offsets", "start", "start_pos", "start_position", "start_index", "seq_offset"}
    | {"seqlen_offset", "seqlen_offsets", "seq_len", "seqlen", "seq_length", "length"}
    | {"cos", "sin", "cos_sin", "cos_sin_cache", "cos_cached", "freqs", "freqs_cis", "freq_cis"}
    | {"freqs_cos", "freqs_sin", "freqs_complex", "rope", "rope_cache", "cache", "emb", "pos_emb"}
    | {"rotary_emb", "rotary_pos_emb", "position_embeddings", "k", "key", "keys", "xk", "q", "xq"}
)
"""Names of a second parameter that takes anything but positions."""

_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Binding:
    """How x and positions are handed to a rotation.

    Attributes
    ----------
    fits : bool
        Whether its signature can take x and positions, and nothing else.
    x, positions : str
        The keyword by which each is passed; empty for by place.
    swapped : bool
        Whether positions come before x.
    parameters, required : tuple of str
        The names of its parameters, and of those without a default; of what has no signature none.
    callee : str
        How Python calls it in the module of the target, such as `Rope().apply_rotary`; empty where
        that is not known.
    """

    fits: bool = True
    x: str = ""
    positions: str = ""
    swapped: bool = False
    parameters: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    callee: str = ""

    def words(self, x: str, positions: str) -> list[str]:
        """Write the two arguments of a call."""
        placed = [word for word, name in ((x, self.x), (positions, self.positions)) if not name]
        named = [f"{self.x}={x}"] if self.x else []
        named += [f"{self.positions}={positions}"] if self.positions else []
        return [*(reversed(placed) if self.swapped else placed), *named]

    def bound(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as one that is called with x and positions, in this order."""
        if self.words("x", "positions") == ["x", "positions"]:
            return function

        def rotate(x: Any, positions: Any, **keywords: Any) -> Any:  # noqa: ANN401  # the subject's
            placed = [one for one, name in ((x, self.x), (positions, self.positions)) if not name]
            named = {name: one for name, one in ((self.x, x), (self.positions, positions)) if name}
            return function(*(reversed(placed) if self.swapped else placed), **named, **keywords)

        return rotate

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a frame."""
        lists = {"parameters": list(self.parameters), "required": list(self.required)}
        return {**asdict(self), **lists}

    @classmethod
    def of(cls, found: object) -> "Binding":
        """Read what `as_dict` wrote; nothing at all is the usual binding.

        Raises
        ------
        FrameError
            If it is anything else.
        """
        if found is None:
            return PLAIN
        values = checked.mapping(found, "binding")
        fits, swapped = checked.flags([values.get("fits"), values.get("swapped")], "binding")
        x, positions, callee = (
            checked.text(values.get(name), "binding") for name in ("x", "positions", "callee")
        )
        parameters, required = (
            checked.texts(values.get(name), "binding") for name in ("parameters", "required")
        )
        return cls(fits, x, positions, swapped, parameters, required, callee)


PLAIN = Binding()
"""That of f(x, positions), of which nothing else is known."""


def binding_of(function: Callable[..., Any], keywords: Sequence[str], callee: str) -> Binding:
    """Find out how a rotation takes x and positions.

    Parameters
    ----------
    function : callable
        The subject's.
    keywords : sequence of str
        The parameters that have other meanings: base, rotary_dim and the like.
    callee : str
        As the attribute of `Binding`.
    """
    found = parameters_of(function)
    if found is None:
        return Binding(callee=callee)
    own = [one for one in found.values() if one.kind not in _ANY_NUMBER]
    required = required_of(found)
    free = [one for one in own if one.name not in keywords]
    told = [one for one in free if one.name in POSITIONS]
    names: dict[str, Any] = {
        "parameters": tuple(one.name for one in own),
        "required": required,
        "callee": callee,
    }
    if not told:
        second = [one.name for one in free if one.kind in _BY_PLACE][1:2]
        fits = _takes(found, [0, 1], (), keywords) and not ELSEWHERE.intersection(second)
        return Binding(fits, **names)
    positions = next((one for one in told if one.name in required), told[0])
    rest = [one for one in free if one is not positions]
    x = [one for one in rest if one.name in required] or rest[:1]
    if len(x) != 1:
        return Binding(fits=False, **names)
    by_place = [one.name for one in own if one.kind in _BY_PLACE]
    return _bound(found, by_place, (x[0].name, positions.name), keywords, names)


def _bound(
    found: Parameters,
    by_place: Sequence[str],
    pair: tuple[str, str],
    keywords: Sequence[str],
    names: Mapping[str, Any],
) -> Binding:
    """Pass by place what can be passed so, and the rest by keyword."""
    first = [name for name in by_place[:2] if name in pair]
    placed = first if by_place[:1] == first[:1] else []
    x, positions = ("" if name in placed else name for name in pair)
    named = [name for name in (x, positions) if name]
    fits = _takes(found, placed, named, keywords)
    return Binding(fits, x, positions, placed == [pair[1], pair[0]], **names)


def _takes(
    found: Parameters, placed: Sequence[Any], named: Sequence[str], keywords: Sequence[str]
) -> bool:
    """Whether a call can be made with so many arguments by place and these by keyword."""
    taken = [name for name in keywords if name in found and found[name].kind in _BY_NAME]
    try:
        inspect.Signature(list(found.values())).bind(*placed, **dict.fromkeys([*named, *taken]))
    except (TypeError, ValueError):
        return False
    return True

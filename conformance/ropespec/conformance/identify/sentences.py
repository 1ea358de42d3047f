"""A short sentence for each fact."""

from collections.abc import Callable, Mapping
from typing import Any

from ropespec.conformance.identify.facts import Block, Name, Pairing, Source

__all__ = ["sentence"]

_PAIRINGS = {
    Pairing.INTERLEAVED: "Components 2i and 2i+1 turn together.",
    Pairing.HALF: "Components i and i+d/2 turn together.",
    Pairing.HALF_OF_HEAD: "Components i and i+head_dim/2 turn together, though fewer turn.",
    Pairing.CROSSING_HEADS: "Components of different heads turn together.",
    Pairing.NONE: "No two components turn together.",
    Pairing.OTHER: "The components that turn together follow no known convention.",
    Pairing.PERMUTED: "Pairs are turned and come back in other places.",
    Pairing.DEINTERLEAVED: "Pairs 2i, 2i+1 are turned and come back as i, i+d/2.",
}
_BLOCKS = {
    Block.ROTATION: "Each pair is multiplied by [[c, -s], [s, c]].",
    Block.LOST_SINE: "Each component is multiplied by a cosine; the sine is missing.",
    Block.LOST_MINUS: "Each pair is multiplied by [[c, s], [s, c]]: a minus is missing.",
    Block.OVERWRITTEN: "The second member is made from the first one already overwritten.",
    Block.EXCHANGED: "Each pair is rotated and its members change places.",
    Block.UNEQUAL: "The two members of a pair meet two different angles.",
    Block.PARTLY: "Most pairs are rotated; some are multiplied by another matrix.",
    Block.OTHER: "The matrix of a pair is no rotation.",
}
_SOURCES = {
    Source.OWN: "Each is turned by its own position.",
    Source.COUNTED: "The positions given are ignored; tokens are counted from 0.",
    Source.FROM_FIRST: "Only the first position matters; tokens are counted from it.",
    Source.ONE: "One position turns the whole sequence.",
    Source.ROW: "The positions of one row turn the whole batch.",
    Source.LARGEST: "The extreme of the batch turns all rows.",
    Source.HEAD: "The index of the head takes the place of the position.",
    Source.STALE: "The positions of an earlier call of the same length are used.",
    Source.FIRST_PART: "The sequence is cut in parts; the positions of the first turn them all.",
    Source.LOCAL: "The sequence is cut in parts; tokens are counted from the start of each.",
    Source.MOVED: "Each is turned by the position of another token.",
    Source.TAKEN: "Each is turned by the position of one other token or row, not by its own.",
    Source.LEFT: "Some tokens are turned by their own position, others come back as they were.",
    Source.SHARED: "One vector of positions serves the whole batch.",
    Source.OTHER: "They follow the positions given in no simple way.",
    Source.UNEVEN: "Tokens of one position are turned differently.",
    Source.NOTHING: "Nothing depends on the positions.",
}


def _direction(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    return f"A pair turns {value} as the position grows."


def _axes(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    names = {"b": "batch", "s": "sequence", "h": "heads", "d": "head_dim"}
    return f"x is ({', '.join(names[letter] for letter in str(value))})."


def _scheme(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if value == "unscaled":
        return "The frequencies are one geometric ladder."
    if str(value).startswith("frequencies"):
        return f"No ladder as it should be: {value}."
    return f"The frequencies are no single ladder; the nearest known scheme is {value}."


def _largest(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    policy, limit = value
    said = {
        "right": f"Positions are right up to {limit}, the largest tried.",
        "fast": f"Positions up to {limit} are turned by a fast sine.",
        "rounded": f"From {limit} on neighbouring positions coincide.",
        "clamped": f"Positions from {limit} on are turned as {limit - 1}.",
        "wraps": f"Positions wrap at {limit}.",
        "wraps signed": f"Positions wrap at {limit}, as signed integers.",
        "identity": f"Positions from {limit} on are not turned.",
        "raises": f"It raises beyond {limit}, the largest that was accepted.",
        "range": f"From about {limit} on the length grows or is no number.",
        "filled": f"Positions from {limit} on come back as zero or as no number.",
        "holes": f"Single positions, {limit} first, come back as zero or as no number.",
        "gain": f"Lengths carry a factor from about {limit} on.",
        "company": f"{limit} is turned otherwise in a row than next to {limit - 1}.",
        "garbage": f"From {limit} on the angles fit no position.",
    }
    return said[policy]


def _angles(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    kind, dtype, *given = value
    if kind == "exact":
        return "The angles lose nothing that shows."
    return f"Held in {dtype}: {kind}{f', for {given[0]} x' if given else ''}."


def _paths(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if not value:
        return "Parts of a call come out as calls of the parts."
    return "; ".join(f"{name}: {which} come out otherwise ({what})" for name, which, what in value)


_SENTENCES: Mapping[Name, Callable[[Any], str]] = {
    Name.ANSWER: lambda v: (
        "It answers with an array like x." if v == "values" else f"It answers with: {v}."
    ),
    Name.AXES: _axes,
    Name.AXES_ACCEPTED: lambda v: f"Orders of axes that do: {', '.join(v)}.",
    Name.POSITIONS: lambda v: f"Positions have shape {v}.",
    Name.HEAD_DIM: lambda v: f"Measured at head_dim {v}.",
    Name.PAIRING: lambda v: _PAIRINGS[v],
    Name.BLOCK: lambda v: _BLOCKS[v],
    Name.DIRECTION: _direction,
    Name.ROTARY_DIM: lambda v: f"{v} components turn.",
    Name.TURNING_END: lambda v: f"Components that turn: {v}.",
    Name.TAIL: lambda v: f"Components that do not turn: {v}.",
    Name.ROTARY_RULE: lambda v: f"How many turn at another head_dim: {v}.",
    Name.BASE: lambda v: f"The frequencies are {v:.6g}^(-2i/rotary_dim).",
    Name.EXPONENT: lambda v: f"The exponent of the frequencies is {v}.",
    Name.SCHEME: _scheme,
    Name.FREQUENCIES: lambda v: f"From {max(v):.4g} to {min(v):.4g} radians per position.",
    Name.POSITION_SCALE: lambda v: f"Positions are multiplied by {v:g}.",
    Name.POSITION_OFFSET: lambda v: f"{v:g} is added to positions.",
    Name.GAIN: lambda v: f"Lengths are multiplied by {v}.",
    Name.ROWS: lambda v: f"Rows: {_SOURCES[v]}",
    Name.TOKENS: lambda v: f"Tokens: {_SOURCES[v]}",
    Name.HEADS: lambda v: f"Equal heads come back {v}.",
    Name.REACH: lambda v: f"A component of x shows in: {v}.",
    Name.PATHS: _paths,
    Name.HISTORY: lambda v: f"Left behind by earlier calls: {v}.",
    Name.NEGATIVE: lambda v: f"Positions below zero: {v}.",
    Name.LARGEST: _largest,
    Name.ANGLES: _angles,
    Name.TABLE: lambda v: f"cos and sin are held in {v}.",
    Name.ARITHMETIC: lambda v: (
        (
            "; ".join(f"{given} goes through {through}" for given, through in v)
            or "x keeps its bits at position 0"
        )
        + "."
    ),
    Name.PRECISION: lambda v: "; ".join(f"{dtype}: {name}" for dtype, name in v) + ".",
    Name.RESULT_DTYPE: lambda v: "; ".join(f"{given} gives {got}" for given, got in v) + ".",
    Name.WRITES: lambda v: (
        f"Overwritten: {', '.join(v)}." if v else "Arguments are not overwritten."
    ),
    Name.ALIAS: lambda v: f"The result {'shares' if v else 'does not share'} memory with x.",
    Name.STRIDES: lambda v: f"Memory layouts that are read right: {v}.",
    Name.LINEAR: lambda v: f"Linear in x: {v}.",
    Name.CONTAINMENT: lambda v: f"NaN in a pair: {v}.",
    Name.EMPTY: lambda v: "Empty arrays work." if v == "works" else f"Empty axes that raise: {v}.",
    Name.STORES: lambda v: f"Results in bfloat16 carry {v} rounding{'s' if v == 'two' else ''}.",
    Name.GRADIENT: lambda v: f"The gradient with respect to x: {v}.",
    Name.FLAGS: lambda v: (
        "; ".join(f"{name} is ignored ({when})" for name, when in v) + "."
        if v
        else "No keyword is ignored."
    ),
    Name.OTHERS: lambda v: "; ".join(f"{function}: {word}" for function, word in v) + ".",
}


def sentence(name: Name, value: Any, known: Mapping[Name, Any]) -> str:  # noqa: ANN401  # as Fact
    """Return a short sentence for a fact.

    Parameters
    ----------
    name : Name
        What it is about.
    value : object
        Its value.
    known : mapping
        Values found before it.
    """
    if name is Name.EXPONENT and value != "2i/rotary_dim" and known.get(Name.BASE):
        return f"The exponent may also be {value}, under another base."
    return _SENTENCES[name](value)

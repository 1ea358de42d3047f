"""A short sentence for each fact."""

from collections.abc import Callable, Mapping
from typing import Any

from ropespec.conformance.identify.facts import Name, Pairing

__all__ = ["SEVERAL", "sentence"]

SEVERAL = "several at once"
"""What pairs follow where one follows more than one number."""

_PAIRINGS = {
    Pairing.INTERLEAVED: "Components 2i and 2i+1 are rotated together.",
    Pairing.HALF: "Components i and i+d/2 are rotated together.",
    Pairing.HALF_OF_HEAD: "Components i and i+head_dim/2 are rotated together, in a part of them.",
    Pairing.CROSSING_HEADS: "Components of different heads are rotated together.",
    Pairing.NONE: "No two components are rotated together.",
    Pairing.OTHER: "The components that are rotated together follow no known convention.",
    Pairing.DEINTERLEAVED: "Pairs 2i, 2i+1 are rotated and come back as i, i+d/2.",
}
_WORDS: Mapping[Name, Mapping[Any, str]] = {
    Name.PAIRING: _PAIRINGS,
    Name.ROTATION: {
        True: "Each pair is multiplied by [[c, -s], [s, c]].",
        False: "The matrix of a pair is no rotation.",
    },
    Name.POSITIONS: {
        "(B, S)": "Positions are (batch, sequence): each row has its own.",
        "(S,)": "Positions are (sequence,): one row for the whole batch.",
    },
    Name.ROTATED_END: {
        "all": "All components are rotated.",
        "first": "The first components are rotated, those after them are not.",
        "middle": "Components in the middle are rotated, those before and after are not.",
        "last": "The last components are rotated, those before them are not.",
    },
    Name.TAIL: {
        "none": "No component is left as it is.",
        "kept": "Components that are not rotated come back as they are.",
        "zeroed": "Components that are not rotated come back as zero.",
        "scaled": "Components that are not rotated come back times a factor.",
    },
    Name.ROTARY_RULE: {
        "all": "At another head_dim, too, all components are rotated.",
        "fixed": "At another head_dim as many components are rotated.",
        "share": "At another head_dim the same share of the components is rotated.",
        "still": "The pairs behind them stand still, and count for the frequencies.",
        "alone": "Whether as many are rotated at another head_dim was not seen.",
    },
    Name.NUMBERS: {SEVERAL: "Some pair follows several position numbers at once."},
    Name.EXPONENT: {
        "axial": "The frequencies of each section begin at its first pair.",
        "given": "Each pair follows them at the rates that are given.",
    },
    Name.SCHEME: {"unscaled": "The frequencies are not scaled."},
    Name.REACH: {"own token": "A component of x shows in its own token and head alone."},
    Name.NEGATIVE: {
        "right": "Positions below zero rotate the other way, as they must.",
        "clamped": "Positions below zero are taken for 0.",
        "absolute": "Positions below zero lose their sign.",
        "raises": "Positions below zero raise.",
        "zeroed": "Some position below zero comes back as zero.",
        "other": "Positions below zero rotate by another angle.",
    },
    Name.STRIDES: {
        "any": "An x that is not contiguous is read right.",
        "raises": "An x that is not contiguous raises.",
        "contiguous only": "An x that is not contiguous is read wrongly.",
    },
    Name.LINEAR: {
        "yes": "The result is linear in x.",
        "normalised": "The result does not grow with x: x is normalised.",
        "no": "The result is not linear in x.",
    },
    Name.CONTAINMENT: {
        "stays": "NaN and infinity stay in their pair.",
        "spreads": "NaN in one pair reaches others.",
        "raises": "NaN raises.",
    },
    Name.GRADIENT: {
        "right": "The gradient with respect to x is right.",
        "wrong": "The gradient with respect to x is wrong.",
        "raises": "Taking the gradient raises.",
        "zero": "The gradient with respect to x is zero.",
        "none": "No gradient reaches x.",
    },
    Name.EMPTY: {"works": "Empty arrays work."},
    Name.GAIN: {1.0: "Lengths are kept.", None: "Lengths change by pair or position."},
    Name.POSITION_OFFSET: {0.0: "No offset is added to positions."},
    Name.FLAGS: {(): "No keyword is ignored."},
    Name.WRITES: {(): "It overwrites no argument."},
    Name.ANSWER: {
        "values": "It answers with an array like x.",
        "timeout": "A call did not come to an end in time, and nothing was asked after it.",
    },
}


def _largest(value: tuple[str, int]) -> str:
    policy, limit = value
    said = {
        "right": f"Positions are right up to {limit}, the largest tried.",
        "raises": f"It raises beyond {limit}, the largest that was accepted.",
        "filled": f"Positions from {limit} on come back as zero or as no number.",
        "identity": f"Positions from {limit} on are not rotated.",
        "wrong": f"Positions from {limit} on are rotated otherwise.",
        "clamped": f"Positions from {limit} on are taken for {limit - 1}.",
        "wrapped around zero": f"Positions from {limit} on wrap to {-limit}.",
        "restarted at": f"Positions from {limit} on count from 0 again.",
    }
    return said.get(policy, f"Positions wrap at {limit}.")


def _classes(value: tuple[tuple[str, str], ...]) -> str:
    said = (
        f"x of {dtype} is within no precision class"
        if name == "none"
        else f"x of {dtype} is as precise as the class {name}"
        for dtype, name in value
    )
    return f"{'; '.join(said)}."


def _answer(value: str) -> str:
    return f"It {value}." if value.startswith("raises") else f"It answers with {value}."


def _axes(value: str) -> str:
    names = {"b": "batch", "s": "sequence", "h": "heads", "d": "head_dim"}
    return f"x is ({', '.join(names[letter] for letter in value)})."


def _tried(value: tuple[str, ...]) -> str:
    if len(value) == 1:
        return f"No order of axes but {value[0]} was tried."
    return f"These orders of axes were tried: {', '.join(value)}."


def _dims(value: tuple[int, ...]) -> str:
    first, *others = value
    return f"All this was measured at head_dim {first}{''.join(f', and at {o}' for o in others)}."


def _layouts(value: tuple[Pairing, Pairing]) -> str:
    on, off = ("2i and 2i+1" if one is Pairing.INTERLEAVED else "i and i+d/2" for one in value)
    return f"With interleaved=True these are {on}, with interleaved=False {off}."


def _flags(value: tuple[tuple[str, str], ...]) -> str:
    return "; ".join(f"{name} is ignored ({when})" for name, when in value) + "."


def _confirmed(value: str) -> str:
    return f"Run beside it, this {value}."


_SENTENCES: Mapping[Name, Callable[[Any], str]] = {
    Name.ANSWER: _answer,
    Name.AXES: _axes,
    Name.AXES_TRIED: _tried,
    Name.HEAD_DIM: _dims,
    Name.LAYOUTS: _layouts,
    Name.DIRECTION: lambda v: f"A pair is rotated {v} as the position grows.",
    Name.ROTARY_DIM: lambda v: f"{v} components are rotated.",
    Name.BASE: lambda v: f"The base of the frequencies is {v:.10g}.",
    Name.NUMBERS: lambda v: f"Of the numbers of a token, {v}.",
    Name.SCHEME: lambda v: f"The frequencies are scaled: {v.removeprefix('scaling ')}.",
    Name.BESIDE: lambda v: f"Beside what can be claimed, {'; '.join(v)}.",
    Name.FREQUENCIES: lambda v: f"They go from {max(v):.4g} to {min(v):.4g} radians per position.",
    Name.POSITION_OFFSET: lambda v: f"{v:g} is added to positions.",
    Name.GAIN: lambda v: f"Lengths are multiplied by {v:.6g}.",
    Name.CONFIRMED: _confirmed,
    Name.REACH: lambda v: f"A component of x shows in others, too: {v}.",
    Name.LARGEST: _largest,
    Name.PRECISION: _classes,
    Name.RESULT_DTYPE: lambda v: "; ".join(f"{given} gives {got}" for given, got in v) + ".",
    Name.WRITES: lambda v: f"It overwrites {', '.join(v)}.",
    Name.ALIAS: lambda v: f"The result {'shares' if v else 'does not share'} memory with x.",
    Name.EMPTY: lambda v: f"It raises where this is empty: {v}.",
    Name.GRADIENT: lambda v: f"The gradient is no array like x ({v}).",
    Name.FLAGS: _flags,
}


def sentence(name: Name, value: Any) -> str:  # noqa: ANN401  # as Fact
    """Return a short sentence for a fact."""
    found = _WORDS.get(name, {}).get(value)
    return _SENTENCES[name](value) if found is None else found

"""A short sentence for each fact."""

from collections.abc import Callable, Mapping
from typing import Any

from ropespec.conformance.identify.facts import Block, Name, Pairing, Source

__all__ = ["sentence"]

_PAIRINGS = {
    Pairing.INTERLEAVED: "Components 2i and 2i+1 are rotated together.",
    Pairing.HALF: "Components i and i+d/2 are rotated together.",
    Pairing.HALF_OF_HEAD: "Components i and i+head_dim/2 are rotated together, in a part of them.",
    Pairing.CROSSING_HEADS: "Components of different heads are rotated together.",
    Pairing.NONE: "No two components are rotated together.",
    Pairing.OTHER: "The components that are rotated together follow no known convention.",
    Pairing.PERMUTED: "Pairs are rotated and come back in other places.",
    Pairing.DEINTERLEAVED: "Pairs 2i, 2i+1 are rotated and come back as i, i+d/2.",
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
    Source.OWN: "Each {} is rotated by its own position.",
    Source.COUNTED: "The positions given are ignored; tokens are counted from 0.",
    Source.FROM_FIRST: "Only the first position matters; tokens are counted from it.",
    Source.ONE: "One position rotates the whole sequence.",
    Source.ROW: "The positions of one row rotate the whole batch.",
    Source.LARGEST: "The largest position of the batch rotates all rows.",
    Source.HEAD: "The index of the head takes the place of the position.",
    Source.STALE: "The positions of an earlier call of the same length are used.",
    Source.FIRST_PART: "The sequence is cut in parts; the positions of the first rotate them all.",
    Source.LOCAL: "The sequence is cut in parts; tokens are counted from the start of each.",
    Source.MOVED: "Each {} is rotated by the position of another token.",
    Source.TAKEN: "Each {} is rotated by the position of one other token or row, not by its own.",
    Source.LEFT: "Some tokens are rotated by their own position, others come back as they were.",
    Source.SHARED: "One row of positions serves the whole batch.",
    Source.OTHER: "What a {} is rotated by follows from the positions given in no simple way.",
    Source.UNEVEN: "Tokens of one position are rotated differently.",
    Source.NOTHING: "Nothing depends on the positions.",
}
_ENDS = {
    "all": "All components are rotated.",
    "first": "The first components are rotated, those after them are not.",
    "middle": "Components in the middle are rotated, those before and after are not.",
    "last": "The last components are rotated, those before them are not.",
}
_TAILS = {
    "none": "No component is left as it is.",
    "kept": "Components that are not rotated come back as they are.",
    "zeroed": "Components that are not rotated come back as zero.",
    "scaled": "Components that are not rotated come back times a factor.",
}
_RULES = {
    "all": "At another head_dim, too, all components are rotated.",
    "fixed": "At another head_dim as many components are rotated.",
    "share": "At another head_dim the same share of the components is rotated.",
}
_HISTORIES = {
    "none": "Earlier calls leave nothing behind that shows.",
    "rotated again": "A call that is repeated is rotated by twice the angle.",
    "offset grows": "A call that is repeated goes on counting positions.",
    "differs": "The same call gives another result the second time.",
    "first width": "The frequencies of the first head_dim may be kept for all others.",
    "other width": "A table that was made for one head_dim is too short for another.",
    "dtype": "A call in half precision leaves its table to later calls.",
    "frequencies": "A long call changes the frequencies of later ones.",
    "other": "Earlier calls change later ones.",
}
_NEGATIVES = {
    "right": "Positions below zero rotate the other way, as they must.",
    "clamped": "Positions below zero are taken for 0.",
    "absolute": "Positions below zero lose their sign.",
    "raises": "Positions below zero raise.",
    "zeroed": "Some position below zero comes back as zero.",
    "other": "Positions below zero rotate by another angle.",
}
_STRIDES = {
    "any": "An x that is not contiguous is read right.",
    "raises": "An x that is not contiguous raises.",
    "contiguous only": "An x that is not contiguous is read wrongly.",
}
_LINEAR = {
    "yes": "The result is linear in x.",
    "rounded": "The result is linear in x up to roundings of half precision.",
    "normalised": "The result does not grow with x: x is normalised.",
    "clipped": "Large components are clipped.",
    "no": "The result is not linear in x.",
}
_CONTAINMENTS = {
    "stays": "NaN and infinity stay in their pair.",
    "spreads": "NaN in one pair reaches others.",
    "raises": "NaN raises.",
    "lost": "NaN or infinity comes back as a number.",
}
_FAULTS = {
    "raises": "it raises",
    "axes swapped": "the result has its axes in another order",
    "another shape": "the result has another shape",
    "no array": "the result is no array",
    "complex": "the result is complex",
}
_GRADIENTS = {
    "right": "The gradient with respect to x is right.",
    "wrong": "The gradient with respect to x is wrong.",
    "raises": "Taking the gradient raises.",
    "raises again": "Taking a gradient for the second time raises.",
    "zero": "The gradient with respect to x is zero.",
    "not conjugated": "The gradient rotates forward: it must rotate by -m.",
    "constant tail": "The gradient of what is not rotated is a constant.",
    "of one row": "The gradient of all rows is made with the positions of one.",
}


def _told(sentences: Mapping[Any, str], otherwise: str) -> Callable[[Any], str]:
    """Return what looks a value up; one that is not listed ends `otherwise`."""
    return lambda value: sentences.get(value, f"{otherwise}: {value}.")


def _source(value: Source, what: str) -> str:
    return _SOURCES[value].format(what)


def _answer(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if value == "values":
        return "It answers with an array like x."
    if value == "timeout":
        return "A call did not come to an end in time, and nothing was asked after it."
    return f"It {value}." if value.startswith("raises") else f"It answers with {value}."


def _direction(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    return f"A pair is rotated {value} as the position grows."


def _axes(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    names = {"b": "batch", "s": "sequence", "h": "heads", "d": "head_dim"}
    return f"x is ({', '.join(names[letter] for letter in str(value))})."


def _tried(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if len(value) == 1:
        return f"No order of axes but {value[0]} was tried."
    return f"These orders of axes were tried: {', '.join(value)}."


def _positions(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if value == "(B, S)":
        return "Positions are (batch, sequence): each row has its own."
    return "Positions are (sequence,): one row for the whole batch."


def _scheme(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if value == "unscaled":
        return "Each frequency is the one before times one and the same factor."
    if str(value).startswith("frequencies"):
        return f"The frequencies follow no formula as they should: {value}."
    return f"The frequencies are scaled; the nearest known scheme is {value}."


def _scale(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    return "Positions are not scaled." if value == 1 else f"Positions are multiplied by {value:g}."


def _offset(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    return "No offset is added to positions." if value == 0 else f"{value:g} is added to positions."


def _gain(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if isinstance(value, float):
        return "Lengths are kept." if value == 1 else f"Lengths are multiplied by {value:g}."
    words = {
        "varies": "Lengths change by pair or position.",
        "power of the position": "Lengths grow with a power of the position.",
        "cos and sin of different angles": "The cosine and the sine of a pair are of two angles.",
    }
    return words.get(value, f"Lengths change: {value}.")


def _largest(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    policy, limit = value
    said = {
        "right": f"Positions are right up to {limit}, the largest tried.",
        "fast": f"Positions up to {limit} are rotated by a fast sine.",
        "rounded": f"From {limit} on neighbouring positions coincide.",
        "clamped": f"Positions from {limit} on are taken for {limit - 1}.",
        "wraps": f"Positions wrap at {limit}.",
        "wraps signed": f"Positions wrap at {limit}, as signed integers.",
        "identity": f"Positions from {limit} on are not rotated.",
        "raises": f"It raises beyond {limit}, the largest that was accepted.",
        "range": f"From about {limit} on the length grows or is no number.",
        "filled": f"Positions from {limit} on come back as zero or as no number.",
        "holes": f"Single positions, {limit} first, come back as zero or as no number.",
        "gain": f"Lengths carry a factor from about {limit} on.",
        "company": f"{limit} is rotated otherwise in a row than next to {limit - 1}.",
        "garbage": f"From {limit} on the angles fit no position.",
    }
    return said[policy]


def _angles(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    kind, dtype, *given = value
    if kind == "exact":
        return "The angles lose no digits that show."
    return f"The {kind} have only the digits of {dtype}{f', for {given[0]} x' if given else ''}."


def _arithmetic(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    said = "; ".join(f"{given} goes through {through}" for given, through in value)
    return f"{said}." if said else "At position 0 x keeps all its bits."


def _classes(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    said = (
        f"x of {dtype} is within no precision class"
        if name == "none"
        else f"x of {dtype} is as precise as the class {name}"
        for dtype, name in value
    )
    return f"{'; '.join(said)}."


def _paths(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if not value:
        return "Rows, tokens and heads come out alone as they do together."
    return "; ".join(f"{name}: {_path(which, what)}" for name, which, what in value) + "."


def _path(which: str, what: str) -> str:
    return _FAULTS.get(what, f"{which} come out otherwise ({what})")


def _history(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    if str(value).endswith("of the tokens"):
        return f"Some tokens of a longer call are rotated otherwise: {value}."
    return _told(_HISTORIES, "What earlier calls leave behind shows")(value)


def _empty(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    return "Empty arrays work." if value == "works" else f"It raises where this is empty: {value}."


def _layouts(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    on, off = ("2i and 2i+1" if one is Pairing.INTERLEAVED else "i and i+d/2" for one in value)
    return f"With interleaved=True these are {on}, with interleaved=False {off}."


def _flags(value: Any) -> str:  # noqa: ANN401  # as Fact.value
    said = "; ".join(f"{name} is ignored ({when})" for name, when in value)
    return f"{said}." if said else "No keyword is ignored."


_SENTENCES: Mapping[Name, Callable[[Any], str]] = {
    Name.ANSWER: _answer,
    Name.AXES: _axes,
    Name.AXES_TRIED: _tried,
    Name.POSITIONS: _positions,
    Name.HEAD_DIM: lambda v: f"All this was measured at head_dim {v}.",
    Name.PAIRING: lambda v: _PAIRINGS[v],
    Name.LAYOUTS: _layouts,
    Name.BLOCK: lambda v: _BLOCKS[v],
    Name.DIRECTION: _direction,
    Name.ROTARY_DIM: lambda v: f"{v} components are rotated.",
    Name.ROTATED_END: _told(_ENDS, "The components that are rotated"),
    Name.TAIL: _told(_TAILS, "The components that are not rotated"),
    Name.ROTARY_RULE: _told(_RULES, "How many are rotated at another head_dim"),
    Name.BASE: lambda v: f"The frequencies are {v:.6g}^(-2i/rotary_dim).",
    Name.EXPONENT: lambda v: f"The exponent of the frequencies is {v}.",
    Name.SCHEME: _scheme,
    Name.FREQUENCIES: lambda v: f"They go from {max(v):.4g} to {min(v):.4g} radians per position.",
    Name.POSITION_SCALE: _scale,
    Name.POSITION_OFFSET: _offset,
    Name.GAIN: _gain,
    Name.ROWS: lambda v: _source(v, "row"),
    Name.TOKENS: lambda v: _source(v, "token"),
    Name.HEADS: lambda v: (
        "Equal heads come back alike." if v == "alike" else "Equal heads come back different."
    ),
    Name.REACH: lambda v: (
        "A component of x shows in its own token and head alone."
        if v == "own token"
        else f"A component of x shows in others, too: {v}."
    ),
    Name.PATHS: _paths,
    Name.HISTORY: _history,
    Name.NEGATIVE: _told(_NEGATIVES, "Positions below zero"),
    Name.LARGEST: _largest,
    Name.ANGLES: _angles,
    Name.TABLE: lambda v: f"Outside half precision, cos and sin are held in {v}.",
    Name.ARITHMETIC: _arithmetic,
    Name.PRECISION: _classes,
    Name.RESULT_DTYPE: lambda v: "; ".join(f"{given} gives {got}" for given, got in v) + ".",
    Name.WRITES: lambda v: f"It overwrites {', '.join(v)}." if v else "It overwrites no argument.",
    Name.ALIAS: lambda v: f"The result {'shares' if v else 'does not share'} memory with x.",
    Name.STRIDES: _told(_STRIDES, "Views that are not contiguous"),
    Name.LINEAR: _told(_LINEAR, "Whether the result is linear in x"),
    Name.CONTAINMENT: _told(_CONTAINMENTS, "NaN in a pair"),
    Name.EMPTY: _empty,
    Name.STORES: lambda v: f"Results in bfloat16 carry {v} rounding{'s' if v == 'two' else ''}.",
    Name.GRADIENT: _told(_GRADIENTS, "The gradient with respect to x"),
    Name.FLAGS: _flags,
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

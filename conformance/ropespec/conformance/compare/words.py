"""Conventions, channels and precision classes in words."""

from ropespec.conformance.compare.change import Change
from ropespec.conformance.compare.turn import Turn
from ropespec.conformance.identify import Identification, Name, Pairing

__all__ = ["changes_in_words", "class_words", "convention_line", "list_words", "permutation_words"]

_PAIRS = {
    Pairing.INTERLEAVED: "interleaved (2i, 2i+1)",
    Pairing.HALF: "half-split (i, i+d/2)",
    Pairing.HALF_OF_HEAD: "pairs (i, i+head_dim/2)",
    Pairing.DEINTERLEAVED: "interleaved (2i, 2i+1), left de-interleaved",
}
_CLASSES = {
    "float64-angles": "float64 angles",
    "float32-angles": "float32 angles",
    "float32-recurrence": "float32 frequencies by recurrence",
    "fast-sincos": "fast sines",
    "float16-table": "a float16 table",
    "bf16-table": "a bfloat16 table",
    "float16-arithmetic": "float16 arithmetic",
    "bf16-arithmetic": "bfloat16 arithmetic",
}
_SHOWN = 3  # channels of a run, and runs
_FEW = 8


def class_words(name: str) -> str:
    """Return a precision class in words, to follow "has"."""
    return _CLASSES.get(name, "no precision class")


def convention_line(turn: Turn | None, found: Identification) -> str:
    """Return what was identified in one line."""
    if turn is None:
        facts = [found.fact(name) for name in (Name.PAIRING, Name.BLOCK, Name.SCHEME)]
        said = " ".join(fact.sentence for fact in facts if fact is not None)
        return f"no plain RoPE that could be identified. {said}".rstrip()
    parts = [_PAIRS[turn.pairing]]
    parts.append("clockwise" if turn.clockwise else "counter-clockwise")
    parts.append(f"base {turn.base:g}")
    if turn.offset:
        parts.append(f"positions {turn.offset:+d}")
    end = "last" if turn.last else "first"
    if turn.fixed is not None:
        parts.append(f"the {end} {turn.fixed} components are rotated")
    elif turn.share != 1:
        parts.append(f"the {end} {turn.share} of the components are rotated")
    return ", ".join(parts)


def permutation_words(a: Turn, b: Turn, order: tuple[int, ...]) -> str:
    """Say which channels of A go where in B, for any head_dim."""
    if order == tuple(range(len(order))):
        return "weights stay as they are; rotated vectors come out in another order"
    parts = []
    kinds = (_woven(a), _woven(b))
    if kinds == (True, False):
        parts.append(
            "first the even channels, then the odd ones, of the components that are rotated"
        )
    elif kinds == (False, True):
        parts.append("channels of the first and of the second half in turn")
    elif (a.pairing, a.last) != (b.pairing, b.last):
        parts.append("each pair of A to the components of the same pair of B")
    if kinds[0] != kinds[1] and a.last != b.last:
        parts.append("moved to the other end of the head")
    if a.clockwise != b.clockwise:
        parts.append("the two members of each pair swapped")
    if (a.pairing is Pairing.DEINTERLEAVED) != (b.pairing is Pairing.DEINTERLEAVED):
        parts.append("rotated vectors come out in another order than they went in")
    return ", ".join(parts)


def _woven(turn: Turn) -> bool:
    return turn.pairing in (Pairing.INTERLEAVED, Pairing.DEINTERLEAVED)


def list_words(order: tuple[int, ...]) -> str:
    """Return a list of channels, shortened: `(0, 2, 4, ... 1, 3, 5, ...)`."""
    if len(order) <= _FEW:
        return f"({', '.join(map(str, order))})"
    runs = _runs(order)
    if len(runs) > _SHOWN:
        runs = runs[:2]
        return "(" + " ".join(_run(run) for run in runs) + " ...)"
    return "(" + " ".join(_run(run) for run in runs).rstrip(",") + ")"


def _run(run: list[int]) -> str:
    if len(run) <= _SHOWN + 1:
        return ", ".join(map(str, run)) + ","
    return ", ".join(map(str, run[:_SHOWN])) + ", ..."


def _runs(order: tuple[int, ...]) -> list[list[int]]:
    """Split into arithmetic progressions."""
    runs: list[list[int]] = []
    for channel in order:
        last = runs[-1] if runs else []
        if last and (len(last) < 2 or channel - last[-1] == last[1] - last[0]):
            last.append(channel)
        else:
            runs.append([channel])
    return runs


def changes_in_words(
    change: Change, order: tuple[int, ...] = (), result: tuple[int, ...] = ()
) -> str:
    """Return what has to be done for both to agree, to follow "after"."""
    parts = []
    if change.permutes and order != tuple(range(len(order))):
        parts.append(f"permuting channels {list_words(order)}")
    elif change.permutes:
        parts.append(f"reordering rotated vectors {list_words(result)}")
    if change.offset:
        parts.append(f"adding {change.offset} to the positions of B")
    if change.base is not None:
        parts.append(f"giving B the base {change.base[0]:g} instead of {change.base[1]:g}")
    if change.rotary_dim is not None:
        parts.append(f"giving B the rotary_dim {change.rotary_dim}")
    return " and ".join(parts) if len(parts) < 3 else ", ".join(parts[:-1]) + f" and {parts[-1]}"

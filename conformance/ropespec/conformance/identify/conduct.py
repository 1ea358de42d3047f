"""Rules about conduct: special paths, state, memory, dtype, gradients, other functions."""

from collections.abc import Iterator
from dataclasses import replace

from ropespec.conformance.identify.facts import Diagnosis, Name, Pairing
from ropespec.conformance.identify.formulas import ASKED
from ropespec.conformance.identify.view import NEITHER, Rule, View, named

__all__ = ["RULES", "at_least"]

_ONE_TOKEN = ("S=1", "S=H=1", "B=S=1", "B=S=H=1")
_ROWS = ("row 0", "largest")  # turned after all, by the position of another row
_WHOLE = ("identity", "position 0", "counted", "last", "other frequencies")  # of all rows only
_Told = tuple[tuple[str, float], ...]
_UNTURNED: _Told = (("P1", 0.5), ("A3", 0.5))
_ONE: dict[str, _Told] = {
    "identity": _UNTURNED,
    "position 0": _UNTURNED,
    "counted": _UNTURNED,
    "twice": (("M6", 0.7), ("A1", 0.3)),
    "other offset": (("P2", 0.8),),
}
_ANY: dict[str, _Told] = {
    "row 0": (("B5", 0.8),),
    "largest": (("P6", 0.8),),
    "other pairing": (("L6", 0.9),),
    "twice": (("A1", 0.6),),
    "identity": (("A3", 0.8),),
    "counted": (("P1", 0.8),),
    "last": (("P4", 0.8),),
    "other frequencies": (("K12", 0.9),),
    "beyond 65535": (("O3", 0.9),),
    "counts on": (("B2", 0.85),),
    "from the first": (("counted from the first position", 0.8),),
    "second block": (("beyond a block", 0.8),),
    "raises": (("it raises", NEITHER),),
    "axes swapped": (("X4", 0.9),),
    "another shape": (("other shape", 0.8),),
    "no array": (("no array", 0.8),),
}
_WIDTH = {"bfloat16": 2, "float16": 2, "float32": 4, "float64": 8}


def paths(view: View) -> Iterator[Diagnosis]:
    """Calls of one shape or dtype that come out otherwise."""
    if "heads" in str(view.value(Name.EXPONENT)) or (
        view.value(Name.PAIRING) is Pairing.CROSSING_HEADS
    ):
        return  # the number of heads is then part of the formula
    if view.value(Name.REACH) in ("other tokens", "other rows"):
        yield named("made of another token", 0.9)
        return  # any other call then has other neighbours
    for name, which, what in view.value(Name.PATHS) or ():
        if name.startswith("H=") and "ROT-19.heads" in view.failed:
            continue  # a few heads are enough, and no block of them has to end
        one = name in _ONE_TOKEN
        told: _Told | None = _ANY.get(what)
        if which != "all" and what in _WHOLE:
            told = None
        elif one:
            told = _ONE.get(what, told)
        if one and which == "first" and what not in _ROWS:
            told = (("B6", 0.9),)
        told = told or (("special path", 0.5),)
        for key, certainty in told:
            yield named(key, certainty, f"{name}: {what}")


def state(view: View) -> Iterator[Diagnosis]:
    """What calls leave behind."""
    words = {"dtype": ("C4", 0.9), "frequencies": ("K2", 0.95), "other": ("history", 0.6)}
    words |= {"length of the tokens": ("E3", 0.85), "other width": ("I4", 0.8)}
    words |= {"first width": ("frequencies of the first width", 0.9)}
    words |= {"last of the tokens": ("tokens left out", 0.8)}
    words |= {"odd of the tokens": ("odd lengths", 0.8)}
    words |= {"some of the tokens": ("tokens left out", 0.6), "rotated again": ("P9", 0.9)}
    words |= {"offset grows": ("P2", 0.9), "differs": ("not repeatable", 0.7)}
    found = view.value(Name.HISTORY)
    if found in words:
        key, certainty = words[found]
        fact = view.found.fact(Name.HISTORY)
        doubted = fact is not None and fact.certainty <= NEITHER
        yield named(key, NEITHER if doubted else certainty)
    elif view.stateful:
        yield named("history", 0.7)
    elif str(found).startswith("width "):
        yield named("special width", 0.8, f"in half precision at head_dim {found.split()[1]}")


def memory(view: View) -> Iterator[Diagnosis]:
    """Writes, shared memory, strides."""
    written = view.value(Name.WRITES) or ()
    if "x" in written:
        yield named("M1", 0.95)
    if "positions" in written:
        yield named("positions overwritten", 0.95)
    if view.value(Name.ALIAS) and "x" not in written:
        yield named("result shares memory with x", 0.9)
    if "ROT-17.unwritten" in view.failed and not written and not view.value(Name.ALIAS):
        yield named("result overwritten by the next", 0.8)
    match view.value(Name.STRIDES):
        case "contiguous only":
            yield named("M3", 0.95)
        case "raises":
            yield named("strided x refused", 0.8)
        case "any" if "ROT-19.strides" in view.failed:
            yield named("strided positions misread", 0.8)
        case _:
            pass


def dtypes(view: View) -> Iterator[Diagnosis]:
    """dtype of the result."""
    for given, got in view.value(Name.RESULT_DTYPE) or ():
        if given == got or given not in view.claimed.dtypes:
            continue
        if got not in _WIDTH:
            yield named("no array", 0.8, got)
        elif _WIDTH[got] > _WIDTH[given]:
            yield named("D10", 0.95, f"{given} gives {got}")
        else:
            yield named("result demoted", 0.9, f"{given} gives {got}")


def values(view: View) -> Iterator[Diagnosis]:
    """Linearity, NaN, empty input."""
    coarse = bool(view.value(Name.ARITHMETIC))
    words = {"normalised": "x normalised", "clipped": "large components clipped"}
    linear = view.value(Name.LINEAR)
    declared = view.claimed.precision or ""
    if linear in words:
        yield named(words[linear], 0.9)
    elif linear == "rounded" and not coarse and "arithmetic" not in declared:
        # A product with a unit vector is rounded if products are, and never if x is.
        products = (view.value(Name.TABLE) or "").endswith("sines")
        yield named("D3" if products else "x demoted", 0.8)
    elif linear == "no" and not coarse:
        yield named("not linear", 0.5)
    if view.value(Name.CONTAINMENT) == "spreads":
        yield named("NaN spreads", 0.9)
    refused = any(id_.startswith("ROT-18.") for id_ in view.failed | view.raised)
    if refused and view.value(Name.EMPTY) not in (None, "works"):
        yield named("empty input refused", 0.9)


def gradient(view: View) -> Iterator[Diagnosis]:
    """The gradient."""
    words = {
        "not conjugated": ("G1", 0.95),
        "constant tail": ("G2", 0.9),
        "zero": ("G3", 0.95),
        "none": ("G3", 0.95),
        "raises again": ("G4", 0.9),
        "raises": ("gradient raises", 0.6),
        "of one row": ("gradient of one row", 0.9),
        "by strides": ("strided cotangent misread", 0.9),
        "wrong": ("gradient", 0.6),
    }
    found = view.value(Name.GRADIENT)
    exact = (view.value(Name.ANGLES) or ("exact",))[0] == "exact"
    alone = all(id_.startswith(_GRADIENTS) for id_ in view.failed | view.raised)
    if found in words and (found != "wrong" or (exact and alone)):
        key, certainty = words[found]
        yield named(key, certainty)


_GRADIENTS = ("ROT-20.", "ROT-24.")


_OTHERS = {
    "base": "F1",
    "growing": "F2",
    "gain": "K13",
    "halves": "L3",
    "rounded angles": "D3",
    "not initialised": "I1",
    "along the heads": "X1",
    "tables of the other layout": "L2",
    "weights not permuted": "L4",
    "exponent": "F3",
    "exponent twice": "F3",
    "denominator": "F3",
    "index from 1": "F3",
    "reversed": "frequencies reversed",
    "opposite": "S1",
    "from 1": "P3",
    "sines then cosines": "Z4",
    "cosines then sines": "Z4",
    "cosine first": "Z4",
    "swapped": "Z4",
    "unpaired, doubled": "Z2",
    "doubled": "Z2",
    "cosine exponent": "Z3",
    "cosine exponent, base 1000": "Z3",
    "base 1000": "Z3",
    "denominator, sines then cosines": "F3",
    "half the exponent": "F3",
    "other pairing": "L1",
    "twice": "A1",
    "plain": "A3",
    "rotated": "A6",
    "scaled by the model": "T1",
    "not scaled": "T2",
    "mask after softmax": "T3",
    "mask times score": "T4",
    "small fill": "T4",
    "mask ignored": "T5",
    "mask inverted": "mask inverted",
    "heads scrambled": "T9",
    "sum of positions": "S2",
    "opposite sum": "S2",
    "not rotated": "A3",
    "query not rotated": "query or key not rotated",
    "key not rotated": "query or key not rotated",
    "query for key": "A4",
    "query for key once": "A4",
    "other groups": "heads mapped to other groups",
    "groups in turn": "heads mapped to other groups",
    "scaled by the values": "scaled by the width of the values",
    "values rotated": "A6",
    "tables ignored": "tables ignored",
    "unit circle": "tables brought to the unit circle",
    "tables of one row": "tables of one row for all",
    "tail dropped": "R9",
    "empty row": "T8",
    "empty row: mean": "T8",
    "empty row: not a number": "T8",
}


def others(view: View) -> Iterator[Diagnosis]:
    """Functions beside the rotation."""
    found = dict(view.value(Name.OTHERS) or ())
    for function, word in found.items():
        if word == "odd width":
            key, clause = _ODD_WIDTH[function]
            seen = view.failed | view.raised
            if view.claimed.refusals or any(id_.startswith(clause) for id_ in seen):
                yield named(key, 0.9)
        elif (function, word) in _OWN:
            yield named(_OWN[function, word], 0.9, f"{function}: {word}")
        elif word in _OTHERS and function in ASKED:
            # The catalogue speaks of rotations; what goes wrong in a part of one has no id.
            yield replace(named(_OTHERS[word], 0.9, f"{function}: {word}"), id="")
        elif word in _OTHERS:
            yield named(_OTHERS[word], 0.9, f"{function}: {word}")


_ODD_WIDTH = {"inv_freq": ("O1", "FREQ-1."), "sinusoidal_embedding": ("Z1", "SIN-1.even")}
_OWN = {
    ("precompute_freqs_cis", "swapped"): "cos and sin swapped",
    ("relative_score", "gain"): "score scaled",
    ("project_query", "opposite"): "S2",
    ("project_key", "opposite"): "S2",
    ("cos_sin", "twice"): "L2",
    ("relative_score", "distance"): "sign of positions lost",
}

_BY_CHECK = {
    "ROT-17.unrecorded": "otherwise without a gradient",
    "ROT-19.refilled": "kept by memory",
    "ROT-20.two-calls": "tables of another call",
    "ROT-20.unwritten": "cotangent overwritten",
    "ROT-20.second": "gradient without a history",
    "ROT-22.constant": "gradient into the tables",
    "ROT-22.dtype": "dtype of the tables",
    "ROT-22.gradient": "gradient by tables",
    "ROT-22.refused": "tables not checked",
    "ROT-22.unwritten": "tables overwritten",
    "ROT-23.gradient": "written behind autograd",
    "ROT-23.in-place": "overwritten operand in place",
    "ROT-23.out": "out not written as asked",
    "ROT-23.refused": "unfit out accepted",
    "ROT-24.compiled": "other numbers when compiled",
    "ROT-24.jvp": "tangent wrong",
    "ROT-24.vmap": "batching rule wrong",
}


_COVERED = {
    "ROT-20.second": ("ROT-20.gradient",),
    "ROT-20.two-calls": ("ROT-19.history", "ROT-19.walk"),
    "ROT-23.in-place": ("ROT-23.out",),
    "ROT-23.refused": ("ROT-23.out", "ROT-23.in-place"),
    "ROT-24.vmap": ("ROT-17.unwritten",),
}
"""Checks that say nothing new where one of others has failed."""


def transformed(view: View) -> Iterator[Diagnosis]:
    """What shows beside the plain call alone: these checks compare with it, and name the cause."""
    for id_, name in _BY_CHECK.items():
        if id_ in view.failed and not view.failed.intersection(_COVERED.get(id_, ())):
            yield named(name, 0.55)


def at_least(view: View) -> Iterator[Diagnosis]:
    """What the first failed check of these says by itself, where nothing better is known."""
    for id_, name in _AT_LEAST.items():
        if id_ in view.failed:
            yield named(name, 0.55)
            return
    if any(id_.endswith(".sizes") for id_ in view.telling):
        yield named("special width", 0.55)
    for only, name in (("ROT-19.many", "beyond a block"), (_GRADIENTS, "gradient")):
        if view.failed and all(id_.startswith(only) for id_ in view.failed):
            yield named(name, 0.55)


_AT_LEAST = {
    "ROT-19.heads": "heads rotated differently",
    "ROT-19.rows": "rotated by the position of another",
    "ROT-16.not-a-number": "infinity lost",
}

RULES: tuple[Rule, ...] = (paths, state, memory, dtypes, values, gradient, others, transformed)

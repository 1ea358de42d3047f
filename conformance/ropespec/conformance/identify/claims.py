"""Rules about precision and range: number grids, far and negative positions."""

from collections.abc import Iterator

from ropespec.conformance.frameworks import FRAMEWORKS
from ropespec.conformance.identify.facts import Diagnosis, Name
from ropespec.conformance.identify.view import Rule, View, named

__all__ = ["RULES"]

_HALVES = ("bfloat16", "float16")
_BITS = {
    2**8: "positions in 8 bits",
    2**16: "positions in 16 bits",
    2**24: "positions in 24 bits",
}

_Told = tuple[tuple[str, float, str], ...]
_GRIDS: dict[tuple[str, str], _Told] = {
    ("frequencies", "float32"): (("D12", 0.9, "the frequencies are float32 numbers"),),
    ("angles", "float32"): (("D12", 0.8, "the angles are float32 numbers"),),
    ("positions", "tf32"): (
        ("D5", 0.5, "positions have 11 bits"),
        ("D2", 0.5, "positions have 11 bits"),
    ),
    ("positions and frequencies", "tf32"): (("D5", 0.95, "both factors have 11 bits"),),
}
_HALF_GRIDS: dict[str, _Told] = {
    "frequencies": (("D1", 0.95, "they are {} numbers"),),
    "exponents": (("exponent in half precision", 0.9, "it is a {} number"),),
    "positions": (("D2", 0.95, "they are {} numbers"),),
    "positions and frequencies": (
        ("D2", 0.6, "positions are {} numbers"),
        ("D1", 0.6, "and so are the frequencies"),
    ),
    "angles": (("D3", 0.95, "angles are {} numbers"),),
}


def digits(view: View) -> Iterator[Diagnosis]:
    """Positions, frequencies, angles, tables or products in too few bits."""
    kind, dtype, *_ = view.value(Name.ANGLES) or ("exact", "")
    if (kind, dtype) == ("angles", "bfloat16") and FRAMEWORKS[view.found.array].autocasts:
        # Autocast does this to an einsum of float32 factors, and so does a careless cast.
        yield named("D5", 0.5, f"angles are {dtype} numbers")
        yield named("D3", 0.5, f"angles are {dtype} numbers")
    else:
        for key, certainty, detail in _GRIDS.get((kind, dtype), _HALF_GRIDS.get(kind, ())):
            yield named(key, certainty, detail.format(dtype))
    yield from _tables(view, angles_fail=kind != "exact")


def _tables(view: View, *, angles_fail: bool) -> Iterator[Diagnosis]:
    through = dict(view.value(Name.ARITHMETIC) or ())
    claimed = set(view.claimed.dtypes)
    declared = view.claimed.precision or ""
    coarse = [
        through[d] for d in ("float32", "float64") if d in claimed and through.get(d) in _HALVES
    ]
    if coarse and "arithmetic" not in declared:
        yield named("D3", 0.9, f"x passes through {coarse[0]}")
        return
    if through.get("float64") == "float32" and "float64" in claimed:
        yield named("x demoted", 0.9, "float64 goes through float32")
    elif not angles_fail and _single(view):
        yield named("D12", 0.85, "float64 x is rotated by float32 angles")
    table, _, part = (view.value(Name.TABLE) or "").partition(" ")
    if part.endswith("sines") and view.value(Name.LINEAR) == "rounded":
        return  # products are rounded, and that of a unit vector is the entry
    if table == "steps":
        yield named("coarse table", 0.9, f"{table} {part}")
    fine = claimed & {"float32", "float64"}
    if table == "bfloat16" and "float16" in claimed:
        fine |= {"float16"}
    if table in _HALVES and fine and "table" not in declared and "arithmetic" not in declared:
        held = part if part.endswith("sines") else "entries"
        yield named("D4", 0.95, f"its {held} are {table} numbers")
    elif not angles_fail and declared:
        measured = dict(view.value(Name.PRECISION) or ())
        if declared == "float64-angles" and any(
            name not in ("float64-angles", "none") for name in measured.values()
        ):
            found = ", ".join(sorted(set(measured.values())))
            yield named("precision claimed", 0.9, f"found {found}, claimed {declared}")


def _single(view: View) -> bool:
    """Whether float64 x meets the budget of float32 angles and no better one."""
    measured = dict(view.value(Name.PRECISION) or ())
    return measured.get("float64") in ("float32-angles", "float32-recurrence", "fast-sincos")


def reach(view: View) -> Iterator[Diagnosis]:
    """Far positions."""
    found = view.value(Name.LARGEST)
    if found is None:
        return
    policy, limit = found
    match policy:
        case "wraps" if limit in _BITS:
            # A table of that length and an unsigned integer of so many bits do the same.
            yield named("C5", 0.6, f"wraps at {limit}")
            yield named(_BITS[limit], 0.6, f"they wrap at {limit}")
        case "clamped" | "identity" | "wraps" | "filled":
            yield named("C5", 0.9 if policy != "wraps" else 0.8, f"{policy} at {limit}")
        case "wraps signed":
            yield named(_BITS.get(limit, "C5"), 0.9, f"they wrap at {limit}, signed")
        case "raises" if limit < view.claimed.max_position:
            yield named("positions refused", 0.8, f"beyond {limit}")
        case "range" if isinstance(view.value(Name.GAIN), float):
            yield named("D9", 0.9, f"from about {limit} on")
        case "fast" if _unexplained(view):
            yield named("D8", 0.8)
        case _:
            yield from _odd_places(policy, limit)


def _odd_places(policy: str, limit: int) -> Iterator[Diagnosis]:
    """Far positions that no limit explains."""
    match policy:
        case "holes":
            yield named("rows not filled", 0.9, f"the first is {limit}")
        case "gain":
            yield named("K13", 0.8, f"from about {limit} on")
        case "company":
            yield named("angle depends on other tokens", 0.8, f"{limit} is right after {limit - 1}")
        case _:
            pass


def _unexplained(view: View) -> bool:
    """Whether no precision class holds that may pass."""
    if view.claimed.precision not in (None, "fast-sincos"):
        return True
    measured = dict(view.value(Name.PRECISION) or ())
    return "none" in measured.values() or "JDG-3.precision" in view.failed


def below_zero(view: View) -> Iterator[Diagnosis]:
    """Negative positions."""
    if not view.claimed.negative_positions:
        return
    words = {
        "clamped": "negative positions clamped",
        "absolute": "sign of positions lost",
        "raises": "negative positions refused",
        "other": "negative positions misread",
        "zeroed": "negative positions zeroed",
    }
    found = view.value(Name.NEGATIVE)
    if found in words and not (
        found == "other" and (view.value(Name.ANGLES) or ("exact",))[0] != "exact"
    ):
        yield named(words[found], 0.9)


RULES: tuple[Rule, ...] = (digits, reach, below_zero)

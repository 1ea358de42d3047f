"""Rules about precision and range: number grids, far and negative positions."""

from collections.abc import Iterator

from ropespec.conformance.identify.facts import Diagnosis, Name
from ropespec.conformance.identify.view import Rule, View, named

__all__ = ["RULES"]

_HALVES = ("bfloat16", "float16")


def digits(view: View) -> Iterator[Diagnosis]:
    """Positions, frequencies, angles, tables or products in too few bits."""
    kind, dtype, *_ = view.value(Name.ANGLES) or ("exact", "")
    match kind, dtype:
        case "frequencies", "float32":
            yield named("D12", 0.9, "the frequencies are float32 numbers")
        case "angles", "float32":
            yield named("D12", 0.8, "the angles are float32 numbers")
        case "frequencies", _:
            yield named("D1", 0.95, f"they are {dtype} numbers")
        case "positions", "tf32":
            yield named("D5", 0.5, "positions have 11 bits")
            yield named("D2", 0.5, "positions have 11 bits")
        case "positions", _:
            yield named("D2", 0.95, f"they are {dtype} numbers")
        case "positions and frequencies", "tf32":
            yield named("D5", 0.95, "both factors have 11 bits")
        case "positions and frequencies", _:
            yield named("D2", 0.6, f"positions are {dtype} numbers")
            yield named("D1", 0.6, "and so are the frequencies")
        case "angles", _ if view.found.array == "torch" and dtype == "bfloat16":
            # Autocast does this to an einsum of float32 factors, and so does a careless cast.
            yield named("D5", 0.5, f"angles are {dtype} numbers")
            yield named("D3", 0.5, f"angles are {dtype} numbers")
        case "angles", _:
            yield named("D3", 0.95, f"angles are {dtype} numbers")
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
        yield named("D12", 0.85, "float64 x is turned by float32 angles")
    table = view.value(Name.TABLE)
    fine = claimed & {"float32", "float64"}
    if table == "bfloat16" and "float16" in claimed:
        fine |= {"float16"}
    if table in _HALVES and fine and "table" not in declared and "arithmetic" not in declared:
        yield named("D4", 0.95, f"its entries are {table} numbers")
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
        case "clamped" | "identity" | "wraps":
            yield named("C5", 0.9 if policy != "wraps" else 0.8, f"{policy} at {limit}")
        case "wraps signed":
            yield named("positions in 16 bits", 0.9, f"they wrap at {limit}")
        case "raises" if limit < view.claimed.max_position:
            yield named("positions refused", 0.8, f"beyond {limit}")
        case "range" if isinstance(view.value(Name.GAIN), float):
            yield named("D9", 0.9, f"from about {limit} on")
        case "fast" if _unexplained(view):
            yield named("D8", 0.8)
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
    }
    found = view.value(Name.NEGATIVE)
    if found in words and not (
        found == "other" and (view.value(Name.ANGLES) or ("exact",))[0] != "exact"
    ):
        yield named(words[found], 0.9)


RULES: tuple[Rule, ...] = (digits, reach, below_zero)

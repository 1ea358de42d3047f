"""Whether a statement holds: its members are computed and compared two by two."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spec_reading.evaluate import Environment, evaluate
from spec_reading.grammar import parse
from spec_reading.nodes import Dots, Items, Negative, Node, Number, Relation
from spec_reading.sequences import filled
from spec_reading.tokens import FormulaError
from spec_reading.values import Interval, Open, paired

__all__ = ["disagreements", "wrong"]

_EXACT = 1e-9
_NEAR = 1e-2
_SETS: dict[str, Callable[[Any], Any]] = {
    "ℤ": lambda x: x == np.round(x),
    "ℕ": lambda x: (x == np.round(x)) & (x >= 0),
    "ℝ": np.isreal,
    "ℂ": np.isfinite,
}


def disagreements(relation: Relation, environment: Environment) -> list[str]:
    """Say which neighbours in a chain do not stand in the relation that is written.

    Raises
    ------
    FormulaError
        If a member cannot be computed.
    """
    members, signs = _without_dots(relation, environment)
    found = []
    for (left, right), sign in zip(itertools.pairwise(members), signs, strict=True):
        if left == right:
            found.append(f"{relation.text}: both sides are written alike")
        elif not _holds(left, sign, right, relation, environment):
            values = (_shown(node, environment) for node in (left, right))
            found.append(f"{relation.text}: {f' is not {sign} '.join(values)}")
    return found


def wrong(formula: str, environment: Environment) -> list[str]:
    """Say what in a formula does not hold, or that it cannot be computed."""
    try:
        return [
            line
            for relation in parse(formula, environment)
            for line in disagreements(relation, environment)
        ]
    except FormulaError as error:
        return [f"{' '.join(formula.split())!r}: {error}"]


def _without_dots(relation: Relation, environment: Environment) -> tuple[list[Node], list[str]]:
    """Fill in a chain such as `a_0 > a_1 > ... > a_9`."""
    at = next((n for n, node in enumerate(relation.members) if isinstance(node, Dots)), 0)
    members, gap = filled(relation.members, lambda node: evaluate(node, environment))
    if gap is not None:
        raise FormulaError("dots that cannot be filled in")
    signs = list(relation.signs)
    if at:  # as many signs around what is filled in as there are gaps
        signs[at - 1 : at + 1] = [signs[at]] * (len(members) - len(relation.members) + 2)
    return members, signs


def _holds(
    left: Node, sign: str, right: Node, relation: Relation, environment: Environment
) -> bool:
    one = evaluate(left, environment)
    if sign == "∈":
        return _is_member(one, right, environment) and _is_domain(left, right, environment)
    if sign == "↦":
        mapping = environment.get("↦")
        if not callable(mapping):
            raise FormulaError("'↦' is not bound to a function")
        one = mapping(one)
    two = evaluate(right, environment)
    if sign == "≡":
        if relation.modulus is None:
            raise FormulaError("'≡' without (mod ...)")
        modulus = evaluate(relation.modulus, environment)
        turns = (np.asarray(one) - np.asarray(two)) / modulus
        return bool(np.all(abs(turns - np.round(turns)) < _EXACT))
    if sign == "≈":
        return _close(one, two, _tolerance(left, right))
    if sign in {"=", "↦"}:
        return _close(one, two, None)
    if sign == "≠":
        return not _close(one, two, None)
    return _ordered(one, sign, two)


def _close(one: Any, two: Any, tolerance: float | None) -> bool:
    return all(_same(a, b, tolerance) for a, b in paired(one, two))


def _same(a: Any, b: Any, tolerance: float | None) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if np.shape(a) != np.shape(b):
        return False
    x, y = (np.asarray(v, dtype=complex) for v in (a, b))
    scales = [float(np.max(np.abs(v), initial=0)) for v in (x, y)]
    scale = max(scales)
    rounding = 0.0 if min(scales) > 0 else 1e-12  # beside a zero stands what rounding leaves
    allowed = max(_EXACT * scale, rounding) if tolerance is None else tolerance * 1.000001
    if tolerance == _NEAR:
        allowed = _NEAR * scale
    return bool(np.all(np.isfinite(x)) and np.all(np.isfinite(y)) and np.all(abs(x - y) <= allowed))


def _tolerance(*members: Node) -> float:
    """Half a unit of the last printed digit of a decimal, else one in a hundred."""
    for member in members:
        number = member.value if isinstance(member, Negative) else member
        if isinstance(number, Number) and not number.text.isdigit():
            digits, _, exponent = number.text.partition("e")
            places = len(digits.partition(".")[2])
            return 0.5 * 10.0 ** (int(exponent or 0) - places)
    return _NEAR


def _ordered(one: Any, sign: str, two: Any) -> bool:
    if np.ndim(one) and np.ndim(two) and np.shape(one) != np.shape(two):
        return False
    if isinstance(one, int) and isinstance(two, int):
        less, equal = one < two, one == two
        return {"<": less, "≤": less or equal, ">": not (less or equal), "≥": not less}[sign]
    if np.iscomplexobj(one) or np.iscomplexobj(two):
        raise FormulaError(f"{sign!r} between complex numbers")
    x, y = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    slack = 1e-12 * np.maximum(np.maximum(abs(x), abs(y)), 1)
    found = {"<": x < y, "≤": x <= y + slack, ">": x > y, "≥": x >= y - slack}[sign]
    return bool(np.all(found))


def _is_member(one: Any, right: Node, environment: Environment) -> bool:
    name = getattr(right, "text", None)
    if name in _SETS and name not in environment:
        return bool(np.all(_SETS[name](np.asarray(one))))
    if isinstance(right, Items) and right.brackets in {"()", "[]"} and len(right.items) == 2:
        low, high = (evaluate(item, environment) for item in right.items)
        return all(x in Interval(low, high, right.brackets) for x in np.ravel(one))
    members = evaluate(right, environment)
    if isinstance(members, Interval):
        return all(x in members for x in np.ravel(one))
    if isinstance(members, Open):
        members = _continued(members, float(np.max(one)))
    return all(np.any(np.isclose(x, members, rtol=_EXACT, atol=1e-12)) for x in np.ravel(one))


def _is_domain(left: Node, right: Node, environment: Environment) -> bool:
    """Say whether `i ∈ {0, ..., 3}` gives all that i runs over, where the binding `i ∈` tells."""
    domain = environment.get(f"{getattr(left, 'text', '')} ∈")
    if domain is None or not isinstance(right, Items) or right.brackets != "{}":
        return True
    members = evaluate(right, environment)
    if isinstance(members, Open):
        members = _continued(members, max(domain))
    return sorted(domain) == sorted(members)


def _continued(members: Open, beyond: float) -> NDArray[Any]:
    """Continue `{2, 4, 6, ...}` by its step."""
    steps = np.diff(members.head)
    if len(members.tail) or len(steps) == 0 or len(set(steps.tolist())) != 1 or steps[0] <= 0:
        raise FormulaError("a set whose dots cannot be filled in")
    return np.arange(members.head[0], beyond + steps[0], steps[0])


def _shown(node: Node, environment: Environment) -> str:
    try:
        value = evaluate(node, environment)
    except FormulaError:
        return "a set"
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return " ".join(
        np.array2string(
            np.asarray(value.head if isinstance(value, Open) else value), precision=7, threshold=8
        ).split()
    )

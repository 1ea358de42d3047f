"""What an ellipsis stands for: `x_0, x_1, ..., x_{d-1}` is filled in, `(0, 1, 0, 1, ...)` is open.

Before and after the dots stands the same pattern of one, two or three things; the places where they
differ are integers and run on by the step that the things before the dots show (else by 1).
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from spec_reading.nodes import Binary, Dots, Group, Name, Negative, Node, Number, Script
from spec_reading.tokens import FormulaError

__all__ = ["filled"]

Value: TypeAlias = Callable[[Node], object]
Holes: TypeAlias = list[tuple[Node, Node]]


def filled(items: Sequence[Node], value: Value) -> tuple[list[Node], int | None]:
    """Fill in every ellipsis.

    Returns
    -------
    list of Node
        Every item.
    int or None
        How many of them come before a gap that cannot be filled, or before an open end.
    """
    found: list[Node] = []
    gap = None
    for at, item in enumerate(items):
        if not isinstance(item, Dots):
            found.append(item)
            continue
        between = _between(
            _run_of(items[at - 1 :: -1] if at else ()), _run_of(items[at + 1 :]), value
        )
        if between is None and gap is not None:
            raise FormulaError("two gaps that cannot be filled in")
        gap = len(found) if between is None else gap
        found += between or []
    return found, gap


def _run_of(items: Sequence[Node]) -> list[Node]:
    """Take the items up to the next ellipsis."""
    ends = [at for at, item in enumerate(items) if isinstance(item, Dots)]
    return list(items[: ends[0]] if ends else items)


def _between(back: Sequence[Node], after: Sequence[Node], value: Value) -> list[Node] | None:
    """Give the items that dots leave out; `back` is what stands before them, the nearest first."""
    for period in range(1, min(len(back), len(after), 3) + 1):
        runs = [
            _run(back[k + period] if len(back) >= 2 * period else None, back[k], other, value)
            for k, other in zip(range(period - 1, -1, -1), after, strict=False)
        ]
        whole = [run for run in runs if run is not None]
        if len(whole) == period and len({len(run) for run in whole}) == 1:
            return [run[k] for k in range(len(whole[0])) for run in whole]
    return None


def _run(previous: Node | None, one: Node, other: Node, value: Value) -> list[Node] | None:
    template, holes = _merge(one, other)
    if previous == one or (isinstance(template, Name) and not (_counts(one) and _counts(other))):
        return None
    ends = [(_integer(a, value), _integer(b, value)) for a, b in holes]
    steps = _steps(previous, one, template, value) or [0] * len(holes)
    places = [_places(*pair, step) for pair, step in zip(ends, steps, strict=True)]
    if len({len(place) for place in places}) != 1 or not places[0]:
        return None
    return [
        _put(template, {f"□{n}": Number(str(place[k])) for n, place in enumerate(places)})
        for k in range(1, len(places[0]) - 1)
    ]


def _put(node: Any, values: dict[str, Node]) -> Any:
    """Put values into the places that run."""
    if isinstance(node, Name):
        return values.get(node.text, node)
    if isinstance(node, tuple):
        return tuple(_put(part, values) for part in node)
    if not isinstance(node, Node):
        return node
    return dataclasses.replace(
        node, **{name: _put(getattr(node, name), values) for name in _parts(node)}
    )  # type: ignore[type-var]


def _places(first: int | None, last: int | None, step: int) -> Sequence[int]:
    """Give the numbers from first to last; nothing if the step does not lead there."""
    if first is None or last is None or first == last:
        return ()
    if step * (last - first) <= 0:  # not known, or it belongs to a run before this one
        step = 1 if last > first else -1
    return range(first, last + step, step) if (last - first) % step == 0 else ()


def _counts(node: object) -> bool:
    """Say whether a whole item is arithmetic, and not an entry of something."""
    if isinstance(node, Node):
        known = isinstance(node, Number | Name | Negative | Binary | Group)
        return known and all(_counts(getattr(node, name)) for name in _parts(node))
    return True


def _steps(previous: Node | None, one: Node, template: Node, value: Value) -> list[int] | None:
    """Give the steps from the item before, if that is of the same form."""
    if previous is None:
        return None
    form, changes = _merge(previous, one)
    ends = [(_integer(a, value), _integer(b, value)) for a, b in changes]
    if form != template or any(None in pair for pair in ends):
        return None
    return [b - a for a, b in ends if a is not None and b is not None]


def _integer(node: Node, value: Value) -> int | None:
    try:
        number = value(node)
    except FormulaError:
        return None
    return int(number) if isinstance(number, int | float) and number == int(number) else None


def _merge(one: Node, other: Node) -> tuple[Node, Holes]:
    """Put `□0`, `□1`, ... where two nodes differ."""
    holes: Holes = []
    merged = _merged(one, other, holes)
    return (merged if isinstance(merged, Node) else one), holes


def _merged(one: object, other: object, holes: Holes) -> object:
    if one == other:
        return one
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(_merged(a, b, holes) for a, b in zip(one, other, strict=True))
    if isinstance(one, Node) and type(one) is type(other) and _alike(one, other):
        changed = {
            name: _merged(getattr(one, name), getattr(other, name), holes) for name in _parts(one)
        }
        if isinstance(one, Script):
            changed |= {"sub_text": "□", "sup_text": "□"}
        return dataclasses.replace(one, **changed)  # type: ignore[type-var]
    if isinstance(one, Node) and isinstance(other, Node):
        holes.append((one, other))
        return Name(f"□{len(holes) - 1}")
    raise FormulaError("the two ends of the dots do not fit each other")


def _alike(one: Node, other: object) -> bool:
    """Say whether two nodes of one kind have the same words and differ in their parts alone."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in _parts(one)]
    return all(
        (isinstance(a, Node) and isinstance(b, Node))
        or (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b))
        or a == b
        for a, b in pairs
    )


def _parts(node: Node) -> list[str]:
    return [f.name for f in dataclasses.fields(node) if f.compare]  # type: ignore[arg-type]

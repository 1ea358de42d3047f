"""What the backends are to reach at every size, and whether they did."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ropespec.bench.speed.case import Case, Into, Row
from ropespec.bench.speed.subjects import ENTRIES, compiled

__all__ = ["LARGE", "Outcome", "outcomes"]

LARGE = 2**16
"""Elements of x from which on time is counted in copies, not in what it exceeds one by."""

GPU_LARGE = 2**25
"""The same on a GPU, where a smaller x lies in the cache and its calls cost what starting costs."""

GIVEN, OVER, IN_PLACE, GPU = 1.2, 1e-5, 1.0, 1 / 0.9


@dataclass(frozen=True, slots=True)
class Outcome:
    """One target in one case.

    Attributes
    ----------
    target : str
        What is asked for.
    subject, device : str
        Who is to reach it, and where.
    case : Case
        In which case.
    bound : float
        What it is to stay at or below.
    measured : float
        What was found, in the unit of the bound: copies, seconds, or times of somebody else.
    against : str
        The other side: a copy, or who is fastest of those that it is held against.
    product : float or None
        What one product of each number takes the framework itself there, in that unit; None where
        that was not measured. It is no floor: a kernel of its own may be faster.
    """

    target: str
    subject: str
    device: str
    case: Case
    bound: float
    measured: float
    against: str
    product: float | None = None

    @property
    def below_product(self) -> bool:
        """Whether less is asked for than one product of each number takes the framework."""
        return self.product is not None and self.product > self.bound

    @property
    def met(self) -> bool:
        """Whether it was reached."""
        return self.measured <= self.bound

    def to_json(self) -> dict[str, Any]:
        """Return it as the JSON object that the schema describes."""
        value: dict[str, Any] = dataclasses.asdict(self)
        case = self.case._asdict()
        del value["case"]
        return value | case | {"shape": list(case["shape"]), "met": self.met}


def outcomes(rows: Iterable[Row]) -> list[Outcome]:
    """Hold every row of ours against what it is to reach; what was not measured is not judged.

    Parameters
    ----------
    rows : iterable of Row
        Of one run on one machine.
    """
    beside: dict[tuple[str, Case], list[Row]] = defaultdict(list)
    for row in rows:
        if row.seconds is not None:
            beside[row.device, row.case].append(row)
    found = [
        one
        for same in beside.values()
        for row in same
        for one in (*_copies(row, _product(row, same)), *_others(row, same))
    ]
    return sorted(found, key=lambda one: one.target)


def _product(row: Row, beside: Iterable[Row]) -> Row | None:
    """Return the product in the framework of a row, if it was measured in the same case."""
    return next((one for one in beside if one.subject == _PRODUCTS.get(row.subject)), None)


def _copies(row: Row, product: Row | None) -> Iterator[Outcome]:
    """Near a copy: NumPy and torch into memory that is there, on a GPU all into any."""
    assert row.seconds is not None
    assert row.copy_seconds is not None
    assert row.copies is not None
    target: tuple[str, float, float] | None = None
    if row.device == "cuda":
        if row.subject in _GPU and row.case.elements >= GPU_LARGE:
            target = "GPU, copies", GPU, row.copies
    elif row.subject in _CPU and row.into != "new":
        if row.case.elements < LARGE:
            target = "small, over a copy", OVER, row.seconds - row.copy_seconds
        elif row.into == "self":
            target = "in place, copies", IN_PLACE, row.copies
        else:
            target = "given memory, copies", GIVEN, row.copies
    if target is not None:
        name, bound, value = target
        takes = None if product is None else _seconds(product)
        if takes is not None:
            takes = takes - row.copy_seconds if bound == OVER else takes / row.copy_seconds
        yield Outcome(name, row.subject, row.device, row.case, bound, value, row.copy, takes)


def _others(row: Row, beside: Sequence[Row]) -> Iterator[Outcome]:
    """Never slower than anybody else in the same case on the same device."""
    rivals = _RIVALS.get(row.subject, frozenset())
    against = [other for other in beside if other.subject in rivals]
    if against:
        assert row.seconds is not None
        best = min(against, key=_seconds)
        name = _TIMES[row.into]
        product = _product(row, beside)
        takes = None if product is None else _seconds(product) / _seconds(best)
        value = row.seconds / _seconds(best)
        yield Outcome(name, row.subject, row.device, row.case, 1.0, value, best.subject, takes)


def _seconds(row: Row) -> float:
    assert row.seconds is not None
    return row.seconds


_TIMES: dict[Into, str] = {
    "new": "new memory, of others",
    "out": "given memory, of others",
    "self": "in place, of others",
}
_CPU = frozenset({"ropespec numpy", "ropespec torch"})
_GPU = frozenset({"ropespec torch", "ropespec jax", "ropespec cupy"})
_PEERS = frozenset(entry.name for entry in ENTRIES if entry.kind == "peer")
_COMPILED = frozenset(compiled(entry).name for entry in ENTRIES if entry.kind == "peer")
_IN_JAX = frozenset(entry.name for entry in ENTRIES if entry.needs[0] == "jax") - _GPU

_RIVALS = {
    "ropespec numpy": _PEERS | {"naive numpy"},
    "ropespec torch": _PEERS,
    "ropespec torch compiled": _PEERS | _COMPILED,
    "ropespec jax": _PEERS & _IN_JAX | {"naive jax"},
    "ropespec jax eager": frozenset({"naive jax positions"}),
    "ropespec jax tables eager": frozenset({"naive jax"}),
    "ropespec cupy": _PEERS,
}
"""Whom each is held against; what is compiled only by who is compiled himself."""

_PRODUCTS = {
    "ropespec torch": "torch product",
    "ropespec torch compiled": "torch product compiled",
    "ropespec jax": "jax product",
    "ropespec jax eager": "jax product eager",
    "ropespec jax tables eager": "jax product eager",
}
"""What is measured beside each; not of NumPy, which multiplies in one thread alone."""

"""What the backends are to reach, and by how much they did."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ropespec.backends.benchmark.case import Case, Row, Shape
from ropespec.backends.benchmark.subjects import ENTRIES

__all__ = ["Outcome", "outcomes"]

LARGE: Shape = (4, 2048, 32, 128)
DECODE: Shape = (1, 1, 32, 128)
LARGEST: Shape = (4, 8192, 32, 128)

OF_COPY = 0.9
"""The part of a copy's speed that a GPU is to reach."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One target on one dtype and layout.

    Attributes
    ----------
    target : str
        What is compared with what.
    dtype : str
        Dtype.
    interleaved : bool
        Layout.
    bound : float
        What is asked for.
    measured : float or None
        What was found; None if a side of it was not measured.
    at_most : bool
        Whether it is to stay below the bound, rather than above.
    against : str
        The subject on the other side.
    """

    target: str
    dtype: str
    interleaved: bool
    bound: float
    measured: float | None
    at_most: bool
    against: str

    @property
    def met(self) -> bool | None:
        """Whether it was reached; None if it was not measured."""
        if self.measured is None:
            return None
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound

    @property
    def verdict(self) -> str:
        """In words, with what is missing in per cent of the bound."""
        if self.measured is None:
            return "not measured"
        if self.met:
            return "met"
        return f"missed by {abs(self.measured / self.bound - 1):.0%}"

    def to_json(self) -> dict[str, Any]:
        """Return it as the JSON object that the schema describes."""
        return asdict(self) | {"met": self.met}


def outcomes(rows: Iterable[Row]) -> list[Outcome]:
    """Hold what was measured against every target.

    Parameters
    ----------
    rows : iterable of Row
        Of one run on one machine.

    Returns
    -------
    list of Outcome
        In both dtypes and both layouts; those of a GPU only if something ran on one.
    """
    table = _Table(rows)
    found = []
    for dtype in ("float32", "bfloat16"):
        for interleaved in (True, False):
            found += _cpu(table, dtype, interleaved=interleaved)
            found += _cuda(table, dtype, interleaved=interleaved)
    return sorted(found, key=lambda one: one.target)


class _Table:
    """Rows by device, subject and case."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = {
            (row.device, row.subject, row.case): row for row in rows if row.seconds is not None
        }

    def __call__(self, subject: str, case: Case, device: str = "cpu") -> Row | None:
        return self._rows.get((device, subject, case))

    def fastest(self, case: Case, names: Iterable[str], device: str = "cpu") -> Row | None:
        """Return the row of the fastest of the subjects."""
        found = [row for name in names if (row := self(name, case, device)) is not None]
        return min(found, key=_seconds, default=None)

    def has(self, device: str) -> bool:
        """Whether something ran on a device."""
        return any(key[0] == device for key in self._rows)


def _seconds(row: Row) -> float:
    assert row.seconds is not None
    return row.seconds


def _peers(backend: str) -> list[str]:
    return [one.name for one in ENTRIES if one.kind == "peer" and one.backend == backend]


def _cpu(table: _Table, dtype: str, *, interleaved: bool) -> list[Outcome]:
    new = Case(dtype, interleaved, LARGE, "forward", "new")
    out = new._replace(into="out")
    token = new._replace(shape=DECODE)
    wide = dtype == "float32"
    to_copy, faster = _makers(dtype, interleaved=interleaved)
    jax_peers = [table.fastest(new, _peers("jax"))]
    if jax_peers == [None]:  # keras-hub has one layout; the form of everybody stands in
        jax_peers = [table("naive jax", new)]
    found = [
        to_copy("1 torch into out to copy_", table("ropespec torch", out), 2.5 if wide else 6.0),
        to_copy(
            "2 torch compiled into out to copy_",
            table("ropespec torch compiled", out),
            1.3 if wide else 2.0,
        ),
        faster(
            "3 torch new, times the fastest eager peer",
            table("ropespec torch", new),
            table.fastest(new, _peers("torch")),
            1.0 if wide and interleaved else 2.0,
        ),
        faster(
            "4 jax, times the fastest peer",
            table("ropespec jax", new),
            jax_peers[0],
            1.5 if wide else 1.0,
        ),
        faster(
            "5 numpy into out, times the naive form",
            table("ropespec numpy", out),
            table("naive numpy", new),
            2.0,
        ),
    ]
    if not interleaved:  # llama is half-split
        llama = table("transformers llama", token)
        found += [
            faster("6 torch decode, times llama", table("ropespec torch", token), llama, 1.0),
            faster(
                "7 torch decode with tables, times llama",
                table("ropespec torch tables", token),
                llama,
                1.0,
            ),
        ]
    return found


def _cuda(table: _Table, dtype: str, *, interleaved: bool) -> list[Outcome]:
    """Targets of a GPU: near a copy in every backend, and ahead of what others run there."""
    if not table.has("cuda"):
        return []
    to_copy, faster = _makers(dtype, interleaved=interleaved)
    new = Case(dtype, interleaved, LARGEST, "forward", "new")
    found = []
    for case in (new, new._replace(direction="backward")):
        for backend in ("torch", "jax", "cupy"):
            row = table(f"ropespec {backend}", case, "cuda")
            found.append(to_copy(f"8 {backend} {case.direction} on the GPU", row, 1 / OF_COPY))
        rivals = ("transformers llama", "transformers llama compiled", "flash-attn triton")
        ours, rival = table("ropespec torch", case, "cuda"), table.fastest(case, rivals, "cuda")
        found.append(faster(f"9 torch {case.direction} on the GPU, times others", ours, rival, 1.0))
    return found


def _makers(
    dtype: str, *, interleaved: bool
) -> tuple[
    Callable[[str, Row | None, float], Outcome],
    Callable[[str, Row | None, Row | None, float], Outcome],
]:
    def to_copy(target: str, row: Row | None, bound: float) -> Outcome:
        ratio, against = (row.ratio, row.copy) if row is not None else (None, "a copy")
        return Outcome(target, dtype, interleaved, bound, ratio, at_most=True, against=against)

    def faster(target: str, ours: Row | None, other: Row | None, bound: float) -> Outcome:
        against = other.subject if other is not None else "nothing measured"
        times = None
        if ours is not None and other is not None:
            times = _seconds(other) / _seconds(ours)
        return Outcome(target, dtype, interleaved, bound, times, at_most=False, against=against)

    return to_copy, faster

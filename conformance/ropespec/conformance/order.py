"""The order in which checks are run: those first that tell most, and soon."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from ropespec.conformance.registry import Check

__all__ = [
    "ALIKE",
    "DEAR",
    "FIRST",
    "FRESH",
    "LARGE",
    "LAST",
    "LONG",
    "STRANGE",
    "dealt",
    "is_late",
    "telling_first",
]

FIRST = ("ROT-6.value", "ROT-7.value")
"""Almost any mistake makes them fail: one of them is enough for a first answer."""

LAST = ("ROT-17.arguments",)
"""What is found by all that the other checks ask."""

STRANGE = ("FREQ-6.integers",)
"""What asks as nobody does, and so leaves nothing behind for checks after it: there are none."""

FRESH = ("ROT-19.dtypes", "ROT-19.generation", "ROT-19.grown", "ROT-19.unrecorded")
"""What begins with a fresh instance: it has compiled nothing, so what is not fresh comes before."""

LARGE = ("ROT-19.many", "ROT-20.many")
"""What takes much memory, and so is not asked twice at the same time."""

ALIKE = ("ROT-6.value", "ROT-7.value", "ROT-14.tail")
"""What walks the same rows, which take a while to find, and so are looked for in one job."""

LONG = ("ROT-24.compiled",)
"""What takes long where nothing else is compiled, and so is in another job than what is large.

It is the last there: the next fresh instance would import all that the compiler has imported.
"""

_COMPILED: Mapping[str, int] = MappingProxyType(
    {
        "ROT-20.many": 64,
        "ATT-2.value": 55,
        "ROT-19.history": 45,
        "ROT-19.many": 41,
        "ROT-9.every": 36,
        "ROT-20.gradient": 25,
        "ATT-4.groups": 24,
        "ROT-19.walk": 24,
        "ROT-6.sizes": 24,
        "ROT-19.tokens": 22,
        "ROT-7.sizes": 21,
        "ROT-6.value": 18,
        "ROT-7.value": 14,
        "ATT-1.value": 13,
        "REL-5.value": 13,
        "ROT-17.dtype": 13,
        "PAR-1.shards": 12,
        "ROT-19.dtypes": 11,
        "AXES-1.reference": 10,
        "PUB-2.value": 10,
        "ROT-19.grown": 10,
        "ATT-5.order": 9,
        "ROT-20.tail": 9,
        "ROT-24.vmap": 9,
        "ROT-3.value": 9,
        "ROT-19.rows": 8,
        "ROT-22.value": 8,
        "ROT-24.compiled": 8,
        "SCAL-12.tail": 8,
        "DEC-2.value": 7,
        "JDG-3.break": 7,
        "PAR-4.attention": 7,
        "SCAL-8.gain": 7,
        "ATT-4.reference": 6,
        "PUB-1.value": 6,
        "PUB-5.value": 6,
        "REL-1.shift": 6,
        "ROT-19.generation": 6,
        "ROT-19.shortcuts": 6,
        "ROT-22.gradient": 6,
        "AXES-1.value": 5,
        "ERR-1.attention": 5,
        "FREQ-9.value": 5,
        "ROT-14.tail": 5,
        "WGT-4.moved": 5,
        "ATT-2.zero": 4,
        "DEC-2.windows": 4,
        "PAR-3.heads": 4,
        "PROJ-2.value": 4,
        "PROJ-5.tokens": 4,
        "REL-5.one-vector": 4,
        "REL-7.swap-score": 4,
        "ROT-14.attention": 4,
        "ROT-15.linear": 4,
        "SCAL-8.apart": 4,
        "SIN-1.value": 4,
    }
)

_ELSE: Mapping[str, int] = MappingProxyType(
    {
        "ROT-24.compiled": 115,
        "ROT-20.many": 47,
        "ROT-9.every": 41,
        "ROT-19.many": 36,
        "ROT-20.gradient": 34,
        "ROT-6.value": 34,
        "ROT-19.generation": 25,
        "ROT-17.unwritten": 21,
        "ATT-2.value": 20,
        "ROT-19.walk": 20,
        "ROT-17.unrecorded": 19,
        "ROT-17.rounded": 18,
        "ROT-7.value": 17,
        "ROT-14.tail": 13,
        "AXES-1.reference": 10,
        "ROT-19.dtypes": 10,
        "ROT-24.jvp": 8,
        "REL-7.swap": 7,
        "ROT-19.grown": 7,
    }
)

DEAR: Mapping[bool, Mapping[str, int]] = {True: _COMPILED, False: _ELSE}
"""Thousandths of the time of all checks, of those that take most; the others have equal shares.

By whether each shape is compiled. Read off the seconds of each check in what
`ropespec check NAME --json -` says: of what compiles seven tenths of those when nothing was
compiled before and three of those when all was, else of a backend that has all transforms and one
that has none, as their mean.
"""


def telling_first(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks in the order in which to run them.

    After `FIRST` come those that point at a mistake, of the contract before others, then those that
    almost any mistake makes fail, those of `FRESH` and of `LONG`, and last those that look at all
    that was seen.

    Parameters
    ----------
    checks : sequence of Check
        In the order of the specification, which is kept among equals.
    """

    def place(item: Check) -> tuple[bool, ...]:
        last = item.id in STRANGE, is_late(item), item.id in LONG, item.id in FRESH
        return *last, item.id not in FIRST, item.general, item.kind != "contract"

    return tuple(sorted(checks, key=place))


def is_late(item: Check) -> bool:
    """Whether a check comes after all others: most of these look at all that was seen."""
    return item.explain is not None or item.id in LAST + STRANGE


def dealt(
    checks: Sequence[Check], jobs: int, *, compiles: bool, skipped: Collection[str] = ()
) -> list[list[Check]]:
    """Deal checks to so many jobs, as much to each: it depends on nothing that takes time here.

    Those of a clause that take little go to the job that has the dearest of it: they ask for the
    same, which has to be compiled, or expected, but once there.

    Parameters
    ----------
    checks : sequence of Check
        In the order in which to run them, which each job keeps.
    jobs : int
        How many; one has all that is large, and another what is long.
    compiles : bool
        Whether each shape is compiled.
    skipped : collection of str
        Ids of those that will not be made, and so take no time.
    """
    last = jobs - 1
    taken = [0.0] * jobs
    turn: dict[str, int] = {}
    homes: dict[str, int] = {}
    costs = _costs(checks, DEAR[compiles], skipped)

    def place(item: Check) -> int:
        if item.id in LARGE + LONG:
            return last if item.id in LONG else 0
        if item.id in ALIKE and (there := [turn[name] for name in ALIKE if name in turn]):
            return there[0]
        if item.id not in DEAR[compiles] and item.clause in homes:
            return homes[item.clause]
        return min(range(last, -1, -1), key=taken.__getitem__)

    for item in sorted(checks, key=lambda item: costs[item.id], reverse=True):
        turn[item.id] = place(item)
        homes.setdefault(item.clause, turn[item.id])
        taken[turn[item.id]] += costs[item.id]
    return [[item for item in checks if turn[item.id] == job] for job in range(jobs)]


def _costs(
    checks: Sequence[Check], dear: Mapping[str, int], skipped: Collection[str]
) -> dict[str, float]:
    """Return what each check takes; those of which it is not told have equal shares of the rest."""
    others = [item.id for item in checks if item.id not in dear]
    share = (1000 - sum(dear.values())) / max(len(others), 1)
    return {**dict.fromkeys(others, share), **dear, **dict.fromkeys(skipped, 0.0)}

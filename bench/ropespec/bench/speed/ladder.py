"""The ladder of sizes, and what of it a run climbs."""

import itertools
from dataclasses import dataclass

from ropespec.bench.speed.case import Case, Direction, Into, Shape
from ropespec.bench.speed.subjects import Entry

__all__ = ["DTYPES", "LADDER", "LEFT_OUT", "TOKENS", "Plan", "sizes"]

DTYPES = ("float32", "bfloat16", "float16")
TOKENS = (1, 16, 128, 512, 2048, 8192)
BATCHES = (1, 8)
HEADS = (32, 8)
HEAD_DIMS = (128, 64, 256)

LADDER: tuple[Shape, ...] = tuple((1, length, 32, 128) for length in TOKENS)
"""What every run climbs: one sequence, the heads of a usual model."""

BESIDE: tuple[Shape, ...] = tuple(
    shape
    for length in (1, 512)
    for shape in (
        (8, length, 32, 128),
        (1, length, 8, 128),
        (1, length, 32, 64),
        (1, length, 32, 256),
    )
)
"""Steps beside it, of which a usual run takes only the forward pass into new memory."""

LEFT_OUT = (
    "Left out without --full: batch 8, heads 8, head_dim 64 and 256, but for steps beside the "
    "ladder at 1 and 512 tokens, forward into new memory; gradients and work in place of what has "
    "tables at hand or is compiled; torch.compile of peers and with tables."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, and how.

    Attributes
    ----------
    dtypes : tuple of str
        Dtypes.
    layouts : tuple of bool
        Values of `interleaved`.
    directions : tuple of str
        Passes.
    intos : tuple of str
        Kinds of memory.
    shapes : tuple
        Sizes (B, S, H, D) in place of the ladder; none for the ladder.
    tokens : tuple of int
        Only steps of so many tokens; none for all.
    full : bool
        Leave nothing out.
    rounds : int
        How often the contenders take turns in one case.
    repetitions : int
        Of every measurement, in each round.
    limit : float
        Seconds a measurement may take in a round before fewer repetitions are enough.
    device : str
        `auto`, `cpu` or `cuda`.
    timeout : float
        Seconds after which a contender that gives no answer is ended.
    """

    dtypes: tuple[str, ...] = DTYPES
    layouts: tuple[bool, ...] = (True, False)
    directions: tuple[Direction, ...] = ("forward", "both")
    intos: tuple[Into, ...] = ("new", "out", "self")
    shapes: tuple[Shape, ...] = ()
    tokens: tuple[int, ...] = ()
    full: bool = False
    rounds: int = 2
    repetitions: int = 40
    limit: float = 0.1
    device: str = "auto"
    timeout: float = 300.0

    def cases(self) -> list[Case]:
        """Return every case, in the order in which they are measured: the sizes innermost."""
        steps = self.shapes or sizes(full=self.full)
        return [
            case
            for parts in itertools.product(
                self.dtypes, self.layouts, self.directions, self.intos, steps
            )
            if self._takes(case := Case(*parts))
        ]

    def _takes(self, case: Case) -> bool:
        if self.tokens and case.shape[1] not in self.tokens:
            return False
        plain = case.direction == "forward" and case.into == "new"
        return plain or self.full or bool(self.shapes) or case.shape in LADDER

    def wants(self, entry: Entry, case: Case) -> bool:
        """Whether a contender is measured in a case, if it knows it."""
        if self.full or not (entry.is_compiled or entry.has_tables):
            return True
        return case.direction == "forward" and case.into != "self"


def sizes(*, full: bool) -> tuple[Shape, ...]:
    """Return the sizes of a run, the small ones first; all of them if it is full."""
    if not full:
        return LADDER + BESIDE
    return tuple(
        (batch, length, heads, head_dim)
        for batch, heads, head_dim in itertools.product(BATCHES, HEADS, HEAD_DIMS)
        for length in TOKENS
    )

"""How exactly a subject works where it is right, so that what is beyond that is seen."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import SMALL, Maker
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.diagnosis.told import Told, fact
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.rounding import several

__all__ = ["coarser", "measured"]

_HALVES = ("float16", "bfloat16")
_LEGITIMATE = ((), ("table",), ("table", "product", "sum"), ("table", "sum"), ("table", "product"))


def measured(asker: Asker, maker: Maker, right: Chain) -> Chain:
    """Return what is claimed, as exactly as the subject keeps it.

    For half dtypes a table, or products, of that dtype are legitimate (JDG-3); which of them it is
    is read off the calls that one of them explains.
    """
    profile = maker.profile
    chain = replace(right, fine=profile.precision == "float64-angles")
    for dtype in profile.dtypes:
        if dtype not in _HALVES:
            continue
        shapes = SMALL[:3] if profile.array == "jax" else SMALL[:8]
        givens = [
            maker.given(shape, ("scattered", "ragged")[k % 2], 70 + k, dtype=dtype)
            for k, shape in enumerate(shapes)
        ]
        answers = [asker.ask(given) for given in givens]
        seen = [Seen(one, chain) for one in answers if one is not None and one.y is not None]
        for places in _LEGITIMATE:
            tried = _with(chain, dtype, places)
            fits = [agree(one.y, run(tried, one.given)).all() for one in seen]
            if fits and np.mean(fits) >= 0.5:
                chain = tried
                break
    return chain


def _with(chain: Chain, dtype: str, places: tuple[str, ...]) -> Chain:
    """Return a chain that rounds at some places for x of one dtype."""
    sharp = replace(chain, sharp=chain.sharp | {dtype})
    if not places:
        return sharp
    narrow = several(places, dtype).chain(chain)
    usual = chain

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        return (narrow if g.dtype == dtype else usual).table(g, angle)

    return replace(sharp, table=table)


def coarser(seen: Sequence[Seen], right: Chain) -> Iterator[Told]:
    """Say that everything agrees in fewer bits than are claimed, if it does."""
    wrong = [one for one in seen if one.is_wrong]
    if not wrong:
        return
    coarse = replace(right, coarse=True, fine=False)
    if not all(agree(one.y, run(coarse, one.given)).all() for one in seen):
        return
    off = sum(int(one.off.sum()) for one in wrong)
    of = sum(one.y.size for one in seen)
    evidence = (
        f"{of} of {of} components in {len(seen)} calls are right in float32, {off} of them not in"
        " what is claimed"
    )
    if wrong[0].given.dtype == "float64":
        short = all(
            np.array_equal(one.y, one.y.astype(np.float32), equal_nan=True) for one in wrong
        )
        key = "x demoted" if short else "D12"
        said = "All is right to the digits of float32"
        yield (
            fact(key, f"{said}, and no number has more.", "x of float64", evidence)
            if short
            else (fact(key, f"{said}, and no further.", "x of float64", evidence))
        )
        return
    if right.fine:
        said = "Angles have the digits of float32, and float64 is claimed."
        yield fact("precision claimed", said, "far positions", evidence)

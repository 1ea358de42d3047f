"""Checks of what models do at the ends of a head, and of xPos (AXES-6 to AXES-9)."""

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import Forms, printed
from ropespec.conformance.checks.shared import NEAR, based, beside
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.trial import Trial
from ropespec.reference import axes_ends as ends
from ropespec.reference.rotation import interleaved_to_half

__all__: list[str] = []


@printed("AXES-6.forms", "The last components are rotated by other angles than the first ones.")
def trailing(trial: Trial, case: Case) -> Finding:
    """What is rotated at the other end is what the subject rotates at its own."""
    positions = case.make_positions()
    x, dim = case.make_x(positions), case.dim
    found = beside(trial, case, x, positions)
    wide = np.roll(x.astype(np.float64), -dim, axis=-1)
    made = ends.apply_rotary_trailing(wide, positions, **based(case, "interleaved"), rotary_dim=dim)
    seen = Forms("a rotated vector", found.call)
    seen.add(
        "axes_ends.apply_rotary_trailing", found.y, np.roll(made, dim, axis=-1), found.exact.allowed
    )
    return seen.finding()


@printed(
    "AXES-7.forms",
    "Pairs that come out apart are others than those that went in.",
    space=Space(values=("normal",), max_position=NEAR, min_dim=4, layouts=(True,)),
)
def apart(trial: Trial, case: Case) -> Finding:
    """P R_m x is what the subject gives, with its members apart."""
    positions = case.make_positions()
    x = case.make_x(positions)
    found = beside(trial, case, x, positions)
    wide = x.astype(np.float64)[..., : case.dim]
    made = ends.apply_rotary_deinterleaved(wide, positions, **based(case))
    got, allowed = (
        interleaved_to_half(np.ascontiguousarray(part[..., : case.dim]))
        for part in (found.y, found.exact.allowed)
    )
    seen = Forms("a rotated vector", found.call)
    seen.add("axes_ends.apply_rotary_deinterleaved", got, made, allowed)
    return seen.finding()


def _whole(trial: Trial) -> str | None:
    """Say why xPos, which scales whole heads, is not asked of a part of them."""
    claimed = trial.profile.rotary_dim is not None
    return "xPos is of whole heads, and rotary_dim is claimed" if claimed else None


@printed("AXES-8.forms", "Queries and keys do not grow and shrink by one factor.", applies=_whole)
def xpos(trial: Trial, case: Case) -> Finding:
    """A query grows as a key shrinks, by powers of (2i/d + 0.4)/1.4."""
    return _decayed(trial, case, "axes_ends.apply_xpos", centre=case.seed % 7)


@printed("AXES-9.forms", "The centre is rounded the other way.", applies=_whole)
def centre(trial: Trial, case: Case) -> Finding:
    """Half the length, up or down."""
    up = bool(case.seed % 2)
    length = 2 * (case.seed % 50) + 1
    middle = ends.xpos_centre(length, ceiling=up)
    return _decayed(trial, case, "axes_ends.xpos_centre", centre=middle, expected=length // 2 + up)


def _decayed(
    trial: Trial, case: Case, form: str, *, centre: int, expected: int | None = None
) -> Finding:
    """Scale what the subject gives, and compare with xPos about a centre."""
    case = case.stating(rotary_dim=None)
    positions = case.make_positions()
    x, dim = case.make_x(positions), case.head_dim
    found = beside(trial, case, x, positions)
    zeta = (np.arange(dim // 2) * 2 / dim + 0.4) / 1.4
    away = positions - (centre if expected is None else expected)
    slow = (512.0, 300.0)[case.seed % 3 == 0]
    factor = (zeta ** (away[..., np.newaxis] / slow))[..., np.newaxis, :]
    wide = (
        np.repeat(factor, 2, axis=-1)
        if case.keywords["interleaved"]
        else np.concatenate([factor, factor], axis=-1)
    )
    of = based(case, "interleaved") | ({} if slow == 512.0 else {"scale_base": slow})
    seen = Forms("a scaled vector", found.call)
    for keys, scale in ((False, wide), (True, 1 / wide)):
        made = ends.apply_xpos(x.astype(np.float64), positions, **of, keys=keys, centre=centre)
        seen.add(
            form, found.y * scale, made, (found.exact.allowed + 2.0**-44 * np.abs(found.y)) * scale
        )
    return seen.finding()

"""The profile under which a subject does what it was found to do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ropespec.conformance.identify.facts import Identification, Name
from ropespec.conformance.mistakes.numbers import sectioned
from ropespec.conformance.profile import Profile

__all__ = ["convention", "oriented"]


def convention(
    found: Identification, profile: Profile, claims: Mapping[str, Any] | None = None
) -> Profile:
    """Return the profile with what was found in place of what nobody claims.

    Parameters
    ----------
    found : Identification
        What the subject does.
    profile : Profile
        To start from.
    claims : mapping, optional
        What is claimed of it; these stay.
    """
    claimed = claims or {}
    values: dict[str, Any] = {}
    pairing, by = found.value(Name.PAIRING), None if found.found is None else found.found.by
    if pairing is not None and pairing.is_claimable:
        values["layouts"] = (True, False) if found.has_both_layouts else (pairing.is_woven,)
    if by is not None:
        values["base"] = by.frequencies.base
        if found.confirmed:
            values |= _numbered(found)
        if by.rotary_dim is not None:
            values |= {"rotary_dim": by.rotary_dim, "head_dims": found.value(Name.HEAD_DIM)[:1]}
    values |= _manner(found)
    if found.value(Name.NEGATIVE) in ("raises", "other", "zeroed"):
        values["negative_positions"] = False
    return replace(
        profile, **{name: value for name, value in values.items() if name not in claimed}
    )


def _numbered(found: Identification) -> dict[str, Any]:
    """Return the claims of the scheme, and of what pairs follow."""
    form = found.found
    assert form is not None
    values: dict[str, Any] = {"scaling": form.scheme}
    if form.rates is not None:
        return {"frequencies": form.rates}
    claimed = sectioned(form.by.axes) if form.by.axes else None
    if claimed is None:
        return values
    in_turn = {"sections_in_turn": claimed.in_turn}
    return {"sections": claimed.sections, "axial": form.axial, **in_turn, **values}


def oriented(found: Identification, profile: Profile) -> Profile:
    """Return the profile with the order of axes and the form of positions that were found."""
    return replace(profile, **_manner(found))


def _manner(found: Identification) -> dict[str, Any]:
    axes = found.value(Name.AXES)
    if axes is None:
        return {}
    shared = found.value(Name.POSITIONS) == "(S,)" and axes != "shd"
    return {"axes": axes, "shared_positions": shared}

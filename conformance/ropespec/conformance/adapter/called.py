"""Calls of functions that no style binds: what the names of their parameters tell is filled in."""

from ropespec.conformance.adapter.words import Body
from ropespec.conformance.profile import Profile
from ropespec.conformance.styles.signature import BASES, KEYS, POSITIONS, XS
from ropespec.conformance.subject.binding import Binding

__all__ = ["called"]

_FILL = "  # what stands as ... is yours to fill in"


def called(callee: str, binding: Binding, profile: Profile) -> Body:
    """Write a call.

    Parameters
    ----------
    callee : str
        The function.
    binding : Binding
        Its signature.
    profile : Profile
        What is claimed of it.
    """
    pick = "[0]" if set(KEYS) & set(binding.required) else ""
    line = f"return {_call(callee, binding, profile)}{pick}"
    return Body([line + _FILL * ("=..." in line or "(...)" in line)], {})


def _call(callee: str, binding: Binding, profile: Profile) -> str:
    if binding.fits and not binding.parameters:
        return f"{callee}(...)"  # its signature cannot be read
    told = dict.fromkeys((*XS, *KEYS), "x") | dict.fromkeys(POSITIONS, "positions")
    told |= dict.fromkeys(BASES, repr(float(profile.base)))
    words = [f"{name}={told.get(name, '...')}" for name in binding.required]
    return f"{callee}({', '.join(words)})"

"""A whole adapter: imports, claims, and a function of x and positions."""

import dataclasses
from pathlib import Path
from typing import Any

from ropespec.conformance.adapter.answered import Answered, around
from ropespec.conformance.adapter.called import called
from ropespec.conformance.adapter.words import Body
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.binding import Binding

__all__ = ["adapter"]


def adapter(
    target: str,
    binding: Binding,
    profile: Profile,
    answered: Answered | None = None,
    *,
    pairing_known: bool = True,
) -> str:
    """Write a few lines of Python that rotate x by positions with the function of a target.

    What no name of a parameter tells stands there as `...`.

    Parameters
    ----------
    target : str
        As given to `ropespec check`.
    binding : Binding
        Its signature.
    profile : Profile
        What is claimed of it.
    answered : Answered or None
        What a call of it gave; None if it cannot be called.
    pairing_known : bool
        Whether the layouts of the profile are claimed, and no guess.
    """
    lines, callee = _imported(target, binding)
    if answered is None:
        body = called(callee, binding, profile)
    else:
        body = around(answered, callee, binding, profile)
    words = profile.framework.words
    used = any(f"{words.name}." in line for line in body.lines)
    name = "rotate" if callee.partition(".")[0] == "apply" else "apply"
    return "\n".join(
        [
            *([words.imported] if used else []),
            *lines,
            "",
            f"PROFILE = {_claims(profile, body, pairing_known=pairing_known)!r}",
            "",
            "",
            f"def {name}(x, positions):",
            *(f"    {line}" for line in body.lines),
        ]
    ).replace("'", '"')


def _imported(target: str, binding: Binding) -> tuple[list[str], str]:
    """Write the import of what a target names, and how it is called."""
    place, colon, _ = target.rpartition(":")
    if not colon or target.endswith(".py"):
        place = target
    module = Path(place).stem if place.endswith(".py") else place
    kind, instance, method = binding.callee.partition("()")
    lines = [f"from {module} import {kind.partition('.')[0]}"]
    if instance:
        return [*lines, "", f"subject = {kind}()"], f"subject{method}"
    return lines, binding.callee


def _claims(profile: Profile, body: Body, *, pairing_known: bool) -> dict[str, Any]:
    """Return what was claimed, under what follows from how the adapter is written."""
    usual = {one.name: one.default for one in dataclasses.fields(Profile)}
    layouts = profile.layouts if pairing_known else ()
    known = {"interleaved": layouts[0]} if len(layouts) == 1 else {}
    claims = {**profile.as_dict(), **body.claims, **known}
    del claims["layouts"]
    return {
        name: value
        for name, value in claims.items()
        if (tuple(value) if isinstance(value, list) else value) != usual.get(name, ())
    }

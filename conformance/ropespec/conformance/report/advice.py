"""What a person may do next: the claim that fits, and the commands that tell more."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ropespec.conformance.builtin import BUILTIN, builtin_profile
from ropespec.conformance.profile import Profile, ProfileError, as_options
from ropespec.conformance.results import CheckResult, Remedy, Status, Verdict

__all__ = ["advice", "command"]

_LAYOUTS = {True: "--interleaved", False: "--half"}

MOST_WAIVERS = 3
"""With more clauses than this it is no exception any more."""

PATIENT = 600
"""Seconds for a call that are proposed where the usual ones were too few."""

_MEANT = {
    "layouts": "the pairs it rotates are those you want",
    "base": "the base {:g} is the one you want",
    "negative_positions": "it is for no positions below zero",
    "max_position": "positions up to {} are enough",
    "head_dims": "no other head_dim is needed",
    "min_head_dim": "it is for head_dim {} and above",
    "max_tokens": "{} tokens a call are enough",
    "gradients": "it is for inference alone",
    "strided": "it takes contiguous arrays alone",
    "empty": "it is never called on empty input",
    "subnormals": "subnormals may become zero",
}
"""In which case a claim is the right one."""


def command(
    verb: str, target: str, profile: Mapping[str, Any], style: Mapping[str, Any] | None = None
) -> str:
    """Write the command for a target under the claims of a profile.

    Parameters
    ----------
    verb : str
        Such as `check`.
    target : str
        The target.
    profile : mapping
        As `Profile.as_dict` returns it; claims that are the default are left out.
    style : mapping or None
        How a style binds the target, as a verdict has it; what it claims is left out.
    """
    usual = _usual(target, profile)
    if style is not None:
        usual |= style["claims"]
    asked = [f"--style {style['name']}"] if style is not None and style["asked"] else []
    layouts = list(profile.get("layouts", ()))
    words = [_LAYOUTS[bool(one)] for one in layouts if layouts != usual["layouts"]]
    return " ".join(
        [f"ropespec {verb} {shlex.quote(target)}", *asked, *words, *as_options(profile, usual)]
    )


def _usual(target: str, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is claimed of a target where nothing is said; the layouts must be."""
    built = target in BUILTIN
    usual = (builtin_profile(target) if built else _unsaid(profile)).as_dict()
    usual |= {"scaling": None, "rotary_dim": None}
    # Sizes that are too small are dropped already, and so the others need not be written.
    least = profile.get("min_head_dim", usual["min_head_dim"])
    usual["head_dims"] = [one for one in usual["head_dims"] if one >= least]
    return usual if built else {**usual, "layouts": []}


def _unsaid(profile: Mapping[str, Any]) -> Profile:
    """Return what is claimed where nothing is said but the scheme, which some sizes do not fit."""
    told = {name: profile.get(name) for name in ("scaling", "rotary_dim")}
    try:
        return Profile.from_mapping({"layouts": True, **told})
    except ProfileError:  # none of the usual sizes does
        return Profile(layouts=(True,))


def advice(verdict: Verdict, first: CheckResult) -> list[tuple[str, str]]:
    """Return what to do about a verdict: what for, and the command.

    Parameters
    ----------
    verdict : Verdict
        One with failures.
    first : CheckResult
        The failure that is shown.
    """
    target = shlex.quote(verdict.subject)
    lines = [] if verdict.remedy is None else list(_remedies(verdict, verdict.remedy))
    if not lines and "apply_rotary" not in first.message and _is_unnamed(verdict):
        lines.append(
            ("find out which convention it follows", f"ropespec identify {shlex.quote(target)}")
        )
    whole = command("check", verdict.subject, verdict.profile, verdict.style)
    if any(one.status is Status.TIMEOUT for one in verdict.failures):
        lines.append(("if it is only slow, wait longer for a call", f"{whole} --timeout {PATIENT}"))
    lines.append((f"read what {first.clause} asks for", f"ropespec spec {first.clause}"))
    lines.append(("see this failure whole", f"{whole} --only {first.id} --verbose"))
    return lines


def _is_unnamed(verdict: Verdict) -> bool:
    names = {item.name for item in verdict.diagnosis}
    return not names or names <= {"unknown", "scaled frequencies", "wrong base"}


def _remedies(verdict: Verdict, found: Remedy) -> Iterator[tuple[str, str]]:
    """Say which claims fit and what is left under them, and what may be waived beside them."""
    claimed = Profile.from_mapping({**verdict.profile, **found.claims}).as_dict()
    whole = command("check", verdict.subject, claimed, verdict.style)
    checked = " ".join([whole, *_waivers(verdict.waivers)])
    if found.claims:
        purpose = " and ".join(_MEANT[name].format(value) for name, value in found.claims.items())
        yield f"if {purpose} ({_outcome(found)})", checked
    if found.left and len(found.waivers) <= MOST_WAIVERS:
        names = " and ".join(found.waivers)
        reasons = (f'--waive {name}="why"' for name in found.waivers)
        yield f"if {names} may fail, say why", " ".join([checked, *reasons])


def _outcome(found: Remedy) -> str:
    """Say how many of the failures were seen to vanish."""
    of = f" of {found.failures}"
    if found.tried < found.failures:
        left = found.left or "none"
        return f"tried on {found.tried}{of} failures: {left} left"
    if not found.left:
        return "tried: no failure is left"
    return f"tried: {found.left}{of} failures {'is' if found.left == 1 else 'are'} left"


def _waivers(waivers: Mapping[str, str]) -> list[str]:
    return [f"--waive {shlex.quote(f'{name}={why}')}" for name, why in waivers.items()]

"""What a person may do next: the claim that fits, and the commands that tell more."""

import re
from collections.abc import Mapping
from typing import Any

from ropespec.conformance.profile import ARRAYS, Profile
from ropespec.conformance.results import CheckResult, Diagnosis, Verdict

__all__ = ["advice", "command"]

_LIMIT = re.compile(r"\(beyond (\d+)\)")


def command(verb: str, target: str, profile: Mapping[str, Any]) -> str:
    """Write the command for a target under the claims of a profile.

    Parameters
    ----------
    verb : str
        Such as `check`.
    target : str
        The target.
    profile : mapping
        As `Profile.as_dict` returns it; claims that are the default are left out.
    """
    usual = Profile(layouts=(True,)).as_dict()
    said = {name: value for name, value in profile.items() if value != usual.get(name)}
    if target in ARRAYS:
        said = {"dtypes": said["dtypes"]} if "dtypes" in said else {}
    layouts = {True: "--interleaved", False: "--half"}
    words = [layouts[bool(one)] for one in profile.get("layouts", ()) if target not in ARRAYS]
    for name, option in (("array", "--array"), ("axes", "--axes"), ("device", "--device")):
        words += [f"{option} {said[name]}"] if name in said else []
    words += [f"--dtype {one}" for one in said.get("dtypes", ())]
    for name in ("base", "rotary_dim", "precision", "max_position"):
        if said.get(name) is not None:
            words.append(f"--{name.replace('_', '-')} {_number(said[name])}")
    words += [f"--head-dim {one}" for one in said.get("head_dims", ())]
    words += ["--no-negative-positions"] if said.get("negative_positions") is False else []
    words += ["--shared-positions"] if said.get("shared_positions") else []
    return " ".join([f"ropespec {verb} {target}", *words])


def _number(value: Any) -> str:  # noqa: ANN401  # a number, or a name
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def advice(verdict: Verdict, first: CheckResult) -> list[tuple[str, str]]:
    """Return what to do about a verdict: what for, and the command.

    Parameters
    ----------
    verdict : Verdict
        One with failures.
    first : CheckResult
        The failure that is shown.
    """
    target, profile = verdict.subject, verdict.profile
    lines = []
    for item in verdict.diagnosis[:1]:
        for purpose, changes in _claims(item, profile):
            lines.append((purpose, command("check", target, {**profile, **changes})))
    if not lines and "apply_rotary" not in first.message and _is_unnamed(verdict):
        lines.append(("find out which convention it follows", f"ropespec identify {target}"))
    lines.append((f"read what {first.clause} asks for", f"ropespec spec {first.clause}"))
    whole = command("check", target, profile)
    lines.append(("see this failure whole", f"{whole} --only {first.id} --verbose"))
    return lines


def _is_unnamed(verdict: Verdict) -> bool:
    names = {item.name for item in verdict.diagnosis}
    return not names or names <= {"unknown", "scaled frequencies", "wrong base"}


def _claims(item: Diagnosis, profile: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the claims under which a mistake would be none, and in which case."""
    layouts = profile.get("layouts", ())
    if item.name == "wrong pairing" and len(layouts) == 1:
        return [("if the pairs it rotates are those you want", {"layouts": [not layouts[0]]})]
    if item.name.startswith("negative positions") or item.name == "sign of positions lost":
        return [("if it is for no positions below zero", {"negative_positions": False})]
    limit = _LIMIT.search(item.sentence)
    if item.name == "positions refused" and limit is not None:
        return [("if that many positions are enough", {"max_position": int(limit[1])})]
    return []

"""A rotation that a style binds, outside a worker: for scripts that show a failure."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ropespec.conformance.profile import Profile
from ropespec.conformance.styles.arrays import Space
from ropespec.conformance.styles.base import Rotation, Setting
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.frameworks import import_framework
from ropespec.conformance.subject.loading import find
from ropespec.conformance.subject.target import parse

__all__ = ["bound"]


def bound(
    target: str, claims: Mapping[str, Any], *, style: str = "", way: int | None = None
) -> Rotation:
    """Return f(x, positions) as a style makes it of a target.

    Parameters
    ----------
    target : str
        As given to `ropespec check`.
    claims : mapping
        Arguments of `Profile`.
    style : str
        The name of the style; empty for the one that its parameters tell.
    way : int or None
        Which of several ways to call it; None for the first that answers.

    Raises
    ------
    TargetUnusable
        If it cannot be loaded, or no style binds it.
    """
    sys.path.insert(0, str(Path.cwd()))
    found = find(parse(target, Path.cwd()), style)
    if found.bound is None:
        raise TargetUnusable(f"{target}: no style binds it")
    profile = Profile.from_mapping(claims)
    import_framework(profile.array)
    return found.bound.binds.rotation(Setting(profile, Space(profile.framework), way=way))

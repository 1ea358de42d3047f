"""Opening a subject: load it, merge what it claims with what is claimed of it, start a session."""

from collections.abc import Mapping
from typing import Any

from ropespec.conformance.builtin import availability, builtin_profile
from ropespec.conformance.profile import ARRAYS, Profile, ProfileError
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.session import Session, load

__all__ = ["merged_profile", "open_subject"]

SHORTEST_IMPORT = 10.0
"""Seconds that an import may always take: a framework alone needs some."""

ALIASES = {"dtype": "dtypes", "head_dim": "head_dims", "interleaved": "layouts"}
HOW_TO_PAIR = (
    "does not say how it pairs components: give --interleaved for pairs (2i, 2i+1) or --half for "
    "pairs (i, i+d/2); `ropespec identify` finds out which"
)


def open_subject(target: str, claims: Mapping[str, Any], timeout: float) -> Session:
    """Load a target and return its session, a context manager.

    Parameters
    ----------
    target : str
        `numpy`, `torch`, `jax`, `cupy`, `package.module:attribute` or `path/to/file.py:attribute`.
    claims : mapping
        Arguments of `Profile`; they win over the `PROFILE` of the target.
    timeout : float
        Seconds for one call. Importing it may take twice as long, and `SHORTEST_IMPORT` at least.

    Raises
    ------
    TargetUnusable
        If it cannot be loaded, or the claims do not fit it; one line.
    """
    if target in ARRAYS and (reason := availability(target)):
        raise TargetUnusable(f"{target} cannot run here: {reason}")
    import_timeout = max(2 * timeout, SHORTEST_IMPORT)
    loaded = load(target, import_timeout)
    try:
        own = builtin_profile(target).as_dict() if target in ARRAYS else loaded.profile_mapping
        profile = merged_profile(target, own, claims)
        _require_keyword(target, profile, loaded.offers)
    except BaseException:
        loaded.close()
        raise
    session = Session(loaded, profile, timeout=timeout, load_timeout=import_timeout)
    try:
        # Starts the framework: what is not installed is no finding of the first check.
        _ = session.environment
    except BaseException:
        session.close()
        raise
    return session


def merged_profile(
    target: str, own: Mapping[str, Any] | None, claims: Mapping[str, Any]
) -> Profile:
    """Merge claims over those the target makes itself.

    Parameters
    ----------
    target : str
        For messages.
    own : mapping or None
        Its `PROFILE`, or the profile of a built-in backend.
    claims : mapping
        What is claimed of it; these win.

    Raises
    ------
    TargetUnusable
        If nobody says how it pairs, or a claim is impossible; one line that names the target.
    """
    values = _canonical(own or {}) | _canonical(claims)
    if target in ARRAYS and own is not None:
        for name in ("array", "axes"):
            if name in claims and claims[name] != own[name]:
                raise TargetUnusable(f"{name} of the built-in {target} is {own[name]}, always")
    if "layouts" not in values:
        raise TargetUnusable(f"{target} {HOW_TO_PAIR}")
    try:
        return Profile.from_mapping(values)
    except (ProfileError, TypeError) as problem:
        raise TargetUnusable(f"{target}: {problem}") from None


def _canonical(claims: Mapping[str, Any]) -> dict[str, Any]:
    renamed = {name.replace("-", "_"): value for name, value in claims.items()}
    return {ALIASES.get(name, name): value for name, value in renamed.items()}


def _require_keyword(target: str, profile: Profile, offers: Mapping[str, Any]) -> None:
    rotation = offers.get("apply_rotary")
    if len(profile.layouts) > 1 and rotation and "interleaved" not in rotation.keywords:
        raise TargetUnusable(
            f"{target} takes no keyword `interleaved`, so it can pair in one way only: "
            "claim --interleaved or --half, not both"
        )

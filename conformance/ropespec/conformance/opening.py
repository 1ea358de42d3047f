"""Opening a subject: load it, merge what it claims with what is claimed of it, start a session."""

from collections.abc import Mapping
from typing import Any

from ropespec.conformance.builtin import BUILTIN, availability, builtin_profile
from ropespec.conformance.first_call import require_answer, require_signature
from ropespec.conformance.profile import ALIASES, CLAIMS, STYLE, WAIVERS, Profile, ProfileError
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.waivers import read_waivers

__all__ = [
    "PairingUnknown",
    "merged_profile",
    "merged_waivers",
    "open_guessing",
    "open_subject",
]

_OF_ONE_SIZE = ("sections", "frequencies", "trailing", "pairs_apart")
"""Claims of which component is what: where a call could say how many rotate, they would move."""

SHORTEST_IMPORT = 10.0
"""Seconds that an import may always take: a framework alone needs some."""

HOW_TO_PAIR = (
    "does not say how it pairs components: give --interleaved for pairs (2i, 2i+1) or --half for "
    "pairs (i, i+d/2); `ropespec identify` finds out which"
)


class PairingUnknown(TargetUnusable):
    """Nobody says how a target pairs components."""


def open_subject(target: str, claims: Mapping[str, Any], timeout: float) -> Session:
    """Load a target, call it once, and return its session, a context manager.

    Parameters
    ----------
    target : str
        One of `BUILTIN`, `package.module:attribute` or `path/to/file.py:attribute`.
    claims : mapping
        Arguments of `Profile`, and `waivers`; they win over the `PROFILE` of the target.
    timeout : float
        Seconds for one call. Importing it may take twice as long, and `SHORTEST_IMPORT` at least.

    Raises
    ------
    TargetUnusable
        If it cannot be loaded or called, or the claims do not fit it; one line, and a remedy.
    """
    session, _ = _open(target, claims, timeout, may_guess=False)
    return _called(session)


def open_guessing(
    target: str, claims: Mapping[str, Any], timeout: float, *, try_axes: bool = False
) -> tuple[Session, bool]:
    """Open a subject, and set its layout to a guess where nobody says how it pairs.

    Parameters
    ----------
    target, claims, timeout
        As in `open_subject`.
    try_axes : bool
        Whether it will be called in other orders of axes; then it is not called here.

    Returns
    -------
    Session
        A context manager.
    bool
        Whether the layout is a guess, for a keyword to be set to.

    Raises
    ------
    TargetUnusable
        As `open_subject`.
    """
    session, guessed = _open(target, claims, timeout, may_guess=True)
    return session if try_axes else _called(session, pairing_known=not guessed), guessed


def _open(
    target: str, claims: Mapping[str, Any], timeout: float, *, may_guess: bool
) -> tuple[Session, bool]:
    if target in BUILTIN and (reason := availability(target)):
        raise TargetUnusable(f"{target} cannot run here: {reason}")
    import_timeout = max(2 * timeout, SHORTEST_IMPORT)
    claims = dict(claims)
    loaded = load(target, import_timeout, style=claims.pop(STYLE, ""))
    try:
        own = builtin_profile(target).as_dict() if target in BUILTIN else loaded.profile_mapping
        own = own if loaded.style is None else {**loaded.style.claims, **_canonical(own or {})}
        try:
            profile, guessed = merged_profile(target, own, claims), False
            _require_keyword(target, profile, loaded.offers)
        except PairingUnknown:
            profile, guessed = merged_profile(target, own, {**claims, "layouts": [True]}), True
        waivers = merged_waivers(target, own, claims)
    except BaseException:
        loaded.close()
        raise
    session = Session(
        loaded, profile, timeout=timeout, load_timeout=import_timeout, waivers=waivers
    )
    try:
        require_signature(session, pairing_known=not guessed)
        _require_pairing(target, known=may_guess or not guessed)
        # Starts the framework: what is not installed is no finding of the first check.
        _ = session.environment
    except BaseException:
        session.close()
        raise
    return session, guessed


def _called(session: Session, *, pairing_known: bool = True) -> Session:
    """Return the session after one call."""
    try:
        require_answer(session, pairing_known=pairing_known)
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
    PairingUnknown
        If nobody says how it pairs.
    TargetUnusable
        If a claim is impossible; one line that names the target.
    """
    values = _canonical(own or {}) | _canonical(claims)
    if target in BUILTIN and own is not None:
        for name in ("array", "axes"):
            if name in claims and claims[name] != own[name]:
                raise TargetUnusable(f"{name} of the built-in {target} is {own[name]}, always")
    _require_pairing(target, known="layouts" in values)
    try:
        return Profile.from_mapping(values)
    except (ProfileError, TypeError) as problem:
        raise TargetUnusable(f"{target}: {problem}") from None


def merged_waivers(
    target: str, own: Mapping[str, Any] | None, claims: Mapping[str, Any]
) -> dict[str, str]:
    """Merge waivers over those the target has itself, each by its name.

    Parameters
    ----------
    target, own, claims
        As in `merged_profile`.

    Raises
    ------
    TargetUnusable
        If one names nothing, or has no reason; one line that names the target.
    """
    given = [from_[WAIVERS] for from_ in (own or {}, claims) if WAIVERS in from_]
    try:
        return {name: why for one in given for name, why in read_waivers(one).items()}
    except ProfileError as problem:
        raise TargetUnusable(f"{target}: {problem}") from None


def _canonical(claims: Mapping[str, Any]) -> dict[str, Any]:
    renamed = {name.replace("-", "_"): value for name, value in claims.items() if name != WAIVERS}
    return {ALIASES.get(name, name): value for name, value in renamed.items()}


def _require_pairing(target: str, *, known: bool) -> None:
    if not known:
        raise PairingUnknown(f"{target} {HOW_TO_PAIR}")


def _require_keyword(target: str, profile: Profile, offers: Mapping[str, Any]) -> None:
    rotation = offers.get("apply_rotary")
    if len(profile.layouts) > 1 and rotation and "interleaved" not in rotation.keywords:
        raise TargetUnusable(
            f"{target} takes no keyword `interleaved`, so it can pair in one way only: "
            "claim --interleaved or --half, not both"
        )
    of_one_size = [CLAIMS[name].option for name in _OF_ONE_SIZE if getattr(profile, name)]
    if of_one_size and rotation and "rotary_dim" in rotation.keywords:
        raise TargetUnusable(
            f"{target} takes a keyword `rotary_dim`, and {of_one_size[0]} is claimed of one size: "
            "name a function that has it set"
        )

"""What is not looked at, and why: the profile does not claim it, or it would be too dear."""

from ropespec.conformance.profile import Profile

__all__ = ["left_out"]

_NOT_CLAIMED = {
    "strided": "views with gaps",
    "gradients": "gradients",
    "empty": "empty axes",
    "negative_positions": "positions below zero",
    "subnormals": "subnormal numbers",
    "refusals": "what is refused",
}


def left_out(profile: Profile) -> list[str]:
    """Say what no check looked at, one part of the input space each.

    Parameters
    ----------
    profile : Profile
        The claims.
    """
    said = [
        f"{what}: not claimed"
        for claim, what in _NOT_CLAIMED.items()
        if not getattr(profile, claim)
    ]
    room = profile.framework
    if profile.max_tokens is not None:
        said.append(f"calls of more than {profile.max_tokens} tokens: not claimed")
    if profile.shared_positions or profile.axes == "shd":
        said.append("rows with positions of their own: not claimed")
    if not room.has_strides:
        said.append(f"views: {room.title} has none")
    if profile.compiles:
        said.append("most shapes and dtypes together: each is compiled, so few are used")
    said.append("arrays of 2^31 elements and more: too large")
    return said

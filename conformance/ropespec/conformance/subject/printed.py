"""Names that a document prints are common: whether a function of one is what is printed."""

import inspect
from collections.abc import Mapping

from ropespec.conformance.styles.signature import (
    DIMS,
    FREQS,
    KEYS,
    LENGTHS,
    XS,
    is_open,
    parameters_of,
)

__all__ = ["is_printed"]

_PARAMETERS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "RoPE": (XS, KEYS),
    "precompute_freqs_cis": (DIMS, LENGTHS),
    "reshape_for_broadcast": (FREQS, XS),
    "apply_rotary_emb": (XS, KEYS, FREQS),
}
"""What their parameters are called; `apply_rotary_emb` is `(x, cos, sin)` elsewhere, too."""


def is_printed(name: str, found: object) -> bool:
    """Whether what has a name of the API takes what the API says, by the names of parameters.

    Parameters
    ----------
    name : str
        In the API; what is asked is true of every name that only this specification gives.
    found : object
        What has it; a class is none of these functions.
    """
    wanted = _PARAMETERS.get(name)
    if wanted is None or not callable(found):
        return True
    if inspect.isclass(found):
        return False
    taken = parameters_of(found)
    if taken is None or is_open(taken):  # it does not say
        return True
    names = [*taken][: len(wanted)]
    return len(names) == len(wanted) and all(map(tuple.__contains__, wanted, names))

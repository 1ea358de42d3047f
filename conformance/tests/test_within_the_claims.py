"""Nothing is asked beyond what is claimed: positions, tokens of a call."""

import numpy as np
import pytest

from ropespec.backends import numpy as backend
from ropespec.conformance.registry import all_checks


def refusing(function, place, most_position, most_tokens):
    """Return a function that raises beyond its claims; `place` is where positions stand."""

    def limited(*arrays, **keywords):
        positions = np.asarray(arrays[place])
        if np.abs(positions).max(initial=0) > most_position:
            raise ValueError("a position beyond the claim")
        if positions.size > most_tokens:
            raise ValueError("more tokens than are claimed")
        return function(*arrays, **keywords)

    return limited


def offered(most_position, most_tokens):
    """Return right functions of positions, with their keywords."""
    limits = most_position, most_tokens

    def apply_rotary(x, positions, *, interleaved, base=10000.0, rotary_dim=None):
        told = {"interleaved": interleaved, "base": base, "rotary_dim": rotary_dim}
        return refusing(backend.apply_rotary, 1, *limits)(x, positions, **told)

    def cos_sin(positions, dim, base=10000.0):
        return refusing(backend.cos_sin, 0, *limits)(positions, dim, base)

    def sinusoidal_embedding(positions, dim, base=10000.0):
        return refusing(backend.sinusoidal_embedding, 0, *limits)(positions, dim, base)

    return {
        "apply_rotary": apply_rotary,
        "cos_sin": cos_sin,
        "sinusoidal_embedding": sinusoidal_embedding,
    }


_TABLES = ("cos_sin", "sinusoidal_embedding")
"""A session itself refuses to ask a rotation of more tokens than are claimed."""

_ALL = ("apply_rotary", *_TABLES)

_ELSE = ("ROT-17.arguments",)
"""It asks nothing, and judges what a session of another process has noted."""


@pytest.mark.parametrize(
    ("of", "most_position", "most_tokens", "claims"),
    [
        (_ALL, 2, 10**9, {"max_position": 2}),
        (_ALL, 100, 10**9, {"max_position": 100, "negative_positions": False}),
        (_TABLES, 2**12, 8, {"max_tokens": 8, "max_position": 2**12}),
    ],
)
def test_what_raises_beyond_its_claims_conforms(checks, of, most_position, most_tokens, claims):
    """An error there is no failure: it is not asked for."""
    every = offered(most_position, most_tokens)
    functions = {name: every[name] for name in of}
    told = {"interleaved": True, "dtypes": ["float32", "float16"], "head_dims": [16], **claims}
    names = [one.id for one in all_checks() if {*one.needs} <= {*functions} and one.id not in _ELSE]
    found = (checks.run(name, functions, **told) for name in names)
    failed = {one.id: one.message for one in found if not one.status.conforms}

    assert failed == {}

"""Claims that no subject can keep, or that nothing here can check."""

import pytest

from ropespec.conformance.profile import Profile, ProfileError


@pytest.mark.parametrize(
    ("claims", "line"),
    [
        ({"base": 10**400}, "base must be a finite number above 1; got inf"),
        ({"base": float("nan")}, "base must be a finite number above 1; got nan"),
        ({"base": 1}, "base must be a finite number above 1; got 1.0"),
        ({"base": True}, "base must be a number above 1; got True (bool)"),
        (
            {"head_dims": 2_000_000_000},
            "head-dim must be at most 4096 here; got 2000000000",
        ),
        ({"head_dims": (64, 8192)}, "head-dim must be at most 4096 here; got 8192"),
        ({"refusals": "no"}, "refusals must be True or False; got 'no' (str)"),
        ({"shared_positions": 1}, "shared_positions must be True or False; got 1 (int)"),
        ({"gradients": None}, "gradients must be True or False; got None (NoneType)"),
        ({"max_tokens": 0}, "max-tokens must be in 1..2^63-1; got 0"),
        ({"max_tokens": 2.0}, "max-tokens must be an integer; got 2.0 (float)"),
        ({"min_head_dim": 3}, "min-head-dim must be an even integer of at least 2; got 3 (int)"),
        (
            {"min_head_dim": 64, "head_dims": (8, 16)},
            "min-head-dim must be at most head-dim; got 64 for head-dim 8, 16",
        ),
        (
            {"rotary_dim": 8, "head_dims": 6},
            "rotary-dim must be at most head-dim; got 8 for head-dim 6",
        ),
        ({"device": {"cuda": 0}}, "device must be a text; got {'cuda': 0} (dict)"),
    ],
)
def test_impossible_claims(claims, line):
    """Each of them is refused in one line, before anything is drawn or allocated for it."""
    with pytest.raises(ProfileError) as caught:
        Profile.from_mapping({"interleaved": True, **claims})

    assert str(caught.value) == line


def test_an_integer_is_a_base():
    """The base is a float from then on."""
    assert type(Profile(layouts=(True,), base=500000).base) is float


def test_heads_are_as_wide_as_what_rotates():
    """Of the usual heads those are left out of which less would rotate than is claimed."""
    claims = {"interleaved": True, "rotary_dim": 32}

    assert min(Profile.from_mapping(claims).head_dims) == 32
    assert Profile.from_mapping({**claims, "head_dims": [16, 64]}).head_dims == (64,)

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

"""What is read off while two mistakes are made: cosines, sines, and what must go with them."""

import numpy as np
import pytest

from ropespec.conformance.diagnosis.ask import Answer
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.read import multipliers
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import RIGHT, run
from ropespec.conformance.mistakes.frequency import fitted_base
from ropespec.conformance.mistakes.rounding import several
from ropespec.conformance.mistakes.steps import ANGLES
from ropespec.conformance.mistakes.turning import TURNS
from ropespec.conformance.profile import Profile

GIVEN = Maker(Profile.from_mapping({"interleaved": False})).given((2, 5, 3), "scattered", 1)
READABLE = ("pairs rotate clockwise", "the first member is a c + b s", "both sines are subtracted")
MOVED = ("the heads come back in reverse order", "components come back in reverse order")


def turn(what):
    """Return the choice that is in these words."""
    (choice,) = (one for one in TURNS if one.what == what)
    return choice


def read(chain, made=None):
    """Return cosines and sines as they are read off what a chain makes of a call."""
    return multipliers(Seen(Answer(GIVEN, run(made or chain, GIVEN).y), RIGHT), chain)


@pytest.mark.parametrize("what", [*READABLE, *MOVED, "the pairs are those of the other layout"])
def test_cosine_and_sine_are_read_off_what_is_made_of_a_pair(what):
    """Whatever a product makes of them, and wherever a store puts it."""
    angle = GIVEN.positions[..., None, None] * RIGHT.frequency(GIVEN)

    found = read(turn(what).chain())

    np.testing.assert_allclose(found, np.broadcast_to(np.exp(1j * angle), found.shape), rtol=1e-9)


@pytest.mark.parametrize(
    "what", ["the sine is lost", "the table repeats angles in the other layout"]
)
def test_what_cannot_be_read_off_is_no_number(what):
    """Of one product for two unknowns, or of two tables, nothing is said."""
    assert not np.isfinite(read(turn(what).chain())).any()


def test_frequencies_show_behind_another_mistake():
    """Another base is read off under a lost minus."""
    other = fitted_base(1000.0).chain(turn("the first member is a c + b s").chain())
    angle = GIVEN.positions[..., None, None] * fitted_base(1000.0).change["frequency"](GIVEN)

    found = read(other)

    np.testing.assert_allclose(found, np.broadcast_to(np.exp(1j * angle), found.shape), rtol=1e-9)


@pytest.mark.parametrize("rounding", [ANGLES[0], several(("angle",), "bfloat16", ("angle",))])
def test_what_is_nudged_goes_with_the_rest_of_a_chain(rounding):
    """Two choices give no more room than one of them, in either order."""
    clockwise = turn("pairs rotate clockwise")
    alone = run(rounding.chain(), GIVEN).allowed.max()

    for chain in (rounding.chain(clockwise.chain()), clockwise.chain(rounding.chain())):
        assert len(chain.nudged) > 0
        assert run(chain, GIVEN).allowed.max() <= 2 * alone


def test_a_call_of_one_number_alone_may_be_held_against_pairs_that_follow_others():
    """Whoever takes tokens for text follows the first number, and the others count alone too."""
    maker = Maker(Profile.from_mapping({"interleaved": False, "sections": [2, 3, 3]}))
    alone = [given for given in maker.numbers() if given.only == 2]

    assert alone
    for given in alone:
        assert np.all(given.following((0,) * 8).numbers[..., 0] == 0)

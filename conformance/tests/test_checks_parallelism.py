import itertools

import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.identify import identify
from ropespec.conformance.identify.facts import Name
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import Status

ALL = ["float32", "float64", "float16", "bfloat16"]
NAMES = ("PAR-1.shards", "PAR-2.order", "PAR-3.heads", "PAR-4.documents", "PAR-6.tree")


def divided(cut):
    """Return a rotation that makes the positions of the shards by `cut(positions, bounds)`."""

    def apply_rotary(x, positions, **conventions):
        bounds = [part[0] for part in np.array_split(np.arange(x.shape[1]), 3) if len(part)]
        where = cut(np.asarray(positions), [*bounds, x.shape[1]])
        return reference.apply_rotary(x, where, **conventions)

    return apply_rotary


def shards(bounds):
    """Pair the bounds of three shards."""
    return list(itertools.pairwise(bounds))


@divided
def first_for_all(p, bounds):
    """Positions of the first shard in every shard."""
    return np.concatenate([p[:, : b - a] for a, b in shards(bounds)], axis=1)


@divided
def local(p, bounds):
    """Positions counted in each shard."""
    where = np.concatenate([np.arange(b - a) for a, b in shards(bounds)])
    return np.broadcast_to(where, p.shape)


@divided
def going_on(p, bounds):
    """Positions that count on wherever they do not go up."""
    del bounds
    where = p.copy()
    for t in range(1, p.shape[1]):
        falls = where[:, t] <= where[:, t - 1]
        where[:, t] = np.where(falls, where[:, t - 1] + 1, where[:, t])
    return where


def striped_without_positions(x, positions, **conventions):
    """Deal the tokens out to three shards, and not their positions."""
    dealt = np.argsort(np.arange(x.shape[1]) % 3, kind="stable")
    y = reference.apply_rotary(x[:, dealt], positions, **conventions)
    return y[:, np.argsort(dealt)]


def turned_by_heads(x, positions, **conventions):
    """The last head is turned by twice its position, if there are several."""
    y = np.asarray(reference.apply_rotary(x, positions, **conventions))
    if x.shape[2] > 1:
        y[:, :, -1:] = reference.apply_rotary(x[:, :, -1:], 2 * positions, **conventions)
    return y


def a_token_short(x, positions, **conventions):
    """Leave the last token out."""
    return reference.apply_rotary(x, positions, **conventions)[:, :-1]


KILLS = (
    ("PAR-1.shards", first_for_all, "are not the whole"),
    ("PAR-1.shards", local, "are not the whole"),
    ("PAR-1.shards", striped_without_positions, "are not the whole"),
    ("PAR-2.order", local, "dealt out in another order"),
    ("PAR-2.order", striped_without_positions, "dealt out in another order"),
    ("PAR-3.heads", turned_by_heads, "two groups of heads"),
    ("PAR-4.documents", going_on, "packed in one row"),
    ("PAR-4.documents", local, "packed in one row"),
    ("PAR-6.tree", going_on, "share a position"),
    *((name, a_token_short, "returns shape") for name in NAMES),
)


@pytest.mark.parametrize(("name", "wrong", "message"), KILLS)
def test_a_check_fails_on_its_mistake(checks, name, wrong, message):
    """Each check catches what its sentence says, and its message says it too."""
    result = checks.kills(name, "apply_rotary", wrong)

    assert result.status is Status.FAIL
    assert message in result.message


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_right_implementations_pass(checks, narrow, name, seed):
    """Reference, backend, and what rounds at every step, in every dtype."""
    for subject in (reference, backend):
        assert checks.run(name, subject, seed, dtypes=ALL).status is Status.PASS
    functions = {"apply_rotary": narrow.apply_rotary}
    result = checks.run(name, functions, seed, dtypes=ALL, max_position=4095)
    assert result.status is Status.PASS


@pytest.mark.parametrize(
    "claims",
    [
        {"axes": "shd"},
        {"axes": "bhsd"},
        {"axes": "sbhd", "shared_positions": True},
        {"negative_positions": False, "max_position": 20},
    ],
    ids=str,
)
def test_the_checks_keep_to_what_is_claimed(checks, claims):
    """Other orders of axes, one vector of positions, and few positions."""

    def limited(x, positions, **conventions):
        assert np.all(np.abs(positions) <= claims.get("max_position", 2**17))
        assert np.all(positions >= 0) or claims.get("negative_positions", True)
        order = {"bhsd": (0, 2, 1, 3), "sbhd": (1, 0, 2, 3)}.get(claims.get("axes"))
        there = x if order is None else x.transpose(order)
        y = np.asarray(reference.apply_rotary(there, positions, **conventions))
        return y if order is None else y.transpose(order)

    for name in NAMES:
        assert checks.run(name, {"apply_rotary": limited}, **claims).status is Status.PASS


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (first_for_all, "positions of the first part for all"),
        (local, "local positions"),
        (striped_without_positions, "positions not reordered"),
    ],
)
@pytest.mark.parametrize("interleaved", [True, False])
def test_three_shards_are_identified_as_two_are(checks, wrong, name, interleaved):
    """The base is measured, the positions are not confirmed, and the mistake is named."""
    profile = Profile.from_mapping({"interleaved": interleaved})
    session = type(checks.trial({}).session)({"apply_rotary": wrong}, profile)
    found = identify(session)

    assert not found.confirmed
    assert found.value(Name.BASE) == pytest.approx(10000.0)
    assert diagnose(session)[0].name == name

"""What is wrong is reproduced on fresh calls, and named by nothing else."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.diagnose import diagnose
from ropespec.conformance.diagnosis.rotation import examine
from ropespec.conformance.diagnosis.told import of_confirmed
from ropespec.conformance.mistakes.catalogue import CATALOGUE, ROOMS, UNLISTED
from ropespec.conformance.mistakes.chain import RIGHT, run
from ropespec.conformance.mistakes.dynamic import DYNAMIC
from ropespec.conformance.mistakes.frequency import LADDERS
from ropespec.conformance.mistakes.memory import MEMORIES
from ropespec.conformance.mistakes.place import WHOLE
from ropespec.conformance.mistakes.sources import SOURCES
from ropespec.conformance.mistakes.turning import GRADIENTS, RARE_TURNS, TURNS
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult, Rank, Status
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import Wrong, zoo

SUBJECTS = Path(__file__).parent / "subjects"
VARIANTS = runpy.run_path(str(SUBJECTS / "mistakes.py"))["VARIANTS"]
CASES = runpy.run_path(str(SUBJECTS / "misnamed.py"))["CASES"]
ZOO = {entry.name: entry for entry in zoo() if isinstance(entry, Wrong)}
KNOWN = {*CATALOGUE, *UNLISTED}
HALF = Profile.from_mapping({"interleaved": False})


@pytest.fixture
def examined(checks):
    """Return a function that examines a rotation of this process."""
    in_process = type(checks.trial({}).session)

    def find(function, profile=HALF):
        asker = Asker(in_process({"apply_rotary": function}, profile))
        return examine(asker, Maker(profile))

    return find


def in_a_worker(name):
    """Diagnose an entry of the zoo in a worker, with its checks failed."""
    entry = ZOO[name]
    failed = [CheckResult(id_, id_, "", "", Status.FAIL) for id_ in entry.killed_by]
    with Session(load(entry.target), entry.profile, timeout=20.0) as session:
        return diagnose(session, failed)


@pytest.mark.parametrize(
    "name",
    [
        "adjacent_for_half",
        "clockwise",
        "largest_row",
        "base_500000",
        "pairs_neighbours_at_one_token",
        "table_of_2048",
        "wrong_block",
        "wrong_end",
        "inv_freq_bfloat16",
        "tile_of_16_tokens",
    ],
)
def test_a_mistake_of_the_zoo_is_reproduced(name, examined):
    """Every component of every fresh call is what the chain with the mistake makes."""
    outcome = examined(ZOO[name].function, ZOO[name].profile)

    counts = [(one.elements, one.of) for one in outcome.confirmed]
    assert counts
    assert all(got == of > 0 for got, of in counts)
    told = of_confirmed(outcome.confirmed)
    assert told.rank in (Rank.ALONE, Rank.EQUALS)
    assert ZOO[name].catalogue in ("", told.id, told.name)


@pytest.mark.parametrize(
    "name", ["clockwise_pairs", "smallest_row", "d_minus_2_pairs", "overwritten_pairs"]
)
def test_a_variant_of_a_mistake_has_its_name(name, examined):
    """The class is reproduced, not the example."""
    id_, claims, function = VARIANTS[name]
    outcome = examined(function, Profile.from_mapping(claims))

    assert of_confirmed(outcome.confirmed).id == id_


@pytest.mark.parametrize(
    "name", ["sines_of_another_base", "row_before", "base_10010", "slower_half_backwards"]
)
def test_what_resembles_a_known_mistake_is_told_from_it(name, examined):
    """One line of difference is another mistake."""
    allowed, claims, function = CASES[name]
    outcome = examined(function, Profile.from_mapping(claims))

    assert of_confirmed(outcome.confirmed).name in allowed


def test_what_nothing_reproduces_has_no_name(examined):
    """Noise, and a matrix of random numbers, are measured and never named."""
    mixed = np.random.default_rng(0).normal(size=(256, 256))

    def dense(x, positions):
        del positions
        d = x.shape[-1]
        return (x @ mixed[:d, :d]).astype(x.dtype)

    assert len(examined(dense).confirmed) == 0


def test_a_right_rotation_has_no_wrong_call(examined):
    """Nothing is searched where nothing is wrong."""

    def right(x, positions):
        return np.asarray(reference.apply_rotary(x, positions, interleaved=False))

    outcome = examined(right)

    assert len(outcome.wrong) == 0
    assert len(outcome.confirmed) == 0
    assert [one.fault for one in outcome.answers if one.fault] == []


def test_a_limit_is_found_to_the_token(examined):
    """Between the last call without and the first with a mistake its limit is bisected."""

    def late(x, positions):
        y = np.array(reference.apply_rotary(x, positions, interleaved=False))
        y[:, 23:] = x[:, 23:]
        return y

    (first, *_) = examined(late).confirmed

    assert str(first.explanation.where) == "tokens from 23 on"


def test_a_sum_of_sources_is_fitted(examined):
    """Position minus twice the length plus one is in no list."""

    def summed(x, positions):
        heads = [
            reference.apply_rotary(
                x[:, :, h : h + 1], positions - 2 * x.shape[1] + 1, interleaved=False
            )
            for h in range(x.shape[2])
        ]
        return np.concatenate(heads, axis=2) if heads else x.copy()

    (first, *_) = examined(summed).confirmed

    assert first.elements == first.of


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("TurnedAgain", "P9"),
        ("BaseGrows", "K2"),
        ("cached_by_length", "C1"),
        ("OneEntryByShape", "C1"),
        ("WornByUse", "changed by earlier calls"),
        ("LongestSoFar", "K2"),
        ("written_to_a_copy", "memory never written"),
        ("tail_of_empty", "memory never written"),
        ("BackwardTurnsForward", "G1"),
        ("OneBuffer", "result overwritten by the next"),
        ("overwrites_x", "M1"),
        ("swapped_axes", "X4"),
        ("aborts", "it crashes"),
        ("torch_second_half_of_the_storage", "offset of a view ignored"),
    ],
)
def test_memory_gradient_and_conduct_are_told(name, told):
    """What earlier calls leave, the way back, and what a call does beside its numbers."""
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")
    found = in_a_worker(words)

    assert (found[0].id or found[0].name) == told


def test_the_last_positions_of_a_compiled_framework_are_asked(tmp_path):
    """A table that is a row too short is seen where the sequence ends with the last position."""
    (tmp_path / "short.py").write_text(SHORT, encoding="utf-8")
    claims = {"interleaved": False, "array": "jax", "head_dims": [8], "max_position": 4095}
    profile = Profile.from_mapping({**claims, "negative_positions": False})
    failed = CheckResult("DEC-2.cosines", "DEC-2", "", "", Status.FAIL)
    with Session(load(f"{tmp_path}/short.py:rope"), profile, timeout=60.0) as session:
        found = diagnose(session, [failed])

    assert (found[0].id, found[0].name) == ("C5", "beyond the table")


SHORT = """
import jax.numpy as jnp
import numpy as np

ANGLE = np.outer(np.arange(4095), 10000.0 ** (-np.arange(0, 8, 2) / 8))
COS, SIN = (jnp.asarray(f(ANGLE), jnp.float32) for f in (np.cos, np.sin))


def rope(x, positions):
    c, s = (jnp.take(t, positions, axis=0, mode="clip")[..., None, :] for t in (COS, SIN))
    a, b = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    return jnp.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)
"""


def test_every_alternative_makes_something_of_a_call_and_has_an_entry():
    """A choice runs on an ordinary call, gives the shape of x, and has a name."""
    given = Maker(HALF).given((2, 5, 3), "scattered", 1)
    for choice in (*TURNS, *RARE_TURNS, *LADDERS, *DYNAMIC, *WHOLE, *MEMORIES, *GRADIENTS):
        made = run(choice.chain(RIGHT), given)
        assert made.y.shape == given.x.shape, choice.what
        assert choice.key in KNOWN
    for key, what, source in SOURCES.values():
        assert source(given).ndim == 4
        assert what
        assert key in KNOWN | {""}


def test_an_id_and_a_name_stand_once():
    """What a mistake is called is said in one place, beside what it computes."""
    every = [entry for room in ROOMS for entry in room.MISTAKES]

    assert len({entry.id for entry in every if entry.id}) == len(CATALOGUE)
    assert len({entry.name for entry in every}) == len(every) == len(CATALOGUE) + len(UNLISTED)


def test_what_is_shown_of_a_choice_is_in_the_zoo():
    """A wrong implementation is made from the choice: its name, claims and checks stand there."""
    every = (*TURNS, *RARE_TURNS, *LADDERS)
    shown = {one.name: (choice, one) for choice in every for one in choice.shown}

    assert len(shown) > 20
    for name, (choice, one) in shown.items():
        assert (ZOO[name].catalogue, ZOO[name].killed_by) == (choice.key, one.checks)
